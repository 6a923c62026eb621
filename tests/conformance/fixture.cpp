// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <cstdlib>

namespace conformance {
namespace {

bool environment_is(const char* name, const char* value) {
    const char* found = std::getenv(name);
    return found && std::strcmp(found, value) == 0;
}

}  // namespace

bool device_computes() { return !environment_is("CANOPY_DEVICE", "null"); }
bool checking_mode() { return environment_is("CANOPY_CHECK", "1"); }

std::string recent_error() {
    const char* text = aclGetRecentErrMsg();
    return text ? text : "";
}

testing::AssertionResult succeeded(const char* call, int code) {
    if (code == ACL_SUCCESS) return testing::AssertionSuccess();
    return testing::AssertionFailure() << call << " returned " << code << ": " << recent_error();
}

testing::AssertionResult failed_with(const char* call, int code, int expected, const std::string& words) {
    const std::string text = recent_error();
    if (code == expected && text.find(words) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << call << " returned " << code << " instead of " << expected << ", or its text"
                                       << " does not mention '" << words << "': " << text;
}

void RuntimeTest::SetUp() {
    recent_error();
    ASSERT_ACL_OK(aclInit(nullptr));
}

void RuntimeTest::TearDown() {
    aclFinalize();
    CanopyLiveObjects live = {};
    canopyCountLiveObjects(&live);
    EXPECT_EQ(live.contexts, 0u);
    EXPECT_EQ(live.streams, 0u);
    EXPECT_EQ(live.events, 0u);
    EXPECT_EQ(live.notifies, 0u);
    EXPECT_EQ(live.binaries, 0u);
    EXPECT_EQ(live.functions, 0u);
    EXPECT_EQ(live.arguments, 0u);
    EXPECT_EQ(live.other, 0u);
    EXPECT_EQ(live.device_bytes, 0u);
    EXPECT_EQ(live.host_bytes, 0u);
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    recent_error();
}

void DeviceTest::SetUp() {
    RuntimeTest::SetUp();
    ASSERT_ACL_OK(aclrtSetDevice(0));
    ASSERT_ACL_OK(aclrtCreateStream(&stream_));
}

void DeviceTest::TearDown() {
    for (void* memory : memory_) EXPECT_ACL_OK(aclrtFree(memory));
    aclrtSetDevice(0);
    if (stream_) aclrtDestroyStreamForce(stream_);
    aclrtResetDeviceForce(0);
    RuntimeTest::TearDown();
}

void* DeviceTest::device_memory(std::size_t size) {
    void* memory = nullptr;
    EXPECT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    if (memory) memory_.push_back(memory);
    return memory;
}

void KernelTest::SetUp() {
    DeviceTest::SetUp();
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary_));
}

void KernelTest::TearDown() {
    if (binary_) aclrtBinaryUnLoad(binary_);
    DeviceTest::TearDown();
}

aclrtFuncHandle KernelTest::function(const char* name) {
    aclrtFuncHandle handle = nullptr;
    EXPECT_ACL_OK(aclrtBinaryGetFunction(binary_, name, &handle));
    return handle;
}

}  // namespace conformance

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
