// SPDX-License-Identifier: Apache-2.0
// Reductions of a register: over all selected elements, over blocks of 32 bytes, and over neighbours. Neighbours are
// combined first, then their results, and so on.
#ifndef CANOPY_KERNEL_REGISTER_REDUCE_H
#define CANOPY_KERNEL_REGISTER_REDUCE_H

#include "canopy_kernel/registers/compare.h"

namespace canopy::kernel::registers {

using AscendC::Reg::PairReduce;
using AscendC::Reg::ReduceType;

// Combines neighbours until `n` values are left.
template <uint32_t n, class Operation, class V>
CANOPY_LANES auto combine_neighbours(const Operation& operation, const V& value) {
    if constexpr (count_of<V> == n) {
        return value;
    } else {
        constexpr uint32_t half_count = count_of<V> / 2;
        const auto even = choose_lanes<Every<0, 2>>(value, value, indices<half_count>{});
        const auto odd = choose_lanes<Every<1, 2>>(value, value, indices<half_count>{});
        return combine_neighbours<n>(operation, operation(even, odd));
    }
}

// The numbers of a register as type W; unselected elements are `filler`.
template <class W, class U>
CANOPY_LANES auto selected_numbers(const U& src, const MaskReg& mask, W filler) {
    using T = element_type<U>;
    constexpr uint32_t n = lane_count<U>, width = mask_width<U>;
    using Numbers = Lanes<W, n>;
    const auto wide = widen_lanes<T>(read(src));
    Numbers numbers = __builtin_convertvector(wide, Numbers);
    if (__builtin_expect(!selects_all<width>(mask), 0)) {
        using Choice = Lanes<typename IntegerOfSize<sizeof(W)>::type, n>;
        const Numbers other = filler;
        numbers = __builtin_convertvector(selected_lanes<width>(mask), Choice) ? numbers : other;
    }
    return numbers;
}

template <int count>
struct ThenZeros {
    static constexpr int at(int i) { return i < count ? i : count; }
};

// The first elements of dst become `values`, the others 0 (or stay, when merging).
template <MaskMergeMode mode, class U, class V>
CANOPY_LANES void write_leading(U& dst, const V& values) {
    using T = element_type<U>;
    constexpr uint32_t n = lane_count<U>, count = count_of<V>;
    const auto narrow_values = narrow_lanes<T>(values);
    const auto result = choose_lanes<ThenZeros<count>>(narrow_values, LanesFor<T, count>(0), indices<n>{});
    write<mode>(dst, result, leading_mask(mask_width<U>, mode == MaskMergeMode::MERGING ? count : n));
}

// The type in which numbers of T are summed into D.
template <class D>
using SumType = choose<is_short_float<D>, float, D>;

template <class T, bool largest>
constexpr Wide<T> extreme_filler() {
    if constexpr (is_vector_float<T>)
        return largest ? -__builtin_inff() : __builtin_inff();
    else if constexpr (is_same<T, uint64_t>)
        return largest ? T(0) : ~T(0);
    else
        return static_cast<T>(largest ? Limits<T>::lowest : Limits<T>::highest);
}

template <ReduceType type>
using ExtremeLanes = choose<type == ReduceType::MAX, LaneMax, LaneMin>;

// The value and the index of its first element; a NaN wins.
template <ReduceType type, MaskMergeMode mode, class U>
CANOPY_LANES void reduce_extreme(U& dst, const U& src, const MaskReg& mask) {
    using T = element_type<U>;
    using W = Wide<T>;
    constexpr uint32_t n = lane_count<U>, width = mask_width<U>;
    const auto numbers = selected_numbers<W>(src, mask, extreme_filler<T, type == ReduceType::MAX>());
    const W value = combine_neighbours<1>(ExtremeLanes<type>{}, numbers)[0];
    // NaN equals NaN here; unselected elements are not candidates.
    const Lanes<W, n> all = value;
    using Choice = Lanes<typename IntegerOfSize<sizeof(W)>::type, n>;
    auto same = lanes_as<Choice>(numbers == all);
    if constexpr (is_vector_float<T>) same |= (numbers != numbers) & (all != all);
    same &= __builtin_convertvector(selected_lanes<width>(mask), Choice);
    const auto candidates = array_of(__builtin_convertvector(same, Lanes<int8_t, n>));
    uint32_t index = 0;
    while (index < n && candidates.element[index] == 0) ++index;
    if (index == n) index = 0;
    LaneArray<LaneElement<T>, n> result = {};
    result.element[0] = __builtin_bit_cast(LaneElement<T>, narrow<T>(value));
    result.element[1] = __builtin_bit_cast(LaneElement<T>, static_cast<unsigned_of<sizeof(T)>>(index));
    write<mode>(dst, lanes_of_array(result), leading_mask(width, mode == MaskMergeMode::MERGING ? 2 : n));
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// SUM: dst[0]. MAX, MIN: the value in dst[0], its index in dst[1]. 16-bit integers may be summed into 32 bits.
template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V>
CANOPY_LANES void Reduce(S& dstReg, const V& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using D = element_type<S>;
    static_assert(is_number<D> && is_number<element_type<V>>, "Reduce: this element type is not supported");
    if constexpr (type == ReduceType::SUM) {
        using W = SumType<D>;
        const auto numbers = selected_numbers<W>(srcReg, mask, W(0));
        write_leading<mode>(dstReg, combine_neighbours<1>(LaneAdd{}, numbers));
    } else {
        static_assert(is_same<D, element_type<V>>, "Reduce: an extreme has the type of the source");
        reduce_extreme<type, mode>(dstReg, srcReg, mask);
    }
}

// The result of block i in dst[i].
template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          class = canopy::kernel::registers::only_if<!canopy::kernel::registers::is_same<S, V>>>
CANOPY_LANES void ReduceDataBlock(S& dstReg, const V& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    static_assert(type == ReduceType::SUM, "ReduceDataBlock: an extreme has the type of the source");
    using W = SumType<element_type<S>>;
    const auto numbers = selected_numbers<W>(srcReg, mask, W(0));
    write_leading<mode>(dstReg, combine_neighbours<8>(LaneAdd{}, numbers));
}
template <ReduceType type = ReduceType::SUM, typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING,
          typename U>
CANOPY_LANES void ReduceDataBlock(U& dstReg, const U& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using E = element_type<U>;
    if constexpr (type == ReduceType::SUM) {
        using W = SumType<E>;
        write_leading<mode>(dstReg, combine_neighbours<8>(LaneAdd{}, selected_numbers<W>(srcReg, mask, W(0))));
    } else {
        const auto numbers = selected_numbers<Wide<E>>(srcReg, mask, extreme_filler<E, type == ReduceType::MAX>());
        write_leading<mode>(dstReg, combine_neighbours<8>(ExtremeLanes<type>{}, numbers));
    }
}

// dst[i] = src[2i] + src[2i + 1] in the lower half, 0 in the upper one.
template <PairReduce type = PairReduce::SUM, typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING,
          typename U>
CANOPY_LANES void PairReduceElem(U& dstReg, const U& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using W = SumType<element_type<U>>;
    constexpr uint32_t pairs = lane_count<U> / 2;
    write_leading<mode>(dstReg, combine_neighbours<pairs>(LaneAdd{}, selected_numbers<W>(srcReg, mask, W(0))));
}

}  // namespace AscendC::Reg

#endif
