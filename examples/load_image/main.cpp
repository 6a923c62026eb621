// SPDX-License-Identifier: Apache-2.0
// The host side of the example: loads a kernel image, adds two vectors on the device and compares every element.
// It uses the runtime interface only, so it runs wherever that interface is implemented.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../device.h"
#include "acl/acl.h"

namespace {

constexpr std::uint32_t count = 1u << 20;
constexpr std::uint32_t blocks = 8;

template <class T>
void append(aclrtArgsHandle arguments, T value) {
    aclrtParamHandle parameter = nullptr;
    CHECK(aclrtKernelArgsAppend(arguments, &value, sizeof(value), &parameter));
}

}  // namespace

int main(int argc, char** argv) {
    const char* image = argc > 1 ? argv[1] : "./fatbin/add/add.o";
    std::vector<float> x(count), y(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = static_cast<float>(2 * i + 1);
    }

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    float* device_x = CopyToDevice(x);
    float* device_y = CopyToDevice(y);
    float* device_sum = NewOnDevice<float>(count);

    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    aclrtArgsHandle arguments = nullptr;
    CHECK(aclrtBinaryLoadFromFile(image, nullptr, &binary));
    CHECK(aclrtBinaryGetFunction(binary, "vector_add", &function));
    CHECK(aclrtKernelArgsInit(function, &arguments));
    append(arguments, device_x);
    append(arguments, device_y);
    append(arguments, device_sum);
    append(arguments, count);
    CHECK(aclrtKernelArgsFinalize(arguments));

    aclrtEvent start = nullptr, end = nullptr;
    CHECK(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
    CHECK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
    CHECK(aclrtRecordEvent(start, stream));
    CHECK(aclrtLaunchKernelWithConfig(function, blocks, stream, nullptr, arguments, nullptr));
    CHECK(aclrtRecordEvent(end, stream));
    CHECK(aclrtSynchronizeStream(stream));
    float milliseconds = 0;
    CHECK(aclrtEventElapsedTime(&milliseconds, start, end));

    const std::vector<float> sum = CopyToHost(device_sum, count);
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) wrong += sum[i] == x[i] + y[i] ? 0 : 1;
    std::printf("load_image on %s: %u elements, %u blocks, %.3f ms, %u wrong\n", aclrtGetSocName(), count, blocks,
                static_cast<double>(milliseconds), wrong);
    std::printf("  %.0f + %.0f = %.0f\n", static_cast<double>(x[1000]), static_cast<double>(y[1000]),
                static_cast<double>(sum[1000]));

    CHECK(aclrtDestroyEvent(start));
    CHECK(aclrtDestroyEvent(end));
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtFree(device_x));
    CHECK(aclrtFree(device_y));
    CHECK(aclrtFree(device_sum));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
