// SPDX-License-Identifier: Apache-2.0
// Loads and stores of single elements and blocks of UB whose places come from a register of indices.
#ifndef CANOPY_KERNEL_REGISTER_GATHER_H
#define CANOPY_KERNEL_REGISTER_GATHER_H

#include "canopy_kernel/registers/load.h"
#include "canopy_kernel/registers/rearrange.h"

namespace canopy::kernel::registers {

// In checked builds: the elements of all selected indices are in UB.
template <uint32_t width, class I, uint32_t n>
CANOPY_LANES void check_indices(const char* operation, const void* base, const LaneArray<I, n>& index,
                                uint32_t element_bytes, const MaskReg& mask, Where where, uint8_t told) {
    if constexpr (is_checking_variant)
        for_each_selected<width>(mask, [&](uint32_t i) {
            tell_access(told, operation, static_cast<const uint8_t*>(base) + uint64_t{index.element[i]} * element_bytes,
                        element_bytes, where);
        });
    if constexpr (checked) {
        check_access(operation, base, 32, 0, where, 0);
        const auto& memory = core().memory[static_cast<int>(Hardware::UB)];
        const uint64_t start = static_cast<uint64_t>(static_cast<const unsigned char*>(base) - memory.base);
        for_each_selected<width>(mask, [&](uint32_t i) {
            if (start + (uint64_t{index.element[i]} + 1) * element_bytes > memory.size)
                fail(where, "%s: index %u is %llu, which is outside UB", operation, i, printable(index.element[i]));
        });
    }
}

// The first n indices of a register.
template <uint32_t n, class V>
CANOPY_LANES auto leading_indices(const V& index) {
    static_assert(is_unsigned_integer<element_type<V>>, "indices are unsigned integers");
    static_assert(lane_count<V> >= n, "there are not enough indices for all elements");
    return part_of<0, n>(read(index));
}

template <class T, class U, class V>
CANOPY_LANES void gather_elements(const char* operation, U& dst, const T* base, const V& index, const MaskReg& mask,
                                  Where where) {
    constexpr uint32_t n = lane_count<U>, width = mask_width<U>;
    constexpr bool widens = sizeof(T) == 1 && sizeof(element_type<U>) == 2;
    static_assert(widens || sizeof(T) == sizeof(element_type<U>), "Gather: elements have the width of those in memory");
    static_assert(
        sizeof(element_type<V>) == sizeof(element_type<U>) || (sizeof(T) == 8 && sizeof(element_type<V>) == 4),
        "Gather: indices have the width of the elements; 64-bit elements may have 32-bit indices");
    const auto places = array_of(leading_indices<n>(index));
    check_indices<width>(operation, base, places, sizeof(T), mask, where, CANOPY_CHECK_READ);
    using Memory = unsigned_of<sizeof(T)>;
    using Result = unsigned_of<sizeof(element_type<U>)>;
    const auto* from = reinterpret_cast<const Memory*>(base);
    LaneArray<Result, n> result;
    if (selects_all<width>(mask)) {
        for (uint32_t i = 0; i < n; ++i) result.element[i] = from[places.element[i]];
    } else {
        result = {};
        for_each_selected<width>(mask, [&](uint32_t i) { result.element[i] = from[places.element[i]]; });
    }
    write<MaskMergeMode::ZEROING>(dst, lanes_of_array(result), leading_mask(width, n));
}

template <class T, class U, class V>
CANOPY_LANES void gather_blocks(const char* operation, U& dst, const T* base, const V& index, const MaskReg& mask,
                                Where where) {
    static_assert(is_same<element_type<V>, uint32_t>, "GatherB: indices are uint32_t");
    const auto places = first(index).lanes;
    const uint64_t bits = bits_of(mask).word[0];
    LaneArray<uint8_t, register_bytes> result = {};
    for (uint32_t block = 0; block < 8; ++block) {
        if ((bits >> block * 4 & 1) == 0) continue;
        const auto* from = reinterpret_cast<const uint8_t*>(base) + places[block];
        check_access(operation, from, 32, block_bytes, where);
        __builtin_memcpy(result.element + block * block_bytes, from, block_bytes);
    }
    first(dst).lanes = lanes_as<Lanes<LaneElement<element_type<U>>>>(lanes_of_array(result));
}

template <class T, class U, class V>
CANOPY_LANES void scatter_elements(const char* operation, T* base, const U& src, const V& index, const MaskReg& mask,
                                   Where where) {
    static_assert(sizeof(T) == sizeof(element_type<U>), "Scatter: elements have the width of those in memory");
    constexpr bool bytes = sizeof(T) == 1;
    constexpr uint32_t width = bytes ? 2 : mask_width<U>, n = register_bytes / width;
    using Memory = unsigned_of<sizeof(T)>;
    const auto places = array_of(leading_indices<n>(index));
    check_indices<width>(operation, base, places, sizeof(T), mask, where, CANOPY_CHECK_WRITE);
    const auto from = array_of(lanes_as<Lanes<Memory, (has_two<U> ? 2 : 1) * register_bytes / sizeof(T)>>(read(src)));
    auto* to = reinterpret_cast<Memory*>(base);
    const auto put = [&](uint32_t i) { to[places.element[i]] = from.element[bytes ? 2 * i : i]; };
    if (selects_all<width>(mask))
        for (uint32_t i = 0; i < n; ++i) put(i);
    else
        for_each_selected<width>(mask, put);
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// Elements of UB by their index; bytes become 16-bit elements, zero-extended. Unselected elements become 0. GatherB:
// blocks by their offset in bytes. Scatter: the opposite of Gather; of bytes only every second one is stored.
#define CANOPY_REGISTER_GATHERS(gather, gather_block, scatter)                                                        \
    template <typename T0 = DefaultType, typename T1, typename T2 = DefaultType, typename T3, typename T4>            \
    CANOPY_LANES void gather(T3& dstReg, __ubuf__ T1* baseAddr, const T4& index, const MaskReg& mask, CANOPY_WHERE) { \
        canopy::kernel::registers::gather_elements(#gather, dstReg, baseAddr, index, mask, where);                    \
    }                                                                                                                 \
    template <typename T = DefaultType, typename U, typename S>                                                       \
    CANOPY_LANES void gather_block(U& dstReg, __ubuf__ T* baseAddr, const S& index, const MaskReg& mask,              \
                                   CANOPY_WHERE) {                                                                    \
        canopy::kernel::registers::gather_blocks(#gather_block, dstReg, baseAddr, index, mask, where);                \
    }                                                                                                                 \
    template <typename T = DefaultType, typename U = DefaultType, typename S, typename V>                             \
    CANOPY_LANES void scatter(__ubuf__ T* baseAddr, const S& srcReg, const V& index, const MaskReg& mask,             \
                              CANOPY_WHERE) {                                                                         \
        canopy::kernel::registers::scatter_elements(#scatter, baseAddr, srcReg, index, mask, where);                  \
    }
CANOPY_REGISTER_GATHERS(Gather, GatherB, Scatter)
CANOPY_REGISTER_GATHERS(DataCopyGather, DataCopyGatherB, DataCopyScatter)
#undef CANOPY_REGISTER_GATHERS

}  // namespace AscendC::Reg

#endif
