// SPDX-License-Identifier: Apache-2.0
// What the tests of the C interface on registers share: registers filled with numbers, the lists of functions with some
// of their element types, and the numbers of a register on the host.
#ifndef CANOPY_TESTS_LANGUAGE_C_INTERFACE_REGISTERS_H
#define CANOPY_TESTS_LANGUAGE_C_INTERFACE_REGISTERS_H

#include "number_reference.h"
#include "on_core.h"

namespace c_interface_test {

using canopy::c_interface::Pair;
using canopy::kernel::Register;

constexpr uint32_t register_bytes = 256, area_bytes = 32 * register_bytes, results_at = 3 * area_bytes;

template <class T>
constexpr uint32_t type_index = ~0u;
#define TYPE(T, index) \
    template <>        \
    constexpr uint32_t type_index<T> = index;
TYPE(int8_t, 0)
TYPE(uint8_t, 1)
TYPE(int16_t, 2)
TYPE(uint16_t, 3)
TYPE(int32_t, 4)
TYPE(uint32_t, 5)
TYPE(int64_t, 6)
TYPE(uint64_t, 7)
TYPE(half, 8)
TYPE(bfloat16_t, 9)
TYPE(float, 10)
TYPE(hifloat8_t, 11)
TYPE(fp8_e5m2_t, 12)
TYPE(fp8_e4m3fn_t, 13)
TYPE(fp8_e8m0_t, 14)
TYPE(fp4x2_e2m1_t, 15)
TYPE(fp4x2_e1m2_t, 16)
TYPE(int4b_t, 17)
#undef TYPE

// Three inputs for each type, then the results, one register each.
struct Slots {
    GM_ADDR memory;
    uint32_t next = 0;

    template <class T>
    __aicore__ Register<T> input(uint32_t area) const {
        Register<T> r;
        __builtin_memcpy(&r, memory + area * area_bytes + type_index<T> * register_bytes, sizeof r);
        return r;
    }
    template <class T>
    __aicore__ void keep(const T& value) {
        __builtin_memcpy(memory + results_at + next++ * register_bytes, &value, sizeof value);
    }
};

template <class... T>
struct Types {};

template <class Call, class... D, class... S>
__aicore__ inline void for_each_pair(Types<Pair<D, S>...>, const Call& call) {
    (call(Pair<D, S>{}), ...);
}

template <class T>
struct AsPair {
    using type = Pair<T, T>;
};
template <class D, class S>
struct AsPair<Pair<D, S>> {
    using type = Pair<D, S>;
};

// Two of the types; which ones depends on `seed`, so that every type has its turn.
template <uint32_t seed, class Call, class... T>
__aicore__ inline void for_some(Types<T...>, const Call& call) {
    constexpr uint32_t n = sizeof...(T);
    call(typename AsPair<__type_pack_element<seed % n, T...>>::type{});
    if constexpr (n > 1) call(typename AsPair<__type_pack_element<(seed + (n + 1) / 2) % n, T...>>::type{});
}

// Numbers on the host ------------------------------------------------------------------------------------------------

template <class T>
double value_of(const uint8_t* reg, uint64_t i) {
    if constexpr (std::is_same_v<T, int4b_t>) {
        const int bits = reg[i / 2] >> (i % 2 * 4) & 15;
        return bits >= 8 ? bits - 16 : bits;
    } else if constexpr (canopy::kernel::packing<T> == 2) {
        return static_cast<double>(T::Format::decode(reg[i / 2] >> (i % 2 * 4) & 15));
    } else if constexpr (type_index<T> >= 11) {
        return static_cast<double>(T::Format::decode(reg[i]));
    } else {
        T value;
        std::memcpy(&value, reg + i * sizeof value, sizeof value);
        return static_cast<double>(value);
    }
}

inline bool same_number(double got, double want, double tolerance) {
    if (std::isnan(want)) return std::isnan(got);
    return got == want || std::fabs(got - want) <= tolerance * std::fabs(want);
}

}  // namespace c_interface_test

#endif
