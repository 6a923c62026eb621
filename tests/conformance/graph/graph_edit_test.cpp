// SPDX-License-Identifier: Apache-2.0
// Inspecting and changing the tasks of graphs.
#include <algorithm>

#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

class GraphEdit : public CaptureTest {
protected:
    static std::vector<aclrtStream> streams_of(aclmdlRI graph) {
        uint32_t count = 0;
        EXPECT_ACL_OK(aclmdlRIGetStreams(graph, nullptr, &count));
        std::vector<aclrtStream> streams(count);
        EXPECT_ACL_OK(aclmdlRIGetStreams(graph, streams.data(), &count));
        EXPECT_EQ(count, streams.size());
        return streams;
    }
    static std::vector<aclmdlRITask> tasks_of(aclrtStream stream) {
        uint32_t count = 0;
        EXPECT_ACL_OK(aclmdlRIGetTasksByStream(stream, nullptr, &count));
        std::vector<aclmdlRITask> tasks(count);
        EXPECT_ACL_OK(aclmdlRIGetTasksByStream(stream, tasks.data(), &count));
        EXPECT_EQ(count, tasks.size());
        return tasks;
    }
    static aclmdlRITaskType type_of(aclmdlRITask task) {
        auto type = ACL_MODEL_RI_TASK_DEFAULT;
        EXPECT_ACL_OK(aclmdlRITaskGetType(task, &type));
        return type;
    }
    static uint32_t number_of(aclmdlRITask task) {
        uint32_t number = 0;
        EXPECT_ACL_OK(aclmdlRITaskGetSeqId(task, &number));
        return number;
    }
    static aclmdlRITaskParams params_of(aclmdlRITask task) {
        aclmdlRITaskParams params;
        std::memset(&params, 0xEE, sizeof(params));
        EXPECT_ACL_OK(aclmdlRITaskGetParams(task, &params));
        return params;
    }
    // Captures a graph on one stream and returns its tasks.
    template <class Calls>
    std::vector<aclmdlRITask> capture(Calls&& calls) {
        begin();
        calls();
        graph_ = end();
        return tasks_of(streams_of(graph_).at(0));
    }
    void expect_replay(const std::vector<uint32_t>& numbers) {
        replay(graph_, stream_);
        if (device_computes()) EXPECT_EQ(take_log(), numbers);
    }
    aclmdlRI graph_ = nullptr;
};

// ---- names and numbers ---------------------------------------------------------------------------------------------

TEST_F(GraphEdit, NamesAreKeptUpTo511Characters) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    char name[512] = "x";
    ASSERT_ACL_OK(aclmdlRIGetName(graph, sizeof(name), name));
    EXPECT_STREQ(name, "");
    ASSERT_ACL_OK(aclmdlRISetName(graph, "layer 7"));
    ASSERT_ACL_OK(aclmdlRIGetName(graph, sizeof(name), name));
    EXPECT_STREQ(name, "layer 7");
    ASSERT_ACL_OK(aclmdlRIGetName(graph, 8, name));
    EXPECT_ACL_FAILS(107000, "maxLen 7", aclmdlRIGetName(graph, 7, name));
    EXPECT_ACL_FAILS(107000, "maxLen", aclmdlRIGetName(graph, 0, name));
    const std::string longest(511, 'n');
    ASSERT_ACL_OK(aclmdlRISetName(graph, longest.c_str()));
    ASSERT_ACL_OK(aclmdlRIGetName(graph, 512, name));
    EXPECT_EQ(name, longest);
    EXPECT_ACL_FAILS(107000, "512 characters", aclmdlRISetName(graph, std::string(512, 'n').c_str()));
    EXPECT_ACL_FAILS(100000, "name", aclmdlRISetName(graph, nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRISetName(nullptr, "x"));
    EXPECT_ACL_FAILS(100000, "name", aclmdlRIGetName(graph, 512, nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIGetName(nullptr, 512, name));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRISetName(stream_, "x"));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIGetName(stream_, 512, name));
}

TEST_F(GraphEdit, ModelsHaveDifferentNumbers) {
    begin();
    aclmdlRI first = end();
    begin();
    aclmdlRI second = end();
    uint32_t a = 0, b = 0;
    ASSERT_ACL_OK(aclmdlRIGetId(first, &a));
    ASSERT_ACL_OK(aclmdlRIGetId(second, &b));
    EXPECT_NE(a, b);
    EXPECT_ACL_FAILS(100000, "modelRIId", aclmdlRIGetId(first, nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIGetId(nullptr, &a));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIGetId(stream_, &a));
}

// ---- streams and tasks ---------------------------------------------------------------------------------------------

TEST_F(GraphEdit, AModelHasAStreamForEachThatWasCaptured) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    join(stream_, other_);
    ASSERT_ACL_OK(increment(other_));
    join(other_, stream_);
    aclmdlRI graph = end();
    const std::vector<aclrtStream> streams = streams_of(graph);
    ASSERT_EQ(streams.size(), 2u);
    EXPECT_EQ(streams_of(graph), streams);
    const std::vector<aclmdlRITask> first = tasks_of(streams[0]), second = tasks_of(streams[1]);
    EXPECT_EQ(tasks_of(streams[0]), first);
    ASSERT_EQ(first.size(), 3u);
    ASSERT_EQ(second.size(), 3u);
    EXPECT_EQ(type_of(first[0]), ACL_MODEL_RI_TASK_KERNEL);
    EXPECT_EQ(type_of(first[1]), ACL_MODEL_RI_TASK_EVENT_RECORD);
    EXPECT_EQ(type_of(first[2]), ACL_MODEL_RI_TASK_EVENT_WAIT);
    EXPECT_EQ(type_of(second[0]), ACL_MODEL_RI_TASK_EVENT_WAIT);
    EXPECT_EQ(type_of(second[1]), ACL_MODEL_RI_TASK_KERNEL);
    EXPECT_EQ(type_of(second[2]), ACL_MODEL_RI_TASK_EVENT_RECORD);
    std::vector<uint32_t> numbers;
    for (aclmdlRITask task : first) numbers.push_back(number_of(task));
    for (aclmdlRITask task : second) numbers.push_back(number_of(task));
    EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 5, 2, 3, 4}));  // in the order of the calls
    // These streams belong to the model, so nothing can be submitted to them.
    EXPECT_GE(id(streams[0]), 0);
    EXPECT_ACL_FAILS(107005, "complete", increment(streams[0]));
}

TEST_F(GraphEdit, TasksOfAStreamThatIsBeingCapturedCanBeSeen) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    std::vector<aclmdlRITask> tasks = tasks_of(stream_);
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_EQ(type_of(tasks[0]), ACL_MODEL_RI_TASK_KERNEL);
    ASSERT_ACL_OK(increment(stream_));
    EXPECT_EQ(tasks_of(stream_).size(), 2u);
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, nullptr, &graph));
    EXPECT_EQ(streams_of(graph), std::vector<aclrtStream>{stream_});
    end();
    EXPECT_EQ(type_of(tasks[0]), ACL_MODEL_RI_TASK_KERNEL);
}

TEST_F(GraphEdit, ArraysThatAreTooShortAreRefused) {
    capture([&] {
        ASSERT_ACL_OK(increment(stream_));
        ASSERT_ACL_OK(increment(stream_));
        join(stream_, other_);
        join(other_, stream_);
    });
    aclrtStream streams[4] = {};
    uint32_t count = 1;
    EXPECT_ACL_FAILS(107039, "there are 2", aclmdlRIGetStreams(graph_, streams, &count));
    EXPECT_EQ(count, 2u);
    count = 4;
    ASSERT_ACL_OK(aclmdlRIGetStreams(graph_, streams, &count));
    EXPECT_EQ(count, 2u);
    aclmdlRITask tasks[8] = {};
    count = 2;
    EXPECT_ACL_FAILS(107039, "there are 4", aclmdlRIGetTasksByStream(streams[0], tasks, &count));
    EXPECT_EQ(count, 4u);
    EXPECT_ACL_FAILS(100000, "numStreams", aclmdlRIGetStreams(graph_, streams, nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIGetStreams(nullptr, streams, &count));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIGetStreams(stream_, streams, &count));
    EXPECT_ACL_FAILS(100000, "numTasks", aclmdlRIGetTasksByStream(streams[0], tasks, nullptr));
    EXPECT_ACL_FAILS(100000, "stream", aclmdlRIGetTasksByStream(nullptr, tasks, &count));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclmdlRIGetTasksByStream(graph_, tasks, &count));
    EXPECT_ACL_FAILS(207000, "no recorded tasks", aclmdlRIGetTasksByStream(stream_, tasks, &count));
}

TEST_F(GraphEdit, HandlesEndWithTheirModel) {
    std::vector<aclmdlRITask> tasks = capture([&] { ASSERT_ACL_OK(increment(stream_)); });
    const aclrtStream stream = streams_of(graph_)[0];
    graphs_.clear();
    ASSERT_ACL_OK(aclmdlRIDestroy(graph_));
    auto type = ACL_MODEL_RI_TASK_DEFAULT;
    uint32_t number = 0;
    aclmdlRITaskParams params = {};
    aclrtLaunchKernelAttrValue value = {};
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskGetType(tasks[0], &type));
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskGetSeqId(tasks[0], &number));
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskGetParams(tasks[0], &params));
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskSetParams(tasks[0], &params));
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskDisable(tasks[0]));
    EXPECT_ACL_FAILS(107017, "not a task",
                     aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &value));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclmdlRIGetTasksByStream(stream, nullptr, &number));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIUpdate(graph_));
}

TEST_F(GraphEdit, NullIsRefused) {
    std::vector<aclmdlRITask> tasks = capture([&] { ASSERT_ACL_OK(increment(stream_)); });
    aclmdlRITaskParams params = {};
    EXPECT_ACL_FAILS(100000, "task", aclmdlRITaskGetType(nullptr, nullptr));
    EXPECT_ACL_FAILS(100000, "type", aclmdlRITaskGetType(tasks[0], nullptr));
    EXPECT_ACL_FAILS(100000, "task", aclmdlRITaskGetSeqId(nullptr, nullptr));
    EXPECT_ACL_FAILS(100000, "id", aclmdlRITaskGetSeqId(tasks[0], nullptr));
    EXPECT_ACL_FAILS(100000, "task", aclmdlRITaskGetParams(nullptr, &params));
    EXPECT_ACL_FAILS(100000, "params", aclmdlRITaskGetParams(tasks[0], nullptr));
    EXPECT_ACL_FAILS(100000, "task", aclmdlRITaskSetParams(nullptr, &params));
    EXPECT_ACL_FAILS(100000, "params", aclmdlRITaskSetParams(tasks[0], nullptr));
    EXPECT_ACL_FAILS(100000, "task", aclmdlRITaskDisable(nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIUpdate(nullptr));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIUpdate(stream_));
    EXPECT_ACL_FAILS(107017, "not a task", aclmdlRITaskDisable(graph_));
}

// ---- kernels -------------------------------------------------------------------------------------------------------

TEST_F(GraphEdit, ParametersOfAKernelAreThoseOfItsLaunch) {
    aclrtLaunchKernelAttr attributes[3] = {};
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 1;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET;
    attributes[1].value.blockDimOffset = 3;
    attributes[2].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attributes[2].value.timeout = 9;
    aclrtLaunchKernelCfg config = {attributes, 3};
    uint64_t arguments[2] = {reinterpret_cast<uint64_t>(log_), 7};
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("append"), 2, stream_, &config, arguments,
                                                    sizeof(arguments), nullptr, 0));
        ASSERT_ACL_OK(append(stream_, 8));
    });
    const aclmdlRITaskParams params = params_of(tasks[0]);
    EXPECT_EQ(params.type, ACL_MODEL_RI_TASK_KERNEL);
    EXPECT_EQ(params.taskGrp, nullptr);
    EXPECT_EQ(params.opInfoPtr, nullptr);
    EXPECT_EQ(params.opInfoSize, 0u);
    const aclmdlRIKernelTaskParams& kernel = params.kernelTaskParams;
    EXPECT_EQ(kernel.funcHandle, function("append"));
    EXPECT_EQ(kernel.numBlocks, 2u);
    EXPECT_EQ(kernel.isHostArgs, 1u);
    ASSERT_EQ(kernel.argsSize, sizeof(arguments));
    EXPECT_NE(kernel.args, arguments);
    EXPECT_EQ(std::memcmp(kernel.args, arguments, sizeof(arguments)), 0);
    ASSERT_NE(kernel.cfg, nullptr);
    EXPECT_EQ(kernel.cfg->numAttrs, 3u);
    EXPECT_EQ(params_of(tasks[1]).kernelTaskParams.cfg, nullptr);

    const auto attribute = [&](aclmdlRITask task, int which) {
        aclrtLaunchKernelAttrValue value = {};
        EXPECT_ACL_OK(aclmdlRIKernelTaskGetAttribute(task, static_cast<aclrtLaunchKernelAttrId>(which), &value));
        return value;
    };
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE).schemMode, 1);
    EXPECT_EQ(attribute(tasks[1], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE).schemMode, 0);
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET).blockDimOffset, 3u);
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT).timeout, 9);
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US).timeoutUs.timeoutLow, 9000000u);
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE).dynUBufSize, 0u);
    EXPECT_EQ(attribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE).engineType, ACL_RT_ENGINE_TYPE_AIV);
    aclrtLaunchKernelAttrValue value = {};
    const auto unknown = static_cast<aclrtLaunchKernelAttrId>(99);
    EXPECT_ACL_FAILS(107000, "99", aclmdlRIKernelTaskGetAttribute(tasks[0], unknown, &value));
    EXPECT_ACL_FAILS(100000, "task", aclmdlRIKernelTaskGetAttribute(nullptr, unknown, &value));
    EXPECT_ACL_FAILS(100000, "attrValue", aclmdlRIKernelTaskGetAttribute(tasks[0], unknown, nullptr));
}

TEST_F(GraphEdit, AChangedKernelRunsAfterTheUpdate) {
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
    });
    expect_replay({1, 2});
    aclmdlRITaskParams params = params_of(tasks[0]);
    uint64_t arguments[2] = {reinterpret_cast<uint64_t>(log_), 11};
    params.kernelTaskParams.args = arguments;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &params));
    arguments[1] = 99;  // was copied already
    expect_replay({1, 2});
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({11, 2});
    params = params_of(tasks[0]);
    EXPECT_EQ(static_cast<uint64_t*>(params.kernelTaskParams.args)[1], 11u);
    static_cast<uint64_t*>(params.kernelTaskParams.args)[1] = 12;  // the task's own block may be passed back
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &params));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({12, 2});
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));  // nothing has changed
    expect_replay({12, 2});
}

TEST_F(GraphEdit, AnotherKernelWithOtherBlocksAndArgumentsInDeviceMemoryTakesItsPlace) {
    std::vector<aclmdlRITask> tasks = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    auto* total = device_array<uint64_t>({0});
    auto* arguments = device_array<uint64_t>({reinterpret_cast<uint64_t>(total), 5});
    aclmdlRITaskParams params = params_of(tasks[0]);
    params.kernelTaskParams.funcHandle = function("add_atomically");
    params.kernelTaskParams.args = arguments;
    params.kernelTaskParams.argsSize = 16;
    params.kernelTaskParams.isHostArgs = 0;
    params.kernelTaskParams.numBlocks = 4;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &params));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({});
    if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], 20u);
    params = params_of(tasks[0]);
    EXPECT_EQ(params.kernelTaskParams.funcHandle, function("add_atomically"));
    EXPECT_EQ(params.kernelTaskParams.args, arguments);
    EXPECT_EQ(params.kernelTaskParams.isHostArgs, 0u);
    EXPECT_EQ(params.kernelTaskParams.numBlocks, 4u);
}

TEST_F(GraphEdit, PlaceholdersStayWithTheirBlock) {
    auto* out = device_array<uint64_t>({0});
    struct Block {
        uint64_t* out;
        void* bytes;
        uint64_t count;
        uint8_t data[8];
    } block = {out, nullptr, 4, {1, 2, 3, 4}};
    aclrtPlaceHolderInfo placeholder = {8, 24};
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function("sum_bytes"), 1, stream_, nullptr, &block, sizeof(block),
                                                    &placeholder, 1));
    });
    replay(graph_, stream_);
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 10u);
    aclmdlRITaskParams params = params_of(tasks[0]);
    block.data[0] = 101;
    params.kernelTaskParams.args = &block;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &params));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    replay(graph_, stream_);
    if (device_computes()) EXPECT_EQ(read_back(out, 1)[0], 110u);
}

TEST_F(GraphEdit, ParametersOfKernelsAreChecked) {
    std::vector<aclmdlRITask> tasks = capture([&] { ASSERT_ACL_OK(append(stream_, 1)); });
    const aclmdlRITaskParams right = params_of(tasks[0]);
    const auto change = [&](auto&& break_it) {
        aclmdlRITaskParams wrong = right;
        break_it(wrong, wrong.kernelTaskParams);
        return aclmdlRITaskSetParams(tasks[0], &wrong);
    };
    using Params = aclmdlRITaskParams;
    using Kernel = aclmdlRIKernelTaskParams;
    EXPECT_ACL_FAILS(107000, "type", change([](Params& p, Kernel&) { p.type = ACL_MODEL_RI_TASK_VALUE_WRITE; }));
    EXPECT_ACL_FAILS(100000, "funcHandle", change([](Params&, Kernel& k) { k.funcHandle = nullptr; }));
    EXPECT_ACL_FAILS(107017, "function", change([&](Params&, Kernel& k) { k.funcHandle = stream_; }));
    EXPECT_ACL_FAILS(107000, "numBlocks", change([](Params&, Kernel& k) { k.numBlocks = 0; }));
    EXPECT_ACL_FAILS(100000, "args", change([](Params&, Kernel& k) { k.args = nullptr; }));
    EXPECT_ACL_FAILS(107000, "argsSize", change([](Params&, Kernel& k) { k.argsSize = 0; }));
    EXPECT_ACL_FAILS(107000, "argsSize 8", change([](Params&, Kernel& k) { k.argsSize = 8; }));
    EXPECT_ACL_FAILS(107000, "device", change([](Params&, Kernel& k) { k.isHostArgs = 0; }));
    aclrtLaunchKernelAttr attribute = {};
    aclrtLaunchKernelCfg config = {&attribute, 1};
    EXPECT_ACL_FAILS(107000, "attribute 0", change([&](Params&, Kernel& k) { k.cfg = &config; }));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({1});
}

// ---- values --------------------------------------------------------------------------------------------------------

TEST_F(GraphEdit, ValuesCanBeChanged) {
    auto* words = device_array<uint64_t>({0, 0});
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(aclrtValueWrite(words, 5, 0, stream_));
        ASSERT_ACL_OK(aclrtValueWait(words, 5, 1, stream_));
        ASSERT_ACL_OK(append(stream_, 1));
    });
    expect_replay({1});
    aclmdlRITaskParams write = params_of(tasks[0]), wait = params_of(tasks[1]);
    EXPECT_EQ(write.type, ACL_MODEL_RI_TASK_VALUE_WRITE);
    EXPECT_EQ(write.valueWriteTaskParams.devAddr, words);
    EXPECT_EQ(write.valueWriteTaskParams.value, 5u);
    EXPECT_EQ(wait.type, ACL_MODEL_RI_TASK_VALUE_WAIT);
    EXPECT_EQ(wait.valueWaitTaskParams.devAddr, words);
    EXPECT_EQ(wait.valueWaitTaskParams.value, 5u);
    EXPECT_EQ(wait.valueWaitTaskParams.flag, 1u);
    write.valueWriteTaskParams = {words + 1, 6};
    wait.valueWaitTaskParams = {words + 1, 4, 2};
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &write));
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &wait));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({1});
    if (device_computes()) EXPECT_EQ(read_back(words, 2), (std::vector<uint64_t>{5, 6}));
    EXPECT_EQ(params_of(tasks[1]).valueWaitTaskParams.flag, 2u);
    write.valueWriteTaskParams.devAddr = nullptr;
    EXPECT_ACL_FAILS(100000, "devAddr", aclmdlRITaskSetParams(tasks[0], &write));
    write.valueWriteTaskParams.devAddr = reinterpret_cast<char*>(words) + 4;
    EXPECT_ACL_FAILS(107000, "64-bit word", aclmdlRITaskSetParams(tasks[0], &write));
    write.valueWriteTaskParams.devAddr = &write;
    EXPECT_ACL_FAILS(107000, "device memory", aclmdlRITaskSetParams(tasks[0], &write));
    wait.valueWaitTaskParams.flag = 4;
    EXPECT_ACL_FAILS(107000, "flag 4", aclmdlRITaskSetParams(tasks[1], &wait));
}

TEST_F(GraphEdit, OtherTasksHaveNoParameters) {
    std::vector<aclmdlRITask> tasks = capture([&] { ASSERT_ACL_OK(aclrtMemsetAsync(log_, 4, 0, 4, stream_)); });
    EXPECT_EQ(type_of(tasks[0]), ACL_MODEL_RI_TASK_DEFAULT);
    aclmdlRITaskParams params = params_of(tasks[0]);
    EXPECT_EQ(params.type, ACL_MODEL_RI_TASK_DEFAULT);
    EXPECT_ACL_FAILS(207000, "no parameters", aclmdlRITaskSetParams(tasks[0], &params));
    aclrtLaunchKernelAttrValue value = {};
    EXPECT_ACL_FAILS(107000, "not a kernel",
                     aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &value));
}

// ---- events --------------------------------------------------------------------------------------------------------

TEST_F(GraphEdit, EventsOfTheCaptureItselfCannotBeReplaced) {
    aclrtEvent other = event();
    std::vector<aclmdlRITask> tasks = capture([&] {
        join(stream_, other_);
        join(other_, stream_);
    });
    ASSERT_EQ(type_of(tasks[0]), ACL_MODEL_RI_TASK_EVENT_RECORD);
    aclmdlRITaskParams params = params_of(tasks[0]);
    EXPECT_NE(params.eventRecordTaskParams.event, nullptr);
    EXPECT_EQ(params.eventRecordTaskParams.eventFlag, static_cast<uint32_t>(ACL_EVENT_SYNC));
    EXPECT_EQ(params.eventRecordTaskParams.recordFlag, 0u);
    params.eventRecordTaskParams.event = other;
    EXPECT_ACL_FAILS(207000, "edge", aclmdlRITaskSetParams(tasks[0], &params));
    params.eventRecordTaskParams.event = stream_;
    EXPECT_ACL_FAILS(107017, "not a live event", aclmdlRITaskSetParams(tasks[0], &params));
    params.eventRecordTaskParams.event = nullptr;
    EXPECT_ACL_FAILS(100000, "event", aclmdlRITaskSetParams(tasks[0], &params));
}

TEST_F(GraphEdit, ExternalEventsCanBeReplaced) {
    aclrtEvent first = event(ACL_EVENT_EXTERNAL), second = event(ACL_EVENT_EXTERNAL);
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, first));
        ASSERT_ACL_OK(aclrtResetEvent(first, stream_));
        ASSERT_ACL_OK(append(stream_, 1));
    });
    aclmdlRITaskParams wait = params_of(tasks[0]), reset = params_of(tasks[1]);
    ASSERT_EQ(wait.type, ACL_MODEL_RI_TASK_EVENT_WAIT);
    ASSERT_EQ(reset.type, ACL_MODEL_RI_TASK_EVENT_RESET);
    EXPECT_EQ(wait.eventWaitTaskParams.event, first);
    EXPECT_EQ(wait.eventWaitTaskParams.eventFlag, static_cast<uint32_t>(ACL_EVENT_EXTERNAL));
    wait.eventWaitTaskParams.event = second;
    reset.eventResetTaskParams.event = second;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[0], &wait));
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &reset));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    EXPECT_EQ(params_of(tasks[0]).eventWaitTaskParams.event, second);
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph_, stream_));
    ASSERT_ACL_OK(aclrtRecordEvent(second, other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
}

TEST_F(GraphEdit, BoundEventsCanBeReplaced) {
    aclrtEvent first = event(), second = event();
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(aclrtRecordEventWithFlag(first, stream_, 1));
    });
    aclmdlRITaskParams record = params_of(tasks[1]);
    ASSERT_EQ(record.type, ACL_MODEL_RI_TASK_EVENT_RECORD);
    EXPECT_EQ(record.eventRecordTaskParams.recordFlag, 1u);
    record.eventRecordTaskParams.event = second;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &record));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph_, stream_));
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    ASSERT_ACL_OK(aclrtQueryEventStatus(first, &status));
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);  // was not recorded
    ASSERT_ACL_OK(aclrtQueryEventStatus(second, &status));
    if (device_computes()) EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeEvent(second));
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
}

// ---- disabling and updating ----------------------------------------------------------------------------------------

TEST_F(GraphEdit, DisabledTasksDoNothingUntilTheyGetParameters) {
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
        ASSERT_ACL_OK(append(stream_, 3));
    });
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[1]));
    expect_replay({1, 2, 3});
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({1, 3});
    EXPECT_EQ(type_of(tasks[1]), ACL_MODEL_RI_TASK_KERNEL);
    aclmdlRITaskParams params = params_of(tasks[1]);
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &params));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    expect_replay({1, 2, 3});
}

TEST_F(GraphEdit, ReplaysSubmittedBeforeAnUpdateDoNotSeeIt) {
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
    });
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph_, stream_));
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[0]));
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[1]));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph_));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph_, stream_));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2}));
    expect_replay({});
}

TEST_F(GraphEdit, OnlyCompleteModelsCanBeUpdated) {
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, nullptr, &graph));
    EXPECT_ACL_FAILS(107040, "not complete", aclmdlRIUpdate(graph));
    end();
    aclmdlRI built = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&built, 0));
    EXPECT_ACL_FAILS(107040, "not complete", aclmdlRIUpdate(built));
    ASSERT_ACL_OK(aclmdlRIDestroy(built));
}

TEST_F(GraphEdit, TasksOfABuiltModelCanBeChangedToo) {
    aclmdlRI model = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&model, 0));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(aclmdlRIBindStream(model, stream, 0));
    ASSERT_ACL_OK(append(stream, 1));
    ASSERT_ACL_OK(append(stream, 2));
    ASSERT_ACL_OK(aclmdlRIEndTask(model, stream));
    EXPECT_EQ(streams_of(model), std::vector<aclrtStream>{stream});
    std::vector<aclmdlRITask> tasks = tasks_of(stream);
    ASSERT_EQ(tasks.size(), 3u);
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[0]));
    EXPECT_ACL_FAILS(207000, "never end", aclmdlRITaskDisable(tasks[2]));
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model, nullptr));
    replay(model, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{2});
    aclmdlRITaskParams params = params_of(tasks[1]);
    static_cast<uint64_t*>(params.kernelTaskParams.args)[1] = 22;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(tasks[1], &params));
    ASSERT_ACL_OK(aclmdlRIUpdate(model));
    replay(model, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{22});
    ASSERT_ACL_OK(aclmdlRIUnbindStream(model, stream));
    EXPECT_EQ(streams_of(model).size(), 1u);  // another stream now represents it
    EXPECT_EQ(tasks_of(streams_of(model)[0]), tasks);
    EXPECT_TRUE(tasks_of(stream).empty());
    ASSERT_ACL_OK(aclmdlRIDestroy(model));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
}

// ---- information about operators -----------------------------------------------------------------------------------

TEST_F(GraphEdit, InformationIsAttachedToTheTaskRecordedLast) {
    char information[] = "Add, float";
    EXPECT_ACL_FAILS(100000, "infoPtr", aclrtCacheLastTaskOpInfo(nullptr, 1));
    EXPECT_ACL_FAILS(100000, "infoSize", aclrtCacheLastTaskOpInfo(information, 0));
    EXPECT_EQ(elsewhere([&] { return aclrtCacheLastTaskOpInfo(information, sizeof(information)); }), 507000);
    std::vector<aclmdlRITask> tasks = capture([&] {
        ASSERT_ACL_OK(append(stream_, 1));
        ASSERT_ACL_OK(append(stream_, 2));
        ASSERT_ACL_OK(aclrtCacheLastTaskOpInfo(information, sizeof(information)));
        information[0] = 'S';
    });
    EXPECT_EQ(params_of(tasks[0]).opInfoSize, 0u);
    const aclmdlRITaskParams params = params_of(tasks[1]);
    ASSERT_EQ(params.opInfoSize, sizeof(information));
    EXPECT_STREQ(static_cast<const char*>(params.opInfoPtr), "Add, float");
}

}  // namespace
}  // namespace conformance
