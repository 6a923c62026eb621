// SPDX-License-Identifier: Apache-2.0
// A reference for conversions: finds the two numbers of the type that a value lies between. Slow and simple; the tests
// compare the casts of the kernel language with it.
#ifndef CANOPY_TESTS_LANGUAGE_NUMBER_REFERENCE_H
#define CANOPY_TESTS_LANGUAGE_NUMBER_REFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <kernel_operator.h>

namespace reference {

using AscendC::RoundMode;

// Chooses the neighbour below or above a value that is neither. `lower_even`: the code of the lower one ends in 0.
inline bool picks_upper(long double exact, long double lower, long double upper, bool lower_even, RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR:
            return false;
        case RoundMode::CAST_CEIL:
            return true;
        case RoundMode::CAST_TRUNC:
            return exact < 0;
        case RoundMode::CAST_ODD:
            return lower_even;
        default:
            break;
    }
    const long double below = exact - lower, above = upper - exact;
    if (below != above) return above < below;
    return mode == RoundMode::CAST_ROUND ? exact > 0 : !lower_even;
}

// Rounds an exact value to an integer within the limits.
inline int64_t to_integer(long double exact, RoundMode mode, int64_t lowest, int64_t highest) {
    if (std::isnan(exact)) return 0;
    if (exact >= static_cast<long double>(highest)) return highest;
    if (exact <= static_cast<long double>(lowest)) return lowest;
    const long double lower = std::floor(exact);
    if (lower == exact) return static_cast<int64_t>(exact);
    const bool even = std::fmod(lower, 2.0L) == 0;
    const long double chosen = picks_upper(exact, lower, lower + 1, even, mode) ? lower + 1 : lower;
    return std::clamp(static_cast<int64_t>(chosen), lowest, highest);
}

// A format defined by all its codes: value_of(code) for 0 <= code < codes, with the sign in the highest bit.
class Format {
public:
    template <class ValueOf>
    Format(uint32_t codes, const ValueOf& value_of) {
        for (uint32_t code = 0; code < codes; ++code) {
            const double value = value_of(code);
            if (!std::isfinite(value) || (value == 0 && std::signbit(value))) continue;
            numbers_.push_back({value, code});
        }
        std::sort(numbers_.begin(), numbers_.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
    }

    // The code of a finite value; values past the largest number saturate.
    uint32_t encode(long double exact, RoundMode mode) const {
        if (exact <= numbers_.front().value) return numbers_.front().code;
        if (exact >= numbers_.back().value) return numbers_.back().code;
        const auto upper = std::lower_bound(numbers_.begin(), numbers_.end(), exact,
                                            [](const Entry& entry, long double value) { return entry.value < value; });
        if (upper->value == exact) return upper->code;
        const auto lower = upper - 1;
        // Codes of negative numbers grow away from zero; a zero below is even.
        const bool lower_even = lower->code % 2 == 0;
        return (picks_upper(exact, lower->value, upper->value, lower_even, mode) ? upper : lower)->code;
    }
    double largest() const { return numbers_.back().value; }

private:
    struct Entry {
        double value;
        uint32_t code;
    };
    std::vector<Entry> numbers_;
};

inline const Format& half_format() {
    static const Format format(65536, [](uint32_t code) {
        const auto bits = static_cast<uint16_t>(code);
        return static_cast<double>(__builtin_bit_cast(half, bits));
    });
    return format;
}

inline const Format& bfloat16_format() {
    static const Format format(65536, [](uint32_t code) { return double{__builtin_bit_cast(float, code << 16)}; });
    return format;
}

// Rounds an integer to one of the floats around it.
inline float to_float(int64_t exact, RoundMode mode) {
    const auto value = static_cast<long double>(exact);
    const float near = static_cast<float>(exact);
    if (static_cast<long double>(near) == value) return near;
    const float lower = static_cast<long double>(near) < value ? near : std::nextafter(near, -INFINITY);
    const float upper = static_cast<long double>(near) < value ? std::nextafter(near, INFINITY) : near;
    const bool even = __builtin_bit_cast(uint32_t, lower) % 2 == 0;
    return picks_upper(value, lower, upper, even, mode) ? upper : lower;
}

}  // namespace reference

#endif
