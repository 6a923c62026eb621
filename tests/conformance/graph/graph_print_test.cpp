// SPDX-License-Identifier: Apache-2.0
// Printing graphs to files and to the log.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

using Json = nlohmann::json;

// Two streams, two events and a model, and a folder for the output.
class GraphPrint : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
        for (aclrtEvent* event : {&fork_, &join_}) ASSERT_ACL_OK(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));
        a_ = static_cast<float*>(device_memory(bytes));
        b_ = static_cast<float*>(device_memory(bytes));
        out_ = static_cast<float*>(device_memory(bytes));
    }
    void TearDown() override {
        if (model_) EXPECT_ACL_OK(aclmdlRIDestroy(model_));
        for (aclrtEvent event : {fork_, join_}) EXPECT_ACL_OK(aclrtDestroyEvent(event));
        EXPECT_ACL_OK(aclrtDestroyStream(other_));
        KernelTest::TearDown();
    }

    void begin() { ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)); }
    void end() { ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &model_)); }
    void add(aclrtStream stream, std::uint32_t blocks = 4) {
        ASSERT_ACL_OK(launch("add", blocks, stream, a_, b_, out_, std::uint32_t{count}));
    }
    // copy, fork, [identify | add], join, add
    void capture_fork() {
        begin();
        ASSERT_ACL_OK(aclrtMemcpyAsync(b_, bytes, a_, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtRecordEvent(fork_, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, fork_));
        ASSERT_ACL_OK(launch("identify", 2, other_, out_));
        ASSERT_ACL_OK(aclrtRecordEvent(join_, other_));
        add(stream_);
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, join_));
        add(stream_, 8);
        end();
    }

    std::string path(const char* name = "graph.json") const { return folder_.path() + "/" + name; }
    Json print(std::uint32_t flags = ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY) { return print(model_, flags); }
    Json print(aclmdlRI model, std::uint32_t flags) {
        EXPECT_ACL_OK(aclmdlRIDebugJsonPrint(model, path().c_str(), flags));
        std::ifstream file(path());
        Json trace = Json::parse(file, nullptr, false);
        EXPECT_FALSE(trace.is_discarded());
        return trace;
    }

    static constexpr std::uint32_t count = 64;
    static constexpr std::size_t bytes = count * sizeof(float);
    TemporaryDirectory folder_;
    aclrtStream other_ = nullptr;
    aclrtEvent fork_ = nullptr, join_ = nullptr;
    aclmdlRI model_ = nullptr;
    float *a_ = nullptr, *b_ = nullptr, *out_ = nullptr;
};

std::vector<Json> events_of(const Json& trace, const char* phase, int process) {
    std::vector<Json> found;
    for (const Json& event : trace["traceEvents"])
        if (event["ph"] == phase && event["pid"] == process) found.push_back(event);
    return found;
}

std::vector<Json> tasks_of(const Json& trace, int process = 1, int thread = 0) {
    std::vector<Json> tasks = events_of(trace, "X", process);
    if (thread != 0) std::erase_if(tasks, [&](const Json& task) { return task["tid"] != thread; });
    return tasks;
}

std::vector<std::string> names_of(const std::vector<Json>& events) {
    std::vector<std::string> names;
    for (const Json& event : events) names.push_back(event["name"]);
    return names;
}

Json metadata(const Json& trace, const char* name, int process, int thread = 0) {
    for (const Json& event : events_of(trace, "M", process))
        if (event["name"] == name && event["tid"] == thread) return event["args"];
    return nullptr;
}

std::string event_name(const char* verb, aclrtEvent event) {
    std::uint32_t id = 0;
    EXPECT_ACL_OK(aclrtGetEventId(event, &id));
    return std::string(verb) + " event " + std::to_string(id);
}

std::uint64_t end_of(const Json& task) { return task["ts"].get<std::uint64_t>() + task["dur"].get<std::uint64_t>(); }

TEST_F(GraphPrint, WritesOneProcessWithAThreadForEachStream) {
    capture_fork();
    std::uint32_t id = 0;
    std::int32_t stream = 0, other = 0;
    ASSERT_ACL_OK(aclmdlRIGetId(model_, &id));
    ASSERT_ACL_OK(aclrtStreamGetId(stream_, &stream));
    ASSERT_ACL_OK(aclrtStreamGetId(other_, &other));
    const Json trace = print();
    EXPECT_EQ(metadata(trace, "process_name", 1)["graph"], id);
    EXPECT_EQ(metadata(trace, "process_name", 1)["name"], "graph " + std::to_string(id));
    EXPECT_EQ(metadata(trace, "process_name", 2), nullptr);
    EXPECT_EQ(metadata(trace, "thread_name", 1, 1)["name"], "stream " + std::to_string(stream));
    EXPECT_EQ(metadata(trace, "thread_name", 1, 2)["name"], "stream " + std::to_string(other));
    EXPECT_EQ(metadata(trace, "thread_name", 1, 3), nullptr);
}

aclError extend(const std::string& text) { return aclrtCacheLastTaskExtendInfo(text.data(), text.size()); }

TEST_F(GraphPrint, WritesTheTextThatProgramsAttachToTasks) {
    const std::string structured = R"({"operator": "add", "shape": [4, 8], "name": "größer"})";
    begin();
    add(stream_);
    EXPECT_ACL_OK(extend("replaced by the next one"));
    EXPECT_ACL_OK(extend(structured));
    add(stream_);
    EXPECT_ACL_OK(extend("plain \"text\"\n"));
    add(stream_);
    EXPECT_ACL_OK(extend("bad \xff\xfe\xc3 bytes"));
    add(stream_);
    EXPECT_ACL_OK(extend(std::string("ends with zeros\0\0", 17)));
    add(stream_);
    end();
    for (const std::uint32_t flags : {ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE}) {
        const std::vector<Json> tasks = tasks_of(print(flags));
        ASSERT_EQ(tasks.size(), 5u);
        EXPECT_EQ(tasks[0]["args"]["extended_info"], Json::parse(structured));
        EXPECT_EQ(tasks[1]["args"]["extended_info"], "plain \"text\"\n");
        EXPECT_EQ(tasks[2]["args"]["extended_info"], "bad \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD bytes");
        EXPECT_EQ(tasks[3]["args"]["extended_info"], "ends with zeros");
        EXPECT_FALSE(tasks[4]["args"].contains("extended_info"));
    }
}

TEST_F(GraphPrint, CutsLongTextBetweenCharacters) {
    begin();
    add(stream_);
    EXPECT_ACL_OK(extend(std::string(4096, 'a')));
    add(stream_);
    EXPECT_ACL_OK(extend(std::string(10000, 'b')));
    add(stream_);
    EXPECT_ACL_OK(extend(std::string(4095, 'c') + "\xC3\xBC and more"));
    add(stream_);
    EXPECT_ACL_OK(extend(std::string(5000, '\x80')));
    end();
    const std::vector<Json> tasks = tasks_of(print());
    ASSERT_EQ(tasks.size(), 4u);
    EXPECT_EQ(tasks[0]["args"]["extended_info"], std::string(4096, 'a'));
    EXPECT_EQ(tasks[1]["args"]["extended_info"], std::string(4096, 'b'));
    EXPECT_EQ(tasks[2]["args"]["extended_info"], std::string(4095, 'c'));
    EXPECT_FALSE(tasks[3]["args"]["extended_info"].get<std::string>().empty());
}

TEST_F(GraphPrint, TextBelongsToTheLastTaskOfTheThread) {
    EXPECT_ACL_FAILS(107000, "extendInfoPtr", aclrtCacheLastTaskExtendInfo(nullptr, 4));
    EXPECT_ACL_FAILS(107000, "infoSize", aclrtCacheLastTaskExtendInfo("text", 0));
    std::thread([] { EXPECT_EQ(extend("text"), 107002); }).join();
    std::thread([] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_EQ(extend("text"), 107000);  // it has submitted nothing
        EXPECT_ACL_OK(aclrtResetDevice(0));
    }).join();
    add(stream_);
    EXPECT_ACL_FAILS(107000, "neither captured nor bound", extend("text"));
    aclrtStream plain = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&plain));
    begin();
    add(stream_);
    EXPECT_ACL_OK(extend("first"));
    for (int i = 0; i < 3; ++i) {  // among them a task with the number of the captured one
        add(plain);
        EXPECT_ACL_FAILS(107000, "neither captured nor bound", extend("of another task"));
    }
    add(stream_);
    EXPECT_ACL_OK(extend("second"));
    aclrtContext context = nullptr, old = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&old));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    EXPECT_ACL_FAILS(107003, "another context", extend("text"));
    ASSERT_ACL_OK(aclrtSetCurrentContext(old));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    end();
    const std::vector<Json> tasks = tasks_of(print());
    ASSERT_EQ(tasks.size(), 2u);
    EXPECT_EQ(tasks[0]["args"]["extended_info"], "first");
    EXPECT_EQ(tasks[1]["args"]["extended_info"], "second");
    EXPECT_ACL_OK(aclmdlRIDestroy(model_));
    model_ = nullptr;
    EXPECT_ACL_OK(aclrtSynchronizeStream(plain));
    EXPECT_ACL_OK(aclrtDestroyStream(plain));
}

TEST_F(GraphPrint, TextOfTasksOfAModelThatIsBuilt) {
    aclrtStream persistent = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
    add(persistent);
    EXPECT_ACL_OK(extend("before it was bound"));
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, persistent, 0));
    add(persistent);
    EXPECT_ACL_OK(extend("after it"));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, persistent));
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    const std::vector<Json> tasks = tasks_of(print());
    ASSERT_GE(tasks.size(), 2u);
    EXPECT_EQ(tasks[0]["args"]["extended_info"], "before it was bound");
    EXPECT_EQ(tasks[1]["args"]["extended_info"], "after it");
    EXPECT_ACL_OK(aclmdlRIUnbindStream(model_, persistent));
    EXPECT_ACL_OK(aclrtDestroyStream(persistent));
}

TEST_F(GraphPrint, WritesTheTasksOfEachStreamInOrder) {
    capture_fork();
    const Json trace = print();
    EXPECT_EQ(names_of(tasks_of(trace, 1, 1)), (std::vector<std::string>{"copy 256 B", event_name("record", fork_),
                                                                         "add", event_name("wait", join_), "add"}));
    EXPECT_EQ(names_of(tasks_of(trace, 1, 2)),
              (std::vector<std::string>{event_name("wait", fork_), "identify", event_name("record", join_)}));
    std::map<int, std::uint64_t> end;
    for (const Json& task : tasks_of(trace)) {
        EXPECT_LE(end[task["tid"]], task["ts"].get<std::uint64_t>());
        EXPECT_LT(task["ts"].get<std::uint64_t>(), end_of(task));
        end[task["tid"]] = end_of(task);
    }
}

TEST_F(GraphPrint, SaysWhatEachTaskDoes) {
    capture_fork();
    const std::vector<Json> tasks = tasks_of(print(), 1, 1);
    ASSERT_EQ(tasks.size(), 5u);
    const Json copy = tasks[0]["args"], record = tasks[1]["args"], kernel = tasks[4]["args"];
    EXPECT_EQ(copy["kind"], "copy");
    EXPECT_EQ(copy["bytes"], bytes);
    EXPECT_EQ(copy["direction"], "device to device");
    std::ostringstream address;
    address << std::hex << std::showbase << reinterpret_cast<std::uintptr_t>(b_);
    EXPECT_EQ(copy["destination"], address.str());
    EXPECT_EQ(copy["sequence"], 0);
    EXPECT_EQ(record["kind"], "event record");
    EXPECT_EQ(kernel["kind"], "kernel");
    EXPECT_EQ(kernel["kernel"], "add");
    EXPECT_EQ(kernel["blocks"], 8);
    EXPECT_EQ(kernel["argument_bytes"], 32);
}

TEST_F(GraphPrint, SaysWhatTasksOfTheLibraryDo) {
    const auto value = [](auto number) {
        aclrtRandomParaInfo parameter = {};
        parameter.size = sizeof(number);
        std::memcpy(parameter.valueOrAddr, &number, sizeof(number));
        return parameter;
    };
    aclrtRandomNumTaskInfo random = {};
    random.dataType = ACL_BF16;
    random.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    random.randomNumFuncParaInfo.paramInfo.normalDisInfo = {value(0.0f), value(1.0f)};
    random.randomSeed = random.randomNum = value(std::uint64_t{7});
    random.randomResultAddr = a_;
    random.randomCounterAddr = b_;
    auto** slots = reinterpret_cast<void**>(out_);
    begin();
    ASSERT_ACL_OK(aclrtReduceAsync(a_, b_, bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT16, stream_, nullptr));
    ASSERT_ACL_OK(aclrtRandomNumAsync(&random, stream_, nullptr));
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(slots, 12, 4, const_cast<const void**>(slots + 1), 12, 8,
                                             ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
    end();
    for (const std::uint32_t flags : {ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE}) {
        const std::vector<Json> tasks = tasks_of(print(flags), 1, 1);
        EXPECT_EQ(names_of(tasks),
                  (std::vector<std::string>{"reduce maximum", "random numbers", "copy 12 B behind pointers"}));
        ASSERT_EQ(tasks.size(), 3u);
        EXPECT_EQ(tasks[0]["args"]["kind"], "reduce");
        EXPECT_EQ(tasks[0]["args"]["element"], "float16");
        EXPECT_EQ(tasks[0]["args"]["elements"], bytes / 2);
        EXPECT_EQ(tasks[1]["args"]["function"], "normal");
        EXPECT_EQ(tasks[1]["args"]["element"], "bfloat16");
        EXPECT_EQ(tasks[1]["args"]["elements"], 7);
        EXPECT_EQ(tasks[2]["args"]["destination_offset"], 4);
        EXPECT_EQ(tasks[2]["args"]["source_offset"], 8);
    }
}

TEST_F(GraphPrint, JoinsStreamsByFlowsThatLeaveAndArriveInsideTasks) {
    capture_fork();
    const Json trace = print();
    const std::vector<Json> starts = events_of(trace, "s", 1), ends = events_of(trace, "f", 1);
    ASSERT_EQ(starts.size(), 2u);
    ASSERT_EQ(ends.size(), 2u);
    const auto task_at = [&](const Json& flow) {
        for (const Json& task : tasks_of(trace, 1, flow["tid"]))
            if (task["ts"] <= flow["ts"] && flow["ts"].get<std::uint64_t>() <= end_of(task)) return task;
        return Json();
    };
    for (std::size_t i = 0; i < starts.size(); ++i) {
        EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
        EXPECT_LT(starts[i]["ts"].get<std::uint64_t>(), ends[i]["ts"].get<std::uint64_t>());
        const Json before = task_at(starts[i]), after = task_at(ends[i]);
        EXPECT_EQ(before["args"]["kind"], "event record");
        EXPECT_EQ(after["args"]["kind"], "event wait");
        EXPECT_EQ(before["args"]["event"], after["args"]["event"]);
        EXPECT_LE(end_of(before), after["ts"].get<std::uint64_t>());
    }
}

TEST_F(GraphPrint, VerboseAddsTheBytesOfArgumentsAndTheLaunch) {
    capture_fork();
    const Json brief = tasks_of(print())[2]["args"];
    EXPECT_FALSE(brief.contains("arguments") || brief.contains("batch"));
    const Json whole = tasks_of(print(ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE))[2]["args"];
    std::string expected;
    const auto append = [&](const void* value) {
        for (int i = 0; i < 8; ++i) {
            char digits[3];
            std::snprintf(digits, sizeof(digits), "%02x", static_cast<const unsigned char*>(value)[i]);
            expected += digits;
        }
        expected += ' ';
    };
    const std::uint64_t last = count;
    for (const void* value : {static_cast<const void*>(&a_), static_cast<const void*>(&b_),
                              static_cast<const void*>(&out_), static_cast<const void*>(&last)})
        append(value);
    expected.pop_back();
    EXPECT_EQ(whole["arguments"], expected);
    EXPECT_EQ(whole["batch"], false);
    EXPECT_TRUE(whole.contains("timeout") && whole.contains("block_offset") && whole.contains("dynamic_bytes"));
}

TEST_F(GraphPrint, WorksWhileTheGraphIsCapturedAndLeavesTheCaptureAlone) {
    begin();
    add(stream_);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &status, &model));
    const Json trace = print(model, 0);
    EXPECT_EQ(metadata(trace, "process_name", 1)["state"], "being captured");
    EXPECT_EQ(names_of(tasks_of(trace)), std::vector<std::string>{"add"});
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &status, &model));
    EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    add(stream_);
    end();
    EXPECT_EQ(tasks_of(print()).size(), 2u);
}

TEST_F(GraphPrint, KnowsKernelsWhoseBinaryWasUnloaded) {
    capture_fork();
    ASSERT_ACL_OK(aclrtBinaryUnLoad(std::exchange(binary_, nullptr)));
    EXPECT_EQ(tasks_of(print())[2]["args"]["kernel"], "add");
}

// A print at any point in the graph's life writes a complete file or reports that the graph is gone.
TEST_F(GraphPrint, WorksWhileAnotherThreadCapturesAndDestroys) {
    capture_fork();
    std::atomic<aclmdlRI> current{model_};
    std::atomic<bool> done{false};
    std::thread printer([&] {
        while (!done.load()) {
            const aclError code = aclmdlRIDebugJsonPrint(current.load(), path().c_str(), 1);
            EXPECT_TRUE(code == ACL_SUCCESS || code == 107017) << code;
            if (code != ACL_SUCCESS) continue;
            std::ifstream file(path());
            EXPECT_FALSE(Json::parse(file, nullptr, false).is_discarded());
        }
    });
    for (int round = 0; round < 50; ++round) {
        begin();
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI model = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &status, &model));
        current = model;
        for (int i = 0; i < 20; ++i) add(stream_);
        EXPECT_ACL_OK(aclmdlRICaptureEnd(stream_, &model));
        EXPECT_ACL_OK(aclmdlRIDestroy(model));
    }
    done = true;
    printer.join();
}

TEST_F(GraphPrint, NamesMayHoldAnything) {
    capture_fork();
    ASSERT_ACL_OK(aclmdlRISetName(model_, "a \"b\" \\ </x>\n\x01"));
    EXPECT_EQ(metadata(print(), "process_name", 1)["graph_name"], "a \"b\" \\ </x>\n\x01");
    ASSERT_ACL_OK(aclmdlRISetName(model_, "not \xFF utf"));
    EXPECT_EQ(metadata(print(), "process_name", 1)["graph_name"], "not \xEF\xBF\xBD utf");
}

TEST_F(GraphPrint, ShowsGroupsAndWhatUpdatesMadeOfThem) {
    begin();
    add(stream_);
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    add(stream_, 2);
    aclrtTaskGrp group = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
    end();
    std::vector<Json> tasks = tasks_of(print());
    EXPECT_FALSE(tasks[0]["args"].contains("group"));
    EXPECT_EQ(tasks[1]["args"]["group"], 0);
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    add(other_, 6);
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    tasks = tasks_of(print());
    EXPECT_EQ(tasks[0]["args"]["blocks"], 4);
    EXPECT_EQ(tasks[1]["args"]["blocks"], 6);
}

TEST_F(GraphPrint, MarksDisabledTasksAndKeepsTheirNames) {
    begin();
    add(stream_);
    add(stream_);
    end();
    std::uint32_t number = 1;
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclmdlRIGetStreams(model_, &stream, &number));
    aclmdlRITask tasks[2] = {};
    number = 2;
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(stream, tasks, &number));
    ASSERT_ACL_OK(aclmdlRITaskDisable(tasks[1]));
    ASSERT_ACL_OK(aclmdlRIUpdate(model_));
    const std::vector<Json> printed = tasks_of(print());
    EXPECT_FALSE(printed[0]["args"].contains("disabled"));
    EXPECT_EQ(printed[1]["args"]["disabled"], true);
    EXPECT_EQ(printed[1]["args"]["kind"], "kernel");
    EXPECT_EQ(printed[1]["name"], "add");
}

TEST_F(GraphPrint, ShowsSubGraphsAsProcessesInTheTimeOfTheirCondition) {
    begin();
    add(stream_);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr, bodies[2] = {};
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &status, &model));
    aclmdlRICondHandle word = nullptr;
    ASSERT_ACL_OK(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &word));
    ASSERT_ACL_OK(aclmdlRIAddCondTask({word, ACL_MODEL_RI_COND_TYPE_IF, 2, bodies}, stream_, 0));
    for (int body = 0; body < 2; ++body) {
        ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(other_, bodies[body], ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
        for (int i = 0; i <= body; ++i) ASSERT_ACL_OK(launch("identify", 2, other_, out_));
        ASSERT_ACL_OK(aclmdlRICaptureEnd(other_, &bodies[body]));
    }
    add(stream_);
    end();
    const Json trace = print();
    const std::vector<Json> tasks = tasks_of(trace, 1);
    EXPECT_EQ(names_of(tasks), (std::vector<std::string>{"add", "if", "add"}));
    EXPECT_EQ(tasks[1]["args"]["graphs"], 2);
    EXPECT_EQ(tasks[1]["args"]["word_at_start"], "0x1");
    EXPECT_EQ(metadata(trace, "process_name", 2)["runs"], "if the word is not 0");
    EXPECT_EQ(metadata(trace, "process_name", 3)["runs"], "if the word is 0");
    for (int process : {2, 3}) {
        EXPECT_EQ(metadata(trace, "process_name", process)["parent"], 1);
        const std::vector<Json> inner = tasks_of(trace, process);
        ASSERT_EQ(inner.size(), static_cast<std::size_t>(process - 1));
        EXPECT_GE(inner.front()["ts"].get<std::uint64_t>(), tasks[1]["ts"].get<std::uint64_t>());
        EXPECT_LE(end_of(inner.back()), end_of(tasks[1]));
    }
}

TEST_F(GraphPrint, ShowsBuiltGraphsWhoseStreamsStartEachOther) {
    aclrtStream head = nullptr, later = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&head, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&later, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, head, 0));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, later, 0x7FFFFFFF));
    add(head);
    ASSERT_ACL_OK(aclrtActiveStream(later, head));
    add(later);
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, later));
    EXPECT_EQ(tasks_of(print()).size(), 4u);
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    const Json trace = print();
    EXPECT_EQ(names_of(tasks_of(trace, 1, 1)), (std::vector<std::string>{"add", "activate stream"}));
    EXPECT_EQ(names_of(tasks_of(trace, 1, 2)), (std::vector<std::string>{"add", "end of the graph"}));
    EXPECT_EQ(metadata(trace, "thread_name", 1, 2)["starts"], false);
    ASSERT_EQ(events_of(trace, "s", 1).size(), 1u);
    EXPECT_EQ(events_of(trace, "s", 1)[0]["name"], "starts");
    for (aclrtStream stream : {head, later}) {
        EXPECT_ACL_OK(aclmdlRIUnbindStream(model_, stream));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    }
}

TEST_F(GraphPrint, ShowsLabelsAndWhereSwitchesLeadOnceTheGraphIsBuilt) {
    aclrtStream head = nullptr;
    aclrtLabel labels[2] = {};
    aclrtLabelList list = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&head, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, head, 0));
    for (aclrtLabel& label : labels) ASSERT_ACL_OK(aclrtCreateLabel(&label));
    ASSERT_ACL_OK(aclrtCreateLabelList(labels, 2, &list));
    ASSERT_ACL_OK(aclrtSetLabel(labels[0], head));
    add(head);
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(out_, 2, list, head));
    ASSERT_ACL_OK(aclrtSetLabel(labels[1], head));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, head));
    EXPECT_EQ(events_of(print(), "s", 1).size(), 0u);
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    const Json trace = print();
    EXPECT_EQ(names_of(tasks_of(trace)),
              (std::vector<std::string>{"label", "add", "switch by index", "label", "end of the graph"}));
    const std::vector<Json> flows = events_of(trace, "s", 1);
    ASSERT_EQ(flows.size(), 2u);
    for (const std::size_t i : {0u, 1u}) {
        EXPECT_EQ(flows[i]["cat"], "control");
        EXPECT_EQ(flows[i]["args"]["from"]["position"], 2);
        EXPECT_EQ(flows[i]["args"]["to"]["position"], i == 0 ? 0 : 3);
    }
    EXPECT_ACL_OK(aclrtDestroyLabelList(list));
    for (aclrtLabel label : labels) EXPECT_ACL_OK(aclrtDestroyLabel(label));
    EXPECT_ACL_OK(aclmdlRIUnbindStream(model_, head));
    EXPECT_ACL_OK(aclrtDestroyStream(head));
}

TEST_F(GraphPrint, RefusesWhatIsNoModelOrNoFlag) {
    capture_fork();
    const std::string file = path();
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIDebugJsonPrint(nullptr, file.c_str(), 0));
    EXPECT_ACL_FAILS(100000, "path", aclmdlRIDebugJsonPrint(model_, nullptr, 0));
    EXPECT_ACL_FAILS(107000, "flags 2", aclmdlRIDebugJsonPrint(model_, file.c_str(), 2));
    EXPECT_FALSE(std::filesystem::exists(file));
    const aclmdlRI stale = std::exchange(model_, nullptr);
    ASSERT_ACL_OK(aclmdlRIDestroy(stale));
    expect_all_refuse({{"json", [&](void* model) { return aclmdlRIDebugJsonPrint(model, file.c_str(), 0); }}},
                      handles_that_are_none(stale, stream_), 107017);
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(GraphPrint, SaysWhyAFileCannotBeCreatedOrWritten) {
    capture_fork();
    const std::string missing = path("no/such.json");
    EXPECT_ACL_FAILS(107009, "No such file or directory", aclmdlRIDebugJsonPrint(model_, missing.c_str(), 0));
    EXPECT_ACL_FAILS(107009, "No such file or directory", aclmdlRIDebugJsonPrint(model_, "", 0));
    EXPECT_ACL_FAILS(107009, "Is a directory", aclmdlRIDebugJsonPrint(model_, folder_.path().c_str(), 0));
    EXPECT_ACL_FAILS(107010, "No space left on device", aclmdlRIDebugJsonPrint(model_, "/dev/full", 0));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(GraphPrint, ReplacesAFileInOnePieceAndFollowsLinks) {
    capture_fork();
    const std::string real = folder_.write("real.json", "old");
    ASSERT_EQ(chmod(real.c_str(), 0640), 0);
    std::filesystem::create_symlink(real, path());
    EXPECT_EQ(tasks_of(print()).size(), 8u);
    EXPECT_TRUE(std::filesystem::is_symlink(path()));
    struct stat found {};
    ASSERT_EQ(stat(real.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0640u);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

// The log is selected by the environment, once per process.
class GraphLog : public testing::Test {};

void print_to_log() {
    TemporaryDirectory folder;
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
    setenv("ASCEND_PROCESS_LOG_PATH", folder.path().c_str(), 1);
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
    void* memory = nullptr;
    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ASSERT_ACL_OK(aclrtMemsetAsync(memory, 4096, 7, 4096, stream));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream, &model));
    ASSERT_ACL_OK(aclmdlRISetName(model, "in the log"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EXPECT_ACL_OK(aclmdlRIDebugPrint(model));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIDebugPrint(nullptr));
    ASSERT_ACL_OK(aclmdlRIDestroy(model));
    EXPECT_ACL_FAILS(107017, "", aclmdlRIDebugPrint(model));
#pragma GCC diagnostic pop
    std::string log;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        if (!entry.is_regular_file()) continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        log += text.str();
    }
    EXPECT_NE(log.find("\"in the log\""), std::string::npos) << log;
    EXPECT_NE(log.find("fill 4 KiB"), std::string::npos) << log;
    EXPECT_NE(log.find("[INFO]"), std::string::npos) << log;
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_ACL_OK(aclrtResetDevice(0));
    EXPECT_ACL_OK(aclFinalize());
}

TEST_F(GraphLog, DebugPrintWritesALineForEachTask) { EXPECT_IN_OWN_PROCESS(print_to_log); }

}  // namespace
}  // namespace conformance
