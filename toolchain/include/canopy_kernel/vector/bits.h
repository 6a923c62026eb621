// SPDX-License-Identifier: Apache-2.0
// Eight elements at a time with one bit each, for comparisons and selections. Bits are packed lowest first.
#ifndef CANOPY_KERNEL_BITS_H
#define CANOPY_KERNEL_BITS_H

#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

template <class T>
struct Eight {
    typedef T type __attribute__((ext_vector_type(8)));
};
template <class T>
using eight = typename Eight<T>::type;
typedef bool EightBits __attribute__((ext_vector_type(8)));

template <uint32_t bytes>
struct IntegerOfSize;
template <>
struct IntegerOfSize<1> {
    using type = int8_t;
};
template <>
struct IntegerOfSize<2> {
    using type = int16_t;
};
template <>
struct IntegerOfSize<4> {
    using type = int32_t;
};
template <>
struct IntegerOfSize<8> {
    using type = int64_t;
};
template <class T>
using integer_like = typename IntegerOfSize<sizeof(T)>::type;

template <class T>
inline eight<T> load_eight(const T* from) {
    eight<T> value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

// Eight elements, widened to the type used for arithmetic.
template <class T>
inline eight<Wide<T>> widen_eight(const T* from, [[maybe_unused]] uint32_t zero) {
    if constexpr (is_same<T, half>) {
        const auto wide = __builtin_convertvector(load_eight(from), eight<float>);
        return __builtin_bit_cast(eight<float>, __builtin_bit_cast(eight<uint32_t>, wide) ^ zero);
    } else if constexpr (is_same<T, bfloat16_t>) {
        const auto raw = load_eight(reinterpret_cast<const uint16_t*>(from));
        return __builtin_bit_cast(eight<float>, __builtin_convertvector(raw, eight<uint32_t>) << 16);
    } else {
        return load_eight(from);
    }
}

// One bit for each lane of a comparison's result.
template <class Lanes>
inline uint8_t packed_bits(const Lanes& compared) {
    return __builtin_bit_cast(uint8_t, __builtin_convertvector(compared, EightBits));
}

// Lanes of all ones where the bit is set.
template <class Integer>
inline eight<Integer> lanes_from(uint8_t bits) {
    return -__builtin_convertvector(__builtin_bit_cast(EightBits, bits), eight<Integer>);
}

inline bool test_bit(const uint8_t* bits, uint64_t index) { return (bits[index / 8] >> (index % 8) & 1) != 0; }

inline void write_bit(uint8_t* bits, uint64_t index, bool value) {
    const uint32_t shift = index % 8;
    bits[index / 8] = static_cast<uint8_t>((bits[index / 8] & ~(1u << shift)) | (uint32_t{value} << shift));
}

}  // namespace canopy::kernel

#endif
