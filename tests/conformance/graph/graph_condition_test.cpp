// SPDX-License-Identifier: Apache-2.0
// Conditions in captured graphs: a word in device memory decides which bodies run, and how often.
#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

class Condition : public CaptureTest {
protected:
    static constexpr auto if_ = ACL_MODEL_RI_COND_TYPE_IF;
    static constexpr auto while_ = ACL_MODEL_RI_COND_TYPE_WHILE;
    static constexpr auto switch_ = ACL_MODEL_RI_COND_TYPE_SWITCH;

    // The graph that a stream is being captured into.
    static aclmdlRI inside(aclrtStream stream) {
        aclmdlRI graph = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream, nullptr, &graph));
        return graph;
    }
    aclmdlRICondHandle condition(aclmdlRI graph, uint32_t value = 0, int flag = 0) {
        aclmdlRICondHandle handle = nullptr;
        EXPECT_ACL_OK(aclmdlRICondHandleCreate(graph, value, static_cast<aclmdlRICondHandleFlag>(flag), &handle));
        EXPECT_ACL_OK(aclmdlRICondHandleGetCondPtr(handle, &word_));
        return handle;
    }
    static aclError add(aclmdlRICondHandle handle, aclmdlRICondTaskType type, std::vector<aclmdlRI>& bodies,
                        aclrtStream stream) {
        return aclmdlRIAddCondTask({handle, type, static_cast<uint32_t>(bodies.size()), bodies.data()}, stream, 0);
    }
    std::vector<aclmdlRI> add_condition(aclmdlRICondHandle handle, aclmdlRICondTaskType type, std::size_t count,
                                        aclrtStream stream) {
        std::vector<aclmdlRI> bodies(count);
        EXPECT_ACL_OK(add(handle, type, bodies, stream));
        return bodies;
    }
    // Captures `fill(stream)` into a body.
    template <class Fill>
    void fill_body(aclmdlRI body, aclrtStream stream, Fill&& fill) {
        EXPECT_ACL_OK(aclmdlRICaptureToModelRIBegin(stream, body, thread_local_));
        fill(stream);
        aclmdlRI same = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureEnd(stream, &same));
        EXPECT_EQ(same, body);
    }
    void fill_with(aclmdlRI body, uint32_t number) {
        fill_body(body, other_, [&](aclrtStream stream) { EXPECT_ACL_OK(append(stream, number)); });
    }
    void set(uint64_t* word, uint64_t value) {
        EXPECT_ACL_OK(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<uint32_t> replay_with(aclmdlRI graph, uint64_t value) {
        set(word_, value);
        replay(graph, stream_);
        return take_log();
    }
    uint64_t* word_ = nullptr;  // of the most recent condition
};

TEST_F(Condition, ArgumentsAreChecked) {
    begin();
    aclmdlRICondHandle handle = nullptr;
    aclmdlRI graph = inside(stream_);
    const auto flag = static_cast<aclmdlRICondHandleFlag>(0);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRICondHandleCreate(nullptr, 0, flag, &handle));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclmdlRICondHandleCreate(graph, 0, flag, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag",
                     aclmdlRICondHandleCreate(graph, 0, static_cast<aclmdlRICondHandleFlag>(2), &handle));
    handle = condition(graph);
    uint64_t* word = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclmdlRICondHandleGetCondPtr(nullptr, &word));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclmdlRICondHandleGetCondPtr(handle, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "condition", aclmdlRICondHandleGetCondPtr(stream_, &word));
    std::vector<aclmdlRI> one(1), two(2), three(3), none;
    aclmdlRI place = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", add(nullptr, if_, one, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", add(handle, if_, one, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRIArray",
                     aclmdlRIAddCondTask({handle, if_, 1, nullptr}, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclmdlRIAddCondTask({handle, if_, 1, &place}, stream_, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclmdlRIAddCondTask({handle, if_, 0, &place}, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", add(handle, if_, three, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", add(handle, while_, two, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclmdlRIAddCondTask({handle, switch_, 0, &place}, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "type",
                     aclmdlRIAddCondTask({handle, static_cast<aclmdlRICondTaskType>(3), 1, &place}, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "not being captured", add(handle, if_, one, other_));
    end();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "captured", aclmdlRICondHandleCreate(graph, 0, flag, &handle));
}

TEST_F(Condition, IfRunsItsBodyWhenTheWordIsNotZero) {
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    ASSERT_ACL_OK(append(stream_, 3));
    fill_with(bodies[0], 2);
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 0), (std::vector<uint32_t>{1, 3}));
    EXPECT_EQ(replay_with(graph, 1), (std::vector<uint32_t>{1, 2, 3}));
    EXPECT_EQ(replay_with(graph, UINT64_C(1) << 40), (std::vector<uint32_t>{1, 2, 3}));
}

TEST_F(Condition, IfWithTwoBodiesChooses) {
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), if_, 2, stream_);
    fill_with(bodies[0], 1);
    fill_with(bodies[1], 2);
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 7), std::vector<uint32_t>{1});
    EXPECT_EQ(replay_with(graph, 0), std::vector<uint32_t>{2});
}

TEST_F(Condition, SwitchRunsTheBodyWithThatNumberOrNone) {
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), switch_, 3, stream_);
    for (uint32_t index = 0; index < 3; ++index) fill_with(bodies[index], 10 + index);
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    for (uint32_t index = 0; index < 3; ++index)
        EXPECT_EQ(replay_with(graph, index), std::vector<uint32_t>{10 + index});
    EXPECT_TRUE(replay_with(graph, 3).empty());
    EXPECT_TRUE(replay_with(graph, UINT64_MAX).empty());
}

TEST_F(Condition, WhileRepeatsItsBodyAsLongAsTheWordSays) {
    begin();
    aclmdlRICondHandle handle = condition(inside(stream_));
    uint64_t* const word = word_;
    const auto bodies = add_condition(handle, while_, 1, stream_);
    ASSERT_ACL_OK(append(stream_, 2));
    fill_body(bodies[0], other_, [&](aclrtStream stream) {
        EXPECT_ACL_OK(append(stream, 1));
        EXPECT_ACL_OK(launch("add_atomically", 1, stream, word, UINT64_MAX));  // minus one
    });
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 3), (std::vector<uint32_t>{1, 1, 1, 2}));
    EXPECT_EQ(replay_with(graph, 0), (std::vector<uint32_t>{2}));
}

TEST_F(Condition, TheDefaultIsAssignedAtEachExecution) {
    begin();
    aclmdlRICondHandle handle = condition(inside(stream_), 2, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
    uint64_t* const word = word_;
    const auto bodies = add_condition(handle, while_, 1, stream_);
    fill_body(bodies[0], other_, [&](aclrtStream stream) {
        EXPECT_ACL_OK(append(stream, 1));
        EXPECT_ACL_OK(launch("add_atomically", 1, stream, word, UINT64_MAX));
    });
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 77), (std::vector<uint32_t>{1, 1}));  // the default overwrites the value from the host
    EXPECT_EQ(replay_with(graph, 0), (std::vector<uint32_t>{1, 1}));
}

TEST_F(Condition, WithoutAssignmentTheWordKeepsWhatItHad) {
    begin();
    const auto bodies = add_condition(condition(inside(stream_), 5, 0), if_, 1, stream_);
    fill_with(bodies[0], 1);
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 1), std::vector<uint32_t>{1});
    replay(graph, stream_);
    EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
}

TEST_F(Condition, AKernelOfTheSameGraphDecides) {
    begin();
    aclmdlRICondHandle handle = condition(inside(stream_), 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
    ASSERT_ACL_OK(launch("add_atomically", 1, stream_, word_, UINT64_C(1)));
    const auto bodies = add_condition(handle, switch_, 2, stream_);
    fill_with(bodies[0], 1);
    fill_with(bodies[1], 2);
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    for (int round = 0; round < 3; ++round) {
        replay(graph, stream_);
        EXPECT_EQ(take_log(), std::vector<uint32_t>{2});
    }
}

TEST_F(Condition, ConditionsStandInBodiesOfOthers) {
    begin();
    aclmdlRICondHandle outer = condition(inside(stream_), 2, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
    uint64_t* const rounds = word_;
    const auto loop = add_condition(outer, while_, 1, stream_);
    std::vector<aclmdlRI> inner;
    fill_body(loop[0], other_, [&](aclrtStream stream) {
        aclmdlRICondHandle nested = condition(inside(stream), 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
        inner = add_condition(nested, switch_, 2, stream);
        EXPECT_ACL_OK(aclmdlRICaptureToModelRIBegin(third_, inner[0], thread_local_));
        EXPECT_ACL_OK(append(third_, 10));
        aclmdlRI same = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureEnd(third_, &same));
        EXPECT_ACL_OK(aclmdlRICaptureToModelRIBegin(third_, inner[1], thread_local_));
        EXPECT_ACL_OK(append(third_, 11));
        EXPECT_ACL_OK(launch("add_atomically", 1, third_, word_, UINT64_MAX));
        EXPECT_ACL_OK(aclmdlRICaptureEnd(third_, &same));
        EXPECT_ACL_OK(launch("add_atomically", 1, stream, rounds, UINT64_MAX));
    });
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    for (int round = 0; round < 2; ++round) {
        replay(graph, stream_);
        EXPECT_EQ(take_log(), (std::vector<uint32_t>{11, 10}));  // the default is assigned once per execution
    }
}

TEST_F(Condition, BodiesMayUseSeveralStreams) {
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    fill_body(bodies[0], other_, [&](aclrtStream stream) {
        EXPECT_ACL_OK(append(stream, 1));
        join(stream, third_);
        EXPECT_ACL_OK(append(third_, 2));
        join(third_, stream);
        EXPECT_ACL_OK(append(stream, 3));
    });
    aclmdlRI graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 1), (std::vector<uint32_t>{1, 2, 3}));
}

TEST_F(Condition, BodiesHaveNoEventsOfTheWorldOutside) {
    aclrtEvent outside = event();
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    fill_body(bodies[0], other_, [&](aclrtStream stream) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "body", aclrtRecordEventWithFlag(outside, stream, 1));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "body", aclrtStreamWaitEventWithFlag(stream, outside, 0, 1));
    });
    end();
}

TEST_F(Condition, ACaptureWithUnfinishedBodiesFails) {
    begin();
    add_condition(condition(inside(stream_)), if_, 2, stream_);
    expect_end_fails(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, "never captured");
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(other_, bodies[0], relaxed));
    expect_end_fails(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, "still being captured");
    aclmdlRI graph = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "the enclosing graph",
                     aclmdlRICaptureEnd(other_, &graph));
    expect_usable(other_);
}

TEST_F(Condition, AFailedCaptureOfABodyCanBeRepeated) {
    begin(relaxed);
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(other_, bodies[0], relaxed));
    ASSERT_ACL_OK(append(other_, 1));
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_STREAM_CAPTURED);
    aclmdlRI graph = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(other_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    fill_with(bodies[0], 2);
    graph = end();
    if (!device_computes()) GTEST_SKIP() << "conditions are not evaluated here";
    EXPECT_EQ(replay_with(graph, 1), std::vector<uint32_t>{2});
}

TEST_F(Condition, EachOneIsUsedOnce) {
    begin();
    aclmdlRICondHandle handle = condition(inside(stream_));
    const auto bodies = add_condition(handle, if_, 1, stream_);
    std::vector<aclmdlRI> more(1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "used once", add(handle, if_, more, stream_));
    fill_with(bodies[0], 1);
    end();
}

TEST_F(Condition, BodiesAreNotExecutedOrDestroyedByThemselves) {
    begin();
    const auto bodies = add_condition(condition(inside(stream_)), if_, 1, stream_);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "body", aclmdlRIExecuteAsync(bodies[0], other_));
    fill_with(bodies[0], 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "body", aclmdlRIDestroy(bodies[0]));
    aclmdlRI graph = end();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "body", aclmdlRIExecuteAsync(bodies[0], other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "body",
                     aclmdlRICaptureToModelRIBegin(other_, bodies[0], thread_local_));
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    graphs_.clear();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "live graph", aclmdlRIDestroy(bodies[0]));
}

TEST_F(Condition, AHandleEndsWithItsGraph) {
    begin();
    aclmdlRICondHandle handle = condition(inside(stream_));
    aclmdlRI graph = end();
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    graphs_.clear();
    uint64_t* word = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "condition", aclmdlRICondHandleGetCondPtr(handle, &word));
}

}  // namespace
}  // namespace conformance
