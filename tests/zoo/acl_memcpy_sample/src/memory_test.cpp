/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_test.h"
#include <cstring>

#define RETURN_IF(call)                                        \
    do {                                                       \
        aclError ret = (call);                                 \
        if (ret != ACL_SUCCESS) {                              \
            ERROR_LOG("%s failed, errorCode = %d", #call, ret); \
            return FAILED;                                     \
        }                                                      \
    } while (0)

MemoryTest::MemoryTest(int32_t deviceId, size_t size)
    : deviceId_(deviceId), size_(size), context_(nullptr), stream_(nullptr), hostFrom_(nullptr), hostTo_(nullptr)
{
}

MemoryTest::~MemoryTest()
{
    (void)aclrtFreeHost(hostFrom_);
    (void)aclrtFreeHost(hostTo_);
    if (stream_ != nullptr) {
        (void)aclrtDestroyStream(stream_);
        stream_ = nullptr;
    }
    if (context_ != nullptr) {
        (void)aclrtDestroyContext(context_);
        context_ = nullptr;
    }
    INFO_LOG("context is gone");
    (void)aclrtResetDevice(deviceId_);
    INFO_LOG("device %d is free again", deviceId_);
}

Result MemoryTest::Init()
{
    RETURN_IF(aclrtSetDevice(deviceId_));
    RETURN_IF(aclrtCreateContext(&context_, deviceId_));
    RETURN_IF(aclrtCreateStream(&stream_));
    aclrtRunMode runMode;
    RETURN_IF(aclrtGetRunMode(&runMode));
    INFO_LOG("run mode is %s", runMode == ACL_HOST ? "host" : "device");
    RETURN_IF(aclrtMallocHost(&hostFrom_, size_));
    RETURN_IF(aclrtMallocHost(&hostTo_, size_));
    Utils::Fill(hostFrom_, size_, 20u);
    return SUCCESS;
}

Result MemoryTest::HostToDeviceAndBack()
{
    void *dev = nullptr;
    memset(hostTo_, 0, size_);
    RETURN_IF(aclrtMalloc(&dev, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    RETURN_IF(aclrtMemcpy(dev, size_, hostFrom_, size_, ACL_MEMCPY_HOST_TO_DEVICE));
    RETURN_IF(aclrtMemcpy(hostTo_, size_, dev, size_, ACL_MEMCPY_DEVICE_TO_HOST));
    RETURN_IF(aclrtFree(dev));
    return Utils::Same(hostFrom_, hostTo_, size_) ? SUCCESS : FAILED;
}

Result MemoryTest::HostToHost()
{
    memset(hostTo_, 0, size_);
    RETURN_IF(aclrtMemcpy(hostTo_, size_, hostFrom_, size_, ACL_MEMCPY_HOST_TO_HOST));
    return Utils::Same(hostFrom_, hostTo_, size_) ? SUCCESS : FAILED;
}

Result MemoryTest::DeviceToDevice()
{
    void *one = nullptr, *two = nullptr;
    memset(hostTo_, 0, size_);
    RETURN_IF(aclrtMalloc(&one, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    RETURN_IF(aclrtMalloc(&two, size_, ACL_MEM_MALLOC_NORMAL_ONLY));
    RETURN_IF(aclrtMemcpy(one, size_, hostFrom_, size_, ACL_MEMCPY_HOST_TO_DEVICE));
    RETURN_IF(aclrtMemcpy(two, size_, one, size_, ACL_MEMCPY_DEVICE_TO_DEVICE));
    RETURN_IF(aclrtMemset(one, size_, 0, size_));
    RETURN_IF(aclrtMemcpy(hostTo_, size_, two, size_, ACL_MEMCPY_DEVICE_TO_HOST));
    RETURN_IF(aclrtFree(one));
    RETURN_IF(aclrtFree(two));
    return Utils::Same(hostFrom_, hostTo_, size_) ? SUCCESS : FAILED;
}

Result MemoryTest::BetweenDevices(int32_t peer)
{
    int32_t canAccess = 0;
    RETURN_IF(aclrtDeviceCanAccessPeer(&canAccess, deviceId_, peer));
    if (canAccess == 0) {
        WARN_LOG("no copies between %d and %d", deviceId_, peer);
        return SUCCESS;
    }
    RETURN_IF(aclrtDeviceEnablePeerAccess(peer, 0));
    void *here = nullptr, *there = nullptr;
    RETURN_IF(aclrtMalloc(&here, size_, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    RETURN_IF(aclrtMemcpy(here, size_, hostFrom_, size_, ACL_MEMCPY_HOST_TO_DEVICE));
    RETURN_IF(aclrtSetDevice(peer));
    RETURN_IF(aclrtDeviceEnablePeerAccess(deviceId_, 0));
    RETURN_IF(aclrtMalloc(&there, size_, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    RETURN_IF(aclrtMemcpy(there, size_, here, size_, ACL_MEMCPY_DEVICE_TO_DEVICE));
    memset(hostTo_, 0, size_);
    RETURN_IF(aclrtMemcpy(hostTo_, size_, there, size_, ACL_MEMCPY_DEVICE_TO_HOST));
    RETURN_IF(aclrtFree(there));
    RETURN_IF(aclrtResetDevice(peer));
    RETURN_IF(aclrtSetCurrentContext(context_));
    RETURN_IF(aclrtFree(here));
    return Utils::Same(hostFrom_, hostTo_, size_) ? SUCCESS : FAILED;
}

Result MemoryTest::Async()
{
    void *dev = nullptr;
    memset(hostTo_, 0, size_);
    RETURN_IF(aclrtMalloc(&dev, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    RETURN_IF(aclrtMemcpyAsync(dev, size_, hostFrom_, size_, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    RETURN_IF(aclrtMemsetAsync(dev, size_, 0x5a, size_ / 2, stream_));
    RETURN_IF(aclrtMemcpyAsync(hostTo_, size_, dev, size_, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    RETURN_IF(aclrtSynchronizeStream(stream_));
    RETURN_IF(aclrtFree(dev));
    const uint8_t *bytes = reinterpret_cast<uint8_t *>(hostTo_);
    for (size_t i = 0; i < size_ / 2; ++i) {
        if (bytes[i] != 0x5a) {
            return FAILED;
        }
    }
    return Utils::Same(reinterpret_cast<uint8_t *>(hostFrom_) + size_ / 2, bytes + size_ / 2, size_ - size_ / 2) ? SUCCESS : FAILED;
}

Result MemoryTest::WrongArguments()
{
    void *dev = nullptr;
    if (aclrtMalloc(&dev, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) {
        return FAILED;
    }
    RETURN_IF(aclrtMalloc(&dev, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    aclError ret = aclrtMemcpy(dev, 64, hostFrom_, 128, ACL_MEMCPY_HOST_TO_DEVICE);
    INFO_LOG("too much into a buffer: errorCode = %d", ret);
    RETURN_IF(aclrtFree(dev));
    return ret != ACL_SUCCESS ? SUCCESS : FAILED;
}
