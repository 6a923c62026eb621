// SPDX-License-Identifier: Apache-2.0
// Masks: conversion between their forms, how results and stores obey them, and the functions that make and combine
// them. With a mask that selects everything, which is the usual case, no operation computes anything for the mask.
#ifndef CANOPY_KERNEL_REGISTER_MASKS_H
#define CANOPY_KERNEL_REGISTER_MASKS_H

#include "canopy_kernel/registers/lanes.h"

namespace canopy::kernel::registers {

using AscendC::Reg::HighLowPart;
using AscendC::Reg::MaskPattern;
using AscendC::Reg::MaskReg;
using AscendC::Reg::RegTrait;

struct MaskBits {
    uint64_t word[4];
};

// The bits that elements of `width` bytes use.
constexpr uint64_t element_bits(uint32_t width) {
    return width == 1   ? ~0ull
           : width == 2 ? 0x5555555555555555ull
           : width == 4 ? 0x1111111111111111ull
                        : 0x0101010101010101ull;
}

CANOPY_LANES MaskReg leading_mask(uint32_t width, uint32_t elements) {
    MaskReg mask;
    mask.form = MaskReg::leading;
    mask.width = static_cast<uint8_t>(width);
    mask.bytes = elements * width;
    return mask;
}

CANOPY_LANES MaskReg bit_mask(const MaskBits& bits) {
    MaskReg mask;
    mask.form = MaskReg::in_bits;
    mask.width = 1;
    for (int i = 0; i < 4; ++i) mask.bits[i] = bits.word[i];
    return mask;
}

// `lanes` has elements of all ones or all zeros.
template <class V>
CANOPY_LANES MaskReg lane_mask(const V& lanes) {
    MaskReg mask;
    mask.form = MaskReg::in_lanes;
    mask.width = sizeof(lane_of<V>);
    mask.lanes = lanes_as<Lanes<int8_t>>(lanes);
    return mask;
}

CANOPY_LANES MaskBits bits_of(const MaskReg& mask) {
    MaskBits result;
    if (mask.form == MaskReg::leading) {
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t left = mask.bytes > 64 * i ? mask.bytes - 64 * i : 0;
            result.word[i] = element_bits(mask.width) & leading_ones(left);
        }
    } else if (mask.form == MaskReg::in_lanes) {
        typedef bool Bits __attribute__((ext_vector_type(256)));
        result = __builtin_bit_cast(MaskBits, __builtin_convertvector(mask.lanes < 0, Bits));
        for (auto& word : result.word) word &= element_bits(mask.width);
    } else {
        for (int i = 0; i < 4; ++i) result.word[i] = mask.bits[i];
    }
    return result;
}

template <uint32_t width>
CANOPY_LANES bool selects_all(const MaskReg& mask) {
    return mask.form == MaskReg::leading && mask.width <= width && mask.bytes >= register_bytes;
}

template <uint32_t width>
using SelectedLanes = Lanes<typename IntegerOfSize<width>::type>;

// Eight elements of `width` bytes have 8 * width bits: a number of that size, from which each takes its bit.
template <uint32_t width>
struct BitTable {
    LaneArray<unsigned_of<width>, register_bytes / width> table = {};
    constexpr BitTable() {
        for (uint32_t i = 0; i < register_bytes / width; ++i)
            table.element[i] = static_cast<unsigned_of<width>>(1ull << (i % 8 * width));
    }
};
template <uint32_t width>
inline constexpr BitTable<width> bit_table{};

template <uint32_t width>
CANOPY_LANES SelectedLanes<width> lanes_from_bits(const MaskBits& bits) {
    using Unsigned = unsigned_of<width>;
    constexpr uint32_t n = register_bytes / width;
    const auto groups = __builtin_bit_cast(Lanes<Unsigned, 32 / width>, bits);
    const auto own = lanes_of_array(bit_table<width>.table);
    return lanes_as<SelectedLanes<width>>((choose_lanes<Repeated<8>>(groups, groups, indices<n>{}) & own) == own);
}

template <uint32_t width>
CANOPY_LANES SelectedLanes<width> leading_lanes(uint32_t bytes) {
    if constexpr (width == 1) {
        if (bytes == 0) return 0;
        return lanes_as<SelectedLanes<1>>(counting<uint8_t>() <= static_cast<uint8_t>(bytes - 1));
    } else {
        using Signed = typename IntegerOfSize<width>::type;
        return counting<Signed>() < static_cast<Signed>((bytes + width - 1) / width);
    }
}

// All ones in the elements that the mask selects.
template <uint32_t width>
CANOPY_LANES SelectedLanes<width> selected_lanes(const MaskReg& mask) {
    if (mask.form == MaskReg::in_lanes && mask.width == width) return lanes_as<SelectedLanes<width>>(mask.lanes);
    if (mask.form == MaskReg::leading && mask.width <= width) return leading_lanes<width>(mask.bytes);
    return lanes_from_bits<width>(bits_of(mask));
}

// The result of an operation as the mask and the merge mode let it reach the destination.
template <MaskMergeMode mode, uint32_t width, class V>
CANOPY_LANES V blended(const V& result, [[maybe_unused]] const V& old, const MaskReg& mask) {
    if (__builtin_expect(selects_all<width>(mask), 1)) return result;
    const SelectedLanes<width> selected = selected_lanes<width>(mask);
    const auto bits = lanes_as<SelectedLanes<width>>(result);
    if constexpr (mode == MaskMergeMode::MERGING)
        return lanes_as<V>((bits & selected) | (lanes_as<SelectedLanes<width>>(old) & ~selected));
    else
        return lanes_as<V>(bits & selected);
}

template <MaskMergeMode mode, class U, class V>
CANOPY_LANES void write(U& dst, const V& value, const MaskReg& mask) {
    constexpr uint32_t width = mask_width<U>;
    using Own = Lanes<LaneElement<element_type<U>>>;
    if constexpr (has_two<U>) {
        using Half = Lanes<uint32_t>;
        const auto bits = lanes_as<Lanes<uint64_t, 64>>(value);
        const auto put = [&](Register<element_type<U>>& r, const Half& half) {
            r.lanes = lanes_as<Own>(blended<mode, width>(half, lanes_as<Half>(r.lanes), mask));
        };
        put(dst.reg[0], __builtin_convertvector(bits, Half));
        put(dst.reg[1], __builtin_convertvector(bits >> 32, Half));
    } else {
        auto& lanes = first(dst).lanes;
        lanes = blended<mode, width>(lanes_as<Own>(value), lanes, mask);
    }
}

template <MaskMergeMode mode, class U>
CANOPY_LANES void write_complex(U& dst, const ComplexLanes<lane_count<U>>& value, const MaskReg& mask) {
    using T = element_type<U>;
    using Part = part_type<T>;
    using Own = Lanes<LaneElement<T>>;
    constexpr uint32_t width = mask_width<U>, n = lane_count<U>;
    const auto real = narrow_lanes<Part>(value.real), imaginary = narrow_lanes<Part>(value.imaginary);
    if constexpr (has_two<U>) {
        dst.reg[0].lanes = blended<mode, width>(lanes_as<Own>(real), dst.reg[0].lanes, mask);
        dst.reg[1].lanes = blended<mode, width>(lanes_as<Own>(imaginary), dst.reg[1].lanes, mask);
    } else {
        const auto both = choose_lanes<Alternate<n>>(real, imaginary, indices<2 * n>{});
        first(dst).lanes = blended<mode, width>(lanes_as<Own>(both), first(dst).lanes, mask);
    }
}

// Stores through a mask that is neither full nor leading.
template <class E>
__attribute__((noinline)) inline void store_by_bits(E* to, const E* from, const MaskBits& bits, uint32_t width) {
    for (uint32_t word = 0; word < 4; ++word)
        for (uint64_t left = bits.word[word] & element_bits(width); left != 0; left &= left - 1) {
            const uint32_t element = (word * 64 + static_cast<uint32_t>(__builtin_ctzll(left))) / width;
            to[element] = from[element];
        }
}

// Stores the elements that the mask selects; element i is governed by element i of a mask for `width` bytes.
template <uint32_t width, class V>
CANOPY_LANES void store_selected(void* to, const V& value, const MaskReg& mask) {
    using Bits = unsigned_of<sizeof(lane_of<V>)>;
    if (__builtin_expect(selects_all<width>(mask), 1)) return store_lanes(to, value);
    const auto array = array_of(lanes_as<Lanes<Bits, count_of<V>>>(value));
    if (mask.form == MaskReg::leading && mask.width <= width)
        __builtin_memcpy(to, &array, (mask.bytes + width - 1) / width * sizeof(Bits));
    else
        store_by_bits(static_cast<Bits*>(to), array.element, bits_of(mask), width);
}

// Bits 0, 2, 4, ... of a word in its lower half, and the opposite.
constexpr uint64_t even_bits(uint64_t x) {
    x &= 0x5555555555555555ull;
    x = (x | x >> 1) & 0x3333333333333333ull;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0full;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffull;
    x = (x | x >> 8) & 0x0000ffff0000ffffull;
    return (x | x >> 16) & 0x00000000ffffffffull;
}
constexpr uint64_t spread_bits(uint64_t x) {
    x &= 0x00000000ffffffffull;
    x = (x | x << 16) & 0x0000ffff0000ffffull;
    x = (x | x << 8) & 0x00ff00ff00ff00ffull;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
    x = (x | x << 2) & 0x3333333333333333ull;
    return (x | x << 1) & 0x5555555555555555ull;
}

// 128 bits of a mask, and the 256 bits that have them in their even places.
struct HalfMaskBits {
    uint64_t word[2];
};
CANOPY_LANES HalfMaskBits even_bits(const MaskBits& bits) {
    return {{even_bits(bits.word[0]) | even_bits(bits.word[1]) << 32, even_bits(bits.word[2]) | even_bits(bits.word[3])
                                                                                                    << 32}};
}
CANOPY_LANES MaskBits spread_bits(const HalfMaskBits& bits) {
    return {{spread_bits(bits.word[0]), spread_bits(bits.word[0] >> 32), spread_bits(bits.word[1]),
             spread_bits(bits.word[1] >> 32)}};
}
// Every bit `times` times: 256 / times bits become 256.
template <uint32_t times>
CANOPY_LANES MaskBits repeat_bits(const HalfMaskBits& bits) {
    MaskBits result = spread_bits(bits);
    for (auto& word : result.word) word |= word << 1;
    if constexpr (times == 4) return repeat_bits<2>(HalfMaskBits{{result.word[0], result.word[1]}});
    return result;
}

template <MaskPattern pattern, uint32_t width>
CANOPY_LANES MaskReg pattern_mask() {
    constexpr uint32_t n = register_bytes / width;
    constexpr uint32_t lowest = pattern == MaskPattern::ALL     ? n
                                : pattern == MaskPattern::VL1   ? 1
                                : pattern == MaskPattern::VL2   ? 2
                                : pattern == MaskPattern::VL3   ? 3
                                : pattern == MaskPattern::VL4   ? 4
                                : pattern == MaskPattern::VL8   ? 8
                                : pattern == MaskPattern::VL16  ? 16
                                : pattern == MaskPattern::VL32  ? 32
                                : pattern == MaskPattern::VL64  ? 64
                                : pattern == MaskPattern::VL128 ? 128
                                : pattern == MaskPattern::H     ? n / 2
                                : pattern == MaskPattern::Q     ? n / 4
                                                                : 0;
    if constexpr (pattern == MaskPattern::M3 || pattern == MaskPattern::M4) {
        constexpr uint32_t step = (pattern == MaskPattern::M3 ? 3 : 4) * width;
        MaskBits bits = {};
        for (uint32_t i = 0; i < register_bytes; i += step) bits.word[i / 64] |= 1ull << (i % 64);
        return bit_mask(bits);
    }
    return leading_mask(width, smaller(lowest, n));
}

// Bytes of an element of type T as masks count them.
template <class T, const RegTrait& trait>
inline constexpr uint32_t trait_width = sizeof(T) / trait.REG_NUM;

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

template <typename T, MaskPattern mode = MaskPattern::ALL, const RegTrait& regTrait = RegTraitNumOne>
CANOPY_LANES MaskReg CreateMask() {
    return canopy::kernel::registers::pattern_mask<mode, canopy::kernel::registers::trait_width<T, regTrait>>();
}

// A mask of the lowest elements that are left; scalarValue becomes what is left after them. A whole register
// takes a separate path, on which the compiler knows the mask and omits everything done for it.
template <typename T, const RegTrait& regTrait = RegTraitNumOne>
CANOPY_LANES MaskReg UpdateMask(uint32_t& scalarValue) {
    constexpr uint32_t width = canopy::kernel::registers::trait_width<T, regTrait>;
    constexpr uint32_t n = canopy::kernel::registers::register_bytes / width;
    const uint32_t left = scalarValue;
    if (__builtin_expect(left >= n, 1)) {
        scalarValue = left - n;
        return canopy::kernel::registers::leading_mask(width, n);
    }
    __asm__ volatile("");  // keeps the branch
    scalarValue = 0;
    return canopy::kernel::registers::leading_mask(width, left);
}

// A piece of the register as bits: 16 bytes for elements of two bytes, 8 for elements of four.
template <typename T = DefaultType, int16_t offset, typename U>
CANOPY_LANES void MaskGenWithRegTensor(MaskReg& dst, const U& srcReg) {
    using namespace canopy::kernel::registers;
    static_assert(names_element<T, U>, "MaskGenWithRegTensor: T is not the element type of the register");
    constexpr uint32_t width = sizeof(element_type<U>);
    static_assert(width == 2 || width == 4, "MaskGenWithRegTensor: elements have two or four bytes");
    static_assert(offset >= 0 && offset < 8 * static_cast<int>(width),
                  "MaskGenWithRegTensor: offset is between 0 and 15 for two bytes, 0 and 31 for four");
    const auto words = lanes_as<Lanes<uint64_t>>(first(srcReg).lanes);
    if constexpr (width == 2)
        dst = bit_mask(repeat_bits<2>(HalfMaskBits{{words[offset * 2], words[offset * 2 + 1]}}));
    else
        dst = bit_mask(repeat_bits<4>(HalfMaskBits{{words[offset], 0}}));
}

// The vector mask of SetVectorMask.
template <typename T>
CANOPY_LANES MaskReg MoveMask() {
    using namespace canopy::kernel::registers;
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "MoveMask: elements have two or four bytes");
    const CoreState& state = core_state();
    return bit_mask(repeat_bits<sizeof(T)>(HalfMaskBits{{state.mask[0], state.mask[1]}}));
}

}  // namespace AscendC::Reg

#endif
