// SPDX-License-Identifier: Apache-2.0
// Work on the lanes of registers: rearranging, widening, loading, and two ways to compute. Operations of one or a few
// instructions work on vectors of the compiler, a part of a register at a time, so that intermediate values fit into
// the registers of the processor. Longer ones are loops over the elements, which the compiler vectorises.
#ifndef CANOPY_KERNEL_REGISTER_LANES_H
#define CANOPY_KERNEL_REGISTER_LANES_H

#include "canopy_kernel/registers/options.h"
#include "canopy_kernel/vector/bits.h"

#define CANOPY_LANES inline __attribute__((always_inline))
// The last template parameter of overloads that must not accept masks.
#define CANOPY_IF_REGISTER(U) class = canopy::kernel::registers::only_if<canopy::kernel::registers::is_register<U>>

namespace canopy::kernel::registers {

using AscendC::Reg::DefaultType;
using AscendC::Reg::RegTensor;

template <class T>
struct WithoutReference {
    using type = plain<T>;
};
template <class T>
struct WithoutReference<T&> {
    using type = plain<T>;
};
template <class T>
using plain_type = typename WithoutReference<T>::type;

template <class T>
inline constexpr bool is_register = false;
template <class T>
inline constexpr bool is_register<Register<T>> = true;
template <class T, const AscendC::Reg::RegTrait& trait>
inline constexpr bool is_register<RegTensor<T, trait>> = true;

template <class T>
inline constexpr bool is_complex = is_any_of<T, complex32, complex64>;

template <class U>
using element_type = typename U::ActualT;
template <class U>
inline constexpr bool has_two = U::trait.REG_NUM == 2;
// Bytes of an element as masks count them.
template <class U>
inline constexpr uint32_t mask_width = sizeof(element_type<U>) / U::trait.REG_NUM;
template <class U>
inline constexpr uint32_t lane_count = register_bytes / mask_width<U>;

// The template argument T of the interface is DefaultType or the element type of the register.
template <class T, class U>
inline constexpr bool names_element = is_any_of<plain<T>, DefaultType, element_type<U>>;

template <class T>
CANOPY_LANES Register<T>& first(Register<T>& r) {
    return r;
}
template <class T>
CANOPY_LANES const Register<T>& first(const Register<T>& r) {
    return r;
}
template <class T, const AscendC::Reg::RegTrait& trait>
CANOPY_LANES Register<T>& first(RegTensor<T, trait>& r) {
    return r.reg[0];
}
template <class T, const AscendC::Reg::RegTrait& trait>
CANOPY_LANES const Register<T>& first(const RegTensor<T, trait>& r) {
    return r.reg[0];
}

template <class To, class From>
CANOPY_LANES To lanes_as(const From& value) {
    static_assert(sizeof(To) == sizeof(From), "lanes_as needs vectors of one size");
    return __builtin_bit_cast(To, value);
}

template <class V>
struct LaneTraits;
template <class E, int n>
struct LaneTraits<E __attribute__((ext_vector_type(n)))> {
    using Element = E;
    static constexpr uint32_t count = n;
};
template <class V>
using lane_of = typename LaneTraits<V>::Element;
template <class V>
inline constexpr uint32_t count_of = LaneTraits<V>::count;

template <int... i>
struct Indices {
    static constexpr uint32_t count = sizeof...(i);
};
template <class, int... i>
struct IndicesOf {
    using type = Indices<i...>;
};
template <uint32_t count>
using indices = typename __make_integer_seq<IndicesOf, int, count>::type;

// result[i] = element Rule::at(i) of a followed by b.
template <class Rule, class V, int... i>
CANOPY_LANES auto choose_lanes(const V& a, const V& b, Indices<i...>) {
    return lanes_as<Lanes<lane_of<V>, sizeof...(i)>>(__builtin_shufflevector(a, b, Rule::at(i)...));
}

template <int start, int step = 1>
struct Every {
    static constexpr int at(int i) { return start + i * step; }
};
template <int times, int start = 0>
struct Repeated {
    static constexpr int at(int i) { return start + i / times; }
};
// From two vectors of n: a0 b0 a1 b1 ..., from pair `start` on.
template <int n, int start = 0>
struct Alternate {
    static constexpr int at(int i) { return start + i / 2 + i % 2 * n; }
};

template <uint32_t start, uint32_t n, class V>
CANOPY_LANES auto part_of(const V& value) {
    if constexpr (n == count_of<V>)
        return value;
    else
        return choose_lanes<Every<start>>(value, value, indices<n>{});
}

template <class V>
CANOPY_LANES auto joined(const V& low, const V& high) {
    return choose_lanes<Every<0>>(low, high, indices<2 * count_of<V>>{});
}

// Elements whose arithmetic type has 64 bytes, one or a few registers of the processor.
template <class T>
inline constexpr uint32_t part_count = 64 / sizeof(Wide<T>);

// A value that the compiler does not see through. It keeps parts of a register apart, halves in float, and the results
// of comparisons in lanes: as single bits they would be unpacked one by one.
template <class V>
CANOPY_LANES V held(const V& value) {
#pragma clang fp reassociate(on)  // without it, the compiler ignores the fence
    using Floats = Lanes<float, sizeof(V) / sizeof(float)>;
    return lanes_as<V>(__arithmetic_fence(lanes_as<Floats>(value)));
}

// An operation on vectors, computed for `n` elements at a time. The compiler would compute each step for the whole
// register before the next one, with more intermediate values than the processor has registers.
template <uint32_t n, class Operation, class V, class... Rest>
CANOPY_LANES auto in_parts(const Operation& operation, const V& a, const Rest&... rest) {
    constexpr uint32_t half_count = count_of<V> / 2;
    if constexpr (count_of<V> <= n) {
        return held(operation(held(a), held(rest)...));
    } else {
        const auto low = in_parts<n>(operation, part_of<0, half_count>(a), part_of<0, half_count>(rest)...);
        const auto high =
            in_parts<n>(operation, part_of<half_count, half_count>(a), part_of<half_count, half_count>(rest)...);
        return joined(low, high);
    }
}

// The vector type that holds n elements of type T in a register.
template <class T, uint32_t n>
using LanesFor = Lanes<LaneElement<T>, n>;

// The numbers of T as the type used for arithmetic, and back.
template <class T, class V>
CANOPY_LANES auto widen_lanes(const V& value) {
    if constexpr (is_same<T, half>) {
        return in_parts<part_count<T>>(
            [](const auto& part) {
                return __builtin_convertvector(part, Lanes<float, count_of<plain_type<decltype(part)>>>);
            },
            value);
    } else if constexpr (is_same<T, bfloat16_t>) {
        constexpr uint32_t n = count_of<V>;
        return lanes_as<Lanes<float, n>>(__builtin_convertvector(value, Lanes<uint32_t, n>) << 16);
    } else {
        return value;
    }
}

template <class T, class W>
CANOPY_LANES auto narrow_lanes(const W& value) {
    constexpr uint32_t n = count_of<W>;
    if constexpr (is_same<T, half>) {
        return __builtin_convertvector(value, Lanes<half, n>);
    } else if constexpr (is_same<T, bfloat16_t>) {
        const auto bits = lanes_as<Lanes<uint32_t, n>>(value);
        const auto rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        return __builtin_convertvector(value != value ? (bits >> 16) | 0x40u : rounded, Lanes<uint16_t, n>);
    } else {
        return value;
    }
}

template <class T>
inline constexpr bool is_short_float = is_any_of<T, half, bfloat16_t>;

// A few instructions.
template <class T, class Operation, class V, class... Rest>
CANOPY_LANES auto compute_in_parts(const Operation& operation, const V& a, const Rest&... rest) {
    return in_parts<part_count<T>>(
        [&](const auto&... part) { return narrow_lanes<T>(operation(widen_lanes<T>(part)...)); }, a, rest...);
}
// One instruction, unless 16-bit numbers have to be widened for it.
template <class T, class Operation, class V, class... Rest>
CANOPY_LANES auto compute_lanes(const Operation& operation, const V& a, const Rest&... rest) {
    if constexpr (is_short_float<T>)
        return compute_in_parts<T>(operation, a, rest...);
    else
        return operation(a, rest...);
}

template <class E, uint32_t n>
struct alignas(64) LaneArray {
    E element[n];
};

template <class V>
CANOPY_LANES auto array_of(const V& value) {
    LaneArray<lane_of<V>, count_of<V>> result;
    __builtin_memcpy(&result, &value, sizeof value);
    return result;
}
template <class E, uint32_t n>
CANOPY_LANES Lanes<E, n> lanes_of_array(const LaneArray<E, n>& array) {
    Lanes<E, n> result;
    __builtin_memcpy(&result, &array, sizeof result);
    return result;
}

// A loop over the elements: result[i] = operation(value[i]...), as an element of type E.
template <class E, uint32_t n, class Operation, class... S>
CANOPY_LANES void map_arrays(LaneArray<E, n>& result, const Operation& operation, const LaneArray<S, n>&... source) {
    CANOPY_VECTOR_LOOP
    for (uint32_t i = 0; i < n; ++i) result.element[i] = operation(source.element[i]...);
}
template <class E, class Operation, class V, class... Rest>
CANOPY_LANES auto map_lanes(const Operation& operation, const V& a, const Rest&... rest) {
    LaneArray<E, count_of<V>> result;
    map_arrays(result, operation, array_of(a), array_of(rest)...);
    return lanes_of_array(result);
}

// The same for numbers of type T, with an operation on their arithmetic type.
template <class T, class Operation, class V, class... Rest>
CANOPY_LANES auto compute_elements(const Operation& operation, const V& a, const Rest&... rest) {
    if constexpr (is_short_float<T>) {
        // As floats, so that the loop has one width.
        return in_parts<64>(
            [&](const auto&... part) { return narrow_lanes<T>(map_lanes<float>(operation, widen_lanes<T>(part)...)); },
            a, rest...);
    } else {
        return map_lanes<lane_of<V>>(operation, a, rest...);
    }
}

template <class V>
CANOPY_LANES V load_lanes(const void* from) {
    V result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
}
template <class V>
CANOPY_LANES void store_lanes(void* to, const V& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

// The numbers 0, 1, 2, ...
template <class E, uint32_t n>
struct CountTable {
    LaneArray<E, n> table = {};
    constexpr CountTable() {
        for (uint32_t i = 0; i < n; ++i) table.element[i] = static_cast<E>(i);
    }
};
template <class E, uint32_t n>
inline constexpr CountTable<E, n> count_table{};
template <class E, uint32_t n = register_bytes / sizeof(E)>
CANOPY_LANES Lanes<E, n> counting() {
    return lanes_of_array(count_table<E, n>.table);
}

// Two registers: the elements of both halves as 64-bit numbers, and back.
template <class U>
CANOPY_LANES auto read(const U& r) {
    using T = element_type<U>;
    if constexpr (!has_two<U>) {
        return first(r).lanes;
    } else {
        using Numbers = LanesFor<T, lane_count<U>>;
        using Half = Lanes<uint32_t>;
        const auto low = __builtin_convertvector(lanes_as<Half>(r.reg[0].lanes), Numbers);
        return low | (__builtin_convertvector(lanes_as<Half>(r.reg[1].lanes), Numbers) << 32);
    }
}

// The numbers of a complex register as floats.
template <uint32_t n>
struct ComplexLanes {
    Lanes<float, n> real, imaginary;
};

template <class T>
using part_type = choose<is_same<T, complex32>, half, float>;

template <class U>
CANOPY_LANES ComplexLanes<lane_count<U>> read_complex(const U& r) {
    using Part = part_type<element_type<U>>;
    constexpr uint32_t n = lane_count<U>;
    if constexpr (has_two<U>) {
        return {widen_lanes<Part>(lanes_as<Lanes<Part>>(r.reg[0].lanes)),
                widen_lanes<Part>(lanes_as<Lanes<Part>>(r.reg[1].lanes))};
    } else {
        const auto both = lanes_as<Lanes<Part>>(first(r).lanes);
        return {widen_lanes<Part>(choose_lanes<Every<0, 2>>(both, both, indices<n>{})),
                widen_lanes<Part>(choose_lanes<Every<1, 2>>(both, both, indices<n>{}))};
    }
}

}  // namespace canopy::kernel::registers

#endif
