// SPDX-License-Identifier: Apache-2.0
// Helpers of the programs on rows: inputs, and results within a tolerance of a calculation in double.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "check.h"
#include "kernel_tiling/kernel_tiling.h"

namespace programs {

inline std::vector<float> numbers(std::size_t count, unsigned seed, float range) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = (static_cast<float>(random() % 2001) / 1000.0f - 1.0f) * range;
    return values;
}

inline void require_near(double got, double expected, double tolerance) {
    REQUIRE(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)));
}

// The tilings of the normalisations name their axes alike.
template <class Tiling>
Tiling tiling_of(std::uint32_t batches, std::uint32_t rows, std::uint32_t length) {
    Tiling tiling;
    tiling.bLength = batches;
    tiling.sLength = rows;
    tiling.hLength = tiling.originalHLength = length;
    return tiling;
}

template <class T>
T* value_on_device(const T& value) {
    return to_device(std::vector<T>{value});
}

struct Moments {
    double mean = 0, variance = 0;
};
inline Moments moments_of(const float* x, std::size_t count) {
    Moments moments;
    for (std::size_t i = 0; i < count; ++i) moments.mean += static_cast<double>(x[i]) / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double difference = static_cast<double>(x[i]) - moments.mean;
        moments.variance += difference * difference / static_cast<double>(count);
    }
    return moments;
}

}  // namespace programs
