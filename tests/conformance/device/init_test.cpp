// SPDX-License-Identifier: Apache-2.0
// aclInit and aclFinalize with their files and callbacks, and process-wide defaults.
#include <string>
#include <thread>
#include <vector>

#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

using InitTest = RuntimeTest;

TEST_F(InitTest, SecondInitialisationIsReportedAndCounted) {
    EXPECT_ACL_FAILS(ACL_ERROR_REPEAT_INITIALIZE, "aclInit", aclInit(nullptr));
    uint64_t left = 99;
    EXPECT_ACL_OK(aclFinalizeReference(&left));
    EXPECT_EQ(left, 1u);
    EXPECT_ACL_OK(aclFinalizeReference(&left));
    EXPECT_EQ(left, 0u);
    EXPECT_EQ(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(left, 0u);
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclFinalizeReference(nullptr));
}

TEST_F(InitTest, OneFinalisationEndsAllInitialisations) {
    for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_FAILS(ACL_ERROR_REPEAT_FINALIZE, "not initialised", aclFinalize());
}

TEST_F(InitTest, InitialiseWorkAndFinaliseManyTimes) {
    for (int round = 0; round < 20; ++round) {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        aclrtContext context = nullptr;
        EXPECT_ACL_OK(aclrtCreateContext(&context, 0));
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
        EXPECT_ACL_OK(aclrtDestroyContext(context));
        EXPECT_ACL_OK(aclrtResetDevice(0));
        EXPECT_ACL_OK(aclFinalize());
        EXPECT_ACL_OK(aclInit(nullptr));
    }
}

TEST_F(InitTest, FinaliseReleasesWhatTheProgramLeft) {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    EXPECT_ACL_OK(aclrtCreateStream(&stream));
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    int32_t device = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "", aclrtGetDevice(&device));
}

TEST_F(InitTest, CallsAfterFinaliseAnswerWithCodes) {
    EXPECT_ACL_OK(aclFinalize());
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_GT(count, 0u);
    EXPECT_NE(aclrtGetSocName(), nullptr);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(InitTest, ManyThreadsInitialiseAndFinalise) {
    EXPECT_ACL_OK(aclFinalize());
    std::vector<std::thread> threads;
    for (int index = 0; index < 8; ++index) {
        threads.emplace_back([] {
            for (int round = 0; round < 200; ++round) {
                const aclError started = aclInit(nullptr);
                EXPECT_TRUE(started == ACL_SUCCESS || started == ACL_ERROR_REPEAT_INITIALIZE) << started;
                EXPECT_ACL_OK(aclFinalizeReference(nullptr));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

struct CallbackLog {
    int initialised = 0, finalised = 0, answer = 0;
    std::string text;
};

aclError on_init(const char* text, size_t length, void* user) {
    auto& log = *static_cast<CallbackLog*>(user);
    ++log.initialised;
    log.text.assign(text, length);
    return log.answer;
}

aclError on_finalize(void* user) {
    auto& log = *static_cast<CallbackLog*>(user);
    ++log.finalised;
    return log.answer;
}

TEST_F(InitTest, InitCallbackFiresAtOnceWhenInitialisedAndAgainAtTheNext) {
    CallbackLog log;
    EXPECT_ACL_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &log));
    EXPECT_EQ(log.initialised, 1);
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_EQ(log.initialised, 2);
    EXPECT_ACL_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_EQ(log.initialised, 2);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not registered", aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));
}

TEST_F(InitTest, FinalizeCallbackFiresInEveryRealFinalisation) {
    CallbackLog log;
    EXPECT_ACL_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize, &log));
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_ACL_OK(aclFinalizeReference(nullptr));
    EXPECT_EQ(log.finalised, 0);
    EXPECT_ACL_OK(aclFinalizeReference(nullptr));
    EXPECT_EQ(log.finalised, 1);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(log.finalised, 1);
    EXPECT_ACL_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not registered",
                     aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize));
}

TEST_F(InitTest, ACallbackThatFailsFailsTheCall) {
    CallbackLog log;
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &log));
    EXPECT_EQ(log.initialised, 0);
    log.answer = 500001;
    EXPECT_ACL_FAILS(500001, "callback", aclInit(nullptr));
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    log.answer = 0;
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));

    EXPECT_ACL_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, on_finalize, &log));
    log.answer = 500001;
    EXPECT_ACL_FAILS(500001, "callback", aclFinalize());
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_ACL_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, on_finalize));
}

aclError reenter(const char*, size_t, void*) {
    return aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE ? ACL_SUCCESS : ACL_ERROR_FAILURE;
}

TEST_F(InitTest, ACallbackMayCallTheInterface) {
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, reenter, nullptr));
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, reenter));
    EXPECT_ACL_OK(aclFinalize());
}

TEST_F(InitTest, CallbackArgumentsAreChecked) {
    const auto unknown = static_cast<aclRegisterCallbackType>(8);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cbFunc", aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cbFunc",
                     aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cbFunc", aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cbFunc", aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type", aclInitCallbackRegister(unknown, on_init, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type", aclFinalizeCallbackRegister(unknown, on_finalize, nullptr));
}

TEST_F(InitTest, ExecuteTimeoutsAreMultiplesOfTheInterval) {
    uint32_t milliseconds = 0;
    EXPECT_ACL_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_EQ(milliseconds, 1091u * 1000u);
    uint64_t interval = 0, actual = 0;
    EXPECT_ACL_OK(aclrtGetOpTimeOutInterval(&interval));
    ASSERT_GT(interval, 0u);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOutV2(1, &actual));
    EXPECT_EQ(actual, interval);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOutV2(interval, &actual));
    EXPECT_EQ(actual, interval);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOutV2(interval + 1, &actual));
    EXPECT_EQ(actual, 2 * interval);
    EXPECT_ACL_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_EQ(milliseconds, 2 * interval / 1000);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
    EXPECT_EQ(actual, 254 * interval);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOut(100));
    EXPECT_ACL_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_GE(milliseconds, 100'000u);
    EXPECT_LE(milliseconds, 100'000u + interval / 1000);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOutWithMs(1));
    EXPECT_ACL_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_EQ(milliseconds, interval / 1000);
    EXPECT_ACL_OK(aclrtSetOpExecuteTimeOut(0));
    EXPECT_ACL_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_EQ(milliseconds, 1091u * 1000u);
}

TEST_F(InitTest, TimeoutArgumentsAreChecked) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "timeoutMs", aclrtGetOpExecuteTimeout(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "interval", aclrtGetOpTimeOutInterval(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "actualTimeout", aclrtSetOpExecuteTimeOutV2(1, nullptr));
    EXPECT_ACL_OK(aclrtSetOpWaitTimeout(5));
    EXPECT_ACL_OK(aclrtSetOpWaitTimeout(0));
}

TEST_F(InitTest, SystemParametersOfTheProcessStartAtZero) {
    for (const auto option : {ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY,
                              ACL_OPT_ENABLE_KERNEL_EARLY_START}) {
        int64_t value = -1;
        EXPECT_ACL_OK(aclrtGetSysParamOpt(option, &value));
        EXPECT_EQ(value, 0);
        EXPECT_ACL_OK(aclrtSetSysParamOpt(option, 1));
        EXPECT_ACL_OK(aclrtGetSysParamOpt(option, &value));
        EXPECT_EQ(value, 1);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtSetSysParamOpt(option, -1));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtSetSysParamOpt(option, 4));
        EXPECT_ACL_OK(aclrtSetSysParamOpt(option, 0));
    }
    int64_t value = 0;
    const auto unknown = static_cast<aclSysParamOpt>(4);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opt", aclrtGetSysParamOpt(unknown, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opt", aclrtSetSysParamOpt(unknown, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));
}

TEST_F(InitTest, TheLibraryDescribesItself) {
    const std::string text = canopyDescribe();
    EXPECT_NE(text.find("\"devices\""), std::string::npos);
    EXPECT_NE(text.find(aclrtGetSocName()), std::string::npos);
    EXPECT_NE(text.find("CANOPY_DEVICE_MEMORY"), std::string::npos);
}

TEST_F(InitTest, BadFilesAreRefusedAndLeaveTheProcessUninitialised) {
    EXPECT_ACL_OK(aclFinalize());
    TemporaryDirectory directory;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "cannot be opened", aclInit("/no/such/file.json"));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "not a file", aclInit(directory.path().c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_PARSE_FILE, "JSON", aclInit(directory.write("empty", "").c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_PARSE_FILE, "JSON", aclInit(directory.write("broken", "{\"a\": ").c_str()));
    const std::string deep = std::string(11, '[') + std::string(11, ']');
    EXPECT_ACL_FAILS(ACL_ERROR_PARSE_FILE, "deep", aclInit(directory.write("deep", "{\"a\":" + deep + "}").c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_DUMP_CONFIG, "dump", aclInit(directory.write("dump", "{\"dump\":1}").c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "err_msg_mode",
                     aclInit(directory.write("mode", "{\"err_msg_mode\":\"7\"}").c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "default_device",
                     aclInit(directory.write("far", R"({"defaultDevice":{"default_device":"64"}})").c_str()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "aicore_stack_size",
                     aclInit(directory.write("stack", R"({"StackSize":{"aicore_stack_size":1048576}})").c_str()));
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_ACL_OK(aclInit(nullptr));
}

TEST_F(InitTest, AnotherConfigurationAfterFinaliseIsRefused) {
    EXPECT_ACL_OK(aclFinalize());
    TemporaryDirectory directory;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "differs",
                     aclInit(directory.write("other", "{\"max_opqueue_num\":\"10\"}").c_str()));
    EXPECT_ACL_OK(aclInit(directory.write("same", " { } ").c_str()));
    EXPECT_ACL_OK(aclFinalize());
}

void default_device_is_set_for_threads_that_set_none() {
    TemporaryDirectory directory;
    const std::string file = directory.write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_ACL_OK(aclInit(file.c_str()));
    EXPECT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    std::thread([] {
        void* memory = nullptr;
        EXPECT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtFree(memory));
        int32_t mine = -1;
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_ACL_OK(aclrtGetDevice(&mine));
        EXPECT_EQ(mine, 0);
    }).join();
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST(InitDeathTest, DefaultDeviceIsSetForThreadsThatSetNone) {
    EXPECT_IN_OWN_PROCESS(default_device_is_set_for_threads_that_set_none);
}

void error_text_can_be_shared_by_the_process() {
    TemporaryDirectory directory;
    EXPECT_ACL_OK(aclInit(directory.write("acl.json", R"({"err_msg_mode": "1"})").c_str()));
    std::thread([] { EXPECT_NE(aclrtSetDevice(-1), ACL_SUCCESS); }).join();
    EXPECT_NE(recent_error().find("device id -1"), std::string::npos);
    EXPECT_EQ(recent_error(), "");
    EXPECT_ACL_OK(aclFinalize());
}

TEST(InitDeathTest, ErrorTextCanBeSharedByTheProcess) {
    EXPECT_IN_OWN_PROCESS(error_text_can_be_shared_by_the_process);
}

void the_file_chooses_devices_and_limits() {
    TemporaryDirectory directory;
    const std::string text = R"({"canopy": {"device_count": 3, "chip": "Ascend910B4", "device_memory": "256M"},
                                 "StackSize": {"aicore_stack_size": 65536}, "simd_printf_fifo_size_per_core": 1025})";
    CallbackLog log;
    EXPECT_ACL_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &log));
    const std::string file = directory.write("acl.json", text);
    EXPECT_ACL_OK(aclInit(file.c_str()));
    EXPECT_EQ(log.text, text);
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_EQ(count, 3u);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B4");
    int64_t memory = 0;
    EXPECT_ACL_OK(aclrtGetDeviceInfo(2, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &memory));
    EXPECT_EQ(memory, 256ll << 20);
    size_t limit = 0;
    EXPECT_ACL_OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &limit));
    EXPECT_EQ(limit, 65536u);
    EXPECT_ACL_OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, &limit));
    EXPECT_EQ(limit, 1032u);
    EXPECT_ACL_OK(aclrtSetDevice(2));
    EXPECT_EQ(aclrtSetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID);
    size_t free_bytes = 0, total = 0;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    EXPECT_EQ(total, 256u << 20);
    EXPECT_ACL_OK(aclFinalize());
    // The same file again, after devices have been opened.
    EXPECT_ACL_OK(aclInit(file.c_str()));
    EXPECT_ACL_OK(aclFinalize());
}

TEST(InitDeathTest, TheFileChoosesDevicesAndLimits) { EXPECT_IN_OWN_PROCESS(the_file_chooses_devices_and_limits); }

void the_environment_chooses_what_is_visible() {
    setenv("CANOPY_DEVICE_COUNT", "6", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1,4,5", 1);
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_EQ(count, 3u);
    int32_t id = -1;
    EXPECT_ACL_OK(aclrtGetLogicDevIdByUserDevId(1, &id));
    EXPECT_EQ(id, 4);
    EXPECT_ACL_OK(aclrtGetUserDevIdByLogicDevId(5, &id));
    EXPECT_EQ(id, 2);
    EXPECT_ACL_OK(aclrtGetPhyDevIdByUserDevId(0, &id));
    EXPECT_EQ(id, 1);
    EXPECT_ACL_OK(aclrtGetUserDevIdByPhyDevId(4, &id));
    EXPECT_EQ(id, 1);
    EXPECT_ACL_OK(aclrtGetPhyDevIdByLogicDevId(2, &id));
    EXPECT_EQ(id, 5);
    EXPECT_ACL_OK(aclrtGetLogicDevIdByPhyDevId(1, &id));
    EXPECT_EQ(id, 0);
    EXPECT_EQ(aclrtGetUserDevIdByLogicDevId(0, &id), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(3, &id), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_ACL_OK(aclrtSetDevice(2));
    EXPECT_ACL_OK(aclrtResetDevice(2));
}

TEST(InitDeathTest, TheEnvironmentChoosesWhatIsVisible) {
    EXPECT_IN_OWN_PROCESS(the_environment_chooses_what_is_visible);
}

void a_list_without_a_good_entry_leaves_no_device() {
    setenv("ASCEND_RT_VISIBLE_DEVICES", "none", 1);
    uint32_t count = 7;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE);
    EXPECT_EQ(count, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device id 0", aclrtSetDevice(0));
}

TEST(InitDeathTest, AListWithoutAGoodEntryLeavesNoDevice) {
    EXPECT_IN_OWN_PROCESS(a_list_without_a_good_entry_leaves_no_device);
}

void an_unknown_kind_of_device_cannot_be_set() {
    setenv("CANOPY_DEVICE", "abacus", 1);
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_NO_DEVICE, "abacus", aclrtSetDevice(0));
    int32_t device = 0;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_ACL_OK(aclFinalize());
}

TEST(InitDeathTest, AnUnknownKindOfDeviceCannotBeSet) {
    EXPECT_IN_OWN_PROCESS(an_unknown_kind_of_device_cannot_be_set);
}

}  // namespace
}  // namespace conformance
