/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "utils.h"

class MemoryTest {
public:
    MemoryTest(int32_t deviceId, size_t size);
    ~MemoryTest();
    Result Init();
    Result HostToDeviceAndBack();
    Result HostToHost();
    Result DeviceToDevice();
    Result BetweenDevices(int32_t peer);
    Result Async();
    Result WrongArguments();

private:
    int32_t deviceId_;
    size_t size_;
    aclrtContext context_;
    aclrtStream stream_;
    void *hostFrom_;
    void *hostTo_;
};
