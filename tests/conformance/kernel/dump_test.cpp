// SPDX-License-Identifier: Apache-2.0
// Dumps of launches, of failures, and of what programs save themselves: codes, folders, names, bytes.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <thread>

#include "acl/acl_dump.h"
#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "fixtures/own_process.h"
#include "fixtures/said.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The bytes behind the head of a dump.
std::string data_of(const std::string& dump) {
    uint64_t length = 0;
    if (dump.size() < sizeof length) return {};
    std::memcpy(&length, dump.data(), sizeof length);
    return length + sizeof length <= dump.size() ? dump.substr(sizeof length + length) : std::string();
}

// The beginnings of the parts of equal size that a dump's data consists of: allocations may be larger than was asked
// for.
std::string beginnings(const std::string& data, size_t parts, size_t size) {
    std::string all;
    for (size_t part = 0; part < parts; ++part) all += data.substr(part * (data.size() / parts), size);
    return all;
}
std::string bytes_of(const void* memory, size_t size) { return {static_cast<const char*>(memory), size}; }

std::vector<fs::path> files_in(const std::string& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error))
        if (entry.is_regular_file() && entry.path().filename() != "configuration") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

mode_t mode_of(const fs::path& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

class Dump : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
    }
    void TearDown() override {
        acldumpUnregCallback();
        aclmdlFinalizeDump();
        recent_error();
        for (const char* name : {"ASCEND_DUMP_SCENE", "ASCEND_WORK_PATH", "NPU_COLLECT_PATH", "CANOPY_DUMP_EXCEPTION"})
            unsetenv(name);
        KernelTest::TearDown();
    }
    std::string configuration(const std::string& keys) {
        return folder_.write("configuration", R"({"dump": {"dump_path": ")" + folder_.path() + "\"" +
                                                  (keys.empty() ? "" : ", ") + keys + "}}");
    }
    void start(const std::string& keys) {
        ASSERT_ACL_OK(aclmdlInitDump());
        ASSERT_ACL_OK(aclmdlSetDump(configuration(keys).c_str()));
    }
    void add(uint32_t times = 1) {
        for (uint32_t n = 0; n < times; ++n) ASSERT_ACL_OK(launch("add", 2, stream_, a_, b_, out_, uint32_t{4}));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    void fail() {
        ASSERT_ACL_OK(launch("trap_in_block", 4, stream_, uint32_t{2}));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    }
    void make_arrays() {
        a_ = device_array<float>({1, 2, 3, 4});
        b_ = device_array<float>({10, 20, 30, 40});
        out_ = device_array<float>({0, 0, 0, 0});
    }

    TemporaryDirectory folder_;
    float *a_ = nullptr, *b_ = nullptr, *out_ = nullptr;
};

TEST_F(Dump, CallsInTheWrongOrderFail) {
    const std::string file = configuration(R"("dump_op_switch": "on")");
    EXPECT_ACL_FAILS(ACL_ERROR_DUMP_NOT_RUN, "aclmdlInitDump", aclmdlSetDump(file.c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_DUMP_NOT_RUN, "aclmdlInitDump", aclmdlFinalizeDump());
    EXPECT_ACL_OK(aclmdlInitDump());
    EXPECT_ACL_FAILS(ACL_ERROR_REPEAT_INITIALIZE, "before", aclmdlInitDump());
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dumpCfgPath", aclmdlSetDump(nullptr));
    EXPECT_EQ(acldumpGetPath(DATA_DUMP), nullptr);
    EXPECT_ACL_OK(aclmdlSetDump(file.c_str()));
    EXPECT_ACL_OK(aclmdlSetDump(file.c_str()));  // replaces
    const char* path = acldumpGetPath(DATA_DUMP);
    ASSERT_NE(path, nullptr);
    EXPECT_TRUE(std::regex_match(path, std::regex(folder_.path() + "/[0-9]{14}"))) << path;
    EXPECT_EQ(acldumpGetPath(OVERFLOW_DUMP), nullptr);
    EXPECT_EQ(acldumpGetPath(AIC_ERR_NORM_DUMP), nullptr);
    EXPECT_EQ(acldumpGetPath(static_cast<acldumpType>(9)), nullptr);
    EXPECT_ACL_OK(aclmdlFinalizeDump());
    EXPECT_EQ(acldumpGetPath(DATA_DUMP), nullptr);
}

using DumpOfProcess = RuntimeTest;

TEST_F(DumpOfProcess, NothingWorksBeforeInitialisation) {
    EXPECT_ACL_OK(aclFinalize());
    for (const aclError code : {aclmdlInitDump(), aclmdlSetDump("file"), aclmdlFinalizeDump()})
        EXPECT_EQ(code, ACL_ERROR_UNINITIALIZE);
    EXPECT_ACL_OK(aclInit(nullptr));
}

TEST(DumpInOwnProcess, TheFileOfInitialisationExcludesTheCalls) {
    EXPECT_IN_OWN_PROCESS([] {
        TemporaryDirectory folder;
        const std::string keys = R"({"dump": {"dump_path": ")" + folder.path() + R"(", "dump_op_switch": "on"}})";
        EXPECT_ACL_OK(aclInit(folder.write("acl.json", keys).c_str()));
        EXPECT_NE(acldumpGetPath(DATA_DUMP), nullptr);
        EXPECT_ACL_FAILS(ACL_ERROR_DUMP_ALREADY_RUN, "aclInit", aclmdlInitDump());
        EXPECT_ACL_FAILS(ACL_ERROR_DUMP_NOT_RUN, "aclmdlInitDump", aclmdlFinalizeDump());
        EXPECT_ACL_OK(aclFinalize());
        EXPECT_EQ(acldumpGetPath(DATA_DUMP), nullptr);
    });
}

TEST_F(Dump, WrongConfigurationsAreRefused) {
    ASSERT_ACL_OK(aclmdlInitDump());
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "cannot be read", aclmdlSetDump("/no/such/file"));
    EXPECT_ACL_FAILS(ACL_ERROR_PARSE_FILE, "JSON", aclmdlSetDump(folder_.write("configuration", "{").c_str()));
    for (const char* text : {R"({})", R"({"dump": 1})", R"({"dump": {}})", R"({"dump": {"dump_path": ""}})",
                             R"({"dump": {"dump_path": "/no/such"}})", R"({"dump": {"dump_path": "/dev/null"}})"})
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_DUMP_CONFIG, "dump",
                         aclmdlSetDump(folder_.write("configuration", text).c_str()));
    const std::string blacklist = R"("dump_level": "op", "dump_list": [{"opname_blacklist": [)";
    std::string names = R"("x")";
    for (int n = 0; n < 100; ++n) names += R"(, "x")";
    for (const std::string& keys : std::vector<std::string>{
             R"("dump_mode": "some")",
             R"("dump_op_switch": true)",
             R"("dump_data": "bytes")",
             R"("dump_level": "none")",
             R"("dump_debug": "yes")",
             R"("dump_scene": "never")",
             R"("dump_step": "3-1")",
             R"("dump_step": "a")",
             R"("dump_step": "1||2")",
             R"("dump_stats": ["Max"])",
             R"("dump_data": "stats", "dump_stats": [])",
             R"("dump_data": "stats", "dump_stats": ["Median"])",
             R"("dump_kernel_data": "all,some")",
             R"("dump_list": 1)",
             R"("dump_list": [1])",
             R"("dump_list": [{"model_name": ""}])",
             R"("dump_list": [{"layer": []}])",
             R"("dump_list": [{"opname_blacklist": ["x"]}])",
             blacklist + names + "]}]",
             R"("dump_level": "op", "dump_list": [{"opname_range": [{"begin": "a", "end": "b"}]}])",
             R"("dump_level": "op", "dump_list": [{"optype_blacklist": ["x"]}])",
             R"("dump_level": "op", "dump_list": [{"opname_blacklist": [{"pos": ["input0"]}]}])",
             R"("dump_scene": "aic_err_norm_dump", "dump_debug": "on")",
             R"("dump_scene": "lite_exception", "dump_op_switch": "on")",
             R"("dump_debug": "on", "dump_op_switch": "on")",
             R"("dump_scene": "watcher")",
             R"("dump_list": [{"watcher_nodes": ["x"]}])",
             R"("dump_scene": "watcher", "dump_mode": "all", "dump_list": [{"watcher_nodes": ["x"]}])",
             R"("dump_scene": "watcher", "dump_list": [{"model_name": "m", "watcher_nodes": ["x"]}])"}) {
        SCOPED_TRACE(keys);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_DUMP_CONFIG, "dump", aclmdlSetDump(configuration(keys).c_str()));
    }
    for (
        const std::string& keys : std::vector<std::string>{
            "", R"("dump_debug": "on")", R"("dump_scene": "watcher", "dump_list": [{"watcher_nodes": ["x"]}])",
            R"("dump_step": "0|3-5|7", "dump_kernel_data": "printf,tensor")",
            R"("dump_level": "op", "dump_list": [{"model_name": "m", "opname_range": [{"begin": "a", "end": "b"}]}])"}) {
        SCOPED_TRACE(keys);
        EXPECT_ACL_OK(aclmdlSetDump(configuration(keys).c_str()));
    }
    EXPECT_ACL_OK(aclmdlSetDump(
        folder_.write("configuration", R"({"dump": {"dump_path": "127.0.0.1:)" + folder_.path() + R"("}})").c_str()));
}

TEST_F(Dump, OutputsOfALaunchAreWrittenBehindIt) {
    make_arrays();
    start(R"("dump_op_switch": "on")");
    add();
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_TRUE(std::regex_match(files[0].string(),
                                 std::regex(folder_.path() + "/[0-9]{14}/0/add\\.add\\.[0-9]+\\.[0-9]+\\.[0-9]{16}")))
        << files[0];
    EXPECT_EQ(mode_of(files[0]), 0600u);
    EXPECT_EQ(mode_of(files[0].parent_path()), 0700u);
    const float expected[] = {1, 2, 3, 4, 10, 20, 30, 40, 11, 22, 33, 44};
    EXPECT_EQ(beginnings(data_of(content_of(files[0])), 3, 16), bytes_of(expected, sizeof expected));
}

TEST_F(Dump, InputsAreThoseBeforeTheLaunch) {
    auto* counter = device_array<uint32_t>({7});
    start(R"("dump_op_switch": "on", "dump_mode": "all")");
    for (aclrtStream stream : {stream_, aclrtStream(nullptr)}) {
        ASSERT_ACL_OK(launch("increment", 1, stream, counter));
        ASSERT_ACL_OK(aclrtSynchronizeDevice());
    }
    std::vector<std::string> data;
    for (const fs::path& file : files_in(folder_.path())) data.push_back(beginnings(data_of(content_of(file)), 2, 4));
    std::sort(data.begin(), data.end());
    const uint32_t first[] = {7, 8}, second[] = {8, 9};
    EXPECT_EQ(data, (std::vector<std::string>{bytes_of(first, 8), bytes_of(second, 8)}));
    EXPECT_EQ(read_back(counter, 1)[0], 9u);
}

TEST_F(Dump, StepsAndNamesChooseLaunches) {
    make_arrays();
    auto* counter = device_array<uint32_t>({0});
    start(R"("dump_op_switch": "on", "dump_step": "1|3-4", "dump_list": [{"layer": ["add"]}])");
    add(6);
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(files_in(folder_.path()).size(), 3u);
    ASSERT_ACL_OK(aclmdlSetDump(
        configuration(R"("dump_op_switch": "on", "dump_level": "op", "dump_list": [{"opname_blacklist": ["add"]}])")
            .c_str()));
    add();
    ASSERT_ACL_OK(aclmdlSetDump(configuration(R"("dump_op_switch": "on", "dump_level": "op", "dump_list": [)"
                                              R"({"opname_blacklist": [{"name": "add"}]}])")
                                    .c_str()));
    add();
    EXPECT_EQ(files_in(folder_.path()).size(), 3u);
    ASSERT_ACL_OK(aclmdlSetDump(configuration("").c_str()));  // dump_op_switch is off
    add();
    ASSERT_ACL_OK(aclmdlFinalizeDump());
    add();
    EXPECT_EQ(files_in(folder_.path()).size(), 3u);
}

TEST_F(Dump, LaunchesInGraphsAreLeftAlone) {
    auto* counter = device_array<uint32_t>({0});
    start(R"("dump_op_switch": "on")");
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    ASSERT_ACL_OK(aclmdlRIExecute(graph, -1));
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    EXPECT_TRUE(files_in(folder_.path()).empty());
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(files_in(folder_.path()).size(), 1u);
    EXPECT_EQ(read_back(counter, 1)[0], 2u);
}

TEST_F(Dump, SwitchesWhileThreadsLaunch) {
    constexpr uint32_t count = 200;
    const std::string file = configuration(R"("dump_op_switch": "on", "dump_mode": "all", "dump_step": "0-9")");
    const aclrtFuncHandle increment = function("increment");
    std::vector<uint32_t*> counters;
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; ++n) counters.push_back(device_array<uint32_t>({0}));
    for (uint32_t* counter : counters) {
        threads.emplace_back([this, counter, increment] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            aclrtStream stream = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&stream));
            for (uint32_t n = 0; n < count; ++n) EXPECT_ACL_OK(launch(increment, 1, stream, counter));
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
            EXPECT_ACL_OK(aclrtResetDevice(0));
        });
    }
    for (int n = 0; n < 10; ++n) {
        EXPECT_ACL_OK(aclmdlInitDump());
        EXPECT_ACL_OK(aclmdlSetDump(file.c_str()));
        EXPECT_ACL_OK(aclmdlFinalizeDump());
    }
    for (std::thread& thread : threads) thread.join();
    for (uint32_t* counter : counters) EXPECT_EQ(read_back(counter, 1)[0], count);
}

TEST_F(Dump, StatisticsAreATable) {
    // 64 bytes, as memory is allocated: a dump reaches to the end of an allocation.
    const auto numbers = [this](std::vector<float> values) {
        values.resize(16);
        return device_array<float>(values);
    };
    a_ = numbers({1, -2, 3, 4});
    b_ = numbers({0, 0, std::numeric_limits<float>::infinity(), std::nanf("")});
    out_ = numbers({});
    start(R"("dump_op_switch": "on", "dump_data": "stats")");
    add();
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].extension(), ".csv");
    const std::string table = content_of(files[0]);
    EXPECT_EQ(table.substr(0, table.find('\n')),
              "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,"
              "Negative Inf Count,Positive Inf Count");
    const auto row = [](const char* index, const char* largest, const char* counts) {
        return std::regex(std::string("\nOutput,") + index + ",[0-9]+,float,ND,[0-9]+," + largest +
                          ",-2,[-.0-9]+,[0-9]+," + counts + "\n");
    };
    EXPECT_TRUE(std::regex_search(table, row("0", "4", "0,0,0"))) << table;
    EXPECT_TRUE(std::regex_search(table, row("2", "1", "1,0,1"))) << table;
}

TEST_F(Dump, MemoryThatWasFreedBeforeTheLaunchRanIsMissing) {
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, size_t{3} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    Gate gate;
    start(R"("dump_op_switch": "on")");
    gate.hold(stream_);
    ASSERT_ACL_OK(launch("nothing", 1, stream_, memory));
    ASSERT_ACL_OK(aclrtFree(memory));
    // It is free once the stream waits at the gate, or with the next memory that is freed then.
    EXPECT_TRUE(eventually([&] {
        if (aclrtMemset(memory, 1, 0, 1) != ACL_SUCCESS) return true;
        void* other = nullptr;
        EXPECT_ACL_OK(aclrtMalloc(&other, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtFree(other));
        return false;
    }));
    const auto said = lines_said([&] {
        gate.open();
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    });
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("cannot be read"), std::string::npos) << said[0];
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    const std::string data = data_of(content_of(files[0]));
    EXPECT_GE(data.size(), size_t{3} << 20);
    EXPECT_EQ(data.find_first_not_of('\0'), std::string::npos);
}

std::string collected;
std::vector<std::string> names;
int32_t refusal = 0;
int32_t collect(const acldumpChunk* chunk, int32_t length) {
    EXPECT_EQ(static_cast<size_t>(length), 4120 + size_t{chunk->bufLen});
    EXPECT_EQ(chunk->offset, static_cast<int64_t>(collected.size()));
    collected.append(reinterpret_cast<const char*>(chunk) + 4116, chunk->bufLen);
    if (chunk->isLastChunk) names.push_back(chunk->fileName);
    return refusal;
}

TEST_F(Dump, ACallbackGetsTheFiles) {
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "messageCallback", acldumpRegCallback(nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "flag", acldumpRegCallback(&collect, 1));
    constexpr size_t large = 3 << 20;  // several pieces
    auto* words = static_cast<uint32_t*>(device_memory(large));
    ASSERT_ACL_OK(aclrtMemset(words, large, 1, large));
    start(R"("dump_op_switch": "on")");
    ASSERT_ACL_OK(acldumpRegCallback(&collect, 0));
    collected.clear();
    names.clear();
    ASSERT_ACL_OK(launch("increment", 1, stream_, words));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_TRUE(files_in(folder_.path()).empty());
    ASSERT_EQ(names.size(), 1u);
    EXPECT_NE(names[0].find("/0/increment.increment."), std::string::npos);
    EXPECT_TRUE(data_of(collected).starts_with(std::string("\2\1\1\1", 4) + std::string(large - 4, '\1')));
    refusal = 1;
    collected.clear();
    const auto said = lines_said([&] {
        ASSERT_ACL_OK(launch("increment", 1, stream_, words));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    });
    refusal = 0;
    EXPECT_EQ(said.size(), 1u);
    acldumpUnregCallback();
    ASSERT_ACL_OK(launch("increment", 1, stream_, words));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(files_in(folder_.path()).size(), 1u);
}

TEST_F(Dump, ALostFolderIsReportedAndTheProgramGoesOn) {
    make_arrays();
    start(R"("dump_op_switch": "on")");
    const std::string time = acldumpGetPath(DATA_DUMP);
    std::ofstream(time) << "in the way";
    const auto said = lines_said([&] { add(); });
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("no dump " + time), std::string::npos) << said[0];
    EXPECT_EQ(read_back(out_, 4)[3], 44);
}

TEST_F(Dump, AFullDiskIsReportedAndTheProgramGoesOn) {
    constexpr size_t room = 4096, size = 16 * room;
    auto* words = static_cast<uint32_t*>(device_memory(size));
    ASSERT_ACL_OK(aclrtMemset(words, size, 1, size));
    start(R"("dump_op_switch": "on")");
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit little{room, before.rlim_max};
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    const auto said = lines_said([&] {
        ASSERT_ACL_OK(launch("increment", 1, stream_, words));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    });
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("is not complete: File too large"), std::string::npos) << said[0];
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(fs::file_size(files[0]), room);
    EXPECT_EQ(read_back(words, 1)[0], 0x0101'0102u);
}

TEST_F(Dump, AFailedKernelLeavesAFileOfItsScene) {
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "configured",
                     acldumpGetExceptionInfoPath(std::string(100, 'x').data(), 100));
    auto* words = device_array<uint32_t>({5, 6});
    const std::string root = folder_.path() + "/extra-info";
    struct Case {
        const char* scene;
        acldumpType type;
        const char* name;
    };
    for (const Case& each :
         {Case{"lite_exception", AIC_ERR_BRIEF_DUMP, "exception_info\\.[0-9]+\\.[0-9]+\\.[0-9]{17}"},
          Case{"aic_err_brief_dump", AIC_ERR_BRIEF_DUMP, "exception_info\\.[0-9]+\\.[0-9]+\\.[0-9]{17}"},
          Case{"aic_err_norm_dump", AIC_ERR_NORM_DUMP, "store_byte_at\\.store_byte_at\\.[0-9]+\\.[0-9]{17}"},
          Case{"aic_err_detail_dump", AIC_ERR_DETAIL_DUMP, "store_byte_at\\.[0-9]+\\.[0-9]+\\.[0-9]{17}\\.core"}}) {
        start(std::string(R"("dump_scene": ")") + each.scene + '"');
        ASSERT_NE(acldumpGetPath(each.type), nullptr) << each.scene;
        EXPECT_EQ(acldumpGetPath(each.type), root);
        ASSERT_ACL_OK(launch("store_byte_at", 1, stream_, words, uint64_t{1} << 46, uint8_t{1}));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        const std::vector<fs::path> files = files_in(root);
        ASSERT_EQ(files.size(), 1u) << each.scene;
        EXPECT_EQ(files[0].parent_path(), root + "/data-dump/0");
        EXPECT_TRUE(std::regex_match(files[0].filename().string(), std::regex(each.name))) << files[0];
        EXPECT_EQ(mode_of(files[0]), 0600u);
        const std::string content = content_of(files[0]);
        EXPECT_NE(content.find("access to address"), std::string::npos);
        EXPECT_NE(content.find(std::string("\5\0\0\0\6\0\0\0", 8)), std::string::npos);
        EXPECT_EQ(content.starts_with("\177ELF"), each.type == AIC_ERR_DETAIL_DUMP);
        ASSERT_ACL_OK(aclmdlFinalizeDump());
        fs::remove_all(root);
    }
}

TEST_F(Dump, TheEnvironmentSwitchesTheExceptionDumpOnAndChoosesItsFolder) {
    setenv("ASCEND_DUMP_SCENE", "aic_err_norm_dump", 1);
    setenv("ASCEND_WORK_PATH", (folder_.path() + "/results").c_str(), 1);
    fail();
    EXPECT_EQ(files_in(folder_.path() + "/results/extra-info/data-dump/0").size(), 1u);
    setenv("NPU_COLLECT_PATH", (folder_.path() + "/collect").c_str(), 1);
    fail();
    EXPECT_EQ(files_in(folder_.path() + "/collect/extra-info/data-dump/0").size(), 1u);
    setenv("ASCEND_DUMP_SCENE", "everything", 1);
    fail();
    EXPECT_EQ(files_in(folder_.path()).size(), 2u);
}

acldumpTensorInfo tensor_at(void* address, size_t size) {
    acldumpTensorInfo info = {};
    info.tensorSize = size;
    info.format = ACL_FORMAT_ND;
    info.dataType = ACL_INT32;
    info.tensorAddr = static_cast<int64_t*>(address);
    info.addrType = ACL_DUMP_ADDR_RAW;
    info.shapeNum = 1;
    info.shape[0] = size / 4;
    return info;
}

TEST_F(Dump, ProgramsSaveTensorsWithAnException) {
    auto* words = device_array<uint32_t>({1, 2, 3, 4});
    acldumpTensorInfo tensors[] = {tensor_at(words + 2, 8), tensor_at(words, 8)};
    tensors[0].type = ACL_DUMP_TENSOR_OUTPUT;
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "configured", acldumpSaveExceptionInfo("op", "tag", tensors, 2));
    setenv("ASCEND_WORK_PATH", folder_.path().c_str(), 1);
    start(R"("dump_scene": "lite_exception")");
    char path[256];
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "maxLen", acldumpGetExceptionInfoPath(nullptr, 256));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "maxLen", acldumpGetExceptionInfoPath(path, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "maxLen", acldumpGetExceptionInfoPath(path, 8));
    ASSERT_ACL_OK(acldumpGetExceptionInfoPath(path, sizeof path));
    EXPECT_EQ(path, folder_.path() + "/extra-info/data-dump/0");
    EXPECT_TRUE(fs::is_directory(path));

    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "fileName", acldumpSaveExceptionInfo(nullptr, "tag", tensors, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "fileName", acldumpSaveExceptionInfo("", "tag", tensors, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "fileName", acldumpSaveExceptionInfo("../x", "tag", tensors, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tensors", acldumpSaveExceptionInfo("op", "tag", nullptr, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tensors", acldumpSaveExceptionInfo("op", "tag", tensors, 0));
    uint32_t mine[2] = {};
    for (void (*damage)(acldumpTensorInfo&, void*) :
         {+[](acldumpTensorInfo&info, void*) { info.shapeNum = 26; },
          +[](acldumpTensorInfo&info, void*) { info.addrType = ACL_DUMP_ADDR_PTR; },
          +[](acldumpTensorInfo&info, void*) { info.placement = ACL_DUMP_PLACEMENT_HOST; },
          +[](acldumpTensorInfo&info, void*) { info.tensorAddr = nullptr; },
          +[](acldumpTensorInfo&info, void*) { info.tensorSize = 0; },
          +[](acldumpTensorInfo&info, void*) { info.type = static_cast<acldumpTensorType>(3); },
          +[](acldumpTensorInfo&info, void*) { info.tensorSize = 4096; },
          +[](acldumpTensorInfo&info, void*host) { info.tensorAddr = static_cast<int64_t*>(host); }}) {
        acldumpTensorInfo damaged = tensor_at(words, 8);
        damage(damaged, mine);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tensor", acldumpSaveExceptionInfo("op", "tag", &damaged, 1));
    }
    EXPECT_TRUE(files_in(path).empty());
    ASSERT_ACL_OK(acldumpSaveExceptionInfo("my_op", "the tag", tensors, 2));
    const std::vector<fs::path> files = files_in(path);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_TRUE(std::regex_match(files[0].filename().string(), std::regex("my_op\\.custom\\.[0-9]{17}"))) << files[0];
    EXPECT_EQ(mode_of(files[0]), 0400u);
    const std::string content = content_of(files[0]);
    EXPECT_NE(content.find("user_tag"), std::string::npos);
    EXPECT_NE(content.find("the tag"), std::string::npos);
    const uint32_t expected[] = {1, 2, 3, 4};  // the input first
    EXPECT_EQ(data_of(content), std::string(reinterpret_cast<const char*>(expected), sizeof expected));
    for (int n = 0; n < 5; ++n) EXPECT_ACL_OK(acldumpSaveExceptionInfo("my_op", "the tag", tensors, 2));
    EXPECT_EQ(files_in(path).size(), 6u);
}

TEST_F(Dump, OnlyAllocatedMemoryIsSavedWithAnException) {
    setenv("ASCEND_WORK_PATH", folder_.path().c_str(), 1);
    start(R"("dump_scene": "lite_exception")");
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, size_t{8} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtFree(memory));
    acldumpTensorInfo tensor = tensor_at(memory, 64);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not device memory", acldumpSaveExceptionInfo("op", "", &tensor, 1));
    EXPECT_TRUE(files_in(folder_.path()).empty());
    if (!device_maps_memory()) return;

    constexpr size_t page = size_t{2} << 20;
    aclrtPhysicalMemProp properties = {};
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handle = nullptr;
    ASSERT_ACL_OK(aclrtMallocPhysical(&handle, page, &properties, 0));
    ASSERT_ACL_OK(aclrtReserveMemAddress(&memory, page, 0, nullptr, 0));
    tensor = tensor_at(memory, 64);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not device memory", acldumpSaveExceptionInfo("op", "", &tensor, 1));
    ASSERT_ACL_OK(aclrtMapMem(memory, page, 0, handle, 0));
    ASSERT_ACL_OK(aclrtMemset(memory, page, 5, page));
    tensor.tensorSize = SIZE_MAX;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not device memory", acldumpSaveExceptionInfo("op", "", &tensor, 1));
    tensor.tensorSize = 64;
    EXPECT_ACL_OK(acldumpSaveExceptionInfo("op", "", &tensor, 1));
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(data_of(content_of(files[0])), std::string(64, '\5'));
    EXPECT_ACL_OK(aclrtUnmapMem(memory));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(memory));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
}

TEST_F(Dump, DumpsOfOperatorArgumentsStartOnce) {
    const std::string folder = folder_.path() + "/args/of/operators";
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "path", aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "dumpType", aclopStartDumpArgs(2, folder.c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "dumpType", aclopStopDumpArgs(2));
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "folder", aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, "/dev/null/x"));
    EXPECT_ACL_OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, folder.c_str()));
    EXPECT_TRUE(fs::is_directory(folder));
    EXPECT_ACL_FAILS(ACL_ERROR_INTERNAL_ERROR, "before",
                     aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, folder.c_str()));
    EXPECT_ACL_OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
    EXPECT_ACL_OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, folder.c_str()));
    EXPECT_ACL_OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
}

TEST_F(Dump, AReplayFolderHoldsTheLaunch) {
    setenv("CANOPY_DUMP_EXCEPTION", folder_.path().c_str(), 1);
    const auto said = lines_said([&] { fail(); });
    ASSERT_EQ(said.size(), 1u);
    const std::vector<fs::path> files = files_in(folder_.path());
    ASSERT_EQ(files.size(), 3u);
    EXPECT_NE(said[0].find("canopy replay " + files[0].parent_path().string()), std::string::npos) << said[0];
    EXPECT_EQ(files[0].filename(), "image");
    EXPECT_EQ(files[1].filename(), "memory");
    EXPECT_EQ(files[2].filename(), "replay.json");
    for (const fs::path& file : files) EXPECT_EQ(mode_of(file), 0600u);
    EXPECT_EQ(mode_of(files[0].parent_path()), 0700u);
    const std::string facts = content_of(files[2]);
    for (const char* words :
         {R"("kernel": "trap_in_block")", R"("block": 2)", R"("blocks": 4)", R"("arguments": "02000000)"})
        EXPECT_NE(facts.find(words), std::string::npos) << facts;
    EXPECT_EQ(content_of(files[0]), content_of(CANOPY_TEST_KERNELS));
    setenv("CANOPY_DUMP_EXCEPTION", "/dev/null/x", 1);
    const auto refused = lines_said([&] { fail(); });
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_NE(refused[0].find("no dump /dev/null/x"), std::string::npos) << refused[0];
}

TEST_F(Dump, AFolderThatIsNoDumpCannotBeReplayed) {
    const char* outcome = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "folder", canopyReplay(nullptr, -1, &outcome));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "replay.json", canopyReplay(folder_.path().c_str(), -1, &outcome));
    for (const char* text : {"", "[]", "{}", R"({"replayable": true})", R"({"replayable": true, "version": 2})"}) {
        folder_.write("replay.json", text);
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no complete dump",
                         canopyReplay(folder_.path().c_str(), -1, &outcome));
    }
    folder_.write("replay.json", R"({"replayable": false, "reason": "it is a CPU kernel"})");
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "CPU kernel",
                     canopyReplay(folder_.path().c_str(), -1, &outcome));
}

TEST_F(Dump, ForgedNumbersOfAReplayAreRefused) {
    const std::string whole =
        R"({"replayable": true, "version": 1, "kernel": "add", "chip": "Ascend910B1", "simt": false, "checking": false,
            "block": 0, "blocks": 1, "block_offset": 0, "dynamic_size": 0, "stack_size": 0, "time_limit": 0,
            "device_memory": 1073741824, "place": 4096, "place_size": 4096, "arguments": "0000000000000000",
            "placeholders": [], "message": "all", "what": "it", "memory_as_of": "failure", "not_followed": []})";
    const char* outcome = nullptr;
    folder_.write("replay.json", whole);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "has used a device before",
                     canopyReplay(folder_.path().c_str(), -1, &outcome));
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {R"("blocks": 1)", R"("blocks": 0)"},
             {R"("blocks": 1)", R"("blocks": 65536)"},
             {R"("blocks": 1)", R"("blocks": -1)"},
             {R"("blocks": 1)", R"("blocks": 1e30)"},
             {R"("blocks": 1)", R"("blocks": "1")"},
             {R"("block": 0)", R"("block": 1)"},
             {R"("stack_size": 0)", R"("stack_size": 4294967296)"},
             {R"("simt": false)", R"("simt": 0)"},
             {R"("kernel": "add")", R"("kernel": 5)"},
             {R"("arguments": "00)", R"("arguments": "0)"},
             {R"("arguments": "00)", R"("arguments": "0x)"},
             {R"("placeholders": [])", R"("placeholders": {})"},
             {R"("placeholders": [])", R"("placeholders": [0])"},
             {R"("placeholders": [])", R"("placeholders": [[0]])"},
             {R"("placeholders": [])", R"("placeholders": [[1, 0]])"},
             {R"("placeholders": [])", R"("placeholders": [[0, 8]])"},
             {R"("placeholders": [])", R"("placeholders": [[18446744073709551608, 0]])"},
             {R"("not_followed": [])", R"("not_followed": {})"}}) {
        SCOPED_TRACE(to);
        std::string text = whole;
        text.replace(text.find(from), from.size(), to);
        folder_.write("replay.json", text);
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "no complete dump",
                         canopyReplay(folder_.path().c_str(), -1, &outcome));
    }
}

}  // namespace
}  // namespace conformance
