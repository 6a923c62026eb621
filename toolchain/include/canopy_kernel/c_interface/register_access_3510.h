// SPDX-License-Identifier: Apache-2.0
// Loads and stores of registers in the C interface: distributions by their names, offsets, and the forms that no list
// contains. An offset counts elements of the pointer's type; for masks it counts bytes.
#ifndef CANOPY_KERNEL_C_INTERFACE_REGISTER_ACCESS_3510_H
#define CANOPY_KERNEL_C_INTERFACE_REGISTER_ACCESS_3510_H

#include "canopy_kernel/c_interface/support.h"
#include "canopy_kernel/registers/registers.h"

using int4x2_t = AscendC::int4b_t;

#define CANOPY_C_LANES inline __attribute__((always_inline))

namespace canopy::c_interface {

namespace Reg = AscendC::Reg;
using kernel::Register;
using Reg::LoadDist;
using Reg::MaskDist;
using Reg::PostLiteral;
using Reg::StoreDist;

template <class T>
constexpr LoadDist by_width(LoadDist b8, LoadDist b16, LoadDist b32) {
    return sizeof(T) == 1 ? b8 : sizeof(T) == 2 ? b16 : b32;
}
template <class T>
constexpr StoreDist by_width(StoreDist b8, StoreDist b16, StoreDist b32) {
    return sizeof(T) == 1 ? b8 : sizeof(T) == 2 ? b16 : b32;
}

// The distributions of loads, for the width of the element.
template <class T>
inline constexpr LoadDist load_NORM = LoadDist::DIST_NORM;
template <class T>
inline constexpr LoadDist load_BLK = LoadDist::DIST_BLK;
template <class T>
inline constexpr LoadDist load_UNPACK4 = LoadDist::DIST_UNPACK4_B8;
template <class T>
inline constexpr LoadDist load_BRC = by_width<T>(LoadDist::DIST_BRC_B8, LoadDist::DIST_BRC_B16, LoadDist::DIST_BRC_B32);
template <class T>
inline constexpr LoadDist load_US = by_width<T>(LoadDist::DIST_US_B8, LoadDist::DIST_US_B16, LoadDist::DIST_US_B16);
template <class T>
inline constexpr LoadDist load_DS = by_width<T>(LoadDist::DIST_DS_B8, LoadDist::DIST_DS_B16, LoadDist::DIST_DS_B16);
template <class T>
inline constexpr LoadDist load_UNPACK = by_width<T>(LoadDist::DIST_UNPACK_B8, LoadDist::DIST_UNPACK_B16,
                                                    LoadDist::DIST_UNPACK_B32);
template <class T>
inline constexpr LoadDist load_E2B = by_width<T>(LoadDist::DIST_E2B_B16, LoadDist::DIST_E2B_B16,
                                                 LoadDist::DIST_E2B_B32);
template <class T>
inline constexpr LoadDist load_DINTLV = by_width<T>(LoadDist::DIST_DINTLV_B8, LoadDist::DIST_DINTLV_B16,
                                                    LoadDist::DIST_DINTLV_B32);

template <class T>
inline constexpr StoreDist store_NORM = StoreDist::DIST_NORM;
template <class T>
inline constexpr StoreDist store_PACK4 = StoreDist::DIST_PACK4_B32;
template <class T>
inline constexpr StoreDist store_PACK = sizeof(T) == 8   ? StoreDist::DIST_PACK_B64
                                        : sizeof(T) == 4 ? StoreDist::DIST_PACK_B32
                                                         : StoreDist::DIST_PACK_B16;
template <class T>
inline constexpr StoreDist store_FIRST = by_width<T>(StoreDist::DIST_FIRST_ELEMENT_B8,
                                                     StoreDist::DIST_FIRST_ELEMENT_B16,
                                                     StoreDist::DIST_FIRST_ELEMENT_B32);
template <class T>
inline constexpr StoreDist store_INTLV = by_width<T>(StoreDist::DIST_INTLV_B8, StoreDist::DIST_INTLV_B16,
                                                     StoreDist::DIST_INTLV_B32);

template <class T>
CANOPY_C_LANES T* moved_bytes(T* address, int64_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address) + static_cast<uint64_t>(bytes));
}

CANOPY_C_LANES vector_bool all_lanes() { return Reg::CreateMask<uint8_t>(); }

}  // namespace canopy::c_interface

// The forms of the lists ---------------------------------------------------------------------------------------------

#define CANOPY_C_LOAD(name, dist, ...)                                                                  \
    template <class T>                                                                                  \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, T* src, CANOPY_WHERE) {                  \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                               \
        AscendC::Reg::LoadAlign<T, canopy::c_interface::load_##dist<T>>(dst, src, where);               \
    }                                                                                                   \
    template <class T>                                                                                  \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, T* src, int32_t offset, CANOPY_WHERE) {  \
        name(dst, src + offset, where);                                                                 \
    }                                                                                                   \
    template <class T>                                                                                  \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, T* src, addr_reg offset, CANOPY_WHERE) { \
        name(dst, src + offset.elements, where);                                                        \
    }
#define CANOPY_C_LOAD_UPDATE(name, dist, ...)                                                                         \
    template <class T>                                                                                                \
    CANOPY_C_LANES void name(canopy::kernel::Register<T>& dst, T*& src, int32_t offset, CANOPY_WHERE) {               \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                             \
        AscendC::Reg::LoadAlign<T, AscendC::Reg::PostLiteral::POST_MODE_UPDATE, canopy::c_interface::load_##dist<T>>( \
            dst, src, offset, where);                                                                                 \
    }
#define CANOPY_C_STORE(name, dist, ...)                                                                        \
    template <class T>                                                                                         \
    CANOPY_C_LANES void name(T* dst_align32b, const canopy::kernel::Register<T>& src, const vector_bool& mask, \
                             CANOPY_WHERE) {                                                                   \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                      \
        AscendC::Reg::StoreAlign<T, canopy::c_interface::store_##dist<T>>(dst_align32b, src, mask, where);     \
    }                                                                                                          \
    template <class T>                                                                                         \
    CANOPY_C_LANES void name(T* dst_align32b, const canopy::kernel::Register<T>& src, int32_t offset,          \
                             const vector_bool& mask, CANOPY_WHERE) {                                          \
        name(dst_align32b + offset, src, mask, where);                                                         \
    }                                                                                                          \
    template <class T>                                                                                         \
    CANOPY_C_LANES void name(T* dst_align32b, const canopy::kernel::Register<T>& src, addr_reg offset,         \
                             const vector_bool& mask, CANOPY_WHERE) {                                          \
        name(dst_align32b + offset.elements, src, mask, where);                                                \
    }
#define CANOPY_C_STORE_UPDATE(name, dist, ...)                                                                  \
    template <class T>                                                                                          \
    CANOPY_C_LANES void name(T*& dst_align32b, const canopy::kernel::Register<T>& src, int32_t offset,          \
                             const vector_bool& mask, CANOPY_WHERE) {                                           \
        CANOPY_C_TYPES(name, __VA_ARGS__)                                                                       \
        AscendC::Reg::StoreAlign<T, AscendC::Reg::PostLiteral::POST_MODE_UPDATE,                                \
                                 canopy::c_interface::store_##dist<T>>(dst_align32b, src, offset, mask, where); \
    }

// Two registers ------------------------------------------------------------------------------------------------------

template <class T>
CANOPY_C_LANES void asc_loadalign_deintlv(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1, T* src,
                                          CANOPY_WHERE) {
    AscendC::Reg::LoadAlign<T, canopy::c_interface::load_DINTLV<T>>(dst0, dst1, src, where);
}
template <class T>
CANOPY_C_LANES void asc_loadalign_deintlv(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1, T* src,
                                          int32_t offset, CANOPY_WHERE) {
    asc_loadalign_deintlv(dst0, dst1, src + offset, where);
}
template <class T>
CANOPY_C_LANES void asc_loadalign_deintlv(canopy::kernel::Register<T>& dst0, canopy::kernel::Register<T>& dst1, T* src,
                                          addr_reg offset, CANOPY_WHERE) {
    asc_loadalign_deintlv(dst0, dst1, src + offset.elements, where);
}
template <class T>
CANOPY_C_LANES void asc_loadalign_deintlv_postupdate(canopy::kernel::Register<T>& dst0,
                                                     canopy::kernel::Register<T>& dst1, T*& src, int32_t offset,
                                                     CANOPY_WHERE) {
    canopy::kernel::registers::check_step("LoadAlign", int64_t{offset} * static_cast<int64_t>(sizeof(T)), 32, where);
    asc_loadalign_deintlv(dst0, dst1, src, where);
    src += offset;
}
template <class T>
CANOPY_C_LANES void asc_storealign_intlv(T* dst_align32b, const canopy::kernel::Register<T>& src0,
                                         const canopy::kernel::Register<T>& src1, CANOPY_WHERE) {
    AscendC::Reg::StoreAlign<T, canopy::c_interface::store_INTLV<T>>(dst_align32b, src0, src1,
                                                                     canopy::c_interface::all_lanes(), where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_intlv(T* dst_align32b, const canopy::kernel::Register<T>& src0,
                                         const canopy::kernel::Register<T>& src1, int32_t offset, CANOPY_WHERE) {
    asc_storealign_intlv(dst_align32b + offset, src0, src1, where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_intlv(T* dst_align32b, const canopy::kernel::Register<T>& src0,
                                         const canopy::kernel::Register<T>& src1, addr_reg offset, CANOPY_WHERE) {
    asc_storealign_intlv(dst_align32b + offset.elements, src0, src1, where);
}

// The first element only.
template <class T>
CANOPY_C_LANES void asc_storealign_1st(T* dst_align32b, const canopy::kernel::Register<T>& src, CANOPY_WHERE) {
    AscendC::Reg::StoreAlign<T, canopy::c_interface::store_FIRST<T>>(dst_align32b, src,
                                                                     canopy::c_interface::all_lanes(), where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_1st(T* dst_align32b, const canopy::kernel::Register<T>& src, int32_t offset,
                                       CANOPY_WHERE) {
    asc_storealign_1st(dst_align32b + offset, src, where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_1st(T* dst_align32b, const canopy::kernel::Register<T>& src, addr_reg offset,
                                       CANOPY_WHERE) {
    asc_storealign_1st(dst_align32b + offset.elements, src, where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_1st_postupdate(T*& dst_align32b, const canopy::kernel::Register<T>& src,
                                                  int32_t offset, CANOPY_WHERE) {
    asc_storealign_1st(dst_align32b, src, where);
    dst_align32b += offset;
}

// Blocks of 32 bytes, `block_stride` blocks apart. Without an update the access starts `repeat_stride` blocks after the
// address; with one the address advances by as much afterwards.
template <class T>
CANOPY_C_LANES void asc_loadalign(canopy::kernel::Register<T>& dst, T* src, uint16_t block_stride,
                                  uint16_t repeat_stride, const vector_bool& mask, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::Reg::LoadAlign<T, AscendC::Reg::DataCopyMode::DATA_BLOCK_COPY, PostLiteral::POST_MODE_NORMAL>(
        dst, src, block_stride, repeat_stride, mask, where);
}
template <class T>
CANOPY_C_LANES void asc_loadalign_postupdate(canopy::kernel::Register<T>& dst, T*& src, uint16_t block_stride,
                                             uint16_t repeat_stride, const vector_bool& mask, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::Reg::LoadAlign<T, AscendC::Reg::DataCopyMode::DATA_BLOCK_COPY, PostLiteral::POST_MODE_UPDATE>(
        dst, src, block_stride, repeat_stride, mask, where);
}
template <class T>
CANOPY_C_LANES void asc_storealign(T* dst_align32b, const canopy::kernel::Register<T>& src, uint16_t block_stride,
                                   uint16_t repeat_stride, const vector_bool& mask, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::Reg::StoreAlign<T, AscendC::Reg::DataCopyMode::DATA_BLOCK_COPY, PostLiteral::POST_MODE_NORMAL>(
        dst_align32b, src, block_stride, repeat_stride, mask, where);
}
template <class T>
CANOPY_C_LANES void asc_storealign_postupdate(T*& dst_align32b, const canopy::kernel::Register<T>& src,
                                              uint16_t block_stride, uint16_t repeat_stride, const vector_bool& mask,
                                              CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::Reg::StoreAlign<T, AscendC::Reg::DataCopyMode::DATA_BLOCK_COPY, PostLiteral::POST_MODE_UPDATE>(
        dst_align32b, src, block_stride, repeat_stride, mask, where);
}

// Masks --------------------------------------------------------------------------------------------------------------

#define CANOPY_C_LOAD_MASK(name, dist, bytes)                                                                       \
    CANOPY_C_LANES void name(vector_bool& dst, uint32_t* src, CANOPY_WHERE) {                                       \
        AscendC::Reg::LoadAlign<uint32_t, AscendC::Reg::MaskDist::dist>(dst, src, where);                           \
    }                                                                                                               \
    CANOPY_C_LANES void name(vector_bool& dst, uint32_t* src, int32_t offset, CANOPY_WHERE) {                       \
        name(dst, canopy::c_interface::moved_bytes(src, offset), where);                                            \
    }                                                                                                               \
    CANOPY_C_LANES void name(vector_bool& dst, uint32_t* src, addr_reg offset, CANOPY_WHERE) {                      \
        name(dst, canopy::c_interface::moved_bytes(src, offset.elements), where);                                   \
    }                                                                                                               \
    CANOPY_C_LANES void name##_postupdate(vector_bool& dst, uint32_t*& src, int32_t offset = bytes, CANOPY_WHERE) { \
        name(dst, src, where);                                                                                      \
        src = canopy::c_interface::moved_bytes(src, offset);                                                        \
    }
CANOPY_C_LOAD_MASK(asc_loadalign, DIST_NORM, 32)
CANOPY_C_LOAD_MASK(asc_loadalign_upsample, DIST_US, 16)
CANOPY_C_LOAD_MASK(asc_loadalign_downsample, DIST_DS, 64)
#undef CANOPY_C_LOAD_MASK

namespace canopy::c_interface {

template <class T>
using if_mask_pointer = kernel::only_if<kernel::is_any_of<T, uint8_t, uint16_t, uint32_t>>;

}  // namespace canopy::c_interface

#define CANOPY_C_STORE_MASK(name, dist)                                                                    \
    template <class T, class = canopy::c_interface::if_mask_pointer<T>>                                    \
    CANOPY_C_LANES void name(T* dst, const vector_bool& src, CANOPY_WHERE) {                               \
        AscendC::Reg::StoreAlign<T, AscendC::Reg::MaskDist::dist>(dst, src, where);                        \
    }                                                                                                      \
    template <class T, class = canopy::c_interface::if_mask_pointer<T>>                                    \
    CANOPY_C_LANES void name(T* dst, const vector_bool& src, int32_t offset, CANOPY_WHERE) {               \
        name(canopy::c_interface::moved_bytes(dst, offset), src, where);                                   \
    }                                                                                                      \
    template <class T, class = canopy::c_interface::if_mask_pointer<T>>                                    \
    CANOPY_C_LANES void name(T* dst, const vector_bool& src, addr_reg offset, CANOPY_WHERE) {              \
        name(canopy::c_interface::moved_bytes(dst, offset.elements), src, where);                          \
    }                                                                                                      \
    template <class T, class = canopy::c_interface::if_mask_pointer<T>>                                    \
    CANOPY_C_LANES void name##_postupdate(T*& dst, const vector_bool& src, int32_t offset, CANOPY_WHERE) { \
        name(dst, src, where);                                                                             \
        dst = canopy::c_interface::moved_bytes(dst, offset);                                               \
    }
CANOPY_C_STORE_MASK(asc_storealign, DIST_NORM)
CANOPY_C_STORE_MASK(asc_storealign_pack, DIST_PACK)
#undef CANOPY_C_STORE_MASK

// Any address --------------------------------------------------------------------------------------------------------

template <class T>
CANOPY_C_LANES void asc_load(canopy::kernel::Register<T>& dst, T* src, CANOPY_WHERE) {
    AscendC::Reg::Load<T>(dst, src, where);
}
template <class T>
CANOPY_C_LANES void asc_store(T* dst, const canopy::kernel::Register<T>& src, CANOPY_WHERE) {
    AscendC::Reg::Store<T>(dst, src, where);
}
template <class T>
CANOPY_C_LANES void asc_store(T* dst, const canopy::kernel::Register<T>& src, uint32_t count, CANOPY_WHERE) {
    AscendC::Reg::Store<T>(dst, src, count, where);
}

template <class T>
CANOPY_C_LANES void asc_loadunalign_pre(vector_load_unalign&, T*) {}
template <class T>
CANOPY_C_LANES void asc_loadunalign_pre(vector_load_unalign&, T*, addr_reg) {}
template <class T>
CANOPY_C_LANES void asc_loadunalign(canopy::kernel::Register<T>& dst, vector_load_unalign&, T* src1, CANOPY_WHERE) {
    asc_load(dst, src1, where);
}
template <class T>
CANOPY_C_LANES void asc_loadunalign_postupdate(canopy::kernel::Register<T>& dst, vector_load_unalign&, T*& src1,
                                               uint32_t count, CANOPY_WHERE) {
    asc_load(dst, src1, where);
    src1 += count;
}
template <class T>
CANOPY_C_LANES void asc_loadunalign_postupdate(canopy::kernel::Register<T>& dst, vector_load_unalign&, T* src1,
                                               addr_reg& offset, uint32_t inc, CANOPY_WHERE) {
    asc_load(dst, src1 + offset.elements, where);
    offset.elements += inc;
}

template <class T>
CANOPY_C_LANES void asc_storeunalign(T* dst, vector_store_unalign&, const canopy::kernel::Register<T>& src1,
                                     uint32_t count, CANOPY_WHERE) {
    asc_store(dst, src1, count, where);
}
template <class T>
CANOPY_C_LANES void asc_storeunalign_postupdate(T*& dst, vector_store_unalign&, const canopy::kernel::Register<T>& src1,
                                                uint32_t count, CANOPY_WHERE) {
    asc_store(dst, src1, count, where);
    dst += count;
}
// The whole register, at an offset.
template <class T>
CANOPY_C_LANES void asc_storeunalign_postupdate(T* dst, vector_store_unalign&, const canopy::kernel::Register<T>& src1,
                                                addr_reg& count, CANOPY_WHERE) {
    asc_store(dst + count.elements, src1, where);
}
// What the last asc_squeeze_with_status kept, after everything such calls have kept since asc_clear_ar_spr.
template <class T>
CANOPY_C_LANES void asc_storeunalign_postupdate(T* dst, vector_store_unalign& src0,
                                                const canopy::kernel::Register<T>& src1, CANOPY_WHERE) {
    AscendC::Reg::StoreUnAlign<T>(dst, src1, src0, where);
}
// A mask: one bit per element of the pointer's type.
template <class T>
CANOPY_C_LANES void asc_storeunalign_postupdate(T*& dst, vector_store_unalign& src0, const vector_bool& src1,
                                                CANOPY_WHERE) {
    if constexpr (sizeof(T) == 1) {
        asc_storealign(dst, src1, where);
        dst += 32;
    } else {
        AscendC::Reg::StoreUnAlign<T>(dst, src1, src0, where);
    }
}
// Stores reach memory at once, so there is nothing left to write.
template <class T>
CANOPY_C_LANES void asc_storeunalign_post(T*, vector_store_unalign) {}
template <class T>
CANOPY_C_LANES void asc_storeunalign_post(T*, vector_store_unalign, addr_reg) {}
template <class T>
CANOPY_C_LANES void asc_storeunalign_post(T*, vector_store_unalign, int32_t) {}
template <class T>
CANOPY_C_LANES void asc_storeunalign_post_postupdate(T*& dst, vector_store_unalign, int32_t offset) {
    dst += offset;
}

// Gather and scatter -------------------------------------------------------------------------------------------------

// Elements of one byte arrive in elements of two, zero-extended; with 32-bit indices, elements of two bytes arrive in
// the low halves of elements of four.
template <class D, class T, class I>
CANOPY_C_LANES void asc_gather(canopy::kernel::Register<D>& dst, T* src, const canopy::kernel::Register<I>& index,
                               const vector_bool& mask, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<I, uint16_t, uint32_t>, "asc_gather: indices are uint16_t or uint32_t");
    using namespace canopy::kernel::registers;
    if constexpr (sizeof(D) == 2 && sizeof(I) == 4) {
        vector_uint32_t wide;
        const auto indices = array_of(index.lanes);
        const auto bits = bits_of(mask);
        LaneArray<uint32_t, 64> result = {};
        for (uint32_t i = 0; i < 64; ++i) {
            if ((bits.word[i / 16] >> i % 16 * 4 & 1) == 0) continue;
            check_access("asc_gather", src + indices.element[i], 1, sizeof(T), where);
            __builtin_memcpy(&result.element[i], src + indices.element[i], sizeof(T));
        }
        wide.lanes = lanes_of_array(result);
        dst.lanes = lanes_as<decltype(dst.lanes)>(wide.lanes);
    } else if constexpr (sizeof(T) == 1 && sizeof(D) == 1) {
        vector_uint16_t wide;
        AscendC::Reg::Gather(wide, reinterpret_cast<uint8_t*>(src), index, mask, where);
        dst.lanes = lanes_as<decltype(dst.lanes)>(wide.lanes);
    } else {
        AscendC::Reg::Gather(dst, src, index, mask, where);
    }
}
template <class T, class I>
CANOPY_C_LANES void asc_gather(canopy::kernel::Register<T>& dst, const canopy::kernel::Register<T>& src,
                               const canopy::kernel::Register<I>& index) {
    AscendC::Reg::Gather(dst, src, index);
}
template <class T>
CANOPY_C_LANES void asc_gather_datablock(canopy::kernel::Register<T>& dst, T* src, const vector_uint32_t& index,
                                         const vector_bool& mask, CANOPY_WHERE) {
    AscendC::Reg::GatherB<T>(dst, src, index, mask, where);
}
template <class T>
CANOPY_C_LANES void asc_gather_datablock(canopy::kernel::Register<T>& dst, T* src, const vector_uint32_t& index,
                                         CANOPY_WHERE) {
    asc_gather_datablock(dst, src, index, AscendC::Reg::CreateMask<uint32_t>(), where);
}
template <class T, class I>
CANOPY_C_LANES void asc_scatter(T* dst, const canopy::kernel::Register<T>& src,
                                const canopy::kernel::Register<I>& index, const vector_bool& mask, CANOPY_WHERE) {
    AscendC::Reg::Scatter<T>(dst, src, index, mask, where);
}
// The older order.
template <class T, class I>
CANOPY_C_LANES void asc_scatter(canopy::kernel::Register<T>& src, T* dst, const canopy::kernel::Register<I>& index,
                                const vector_bool& mask, CANOPY_WHERE) {
    asc_scatter(dst, src, index, mask, where);
}

#endif
