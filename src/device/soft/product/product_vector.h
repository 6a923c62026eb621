// SPDX-License-Identifier: Apache-2.0
// The functions of a ProductTiles table, written once for all vector widths. Included by the product_*.cpp files, each
// compiled for one width. Everything is in an unnamed namespace and calls no inline functions from elsewhere, so that
// no function compiled for a wide machine is ever shared with another file.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "canopy/kernel_abi.h"
#include "device/soft/product/product_tiles.h"

namespace canopy {
namespace {

constexpr int lane_count = CANOPY_PRODUCT_LANES;
using FloatVector = float __attribute__((vector_size(lane_count * 4)));
using LooseFloatVector = float __attribute__((vector_size(lane_count * 4), aligned(4), may_alias));
using IntegerVector = std::int32_t __attribute__((vector_size(lane_count * 4)));
using LooseIntegerVector = std::int32_t __attribute__((vector_size(lane_count * 4), aligned(4), may_alias));
using Bits4 = std::uint32_t __attribute__((vector_size(16)));
using LooseBits4 = std::uint32_t __attribute__((vector_size(16), aligned(2), may_alias));
using Float4 = float __attribute__((vector_size(16)));

#define CANOPY_INLINE [[gnu::always_inline]] static inline

// --- elements -------------------------------------------------------------------------------------------------------

CANOPY_INLINE float float_of_half(std::uint16_t half) {
#ifdef __F16C__
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#else
    const std::uint32_t magnitude = (half & 0x7FFFu) << 13;
    const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, scaled);
    bits |= magnitude >= 0x0F800000u ? 0x7F800000u : 0u;  // infinities and NaN keep their fraction
    return __builtin_bit_cast(float, bits | (half & 0x8000u) << 16);
#endif
}

CANOPY_INLINE float float_of_bfloat16(std::uint16_t value) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(value) << 16);
}

// A float of up to eight bits, `fraction_bits` of them below the exponent.
CANOPY_INLINE float float_of_small(unsigned bits, int exponent_bits, int fraction_bits) {
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const unsigned exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
    const int bias = exponent_bits == 1 ? 1 : (1 << (exponent_bits - 1)) - 1;
    const unsigned whole = exponent == 0 ? fraction : fraction + (1u << fraction_bits);
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - bias - fraction_bits;
    const float scale = __builtin_bit_cast(float, static_cast<std::uint32_t>(power + 127) << 23);
    const bool negative = (bits >> (exponent_bits + fraction_bits)) & 1u;
    const float magnitude = static_cast<float>(whole) * scale;
    return negative ? -magnitude : magnitude;
}

CANOPY_INLINE float float_of_e4m3(std::uint8_t bits) {
    return (bits & 0x7F) == 0x7F ? __builtin_nanf("") : float_of_small(bits, 4, 3);
}

CANOPY_INLINE float float_of_e5m2(std::uint8_t bits) {
    if ((bits & 0x7C) != 0x7C) return float_of_small(bits, 5, 2);
    if ((bits & 3) != 0) return __builtin_nanf("");
    return (bits & 0x80) != 0 ? -__builtin_inff() : __builtin_inff();
}

// One sign bit, then a prefix that gives the number of exponent bits (4 to 0), then exponent and fraction.
CANOPY_INLINE float float_of_hifloat8(std::uint8_t bits) {
    if (bits == 0x00) return 0.0f;
    if (bits == 0x80) return __builtin_nanf("");
    const bool negative = (bits & 0x80) != 0;
    if ((bits & 0x7F) == 0x6F) return negative ? -__builtin_inff() : __builtin_inff();
    const unsigned rest = bits & 0x7Fu;
    int exponent_bits = 0, low = 0;  // `low`: bits below the prefix
    if (rest >= 0x60)
        exponent_bits = 4, low = 5;
    else if (rest >= 0x40)
        exponent_bits = 3, low = 5;
    else if (rest >= 0x20)
        exponent_bits = 2, low = 5;
    else if (rest >= 0x10)
        exponent_bits = 1, low = 4;
    else if (rest >= 0x08)
        exponent_bits = 0, low = 3;
    else {  // no prefix: a power of two below the normal range
        const float power =
            __builtin_bit_cast(float, static_cast<std::uint32_t>(static_cast<int>(rest) - 23 + 127) << 23);
        return negative ? -power : power;
    }
    const int fraction_bits = low - exponent_bits;
    const unsigned fraction = rest & ((1u << fraction_bits) - 1);
    const unsigned coded = (rest >> fraction_bits) & ((1u << exponent_bits) - 1);
    int exponent = 0;
    if (exponent_bits > 0) {
        // The first bit is the exponent's sign; the leading one of its magnitude is implicit.
        const unsigned sign = coded >> (exponent_bits - 1);
        const unsigned magnitude = (coded & ((1u << (exponent_bits - 1)) - 1)) | 1u << (exponent_bits - 1);
        exponent = sign ? -static_cast<int>(magnitude) : static_cast<int>(magnitude);
    }
    const float scale = __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent - fraction_bits + 127) << 23);
    const float magnitude = static_cast<float>(fraction + (1u << fraction_bits)) * scale;
    return negative ? -magnitude : magnitude;
}

CANOPY_INLINE unsigned four_bits(const void* data, std::int64_t at) {
    const std::uint8_t pair = static_cast<const std::uint8_t*>(data)[at >> 1];
    return (at & 1) != 0 ? pair >> 4 : pair & 15u;
}

CANOPY_INLINE std::int16_t integer_element(const void* data, std::int64_t at, std::uint32_t type) {
    if (type == CANOPY_ELEMENT_UINT8) return static_cast<const std::uint8_t*>(data)[at];
    if (type == CANOPY_ELEMENT_INT4) return static_cast<std::int16_t>(static_cast<int>(four_bits(data, at) ^ 8) - 8);
    return static_cast<const std::int8_t*>(data)[at];
}

static float rare_element(const void* data, std::int64_t at, std::uint32_t type) {
    switch (type) {
        case CANOPY_ELEMENT_FLOAT8_E4M3:
            return float_of_e4m3(static_cast<const std::uint8_t*>(data)[at]);
        case CANOPY_ELEMENT_FLOAT8_E5M2:
            return float_of_e5m2(static_cast<const std::uint8_t*>(data)[at]);
        case CANOPY_ELEMENT_HIFLOAT8:
            return float_of_hifloat8(static_cast<const std::uint8_t*>(data)[at]);
        case CANOPY_ELEMENT_FLOAT4_E2M1:
            return float_of_small(four_bits(data, at), 2, 1);
        case CANOPY_ELEMENT_FLOAT4_E1M2:
            return float_of_small(four_bits(data, at), 1, 2);
        case CANOPY_ELEMENT_INT32:
            return static_cast<float>(static_cast<const std::int32_t*>(data)[at]);
        default:
            return integer_element(data, at, type);
    }
}

// Readers for the element types: one, four, eight or sixteen elements at a time.
struct FloatElement {
    static constexpr int run = 4, bytes = 4;
    CANOPY_INLINE float one(const void* data, std::int64_t at, std::uint32_t) {
        return static_cast<const float*>(data)[at];
    }
    CANOPY_INLINE Bits4 four(const void* data, std::int64_t at) {
        return *reinterpret_cast<const LooseBits4*>(static_cast<const float*>(data) + at);
    }
    CANOPY_INLINE void eight(const void* data, std::int64_t at, float* out) {
        __builtin_memcpy(out, static_cast<const float*>(data) + at, 8 * sizeof(float));
    }
};

struct HalfElement {
    static constexpr int run = 4, bytes = 2;
    CANOPY_INLINE float one(const void* data, std::int64_t at, std::uint32_t) {
        return float_of_half(static_cast<const std::uint16_t*>(data)[at]);
    }
    CANOPY_INLINE Bits4 four(const void* data, std::int64_t at) {
        const auto* halves = static_cast<const std::uint16_t*>(data) + at;
#ifdef __F16C__
        return __builtin_bit_cast(Bits4, _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(halves))));
#else
        const Float4 floats = {float_of_half(halves[0]), float_of_half(halves[1]), float_of_half(halves[2]),
                               float_of_half(halves[3])};
        return __builtin_bit_cast(Bits4, floats);
#endif
    }
    CANOPY_INLINE void eight(const void* data, std::int64_t at, float* out) {
#ifdef __F16C__
        const auto* halves = static_cast<const std::uint16_t*>(data) + at;
        _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves))));
#else
        *reinterpret_cast<LooseBits4*>(out) = four(data, at);
        *reinterpret_cast<LooseBits4*>(out + 4) = four(data, at + 4);
#endif
    }
#ifdef __AVX512F__
    CANOPY_INLINE __m512 sixteen(__m256i values) { return _mm512_maskz_cvtph_ps(0xFFFF, values); }
#endif
};

struct Bfloat16Element {
    static constexpr int run = 4, bytes = 2;
    CANOPY_INLINE float one(const void* data, std::int64_t at, std::uint32_t) {
        return float_of_bfloat16(static_cast<const std::uint16_t*>(data)[at]);
    }
    CANOPY_INLINE Bits4 four(const void* data, std::int64_t at) {
        const auto* values = static_cast<const std::uint16_t*>(data) + at;
        return Bits4{values[0], values[1], values[2], values[3]} << 16;
    }
    CANOPY_INLINE void eight(const void* data, std::int64_t at, float* out) {
#ifdef __AVX2__
        const auto* values = static_cast<const std::uint16_t*>(data) + at;
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_slli_epi32(wide, 16));
#else
        *reinterpret_cast<LooseBits4*>(out) = four(data, at);
        *reinterpret_cast<LooseBits4*>(out + 4) = four(data, at + 4);
#endif
    }
#ifdef __AVX512F__
    CANOPY_INLINE __m512 sixteen(__m256i values) {
        using Words16 = std::uint16_t __attribute__((vector_size(32)));
        const auto wide = __builtin_convertvector(__builtin_bit_cast(Words16, values), IntegerVector) << 16;
        return __builtin_bit_cast(__m512, wide);
    }
#endif
};

struct RareElement {
    static constexpr int run = 0;  // one at a time
    static float one(const void* data, std::int64_t at, std::uint32_t type) { return rare_element(data, at, type); }
};

// --- panels of floats -----------------------------------------------------------------------------------------------

CANOPY_INLINE void store_transposed(const Bits4 (&rows)[4], float* out, std::int64_t stride) {
    const Bits4 low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const Bits4 high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const Bits4 low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    const Bits4 high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    *reinterpret_cast<LooseBits4*>(out) = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *reinterpret_cast<LooseBits4*>(out + stride) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *reinterpret_cast<LooseBits4*>(out + 2 * stride) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *reinterpret_cast<LooseBits4*>(out + 3 * stride) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

CANOPY_INLINE bool consecutive(const std::int64_t* offsets, int count) {
    return offsets[count - 1] - offsets[0] == count - 1 && offsets[1] - offsets[0] == 1;
}

// Asks for `bytes` bytes at an offset of the operand that may be past its end.
template <int bytes>
CANOPY_INLINE void prefetch(const PanelSource& source, std::int64_t offset) {
    const auto* at = static_cast<const unsigned char*>(source.data) + offset;
#pragma GCC unroll 4
    for (int i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 0, 3);
}

// Elements are adjacent across the panel, all of them or in groups of four.
template <int width, class Element>
void pack_across(const PanelSource& source, float* panel) {
    bool grouped[width / 4];
    bool whole = true;
    for (int group = 0; group < width / 4; ++group) {
        grouped[group] = consecutive(source.across + group * 4, 4);
        whole = whole && grouped[group] && source.across[group * 4] == source.across[0] + group * 4;
    }
    for (std::int64_t k = 0; k < source.depth; ++k, panel += width) {
        const std::int64_t at = source.along[k];
        if (whole) {
            prefetch<width * Element::bytes>(source, (at + source.across[0] + source.next) * Element::bytes);
#pragma GCC unroll 4
            for (int i = 0; i + 8 <= width; i += 8) Element::eight(source.data, at + source.across[0] + i, panel + i);
            if constexpr (width % 8 != 0)
                *reinterpret_cast<LooseBits4*>(panel + width - 4) =
                    Element::four(source.data, at + source.across[0] + width - 4);
            continue;
        }
        for (int group = 0; group < width / 4; ++group) {
            const std::int64_t* across = source.across + group * 4;
            if (grouped[group])
                *reinterpret_cast<LooseBits4*>(panel + group * 4) = Element::four(source.data, at + across[0]);
            else
                for (int i = 0; i < 4; ++i)
                    panel[group * 4 + i] = Element::one(source.data, at + across[i], source.type);
        }
    }
}

#if CANOPY_PRODUCT_LANES == 16

// Four values of each of up to four rows, one row in each quarter of the vector.
template <int rows, class Element>
CANOPY_INLINE __m512 quarters(const void* const* row, std::int64_t at) {
    if constexpr (Element::bytes == 4) {
        const auto four = [&](int i) { return _mm_loadu_ps(static_cast<const float*>(row[4 * i]) + at); };
        __m512 all = _mm512_castps128_ps512(four(0));
        if constexpr (rows > 1) all = _mm512_mask_broadcast_f32x4(all, 0x00F0, four(1));
        if constexpr (rows > 2) all = _mm512_mask_broadcast_f32x4(all, 0x0F00, four(2));
        if constexpr (rows > 3) all = _mm512_mask_broadcast_f32x4(all, 0xF000, four(3));
        return all;
    } else {
        const auto four = [&](int i) {
            return _mm_loadl_epi64(
                reinterpret_cast<const __m128i*>(static_cast<const std::uint16_t*>(row[4 * i]) + at));
        };
        __m256i all = _mm256_castsi128_si256(four(0));
        if constexpr (rows > 1) all = _mm256_mask_broadcastq_epi64(all, 2, four(1));
        if constexpr (rows > 2) all = _mm256_mask_broadcastq_epi64(all, 4, four(2));
        if constexpr (rows > 3) all = _mm256_mask_broadcastq_epi64(all, 8, four(3));
        return Element::sixteen(all);
    }
}

// Transposes 4 x 4 values in every quarter and stores the `rows` first quarters of each result.
template <int rows>
CANOPY_INLINE void store_quarters(const FloatVector (&from)[4], float* out, std::int64_t stride) {
    constexpr auto used = static_cast<__mmask16>((1 << 4 * rows) - 1);
#define CANOPY_QUARTERS(left, right, a, b, c, d)                                                                     \
    __builtin_shufflevector(left, right, a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, \
                            b + 12, c + 12, d + 12)
    const FloatVector low01 = CANOPY_QUARTERS(from[0], from[1], 0, 16, 1, 17);
    const FloatVector high01 = CANOPY_QUARTERS(from[0], from[1], 2, 18, 3, 19);
    const FloatVector low23 = CANOPY_QUARTERS(from[2], from[3], 0, 16, 1, 17);
    const FloatVector high23 = CANOPY_QUARTERS(from[2], from[3], 2, 18, 3, 19);
    _mm512_mask_storeu_ps(out, used, CANOPY_QUARTERS(low01, low23, 0, 1, 16, 17));
    _mm512_mask_storeu_ps(out + stride, used, CANOPY_QUARTERS(low01, low23, 2, 3, 18, 19));
    _mm512_mask_storeu_ps(out + 2 * stride, used, CANOPY_QUARTERS(high01, high23, 0, 1, 16, 17));
    _mm512_mask_storeu_ps(out + 3 * stride, used, CANOPY_QUARTERS(high01, high23, 2, 3, 18, 19));
#undef CANOPY_QUARTERS
}

template <int width, int first, class Element>
CANOPY_INLINE void pack_four_steps(const void* const* row, std::int64_t at, float* panel) {
    constexpr int rows = width - first >= 16 ? 4 : (width - first) / 4;
    const FloatVector loaded[4] = {
        quarters<rows, Element>(row + first, at), quarters<rows, Element>(row + first + 1, at),
        quarters<rows, Element>(row + first + 2, at), quarters<rows, Element>(row + first + 3, at)};
    store_quarters<rows>(loaded, panel + first, width);
    if constexpr (first + 16 < width) pack_four_steps<width, first + 16, Element>(row, at, panel);
}

#endif

// Elements are adjacent along k, in groups of four.
template <int width, class Element>
void pack_along(const PanelSource& source, float* panel) {
    const std::int64_t whole = source.depth & ~std::int64_t{3};
#if CANOPY_PRODUCT_LANES == 16
    const void* row[width];
    for (int i = 0; i < width; ++i)
        row[i] = static_cast<const unsigned char*>(source.data) + source.across[i] * Element::bytes;
    for (std::int64_t k = 0; k < whole; k += 4) {
        if (k % (64 / Element::bytes) == 0)
            for (int i = 0; i < width; ++i)
                prefetch<64>(source, (source.across[i] + source.along[k] + source.next) * Element::bytes);
        pack_four_steps<width, 0, Element>(row, source.along[k], panel + k * width);
    }
#else
    for (int group = 0; group < width; group += 4) {
        const std::int64_t* across = source.across + group;
        for (std::int64_t k = 0; k < whole; k += 4) {
            Bits4 rows[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) rows[i] = Element::four(source.data, across[i] + source.along[k]);
            store_transposed(rows, panel + k * width + group, width);
        }
    }
#endif
    for (std::int64_t k = whole; k < source.depth; ++k)
        for (int i = 0; i < width; ++i)
            panel[k * width + i] = Element::one(source.data, source.across[i] + source.along[k], source.type);
}

template <int width, class Element>
void pack_elements(const PanelSource& source, float* panel) {
    if constexpr (Element::run == 0) {
        for (std::int64_t k = 0; k < source.depth; ++k)
            for (int i = 0; i < width; ++i)
                *panel++ = Element::one(source.data, source.across[i] + source.along[k], source.type);
    } else if (source.along_runs && !consecutive(source.across, 4)) {
        pack_along<width, Element>(source, panel);
    } else {
        pack_across<width, Element>(source, panel);
    }
}

template <int width>
void pack(const PanelSource& source, float* panel) {
    switch (source.type) {
        case CANOPY_ELEMENT_FLOAT:
            return pack_elements<width, FloatElement>(source, panel);
        case CANOPY_ELEMENT_HALF:
            return pack_elements<width, HalfElement>(source, panel);
        case CANOPY_ELEMENT_BFLOAT16:
            return pack_elements<width, Bfloat16Element>(source, panel);
        default:
            return pack_elements<width, RareElement>(source, panel);
    }
}

// --- panels of integers ---------------------------------------------------------------------------------------------

CANOPY_INLINE Bits4 eight_integers(const PanelSource& source, std::int64_t at) {
    using Bytes8 = std::int8_t __attribute__((vector_size(8)));
    using Words8 = std::int16_t __attribute__((vector_size(16)));
    const auto* bytes = static_cast<const std::int8_t*>(source.data) + at;
    Bytes8 narrow;
    __builtin_memcpy(&narrow, bytes, 8);
    Words8 wide = __builtin_convertvector(narrow, Words8);
    if (source.type == CANOPY_ELEMENT_UINT8) wide &= 0xFF;
    return __builtin_bit_cast(Bits4, wide);
}

// Bytes are adjacent across the panel: two steps of k are interleaved.
template <int width>
void pack_integers_across(const PanelSource& source, std::int16_t* panel) {
    const std::int64_t first = source.across[0];
    for (std::int64_t k = 0; k < source.depth; k += 2, panel += 2 * width) {
        prefetch<width>(source, first + source.along[k] + source.next);
        const bool pair = k + 1 < source.depth;
        if (pair) prefetch<width>(source, first + source.along[k + 1] + source.next);
#pragma GCC unroll 6
        for (int i = 0; i < width; i += 8) {
            const Bits4 even = eight_integers(source, first + source.along[k] + i);
            const Bits4 odd = pair ? eight_integers(source, first + source.along[k + 1] + i) : Bits4{};
            using Words8 = std::int16_t __attribute__((vector_size(16)));
            using LooseWords8 = std::int16_t __attribute__((vector_size(16), aligned(2), may_alias));
            const auto left = __builtin_bit_cast(Words8, even), right = __builtin_bit_cast(Words8, odd);
            auto* out = panel + 2 * i;
            *reinterpret_cast<LooseWords8*>(out) = __builtin_shufflevector(left, right, 0, 8, 1, 9, 2, 10, 3, 11);
            *reinterpret_cast<LooseWords8*>(out + 8) = __builtin_shufflevector(left, right, 4, 12, 5, 13, 6, 14, 7, 15);
        }
    }
}

template <int width>
void pack_integers(const PanelSource& source, std::int16_t* panel) {
    const bool bytes = source.type != CANOPY_ELEMENT_INT4;
    if constexpr (width % 8 == 0)
        if (bytes && consecutive(source.across, width)) return pack_integers_across<width>(source, panel);
    const std::int64_t whole = bytes && source.along_runs ? source.depth & ~std::int64_t{7} : 0;
    for (int group = 0; group < width && whole > 0; group += 4) {
        const std::int64_t* across = source.across + group;
        for (std::int64_t k = 0; k < whole; k += 8) {
            Bits4 rows[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) rows[i] = eight_integers(source, across[i] + source.along[k]);
            store_transposed(rows, reinterpret_cast<float*>(panel) + k / 2 * width + group, width);
        }
    }
    for (std::int64_t k = whole; k < source.depth; k += 2) {
        std::int16_t* out = panel + k * width;
        const bool pair = k + 1 < source.depth;
        for (int i = 0; i < width; ++i) {
            out[2 * i] = integer_element(source.data, source.across[i] + source.along[k], source.type);
            out[2 * i + 1] =
                pair ? integer_element(source.data, source.across[i] + source.along[k + 1], source.type) : 0;
        }
    }
}

// --- register tiles -------------------------------------------------------------------------------------------------

// `width`: vectors in a panel of B.
template <int rows, int vectors, int width>
void float_tile(std::int64_t depth, const float* a, const float* b, const float* initial, std::int64_t initial_stride,
                float* c, std::int64_t c_stride) {
    FloatVector sum[rows][vectors];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
            sum[i][j] = *reinterpret_cast<const LooseFloatVector*>(initial + i * initial_stride + j * lane_count);
    for (std::int64_t k = 0; k < depth; ++k, a += rows, b += width * lane_count) {
        FloatVector right[vectors];
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) right[j] = *reinterpret_cast<const FloatVector*>(b + j * lane_count);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const FloatVector left = a[i] - FloatVector{};
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) sum[i][j] += left * right[j];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
            *reinterpret_cast<LooseFloatVector*>(c + i * c_stride + j * lane_count) = sum[i][j];
}

// Two products of 16-bit values, added to each lane of 32 bits.
CANOPY_INLINE IntegerVector add_pair_products(IntegerVector sum, IntegerVector left, IntegerVector right) {
    // Sums wrap around as on the chip; for the intrinsic, unlike `+`, overflow is defined.
#if CANOPY_PRODUCT_LANES == 16 && defined(__AVX512VNNI__)
    return __builtin_bit_cast(IntegerVector,
                              _mm512_dpwssd_epi32(__builtin_bit_cast(__m512i, sum), __builtin_bit_cast(__m512i, left),
                                                  __builtin_bit_cast(__m512i, right)));
#elif CANOPY_PRODUCT_LANES == 16
    return __builtin_bit_cast(IntegerVector, _mm512_add_epi32(__builtin_bit_cast(__m512i, sum),
                                                              _mm512_madd_epi16(__builtin_bit_cast(__m512i, left),
                                                                                __builtin_bit_cast(__m512i, right))));
#elif CANOPY_PRODUCT_LANES == 8
    return __builtin_bit_cast(IntegerVector, _mm256_add_epi32(__builtin_bit_cast(__m256i, sum),
                                                              _mm256_madd_epi16(__builtin_bit_cast(__m256i, left),
                                                                                __builtin_bit_cast(__m256i, right))));
#else
    return __builtin_bit_cast(IntegerVector, _mm_add_epi32(__builtin_bit_cast(__m128i, sum),
                                                           _mm_madd_epi16(__builtin_bit_cast(__m128i, left),
                                                                          __builtin_bit_cast(__m128i, right))));
#endif
}

template <int rows, int vectors, int width>
void pair_tile(std::int64_t pairs, const std::int16_t* a, const std::int16_t* b, const std::int32_t* initial,
               std::int64_t initial_stride, std::int32_t* c, std::int64_t c_stride) {
    IntegerVector sum[rows][vectors];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
            sum[i][j] = *reinterpret_cast<const LooseIntegerVector*>(initial + i * initial_stride + j * lane_count);
    for (std::int64_t k = 0; k < pairs; ++k, a += 2 * rows, b += 2 * width * lane_count) {
        IntegerVector right[vectors];
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
            right[j] = *reinterpret_cast<const LooseIntegerVector*>(b + 2 * j * lane_count);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            std::int32_t pair;
            __builtin_memcpy(&pair, a + 2 * i, 4);
            const IntegerVector left = pair - IntegerVector{};
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) sum[i][j] = add_pair_products(sum[i][j], left, right[j]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
            *reinterpret_cast<LooseIntegerVector*>(c + i * c_stride + j * lane_count) = sum[i][j];
}

// --- results in 16 bits ---------------------------------------------------------------------------------------------

void to_half(const float* values, std::uint16_t* out, std::int64_t count, float limit) {
    std::int64_t i = 0;
#ifdef __F16C__
    // This operand order preserves NaN.
    const __m256 highest = _mm256_set1_ps(limit), lowest = _mm256_set1_ps(-limit);
    for (; i + 8 <= count; i += 8) {
        const __m256 held = _mm256_max_ps(lowest, _mm256_min_ps(highest, _mm256_loadu_ps(values + i)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(held, 0));
    }
    for (; i < count; ++i) {
        const float value = values[i] > limit ? limit : values[i] < -limit ? -limit : values[i];
        out[i] = static_cast<std::uint16_t>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(value), 0), 0));
    }
#else
    for (; i < count; ++i) {
        const float value = values[i] > limit ? limit : values[i] < -limit ? -limit : values[i];
        const auto bits = __builtin_bit_cast(std::uint32_t, value);
        const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
        // Below the smallest normal half, adding 0.5 aligns the fraction so that the addition itself rounds.
        const float aligned = __builtin_bit_cast(float, magnitude) + 0.5f;
        std::uint32_t half = __builtin_bit_cast(std::uint32_t, aligned) - 0x3F000000u;
        if (magnitude >= 0x38800000u) half = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
        if (magnitude >= 0x477FF000u) half = 0x7C00u;
        if (magnitude > 0x7F800000u) half = 0x7E00u;
        out[i] = static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000u));
    }
#endif
}

void to_bfloat16(const float* values, std::uint16_t* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto bits = __builtin_bit_cast(std::uint32_t, values[i]);
        const std::uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
        const bool number = (bits & 0x7FFFFFFFu) <= 0x7F800000u;
        out[i] = static_cast<std::uint16_t>(number ? rounded : bits >> 16 | 0x40u);
    }
}

template <int rows, int vectors>
constexpr ProductTiles make_tiles(int depth, bool rows_stay) {
    constexpr int columns = vectors * lane_count;
    constexpr int two = vectors < 2 ? vectors : 2;
    static_assert(rows % 4 == 0 && columns % 4 == 0, "panels are packed in groups of four");
    static_assert(rows <= largest_tile_rows && columns <= largest_tile_columns && vectors <= most_tile_vectors);
    return {rows,
            columns,
            lane_count,
            depth,
            rows_stay,
            &pack<rows>,
            &pack<columns>,
            &pack_integers<rows>,
            &pack_integers<columns>,
            {&float_tile<rows, 1, vectors>, &float_tile<rows, two, vectors>, &float_tile<rows, vectors, vectors>},
            {&pair_tile<rows, 1, vectors>, &pair_tile<rows, two, vectors>, &pair_tile<rows, vectors, vectors>},
            &to_half,
            &to_bfloat16};
}

}  // namespace
}  // namespace canopy
