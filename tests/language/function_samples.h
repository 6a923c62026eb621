// SPDX-License-Identifier: Apache-2.0
// Tests of functions of numbers: a kernel computes one function of thousands of samples, and every result is compared
// with a reference in long double.
#ifndef CANOPY_TESTS_LANGUAGE_FUNCTION_SAMPLES_H
#define CANOPY_TESTS_LANGUAGE_FUNCTION_SAMPLES_H

#include "ub_image.h"

#include <cmath>
#include <limits>
#include <random>

namespace samples {

using Real = long double;
constexpr uint32_t piece = 4096;  // elements at a time

// memory: the sources one after the other, then the results. `Call::call(which, dst, a, b, c, tmp, count)` is the
// function.
template <class T, class Call>
struct OverSamples {
    int which;
    uint32_t count, sources;

    __aicore__ void run(GM_ADDR memory) const {
        AscendC::GlobalTensor<T> all;
        all.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(memory), static_cast<uint64_t>(count) * (sources + 1));
        AscendC::LocalTensor<T> source[3];
        for (uint32_t i = 0; i < 3; ++i) source[i] = ub<T>(i * 16384, piece);
        const auto dst = ub<T>(3 * 16384, piece);
        const auto tmp = ub<uint8_t>(4 * 16384, 16384);
        for (uint32_t first = 0; first < count; first += piece) {
            const uint32_t length = count - first < piece ? count - first : piece;
            const AscendC::DataCopyExtParams row(1, static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0);
            for (uint32_t i = 0; i < sources; ++i)
                AscendC::DataCopyPad(source[i], all[static_cast<uint64_t>(i) * count + first], row,
                                     AscendC::DataCopyPadExtParams<T>());
            Call::call(which, dst, source[0], source[1], source[2], tmp, length);
            AscendC::DataCopyPad(all[static_cast<uint64_t>(sources) * count + first], dst, row);
        }
    }
};

template <class T, class Call>
std::vector<T> run(int which, const std::vector<std::vector<T>>& sources) {
    const size_t count = sources[0].size();
    std::vector<uint8_t> bytes((sources.size() + 1) * count * sizeof(T));
    for (size_t i = 0; i < sources.size(); ++i)
        std::memcpy(bytes.data() + i * count * sizeof(T), sources[i].data(), count * sizeof(T));
    const OverSamples<T, Call> what{which, static_cast<uint32_t>(count), static_cast<uint32_t>(sources.size())};
    EXPECT_EQ(run_on_core(what, bytes), "");
    std::vector<T> results(count);
    std::memcpy(results.data(), bytes.data() + sources.size() * count * sizeof(T), count * sizeof(T));
    return results;
}

// The distance between neighbours of T near a number, and the largest number of T.
template <class T>
Real unit_of(Real value) {
    const int digits = sizeof(T) == 4 ? 24 : 11, lowest = sizeof(T) == 4 ? -149 : -24;
    if (value == 0) return std::ldexp(Real(1), lowest);
    const int exponent = std::ilogb(value) - (digits - 1);
    return std::ldexp(Real(1), exponent < lowest ? lowest : exponent);
}

// How many units a result is wrong.
template <class T>
Real units_off(T got, Real expected) {
    const Real value = static_cast<float>(got);
    const Real most = sizeof(T) == 4 ? Real(std::numeric_limits<float>::max()) : Real(65504);
    if (std::isnan(expected)) return std::isnan(value) ? 0 : INFINITY;
    if (std::fabs(expected) > most) {
        const bool right = std::isinf(value) && (value > 0) == (expected > 0);
        const bool close = std::fabs(value) == most && std::fabs(expected) < most + unit_of<T>(most);
        return right || close ? 0 : INFINITY;
    }
    if (std::isinf(value) && std::fabs(expected) >= most - unit_of<T>(most)) return 1;
    return std::fabs(value - expected) / unit_of<T>(expected);
}

template <class T, class Reference>
void expect_close(const char* name, const std::vector<std::vector<T>>& sources, const std::vector<T>& results,
                  const Reference& reference, double units) {
    Real worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < results.size(); ++i) {
        const Real off = units_off(results[i], reference(i));
        if (!(off <= worst)) {
            worst = off;
            at = i;
        }
    }
    EXPECT_LE(static_cast<double>(worst), units)
        << name << " of " << static_cast<float>(sources[0][at])
        << (sources.size() > 1 ? " and " + std::to_string(static_cast<float>(sources[1][at])) : "") << " is "
        << static_cast<float>(results[at]) << ", expected " << static_cast<double>(reference(at));
}

// Numbers between two limits: evenly spread, and spread over all exponents.
template <class T>
std::vector<T> between(float low, float high, size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<T> values;
    while (values.size() < count) {
        float value;
        if (values.size() % 2 == 0) {
            value = static_cast<float>(low + (static_cast<double>(high) - low) * (random() / 4294967296.0));
        } else {
            const auto bits = static_cast<uint32_t>(random());
            std::memcpy(&value, &bits, sizeof value);
            if (sizeof(T) == 2) value = std::ldexp(value, 0) * (std::fabs(value) > 1e6f ? 1e-30f : 1.0f);
        }
        const T narrow = static_cast<T>(value);
        const float back = static_cast<float>(narrow);
        if (back >= low && back <= high) values.push_back(narrow);
    }
    return values;
}

template <class T>
std::vector<T> special_numbers() {
    std::vector<T> values;
    for (const float value :
         {0.0f,  -0.0f,    1.0f,      -1.0f, 0.5f,   -0.5f,  2.0f,    -2.0f,    3.0f,      -3.0f, 1.5f,
          -1.5f, 65504.0f, -65504.0f, 6e-8f, -6e-8f, 1e-40f, -1e-40f, INFINITY, -INFINITY, NAN})
        values.push_back(static_cast<T>(value));
    return values;
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace samples

#endif
