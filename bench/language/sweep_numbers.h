// SPDX-License-Identifier: Apache-2.0
// The numbers of the sweep's loops: element types, and what the expressions of sweep_rows.h compute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "language/sweep.h"

namespace bench {
namespace {

using half = _Float16;
using bfloat16_t = __bf16;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

template <class T>
constexpr SweepData data_of = SweepData::int32;
template <>
constexpr SweepData data_of<float> = SweepData::floats;
template <>
constexpr SweepData data_of<half> = SweepData::halves;
template <>
constexpr SweepData data_of<bfloat16_t> = SweepData::bfloats;
template <>
constexpr SweepData data_of<int8_t> = SweepData::int8;
template <>
constexpr SweepData data_of<uint8_t> = SweepData::int8;
template <>
constexpr SweepData data_of<int16_t> = SweepData::int16;
template <>
constexpr SweepData data_of<uint16_t> = SweepData::int16;
template <>
constexpr SweepData data_of<int64_t> = SweepData::int64;

template <class... T>
constexpr uint32_t elements = (... || (sizeof(T) == 8)) ? sweep_elements / 2 : sweep_elements;

template <class To, class From>
To as(From value) {
    return __builtin_bit_cast(To, value);
}

template <class T>
auto wide(T value) {
    if constexpr (std::is_same_v<T, half>)
        return static_cast<float>(value);
    else if constexpr (std::is_same_v<T, bfloat16_t>)
        return as<float>(static_cast<uint32_t>(as<uint16_t>(value)) << 16);
    else
        return value;
}

template <class T>
T larger(T a, T b) {
    return a < b ? b : a;
}
float larger(float a, float b) { return a != a ? a : !(b <= a) ? b : a; }
template <class T>
T rectified(T x) {
    return x <= 0 ? T(0) : x;
}
// Without this the compiler narrows comparisons of halves to 16 bits, for which it has scalar code only.
uint32_t opaque_zero() {
    uint32_t zero = 0;
    __asm__("" : "+r"(zero));
    return zero;
}
template <class T>
auto wide(T value, uint32_t zero) {
    if constexpr (std::is_same_v<T, half>)
        return as<float>(as<uint32_t>(static_cast<float>(value)) ^ zero);
    else
        return wide(value);
}

float absolute(float x) { return __builtin_fabsf(x); }
float root(float x) { return __builtin_elementwise_sqrt(x); }
float away(float x) { return __builtin_elementwise_trunc(x + __builtin_copysignf(0x1.fffffep-2f, x)); }
float saturated(float x) { return x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x; }

// The same polynomials as the kernel language, but with fused products and sums.
float exponential(float x) {
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    const float shifted = __builtin_fmaf(x, 0x1.715476p0f, 0x1.8p23f);
    const int32_t n = as<int32_t>(shifted) - as<int32_t>(0x1.8p23f);
    const float whole = shifted - 0x1.8p23f;
    const float r = __builtin_fmaf(whole, 0x1.bd0106p-13f, __builtin_fmaf(whole, -0x1.63p-1f, x));
    float p = 1.9907569113e-4f;
    p = __builtin_fmaf(p, r, 1.3948588644e-3f);
    p = __builtin_fmaf(p, r, 8.3332860330e-3f);
    p = __builtin_fmaf(p, r, 4.1666240604e-2f);
    p = __builtin_fmaf(p, r, 1.6666666756e-1f);
    p = __builtin_fmaf(p, r, 5.0000000808e-1f);
    const float value = __builtin_fmaf(p, r * r, r) + 1.0f;
    const int32_t first = n >> 1;
    return value * as<float>((first + 127) << 23) * as<float>((n - first + 127) << 23);
}
float logarithm(float x) {
    const bool small = x < 0x1p-126f;
    const float scaled = small ? x * 0x1p23f : x;
    const uint32_t bits = as<uint32_t>(scaled) - 0x3f3504f3u;
    const int32_t exponent = (static_cast<int32_t>(bits) >> 23) - (small ? 23 : 0);
    const float f = as<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float e = static_cast<float>(exponent);
    float p = -7.6682553922e-2f;
    p = __builtin_fmaf(p, f, 1.2773723682e-1f);
    p = __builtin_fmaf(p, f, -1.3153894093e-1f);
    p = __builtin_fmaf(p, f, 1.4199748164e-1f);
    p = __builtin_fmaf(p, f, -1.6623746324e-1f);
    p = __builtin_fmaf(p, f, 2.0001322637e-1f);
    p = __builtin_fmaf(p, f, -2.5000813161e-1f);
    p = __builtin_fmaf(p, f, 3.3333330558e-1f);
    const float square = f * f;
    const float low = __builtin_fmaf(p * f, square, __builtin_fmaf(e, -0x1.bd0106p-13f, -0.5f * square));
    float value = __builtin_fmaf(e, 0x1.63p-1f, low + f);
    value = x < __builtin_inff() ? value : x;
    value = x == 0.0f ? -__builtin_inff() : value;
    return x < 0.0f ? __builtin_nanf("") : value;
}

// Rounds to nearest, then steps to the neighbour on the wanted side.
half stepped(float x, int16_t bits, int16_t step) {
    const float back = static_cast<float>(as<half>(static_cast<int16_t>(bits + step)));
    return static_cast<half>(x != x ? x : saturated(back));
}
half half_floor(float x) {
    const half near = static_cast<half>(x);
    const auto bits = as<int16_t>(near);
    const float back = static_cast<float>(near);
    return stepped(x, bits, back > x ? (bits < 0 ? 1 : -1) : 0);
}
half half_ceil(float x) {
    const half near = static_cast<half>(x);
    const auto bits = as<int16_t>(near);
    const float back = static_cast<float>(near);
    return stepped(x, bits, back < x ? (bits < 0 ? -1 : 1) : 0);
}
half half_trunc(float x) {
    const half near = static_cast<half>(x);
    return stepped(x, as<int16_t>(near), absolute(static_cast<float>(near)) > absolute(x) ? -1 : 0);
}
half half_odd(float x) {
    const half cut = half_trunc(x);
    const auto bits = as<int16_t>(cut);
    return as<half>(static_cast<int16_t>(static_cast<float>(cut) != x ? bits | 1 : bits));
}
half half_away(float x) {
    const half cut = half_trunc(x);
    const auto next = as<half>(static_cast<int16_t>(as<int16_t>(cut) + 1));
    const float middle = static_cast<float>(cut) * 0.5f + static_cast<float>(next) * 0.5f;
    return absolute(x) >= absolute(middle) ? next : cut;
}
bfloat16_t bfloat_of(uint32_t bits, uint32_t rounded) {
    const uint32_t size = bits & 0x7fffffffu, quiet = bits | 0x400000u;
    const bool overflows = (rounded & 0x7fffffffu) >= 0x7f800000u && size < 0x7f800000u;
    rounded = overflows ? rounded - 0x10000u : rounded;
    return as<bfloat16_t>(static_cast<uint16_t>((size > 0x7f800000u ? quiet : rounded) >> 16));
}
bfloat16_t bfloat_rounded(float x) {
    const auto bits = as<uint32_t>(x);
    return bfloat_of(bits, bits + 0x7fffu + (bits >> 16 & 1u));
}
bfloat16_t bfloat_away(float x) { return bfloat_of(as<uint32_t>(x), as<uint32_t>(x) + 0x8000u); }
bfloat16_t bfloat_floor(float x) {
    const auto bits = as<uint32_t>(x);
    return bfloat_of(bits, bits + (bits >> 31 != 0 ? 0xffffu : 0u));
}
int32_t whole32(float x) {
    x = x == x ? x : 0.0f;
    return x >= 0x1p31f ? INT32_MAX : static_cast<int32_t>(x < -0x1p31f ? -0x1p31f : x);
}
template <int low, int high>
int32_t clamped(float x) {
    x = x == x ? x : 0.0f;
    x = x < low ? low : x;
    return static_cast<int32_t>(x > high ? high : x);
}
int32_t whole16(float x) { return clamped<-32768, 32767>(x); }
int32_t whole8(float x) { return clamped<-128, 127>(x); }
int32_t whole8u(float x) { return clamped<0, 255>(x); }
int64_t whole64(float x) {
    const bool above = x >= 0x1p63f, below = x < -0x1p63f;
    const auto value = static_cast<int64_t>(above || below || x != x ? 0.0f : x);
    return above ? INT64_MAX : below ? INT64_MIN : value;
}
float near_below(int32_t x, bool down) {
    const float near = static_cast<float>(x);
    const auto bits = as<int32_t>(near);
    return as<float>(down ? bits + (bits < 0 ? 1 : -1) : bits);
}
float floor_of_int(int32_t x) { return near_below(x, static_cast<double>(static_cast<float>(x)) > x); }
float ceil_of_int(int32_t x) { return -floor_of_int(-x); }
float trunc_of_int(int32_t x) { return x < 0 ? ceil_of_int(x) : floor_of_int(x); }
float away_of_int(int32_t x) {  // as if the number had one more bit: cut, and add what the first lost bit says
    const float cut = trunc_of_int(x), next = as<float>(as<int32_t>(cut) + 1);
    const double middle = (static_cast<double>(cut) + next) * 0.5;
    return (x < 0 ? x <= middle : x >= middle) && cut != x ? next : cut;
}
int32_t between16(int32_t x) { return std::clamp(x, -32768, 32767); }
int64_t between32(int64_t x) { return std::clamp<int64_t>(x, INT32_MIN, INT32_MAX); }

template <class D, class V>
D stored(V value) {
    if constexpr (std::is_same_v<D, bfloat16_t> && !std::is_same_v<V, bfloat16_t>)
        return bfloat_rounded(value);
    else
        return static_cast<D>(value);
}

}  // namespace
}  // namespace bench
