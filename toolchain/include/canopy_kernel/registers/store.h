// SPDX-License-Identifier: Apache-2.0
// Stores of registers and masks to UB, in all distributions.
#ifndef CANOPY_KERNEL_REGISTER_STORE_H
#define CANOPY_KERNEL_REGISTER_STORE_H

#include "canopy_kernel/registers/load.h"

namespace canopy::kernel::registers {

using AscendC::Reg::StoreDist;

// The width of the source's elements, the bytes stored for each, and the alignment the address needs.
struct StoreShape {
    uint32_t width, stored, alignment;
    bool one, pair;
};
constexpr StoreShape store_shape(StoreDist dist, uint32_t width) {
    switch (dist) {
        case StoreDist::DIST_NORM:
            return {width, width, 32, false, false};
        case StoreDist::DIST_NORM_B8:
            return {1, 1, 32, false, false};
        case StoreDist::DIST_NORM_B16:
            return {2, 2, 32, false, false};
        case StoreDist::DIST_NORM_B32:
            return {4, 4, 32, false, false};
        case StoreDist::DIST_FIRST_ELEMENT_B8:
            return {1, 1, 1, true, false};
        case StoreDist::DIST_FIRST_ELEMENT_B16:
            return {2, 2, 2, true, false};
        case StoreDist::DIST_FIRST_ELEMENT_B32:
            return {4, 4, 4, true, false};
        case StoreDist::DIST_PACK_B16:
            return {2, 1, 32, false, false};
        case StoreDist::DIST_PACK_B32:
            return {4, 2, 32, false, false};
        case StoreDist::DIST_PACK_B64:
            return {8, 4, 32, false, false};
        case StoreDist::DIST_PACK4_B32:
            return {4, 1, 32, false, false};
        case StoreDist::DIST_INTLV_B8:
            return {1, 1, 32, false, true};
        case StoreDist::DIST_INTLV_B16:
            return {2, 2, 32, false, true};
        case StoreDist::DIST_INTLV_B32:
            return {4, 4, 32, false, true};
        default:
            return {0, 0, 0, false, false};
    }
}

// In the checking variant: the elements of `size` bytes that the mask selects.
template <uint32_t width, uint32_t size>
CANOPY_LANES void tell_store(const char* operation, void* to, const MaskReg& mask, Where where) {
    if constexpr (is_checking_variant) {
        constexpr uint32_t elements = register_bytes / width;
        if (selects_all<width>(mask))
            tell_access(CANOPY_CHECK_WRITE, operation, to, elements * size, where);
        else if (mask.form == MaskReg::leading && mask.width <= width)
            tell_access(CANOPY_CHECK_WRITE, operation, to, (mask.bytes + width - 1) / width * size, where);
        else
            tell_store_by_bits<width, size>(operation, to, bits_of(mask).word, where);
    }
}

template <class E>
CANOPY_LANES void store_interleaved(void* to, const Lanes<E>& a, const Lanes<E>& b) {
    constexpr uint32_t n = register_bytes / sizeof(E);
    store_lanes(to, choose_lanes<Alternate<n>>(a, b, indices<n>{}));
    store_lanes(static_cast<uint8_t*>(to) + register_bytes, choose_lanes<Alternate<n, n / 2>>(a, b, indices<n>{}));
}

template <StoreDist dist, class U>
CANOPY_LANES void store_register(const char* operation, void* to, const U& src, const MaskReg& mask, Where where) {
    constexpr StoreShape shape = store_shape(dist, sizeof(element_type<U>));
    static_assert(shape.width != 0, "StoreAlign: this distribution is not supported");
    static_assert(!shape.pair, "StoreAlign: this distribution stores two registers");
    if constexpr (has_two<U>) {
        static_assert(dist == StoreDist::DIST_NORM, "StoreAlign: two registers are stored with DIST_NORM");
        using E = unsigned_of<mask_width<U>>;
        check_access(operation, to, 32, 1, where, 0);
        tell_store<mask_width<U>, 2 * sizeof(E)>(operation, to, mask, where);
        const auto low = lanes_as<Lanes<E>>(src.reg[0].lanes), high = lanes_as<Lanes<E>>(src.reg[1].lanes);
        if (__builtin_expect(selects_all<mask_width<U>>(mask), 1)) return store_interleaved<E>(to, low, high);
        LaneArray<unsigned_of<2 * sizeof(E)>, lane_count<U>> both;
        store_interleaved<E>(&both, low, high);
        store_by_bits(static_cast<unsigned_of<2 * sizeof(E)>*>(to), both.element, bits_of(mask), mask_width<U>);
    } else {
        using E = unsigned_of<shape.width>;
        check_access(operation, to, shape.alignment, shape.stored, where, shape.one ? CANOPY_CHECK_WRITE : 0);
        if constexpr (!shape.one) tell_store<shape.width, shape.stored>(operation, to, mask, where);
        const auto elements = lanes_as<Lanes<E>>(first(src).lanes);
        if constexpr (shape.one) {
            const E element = elements[0];
            __builtin_memcpy(to, &element, sizeof element);
        } else {
            using Stored = Lanes<unsigned_of<shape.stored>, register_bytes / shape.width>;
            store_selected<shape.width>(to, __builtin_convertvector(elements, Stored), mask);
        }
    }
}

template <StoreDist dist, class U>
CANOPY_LANES void store_pair(const char* operation, void* to, const U& src0, const U& src1, Where where) {
    constexpr StoreShape shape = store_shape(dist, 1);
    static_assert(shape.pair, "StoreAlign: two registers are stored with DIST_INTLV_B8, _B16 or _B32");
    using E = unsigned_of<shape.width>;
    check_access(operation, to, 32, 2 * register_bytes, where, CANOPY_CHECK_WRITE);
    store_interleaved<E>(to, lanes_as<Lanes<E>>(first(src0).lanes), lanes_as<Lanes<E>>(first(src1).lanes));
}

template <class U>
CANOPY_LANES void store_blocks(const char* operation, void* to, const U& src, uint32_t block_stride,
                               const MaskReg& mask, Where where) {
    static_assert(!has_two<U>, "StoreAlign: blocks are stored from one register");
    using E = unsigned_of<mask_width<U>>;
    constexpr uint32_t per_block = block_bytes / sizeof(E);
    const MaskBits bits = bits_of(mask);
    const auto elements = array_of(lanes_as<Lanes<E>>(first(src).lanes));
    for (uint32_t block = 0; block < 8; ++block) {
        const uint64_t chosen = (bits.word[block / 2] >> block % 2 * 32) & 0xffffffffull & element_bits(sizeof(E));
        if (chosen == 0) continue;
        auto* at = reinterpret_cast<E*>(static_cast<uint8_t*>(to) + uint64_t{block} * block_stride * block_bytes);
        check_access(operation, at, 32, block_bytes, where, 0);
        if constexpr (is_checking_variant)
            tell_store_by_bits<sizeof(E), sizeof(E)>(operation, at, {chosen, 0, 0, 0}, where);
        const E* from = elements.element + block * per_block;
        if (chosen == (element_bits(sizeof(E)) & 0xffffffffull))
            __builtin_memcpy(at, from, block_bytes);
        else
            for (uint32_t i = 0; i < per_block; ++i)
                if ((chosen >> i * sizeof(E) & 1) != 0) at[i] = from[i];
    }
}

template <MaskDist dist>
CANOPY_LANES void store_mask(const char* operation, void* to, const MaskReg& mask, Where where) {
    static_assert(dist == MaskDist::DIST_NORM || dist == MaskDist::DIST_PACK,
                  "StoreAlign: masks are stored with DIST_NORM or DIST_PACK");
    const MaskBits bits = bits_of(mask);
    if constexpr (dist == MaskDist::DIST_NORM) {
        check_access(operation, to, 32, 32, where, CANOPY_CHECK_WRITE);
        __builtin_memcpy(to, &bits, sizeof bits);
    } else {
        check_access(operation, to, 16, 16, where, CANOPY_CHECK_WRITE);
        const HalfMaskBits packed = even_bits(bits);
        __builtin_memcpy(to, &packed, sizeof packed);
    }
}

// The first `count` elements.
template <class U>
CANOPY_LANES void store_count(const char* operation, void* to, const U& src, uint32_t count, Where where) {
    static_assert(!has_two<U>, "unaligned stores take one register");
    constexpr uint32_t width = mask_width<U>;
    check_limit(operation, "the number of elements", count, 0, lane_count<U>, where);
    check_access(operation, to, 1, uint64_t{count} * width, where, CANOPY_CHECK_WRITE);
    store_selected<width>(to, lanes_as<Lanes<unsigned_of<width>>>(first(src).lanes), leading_mask(width, count));
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// All forms, under both names.
#define CANOPY_ALIGNED_STORES(Name)                                                                                    \
    template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U, CANOPY_IF_REGISTER(U)>      \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg, const MaskReg& mask, CANOPY_WHERE) {                  \
        canopy::kernel::registers::store_register<dist>(#Name, dstAddr, srcReg, mask, where);                          \
    }                                                                                                                  \
    /* Advances the address by a stride in elements. */                                                                \
    template <typename T = DefaultType, PostLiteral postMode, StoreDist dist = StoreDist::DIST_NORM, typename U,       \
              CANOPY_IF_REGISTER(U)>                                                                                   \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const U& srcReg, int32_t postUpdateStride, const MaskReg& mask,       \
                           CANOPY_WHERE) {                                                                             \
        canopy::kernel::registers::require_update<postMode>();                                                         \
        canopy::kernel::registers::check_step(#Name, int64_t{postUpdateStride} * sizeof(T),                            \
                                              canopy::kernel::registers::store_shape(dist, sizeof(T)).alignment,       \
                                              where);                                                                  \
        canopy::kernel::registers::store_register<dist>(#Name, dstAddr, srcReg, mask, where);                          \
        dstAddr += postUpdateStride;                                                                                   \
    }                                                                                                                  \
    template <typename T = DefaultType, StoreDist dist = StoreDist::DIST_NORM, typename U, CANOPY_IF_REGISTER(U)>      \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg, AddrReg offset, const MaskReg& mask, CANOPY_WHERE) {  \
        canopy::kernel::registers::store_register<dist>(#Name, canopy::kernel::registers::moved(dstAddr, offset),      \
                                                        srcReg, mask, where);                                          \
    }                                                                                                                  \
    /* Two registers; the mask has no effect. */                                                                       \
    template <typename T = DefaultType, StoreDist dist, typename U, CANOPY_IF_REGISTER(U)>                             \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg0, const U& srcReg1, const MaskReg&, CANOPY_WHERE) {    \
        canopy::kernel::registers::store_pair<dist>(#Name, dstAddr, srcReg0, srcReg1, where);                          \
    }                                                                                                                  \
    template <typename T = DefaultType, StoreDist dist, typename U, CANOPY_IF_REGISTER(U)>                             \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg0, const U& srcReg1, AddrReg offset, const MaskReg&,    \
                           CANOPY_WHERE) {                                                                             \
        canopy::kernel::registers::store_pair<dist>(#Name, canopy::kernel::registers::moved(dstAddr, offset), srcReg0, \
                                                    srcReg1, where);                                                   \
    }                                                                                                                  \
    /* Blocks of 32 bytes; strides count blocks. */                                                                    \
    template <typename T = DefaultType, DataCopyMode dataMode, typename U, CANOPY_IF_REGISTER(U)>                      \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg, uint32_t dataBlockStride, const MaskReg& mask,        \
                           CANOPY_WHERE) {                                                                             \
        canopy::kernel::registers::store_blocks(#Name, dstAddr, srcReg, dataBlockStride, mask, where);                 \
    }                                                                                                                  \
    template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,                       \
              CANOPY_IF_REGISTER(U)>                                                                                   \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const U& srcReg, uint32_t dataBlockStride, uint32_t repeatStride,     \
                           const MaskReg& mask, CANOPY_WHERE) {                                                        \
        auto* next = canopy::kernel::registers::moved_blocks(dstAddr, repeatStride);                                   \
        constexpr bool update = postMode == PostLiteral::POST_MODE_UPDATE;                                             \
        canopy::kernel::registers::store_blocks(#Name, update ? dstAddr : next, srcReg, dataBlockStride, mask, where); \
        if constexpr (update) dstAddr = next;                                                                          \
    }                                                                                                                  \
    template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                                         \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const MaskReg& mask, AddrReg offset, CANOPY_WHERE) {                   \
        canopy::kernel::registers::store_mask<dist>(#Name, canopy::kernel::registers::moved(dstAddr, offset), mask,    \
                                                    where);                                                            \
    }                                                                                                                  \
    template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                                         \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const MaskReg& mask, CANOPY_WHERE) {                                   \
        canopy::kernel::registers::store_mask<dist>(#Name, dstAddr, mask, where);                                      \
    }                                                                                                                  \
    /* The offset counts bytes. */                                                                                     \
    template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                                   \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const MaskReg& mask, int32_t offset, CANOPY_WHERE) {                  \
        canopy::kernel::registers::require_update<postMode>();                                                         \
        canopy::kernel::registers::store_mask<dist>(#Name, dstAddr, mask, where);                                      \
        dstAddr = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(dstAddr) + static_cast<intptr_t>(offset));          \
    }
CANOPY_ALIGNED_STORES(StoreAlign)
CANOPY_ALIGNED_STORES(DataCopy)
#undef CANOPY_ALIGNED_STORES

// Stores to any address.
template <typename T = DefaultType, typename U>
CANOPY_LANES void Store(__ubuf__ T* dstAddr, const U& srcReg, uint32_t count, CANOPY_WHERE) {
    canopy::kernel::registers::store_count("Store", dstAddr, srcReg, count, where);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void Store(__ubuf__ T* dstAddr, const U& srcReg, CANOPY_WHERE) {
    canopy::kernel::registers::store_count("Store", dstAddr, srcReg, canopy::kernel::registers::lane_count<U>, where);
}

// Everything reaches memory at once, so that finishing only advances the address.
#define CANOPY_UNALIGNED_STORES(Finish, Name)                                                                         \
    template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, typename U,             \
              CANOPY_IF_REGISTER(U)>                                                                                  \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const U& srcReg, UnalignRegForStore&, uint32_t postUpdateStride,     \
                           CANOPY_WHERE) {                                                                            \
        canopy::kernel::registers::store_count(#Name, dstAddr, srcReg, postUpdateStride, where);                      \
        if constexpr (postMode == PostLiteral::POST_MODE_UPDATE) dstAddr += postUpdateStride;                         \
    }                                                                                                                 \
    /* The whole register, at the address plus the offset. */                                                         \
    template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, typename U,             \
              CANOPY_IF_REGISTER(U)>                                                                                  \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const U& srcReg, UnalignRegForStore&, AddrReg& areg, CANOPY_WHERE) { \
        canopy::kernel::registers::store_count(#Name, canopy::kernel::registers::moved(dstAddr, areg), srcReg,        \
                                               canopy::kernel::registers::lane_count<U>, where);                      \
    }                                                                                                                 \
    /* What the last Squeeze with STORE_REG kept, after everything such calls have kept since ClearSpr. */            \
    template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, typename U,             \
              CANOPY_IF_REGISTER(U)>                                                                                  \
    CANOPY_LANES void Name(__ubuf__ T* dstAddr, const U& srcReg, UnalignRegForStore&, CANOPY_WHERE) {                 \
        const auto& squeezed = canopy::kernel::registers::core_state().squeezed;                                      \
        auto* at = reinterpret_cast<uint8_t*>(dstAddr) + (squeezed.total - squeezed.last);                            \
        canopy::kernel::registers::store_count(#Name, at, srcReg,                                                     \
                                               squeezed.last / canopy::kernel::registers::mask_width<U>, where);      \
    }                                                                                                                 \
    /* One bit per element. */                                                                                        \
    template <typename T>                                                                                             \
    CANOPY_LANES void Name(__ubuf__ T*& dstAddr, const MaskReg& mask, UnalignRegForStore&, CANOPY_WHERE) {            \
        using namespace canopy::kernel::registers;                                                                    \
        static_assert(sizeof(T) == 2 || sizeof(T) == 4, "StoreUnAlign: masks of elements of two or four bytes");      \
        constexpr uint32_t bytes = 32 / sizeof(T);                                                                    \
        check_access(#Name, dstAddr, bytes, bytes, where, CANOPY_CHECK_WRITE);                                        \
        HalfMaskBits bits = even_bits(bits_of(mask));                                                                 \
        if constexpr (sizeof(T) == 4) bits = even_bits(MaskBits{{bits.word[0], bits.word[1], 0, 0}});                 \
        __builtin_memcpy(dstAddr, &bits, bytes);                                                                      \
        dstAddr = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(dstAddr) + bytes);                                 \
    }                                                                                                                 \
    template <typename T, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE>                                       \
    CANOPY_LANES void Finish(__ubuf__ T*& dstAddr, UnalignRegForStore&, int32_t postUpdateStride) {                   \
        if constexpr (postMode == PostLiteral::POST_MODE_UPDATE) dstAddr += postUpdateStride;                         \
    }                                                                                                                 \
    template <typename T>                                                                                             \
    CANOPY_LANES void Finish(__ubuf__ T*&, UnalignRegForStore&, AddrReg&) {}                                          \
    template <typename T>                                                                                             \
    CANOPY_LANES void Finish(__ubuf__ T*, UnalignRegForStore&) {}
CANOPY_UNALIGNED_STORES(StoreUnAlignPost, StoreUnAlign)
CANOPY_UNALIGNED_STORES(DataCopyUnAlignPost, DataCopyUnAlign)
#undef CANOPY_UNALIGNED_STORES

}  // namespace AscendC::Reg

#endif
