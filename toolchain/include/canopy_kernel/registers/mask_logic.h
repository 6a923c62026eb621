// SPDX-License-Identifier: Apache-2.0
// Operations on masks: bits combined under another mask, and bits moved to the places of narrower or wider elements.
#ifndef CANOPY_KERNEL_REGISTER_MASK_LOGIC_H
#define CANOPY_KERNEL_REGISTER_MASK_LOGIC_H

#include "canopy_kernel/registers/masks.h"

namespace canopy::kernel::registers {

CANOPY_LANES bool are_lanes(const MaskReg& a, const MaskReg& b) {
    return a.form == MaskReg::in_lanes && b.form == MaskReg::in_lanes && a.width == b.width;
}

// Whether the mask selects exactly the elements for which `lanes` was made.
CANOPY_LANES bool covers(const MaskReg& mask, const MaskReg& lanes) {
    return mask.form == MaskReg::leading && mask.width == lanes.width && mask.bytes >= register_bytes;
}

CANOPY_LANES MaskReg same_lanes(const MaskReg& like, const Lanes<int8_t>& lanes) {
    MaskReg result = like;
    result.lanes = lanes;
    return result;
}

// Bits outside `mask` become 0. Results of comparisons stay lanes.
template <class Operation>
CANOPY_LANES void combine_masks(MaskReg& dst, const MaskReg& a, const MaskReg& b, const MaskReg& mask,
                                const Operation& operation) {
    if (are_lanes(a, b) && covers(mask, a)) {
        dst = same_lanes(a, operation(a.lanes, b.lanes));
        return;
    }
    const MaskBits left = bits_of(a), right = bits_of(b), within = bits_of(mask);
    MaskBits result;
    for (int i = 0; i < 4; ++i) result.word[i] = operation(left.word[i], right.word[i]) & within.word[i];
    dst = bit_mask(result);
}

// Groups of `width` bits of a, then b, alternate. `odd` starts with the second half of both.
template <uint32_t width>
CANOPY_LANES MaskBits interleave_bits(const MaskBits& a, const MaskBits& b, bool odd) {
    MaskBits result = {};
    for (uint32_t i = 0; i < register_bytes; ++i) {
        const uint32_t group = i / width, from = (odd ? 128 : 0) + group / 2 * width + i % width;
        const MaskBits& source = group % 2 == 0 ? a : b;
        result.word[i / 64] |= (source.word[from / 64] >> from % 64 & 1) << i % 64;
    }
    return result;
}
// From the sequence a, b: the even or the odd groups.
template <uint32_t width>
CANOPY_LANES MaskBits deinterleave_bits(const MaskBits& a, const MaskBits& b, bool odd) {
    MaskBits result = {};
    for (uint32_t i = 0; i < register_bytes; ++i) {
        const uint32_t from = (i / width * 2 + (odd ? 1 : 0)) * width + i % width;
        const MaskBits& source = from < register_bytes ? a : b;
        result.word[i / 64] |= (source.word[from % 256 / 64] >> from % 64 & 1) << i % 64;
    }
    return result;
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

CANOPY_LANES void Not(MaskReg& dst, const MaskReg& src, const MaskReg& mask) {
    canopy::kernel::registers::combine_masks(dst, src, src, mask, [](const auto& a, const auto&) { return ~a; });
}
CANOPY_LANES void And(MaskReg& dst, const MaskReg& src0, const MaskReg& src1, const MaskReg& mask) {
    canopy::kernel::registers::combine_masks(dst, src0, src1, mask, [](const auto& a, const auto& b) { return a & b; });
}
CANOPY_LANES void Or(MaskReg& dst, const MaskReg& src0, const MaskReg& src1, const MaskReg& mask) {
    canopy::kernel::registers::combine_masks(dst, src0, src1, mask, [](const auto& a, const auto& b) { return a | b; });
}
CANOPY_LANES void Xor(MaskReg& dst, const MaskReg& src0, const MaskReg& src1, const MaskReg& mask) {
    canopy::kernel::registers::combine_masks(dst, src0, src1, mask, [](const auto& a, const auto& b) { return a ^ b; });
}
CANOPY_LANES void Move(MaskReg& dst, const MaskReg& src, const MaskReg& mask) {
    canopy::kernel::registers::combine_masks(dst, src, src, mask, [](const auto& a, const auto&) { return a; });
}
CANOPY_LANES void Move(MaskReg& dst, const MaskReg& src) { dst = src; }

// Bits of src0 where the mask is set, of src1 elsewhere.
CANOPY_LANES void Select(MaskReg& dst, const MaskReg& src0, const MaskReg& src1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    const MaskBits a = bits_of(src0), b = bits_of(src1), choice = bits_of(mask);
    MaskBits result;
    for (int i = 0; i < 4; ++i) result.word[i] = (a.word[i] & choice.word[i]) | (b.word[i] & ~choice.word[i]);
    dst = bit_mask(result);
}

template <typename T>
CANOPY_LANES void Interleave(MaskReg& dst0, MaskReg& dst1, const MaskReg& src0, const MaskReg& src1) {
    using namespace canopy::kernel::registers;
    const MaskBits a = bits_of(src0), b = bits_of(src1);
    dst0 = bit_mask(interleave_bits<sizeof(T)>(a, b, false));
    dst1 = bit_mask(interleave_bits<sizeof(T)>(a, b, true));
}
template <typename T>
CANOPY_LANES void DeInterleave(MaskReg& dst0, MaskReg& dst1, const MaskReg& src0, const MaskReg& src1) {
    using namespace canopy::kernel::registers;
    const MaskBits a = bits_of(src0), b = bits_of(src1);
    dst0 = bit_mask(deinterleave_bits<sizeof(T)>(a, b, false));
    dst1 = bit_mask(deinterleave_bits<sizeof(T)>(a, b, true));
}

// Even bits of src in one half of dst; the other half becomes 0.
template <HighLowPart part = HighLowPart::LOWEST>
CANOPY_LANES void Pack(MaskReg& dst, const MaskReg& src) {
    using namespace canopy::kernel::registers;
    const HalfMaskBits packed = even_bits(bits_of(src));
    if constexpr (part == HighLowPart::LOWEST)
        dst = bit_mask({{packed.word[0], packed.word[1], 0, 0}});
    else
        dst = bit_mask({{0, 0, packed.word[0], packed.word[1]}});
}
// Bit i of one half of src becomes bit 2i; odd bits become 0.
template <HighLowPart part = HighLowPart::LOWEST>
CANOPY_LANES void UnPack(MaskReg& dst, const MaskReg& src) {
    using namespace canopy::kernel::registers;
    const MaskBits bits = bits_of(src);
    constexpr int first_word = part == HighLowPart::LOWEST ? 0 : 2;
    dst = bit_mask(spread_bits(HalfMaskBits{{bits.word[first_word], bits.word[first_word + 1]}}));
}

}  // namespace AscendC::Reg

#endif
