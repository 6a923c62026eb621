// SPDX-License-Identifier: Apache-2.0
// Loads of registers and masks from UB, in all distributions.
#ifndef CANOPY_KERNEL_REGISTER_LOAD_H
#define CANOPY_KERNEL_REGISTER_LOAD_H

#include "canopy_kernel/registers/address.h"

namespace canopy::kernel::registers {

using AscendC::Reg::DataCopyMode;
using AscendC::Reg::LoadDist;
using AscendC::Reg::MaskDist;

// How a distribution reads memory: the width of its elements, the bytes it reads, and the alignment it needs.
struct LoadShape {
    uint32_t width, bytes, alignment;
};
constexpr LoadShape load_shape(LoadDist dist) {
    switch (dist) {
        case LoadDist::DIST_NORM:
            return {1, 256, 32};
        case LoadDist::DIST_BRC_B8:
            return {1, 1, 1};
        case LoadDist::DIST_BRC_B16:
            return {2, 2, 2};
        case LoadDist::DIST_BRC_B32:
            return {4, 4, 4};
        case LoadDist::DIST_US_B8:
            return {1, 128, 32};
        case LoadDist::DIST_US_B16:
            return {2, 128, 32};
        case LoadDist::DIST_DS_B8:
            return {1, 512, 32};
        case LoadDist::DIST_DS_B16:
            return {2, 512, 32};
        case LoadDist::DIST_UNPACK_B8:
            return {1, 128, 32};
        case LoadDist::DIST_UNPACK_B16:
            return {2, 128, 32};
        case LoadDist::DIST_UNPACK_B32:
            return {4, 128, 32};
        case LoadDist::DIST_UNPACK4_B8:
            return {1, 64, 32};
        case LoadDist::DIST_BLK:
            return {1, 32, 32};
        case LoadDist::DIST_E2B_B16:
            return {2, 16, 16};
        case LoadDist::DIST_E2B_B32:
            return {4, 32, 32};
        case LoadDist::DIST_DINTLV_B8:
            return {1, 512, 32};
        case LoadDist::DIST_DINTLV_B16:
            return {2, 512, 32};
        case LoadDist::DIST_DINTLV_B32:
            return {4, 512, 32};
        default:
            return {0, 0, 0};
    }
}
constexpr bool is_pair_load(LoadDist dist) {
    return dist == LoadDist::DIST_DINTLV_B8 || dist == LoadDist::DIST_DINTLV_B16 || dist == LoadDist::DIST_DINTLV_B32;
}

template <LoadDist dist>
CANOPY_LANES auto load_distributed(const void* from) {
    constexpr LoadShape shape = load_shape(dist);
    using E = unsigned_of<shape.width>;
    constexpr uint32_t n = register_bytes / shape.width;
    if constexpr (dist == LoadDist::DIST_NORM) {
        return load_lanes<Lanes<uint8_t>>(from);
    } else if constexpr (shape.bytes == shape.width) {  // one element to all
        E element;
        __builtin_memcpy(&element, from, sizeof element);
        const Lanes<E> all = element;
        return all;
    } else if constexpr (dist == LoadDist::DIST_US_B8 || dist == LoadDist::DIST_US_B16) {
        const auto half = load_lanes<Lanes<E, n / 2>>(from);
        return choose_lanes<Repeated<2>>(half, half, indices<n>{});
    } else if constexpr (dist == LoadDist::DIST_DS_B8 || dist == LoadDist::DIST_DS_B16) {
        const auto low = load_lanes<Lanes<E>>(from);
        const auto high = load_lanes<Lanes<E>>(static_cast<const uint8_t*>(from) + register_bytes);
        return choose_lanes<Every<0, 2>>(low, high, indices<n>{});
    } else if constexpr (dist == LoadDist::DIST_BLK) {
        const auto block = load_lanes<Lanes<uint64_t, 4>>(from);
        const auto two = joined(block, block);
        const auto four = joined(two, two);
        return joined(four, four);
    } else if constexpr (dist == LoadDist::DIST_E2B_B16 || dist == LoadDist::DIST_E2B_B32) {
        const auto eight_elements = load_lanes<Lanes<E, 8>>(from);
        return choose_lanes<Repeated<block_bytes / sizeof(E)>>(eight_elements, eight_elements, indices<n>{});
    } else {  // each element in the low bytes of a wider slot
        constexpr uint32_t times = register_bytes / shape.bytes;
        using Slot = unsigned_of<shape.width * times>;
        return __builtin_convertvector(load_lanes<Lanes<E, n / times>>(from), Lanes<Slot>);
    }
}

template <LoadDist dist, class U>
CANOPY_LANES void load_register(const char* operation, U& dst, const void* from, Where where) {
    static_assert(load_shape(dist).width != 0, "LoadAlign: this distribution is not supported");
    static_assert(!is_pair_load(dist), "LoadAlign: this distribution loads two registers");
    using Own = Lanes<LaneElement<element_type<U>>>;
    if constexpr (has_two<U>) {
        static_assert(dist == LoadDist::DIST_NORM, "LoadAlign: two registers are loaded with DIST_NORM");
        check_access(operation, from, 32, 2 * register_bytes, where);
        using Half = Lanes<unsigned_of<mask_width<U>>>;
        const auto low = load_lanes<Half>(from);
        const auto high = load_lanes<Half>(static_cast<const uint8_t*>(from) + register_bytes);
        dst.reg[0].lanes = lanes_as<Own>(choose_lanes<Every<0, 2>>(low, high, indices<lane_count<U>>{}));
        dst.reg[1].lanes = lanes_as<Own>(choose_lanes<Every<1, 2>>(low, high, indices<lane_count<U>>{}));
    } else {
        check_access(operation, from, load_shape(dist).alignment, load_shape(dist).bytes, where);
        first(dst).lanes = lanes_as<Own>(load_distributed<dist>(from));
    }
}

template <LoadDist dist, class U>
CANOPY_LANES void load_pair(const char* operation, U& dst0, U& dst1, const void* from, Where where) {
    static_assert(is_pair_load(dist), "LoadAlign: two registers are loaded with DIST_DINTLV_B8, _B16 or _B32");
    static_assert(!has_two<U>, "LoadAlign: a register with two parts is loaded alone");
    using Own = Lanes<LaneElement<element_type<U>>>;
    using E = unsigned_of<load_shape(dist).width>;
    constexpr uint32_t n = register_bytes / sizeof(E);
    check_access(operation, from, 32, 2 * register_bytes, where);
    const auto low = load_lanes<Lanes<E>>(from);
    const auto high = load_lanes<Lanes<E>>(static_cast<const uint8_t*>(from) + register_bytes);
    first(dst0).lanes = lanes_as<Own>(choose_lanes<Every<0, 2>>(low, high, indices<n>{}));
    first(dst1).lanes = lanes_as<Own>(choose_lanes<Every<1, 2>>(low, high, indices<n>{}));
}

// Eight blocks; those without a selected lane are 0 and not read.
template <class U>
CANOPY_LANES void load_blocks(const char* operation, U& dst, const void* from, uint32_t block_stride,
                              const MaskReg& mask, Where where) {
    static_assert(!has_two<U>, "LoadAlign: blocks are loaded into one register");
    constexpr uint32_t width = mask_width<U>;
    const MaskBits bits = bits_of(mask);
    LaneArray<uint8_t, register_bytes> result;
    for (uint32_t block = 0; block < 8; ++block) {
        const uint64_t chosen = (bits.word[block / 2] >> block % 2 * 32) & 0xffffffffull & element_bits(width);
        const auto* at = static_cast<const uint8_t*>(from) + uint64_t{block} * block_stride * block_bytes;
        if (chosen != 0) {
            check_access(operation, at, 32, block_bytes, where);
            __builtin_memcpy(result.element + block * block_bytes, at, block_bytes);
        } else {
            __builtin_memset(result.element + block * block_bytes, 0, block_bytes);
        }
    }
    first(dst).lanes = lanes_as<Lanes<LaneElement<element_type<U>>>>(lanes_of_array(result));
}

template <MaskDist dist>
CANOPY_LANES void load_mask(const char* operation, MaskReg& mask, const void* from, Where where) {
    if constexpr (dist == MaskDist::DIST_NORM) {
        check_access(operation, from, 32, 32, where);
        MaskBits bits;
        __builtin_memcpy(&bits, from, sizeof bits);
        mask = bit_mask(bits);
    } else if constexpr (dist == MaskDist::DIST_US) {
        check_access(operation, from, 16, 16, where);
        HalfMaskBits bits;
        __builtin_memcpy(&bits, from, sizeof bits);
        mask = bit_mask(repeat_bits<2>(bits));
    } else {
        check_access(operation, from, 32, 64, where);
        MaskBits low, high;
        __builtin_memcpy(&low, from, sizeof low);
        __builtin_memcpy(&high, static_cast<const uint8_t*>(from) + sizeof low, sizeof high);
        const HalfMaskBits a = even_bits(low), b = even_bits(high);
        mask = bit_mask({{a.word[0], a.word[1], b.word[0], b.word[1]}});
    }
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

// All forms, under both names.
#define CANOPY_ALIGNED_LOADS(Name)                                                                                    \
    template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U, CANOPY_IF_REGISTER(U)>       \
    CANOPY_LANES void Name(U& dstReg, __ubuf__ T* srcAddr, CANOPY_WHERE) {                                            \
        canopy::kernel::registers::load_register<dist>(#Name, dstReg, srcAddr, where);                                \
    }                                                                                                                 \
    /* Advances the address by a stride in elements. */                                                               \
    template <typename T = DefaultType, PostLiteral postMode, LoadDist dist = LoadDist::DIST_NORM, typename U,        \
              CANOPY_IF_REGISTER(U)>                                                                                  \
    CANOPY_LANES void Name(U& dstReg, __ubuf__ T*& srcAddr, int32_t postUpdateStride, CANOPY_WHERE) {                 \
        canopy::kernel::registers::require_update<postMode>();                                                        \
        canopy::kernel::registers::check_step(#Name, int64_t{postUpdateStride} * sizeof(T),                           \
                                              canopy::kernel::registers::load_shape(dist).alignment, where);          \
        canopy::kernel::registers::load_register<dist>(#Name, dstReg, srcAddr, where);                                \
        srcAddr += postUpdateStride;                                                                                  \
    }                                                                                                                 \
    template <typename T = DefaultType, LoadDist dist = LoadDist::DIST_NORM, typename U, CANOPY_IF_REGISTER(U)>       \
    CANOPY_LANES void Name(U& dstReg, __ubuf__ T* srcAddr, AddrReg offset, CANOPY_WHERE) {                            \
        canopy::kernel::registers::load_register<dist>(#Name, dstReg,                                                 \
                                                       canopy::kernel::registers::moved(srcAddr, offset), where);     \
    }                                                                                                                 \
    template <typename T = DefaultType, LoadDist dist, typename U, CANOPY_IF_REGISTER(U)>                             \
    CANOPY_LANES void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr, CANOPY_WHERE) {                               \
        canopy::kernel::registers::load_pair<dist>(#Name, dstReg0, dstReg1, srcAddr, where);                          \
    }                                                                                                                 \
    template <typename T = DefaultType, PostLiteral postMode, LoadDist dist, typename U, CANOPY_IF_REGISTER(U)>       \
    CANOPY_LANES void Name(U& dstReg0, U& dstReg1, __ubuf__ T*& srcAddr, int32_t postUpdateStride, CANOPY_WHERE) {    \
        canopy::kernel::registers::require_update<postMode>();                                                        \
        canopy::kernel::registers::check_step(#Name, int64_t{postUpdateStride} * sizeof(T), 32, where);               \
        canopy::kernel::registers::load_pair<dist>(#Name, dstReg0, dstReg1, srcAddr, where);                          \
        srcAddr += postUpdateStride;                                                                                  \
    }                                                                                                                 \
    template <typename T = DefaultType, LoadDist dist, typename U, CANOPY_IF_REGISTER(U)>                             \
    CANOPY_LANES void Name(U& dstReg0, U& dstReg1, __ubuf__ T* srcAddr, AddrReg offset, CANOPY_WHERE) {               \
        canopy::kernel::registers::load_pair<dist>(#Name, dstReg0, dstReg1,                                           \
                                                   canopy::kernel::registers::moved(srcAddr, offset), where);         \
    }                                                                                                                 \
    /* Blocks of 32 bytes; strides count blocks. */                                                                   \
    template <typename T = DefaultType, DataCopyMode dataMode, typename U, CANOPY_IF_REGISTER(U)>                     \
    CANOPY_LANES void Name(U& dstReg, __ubuf__ T* srcAddr, uint32_t dataBlockStride, const MaskReg& mask,             \
                           CANOPY_WHERE) {                                                                            \
        canopy::kernel::registers::load_blocks(#Name, dstReg, srcAddr, dataBlockStride, mask, where);                 \
    }                                                                                                                 \
    template <typename T = DefaultType, DataCopyMode dataMode, PostLiteral postMode, typename U,                      \
              CANOPY_IF_REGISTER(U)>                                                                                  \
    CANOPY_LANES void Name(U& dstReg, __ubuf__ T*& srcAddr, uint32_t dataBlockStride, uint32_t repeatStride,          \
                           const MaskReg& mask, CANOPY_WHERE) {                                                       \
        auto* next = canopy::kernel::registers::moved_blocks(srcAddr, repeatStride);                                  \
        constexpr bool update = postMode == PostLiteral::POST_MODE_UPDATE;                                            \
        canopy::kernel::registers::load_blocks(#Name, dstReg, update ? srcAddr : next, dataBlockStride, mask, where); \
        if constexpr (update) srcAddr = next;                                                                         \
    }                                                                                                                 \
    template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                                        \
    CANOPY_LANES void Name(MaskReg& mask, __ubuf__ T* srcAddr, AddrReg offset, CANOPY_WHERE) {                        \
        canopy::kernel::registers::load_mask<dist>(#Name, mask, canopy::kernel::registers::moved(srcAddr, offset),    \
                                                   where);                                                            \
    }                                                                                                                 \
    template <typename T, MaskDist dist = MaskDist::DIST_NORM>                                                        \
    CANOPY_LANES void Name(MaskReg& mask, __ubuf__ T* srcAddr, CANOPY_WHERE) {                                        \
        canopy::kernel::registers::load_mask<dist>(#Name, mask, srcAddr, where);                                      \
    }                                                                                                                 \
    /* The offset counts bytes. */                                                                                    \
    template <typename T, PostLiteral postMode, MaskDist dist = MaskDist::DIST_NORM>                                  \
    CANOPY_LANES void Name(MaskReg& mask, __ubuf__ T*& srcAddr, int32_t offset, CANOPY_WHERE) {                       \
        canopy::kernel::registers::require_update<postMode>();                                                        \
        canopy::kernel::registers::load_mask<dist>(#Name, mask, srcAddr, where);                                      \
        srcAddr = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(srcAddr) + static_cast<intptr_t>(offset));         \
    }
CANOPY_ALIGNED_LOADS(LoadAlign)
CANOPY_ALIGNED_LOADS(DataCopy)
#undef CANOPY_ALIGNED_LOADS

// Loads from any address.
template <typename T = DefaultType, typename U>
CANOPY_LANES void Load(U& dstReg, __ubuf__ T* srcAddr, CANOPY_WHERE) {
    using namespace canopy::kernel::registers;
    static_assert(!has_two<U>, "Load: unaligned loads fill one register");
    check_access("Load", srcAddr, 1, register_bytes, where);
    first(dstReg).lanes = load_lanes<Lanes<LaneElement<element_type<U>>>>(srcAddr);
}

// Nothing has to be prepared.
#define CANOPY_UNALIGNED_LOADS(Prepare, Name)                                                                \
    template <typename T>                                                                                    \
    CANOPY_LANES void Prepare(UnalignRegForLoad&, __ubuf__ T*) {}                                            \
    template <typename T>                                                                                    \
    CANOPY_LANES void Prepare(UnalignRegForLoad&, __ubuf__ T*, AddrReg&) {}                                  \
    template <typename T = DefaultType, PostLiteral postMode = PostLiteral::POST_MODE_UPDATE, typename U,    \
              CANOPY_IF_REGISTER(U)>                                                                         \
    CANOPY_LANES void Name(U& dstReg, UnalignRegForLoad&, __ubuf__ T*& srcAddr, uint32_t postUpdateStride,   \
                           CANOPY_WHERE) {                                                                   \
        Load(dstReg, srcAddr, where);                                                                        \
        if constexpr (postMode == PostLiteral::POST_MODE_UPDATE) srcAddr += postUpdateStride;                \
    }                                                                                                        \
    template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>                                   \
    CANOPY_LANES void Name(U& dstReg, UnalignRegForLoad&, __ubuf__ T* srcAddr, CANOPY_WHERE) {               \
        Load(dstReg, srcAddr, where);                                                                        \
    }                                                                                                        \
    template <typename T = DefaultType, typename U, CANOPY_IF_REGISTER(U)>                                   \
    CANOPY_LANES void Name(U& dstReg, UnalignRegForLoad&, __ubuf__ T*& srcAddr, AddrReg& areg, uint32_t inc, \
                           CANOPY_WHERE) {                                                                   \
        Load(dstReg, canopy::kernel::registers::moved(srcAddr, areg) + inc, where);                          \
    }
CANOPY_UNALIGNED_LOADS(LoadUnAlignPre, LoadUnAlign)
CANOPY_UNALIGNED_LOADS(DataCopyUnAlignPre, DataCopyUnAlign)
#undef CANOPY_UNALIGNED_LOADS

}  // namespace AscendC::Reg

#endif
