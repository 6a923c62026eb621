// SPDX-License-Identifier: Apache-2.0
// The lower interface: devices, chip properties, failed tasks as seen by callbacks.
#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts_kernel.h"

namespace conformance {
namespace {

class LowerDevice : public RuntimeTest {};

TEST_F(LowerDevice, SetsTellsAndResetsTheDeviceOfTheThread) {
    int32_t device = -1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "", rtGetDevice(&device));
    ASSERT_ACL_OK(rtSetDevice(0));
    EXPECT_ACL_OK(rtGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_ACL_OK(aclrtGetDevice(&device));  // both interfaces share one state
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devId", rtGetDevice(nullptr));
    EXPECT_ACL_OK(rtDeviceReset(0));
    EXPECT_EQ(rtDeviceReset(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    EXPECT_EQ(rtSetDevice(4711), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(rtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LowerDevice, ANullPointerIsRememberedAsACodeOfTheRuntime) {
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(rtGetDevice(nullptr), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(LowerDevice, NumbersOfDevicesAreConverted) {
    int32_t number = -1;
    EXPECT_ACL_OK(rtGetLogicDevIdByUserDevId(1, &number));
    int32_t back = -1;
    EXPECT_ACL_OK(rtGetVisibleDeviceIdByLogicDeviceId(number, &back));
    EXPECT_EQ(back, 1);
    EXPECT_EQ(rtGetLogicDevIdByUserDevId(4711, &number), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(rtGetVisibleDeviceIdByLogicDeviceId(4711, &number), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "logicDevId", rtGetLogicDevIdByUserDevId(0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "visibleDeviceId", rtGetVisibleDeviceIdByLogicDeviceId(0, nullptr));
}

TEST_F(LowerDevice, TellsTheNameOfTheChip) {
    char name[64] = {};
    EXPECT_ACL_OK(rtGetSocVersion(name, sizeof(name)));
    EXPECT_STREQ(name, aclrtGetSocName());
    const auto length = static_cast<uint32_t>(std::strlen(name));
    EXPECT_ACL_OK(rtGetSocVersion(name, length + 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "maxLen", rtGetSocVersion(name, length));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "ver", rtGetSocVersion(nullptr, 64));
}

TEST_F(LowerDevice, TellsFactsAboutTheChipByTheirWords) {
    char word[64] = {};
    EXPECT_ACL_OK(rtGetSocSpec("version", "Short_SoC_version", word, sizeof(word)));
    EXPECT_EQ(std::string(aclrtGetSocName()).rfind(word, 0), 0u) << word;
    EXPECT_ACL_OK(rtGetSocSpec("version", "SoC_version", word, sizeof(word)));
    EXPECT_STREQ(word, aclrtGetSocName());
    int64_t architecture = 0, cores = 0;
    ASSERT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &architecture));
    ASSERT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    EXPECT_ACL_OK(rtGetSocSpec("version", "NpuArch", word, sizeof(word)));
    EXPECT_EQ(std::stoll(word), architecture);
    EXPECT_ACL_OK(rtGetSocSpec("SoCInfo", "vector_core_cnt", word, sizeof(word)));
    EXPECT_EQ(std::stoll(word), cores);
    for (const char* key : {"ub_size", "l0_a_size", "l0_b_size", "l0_c_size", "l1_size"}) {
        EXPECT_ACL_OK(rtGetSocSpec("AICoreSpec", key, word, sizeof(word)));
        EXPECT_GT(std::stoll(word), 1024) << key;
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "SoCInfo.ai_core_cnt",
                     rtGetSocSpec("SoCInfo", "colour", word, sizeof(word)));
    EXPECT_EQ(rtGetSocSpec("nowhere", "SoC_version", word, sizeof(word)), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "maxLen", rtGetSocSpec("version", "SoC_version", word, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "label", rtGetSocSpec(nullptr, "a", word, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "key", rtGetSocSpec("version", nullptr, word, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "val", rtGetSocSpec("version", "a", nullptr, 4));
}

TEST_F(LowerDevice, CountsCoresWithAndWithoutACurrentDevice) {
    int64_t cores = 0, processors = 0;
    ASSERT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &cores));
    ASSERT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICPU_CORE_NUM, &processors));
    for (const bool set : {false, true}) {
        if (set) ASSERT_ACL_OK(rtSetDevice(0));
        uint32_t count = 0;
        EXPECT_ACL_OK(rtGetAiCoreCount(&count));
        EXPECT_EQ(count, cores);
        EXPECT_ACL_OK(rtGetAiCpuCount(&count));
        EXPECT_EQ(count, processors);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aiCoreCnt", rtGetAiCoreCount(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aiCpuCnt", rtGetAiCpuCount(nullptr));
    EXPECT_ACL_OK(rtDeviceReset(0));
}

TEST_F(LowerDevice, CachesNeedNoOffset) {
    uint64_t offset = 1;
    EXPECT_ACL_OK(rtGetL2CacheOffset(0, &offset));
    EXPECT_EQ(offset, 0u);
    offset = 1;
    EXPECT_ACL_OK(rtsGetNonCacheAddrOffset(0, &offset));
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(rtGetL2CacheOffset(4711, &offset), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "offset", rtGetL2CacheOffset(0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "offset", rtsGetNonCacheAddrOffset(0, nullptr));
}

TEST_F(LowerDevice, TheWordsThatCoresMeetInBelongToTheContext) {
    uint64_t address = 0;
    uint32_t length = 0;
    void* same = nullptr;
    EXPECT_EQ(rtGetC2cCtrlAddr(&address, &length), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_ACL_OK(rtSetDevice(0));
    EXPECT_ACL_OK(rtGetC2cCtrlAddr(&address, &length));
    EXPECT_ACL_OK(rtsGetHardwareSyncAddr(&same));
    EXPECT_EQ(address, reinterpret_cast<uint64_t>(same));
    EXPECT_GE(length, 4096u);
    EXPECT_ACL_OK(aclrtMemset(same, length, 0, length));  // the whole range is device memory
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "addr", rtGetC2cCtrlAddr(nullptr, &length));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "len", rtGetC2cCtrlAddr(&address, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "addr", rtsGetHardwareSyncAddr(nullptr));
    EXPECT_ACL_OK(rtDeviceReset(0));
}

// What a callback found in the structure, and what rtGetExceptionRegInfo returned.
struct Seen {
    rtExceptionInfo_t info = {};
    std::string kernel;
    int code = -1;
    uint32_t cores = 0;
    rtExceptionErrRegInfo_t core = {};
};
Seen seen;

void look(aclrtExceptionInfo* info) {
    seen.info = *info;
    const rtExceptionKernelInfo_t& kernel = info->expandInfo.u.aicoreInfo.exceptionArgs.exceptionKernelInfo;
    seen.kernel.assign(kernel.kernelName, kernel.kernelNameSize);
    rtExceptionErrRegInfo_t* cores = nullptr;
    seen.code = rtGetExceptionRegInfo(info, &cores, &seen.cores);
    if (cores) seen.core = *cores;
}

class LowerException : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        seen = {};
        ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&look));
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&look));
        KernelTest::TearDown();
    }
};

TEST_F(LowerException, TheStructureTellsTaskKernelArgumentsAndCore) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(launch("trap_in_block", 4, stream_, 2u));
    uint32_t task = 0;
    ASSERT_ACL_OK(rtsGetThreadLastTaskId(&task));
    int32_t id = 0;
    ASSERT_ACL_OK(aclrtStreamGetId(stream_, &id));
    const int code = rtStreamSynchronize(stream_);
    EXPECT_EQ(code, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(seen.info.taskid, task);
    EXPECT_EQ(seen.info.streamid, static_cast<uint32_t>(id));
    EXPECT_EQ(seen.info.deviceid, 0u);
    EXPECT_EQ(seen.info.retcode, static_cast<uint32_t>(code));
    ASSERT_EQ(seen.info.expandInfo.type, RT_EXCEPTION_AICORE);
    EXPECT_EQ(seen.kernel, "trap_in_block");
    EXPECT_EQ(seen.info.expandInfo.u.aicoreInfo.exceptionArgs.argsize, 8u);
    EXPECT_EQ(seen.info.expandInfo.u.aicoreInfo.exceptionArgs.exceptionKernelInfo.bin, binary_);
    ASSERT_EQ(seen.code, 0);
    ASSERT_EQ(seen.cores, 1u);
    EXPECT_EQ(seen.core.coreId, 2u);
    EXPECT_EQ(seen.core.coreType, RT_CORE_TYPE_AIV);
    void *cube = nullptr, *vector = nullptr;
    ASSERT_ACL_OK(rtsFuncGetAddr(function("trap_in_block"), &cube, &vector));
    EXPECT_EQ(seen.core.startPC, reinterpret_cast<uint64_t>(vector));
}

TEST_F(LowerException, RegistersAreToldInsideOfTheCallbackOnly) {
    rtExceptionErrRegInfo_t* cores = nullptr;
    uint32_t count = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callback", rtGetExceptionRegInfo(&seen.info, &cores, &count));
    aclrtFuncHandle kernel = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callback", aclrtGetFuncHandleFromExceptionInfo(&seen.info, &kernel));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "exceptionInfo", rtGetExceptionRegInfo(nullptr, &cores, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "exceptionErrRegInfo",
                     rtGetExceptionRegInfo(&seen.info, nullptr, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "num", rtGetExceptionRegInfo(&seen.info, &cores, nullptr));
}

}  // namespace
}  // namespace conformance
