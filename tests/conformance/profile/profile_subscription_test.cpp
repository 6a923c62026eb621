// SPDX-License-Identifier: Apache-2.0
// Subscriptions: graphs whose tasks come as records through a pipe, and the functions that read records.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "fixtures/capture_fixture.h"
#include "profile/profile_fixture.h"

namespace conformance {
namespace {

constexpr size_t record_size = 80;

class ProfileSubscriptionTest : public CaptureTest {
protected:
    void SetUp() override {
        CaptureTest::SetUp();
        ASSERT_EQ(pipe(pipe_), 0);
    }
    void TearDown() override {
        if (config_) EXPECT_ACL_OK(aclprofDestroySubscribeConfig(config_));
        for (const int end : pipe_)
            if (fcntl(end, F_GETFD) >= 0) close(end);
        CaptureTest::TearDown();
    }
    aclprofSubscribeConfig* config(int8_t times = 1) {
        if (!config_) config_ = aclprofCreateSubscribeConfig(times, ACL_AICORE_NONE, &pipe_[1]);
        EXPECT_NE(config_, nullptr) << recent_error();
        return config_;
    }
    // A graph of so many kernels, and its number.
    aclmdlRI graph_of(int kernels, uint32_t& number) {
        begin();
        for (int each = 0; each < kernels; ++each) EXPECT_ACL_OK(increment(stream_));
        aclmdlRI made = end();
        EXPECT_ACL_OK(aclmdlRIGetId(made, &number));
        return made;
    }
    // What comes out of the pipe until its write end is closed.
    std::vector<std::byte> read_all() {
        std::vector<std::byte> all;
        std::byte some[4096];
        ssize_t count = 0;
        while ((count = read(pipe_[0], some, sizeof some)) > 0) all.insert(all.end(), some, some + count);
        EXPECT_EQ(count, 0);
        return all;
    }

    int pipe_[2] = {-1, -1};
    aclprofSubscribeConfig* config_ = nullptr;
};

TEST_F(ProfileSubscriptionTest, DescriptionsAreChecked) {
    const auto create = [&](int times, int metrics, void* file) {
        aclprofSubscribeConfig* const made =
            aclprofCreateSubscribeConfig(static_cast<int8_t>(times), static_cast<aclprofAicoreMetrics>(metrics), file);
        if (made) EXPECT_ACL_OK(aclprofDestroySubscribeConfig(made));
        return made != nullptr;
    };
    EXPECT_TRUE(create(0, ACL_AICORE_NONE, &pipe_[1]));
    EXPECT_TRUE(create(1, ACL_AICORE_MEMORY_ACCESS, &pipe_[1]));
    EXPECT_FALSE(create(2, ACL_AICORE_NONE, &pipe_[1]));
    EXPECT_FALSE(create(1, 9, &pipe_[1]));
    EXPECT_FALSE(create(1, ACL_AICORE_NONE, nullptr));
    int closed = -1;
    EXPECT_FALSE(create(1, ACL_AICORE_NONE, &closed));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profSubscribeConfig", aclprofDestroySubscribeConfig(nullptr));
    EXPECT_ACL_OK(aclprofDestroySubscribeConfig(config()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profSubscribeConfig", aclprofDestroySubscribeConfig(config_));
    config_ = nullptr;
}

TEST_F(ProfileSubscriptionTest, CallsExcludeOthers) {
    uint32_t model = 0;
    graph_of(1, model);
    const TemporaryDirectory folder;
    const auto init = [&] { return aclprofInit(folder.path().c_str(), folder.path().size()); };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_MODEL_ID, "12345", aclprofModelSubscribe(12345, config()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_MODEL_ID, "subscribed", aclprofModelUnSubscribe(model));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profSubscribeConfig", aclprofModelSubscribe(model, nullptr));
    EXPECT_ACL_OK(init());
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_API_CONFLICT, "session", aclprofModelSubscribe(model, config()));
    EXPECT_ACL_OK(aclprofFinalize());
    EXPECT_ACL_OK(aclprofModelSubscribe(model, config()));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, "already", aclprofModelSubscribe(model, config()));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_API_CONFLICT, "subscribed", init());
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_API_CONFLICT, "subscribed", aclprofStart(nullptr));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(model));
    EXPECT_ACL_OK(init());
    EXPECT_ACL_OK(aclprofFinalize());
    // The pipe was closed.
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "descriptor", aclprofModelSubscribe(model, config()));
}

TEST_F(ProfileSubscriptionTest, EveryTaskOfEveryReplayComesAsARecord) {
    constexpr uint32_t kernels = 3, rounds = 5;
    uint32_t model = 0, other_model = 0;
    aclmdlRI const graph = graph_of(kernels, model), other = graph_of(1, other_model);
    EXPECT_ACL_OK(aclprofModelSubscribe(model, config()));
    std::vector<std::byte> data;
    std::thread reader([&] { data = read_all(); });
    for (uint32_t round = 0; round < rounds; ++round) {
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(other, stream_));
    }
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(model));
    reader.join();
    uint32_t count = 0;
    ASSERT_ACL_OK(aclprofGetOpNum(data.data(), data.size(), &count));
    ASSERT_EQ(count, kernels * rounds);
    // Several threads may have run the tasks: their records come thread by thread.
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t one, uint32_t other) {
        return aclprofGetOpStart(data.data(), data.size(), one) < aclprofGetOpStart(data.data(), data.size(), other);
    });
    for (uint32_t place = 0; place < count; ++place) {
        const uint32_t index = order[place];
        size_t type_size = 0, name_size = 0;
        char type[ACL_PROF_MAX_OP_TYPE_LEN], name[ACL_PROF_MAX_OP_NAME_LEN];
        ASSERT_ACL_OK(aclprofGetOpTypeLen(data.data(), data.size(), index, &type_size));
        ASSERT_ACL_OK(aclprofGetOpNameLen(data.data(), data.size(), index, &name_size));
        ASSERT_ACL_OK(aclprofGetOpType(data.data(), data.size(), index, type, type_size));
        ASSERT_ACL_OK(aclprofGetOpName(data.data(), data.size(), index, name, name_size));
        EXPECT_STREQ(type, "increment");
        EXPECT_EQ(std::string(name), "increment_0_" + std::to_string(place % kernels));
        EXPECT_EQ(type_size, std::strlen(type) + 1);
        EXPECT_EQ(name_size, std::strlen(name) + 1);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "too few",
                         aclprofGetOpType(data.data(), data.size(), index, type, type_size - 1));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "null",
                         aclprofGetOpName(data.data(), data.size(), index, nullptr, name_size));
        const uint64_t begin = aclprofGetOpStart(data.data(), data.size(), index);
        const uint64_t end = aclprofGetOpEnd(data.data(), data.size(), index);
        EXPECT_NE(begin, 0u);
        EXPECT_LE(begin, end);
        EXPECT_EQ(aclprofGetOpDuration(data.data(), data.size(), index), end - begin);
        EXPECT_EQ(aclprofGetModelId(data.data(), data.size(), index), model);
        EXPECT_EQ(
            looked_up<size_t(const void*, size_t, uint32_t)>("aclprofGetGraphId")(data.data(), data.size(), index),
            model);
        EXPECT_EQ(aclprofGetOpFlag(data.data(), data.size(), index), ACL_SUBSCRIBE_OP);
        EXPECT_EQ(aclprofGetOpAttriValue(data.data(), data.size(), index, ACL_SUBSCRIBE_ATTRI_THREADID), nullptr);
    }
}

TEST_F(ProfileSubscriptionTest, WithoutTimesTheyAreZero) {
    uint32_t model = 0;
    aclmdlRI const graph = graph_of(1, model);
    EXPECT_ACL_OK(aclprofModelSubscribe(model, config(0)));
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(model));
    const std::vector<std::byte> data = read_all();
    ASSERT_EQ(data.size(), record_size);
    EXPECT_EQ(aclprofGetOpStart(data.data(), data.size(), 0), 0u);
    EXPECT_EQ(aclprofGetOpDuration(data.data(), data.size(), 0), 0u);
    EXPECT_EQ(aclprofGetModelId(data.data(), data.size(), 0), model);
}

TEST_F(ProfileSubscriptionTest, TwoModelsShareAPipe) {
    uint32_t first = 0, second = 0;
    graph_of(1, first);
    aclmdlRI const graph = graph_of(1, second);
    EXPECT_ACL_OK(aclprofModelSubscribe(first, config()));
    EXPECT_ACL_OK(aclprofModelSubscribe(second, config()));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(first));
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(second));
    const std::vector<std::byte> data = read_all();
    ASSERT_EQ(data.size(), record_size);
    EXPECT_EQ(aclprofGetModelId(data.data(), data.size(), 0), second);
}

TEST_F(ProfileSubscriptionTest, ReaderThatGoesAwayEndsNothing) {
    uint32_t model = 0;
    aclmdlRI const graph = graph_of(2, model);
    EXPECT_ACL_OK(aclprofModelSubscribe(model, config()));
    close(pipe_[0]);
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "2 records", aclprofModelUnSubscribe(model));
}

TEST_F(ProfileSubscriptionTest, BytesOfOthersAreRefused) {
    size_t size = 0;
    EXPECT_ACL_OK(aclprofGetOpDescSize(&size));
    EXPECT_EQ(size, record_size);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opDescSize", aclprofGetOpDescSize(nullptr));

    uint32_t model = 0, count = 0;
    aclmdlRI const graph = graph_of(1, model);
    EXPECT_ACL_OK(aclprofModelSubscribe(model, config()));
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofModelUnSubscribe(model));
    std::vector<std::byte> data = read_all();
    ASSERT_EQ(data.size(), record_size);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "multiple", aclprofGetOpNum(data.data(), 0, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "multiple", aclprofGetOpNum(data.data(), 79, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opInfo", aclprofGetOpNum(nullptr, 80, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opNumber", aclprofGetOpNum(data.data(), 80, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "index 1", aclprofGetOpTypeLen(data.data(), 80, 1, &size));
    EXPECT_EQ(aclprofGetOpStart(data.data(), 80, 1), 0u);
    EXPECT_EQ(aclprofGetOpEnd(data.data(), 80, 1), 0u);
    EXPECT_EQ(aclprofGetModelId(data.data(), 80, 1), 0u);
    EXPECT_EQ(aclprofGetOpFlag(data.data(), 80, 1), 0);
    for (std::byte& each : data) {
        each ^= std::byte{1};
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "signature", aclprofGetOpNum(data.data(), 80, &count));
        EXPECT_EQ(aclprofGetOpStart(data.data(), 80, 0), 0u);
        each ^= std::byte{1};
    }
    EXPECT_ACL_OK(aclprofGetOpNum(data.data(), 80, &count));
}

}  // namespace
}  // namespace conformance
