// SPDX-License-Identifier: Apache-2.0
// Random numbers generated in stream order.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

constexpr uint64_t count = 20000;

template <class T>
aclrtRandomParaInfo by_value(T value) {
    aclrtRandomParaInfo parameter = {};
    parameter.size = sizeof(value);
    std::memcpy(parameter.valueOrAddr, &value, sizeof(value));
    return parameter;
}

aclrtRandomParaInfo by_address(const void* address, uint8_t size) {
    aclrtRandomParaInfo parameter = by_value(reinterpret_cast<uint64_t>(address));
    parameter.isAddr = 1;
    parameter.size = size;
    return parameter;
}

class MemoryRandom : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        info_.dataType = ACL_FLOAT;
        info_.randomResultAddr = device_memory(count * 8);
        info_.randomCounterAddr = device_memory(16);
        info_.randomSeed = by_value(uint64_t{1234});
        info_.randomNum = by_value(count);
        set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(2.0f), by_value(4.0f));
        ASSERT_ACL_OK(aclrtMemset(info_.randomCounterAddr, 16, 0, 16));
    }
    void set_function(aclrtRandomNumFuncType type, aclrtRandomParaInfo first, aclrtRandomParaInfo second) {
        info_.randomNumFuncParaInfo.funcType = type;
        info_.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {first, second};
    }
    template <class T>
    std::vector<T> run(size_t elements = count) {
        EXPECT_ACL_OK(aclrtRandomNumAsync(&info_, stream_, nullptr));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(static_cast<T*>(info_.randomResultAddr), elements);
    }
    static double mean(const std::vector<float>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }
    static double deviation(const std::vector<float>& values) {
        double sum = 0;
        for (float value : values) sum += (value - mean_of_) * (value - mean_of_);
        return std::sqrt(sum / static_cast<double>(values.size()));
    }
    static constexpr double mean_of_ = 1.0;
    aclrtRandomNumTaskInfo info_ = {};
};

TEST_F(MemoryRandom, UniformNumbersFillTheirRange) {
    const std::vector<float> values = run<float>();
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 2.0f);
    EXPECT_LE(*std::max_element(values.begin(), values.end()), 4.0f);
    EXPECT_NEAR(mean(values), 3.0, 0.05);
}

TEST_F(MemoryRandom, CounterAndSeedDecideTheNumbers) {
    const std::vector<float> first = run<float>(), second = run<float>();
    EXPECT_NE(first, second);  // the counter has advanced
    ASSERT_ACL_OK(aclrtMemset(info_.randomCounterAddr, 16, 0, 16));
    EXPECT_EQ(run<float>(), first);
    ASSERT_ACL_OK(aclrtMemset(info_.randomCounterAddr, 16, 0, 16));
    info_.randomSeed = by_value(uint64_t{4321});
    EXPECT_NE(run<float>(), first);
}

TEST_F(MemoryRandom, ParametersMayLieInDeviceMemory) {
    const std::vector<float> expected = run<float>();
    ASSERT_ACL_OK(aclrtMemset(info_.randomCounterAddr, 16, 0, 16));
    auto* bounds = device_array<float>({2.0f, 4.0f});
    auto* numbers = device_array<uint64_t>({1234, count});
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_address(bounds, 4), by_address(bounds + 1, 4));
    info_.randomSeed = by_address(numbers, 8);
    info_.randomNum = by_address(numbers + 1, 8);
    EXPECT_EQ(run<float>(), expected);
}

TEST_F(MemoryRandom, NormalNumbersHaveTheirMeanAndDeviation) {
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, by_value(1.0f), by_value(0.5f));
    const std::vector<float> values = run<float>();
    EXPECT_NEAR(mean(values), 1.0, 0.03);
    EXPECT_NEAR(deviation(values), 0.5, 0.03);
    EXPECT_GT(*std::max_element(values.begin(), values.end()), 2.0f);
}

TEST_F(MemoryRandom, TruncatedNumbersStayWithinTwoDeviations) {
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS, by_value(1.0f), by_value(0.5f));
    const std::vector<float> values = run<float>();
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0f);
    EXPECT_LE(*std::max_element(values.begin(), values.end()), 2.0f);
    EXPECT_NEAR(mean(values), 1.0, 0.03);
}

TEST_F(MemoryRandom, MaskHasTheShareOfOnesAndNoBitMore) {
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, by_value(0.25f), {});
    constexpr uint64_t bits = 10001;
    info_.randomNum = by_value(bits);
    ASSERT_ACL_OK(aclrtMemset(info_.randomResultAddr, 2000, 0xFF, 2000));
    const std::vector<uint8_t> bytes = run<uint8_t>(1252);
    int ones = 0;
    for (size_t index = 0; index < 1251; ++index) ones += __builtin_popcount(bytes[index]);
    EXPECT_NEAR(ones / static_cast<double>(bits), 0.25, 0.03);
    EXPECT_EQ(bytes[1250] & 0xFE, 0);
    EXPECT_EQ(bytes[1251], 0xFF);
}

TEST_F(MemoryRandom, SmallFloatsAndIntegersAreMadeToo) {
    info_.dataType = ACL_FLOAT16;
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(uint16_t{0x3C00}), by_value(uint16_t{0x4000}));
    for (uint16_t half : run<uint16_t>()) ASSERT_TRUE(half >= 0x3C00 && half <= 0x4000);  // 1.0 to 2.0
    info_.dataType = ACL_BF16;
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(uint16_t{0x3F80}), by_value(uint16_t{0x4000}));
    for (uint16_t brain : run<uint16_t>()) ASSERT_TRUE(brain >= 0x3F80 && brain <= 0x4000);
    info_.dataType = ACL_INT32;
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(int32_t{-5}), by_value(int32_t{5}));
    for (int32_t number : run<int32_t>()) ASSERT_TRUE(number >= -5 && number < 5);
    info_.dataType = ACL_INT64;
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(int64_t{-5}), by_value(int64_t{5}));
    for (int64_t number : run<int64_t>()) ASSERT_TRUE(number >= -5 && number < 5);
}

TEST_F(MemoryRandom, ACountThatIsTooLargeWhenTheTaskRunsFailsTheStream) {
    info_.randomNum = by_address(device_array<uint64_t>({uint64_t{1} << 40}), 8);
    ASSERT_ACL_OK(aclrtRandomNumAsync(&info_, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "random", aclrtSynchronizeStream(stream_));
}

TEST_F(MemoryRandom, ArgumentsAreChecked) {
    const aclrtRandomNumTaskInfo good = info_;
    int local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "taskInfo", aclrtRandomNumAsync(nullptr, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserve", aclrtRandomNumAsync(&info_, stream_, &local));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtRandomNumAsync(&info_, &local, nullptr));
    info_.randomResultAddr = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "randomResultAddr", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.randomCounterAddr = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "randomCounterAddr", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.dataType = ACL_DOUBLE;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataType", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.randomNumFuncParaInfo.funcType = static_cast<aclrtRandomNumFuncType>(9);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "funcType", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.dataType = ACL_INT32;
    info_.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataType", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.randomNum = by_value(count * 1000);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "randomResultAddr", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.randomSeed.size = 9;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "randomSeed", aclrtRandomNumAsync(&info_, stream_, nullptr));
    info_ = good;
    info_.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max.size = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "paramInfo", aclrtRandomNumAsync(&info_, stream_, nullptr));
}

}  // namespace
}  // namespace conformance
