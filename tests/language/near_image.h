// SPDX-License-Identifier: Apache-2.0
// Tests whose results are compared with a calculation in double: each expected element is named with its value, and all
// bytes that no element covers must be unchanged.
#ifndef CANOPY_TESTS_LANGUAGE_NEAR_IMAGE_H
#define CANOPY_TESTS_LANGUAGE_NEAR_IMAGE_H

#include "ub_image.h"

#include <cmath>

template <class T>
double as_double(T value) {
    return static_cast<double>(static_cast<float>(value));
}

// Reads and writes numbers without variables of type bfloat16_t: code without optimisation converts them at every copy.
template <class T>
double number_at(const Image& image, uint64_t byte) {
    if constexpr (std::is_same_v<T, bfloat16_t>) {
        const uint32_t bits = static_cast<uint32_t>(image.get<uint16_t>(byte)) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return static_cast<double>(value);
    } else {
        return as_double(image.get<T>(byte));
    }
}
template <class T>
void set_number(Image& image, uint64_t byte, float value) {
    if constexpr (std::is_same_v<T, bfloat16_t>) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        image.set(byte, static_cast<uint16_t>(bits >> 16));
    } else {
        image.set<T>(byte, static_cast<T>(value));
    }
}

// A rounding of the type, and a few roundings of float before it.
template <class T>
double tolerance(double value) {
    if (sizeof(T) == 4) return 3e-6 * std::abs(value) + 1e-37;
    return 6e-4 * std::abs(value) + 4e-8;
}
template <>
inline double tolerance<bfloat16_t>(double value) {
    return 4.5e-3 * std::abs(value);
}

class NearImage {
public:
    NearImage(const Image& before, const Image& after) : expected_(before), after_(after) {}
    ~NearImage() { EXPECT_TRUE(expected_ == after_ || same_image(after_, expected_)) << "outside the results"; }

    // `slack`: an additional absolute error, where the calculation cancels large numbers.
    template <class T>
    void expect(uint64_t byte, double value, const char* what, double slack = 0) {
        const double got = number_at<T>(after_, byte);
        std::memcpy(expected_.bytes.data() + byte, after_.bytes.data() + byte, sizeof(T));
        if (failed_) return;
        const bool same = std::isnan(value)   ? std::isnan(got)
                          : std::isinf(value) ? got == value
                                              : std::abs(got - value) <= tolerance<T>(value) + slack;
        if (same) return;
        failed_ = true;
        ADD_FAILURE() << what << ": " << got << " at byte " << byte << ", expected " << value;
    }

private:
    Image expected_;
    const Image& after_;
    bool failed_ = false;
};

// Bytes that no operand covers; the same ones each time, since they take long to make.
inline Image noise_image(uint32_t size) {
    static const Image noise = random_image(256 * 1024, 1);
    Image image(0);
    image.bytes.assign(noise.bytes.begin(), noise.bytes.begin() + size);
    return image;
}

// Numbers between -range and range that the type holds exactly.
template <class T>
void fill_between(Image& image, uint64_t byte, uint64_t count, uint32_t seed, double range) {
    std::mt19937 random(seed);
    for (uint64_t i = 0; i < count; ++i) {
        const double unit = static_cast<double>(random()) / 2147483648.0 - 1.0;
        set_number<T>(image, byte + i * sizeof(T), static_cast<float>(unit * range));
    }
}

#endif
