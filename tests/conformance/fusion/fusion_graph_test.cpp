// SPDX-License-Identifier: Apache-2.0
// Fused kernels from captured graphs: scopes and their rules, which kernels are fused into one launch, and that
// replays, updates and prints of a fused graph match the tasks it was captured from.
#include <algorithm>
#include <fstream>
#include <random>

#include "acl/super_kernel.h"
#include "fixtures/capture_fixture.h"
#include "fixtures/fusion_fixture.h"
#include "fixtures/own_process.h"
#include "until.h"

namespace conformance {
namespace {

class FusionGraph : public CaptureTest {
protected:
    static nlohmann::json report(aclmdlRI graph) {
        const char* text = nullptr;
        EXPECT_ACL_OK(canopyFusionReport(graph, &text));
        return text ? nlohmann::json::parse(text)["fused"] : nlohmann::json();
    }
    // The number of steps of each fused launch.
    static std::vector<std::size_t> sizes(aclmdlRI graph) {
        std::vector<std::size_t> found;
        for (const nlohmann::json& fused : report(graph)) found.push_back(fused["steps"].size());
        return found;
    }
    static aclError optimise(aclmdlRI graph, std::vector<std::pair<aclskOptionType, uint64_t>> values = {}) {
        std::vector<aclskOption> all;
        for (const auto& [type, number] : values) {
            aclskOption option = {};
            option.type = type;
            option.value.number = number;
            all.push_back(option);
        }
        aclskOptions options = {all.data(), all.size()};
        return aclskOptimize(graph, all.empty() ? nullptr : &options);
    }
    std::vector<aclmdlRITask> tasks_of(aclmdlRI graph, uint32_t lane = 0) {
        uint32_t count = 8;
        aclrtStream streams[8] = {};
        EXPECT_ACL_OK(aclmdlRIGetStreams(graph, streams, &count));
        uint32_t number = 64;
        std::vector<aclmdlRITask> tasks(number);
        EXPECT_ACL_OK(aclmdlRIGetTasksByStream(streams[lane], tasks.data(), &number));
        tasks.resize(number);
        return tasks;
    }
    std::vector<uint32_t> numbers(uint32_t count) {
        std::vector<uint32_t> all;
        for (uint32_t number = 0; number < count; ++number) all.push_back(number);
        return all;
    }
};

// ---- scopes --------------------------------------------------------------------------------------------------------

TEST_F(FusionGraph, ScopesNeedACapture) {
    EXPECT_ACL_FAILS(107029, "not being captured", aclskScopeBegin("a", stream_));
    EXPECT_ACL_FAILS(107029, "not being captured", aclskScopeEnd("a", stream_));
}

TEST_F(FusionGraph, ScopesHaveNamesArePairedAndDoNotNest) {
    begin();
    EXPECT_ACL_FAILS(107000, "empty", aclskScopeBegin("", stream_));
    EXPECT_ACL_FAILS(107000, "more than 255", aclskScopeBegin(std::string(256, 'n').c_str(), stream_));
    EXPECT_ACL_FAILS(107000, "no open scope", aclskScopeEnd("a", stream_));
    EXPECT_ACL_OK(aclskScopeBegin(std::string(255, 'n').c_str(), stream_));
    EXPECT_ACL_FAILS(107000, "do not nest", aclskScopeBegin("a", stream_));
    EXPECT_ACL_FAILS(107000, "not \"a\"", aclskScopeEnd("a", stream_));
    EXPECT_ACL_FAILS(107000, "not without a name", aclskScopeEnd(nullptr, stream_));
    EXPECT_ACL_OK(aclskScopeEnd(std::string(255, 'n').c_str(), stream_));
    EXPECT_ACL_OK(aclskScopeBegin(nullptr, stream_));
    EXPECT_ACL_FAILS(107000, "without a name", aclskScopeEnd("a", stream_));
    EXPECT_ACL_OK(aclskScopeEnd(nullptr, stream_));
    end();
}

TEST_F(FusionGraph, TheNumberOfScopesAndNamesIsLimited) {
    begin();
    for (int number = 1; number <= 256; ++number) {
        ASSERT_ACL_OK(aclskScopeBegin(std::to_string(number).c_str(), stream_));
        ASSERT_ACL_OK(aclskScopeEnd(std::to_string(number).c_str(), stream_));
    }
    EXPECT_ACL_FAILS(107000, "256 names", aclskScopeBegin("one more", stream_));
    for (int number = 257; number <= 1024; ++number) {
        ASSERT_ACL_OK(aclskScopeBegin("1", stream_));
        ASSERT_ACL_OK(aclskScopeEnd("1", stream_));
    }
    EXPECT_ACL_FAILS(107000, "1024 scopes", aclskScopeBegin("1", stream_));
    end();
}

TEST_F(FusionGraph, AnOpenScopeIsNotOptimised) {
    begin();
    ASSERT_ACL_OK(aclskScopeBegin("a", stream_));
    ASSERT_ACL_OK(increment(stream_));
    EXPECT_ACL_FAILS(107000, "not closed", aclskOptimize(end(), nullptr));
}

TEST_F(FusionGraph, BadOptionsAreRefused) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    EXPECT_ACL_FAILS(107000, "type 18", optimise(graph, {{static_cast<aclskOptionType>(18), 0}}));
    EXPECT_ACL_FAILS(107000, "twice", optimise(graph, {{ACLSK_OPTION_SPLIT_MODE, 4}, {ACLSK_OPTION_SPLIT_MODE, 4}}));
    EXPECT_ACL_FAILS(107000, "0 or 1", optimise(graph, {{ACLSK_OPTION_STREAM_FUSION, 2}}));
    aclskOptions options = {nullptr, 1};
    EXPECT_EQ(aclskOptimize(graph, &options), 100000);
    EXPECT_EQ(aclskOptimize(nullptr, nullptr), 100000);
    std::vector<std::pair<aclskOptionType, uint64_t>> all;
    for (int type = 0; type < 18; ++type) all.emplace_back(static_cast<aclskOptionType>(type), 0);
    EXPECT_ACL_OK(optimise(graph, all));
}

// ---- which kernels are fused ----------------------------------------------------------------------------------------

TEST_F(FusionGraph, WithoutScopesAllKernelsOfAStreamBecomeOneLaunch) {
    begin();
    for (uint32_t number = 0; number < 10; ++number) ASSERT_ACL_OK(append(stream_, number));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{10}));
    for (int round = 0; round < 3; ++round) {
        replay(graph, stream_);
        if (device_computes()) EXPECT_EQ(take_log(), numbers(10));
    }
    ASSERT_ACL_OK(canopyFusionWait(graph, -1));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(10));
}

TEST_F(FusionGraph, ScopesDecideAndANullNameKeepsKernelsApart) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclskScopeBegin("front", stream_));
    for (uint32_t number = 2; number < 5; ++number) ASSERT_ACL_OK(append(stream_, number));
    ASSERT_ACL_OK(aclskScopeEnd("front", stream_));
    ASSERT_ACL_OK(aclskScopeBegin(nullptr, stream_));
    for (uint32_t number = 5; number < 8; ++number) ASSERT_ACL_OK(append(stream_, number));
    ASSERT_ACL_OK(aclskScopeEnd(nullptr, stream_));
    ASSERT_ACL_OK(aclskScopeBegin("back", stream_));
    for (uint32_t number = 8; number < 10; ++number) ASSERT_ACL_OK(append(stream_, number));
    ASSERT_ACL_OK(aclskScopeEnd("back", stream_));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{3, 2}));
    EXPECT_EQ(report(graph)[0]["name"], "front");
    EXPECT_EQ(report(graph)[1]["name"], "back");
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(10));
}

TEST_F(FusionGraph, OtherTasksEndARun) {
    auto* bytes = device_array(std::vector<uint32_t>(16, 0));
    begin();
    for (uint32_t number = 0; number < 3; ++number) ASSERT_ACL_OK(append(stream_, number));
    ASSERT_ACL_OK(aclrtMemsetAsync(bytes, 64, 7, 64, stream_));
    for (uint32_t number = 3; number < 5; ++number) ASSERT_ACL_OK(append(stream_, number));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{3, 2}));
    replay(graph, stream_);
    if (!device_computes()) return;
    EXPECT_EQ(take_log(), numbers(5));
    EXPECT_EQ(read_back(bytes, 1)[0], 0x07070707u);
}

TEST_F(FusionGraph, StreamsOfAGraphFuseSeparatelyOrTogether) {
    for (const bool together : {false, true}) {
        begin();
        ASSERT_ACL_OK(append(stream_, 0));
        ASSERT_ACL_OK(append(stream_, 1));
        join(stream_, other_);
        ASSERT_ACL_OK(append(other_, 2));
        ASSERT_ACL_OK(append(other_, 3));
        join(other_, stream_);
        ASSERT_ACL_OK(append(stream_, 4));
        ASSERT_ACL_OK(append(stream_, 5));
        aclmdlRI graph = end();
        ASSERT_ACL_OK(optimise(graph, {{ACLSK_OPTION_STREAM_FUSION, together ? 1 : 0}}));
        const std::vector<std::size_t> expected =
            together ? std::vector<std::size_t>{6} : std::vector<std::size_t>{2, 2, 2};
        std::vector<std::size_t> found = sizes(graph);
        EXPECT_EQ(found, expected);
        for (int round = 0; round < 3; ++round) {
            replay(graph, stream_);
            if (device_computes()) EXPECT_EQ(take_log(), numbers(6)) << (together ? "together" : "apart");
        }
    }
}

TEST_F(FusionGraph, BranchesOfTwoStreamsRunInOneLaunch) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    join(stream_, other_);
    uint32_t* apart = log_ + 512;
    for (uint32_t number = 1; number < 4; ++number) {
        ASSERT_ACL_OK(append(stream_, number));
        ASSERT_ACL_OK(launch("append", 1, other_, apart, number + 100));
    }
    join(other_, stream_);
    ASSERT_ACL_OK(append(stream_, 4));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(optimise(graph, {{ACLSK_OPTION_STREAM_FUSION, 1}}));
    ASSERT_EQ(sizes(graph), (std::vector<std::size_t>{8}));
    const nlohmann::json steps = report(graph)[0]["steps"];
    EXPECT_EQ(steps[2]["after"], nlohmann::json({0}));
    EXPECT_EQ(steps[7]["after"].size(), 2u) << "the last kernel waits for both streams: " << steps;
    replay(graph, stream_);
    if (!device_computes()) return;
    EXPECT_EQ(read_back(apart, 4), (std::vector<uint32_t>{3, 101, 102, 103}));
    EXPECT_EQ(take_log(), numbers(5));
}

TEST_F(FusionGraph, AGraphOfStreamsWaitsForWhatAnyOfItsKernelsWaitsFor) {
    auto* bytes = device_array(std::vector<uint32_t>(1, 5));
    begin();
    join(stream_, other_);
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(aclrtMemsetAsync(bytes, 4, 0, 4, other_));  // another kind of task, which the fused launch awaits
    ASSERT_ACL_OK(launch("increment", 1, other_, bytes));
    join(other_, stream_);
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(optimise(graph, {{ACLSK_OPTION_STREAM_FUSION, 1}}));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{3}));
    for (int round = 0; round < 5; ++round) {
        replay(graph, stream_);
        if (!device_computes()) return;
        EXPECT_EQ(take_log(), numbers(2));
        EXPECT_EQ(read_back(bytes, 1)[0], 1u);
    }
}

TEST_F(FusionGraph, TaskGroupsStayAsTheyAre) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    ASSERT_ACL_OK(append(stream_, 1));
    aclrtTaskGrp group = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
    ASSERT_ACL_OK(append(stream_, 2));
    ASSERT_ACL_OK(append(stream_, 3));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{2}));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(4));
}

// ---- conditions -----------------------------------------------------------------------------------------------------

class FusionCondition : public FusionGraph {
protected:
    aclmdlRI body_of(aclmdlRICondTaskType type, uint64_t*& word) {
        aclmdlRI graph = nullptr, body = nullptr;
        aclmdlRICondHandle handle = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream_, nullptr, &graph));
        EXPECT_ACL_OK(aclmdlRICondHandleCreate(graph, 0, static_cast<aclmdlRICondHandleFlag>(0), &handle));
        EXPECT_ACL_OK(aclmdlRICondHandleGetCondPtr(handle, &word));
        EXPECT_ACL_OK(aclmdlRIAddCondTask({handle, type, 1, &body}, stream_, 0));
        return body;
    }
    template <class Fill>
    void fill(aclmdlRI body, Fill&& fill) {
        ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(third_, body, thread_local_));
        fill(third_);
        aclmdlRI same = nullptr;
        ASSERT_ACL_OK(aclmdlRICaptureEnd(third_, &same));
    }
    static void set(uint64_t* word, uint64_t value) {
        ASSERT_ACL_OK(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }
};

TEST_F(FusionCondition, BodiesAreFusedToo) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(append(stream_, 1));
    uint64_t* word = nullptr;
    aclmdlRI body = body_of(ACL_MODEL_RI_COND_TYPE_IF, word);
    ASSERT_ACL_OK(append(stream_, 5));
    ASSERT_ACL_OK(append(stream_, 6));
    fill(body, [&](aclrtStream stream) {
        for (uint32_t number = 2; number < 5; ++number) ASSERT_ACL_OK(append(stream, number));
    });
    aclmdlRI graph = end();
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{0, 1, 5, 6}));
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{2, 2, 3})) << "the body's launch stands behind the graph's own";
    for (int round = 0; device_computes() && round < 4; ++round) {
        set(word, 1);
        replay(graph, stream_);
        EXPECT_EQ(take_log(), numbers(7));
        set(word, 0);
        replay(graph, stream_);
        EXPECT_EQ(take_log(), (std::vector<uint32_t>{0, 1, 5, 6}));
        if (round == 1) ASSERT_ACL_OK(canopyFusionWait(graph, -1));
    }
}

TEST_F(FusionCondition, ALoopRunsItsFusedBodyInEachRound) {
    begin();
    uint64_t* word = nullptr;
    aclmdlRI body = body_of(ACL_MODEL_RI_COND_TYPE_WHILE, word);
    fill(body, [&](aclrtStream stream) {
        ASSERT_ACL_OK(append(stream, 7));
        ASSERT_ACL_OK(increment(stream));
        ASSERT_ACL_OK(launch("add_atomically", 1, stream, word, UINT64_MAX));
    });
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    ASSERT_EQ(sizes(graph), (std::vector<std::size_t>{3}));
    if (!device_computes()) return;
    set(word, 3);
    replay(graph, stream_);
    EXPECT_EQ(take_log(), (std::vector<uint32_t>{7, 7, 7}));
    EXPECT_EQ(read_back(counter_, 1)[0], 3u);
}

TEST_F(FusionCondition, TasksOfAFusedBodyCanBeChanged) {
    begin();
    uint64_t* word = nullptr;
    aclmdlRI body = body_of(ACL_MODEL_RI_COND_TYPE_IF, word);
    fill(body, [&](aclrtStream stream) {
        ASSERT_ACL_OK(append(stream, 1));
        ASSERT_ACL_OK(append(stream, 2));
    });
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    const std::vector<aclmdlRITask> tasks = tasks_of(body);
    ASSERT_EQ(tasks.size(), 2u);
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[0]));
    EXPECT_ACL_FAILS(107040, "changes", aclskOptimize(graph, nullptr));
    ASSERT_ACL_OK(aclmdlRIUpdate(body));
    if (!device_computes()) return;
    set(word, 1);
    replay(graph, stream_);
    EXPECT_EQ(take_log(), (std::vector<uint32_t>{2}));
}

TEST_F(FusionCondition, AScopeAnywhereLeavesOutWhatHasNone) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(append(stream_, 1));
    uint64_t* word = nullptr;
    aclmdlRI body = body_of(ACL_MODEL_RI_COND_TYPE_IF, word);
    fill(body, [&](aclrtStream stream) {
        ASSERT_ACL_OK(aclskScopeBegin("inside", stream));
        ASSERT_ACL_OK(append(stream, 2));
        ASSERT_ACL_OK(append(stream, 3));
        ASSERT_ACL_OK(aclskScopeEnd("inside", stream));
        ASSERT_ACL_OK(append(stream, 4));
    });
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{2}));
    EXPECT_EQ(report(graph)[0]["name"], "inside");
    if (!device_computes()) return;
    set(word, 1);
    replay(graph, stream_);
    EXPECT_EQ(take_log(), numbers(5));
}

// ---- after the fusion -----------------------------------------------------------------------------------------------

TEST_F(FusionGraph, MembersOfAFusedLaunchCanBeChangedAndDisabled) {
    begin();
    for (uint32_t number = 0; number < 4; ++number) ASSERT_ACL_OK(append(stream_, number));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    const std::vector<aclmdlRITask> tasks = tasks_of(graph);
    ASSERT_EQ(tasks.size(), 4u);
    aclmdlRITaskParams params = {};
    ASSERT_ACL_OK(aclmdlRITaskGetParams(tasks[1], &params));
    uint64_t arguments[2] = {word(log_), 77};
    params.kernelTaskParams.args = arguments;
    params.kernelTaskParams.argsSize = sizeof(arguments);
    params.kernelTaskParams.isHostArgs = 1;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &params));
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[2]));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(4)) << "changes wait for the update";
    ASSERT_ACL_OK(aclmdlRIUpdate(graph));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{0, 77, 3}));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{3}));
    for (aclmdlRITask task : tasks) ASSERT_ACL_OK(aclmdlRITaskDisable(task));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>());
}

TEST_F(FusionGraph, ThePrintShowsTheFusedLaunchWithItsSteps) {
    begin();
    ASSERT_ACL_OK(aclskScopeBegin("both", stream_));
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(increment(stream_));
    ASSERT_ACL_OK(aclskScopeEnd("both", stream_));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    const TemporaryDirectory folder;
    const std::string path = folder.path() + "/graph.json";
    ASSERT_ACL_OK(aclmdlRIDebugJsonPrint(graph, path.c_str(), 0));
    const std::string text = file_text(path);
    EXPECT_NE(text.find("fused kernel"), std::string::npos) << text;
    EXPECT_NE(text.find("\"both\""), std::string::npos) << text;
    EXPECT_NE(text.find("increment"), std::string::npos) << text;
}

TEST_F(FusionGraph, AFaultNamesTheStepAndItsGraph) {
    if (!device_computes()) GTEST_SKIP() << "nothing faults";
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(launch("trap_in_block", 4, stream_, uint32_t{3}));
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_FAILS(507035, "kernel trap_in_block", aclrtSynchronizeStream(stream_));
    EXPECT_EQ(take_log(), numbers(1));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_FAILS(507035, "step 1 of fused kernel", aclrtSynchronizeStream(stream_));
    EXPECT_EQ(take_log(), numbers(1)) << "nothing after the failed step has run";
}

TEST_F(FusionGraph, AnOptimisedGraphOutlivesTheBinaryOfItsKernels) {
    aclrtBinHandle second = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &second));
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(second, "append", &function));
    begin();
    for (uint32_t number = 0; number < 3; ++number) {
        uint64_t arguments[2] = {word(log_), number};
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, 1, stream_, nullptr, arguments, 16, nullptr, 0));
    }
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclrtBinaryUnLoad(second));
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(3));
}

TEST_F(FusionGraph, ALaunchThatRunsOutlivesTheBinaryOfItsKernels) {
    if (!device_computes()) GTEST_SKIP() << "nothing waits";
    if (std::getenv("CANOPY_FUSION_CHECK")) GTEST_SKIP() << "another stream writes the memory of the launch";
    auto* words = device_array<uint32_t>({0, 0, 0});
    aclrtBinHandle second = nullptr;
    aclrtFuncHandle waiting = nullptr, last = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &second));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(second, "begin_and_wait_for_word", &waiting));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(second, "increment", &last));
    begin();
    uint64_t arguments[3] = {word(words), word(words + 1), word(words + 2)};
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(waiting, 1, stream_, nullptr, arguments, 24, nullptr, 0));
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(last, 1, stream_, nullptr, arguments + 2, 8, nullptr, 0));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    ASSERT_EQ(sizes(graph), (std::vector<std::size_t>{2}));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_TRUE(eventually([&] { return read_back(words, 1)[0] != 0; }));  // it is in its first step
    ASSERT_ACL_OK(aclrtBinaryUnLoad(second));
    ASSERT_ACL_OK(launch("set_word", 1, other_, words + 1));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words, 3)[2], 2u);
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(FusionGraph, WithoutEarlyStartEveryKernelWaitsForThoseBeforeIt) {
    for (const uint64_t early : {0, 1}) {
        std::vector<uint32_t*> counters;
        for (int index = 0; index < 4; ++index) counters.push_back(device_array<uint32_t>({0}));
        begin();
        for (uint32_t* counter : counters) ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
        aclmdlRI graph = end();
        ASSERT_ACL_OK(optimise(graph, {{ACLSK_OPTION_EARLY_START, early}}));
        replay(graph, stream_);
        ASSERT_ACL_OK(canopyFusionWait(graph, -1));
        const nlohmann::json variant = report(graph)[0]["variants"][0];
        EXPECT_TRUE(early != 0 || variant["barriers_after"] == 3) << variant;
        replay(graph, stream_);
        for (uint32_t* counter : counters)
            if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 2u);
    }
}

TEST_F(FusionGraph, OptimisingAgainOrNothingChangesNothing) {
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    aclmdlRI single = end();
    ASSERT_ACL_OK(aclskOptimize(single, nullptr));
    EXPECT_EQ(sizes(single), std::vector<std::size_t>());
    begin();
    ASSERT_ACL_OK(append(stream_, 0));
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    EXPECT_EQ(sizes(graph), (std::vector<std::size_t>{2}));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), numbers(2));
}

// Random graphs of three streams whose kernels share memory only where streams and events order them.
TEST_F(FusionGraph, RandomGraphsEqualTheirUnfusedSelves) {
    constexpr std::size_t floats = 2048;
    std::mt19937 random(6);
    std::vector<float*> buffers;
    for (int index = 0; index < 6; ++index) {
        std::vector<float> values(floats);
        for (float& value : values) value = static_cast<float>(random() % 64);
        buffers.push_back(device_array(values));
    }
    const aclrtStream streams[3] = {stream_, other_, third_};
    for (int round = 0; round < 10; ++round) {
        begin();
        join(stream_, other_);
        join(stream_, third_);
        const std::size_t kernels = 2 + random() % 62;
        for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
            const std::size_t lane = random() % 3;
            // Each stream has two buffers; after a join it may also read those of the other stream.
            const auto own = [&] { return buffers[lane * 2 + random() % 2]; };
            float* other = own();
            const std::size_t from = random() % 4 == 0 ? random() % 3 : lane;
            if (from != lane) {
                join(streams[from], streams[lane]);
                other = buffers[from * 2 + random() % 2];
            }
            ASSERT_ACL_OK(launch("add", 1 + static_cast<uint32_t>(random() % 4), streams[lane], own(), other, own(),
                                 static_cast<uint32_t>(floats)));
            if (from != lane) join(streams[lane], streams[from]);  // `from` writes its buffers again
            if (random() % 8 == 0)
                ASSERT_ACL_OK(aclrtMemcpyAsync(own(), floats * 2, buffers[lane * 2], floats * 2,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, streams[lane]));
        }
        join(other_, stream_);
        join(third_, stream_);
        aclmdlRI graph = end();
        const auto restart = [&] {
            for (std::size_t index = 0; index < buffers.size(); ++index)
                EXPECT_ACL_OK(aclrtMemset(buffers[index], floats * 4, 60 + static_cast<int>(index), floats * 4));
        };
        restart();
        replay(graph, stream_);
        std::vector<std::vector<float>> expected;
        for (float* buffer : buffers) expected.push_back(read_back(buffer, floats));
        ASSERT_ACL_OK(optimise(graph, {{ACLSK_OPTION_STREAM_FUSION, static_cast<uint64_t>(round % 2)},
                                       {ACLSK_OPTION_DEBUG_SYNC_ALL, static_cast<uint64_t>(round % 5 == 4)}}));
        for (int again = 0; again < 3; ++again) {
            restart();
            replay(graph, stream_);
            for (std::size_t index = 0; device_computes() && index < buffers.size(); ++index) {
                const std::vector<float> got = read_back(buffers[index], floats);
                ASSERT_EQ(std::memcmp(got.data(), expected[index].data(), floats * 4), 0)
                    << "round " << round << ", buffer " << index;
            }
            if (again == 1) ASSERT_ACL_OK(canopyFusionWait(graph, -1));
        }
    }
}

}  // namespace
}  // namespace conformance
