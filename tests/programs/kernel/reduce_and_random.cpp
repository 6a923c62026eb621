// SPDX-License-Identifier: Apache-2.0
// Work the device can do without a kernel: sums in memory and random numbers.
#include "check.h"

namespace {

constexpr std::uint64_t count = 5000;

template <class T>
aclrtRandomParaInfo parameter(T value) {
    aclrtRandomParaInfo info = {};
    info.size = sizeof(value);
    std::memcpy(info.valueOrAddr, &value, sizeof(value));
    return info;
}

void reduce(aclrtStream stream) {
    const std::vector<float> values{1, 2, 3, 4};
    float *x = programs::to_device(values), *sum = programs::to_device(values);
    CHECK(aclrtReduceAsync(sum, x, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, nullptr));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE((programs::to_host(sum, 4) == std::vector<float>{2, 4, 6, 8}));
    CHECK(aclrtFree(x));
    CHECK(aclrtFree(sum));
}

double mean_of_uniform(aclrtStream stream) {
    aclrtRandomNumTaskInfo task = {};
    task.dataType = ACL_FLOAT;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {parameter(-1.0f), parameter(3.0f)};
    float* numbers = programs::to_device(std::vector<float>(count, 99));
    task.randomResultAddr = numbers;
    task.randomCounterAddr = programs::to_device(std::vector<std::uint64_t>{0, 0});
    task.randomSeed = parameter(std::uint64_t{7});
    task.randomNum = parameter(count);
    CHECK(aclrtRandomNumAsync(&task, stream, nullptr));
    CHECK(aclrtSynchronizeStream(stream));
    double sum = 0;
    for (const float number : programs::to_host(numbers, count)) {
        REQUIRE(number >= -1 && number <= 3);
        sum += static_cast<double>(number);
    }
    CHECK(aclrtFree(numbers));
    CHECK(aclrtFree(task.randomCounterAddr));
    return sum / count;
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    reduce(stream);
    const double mean = mean_of_uniform(stream);
    REQUIRE(mean > 0.9 && mean < 1.1);
    CHECK(aclrtDestroyStream(stream));
    std::printf("reduce_and_random: mean %.3f\n", mean);
}
