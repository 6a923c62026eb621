// SPDX-License-Identifier: Apache-2.0
// Registers whose elements change places or width: interleaving, packing, compaction by a mask, lookup and counting.
#ifndef CANOPY_KERNEL_REGISTER_REARRANGE_H
#define CANOPY_KERNEL_REGISTER_REARRANGE_H

#include "canopy_kernel/registers/compare.h"

namespace canopy::kernel::registers {

using AscendC::Reg::GatherMaskMode;
using AscendC::Reg::HistogramsBinType;
using AscendC::Reg::HistogramsType;

// Calls act(i) for the selected elements in ascending order.
template <uint32_t width, class Act>
CANOPY_LANES void for_each_selected(const MaskReg& mask, const Act& act) {
    const MaskBits bits = bits_of(mask);
    for (uint32_t word = 0; word < 4; ++word)
        for (uint64_t left = bits.word[word] & element_bits(width); left != 0; left &= left - 1)
            act((word * 64 + static_cast<uint32_t>(__builtin_ctzll(left))) / width);
}

template <class U>
CANOPY_LANES void interleave(U& dst0, U& dst1, const U& src0, const U& src1) {
    using Own = Lanes<LaneElement<element_type<U>>>;
    using E = unsigned_of<mask_width<U>>;
    constexpr uint32_t n = lane_count<U>;
    const auto one = [](Register<element_type<U>>& to0, Register<element_type<U>>& to1,
                        const Register<element_type<U>>& from0, const Register<element_type<U>>& from1) {
        const auto a = lanes_as<Lanes<E>>(from0.lanes), b = lanes_as<Lanes<E>>(from1.lanes);
        to0.lanes = lanes_as<Own>(choose_lanes<Alternate<n>>(a, b, indices<n>{}));
        to1.lanes = lanes_as<Own>(choose_lanes<Alternate<n, n / 2>>(a, b, indices<n>{}));
    };
    if constexpr (has_two<U>) {
        one(dst0.reg[0], dst1.reg[0], src0.reg[0], src1.reg[0]);
        one(dst0.reg[1], dst1.reg[1], src0.reg[1], src1.reg[1]);
    } else {
        one(first(dst0), first(dst1), first(src0), first(src1));
    }
}
template <class U>
CANOPY_LANES void deinterleave(U& dst0, U& dst1, const U& src0, const U& src1) {
    using Own = Lanes<LaneElement<element_type<U>>>;
    using E = unsigned_of<mask_width<U>>;
    constexpr uint32_t n = lane_count<U>;
    const auto one = [](Register<element_type<U>>& to0, Register<element_type<U>>& to1,
                        const Register<element_type<U>>& from0, const Register<element_type<U>>& from1) {
        const auto a = lanes_as<Lanes<E>>(from0.lanes), b = lanes_as<Lanes<E>>(from1.lanes);
        to0.lanes = lanes_as<Own>(choose_lanes<Every<0, 2>>(a, b, indices<n>{}));
        to1.lanes = lanes_as<Own>(choose_lanes<Every<1, 2>>(a, b, indices<n>{}));
    };
    if constexpr (has_two<U>) {
        one(dst0.reg[0], dst1.reg[0], src0.reg[0], src1.reg[0]);
        one(dst0.reg[1], dst1.reg[1], src0.reg[1], src1.reg[1]);
    } else {
        one(first(dst0), first(dst1), first(src0), first(src1));
    }
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// src0[0], src1[0], src0[1], ...: the first half to dst0, the second to dst1.
template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Interleave(U& dstReg0, U& dstReg1, const U& srcReg0, const U& srcReg1) {
    canopy::kernel::registers::interleave(dstReg0, dstReg1, srcReg0, srcReg1);
}
// From src0 followed by src1: even elements to dst0, odd ones to dst1.
template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void DeInterleave(U& dstReg0, U& dstReg1, const U& srcReg0, const U& srcReg1) {
    canopy::kernel::registers::deinterleave(dstReg0, dstReg1, srcReg0, srcReg1);
}

// The lower half of the bits of each element, in one half of dst; the other half becomes 0.
template <typename T = DefaultType, typename U = DefaultType, HighLowPart part = HighLowPart::LOWEST, typename S,
          typename V, CANOPY_IF_REGISTER(S)>
CANOPY_LANES void Pack(S& dstReg, const V& srcReg) {
    using namespace canopy::kernel::registers;
    constexpr uint32_t width = sizeof(element_type<V>), n = register_bytes / width;
    static_assert(2 * sizeof(element_type<S>) == width, "Pack: dst elements have half the width of src elements");
    using Half = Lanes<unsigned_of<width / 2>, n>;
    const Half packed = __builtin_convertvector(lanes_as<Lanes<unsigned_of<width>>>(first(srcReg).lanes), Half);
    const Half zero = 0;
    const auto both = part == HighLowPart::LOWEST ? joined(packed, zero) : joined(zero, packed);
    first(dstReg).lanes = lanes_as<Lanes<LaneElement<element_type<S>>>>(both);
}
// One half of src, with the sign or zeros in the added bits.
template <typename T = DefaultType, typename U = DefaultType, HighLowPart part = HighLowPart::LOWEST, typename S,
          typename V, CANOPY_IF_REGISTER(S)>
CANOPY_LANES void UnPack(S& dstReg, const V& srcReg) {
    using namespace canopy::kernel::registers;
    using D = element_type<S>;
    using E = element_type<V>;
    static_assert(is_integer<D> && is_integer<E> && sizeof(D) == 2 * sizeof(E),
                  "UnPack: dst elements are integers of twice the width of src elements");
    constexpr uint32_t n = lane_count<S>, start = part == HighLowPart::LOWEST ? 0 : n;
    first(dstReg).lanes = __builtin_convertvector((part_of<start, n>(first(srcReg).lanes)), Lanes<D>);
}

// Moves the selected elements together; the rest becomes 0. STORE_REG counts their bytes in AR.
template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, typename U>
CANOPY_LANES void Squeeze(U& dstReg, const U& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    static_assert(!has_two<U>, "Squeeze: one register");
    constexpr uint32_t width = mask_width<U>;
    const auto from = array_of(first(srcReg).lanes);
    LaneArray<LaneElement<element_type<U>>, lane_count<U>> result = {};
    uint32_t kept = 0;
    for_each_selected<width>(mask, [&](uint32_t i) { result.element[kept++] = from.element[i]; });
    first(dstReg).lanes = lanes_of_array(result);
    if constexpr (store == GatherMaskMode::STORE_REG) {
        auto& squeezed = core_state().squeezed;
        squeezed.last = kept * width;
        squeezed.total += squeezed.last;
    }
}
// dst[i] = the number of selected elements before i.
template <typename T = DefaultType, typename U>
CANOPY_LANES void Unsqueeze(U& dstReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using E = element_type<U>;
    static_assert(is_integer<E> && !has_two<U>, "Unsqueeze: the counts are integers in one register");
    constexpr uint32_t width = mask_width<U>;
    const auto selected = array_of(selected_lanes<width>(mask));
    LaneArray<E, lane_count<U>> result;
    E before = 0;
    for (uint32_t i = 0; i < lane_count<U>; ++i) {
        result.element[i] = before;
        before = static_cast<E>(before - static_cast<E>(selected.element[i]));
    }
    first(dstReg).lanes = lanes_of_array(result);
}

// dst[i] = src[index[i]], with indices modulo the number of elements.
template <typename T = DefaultType, typename U = DefaultType, typename S, typename V, CANOPY_IF_REGISTER(V)>
CANOPY_LANES void Gather(S& dstReg, const S& srcReg, const V& indexReg) {
    using namespace canopy::kernel::registers;
    static_assert(is_unsigned_integer<element_type<V>> && sizeof(element_type<V>) == sizeof(element_type<S>),
                  "Gather: indices are unsigned integers of the width of the elements");
    constexpr uint32_t n = lane_count<S>;
    const auto from = array_of(first(srcReg).lanes);
    first(dstReg).lanes = map_lanes<LaneElement<element_type<S>>>(
        [&](auto index) { return from.element[static_cast<uint32_t>(index) & (n - 1)]; }, first(indexReg).lanes);
}

// Adds to dst[v] the number of selected bytes with value v (BIN0) or v + 128 (BIN1); ACCUMULATE: with that value or
// less.
template <typename T = DefaultType, typename U = DefaultType, HistogramsBinType mode, HistogramsType type, typename S,
          typename V>
CANOPY_LANES void Histograms(V& dstReg, const S& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    static_assert(is_same<element_type<S>, uint8_t> && is_same<element_type<V>, uint16_t>,
                  "Histograms: the values are uint8_t, the counts uint16_t");
    static_assert(mode == HistogramsBinType::BIN0 || mode == HistogramsBinType::BIN1,
                  "Histograms: only BIN0 and BIN1 exist");
    const auto values = array_of(first(srcReg).lanes);
    uint16_t counts[256] = {};
    for_each_selected<1>(mask, [&](uint32_t i) { ++counts[values.element[i]]; });
    if constexpr (type == HistogramsType::ACCUMULATE)
        for (uint32_t v = 1; v < 256; ++v) counts[v] = static_cast<uint16_t>(counts[v] + counts[v - 1]);
    first(dstReg).lanes += load_lanes<Lanes<uint16_t>>(counts + (mode == HistogramsBinType::BIN0 ? 0 : 128));
}

}  // namespace AscendC::Reg

#endif
