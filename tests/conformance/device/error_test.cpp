// SPDX-License-Identifier: Apache-2.0
// How programs find out what went wrong.
#include <cstring>
#include <string>
#include <thread>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using ErrorTest = RuntimeTest;

TEST_F(ErrorTest, TheTextIsHandedOutOnce) {
    EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
    const std::string text = recent_error();
    EXPECT_EQ(text.rfind("EH0002: Argument count must not be null", 0), 0u) << text;
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorTest, TheNewestTextComesFirst) {
    EXPECT_EQ(aclrtSetDevice(-3), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtSetDevice(-4), ACL_ERROR_RT_INVALID_DEVICEID);
    const std::string text = recent_error();
    const auto older = text.find("device id -3"), newer = text.find("device id -4");
    ASSERT_NE(older, std::string::npos);
    ASSERT_NE(newer, std::string::npos);
    EXPECT_LT(newer, older);
}

TEST_F(ErrorTest, TextAndCodeBelongToTheirThread) {
    EXPECT_EQ(aclrtSetDevice(-3), ACL_ERROR_RT_INVALID_DEVICEID);
    std::thread([] {
        EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
        EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    }).join();
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorTest, PeekKeepsTheCodeAndGetClearsIt) {
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(-3), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(ErrorTest, ASuccessfulCallKeepsTheCode) {
    EXPECT_EQ(aclrtSetDevice(-3), ACL_ERROR_RT_INVALID_DEVICEID);
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(ErrorTest, ANullRunModeIsTheLastError) {
    EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(recent_error().find("runMode"), std::string::npos);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(ErrorTest, OnlyTheThreadLevelExists) {
    const auto other = static_cast<aclrtLastErrLevel>(1);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "level", aclrtPeekAtLastError(other));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "level", aclrtGetLastError(other));
}

TEST_F(ErrorTest, ASoftwareDeviceHasNoHardwareFaults) {
    aclrtErrorInfo info;
    std::memset(&info, 0xFF, sizeof(info));
    EXPECT_ACL_OK(aclrtGetErrorVerbose(0, &info));
    EXPECT_EQ(info.errorType, ACL_RT_NO_ERROR);
    EXPECT_EQ(info.tryRepair, 0);
    EXPECT_EQ(info.hasDetail, 0);
    EXPECT_ACL_OK(aclrtRepairError(0, &info));
    info.errorType = ACL_RT_ERROR_L2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "errorType", aclrtRepairError(0, &info));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "errorInfo", aclrtGetErrorVerbose(0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "errorInfo", aclrtRepairError(0, nullptr));
    EXPECT_EQ(aclrtGetErrorVerbose(-1, &info), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtRepairError(64, &info), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(ErrorTest, ThereIsNoFaultyMemory) {
    aclrtMemUceInfo faults[2];
    size_t count = 9;
    EXPECT_ACL_OK(aclrtGetMemUceInfo(0, faults, 2, &count));
    EXPECT_EQ(count, 0u);
    EXPECT_ACL_OK(aclrtMemUceRepair(0, faults, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memUceInfoArray", aclrtGetMemUceInfo(0, nullptr, 2, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "retSize", aclrtGetMemUceInfo(0, faults, 2, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "arraySize", aclrtGetMemUceInfo(0, faults, 0, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "arraySize", aclrtMemUceRepair(0, faults, 129));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memUceInfoArray", aclrtMemUceRepair(0, nullptr, 1));
    EXPECT_EQ(aclrtGetMemUceInfo(-1, faults, 2, &count), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtMemUceRepair(-1, faults, 2), ACL_ERROR_RT_INVALID_DEVICEID);
}

}  // namespace
}  // namespace conformance
