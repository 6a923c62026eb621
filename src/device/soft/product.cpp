// SPDX-License-Identifier: Apache-2.0
// A matrix product straight from its definition.
#include "device/soft/product.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace canopy {
namespace {

template <class T>
T read(const void* base, std::int64_t at) noexcept {
    T value;
    std::memcpy(&value, static_cast<const T*>(base) + at, sizeof(T));
    return value;
}

// Floats of a byte: `fraction_bits` below the exponent; e4m3 has no infinity and one NaN.
float small_float(std::uint8_t bits, int fraction_bits, bool infinities) noexcept {
    const int exponent_bits = 7 - fraction_bits;
    const int exponent = (bits & 0x7F) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int largest = (1 << exponent_bits) - 1;
    const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
    if (exponent == largest && (infinities || fraction == (1 << fraction_bits) - 1))
        return infinities && fraction == 0 ? sign * HUGE_VALF : std::bit_cast<float>(0x7FC00000u);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    return sign * std::ldexp(static_cast<float>(whole), (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

std::int32_t integer_at(const void* base, std::int64_t at, std::uint32_t type) noexcept {
    switch (type) {
        case CANOPY_ELEMENT_INT8:
            return read<std::int8_t>(base, at);
        case CANOPY_ELEMENT_UINT8:
            return read<std::uint8_t>(base, at);
        case CANOPY_ELEMENT_INT4: {
            const auto pair = read<std::uint8_t>(base, at >> 1);
            const int four = (at & 1) != 0 ? pair >> 4 : pair & 15;
            return four < 8 ? four : four - 16;
        }
        default:
            return read<std::int32_t>(base, at);
    }
}

float float_at(const void* base, std::int64_t at, std::uint32_t type) noexcept {
    switch (type) {
        case CANOPY_ELEMENT_FLOAT:
            return read<float>(base, at);
        case CANOPY_ELEMENT_HALF:
            return half_to_float(read<std::uint16_t>(base, at));
        case CANOPY_ELEMENT_BFLOAT16:
            return bfloat16_to_float(read<std::uint16_t>(base, at));
        case CANOPY_ELEMENT_FLOAT8_E4M3:
            return small_float(read<std::uint8_t>(base, at), 3, false);
        case CANOPY_ELEMENT_FLOAT8_E5M2:
            return small_float(read<std::uint8_t>(base, at), 2, true);
        default:
            return static_cast<float>(integer_at(base, at, type));
    }
}

void store_float(void* base, std::int64_t at, std::uint32_t type, float value) noexcept {
    switch (type) {
        case CANOPY_ELEMENT_HALF:
            static_cast<std::uint16_t*>(base)[at] = float_to_half(value);
            break;
        case CANOPY_ELEMENT_BFLOAT16:
            static_cast<std::uint16_t*>(base)[at] = float_to_bfloat16(value);
            break;
        default:
            static_cast<float*>(base)[at] = value;
            break;
    }
}

bool is_integer(std::uint32_t type) noexcept {
    return type == CANOPY_ELEMENT_INT8 || type == CANOPY_ELEMENT_UINT8 || type == CANOPY_ELEMENT_INT4;
}

void one_integer(const CanopyProduct& p, std::int64_t row, std::int64_t column) noexcept {
    const std::int64_t at = row * p.c_row_stride + column * p.c_column_stride;
    // Unsigned: a sum that runs over wraps around, as on the chip.
    std::uint32_t sum = p.accumulate != 0 ? static_cast<std::uint32_t>(read<std::int32_t>(p.c, at)) : 0;
    if (p.bias) sum += static_cast<std::uint32_t>(integer_at(p.bias, column, p.bias_type));
    for (std::int64_t k = 0; k < p.k; ++k)
        sum += static_cast<std::uint32_t>(integer_at(p.a, row * p.a_row_stride + k * p.a_column_stride, p.a_type) *
                                          integer_at(p.b, k * p.b_row_stride + column * p.b_column_stride, p.b_type));
    static_cast<std::int32_t*>(p.c)[at] = static_cast<std::int32_t>(sum);
}

void one_float(const CanopyProduct& p, std::int64_t row, std::int64_t column) noexcept {
    const std::int64_t at = row * p.c_row_stride + column * p.c_column_stride;
    float sum = p.accumulate != 0 ? float_at(p.c, at, p.c_type) : 0.0f;
    if (p.bias) sum += float_at(p.bias, column, p.bias_type);
    for (std::int64_t k = 0; k < p.k; ++k)
        sum += float_at(p.a, row * p.a_row_stride + k * p.a_column_stride, p.a_type) *
               float_at(p.b, k * p.b_row_stride + column * p.b_column_stride, p.b_type);
    store_float(p.c, at, p.c_type, sum);
}

}  // namespace

void multiply(const CanopyProduct& product) noexcept {
    const bool integers = is_integer(product.a_type) && is_integer(product.b_type);
    for (std::int64_t row = 0; row < product.m; ++row)
        for (std::int64_t column = 0; column < product.n; ++column)
            integers ? one_integer(product, row, column) : one_float(product, row, column);
}

}  // namespace canopy
