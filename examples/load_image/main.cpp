// SPDX-License-Identifier: Apache-2.0
// The host side of the example: loads a kernel image, adds two vectors on the device and compares every element.
// It uses the runtime interface only, so it runs wherever that interface is implemented.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr std::uint32_t count = 1u << 20;
constexpr std::uint32_t blocks = 8;
constexpr std::size_t bytes = count * sizeof(float);

void check(aclError code, const char* call) {
    if (code == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s failed with %d\n%s\n", call, code, text ? text : "");
    std::exit(1);
}
#define CHECK(call) check((call), #call)

void* device_copy(const std::vector<float>& values) {
    void* memory = nullptr;
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

template <class T>
void append(aclrtArgsHandle arguments, T value) {
    aclrtParamHandle parameter = nullptr;
    CHECK(aclrtKernelArgsAppend(arguments, &value, sizeof(value), &parameter));
}

}  // namespace

int main(int argc, char** argv) {
    const char* image = argc > 1 ? argv[1] : "./fatbin/add/add.o";
    std::vector<float> x(count), y(count), sum(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = static_cast<float>(2 * i + 1);
    }

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    void* device_x = device_copy(x);
    void* device_y = device_copy(y);
    void* device_sum = nullptr;
    CHECK(aclrtMalloc(&device_sum, bytes, ACL_MEM_MALLOC_HUGE_FIRST));

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

    CHECK(aclrtMemcpy(sum.data(), bytes, device_sum, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
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
