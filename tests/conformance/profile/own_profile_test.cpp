// SPDX-License-Identifier: Apache-2.0
// Profiles that a program records of itself (canopy/profile.h): what the functions refuse, and what the tables say.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>

#include "canopy/profile.h"
#include "profile/profile_fixture.h"

namespace conformance {
namespace {

class OwnProfileTest : public KernelTest {
protected:
    void TearDown() override {
        if (profile_) EXPECT_ACL_OK(canopyProfileClose(profile_));
        KernelTest::TearDown();
    }
    void start(uint32_t want, const char* path = nullptr) { ASSERT_ACL_OK(canopyProfileStart(path, want, &profile_)); }
    template <class Row>
    std::vector<Row> rows(canopyProfileTable table) {
        const void* found = nullptr;
        size_t size = 0, count = 0;
        EXPECT_ACL_OK(canopyProfileRows(profile_, table, &found, &size, &count));
        if (size != sizeof(Row)) return {};
        return {static_cast<const Row*>(found), static_cast<const Row*>(found) + count};
    }
    std::string text(uint32_t number) {
        const char* found = nullptr;
        EXPECT_ACL_OK(canopyProfileText(profile_, number, &found));
        return found ? found : "";
    }

    canopyProfile* profile_ = nullptr;
};

TEST_F(OwnProfileTest, CallsAreRefused) {
    const TemporaryDirectory folder;
    canopyProfile* none = nullptr;
    auto* const stranger = reinterpret_cast<canopyProfile*>(&binary_);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "want", canopyProfileStart(nullptr, 0, &none));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "want", canopyProfileStart(nullptr, 0x100, &none));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profile", canopyProfileStart(nullptr, 1, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "/proc/none", canopyProfileStart("/proc/none", 1, &none));
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "none", canopyProfileOpen("/proc/none", &none));
    const std::string text =
        folder.write("text", "no profile at all, but long enough to have the head of one, perhaps");
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "text", canopyProfileOpen(text.c_str(), &none));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "path", canopyProfileOpen(nullptr, &none));
    EXPECT_EQ(none, nullptr);
    for (canopyProfile* const wrong : std::initializer_list<canopyProfile*>{nullptr, stranger}) {
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profile", canopyProfileStop(wrong));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profile", canopyProfileClose(wrong));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profile", canopyProfileExport(wrong, "a.html"));
    }
    start(CANOPY_PROFILE_EVERYTHING);
    size_t count = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "stop it first", canopyProfileTextCount(profile_, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "stop it first", canopyProfileExport(profile_, "a.html"));
    EXPECT_ACL_OK(canopyProfileStop(profile_));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "not recorded", canopyProfileStop(profile_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", canopyProfileTextCount(profile_, nullptr));
    EXPECT_ACL_OK(canopyProfileTextCount(profile_, &count));
    const char* found = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "number", canopyProfileText(profile_, count, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ends neither", canopyProfileExport(profile_, "/tmp/a.png"));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "path", canopyProfileExport(profile_, nullptr));
    const void* table = nullptr;
    size_t size = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "table",
                     canopyProfileRows(profile_, static_cast<canopyProfileTable>(99), &table, &size, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "facts", canopyProfileGetFacts(profile_, nullptr));
}

TEST_F(OwnProfileTest, TasksFollowTheirCalls) {
    if (!device_computes()) GTEST_SKIP() << "the null device orders launches itself, so nobody sees them run";
    start(CANOPY_PROFILE_CALLS | CANOPY_PROFILE_TASKS);
    for (int task = 0; task < 3; ++task) EXPECT_ACL_OK(launch("nothing", 2, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(canopyProfileStop(profile_));
    int32_t id = 0;
    EXPECT_ACL_OK(aclrtStreamGetId(stream_, &id));
    const auto tasks = rows<canopyProfileTask>(CANOPY_PROFILE_TABLE_TASKS);
    ASSERT_EQ(tasks.size(), 3u);
    for (const canopyProfileTask& task : tasks) {
        EXPECT_EQ(text(task.name), "nothing");
        EXPECT_EQ(task.stream, static_cast<uint32_t>(id));
        EXPECT_EQ(task.task, tasks[0].task + (&task - tasks.data()));
        EXPECT_EQ(task.blocks, 2u);
        EXPECT_EQ(task.flags, 0u);
        EXPECT_EQ(task.graph_task, 0u);
    }
    uint32_t launches = 0;
    for (const auto& call : rows<canopyProfileCall>(CANOPY_PROFILE_TABLE_CALLS)) {
        if (text(call.name) != "aclrtLaunchKernelWithHostArgs") continue;
        EXPECT_EQ(call.tasks, 1u);
        EXPECT_EQ(call.stream, static_cast<uint32_t>(id));
        EXPECT_EQ(call.task, tasks[launches].task);
        EXPECT_LE(call.start, tasks[launches].start + tasks[launches].duration);
        EXPECT_EQ(tasks[launches].submitted, call.start);
        ++launches;
    }
    EXPECT_EQ(launches, 3u);
    EXPECT_TRUE(rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS).empty());
}

TEST_F(OwnProfileTest, WithoutCallsNobodyKnowsWhenATaskWasSubmitted) {
    if (!device_computes()) GTEST_SKIP() << "the null device orders launches itself, so nobody sees them run";
    start(CANOPY_PROFILE_TASKS);
    EXPECT_ACL_OK(launch("nothing", 2, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(canopyProfileStop(profile_));
    const auto tasks = rows<canopyProfileTask>(CANOPY_PROFILE_TABLE_TASKS);
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_TRUE(std::isnan(tasks[0].submitted));
}

TEST_F(OwnProfileTest, AProfileWhoseFolderIsGoneCanBeExported) {
    const TemporaryDirectory other;
    const std::string copy = other.path() + "/copy.canopyprof";
    {
        const TemporaryDirectory folder;
        start(CANOPY_PROFILE_MARKS, (folder.path() + "/profile").c_str());
        canopyMark("moment");
        EXPECT_ACL_OK(canopyProfileStop(profile_));
        EXPECT_EQ(rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS).size(), 1u);
    }
    EXPECT_ACL_OK(canopyProfileExport(profile_, copy.c_str()));
    EXPECT_ACL_OK(canopyProfileClose(profile_));
    EXPECT_EQ(std::filesystem::status(copy).permissions(), std::filesystem::perms(0600));
    EXPECT_ACL_OK(canopyProfileOpen(copy.c_str(), &profile_));
    EXPECT_EQ(rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS).size(), 1u);
    EXPECT_ACL_OK(canopyProfileExport(profile_, copy.c_str()));  // in its own place
    EXPECT_EQ(rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS).size(), 1u);
}

TEST_F(OwnProfileTest, MarksOfAllKindsAreInOneTable) {
    start(CANOPY_PROFILE_MARKS | CANOPY_PROFILE_STEPS);
    canopyRangePush("outer");
    canopyMark("moment");
    canopyMark(nullptr);
    void* const stamp = aclprofCreateStamp();
    EXPECT_ACL_OK(aclprofSetStampTraceMessage(stamp, "stamp", 5));
    uint32_t range = 0;
    EXPECT_ACL_OK(aclprofRangeStart(stamp, &range));
    std::thread([&] { EXPECT_ACL_OK(aclprofRangeStop(range)); }).join();
    aclprofDestroyStamp(stamp);
    EXPECT_ACL_OK(aclprofMarkEx("on a stream", 11, stream_));
    const struct [[gnu::packed]] {
        uint64_t number, model;
        uint16_t tag;
    } point = {7, 8, 9};
    EXPECT_ACL_OK(aclrtProfTrace(const_cast<void*>(static_cast<const void*>(&point)), sizeof point, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(canopyRangePop());
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "canopyRangePop", canopyRangePop());
    EXPECT_ACL_OK(canopyProfileStop(profile_));
    std::map<std::string, std::vector<canopyProfileMark>> marks;
    for (const auto& mark : rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS)) marks[text(mark.text)].push_back(mark);
    ASSERT_EQ(marks.size(), 4u);
    EXPECT_EQ(marks["moment"][0].form, 0u);
    EXPECT_EQ(marks["moment"][0].source, 2u);
    EXPECT_EQ(marks["outer"][0].form, 1u);
    EXPECT_LE(marks["outer"][0].start, marks["moment"][0].start);
    EXPECT_EQ(marks["stamp"][0].form, 2u);
    ASSERT_EQ(marks["on a stream"].size(), 2u) << "one half of the host, one of the stream";
    EXPECT_EQ(marks["on a stream"][0].number, marks["on a stream"][1].number);
    EXPECT_NE(marks["on a stream"][0].on_device, marks["on a stream"][1].on_device);
    const auto steps = rows<canopyProfileStep>(CANOPY_PROFILE_TABLE_STEPS);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].number, 7u);
    EXPECT_EQ(steps[0].model, 8u);
    EXPECT_EQ(steps[0].tag, 9u);
    EXPECT_EQ(steps[0].form, 2u);
    canopyProfileFacts facts = {};
    EXPECT_ACL_OK(canopyProfileGetFacts(profile_, &facts));
    EXPECT_EQ(facts.lost, 0u);
    EXPECT_STREQ(facts.damage, "");
}

TEST_F(OwnProfileTest, RangesThatBeganBeforeTheProfileAreNotOfIt) {
    canopyRangePush("outer");
    canopyRangePush("inner");
    start(CANOPY_PROFILE_MARKS);
    EXPECT_ACL_OK(aclprofPop());
    EXPECT_ACL_OK(canopyRangePop());
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "canopyRangePop", canopyRangePop());
    EXPECT_ACL_OK(canopyProfileStop(profile_));
    EXPECT_TRUE(rows<canopyProfileMark>(CANOPY_PROFILE_TABLE_MARKS).empty());
}

// Sessions come and go while other threads mark: run by the thread sanitizer too.
TEST_F(OwnProfileTest, ProfilesBeginAndEndWhileThreadsMark) {
    std::atomic<bool> ending{false};
    std::vector<std::thread> threads;
    for (int index = 0; index < 3; ++index)
        threads.emplace_back([&] {
            while (!ending.load()) {
                canopyRangePush("range");
                canopyMark("moment");
                EXPECT_ACL_OK(canopyRangePop());
            }
        });
    for (int round = 0; round < 5; ++round) {
        canopyProfile* profile = nullptr;
        EXPECT_ACL_OK(canopyProfileStart(nullptr, CANOPY_PROFILE_MARKS, &profile));
        canopyMark("here");
        EXPECT_ACL_OK(canopyProfileStop(profile));
        const void* found = nullptr;
        size_t size = 0, count = 0;
        EXPECT_ACL_OK(canopyProfileRows(profile, CANOPY_PROFILE_TABLE_MARKS, &found, &size, &count));
        EXPECT_GE(count, 1u);
        EXPECT_ACL_OK(canopyProfileClose(profile));
    }
    ending = true;
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
