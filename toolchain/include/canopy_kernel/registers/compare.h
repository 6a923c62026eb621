// SPDX-License-Identifier: Apache-2.0
// Comparisons of registers, selection, and registers made from numbers: copies, repetitions, sequences and whole
// numbers. A comparison with NaN is false, except "not equal".
#ifndef CANOPY_KERNEL_REGISTER_COMPARE_H
#define CANOPY_KERNEL_REGISTER_COMPARE_H

#include "canopy_kernel/registers/functions.h"
#include "canopy_kernel/vector/vector_compare.h"

namespace canopy::kernel::registers {

using AscendC::Reg::IndexOrder;

// The lanes of a comparison, with the width that masks for T have.
template <CMPMODE mode, class T, uint32_t width, class V, class... Rest>
CANOPY_LANES auto compare_lanes(const V& a, const Rest&... b) {
    return in_parts<part_count<T>>(
        [](const auto& x, const auto&... y) {
            using Result = Lanes<typename IntegerOfSize<width>::type, count_of<plain_type<decltype(x)>>>;
            return __builtin_convertvector(relate<mode>(widen_lanes<T>(x), widen_lanes<T>(y)...), Result);
        },
        a, b...);
}

template <uint32_t width, class V>
CANOPY_LANES void write_comparison(MaskReg& dst, const V& lanes, const MaskReg& mask) {
    dst = lane_mask(
        blended<MaskMergeMode::ZEROING, width>(lanes_as<SelectedLanes<width>>(lanes), SelectedLanes<width>(0), mask));
}

// One value of T in all lanes, as the register holds it.
template <class U, class S>
CANOPY_LANES auto repeated(const S& scalar) {
    using T = element_type<U>;
    using V = LanesFor<T, lane_count<U>>;
    if constexpr (is_number<T>) {
        const auto value = narrow<T>(scalar_of<T>(scalar));
        const V result = __builtin_bit_cast(lane_of<V>, value);
        return result;
    } else if constexpr (is_same<S, T>) {
        const V result = __builtin_bit_cast(lane_of<V>, scalar);
        return result;
    } else {
        static_assert(sizeof(T) == sizeof(S), "Duplicate: the number has not the type of the register");
        const V result = __builtin_bit_cast(lane_of<V>, scalar);
        return result;
    }
}

// Element `from`, of `width` bytes, in all lanes.
template <uint32_t width, uint32_t from, class V>
CANOPY_LANES V spread_element(const V& value) {
    const auto bits = lanes_as<Lanes<unsigned_of<width>>>(value);
    return lanes_as<V>(choose_lanes<Every<from, 0>>(bits, bits, indices<register_bytes / width>{}));
}

template <class U, class S>
CANOPY_LANES auto sequence(const S& start, bool decreasing) {
    using T = element_type<U>;
    constexpr uint32_t n = lane_count<U>;
    using C = choose<is_short_float<T>, float, T>;
    const Lanes<C, n> up = counting<C, n>();
    const Lanes<C, n> first_number = static_cast<C>(scalar_of<T>(start));
    const Lanes<C, n> last = static_cast<C>(n - 1);
    return narrow_lanes<T>(first_number + (decreasing ? last - up : up));
}

template <RoundMode mode>
struct LaneRound {
    template <class V>
    V operator()(const V& x) const {
        if constexpr (mode == RoundMode::CAST_FLOOR)
            return __builtin_elementwise_floor(x);
        else if constexpr (mode == RoundMode::CAST_CEIL)
            return __builtin_elementwise_ceil(x);
        else if constexpr (mode == RoundMode::CAST_TRUNC)
            return __builtin_elementwise_trunc(x);
        else
            return __builtin_elementwise_roundeven(x);
    }
};

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U>
CANOPY_LANES void Compare(MaskReg& dst, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Compare, is_number<E>)
    constexpr uint32_t width = mask_width<U>;
    write_comparison<width>(dst, compare_lanes<mode, E, width>(read(srcReg0), read(srcReg1)), mask);
}
template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U, typename S>
CANOPY_LANES void Compares(MaskReg& dst, const U& srcReg, S scalarValue, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Compares, is_number<E>)
    constexpr uint32_t width = mask_width<U>;
    const auto number = repeated<U>(scalarValue);
    write_comparison<width>(dst, compare_lanes<mode, E, width>(read(srcReg), number), mask);
}

// src0 where the mask is set, src1 elsewhere.
template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Select(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Select, sizeof(E) != 0)
    constexpr uint32_t width = mask_width<U>;
    constexpr auto merging = MaskMergeMode::MERGING;
    if constexpr (has_two<U>) {
        for (int i = 0; i < 2; ++i)
            dstReg.reg[i].lanes = blended<merging, width>(srcReg0.reg[i].lanes, srcReg1.reg[i].lanes, mask);
    } else {
        first(dstReg).lanes = blended<merging, width>(first(srcReg0).lanes, first(srcReg1).lanes, mask);
    }
}

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Move(U& dstReg, const U& srcReg, MaskReg mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Move, sizeof(E) != 0)
    if constexpr (is_complex<E>)
        write_complex<mode>(dstReg, read_complex(srcReg), mask);
    else
        write<mode>(dstReg, read(srcReg), mask);
}
template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Move(U& dstReg, const U& srcReg) {
    dstReg = srcReg;
}

// One number in all lanes.
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, typename S,
          class = canopy::kernel::registers::only_if<!canopy::kernel::registers::is_register<U>>>
CANOPY_LANES void Duplicate(S& dstReg, U scalarValue, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    if constexpr (is_complex<element_type<S>>)
        write_complex<mode>(dstReg, complex_all<element_type<S>, lane_count<S>>(scalarValue), mask);
    else
        write<mode>(dstReg, repeated<S>(scalarValue), mask);
}
template <typename T = DefaultType, typename U, typename S,
          class = canopy::kernel::registers::only_if<!canopy::kernel::registers::is_register<U>>>
CANOPY_LANES void Duplicate(S& dstReg, U scalarValue) {
    using namespace canopy::kernel::registers;
    Duplicate<T, MaskMergeMode::ZEROING>(dstReg, scalarValue, leading_mask(mask_width<S>, lane_count<S>));
}
// The first or the last element of a register in all lanes.
template <typename T = DefaultType, HighLowPart pos = HighLowPart::LOWEST, MaskMergeMode mode = MaskMergeMode::ZEROING,
          typename S, CANOPY_IF_REGISTER(S)>
CANOPY_LANES void Duplicate(S& dstReg, const S& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    constexpr uint32_t from = pos == HighLowPart::LOWEST ? 0 : lane_count<S> - 1;
    constexpr uint32_t width = mask_width<S>;
    if constexpr (has_two<S>) {
        for (int i = 0; i < 2; ++i)
            dstReg.reg[i].lanes =
                blended<mode, width>(spread_element<width, from>(srcReg.reg[i].lanes), dstReg.reg[i].lanes, mask);
    } else {
        auto& lanes = first(dstReg).lanes;
        lanes = blended<mode, width>(spread_element<width, from>(first(srcReg).lanes), lanes, mask);
    }
}

// s, s + 1, ...; decreasing: the same numbers from the last to the first.
template <typename T = DefaultType, IndexOrder order = IndexOrder::INCREASE_ORDER, typename U, typename S>
CANOPY_LANES void Arange(S& dstReg, U scalarValue) {
    using namespace canopy::kernel::registers;
    static_assert(is_number<element_type<S>>, "Arange: this element type is not supported");
    write<MaskMergeMode::ZEROING>(dstReg, sequence<S>(scalarValue, order == IndexOrder::DECREASE_ORDER),
                                  leading_mask(mask_width<S>, lane_count<S>));
}

// Rounds to whole numbers.
template <typename T = DefaultType, RoundMode roundMode = RoundMode::CAST_NONE,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>
CANOPY_LANES void Truncate(U& dstReg, const U& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Truncate, is_vector_float<E>)
    if constexpr (roundMode == RoundMode::CAST_ROUND)
        apply_elements<mode>(
            dstReg, mask, [](float x) { return math::nearest_away(x); }, srcReg);
    else
        apply<mode>(dstReg, mask, LaneRound<roundMode>{}, srcReg);
}

}  // namespace AscendC::Reg

#endif
