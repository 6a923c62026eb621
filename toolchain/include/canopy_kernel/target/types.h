// SPDX-License-Identifier: Apache-2.0
// The number types of the kernel language and the few type traits its headers need. half and bfloat16_t are the
// compiler's own arithmetic types; `packing` describes narrow formats that share a byte.
#ifndef CANOPY_KERNEL_TYPES_H
#define CANOPY_KERNEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

using half = _Float16;
using bfloat16_t = __bf16;

// Conversions to bfloat16_t that the compiler calls on processors without an instruction for them; gcc's library has
// them since release 13. They round to nearest, ties to even.
extern "C" __attribute__((weak, visibility("hidden"), nodebug)) __bf16 __truncsfbf2(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
    const uint32_t rounded = nan ? bits | 0x400000u : bits + 0x7FFFu + (bits >> 16 & 1u);
    return __builtin_bit_cast(__bf16, static_cast<uint16_t>(rounded >> 16));
}
extern "C" __attribute__((weak, visibility("hidden"), nodebug)) __bf16 __truncdfbf2(double value) {
    float near = static_cast<float>(value);
    uint32_t bits = __builtin_bit_cast(uint32_t, near);
    if (static_cast<double>(near) != value && value == value) {
        // Round to odd (towards zero, last bit set), so that the second rounding is correct.
        if (__builtin_fabs(static_cast<double>(near)) > __builtin_fabs(value)) --bits;
        bits |= 1u;
        near = __builtin_bit_cast(float, bits);
    }
    return __truncsfbf2(near);
}

namespace AscendC {

// Two per byte, the lower four bits first. Tensors count elements, not bytes.
struct int4b_t {
    uint8_t storage = 0;
};

// How a value between two representable ones is rounded. CAST_NONE is CAST_RINT if precision is lost; CAST_ODD rounds
// towards zero and then sets the last bit; CAST_HYBRID belongs to hifloat8_t.
enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    CAST_HYBRID,
    DEFAULT = 254,
    UNKNOWN = 255
};

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

}  // namespace AscendC

using AscendC::int4b_t;

namespace canopy::kernel {

// Elements per byte: 1 for every type that fills whole bytes.
template <class T>
inline constexpr uint32_t packing = 1;
template <class T>
inline constexpr uint32_t packing<const T> = packing<T>;
template <>
inline constexpr uint32_t packing<AscendC::int4b_t> = 2;

// Bytes that `count` elements take.
template <class T>
constexpr uint64_t bytes_of(uint64_t count) {
    return (count * sizeof(T) + packing<T> - 1) / packing<T>;
}

// Elements in `bytes` bytes.
template <class T>
constexpr uint64_t elements_in(uint64_t bytes) {
    return bytes / sizeof(T) * packing<T>;
}

template <class T>
constexpr T* advance(T* address, uint64_t elements) {
    return address + elements / packing<T>;
}

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

template <class T, class... Choices>
inline constexpr bool is_any_of = (is_same<T, Choices> || ...);

template <bool condition, class Yes, class No>
struct Choose {
    using type = Yes;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
    using type = No;
};
template <bool condition, class Yes, class No>
using choose = typename Choose<condition, Yes, No>::type;

template <bool condition, class T = void>
struct OnlyIf {};
template <class T>
struct OnlyIf<true, T> {
    using type = T;
};
// Removes a template from overload resolution unless the condition holds.
template <bool condition, class T = void>
using only_if = typename OnlyIf<condition, T>::type;

template <class T>
struct WithoutQualifiers {
    using type = T;
};
template <class T>
struct WithoutQualifiers<const T> {
    using type = T;
};
template <class T>
struct WithoutQualifiers<volatile T> {
    using type = T;
};
template <class T>
struct WithoutQualifiers<const volatile T> {
    using type = T;
};
template <class T>
using plain = typename WithoutQualifiers<T>::type;

template <class T>
inline constexpr bool is_floating = is_any_of<T, half, bfloat16_t, float, double>;

template <class T>
inline constexpr bool always_false = false;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class T>
constexpr T smaller(T a, T b) {
    return a < b ? a : b;
}

}  // namespace canopy::kernel

#endif
