// SPDX-License-Identifier: Apache-2.0
// The conversions of the C interface on registers, those of numbers of 8 bits and less apart from the others: each runs
// once, and the host expects what its name says about types, rounding, saturation and place.
#ifndef CANOPY_TESTS_LANGUAGE_C_INTERFACE_CONVERSIONS_H
#define CANOPY_TESTS_LANGUAGE_C_INTERFACE_CONVERSIONS_H

#include <cmath>

#include "c_interface_registers.h"

namespace c_interface_test {

// Which numbers a conversion gets: of moderate size (0), of any size (1), or whole ones that hifloat8_t has (2).
template <class D, class S>
constexpr uint32_t area_for = std::is_same_v<D, hifloat8_t>                ? 2
                              : type_index<D> >= 11 && type_index<D> <= 16 ? 0
                                                                           : 1;

// A separate function, since a kernel of hundreds of conversions has a large stack.
template <class D, class S, class Call>
__attribute__((noinline)) __aicore__ void convert(Slots& slots, const vector_bool& mask, const Call& call) {
    Register<D> d = {};
    call(d, slots.input<S>(area_for<D, S>), mask);
    slots.keep(d);
}

template <bool small>
struct Conversions {
    __aicore__ void run(GM_ADDR memory) const {
        Slots slots{memory};
        const vector_bool all = asc_create_mask_b8(PAT_ALL);
#define CANOPY_C_CONVERSION(name, D, S, rounding, saturation, layout)    \
    if constexpr ((type_index<D> >= 11 || type_index<S> >= 11) == small) \
        convert<D, S>(slots, all, [](auto& d, const auto& s, const auto& mask) { name(d, s, mask); });
#define CANOPY_C_UNARY(...)
#define CANOPY_C_BINARY(...)
#define CANOPY_C_SCALAR(...)
#define CANOPY_C_SHIFT(...)
#define CANOPY_C_SHIFT_SCALAR(...)
#define CANOPY_C_TRUNCATION(...)
#define CANOPY_C_REDUCTION(...)
#define CANOPY_C_COMPARISON(...)
#define CANOPY_C_COMPARISON_SCALAR(...)
#define CANOPY_C_LOAD(...)
#define CANOPY_C_LOAD_UPDATE(...)
#define CANOPY_C_STORE(...)
#define CANOPY_C_STORE_UPDATE(...)
#include <canopy_kernel/c_interface/register_names.h>
#undef CANOPY_C_CONVERSION
    }
};

template <class T>
void fill_inputs(std::vector<uint8_t>& memory) {
    for (uint32_t area = 0; area < 3; ++area)
        for (uint32_t i = 0; i < register_bytes / sizeof(T); ++i) {
            const int step = static_cast<int>(i * 37 % 63) - 31;
            uint8_t* at = memory.data() + area * area_bytes + type_index<T> * register_bytes + i * sizeof(T);
            T value;
            if constexpr (type_index<T> >= 11) {
                value = T{};
                std::memset(static_cast<void*>(&value), static_cast<int>(i * 7 + 3) & 255, 1);
            } else if constexpr (std::is_integral_v<T>) {
                const int64_t wide = static_cast<int64_t>(i + 1) * (sizeof(T) == 8 ? 1299709ll * 8191 : 2654435761ll);
                value = static_cast<T>(i % 4 == 0 ? step : i % 2 == 0 ? wide : -wide);
            } else {
                constexpr double big[] = {40000.5, -70000.25, 3e9, -1e30, 300.5, -129, 32768.5, 2147483648.0};
                double number = area == 0 ? step * 0.1875 : area == 2 ? step / 2 : step * 0.25 + (i % 3) * 0.0625;
                if (area == 1 && i % 5 == 4) number = big[i / 5 % 8];
                if (area == 1 && i == 10) number = NAN;
                if (area == 1 && i == 20) number = INFINITY;
                if (area == 1 && i == 30) number = -INFINITY;
                value = static_cast<T>(static_cast<float>(number));
            }
            std::memcpy(at, &value, sizeof value);
        }
}

struct Meaning {
    AscendC::RoundMode mode = AscendC::RoundMode::CAST_RINT;
    bool saturates = false;
    uint32_t place = 0;

    explicit Meaning(const std::string& name) {
        using AscendC::RoundMode;
        const auto has = [&](const std::string& part) { return (name + "_").find(part + "_") != std::string::npos; };
        if (has("_rna") || has("_rh")) mode = RoundMode::CAST_ROUND;
        if (has("_rd")) mode = RoundMode::CAST_FLOOR;
        if (has("_ru")) mode = RoundMode::CAST_CEIL;
        if (has("_rz")) mode = RoundMode::CAST_TRUNC;
        if (has("_ro")) mode = RoundMode::CAST_ODD;
        saturates = has("_sat");
        for (uint32_t i = 2; i < 5; ++i)
            if (has("_v" + std::to_string(i))) place = i - 1;
    }
};

template <class T>
const reference::Format& small_format() {
    static const reference::Format format(canopy::kernel::packing<T> == 2 ? 16 : 256, [](uint32_t code) {
        const auto byte = static_cast<uint8_t>(code);
        return value_of<T>(&byte, 0);
    });
    return format;
}

// Numbers that are right: one, or two where a directed rounding passes the largest number.
template <class D>
bool is_conversion(double got, long double exact, const Meaning& meaning) {
    if constexpr (std::is_integral_v<D> || std::is_same_v<D, int4b_t>) {
        constexpr bool tiny = std::is_same_v<D, int4b_t>;
        using Limits = std::numeric_limits<std::conditional_t<tiny, int8_t, D>>;
        const int64_t low = tiny ? -8 : static_cast<int64_t>(Limits::min());
        const int64_t high = tiny ? 7 : static_cast<int64_t>(Limits::max());
        int64_t want = reference::to_integer(exact, meaning.mode, meaning.saturates ? low : INT64_MIN,
                                             meaning.saturates ? high : INT64_MAX);
        if (std::isinf(static_cast<double>(exact))) {
            if (tiny && !meaning.saturates) return true;  // limits of an integer that is cut to four bits
            want = exact > 0 ? high : low;
        }
        if (!meaning.saturates) {
            if (std::fabs(static_cast<double>(exact)) > 9e18 && std::isfinite(static_cast<double>(exact)))
                want = static_cast<int64_t>(std::fmod(exact, 18446744073709551616.0L) == 0 ? 0 : want);
            if (tiny)
                want = ((want & 15) ^ 8) - 8;
            else
                want = static_cast<int64_t>(static_cast<std::conditional_t<tiny, int8_t, D>>(want));
        }
        return got == static_cast<double>(want);
    } else if constexpr (type_index<D> >= 11) {
        const auto code = static_cast<uint8_t>(small_format<D>().encode(exact, meaning.mode));
        return got == value_of<D>(&code, 0);
    } else {
        const double value = static_cast<double>(exact);
        const double largest = std::is_same_v<D, half>         ? 65504.0
                               : std::is_same_v<D, bfloat16_t> ? reference::bfloat16_format().largest()
                                                               : static_cast<double>(FLT_MAX);
        if (std::isnan(value)) return meaning.saturates ? got == 0 : std::isnan(got);
        if (std::isinf(value)) return got == (meaning.saturates ? std::copysign(largest, value) : value);
        if (std::fabs(value) > largest) {
            if (meaning.saturates) return got == std::copysign(largest, value);
            return std::isinf(got) || std::fabs(got) == largest;
        }
        if constexpr (std::is_same_v<D, float>) {
            if (std::fabs(value) > 9e18 || std::floor(value) != value) return got == value;
            return got == double{reference::to_float(static_cast<int64_t>(exact), meaning.mode)};
        } else {
            const auto& format = std::is_same_v<D, half> ? reference::half_format() : reference::bfloat16_format();
            const auto code = static_cast<uint16_t>(format.encode(exact, meaning.mode));
            return got == static_cast<double>(__builtin_bit_cast(D, code));
        }
    }
}

struct Host {
    const std::vector<uint8_t>& memory;
    uint32_t next = 0;

    template <class D, class S>
    void expect(const std::string& name) {
        const uint8_t* got = memory.data() + results_at + next++ * register_bytes;
        const uint8_t* source = memory.data() + area_for<D, S> * area_bytes + type_index<S> * register_bytes;
        const Meaning meaning(name);
        constexpr bool pairs = canopy::kernel::packing<D> == 2 || canopy::kernel::packing<S> == 2;
        constexpr uint64_t wide = std::max(sizeof(D), sizeof(S)), narrow = std::min(sizeof(D), sizeof(S));
        constexpr uint64_t ratio = wide / narrow;
        const uint64_t wides = register_bytes / wide;
        std::vector<bool> written(register_bytes);
        for (uint64_t i = 0; i < wides; ++i) {
            // The narrow element that belongs to a wide one; of 4-bit numbers, two share a byte of every four.
            const uint64_t other = pairs ? (i / 2 * 4 + meaning.place) * 2 + i % 2 : i * ratio + meaning.place;
            const uint64_t to = sizeof(D) == wide ? i : other, from = sizeof(S) == wide ? i : other;
            const uint64_t byte = canopy::kernel::packing<D> == 2 ? to / 2 : to * sizeof(D);
            for (uint64_t b = 0; b < sizeof(D); ++b) written[byte + b] = true;
            long double exact = value_of<S>(source, from);
            if constexpr (std::is_integral_v<S>) {
                S number;
                std::memcpy(&number, source + from * sizeof(S), sizeof number);
                exact = static_cast<long double>(number);
            }
            ASSERT_TRUE(is_conversion<D>(value_of<D>(got, to), exact, meaning))
                << name << ": element " << to << " is " << value_of<D>(got, to) << ", from element " << from << ", "
                << static_cast<double>(exact);
        }
        for (uint64_t b = 0; b < register_bytes; ++b)
            if (!written[b]) ASSERT_EQ(got[b], 0) << name << ", byte " << b;
    }
};

inline std::vector<uint8_t> inputs() {
    std::vector<uint8_t> memory(results_at + 512 * register_bytes);
    fill_inputs<int8_t>(memory);
    fill_inputs<uint8_t>(memory);
    fill_inputs<int16_t>(memory);
    fill_inputs<uint16_t>(memory);
    fill_inputs<int32_t>(memory);
    fill_inputs<uint32_t>(memory);
    fill_inputs<int64_t>(memory);
    fill_inputs<half>(memory);
    fill_inputs<bfloat16_t>(memory);
    fill_inputs<float>(memory);
    fill_inputs<hifloat8_t>(memory);
    fill_inputs<fp8_e5m2_t>(memory);
    fill_inputs<fp8_e4m3fn_t>(memory);
    fill_inputs<fp4x2_e2m1_t>(memory);
    fill_inputs<fp4x2_e1m2_t>(memory);
    fill_inputs<int4b_t>(memory);
    return memory;
}

template <bool small>
void expect_conversions(uint32_t at_least) {
    std::vector<uint8_t> memory = inputs();
    ASSERT_EQ(run_on_core(Conversions<small>{}, memory), "");
    Host host{memory};
#define CANOPY_C_CONVERSION(name, D, S, rounding, saturation, layout) \
    if constexpr ((type_index<D> >= 11 || type_index<S> >= 11) == small) host.expect<D, S>(#name);
#include <canopy_kernel/c_interface/register_names.h>
    EXPECT_GT(host.next, at_least);
}

}  // namespace c_interface_test

#endif
