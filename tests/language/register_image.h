// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of register programming: an image of UB whose places are known to kernel and host, and masks in
// each of the forms in which kernels make them.
#ifndef CANOPY_TESTS_LANGUAGE_REGISTER_IMAGE_H
#define CANOPY_TESTS_LANGUAGE_REGISTER_IMAGE_H

#include "ub_image.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

namespace registers {

constexpr uint32_t a_byte = 0, b_byte = 512, old_byte = 1024, mask_byte = 1536, flag_byte = 1792, dst_byte = 2560,
                   dst1_byte = 3072, mask_out_byte = 3584, image_bytes = 16384;

enum Form : int { from_bits, from_count, from_comparison };

__aicore__ inline __ubuf__ uint8_t* ub_base() {
    return reinterpret_cast<uint8_t*>(ub<uint8_t>(0, image_bytes).GetPhyAddr());
}
template <class T>
__aicore__ inline __ubuf__ T* at(uint32_t byte) {
    return reinterpret_cast<T*>(ub_base() + byte);
}

// The mask of elements of `Flag`'s width: loaded, made from a count, or made by a comparison of flags.
template <class Flag>
__aicore__ inline AscendC::Reg::MaskReg mask_in_form(int form, uint32_t count) {
    using namespace AscendC;
    if (form == from_count) return Reg::UpdateMask<Flag>(count);
    Reg::MaskReg mask;
    if (form == from_bits) {
        Reg::LoadAlign(mask, at<uint8_t>(mask_byte));
    } else {
        Reg::RegTensor<Flag> flags;
        Reg::LoadAlign(flags, at<Flag>(flag_byte));
        Reg::MaskReg all = Reg::CreateMask<Flag>();
        Reg::Compares<Flag, CMPMODE::NE>(mask, flags, 0, all);
    }
    return mask;
}

using Bits = std::bitset<256>;

inline Bits leading(uint32_t width, uint32_t count) {
    Bits bits;
    for (uint32_t i = 0; i < count && i * width < 256; ++i) bits.set(i * width);
    return bits;
}
inline Bits some_bits(uint32_t width, uint32_t seed) {
    std::mt19937 random(seed);
    Bits bits;
    for (uint32_t i = 0; i < 256; i += width) bits.set(i, random() % 3 != 0);
    return bits;
}

inline void put_bits(Image& image, uint32_t byte, const Bits& bits) {
    for (uint32_t i = 0; i < 32; ++i) {
        uint8_t value = 0;
        for (uint32_t k = 0; k < 8; ++k) value |= static_cast<uint8_t>(bits[i * 8 + k] << k);
        image.set<uint8_t>(byte + i, value);
    }
}
inline Bits get_bits(const Image& image, uint32_t byte, uint32_t count = 256) {
    Bits bits;
    for (uint32_t i = 0; i < count; ++i) bits.set(i, (image.get<uint8_t>(byte + i / 8) >> (i % 8) & 1) != 0);
    return bits;
}

// The mask for both forms that memory holds.
inline void put_mask(Image& image, const Bits& bits, uint32_t width) {
    put_bits(image, mask_byte, bits);
    for (uint32_t i = 0; i < 256; ++i) image.set<uint8_t>(flag_byte + i, i % width == 0 && bits[i] ? 1 : 0);
}

template <class T>
inline double number(T value) {
    if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(value);
    else
        return static_cast<double>(static_cast<float>(value));
}
template <class T>
inline T rounded(double value) {
    if constexpr (std::is_same_v<T, bfloat16_t>) return AscendC::ToBfloat16(static_cast<float>(value));
    return static_cast<T>(value);
}

// Numbers of all sizes, with the special ones in front.
template <class T>
inline void fill_floats(Image& image, uint32_t byte, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> size(-6, 6);
    const double inf = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, 1.0, -1.0, inf, -inf, NAN, 65504.0, 6e-8, -6e-8, 1e-40, 2.5, -3.5, 0.5};
    for (uint32_t i = 0; i < 256 / sizeof(T); ++i) {
        double value = std::exp2(size(random)) * (random() % 2 == 0 ? 1 : -1);
        if (random() % 4 == 0) value = special[random() % 14];
        image.set<T>(byte + i * sizeof(T), rounded<T>(value));
    }
}

// NaN wins, and +0 is larger than -0.
inline double larger(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return NAN;
    if (a == b) return std::signbit(a) ? b : a;
    return std::max(a, b);
}

}  // namespace registers

#endif
