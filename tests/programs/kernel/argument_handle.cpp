// SPDX-License-Identifier: Apache-2.0
// Kernels launched with an argument handle: plain arguments, one handle for several launches, and placeholders whose
// data is passed along with the launch.
#include "check.h"

namespace {

constexpr std::uint32_t count = 10000, blocks = 8;

template <class T>
aclrtParamHandle append(aclrtArgsHandle arguments, T value) {
    aclrtParamHandle parameter = nullptr;
    CHECK(aclrtKernelArgsAppend(arguments, &value, sizeof(value), &parameter));
    return parameter;
}

void add(const programs::Kernels& kernels, aclrtStream stream, float* x, float* y, float* sum) {
    aclrtFuncHandle function = kernels.function("add_vectors");
    aclrtArgsHandle arguments = nullptr;
    CHECK(aclrtKernelArgsInit(function, &arguments));
    append(arguments, x);
    aclrtParamHandle second = append(arguments, y);
    append(arguments, sum);
    append(arguments, count);
    CHECK(aclrtKernelArgsFinalize(arguments));
    CHECK(aclrtLaunchKernelWithConfig(function, blocks, stream, nullptr, arguments, nullptr));
    // Then sum + x into sum, with the same handle.
    CHECK(aclrtKernelArgsParaUpdate(arguments, second, &sum, sizeof(sum)));
    CHECK(aclrtKernelArgsFinalize(arguments));
    CHECK(aclrtLaunchKernelWithConfig(function, blocks, stream, nullptr, arguments, nullptr));
}

void scale(const programs::Kernels& kernels, aclrtStream stream, float* x, std::int32_t factor) {
    aclrtFuncHandle function = kernels.function("scale_vector");
    aclrtArgsHandle arguments = nullptr;
    aclrtParamHandle holders[2] = {};
    CHECK(aclrtKernelArgsInit(function, &arguments));
    append(arguments, x);
    for (aclrtParamHandle& holder : holders) CHECK(aclrtKernelArgsAppendPlaceHolder(arguments, &holder));
    const std::int32_t values[2] = {static_cast<std::int32_t>(count), factor};
    for (int i = 0; i < 2; ++i) {
        void* target = nullptr;
        CHECK(aclrtKernelArgsGetPlaceHolderBuffer(arguments, holders[i], sizeof(values[i]), &target));
        std::memcpy(target, &values[i], sizeof(values[i]));
    }
    CHECK(aclrtKernelArgsFinalize(arguments));
    CHECK(aclrtLaunchKernelWithConfig(function, blocks, stream, nullptr, arguments, nullptr));
}

}  // namespace

int main() {
    programs::Device device;
    std::vector<float> x(count), y(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = static_cast<float>(3 * i + 1);
    }
    aclrtStream stream = programs::new_stream();
    float *device_x = programs::to_device(x), *device_y = programs::to_device(y);
    float* device_sum = programs::to_device(std::vector<float>(count, -1));
    {
        programs::Kernels kernels;
        add(kernels, stream, device_x, device_y, device_sum);
        scale(kernels, stream, device_sum, 2);
        CHECK(aclrtSynchronizeStream(stream));
    }
    const auto sum = programs::to_host(device_sum, count);
    for (std::uint32_t i = 0; i < count; ++i) REQUIRE(sum[i] == 2 * (x[i] + y[i] + x[i]));
    for (float* memory : {device_x, device_y, device_sum}) CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("argument_handle: %u sums\n", count);
}
