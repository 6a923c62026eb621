// SPDX-License-Identifier: Apache-2.0
// Captured runs: a graph keeps the runtimes of its runs loaded until it is destroyed.
#include "dispatcher_fixture.h"

namespace conformance {
namespace {

class DispatcherGraphs : public DispatcherTest {
protected:
    void SetUp() override {
        DispatcherTest::SetUp();
        if (IsSkipped()) return;
        runtime_ = loaded(CANOPY_TEST_INNER_1);
        EXPECT_EQ(answer_of(runtime_, InnerWork::count), 1u);
        ASSERT_ACL_OK(aclrtCreateStream(&captured_));
    }
    void TearDown() override {
        if (captured_) EXPECT_ACL_OK(aclrtDestroyStream(captured_));
        DispatcherTest::TearDown();
    }
    // Captures two runs, 4 blocks in total; each block adds 41 to a word.
    void begin_capture() {
        ASSERT_ACL_OK(aclmdlRICaptureBegin(captured_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        for (const std::uint32_t blocks : {1u, 3u})
            EXPECT_DONE(run(runtime_, {InnerWork::add, words_ + 1, 4}, blocks, captured_));
    }
    aclmdlRI end_capture() {
        aclmdlRI graph = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureEnd(captured_, &graph));
        return graph;
    }
    void expect_replay(aclmdlRI graph) {
        write_word(words_ + 1, 0);
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        EXPECT_EQ(word(words_ + 1), 4u * 41) << dispatcher_.newest_text();
    }
    void expect_unloaded() {
        EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(runtime_), dispatcher_.init(runtime_));
        EXPECT_EQ(answer_of(loaded(CANOPY_TEST_INNER_1), InnerWork::count), 1u) << "the code was not closed";
    }

    std::uint64_t runtime_ = 0;
    aclrtStream captured_ = nullptr;
};

TEST_F(DispatcherGraphs, ACapturedRunKeepsItsRuntimeLoaded) {
    begin_capture();
    aclmdlRI graph = end_capture();
    EXPECT_DONE(dispatcher_.unload(runtime_));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "unloaded", run(runtime_, {InnerWork::add, words_, 1}));
    expect_replay(graph);
    loaded(CANOPY_TEST_INNER_2);  // a request, which unloads runtimes that are no longer needed
    expect_replay(graph);
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
    expect_unloaded();
}

TEST_F(DispatcherGraphs, EveryGraphKeepsIt) {
    begin_capture();
    aclmdlRI one = end_capture();
    begin_capture();
    aclmdlRI two = end_capture();
    EXPECT_DONE(dispatcher_.unload(runtime_));
    ASSERT_ACL_OK(aclmdlRIDestroy(one));
    loaded(CANOPY_TEST_INNER_2);
    expect_replay(two);
    ASSERT_ACL_OK(aclmdlRIDestroy(two));
    expect_unloaded();
}

TEST_F(DispatcherGraphs, UnloadWhileARunIsCapturedWaitsForItsGraph) {
    begin_capture();
    EXPECT_DONE(dispatcher_.unload(runtime_));
    aclmdlRI graph = end_capture();
    loaded(CANOPY_TEST_INNER_2);
    expect_replay(graph);
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
    expect_unloaded();
}

TEST_F(DispatcherGraphs, ACaptureThatFailsKeepsNothing) {
    begin_capture();
    EXPECT_NE(aclrtSynchronizeStream(captured_), ACL_SUCCESS) << "not while it is captured";
    aclmdlRI graph = nullptr;
    EXPECT_NE(aclmdlRICaptureEnd(captured_, &graph), ACL_SUCCESS);
    EXPECT_DONE(dispatcher_.unload(runtime_));
    expect_unloaded();
}

TEST_F(DispatcherGraphs, AReplayReachesTheCodeThatASwapBrought) {
    begin_capture();
    aclmdlRI graph = end_capture();
    EXPECT_DONE(dispatcher_.swap(runtime_, CANOPY_TEST_INNER_2));
    write_word(words_ + 1, 0);
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_EQ(word(words_ + 1), 4u * 42);
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
}

TEST_F(DispatcherGraphs, AGraphMayOutliveTheDispatcher) {
    aclmdlRI graph = nullptr;
    {
        canopy::Dispatcher other;
        EXPECT_DONE(other.open());
        std::uint64_t runtime = 0;
        EXPECT_DONE(other.load(CANOPY_TEST_INNER_2, runtime));
        const InnerWork work{InnerWork::add, words_ + 1, 1};
        ASSERT_ACL_OK(aclmdlRICaptureBegin(captured_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        EXPECT_DONE(other.run(captured_, runtime, 1, &work, sizeof work));
        graph = end_capture();
    }
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
}

}  // namespace
}  // namespace conformance
