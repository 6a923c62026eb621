// SPDX-License-Identifier: Apache-2.0
// Reductions in stream order, compared bit by bit with the same arithmetic on the host.
#include <cmath>
#include <limits>
#include <type_traits>

#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

constexpr aclrtReduceKind sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, maximum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                          minimum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, equal = ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL;

// ---- the same arithmetic on the host -------------------------------------------------------------------------------

float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

// The elements of a type as they are stored.
template <class T>
struct Plain {
    using Stored = T;
    static T load(T value) { return value; }
    static T store(T value) { return value; }
};

struct HalfFloat {
    using Stored = uint16_t;
    static float load(uint16_t bits) {
        const float sign = bits & 0x8000 ? -1.0f : 1.0f;
        const int exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
        if (exponent == 31)
            return mantissa ? float_of((bits & 0x8000u) << 16 | 0x7FC00000u)
                            : sign * std::numeric_limits<float>::infinity();
        return sign * (exponent ? std::ldexp(1024.0f + static_cast<float>(mantissa), exponent - 25)
                                : std::ldexp(static_cast<float>(mantissa), -24));
    }
    static uint16_t store(float value) {
        const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
        if (std::isnan(value)) return sign | 0x7E00;
        const float size = std::fabs(value);
        if (size >= 65520.0f) return sign | 0x7C00;
        int exponent = 0;
        std::frexp(size, &exponent);
        if (size == 0 || exponent < -13) return static_cast<uint16_t>(sign + std::nearbyint(std::ldexp(size, 24)));
        const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(size, 11 - exponent)));  // 1024 to 2048
        return static_cast<uint16_t>(sign + ((exponent + 13) << 10) + mantissa);
    }
};

struct BrainFloat {
    using Stored = uint16_t;
    static float load(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }
    static uint16_t store(float value) {
        const uint32_t bits = bits_of(value);
        if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
        const uint32_t below = bits & 0xFFFF, up = below > 0x8000 || (below == 0x8000 && (bits >> 16 & 1)) ? 1 : 0;
        return static_cast<uint16_t>((bits >> 16) + up);
    }
};

float quiet_nan(float preferred, float other) {
    return float_of(bits_of(std::isnan(preferred) ? preferred : other) | 0x400000);
}

// A sum of two NaN is the one of dst, for bfloat16 the one of src.
template <class T>
T combined(aclrtReduceKind kind, T a, T b, [[maybe_unused]] bool brain) {
    if (kind == maximum) return a < b ? b : a;
    if (kind == minimum) return b < a ? b : a;
    if (kind == equal) return static_cast<T>(a == b);
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    else
        return std::isnan(a) || std::isnan(b) ? (brain ? quiet_nan(b, a) : quiet_nan(a, b)) : a + b;
}

template <class Format>
using Stored = typename Format::Stored;

// ---- tests ---------------------------------------------------------------------------------------------------------

class MemoryReduce : public CaptureTest {
protected:
    // Every pair of `special` bit patterns first, then random ones.
    template <class Format>
    void make(size_t count, const std::vector<uint32_t>& special, std::vector<Stored<Format>>& left,
              std::vector<Stored<Format>>& right) {
        left.resize(count);
        right.resize(count);
        uint64_t random = count;
        for (size_t i = 0; i < count; ++i) {
            const bool pairs = i < special.size() * special.size();
            random = random * 6364136223846793005u + 1442695040888963407u;
            const uint32_t one = pairs ? special[i / special.size()] : static_cast<uint32_t>(random >> 32);
            const uint32_t other = pairs ? special[i % special.size()] : static_cast<uint32_t>(random >> 16);
            std::memcpy(&left[i], &one, sizeof(left[i]));
            std::memcpy(&right[i], &other, sizeof(right[i]));
        }
    }
    // Reduces `count` elements at an address that is `shift` bytes off, and checks them and the bytes around them.
    template <class Format>
    void check(aclDataType type, aclrtReduceKind kind, size_t count, size_t shift,
               const std::vector<uint32_t>& special) {
        std::vector<Stored<Format>> left, right;
        make<Format>(count, special, left, right);
        const size_t bytes = count * sizeof(Stored<Format>);
        auto* to = static_cast<char*>(device_memory(bytes + 64));
        auto* from = static_cast<char*>(device_memory(bytes + 64));
        ASSERT_ACL_OK(aclrtMemset(to, bytes + 64, 0x5A, bytes + 64));
        ASSERT_ACL_OK(aclrtMemcpy(to + shift, bytes, left.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL_OK(aclrtMemcpy(from, bytes, right.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL_OK(aclrtReduceAsync(to + shift, from, bytes, kind, type, stream_, nullptr));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (!device_computes()) return;
        const std::vector<char> after = read_back(to, bytes + 64);
        for (size_t i = 0; i < shift; ++i) ASSERT_EQ(after[i], 0x5A);
        for (size_t i = shift + bytes; i < after.size(); ++i) ASSERT_EQ(after[i], 0x5A);
        for (size_t i = 0; i < count; ++i) {
            const Stored<Format> expected =
                Format::store(combined(kind, Format::load(left[i]), Format::load(right[i]), type == ACL_BF16));
            Stored<Format> found;
            std::memcpy(&found, &after[shift + i * sizeof(found)], sizeof(found));
            if (std::memcmp(&found, &expected, sizeof(found)) != 0)
                FAIL() << "type " << type << ", kind " << kind << ", " << count << " elements, element " << i;
        }
    }
    template <class Format>
    void check_all(aclDataType type, const std::vector<uint32_t>& special) {
        for (const aclrtReduceKind kind : {sum, maximum, minimum, equal})
            for (const size_t count : {size_t{1}, size_t{63}, special.size() * special.size() + 129})
                for (const size_t shift : {size_t{0}, size_t{1}, size_t{6}})
                    check<Format>(type, kind, count, shift, special);
    }
};

TEST_F(MemoryReduce, EveryKindAndTypeAtEveryAddress) {
    const std::vector<uint32_t> integers = {0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000};
    check_all<Plain<int8_t>>(ACL_INT8, integers);
    check_all<Plain<int16_t>>(ACL_INT16, integers);
    check_all<Plain<int32_t>>(ACL_INT32, integers);
    check_all<Plain<float>>(ACL_FLOAT, {0, 0x80000000, 1, 0x007FFFFF, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000,
                                        0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345});
    check_all<HalfFloat>(ACL_FLOAT16, {0, 0x8000, 1, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x3BFF, 0x7BFF, 0xFBFF, 0x7C00,
                                       0xFC00, 0x7E00, 0x7C01, 0xFE12});
    check_all<BrainFloat>(ACL_BF16, {0, 0x8000, 1, 0x007F, 0x0080, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
                                     0x7FC0, 0x7F81, 0xFFD2});
}

TEST_F(MemoryReduce, LargeOnesAreSharedByBlocks) {
    check<Plain<float>>(ACL_FLOAT, sum, 140001, 4, {});
    check<Plain<int8_t>>(ACL_INT8, maximum, 800003, 3, {});
}

TEST_F(MemoryReduce, RangesMayOverlap) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t count = 300000;
    std::vector<int32_t> values(count + 1);
    for (size_t i = 0; i <= count; ++i) values[i] = static_cast<int32_t>(i * 7919 % 1000);
    // dst behind src: every sum is part of the next one.
    auto* words = device_array(values);
    ASSERT_ACL_OK(aclrtReduceAsync(words + 1, words, count * 4, sum, ACL_INT32, stream_, nullptr));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    std::vector<int32_t> expected = values;
    for (size_t i = 0; i < count; ++i) expected[i + 1] += expected[i];
    EXPECT_EQ(read_back(words, count + 1), expected);
    // dst before src, and both the same.
    words = device_array(values);
    ASSERT_ACL_OK(aclrtReduceAsync(words, words + 1, count * 4, sum, ACL_INT32, stream_, nullptr));
    ASSERT_ACL_OK(aclrtReduceAsync(words, words, count * 4, sum, ACL_INT32, stream_, nullptr));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    expected = values;
    for (size_t i = 0; i < count; ++i) expected[i] = 2 * (expected[i] + expected[i + 1]);
    EXPECT_EQ(read_back(words, count + 1), expected);
}

TEST_F(MemoryReduce, HappenInTheOrderOfTheirStreams) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t count = 200000;  // three blocks
    auto* one = device_array(std::vector<int32_t>(count, 1));
    auto* to = device_array(std::vector<int32_t>(count, 0));
    aclrtEvent done = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&done));
    for (int round = 0; round < 10; ++round) {
        ASSERT_ACL_OK(aclrtReduceAsync(to, one, count * 4, sum, ACL_INT32, stream_, nullptr));
        ASSERT_ACL_OK(aclrtReduceAsync(to, to, count * 4, sum, ACL_INT32, stream_, nullptr));
    }
    ASSERT_ACL_OK(aclrtRecordEvent(done, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, done));
    ASSERT_ACL_OK(aclrtReduceAsync(to, one, count * 4, maximum, ACL_INT32, other_, nullptr));
    ASSERT_ACL_OK(aclrtReduceAsync(to, one, count * 4, sum, ACL_INT32, other_, nullptr));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(read_back(to, count), std::vector<int32_t>(count, 2047));
    ASSERT_ACL_OK(aclrtDestroyEvent(done));
}

TEST_F(MemoryReduce, AGraphRepeatsThemAndShowsThemAsWhatTheyAre) {
    constexpr size_t count = 200000;
    auto* one = device_array(std::vector<int32_t>(count, 1));
    auto* to = device_array(std::vector<int32_t>(count, 0));
    begin();
    ASSERT_ACL_OK(aclrtReduceAsync(to, one, count * 4, sum, ACL_INT32, stream_, nullptr));
    ASSERT_ACL_OK(aclrtReduceAsync(to, one, 4, sum, ACL_INT32, stream_, nullptr));
    aclmdlRI graph = end();
    for (int round = 0; round < 3; ++round) replay(graph, stream_);
    if (device_computes()) {
        const std::vector<int32_t> values = read_back(to, count);
        EXPECT_EQ(values[0], 6);
        EXPECT_EQ(std::vector<int32_t>(values.begin() + 1, values.end()), std::vector<int32_t>(count - 1, 3));
    }
    aclrtStream lane = nullptr;
    uint32_t lanes = 1, count_of_tasks = 2;
    aclmdlRITask tasks[2] = {};
    ASSERT_ACL_OK(aclmdlRIGetStreams(graph, &lane, &lanes));
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(lane, tasks, &count_of_tasks));
    aclmdlRITaskType type = ACL_MODEL_RI_TASK_KERNEL;
    ASSERT_ACL_OK(aclmdlRITaskGetType(tasks[0], &type));
    EXPECT_EQ(type, ACL_MODEL_RI_TASK_DEFAULT);
    aclrtLaunchKernelAttrValue value = {};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not a kernel",
                     aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value));
}

TEST_F(MemoryReduce, ArgumentsAreChecked) {
    void *dst = device_memory(64), *src = device_memory(64);
    char local[64] = {};
    const auto sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst",
                     aclrtReduceAsync(nullptr, src, 64, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src",
                     aclrtReduceAsync(dst, nullptr, 64, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", aclrtReduceAsync(dst, src, 0, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserve",
                     aclrtReduceAsync(dst, src, 64, sum, ACL_INT32, stream_, local));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind",
                     aclrtReduceAsync(dst, src, 64, static_cast<aclrtReduceKind>(14), ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type",
                     aclrtReduceAsync(dst, src, 64, sum, ACL_DOUBLE, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "count",
                     aclrtReduceAsync(dst, src, 63, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "src",
                     aclrtReduceAsync(dst, local, 64, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst",
                     aclrtReduceAsync(dst, src, 4096, sum, ACL_INT32, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream",
                     aclrtReduceAsync(dst, src, 64, sum, ACL_INT32, local, nullptr));
}

}  // namespace
}  // namespace conformance
