// SPDX-License-Identifier: Apache-2.0
// Random numbers generated in stream order.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

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

class MemoryRandomCall : public DeviceTest {
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

class MemoryRandom : public MemoryRandomCall {
protected:
    void SetUp() override {
        MemoryRandomCall::SetUp();
        if (!device_computes()) GTEST_SKIP();
    }
};

// ---- the numbers, made one after the other on the host -------------------------------------------------------------

struct Generator {
    uint64_t seed, low, high;
    uint32_t block[4] = {};
    int used = 4;

    uint64_t next() {
        if (used == 4) {
            uint32_t x[4] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                             static_cast<uint32_t>(high >> 32)};
            auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
            for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
                const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
                const uint32_t y[4] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
                                       static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
                std::memcpy(x, y, sizeof(x));
            }
            std::memcpy(block, x, sizeof(x));
            if (++low == 0) ++high;
            used = 0;
        }
        return block[used++];
    }
    double unit() {
        const uint64_t upper = next() >> 5, lower = next() >> 6;
        return static_cast<double>(upper << 26 | lower) * 0x1p-53;
    }
    std::pair<double, double> normal() {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - unit())), angle = 2.0 * M_PI * unit();
        return {radius * std::cos(angle), radius * std::sin(angle)};
    }
};

std::vector<float> expected_floats(Generator& generator, aclrtRandomNumFuncType function, size_t wanted, double first,
                                   double second) {
    std::vector<float> values;
    const auto add = [&](double number) {
        if (function == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS && std::fabs(number) > 2) return;
        if (values.size() < wanted) values.push_back(static_cast<float>(first + second * number));
    };
    while (values.size() < wanted) {
        if (function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS) {
            values.push_back(static_cast<float>(first + (second - first) * generator.unit()));
            continue;
        }
        const auto [one, other] = generator.normal();
        add(one);
        add(other);
    }
    return values;
}

uint16_t brain_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Counts around the numbers that are made at a time, and enough for several blocks.
constexpr uint64_t largest = 40001, counts[] = {0, 1, 2, 3, 15, 16, 17, 127, 128, 129, largest};

TEST_F(MemoryRandom, NumbersAreThoseOfTheGenerator) {
    auto* result = static_cast<char*>(device_memory(8 * largest + 16));
    auto* counter = static_cast<char*>(device_memory(32));
    info_.randomResultAddr = result + 3;  // no alignment is needed
    info_.randomCounterAddr = counter + 5;
    const auto draw = [&](auto sample, uint64_t wanted, uint64_t elements) {
        const uint64_t start[2] = {UINT64_MAX - 20, 6};
        EXPECT_ACL_OK(aclrtMemset(result, 8 * largest + 16, 0x77, 8 * largest + 16));
        EXPECT_ACL_OK(aclrtMemcpy(counter + 5, 16, start, 16, ACL_MEMCPY_HOST_TO_DEVICE));
        info_.randomNum = by_value(wanted);
        std::vector<char> bytes;
        EXPECT_ACL_OK(aclrtRandomNumAsync(&info_, stream_, nullptr));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        bytes = read_back(result, 3 + elements * sizeof(sample) + 1);
        EXPECT_EQ(bytes.front(), 0x77);
        EXPECT_EQ(bytes.back(), 0x77);
        std::vector<decltype(sample)> values(elements);
        if (elements != 0) std::memcpy(values.data(), bytes.data() + 3, elements * sizeof(sample));
        return values;
    };
    const auto expect_counter = [&](const Generator& generator) {
        uint64_t end[2] = {};
        EXPECT_ACL_OK(aclrtMemcpy(end, 16, counter + 5, 16, ACL_MEMCPY_DEVICE_TO_HOST));
        EXPECT_EQ(end[0], generator.low);
        EXPECT_EQ(end[1], generator.high);
    };
    for (const uint64_t wanted : counts) {
        const Generator start{1234, UINT64_MAX - 20, 6};
        for (const auto function : {ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS,
                                    ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS}) {
            Generator generator = start;
            const std::vector<float> expected = expected_floats(generator, function, wanted, -1.5, 2.25);
            info_.dataType = ACL_FLOAT;
            set_function(function, by_value(-1.5f), by_value(2.25));
            EXPECT_TRUE(draw(float{}, wanted, wanted) == expected) << "function " << function << ", " << wanted;
            expect_counter(generator);
            info_.dataType = ACL_BF16;
            std::vector<uint16_t> brains;
            for (float value : expected) brains.push_back(brain_of(value));
            EXPECT_TRUE(draw(uint16_t{}, wanted, wanted) == brains) << "function " << function << ", " << wanted;
            expect_counter(generator);
        }
        Generator generator = start;
        std::vector<int32_t> words;
        for (uint64_t i = 0; i < wanted; ++i) {
            const uint64_t high = generator.next(), low = generator.next();
            words.push_back(static_cast<int32_t>(-5 + static_cast<int64_t>((high << 32 | low) % 1000003)));
        }
        info_.dataType = ACL_INT32;
        set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(int32_t{-5}), by_value(int32_t{999998}));
        EXPECT_TRUE(draw(int32_t{}, wanted, wanted) == words) << wanted;
        expect_counter(generator);
        generator = start;
        std::vector<uint64_t> longs;
        for (uint64_t i = 0; i < wanted; ++i) {
            const uint64_t high = generator.next(), low = generator.next();
            longs.push_back(7 + (high << 32 | low) % (UINT64_MAX - 9));
        }
        info_.dataType = ACL_UINT64;
        set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_value(uint64_t{7}), by_value(UINT64_MAX - 2));
        EXPECT_TRUE(draw(uint64_t{}, wanted, wanted) == longs) << wanted;
        generator = start;
        std::vector<uint8_t> mask((wanted + 7) / 8);
        for (uint64_t i = 0; i < wanted; ++i)
            mask[i / 8] = static_cast<uint8_t>(mask[i / 8] | (generator.unit() < 0.375 ? 1 : 0) << i % 8);
        info_.dataType = ACL_FLOAT;
        set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, by_value(0.375f), {});
        EXPECT_TRUE(draw(uint8_t{}, wanted, mask.size()) == mask) << wanted;
        expect_counter(generator);
    }
}

TEST_F(MemoryRandom, TheNumbersMayBeWrittenOverTheParameters) {
    constexpr uint64_t many = 100000;
    struct Parameters {
        float first, second;
        uint64_t seed, count, counter[2];
    };
    Generator generator{99, 5, 0};
    std::vector<float> expected = expected_floats(generator, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, many, 3, 4);
    auto* memory = static_cast<char*>(device_memory(4 * many));
    auto* parameters = reinterpret_cast<Parameters*>(memory + 2 * many);
    const Parameters values = {3, 4, 99, many, {5, 0}};
    ASSERT_ACL_OK(aclrtMemcpy(parameters, sizeof(values), &values, sizeof(values), ACL_MEMCPY_HOST_TO_DEVICE));
    set_function(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, by_address(&parameters->first, 4),
                 by_address(&parameters->second, 4));
    info_.randomSeed = by_address(&parameters->seed, 8);
    info_.randomNum = by_address(&parameters->count, 8);
    info_.randomResultAddr = memory;
    info_.randomCounterAddr = parameters->counter;
    const uint64_t end[2] = {5 + many / 2, 0};
    std::memcpy(reinterpret_cast<char*>(expected.data()) + 2 * many + offsetof(Parameters, counter), end, sizeof(end));
    EXPECT_TRUE(run<float>(many) == expected);
}

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

TEST_F(MemoryRandomCall, ArgumentsAreChecked) {
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
    EXPECT_ACL_OK(aclrtRandomNumAsync(&good, stream_, nullptr));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

}  // namespace
}  // namespace conformance
