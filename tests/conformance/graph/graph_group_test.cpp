// SPDX-License-Identifier: Apache-2.0
// Task groups and their updates; updates of tasks of built models from device memory.
#include <atomic>
#include <thread>

#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

class GraphGroup : public CaptureTest {
protected:
    // Captures a graph with the calls in a group, one task before it and one after it.
    template <class Calls>
    aclrtTaskGrp capture(Calls&& calls) {
        aclrtTaskGrp group = nullptr;
        begin();
        EXPECT_ACL_OK(append(stream_, 1000));
        EXPECT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
        calls();
        EXPECT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
        EXPECT_ACL_OK(append(stream_, 2000));
        graph_ = end();
        return group;
    }
    template <class Calls>
    void update(aclrtTaskGrp group, Calls&& calls) {
        EXPECT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
        calls();
        EXPECT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    }
    void expect_replay(const std::vector<uint32_t>& numbers) {
        replay(graph_, stream_);
        if (device_computes()) EXPECT_EQ(take_log(), numbers);
    }
    aclmdlRI graph_ = nullptr;
};

TEST_F(GraphGroup, AnUpdateReplacesTheTasksOfTheGroup) {
    aclrtTaskGrp group = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
    });
    expect_replay({1000, 1, 2, 2000});
    for (uint32_t round = 10; round < 100; round += 10) {
        update(group, [&] {
            ASSERT_ACL_OK(append(other_, round));
            ASSERT_ACL_OK(append(other_, round + 1));
        });
        if (device_computes()) EXPECT_TRUE(take_log().empty());  // nothing ran
        expect_replay({1000, round, round + 1, 2000});
    }
    expect_replay({1000, 90, 91, 2000});
}

TEST_F(GraphGroup, TasksOfEveryKindCanBeReplaced) {
    auto* words = device_array<uint64_t>(std::vector<uint64_t>(8, 0));
    aclrtFuncHandle add = function("add_atomically");
    const auto calls = [&](aclrtStream stream, uint64_t number) {
        uint64_t arguments[2] = {reinterpret_cast<uint64_t>(words), number};
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(add, 2, stream, nullptr, arguments, 16, nullptr, 0));
        ASSERT_ACL_OK(aclrtMemsetAsync(words + 1, 8, static_cast<int>(number), 8, stream));
        ASSERT_ACL_OK(aclrtMemcpyAsync(words + 2, 8, &number, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
        ASSERT_ACL_OK(aclrtMemcpyAsync(words + 3, 8, words + 2, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        ASSERT_ACL_OK(aclrtValueWrite(words + 4, number + 1, 0, stream));
        ASSERT_ACL_OK(aclrtValueWait(words + 4, number + 1, 1, stream));
        ASSERT_ACL_OK(
            aclrtReduceAsync(words + 5, words + 4, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr));
    };
    aclrtTaskGrp group = capture([&] { calls(stream_, 1); });
    replay(graph_, stream_);
    if (device_computes()) EXPECT_EQ(read_back(words, 6), (std::vector<uint64_t>{2, 0x0101010101010101, 1, 1, 2, 2}));
    update(group, [&] { calls(other_, 7); });
    replay(graph_, stream_);
    if (device_computes()) EXPECT_EQ(read_back(words, 6), (std::vector<uint64_t>{16, 0x0707070707070707, 7, 7, 8, 10}));
}

TEST_F(GraphGroup, TasksKnowTheirGroup) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    aclrtStream stream = nullptr;
    uint32_t count = 1;
    ASSERT_ACL_OK(aclmdlRIGetStreams(graph_, &stream, &count));
    aclmdlRITask tasks[3] = {};
    count = 3;
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(stream, tasks, &count));
    aclmdlRITaskParams params = {};
    ASSERT_ACL_OK(aclmdlRITaskGetParams(tasks[0], &params));
    EXPECT_EQ(params.taskGrp, nullptr);
    ASSERT_ACL_OK(aclmdlRITaskGetParams(tasks[1], &params));
    EXPECT_EQ(params.taskGrp, group);
    update(group, [&] { ASSERT_ACL_OK(append(other_, 5)); });
    ASSERT_ACL_OK(aclmdlRITaskGetParams(tasks[1], &params));
    EXPECT_EQ(static_cast<uint64_t*>(params.kernelTaskParams.args)[1], 5u);
    EXPECT_EQ(params.taskGrp, group);
}

TEST_F(GraphGroup, ADisabledTaskStaysDisabled) {
    aclrtTaskGrp group = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
    });
    aclrtStream stream = nullptr;
    uint32_t count = 1;
    ASSERT_ACL_OK(aclmdlRIGetStreams(graph_, &stream, &count));
    aclmdlRITask tasks[4] = {};
    count = 4;
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(stream, tasks, &count));
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[1]));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({1000, 2, 2000});
    update(group, [&] {
        ASSERT_ACL_OK(append(other_, 3));
        ASSERT_ACL_OK(append(other_, 4));
    });
    expect_replay({1000, 4, 2000});
}

TEST_F(GraphGroup, AnUpdateTakesEffectInTheOrderOfItsStream) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    Gate gate;
    gate.hold(other_);
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 2));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    replay(graph_, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1000, 1, 2000}));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    expect_replay({1000, 2, 2000});
}

TEST_F(GraphGroup, AReplayThatWaitsBeforeTheGroupSeesTheUpdate) {
    aclrtEvent updated = event(ACL_EVENT_EXTERNAL);
    aclrtTaskGrp group = nullptr;
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, updated));
    ASSERT_ACL_OK(aclrtResetEvent(updated, stream_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    ASSERT_ACL_OK(append(stream_, 2));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
    aclmdlRI graph = end();
    for (uint32_t round = 3; round < 40; ++round) {
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
        ASSERT_ACL_OK(append(other_, round));
        ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
        ASSERT_ACL_OK(aclrtRecordEvent(updated, other_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) ASSERT_EQ(take_log(), (std::vector<uint32_t>{1, round}));
    }
}

TEST_F(GraphGroup, AReplaySeesAllOfAnUpdateOrNothing) {
    constexpr uint32_t tasks = 32, rounds = 200;
    auto* sums = device_array<uint64_t>({0, 0});
    aclrtFuncHandle add = function("add_atomically");
    const auto calls = [&](aclrtStream stream, uint64_t number) {
        uint64_t arguments[2] = {reinterpret_cast<uint64_t>(sums), number};
        for (uint32_t task = 0; task < tasks; ++task)
            ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(add, 1, stream, nullptr, arguments, 16, nullptr, 0));
    };
    aclrtTaskGrp group = capture([&] { calls(stream_, 1); });
    std::atomic<bool> done{false};
    std::thread updater([&] {
        ASSERT_ACL_OK(aclrtSetDevice(0));
        for (uint32_t number = 1; !done.load(); number = number % 1000 + 1) {
            ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
            calls(other_, number);
            ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
        }
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        ASSERT_ACL_OK(aclrtResetDevice(0));
    });
    uint64_t before = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
        replay(graph_, stream_);
        const uint64_t sum = read_back(sums, 1)[0];
        EXPECT_EQ((sum - before) % tasks, 0u);  // all tasks added the same number
        if (device_computes()) EXPECT_NE(sum, before);
        before = sum;
        take_log();
    }
    done.store(true);
    updater.join();
}

TEST_F(GraphGroup, AnEmptyUpdateChangesNothing) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    update(group, [] {});
    expect_replay({1000, 1, 2000});
    aclrtTaskGrp none = nullptr;
    begin();
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &none));
    end();
    update(none, [] {});
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, none));
    EXPECT_ACL_FAILS(107034, "0 tasks", append(other_, 1));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
}

TEST_F(GraphGroup, AnUpdateHasTheSameNumberAndKindsOfTasks) {
    aclrtTaskGrp group = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
    });
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 3));
    EXPECT_ACL_FAILS(107034, "2 tasks, its update 1", aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 3));
    ASSERT_ACL_OK(aclrtMemsetAsync(counter_, 4, 0, 4, other_));
    EXPECT_ACL_FAILS(107034, "another kind", aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 3));
    ASSERT_ACL_OK(
        aclrtReduceAsync(counter_, counter_, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, other_, nullptr));
    EXPECT_ACL_FAILS(107034, "another kind", aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 5));
    ASSERT_ACL_OK(append(other_, 6));
    EXPECT_ACL_FAILS(107034, "more", append(other_, 7));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    expect_replay({1000, 5, 6, 2000});
    expect_usable(other_);
}

TEST_F(GraphGroup, EventsAreNotPartOfAnUpdate) {
    aclrtEvent outside = event(ACL_EVENT_EXTERNAL);
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    EXPECT_ACL_FAILS(207019, "events", aclrtRecordEvent(outside, other_));
    EXPECT_ACL_FAILS(207019, "events", aclrtStreamWaitEvent(other_, outside));
    EXPECT_ACL_FAILS(207019, "events", aclrtResetEvent(outside, other_));
    ASSERT_ACL_OK(append(other_, 2));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    expect_replay({1000, 2, 2000});
}

TEST_F(GraphGroup, GroupsAreMarkedWhileCapturing) {
    aclrtTaskGrp group = nullptr;
    EXPECT_ACL_FAILS(100000, "stream", aclmdlRICaptureTaskGrpBegin(nullptr));
    EXPECT_ACL_FAILS(107033, "not being captured", aclmdlRICaptureTaskGrpBegin(stream_));
    EXPECT_ACL_FAILS(107033, "not being captured", aclmdlRICaptureTaskGrpEnd(stream_, &group));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclmdlRICaptureTaskGrpBegin(function("append")));
    begin();
    EXPECT_ACL_FAILS(107033, "no open", aclmdlRICaptureTaskGrpEnd(stream_, &group));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    EXPECT_ACL_FAILS(107033, "already", aclmdlRICaptureTaskGrpBegin(stream_));
    EXPECT_ACL_FAILS(100000, "stream", aclmdlRICaptureTaskGrpEnd(nullptr, &group));
    EXPECT_ACL_FAILS(100000, "handle", aclmdlRICaptureTaskGrpEnd(stream_, nullptr));
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
    EXPECT_ACL_FAILS(107033, "complete", aclmdlRICaptureTaskUpdateBegin(other_, group));
    EXPECT_ACL_FAILS(107033, "captured", aclmdlRICaptureTaskUpdateBegin(stream_, group));
    end();
}

TEST_F(GraphGroup, ASpoiltCaptureHasNoGroups) {
    begin();
    EXPECT_ACL_FAILS(107027, "forbidden", aclrtSynchronizeStream(stream_));
    EXPECT_ACL_FAILS(507903, "", aclmdlRICaptureTaskGrpBegin(stream_));
    expect_end_fails(507903, "aclrtSynchronizeStream");
}

TEST_F(GraphGroup, AGroupMustEndBeforeItsCapture) {
    begin();
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    ASSERT_ACL_OK(append(stream_, 1));
    expect_end_fails(107033, "not ended");
}

TEST_F(GraphGroup, UpdatesHaveABeginningAndAnEnd) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    EXPECT_ACL_FAILS(100000, "stream", aclmdlRICaptureTaskUpdateBegin(nullptr, group));
    EXPECT_ACL_FAILS(100000, "handle", aclmdlRICaptureTaskUpdateBegin(other_, nullptr));
    EXPECT_ACL_FAILS(107017, "not a live task group", aclmdlRICaptureTaskUpdateBegin(other_, graph_));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclmdlRICaptureTaskUpdateBegin(group, group));
    EXPECT_ACL_FAILS(100000, "stream", aclmdlRICaptureTaskUpdateEnd(nullptr));
    EXPECT_ACL_FAILS(107033, "no update", aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    EXPECT_ACL_FAILS(107033, "already", aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    aclrtStream persistent = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
    EXPECT_ACL_FAILS(107033, "persistent", aclmdlRICaptureTaskUpdateBegin(persistent, group));
    ASSERT_ACL_OK(aclrtDestroyStream(persistent));
}

TEST_F(GraphGroup, AnUpdateMayOutliveItsGraph) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 2));
    graphs_.clear();
    Gate gate;
    gate.hold(third_);
    aclrtTaskGrp stale = group;
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(third_, group));
    ASSERT_ACL_OK(append(third_, 3));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(third_));
    ASSERT_ACL_OK(aclmdlRIDestroy(graph_));
    EXPECT_ACL_FAILS(107017, "not a live", aclmdlRICaptureTaskUpdateEnd(other_));
    EXPECT_ACL_FAILS(107017, "not a live task group", aclmdlRICaptureTaskUpdateBegin(other_, stale));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(third_));
    expect_usable(other_);
}

TEST_F(GraphGroup, AStreamMayEndInTheMiddleOfAnUpdate) {
    aclrtTaskGrp group = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    aclrtStream gone = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&gone));
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(gone, group));
    ASSERT_ACL_OK(append(gone, 2));
    ASSERT_ACL_OK(aclrtDestroyStream(gone));
    expect_replay({1000, 1, 2000});
    update(group, [&] { ASSERT_ACL_OK(append(other_, 3)); });
    expect_replay({1000, 3, 2000});
}

// ---- from device memory --------------------------------------------------------------------------------------------

class TaskUpdate : public CaptureTest {
protected:
    void SetUp() override {
        CaptureTest::SetUp();
        ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&persistent_, 0, ACL_STREAM_PERSISTENT));
        ASSERT_ACL_OK(aclmdlRIBindStream(model_, persistent_, 0));
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclmdlRIDestroy(model_));
        EXPECT_ACL_OK(aclrtDestroyStream(persistent_));
        CaptureTest::TearDown();
    }
    void finish() {
        ASSERT_ACL_OK(aclmdlRIEndTask(model_, persistent_));
        ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    }
    static uint32_t last_task() {
        uint32_t number = 0;
        EXPECT_ACL_OK(aclrtGetThreadLastTaskId(&number));
        return number;
    }
    aclrtTaskUpdateInfo kernel_update(void* entry, void* blocks) {
        aclrtTaskUpdateInfo info = {};
        info.id = ACL_RT_UPDATE_AIC_AIV_TASK;
        info.val.aicAivTaskAttr.binHandle = binary_;
        info.val.aicAivTaskAttr.funcEntryAddr = entry;
        info.val.aicAivTaskAttr.blockDimAddr = blocks;
        return info;
    }
    template <class T>
    void write(T* device, T value) {
        EXPECT_ACL_OK(aclrtMemcpy(device, sizeof(T), &value, sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    aclmdlRI model_ = nullptr;
    aclrtStream persistent_ = nullptr;
};

TEST_F(TaskUpdate, AKernelAndItsBlocksComeFromDeviceMemory) {
    auto* entry = device_array<uint64_t>({21});
    auto* blocks = device_array<uint32_t>({3});
    ASSERT_ACL_OK(launch("count_blocks_21", 1, persistent_, counter_));
    const uint32_t task = last_task();
    finish();
    replay(model_, stream_);
    if (device_computes()) EXPECT_EQ(count(), 1u);
    aclrtTaskUpdateInfo info = kernel_update(entry, blocks);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    replay(model_, stream_);
    if (device_computes()) EXPECT_EQ(count(), 4u);
    Gate gate;  // the values are read when the stream reaches the update
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    write(entry, uint64_t{22});
    write(blocks, 2u);
    gate.open();
    replay(model_, stream_);
    if (device_computes()) EXPECT_EQ(count(), 204u);
}

TEST_F(TaskUpdate, WrongValuesFailTheStreamAndChangeNothing) {
    auto* entry = device_array<uint64_t>({12345});
    auto* blocks = device_array<uint32_t>({1});
    ASSERT_ACL_OK(launch("count_blocks_21", 1, persistent_, counter_));
    const uint32_t task = last_task();
    finish();
    aclrtTaskUpdateInfo info = kernel_update(entry, blocks);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    EXPECT_ACL_FAILS(107000, "entry", aclrtSynchronizeStream(stream_));
    write(entry, uint64_t{22});
    write(blocks, 0u);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    EXPECT_ACL_FAILS(107000, "blocks", aclrtSynchronizeStream(stream_));
    replay(model_, stream_);
    if (device_computes()) EXPECT_EQ(count(), 1u);
}

TEST_F(TaskUpdate, ARandomTaskComesFromDeviceMemory) {
    const auto value = [](auto number) {
        aclrtRandomParaInfo parameter = {};
        parameter.size = sizeof(number);
        std::memcpy(parameter.valueOrAddr, &number, sizeof(number));
        return parameter;
    };
    auto* result = device_array<float>(std::vector<float>(64, 0));
    aclrtRandomNumTaskInfo random = {};
    random.dataType = ACL_FLOAT;
    random.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
    random.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {value(1.0f), value(2.0f)};
    random.randomResultAddr = result;
    random.randomCounterAddr = device_array<uint64_t>({0, 0});
    random.randomSeed = value(uint64_t{1});
    random.randomNum = value(uint64_t{64});
    ASSERT_ACL_OK(aclrtRandomNumAsync(&random, persistent_, nullptr));
    const uint32_t task = last_task();
    ASSERT_ACL_OK(increment(persistent_));
    const uint32_t kernel = last_task();
    finish();
    const auto within = [&](float low, float high) {
        replay(model_, stream_);
        if (!device_computes()) return;
        for (float number : read_back(result, 64)) {
            ASSERT_GE(number, low);
            ASSERT_LE(number, high);
        }
    };
    within(1, 2);
    random.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {value(5.0f), value(6.0f)};
    auto* memory = device_array<aclrtRandomNumTaskInfo>({random});
    aclrtTaskUpdateInfo info = {};
    info.id = ACL_RT_UPDATE_RANDOM_TASK;
    info.val.randomTaskAttr.srcAddr = memory;
    info.val.randomTaskAttr.size = sizeof(random);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    within(5, 6);
    within(5, 6);
    EXPECT_ACL_FAILS(107000, "not generate random", aclrtTaskUpdateAsync(persistent_, kernel, &info, stream_));
    random.dataType = ACL_STRING;
    write(memory, random);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    EXPECT_ACL_FAILS(107000, "random-number task", aclrtSynchronizeStream(stream_));
    within(5, 6);
    info.val.randomTaskAttr.size = 8;
    EXPECT_ACL_FAILS(107000, "size 8", aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    info.val.randomTaskAttr = {nullptr, sizeof(random), {}};
    EXPECT_ACL_FAILS(100000, "srcAddr", aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
}

TEST_F(TaskUpdate, ChecksItsArguments) {
    auto* words = device_array<uint64_t>({21, 1});
    ASSERT_ACL_OK(launch("count_blocks_21", 1, persistent_, counter_));
    const uint32_t task = last_task();
    ASSERT_ACL_OK(aclrtMemsetAsync(counter_, 4, 0, 4, persistent_));
    const uint32_t fill = last_task();
    ASSERT_ACL_OK(
        aclrtReduceAsync(counter_, words, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, persistent_, nullptr));
    const uint32_t reduction = last_task();
    aclrtTaskUpdateInfo info = kernel_update(words, words + 1);
    EXPECT_ACL_FAILS(100000, "info", aclrtTaskUpdateAsync(persistent_, task, nullptr, stream_));
    EXPECT_ACL_FAILS(107000, "not a kernel", aclrtTaskUpdateAsync(persistent_, fill, &info, stream_));
    EXPECT_ACL_FAILS(107000, "not a kernel", aclrtTaskUpdateAsync(persistent_, reduction, &info, stream_));
    EXPECT_ACL_FAILS(107000, "number 77", aclrtTaskUpdateAsync(persistent_, 77, &info, stream_));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtTaskUpdateAsync(stream_, task, &info, stream_));
    EXPECT_ACL_FAILS(107005, "persistent", aclrtTaskUpdateAsync(persistent_, task, &info, persistent_));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclrtTaskUpdateAsync(model_, task, &info, stream_));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclrtTaskUpdateAsync(persistent_, task, &info, model_));
    begin(relaxed);
    EXPECT_ACL_FAILS(107027, "recorded", aclrtTaskUpdateAsync(persistent_, task, &info, stream_));
    EXPECT_ACL_FAILS(107027, "captured", aclrtTaskUpdateAsync(stream_, task, &info, other_));
    aclmdlRI captured = nullptr;
    aclmdlRICaptureEnd(stream_, &captured);
    if (captured) EXPECT_ACL_OK(aclmdlRIDestroy(captured));
    info.val.aicAivTaskAttr.binHandle = stream_;
    EXPECT_ACL_FAILS(107017, "binary", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
    info.val.aicAivTaskAttr.binHandle = nullptr;
    EXPECT_ACL_FAILS(100000, "binHandle", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
    info = kernel_update(nullptr, words);
    EXPECT_ACL_FAILS(100000, "funcEntryAddr", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
    info = kernel_update(words, nullptr);
    EXPECT_ACL_FAILS(100000, "blockDimAddr", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
    info = kernel_update(&info, words);
    EXPECT_ACL_FAILS(107000, "device memory", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
    info.id = static_cast<aclrtUpdateTaskAttrId>(3);
    EXPECT_ACL_FAILS(207000, "id 3", aclrtTaskUpdateAsync(persistent_, task, &info, other_));
}

TEST_F(TaskUpdate, BeforeTheEndOfTheBuildingItChangesTheTask) {
    auto* entry = device_array<uint64_t>({22});
    auto* blocks = device_array<uint32_t>({2});
    ASSERT_ACL_OK(launch("count_blocks_21", 1, persistent_, counter_));
    aclrtTaskUpdateInfo info = kernel_update(entry, blocks);
    ASSERT_ACL_OK(aclrtTaskUpdateAsync(persistent_, last_task(), &info, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    finish();
    replay(model_, stream_);
    if (device_computes()) EXPECT_EQ(count(), 200u);
}

}  // namespace
}  // namespace conformance
