// SPDX-License-Identifier: Apache-2.0
// The vector functions of the C interface on pointers that follow no pattern: fills, gathers, compaction,
// dequantisation, and the registers they use.
#ifndef CANOPY_KERNEL_C_INTERFACE_VECTOR_MORE_2201_H
#define CANOPY_KERNEL_C_INTERFACE_VECTOR_MORE_2201_H

#include "canopy_kernel/c_interface/support.h"

// Registers ----------------------------------------------------------------------------------------------------------

inline void asc_set_vector_mask(uint64_t mask1, uint64_t mask0) { canopy::intrinsics::set_vector_mask(mask1, mask0); }
inline void asc_set_mask_count() { AscendC::SetMaskCount(); }
inline void asc_set_mask_norm() { AscendC::SetMaskNorm(); }
inline void asc_get_cmp_mask(__ubuf__ void* dst, CANOPY_WHERE) { canopy::intrinsics::get_cmpmask(dst, where); }
inline void asc_set_cmp_mask(__ubuf__ void* sel_mask, CANOPY_WHERE) {
    canopy::intrinsics::set_cmpmask(sel_mask, where);
}

// Results of the last operation: elements that asc_reduce kept, elements that asc_mrgsort4 took from each queue, bits
// of the last sum, and the last extreme with its index.
inline int64_t asc_get_rsvd_count() { return AscendC::GetGatherMaskRemainCount(); }
inline void asc_get_vms4_sr(uint16_t sorted_num[4]) {
    AscendC::GetMrgSortResult(sorted_num[0], sorted_num[1], sorted_num[2], sorted_num[3]);
}
inline int64_t asc_get_acc_val() { return canopy::kernel::core_state().reduced_sum; }
template <class T>
inline void asc_get_reduce_max_cnt(T& val, uint32_t& index) {
    T bits;
    AscendC::GetReduceMaxMinCount(val, bits);
    index = canopy::kernel::core_state().reduced_value[1];
}
template <class T>
inline void asc_get_reduce_min_cnt(T& val, uint32_t& index) {
    asc_get_reduce_max_cnt(val, index);
}

inline constexpr int ASC_VDEQ_SIZE = 16;
inline void asc_set_deq_scale(half scale) { AscendC::SetDeqScale(scale); }
inline void asc_set_deq_scale(float scale, int16_t offset, bool sign_mode) {
    AscendC::SetDeqScale(scale, offset, sign_mode);
}
inline void asc_set_deq_scale(__ubuf__ uint64_t* tmp, float scale_arr[ASC_VDEQ_SIZE], int16_t offset_arr[ASC_VDEQ_SIZE],
                              bool sign_mode_arr[ASC_VDEQ_SIZE], CANOPY_WHERE) {
    AscendC::SetDeqScale(canopy::kernel::unified(tmp), AscendC::VdeqInfo(scale_arr, offset_arr, sign_mode_arr), where);
}

inline void asc_dcci_entire_ub(CANOPY_WHERE) {
    dcci(nullptr, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_UB, where);
}
inline void asc_set_ffts_base_addr(uint64_t config) { canopy::intrinsics::set_ffts_base_addr(config); }
inline int64_t asc_get_ffts_base_addr() { return 0; }
inline uint64_t asc_get_overflow_status() { return 0; }
inline void asc_set_store_atomic_config_v1(uint16_t type, uint16_t op) {
    canopy::c_interface::set_store_atomic(type, op);
}

// Fills and gathers --------------------------------------------------------------------------------------------------

template <class T>
inline void asc_duplicate(__ubuf__ T* dst, canopy::c_interface::number<T> src, uint32_t count, CANOPY_WHERE) {
    AscendC::Duplicate(canopy::kernel::unified(dst), src, static_cast<int32_t>(count), where);
}
template <class T>
inline void asc_duplicate(__ubuf__ T* dst, canopy::c_interface::number<T> src, uint8_t repeat,
                          uint16_t dst_block_stride, uint16_t dst_repeat_stride, CANOPY_WHERE) {
    canopy::intrinsics::vector_dup(dst, src, repeat, dst_block_stride, 0, dst_repeat_stride, 0, where);
}
CANOPY_C_SYNC(asc_duplicate, (class T), (T * dst, canopy::c_interface::number<T> src, uint32_t count),
              (dst, src, count))

// The name on this chip of what other chips call asc_duplicate_scalar.
template <class T>
inline void asc_duplicate_scalar(__ubuf__ T* dst, canopy::c_interface::number<T> src, uint32_t count, CANOPY_WHERE) {
    asc_duplicate(dst, src, count, where);
}

template <class T>
inline void asc_brcb(__ubuf__ T* dst, __ubuf__ T* src, uint16_t dst_block_stride, uint16_t dst_repeat_stride,
                     uint8_t repeat, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<T, uint16_t, uint32_t>,
                  "asc_brcb: the element types are uint16_t, uint32_t");
    canopy::intrinsics::vbrcb(dst, src, dst_block_stride, dst_repeat_stride, repeat, where);
}
CANOPY_C_SYNC(asc_brcb, (class T),
              (T * dst, T* src, uint16_t dst_block_stride, uint16_t dst_repeat_stride, uint8_t repeat),
              (dst, src, dst_block_stride, dst_repeat_stride, repeat))

// Offsets count bytes from `src`.
template <class T>
inline void asc_gather(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset, uint32_t count, CANOPY_WHERE) {
    using canopy::kernel::unified;
    AscendC::Gather(unified(dst), unified(src), unified(src_offset), 0, count, where);
}
template <class T>
inline void asc_gather(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset, uint16_t dst_repeat_stride,
                       uint8_t repeat, CANOPY_WHERE) {
    using namespace canopy::kernel;
    canopy::kernel::gather(unified(dst), unified(src), unified(src_offset), 0,
                           canopy::kernel::select<false>(lanes<T>, uint64_t{0}, repeat), dst_repeat_stride, where);
}
CANOPY_C_SYNC(asc_gather, (class T), (T * dst, T* src, uint32_t* src_offset, uint32_t count),
              (dst, src, src_offset, count))

template <class T>
inline void asc_gather_datablock(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ uint32_t* src_offset,
                                 uint16_t dst_repeat_stride, uint8_t dst_block_stride, uint8_t repeat, CANOPY_WHERE) {
    using canopy::kernel::unified;
    static_assert(canopy::kernel::is_any_of<T, uint16_t, uint32_t>,
                  "asc_gather_datablock: the element types are uint16_t, uint32_t");
    AscendC::GatherRepeatParams strides;
    strides.dstBlkStride = dst_block_stride;
    strides.dstRepStride = dst_repeat_stride;
    AscendC::Gatherb(unified(dst), unified(src), unified(src_offset), repeat, strides, where);
}
CANOPY_C_SYNC(asc_gather_datablock, (class T),
              (T * dst, T* src, uint32_t* src_offset, uint16_t dst_repeat_stride, uint8_t dst_block_stride,
               uint8_t repeat),
              (dst, src, src_offset, dst_repeat_stride, dst_block_stride, repeat))

// Compaction: keeps the elements of src0 that a pattern selects; 0: the bits of src1; 1 to 7: a fixed one.
template <class T>
inline void asc_reduce(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint16_t repeat, uint8_t src0_block_stride,
                       uint8_t pattern_mode, uint16_t src0_repeat_stride, uint8_t src1_repeat_stride, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<T, uint16_t, uint32_t>,
                  "asc_reduce: the element types are uint16_t, uint32_t");
    canopy::intrinsics::vreducev2(dst, src0, src1, repeat, src0_block_stride, pattern_mode, src0_repeat_stride,
                                  src1_repeat_stride, where);
}
template <class T>
inline void asc_reduce(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint32_t count, CANOPY_WHERE) {
    canopy::c_interface::on_elements(count, [&] { asc_reduce(dst, src0, src1, 1, 1, 0, 8, 0, where); });
}
CANOPY_C_SYNC(asc_reduce, (class T), (T * dst, T* src0, T* src1, uint32_t count), (dst, src0, src1, count))

// The same with bits in src1 and the strides of an operation with two sources; the result is contiguous.
template <class T>
inline void asc_squeeze(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t,
                        uint8_t src0_block_stride, uint8_t, uint8_t, uint8_t src0_repeat_stride,
                        uint8_t src1_repeat_stride, CANOPY_WHERE) {
    asc_reduce(dst, src0, src1, repeat, src0_block_stride, 0, src0_repeat_stride, src1_repeat_stride, where);
}

// Dequantisation with the parameters of asc_set_deq_scale ------------------------------------------------------------

template <class T>
inline void asc_deq_int322half(__ubuf__ T* dst, __ubuf__ int32_t* src, uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_same<T, half>, "asc_deq_int322half makes half from int32_t");
    AscendC::Cast(canopy::kernel::unified(dst), canopy::kernel::unified(src), AscendC::RoundMode::CAST_NONE, count,
                  where);
}
template <class T>
inline void asc_deq_int322half(__ubuf__ T* dst, __ubuf__ int32_t* src, uint8_t repeat, uint16_t dst_block_stride,
                               uint16_t src_block_stride, uint8_t dst_repeat_stride, uint8_t src_repeat_stride,
                               CANOPY_WHERE) {
    canopy::intrinsics::vconv_deq(dst, src, repeat, dst_block_stride, src_block_stride, dst_repeat_stride,
                                  src_repeat_stride, where);
}
CANOPY_C_SYNC(asc_deq_int322half, (class T), (T * dst, int32_t* src, uint32_t count), (dst, src, count))

// Sixteen results fill the upper (_h) or the lower (_l) half of a block; `vdeq` has a scale for each of the sixteen.
#define CANOPY_C_DEQUANTISE(name, by_vector, lower)                                                                   \
    template <class T>                                                                                                \
    inline void name(__ubuf__ T* dst, __ubuf__ int16_t* src, uint32_t count, CANOPY_WHERE) {                          \
        AscendC::CastDeq<T, int16_t, by_vector, lower>(canopy::kernel::unified(dst), canopy::kernel::unified(src),    \
                                                       count, where);                                                 \
    }                                                                                                                 \
    template <class T>                                                                                                \
    inline void name(__ubuf__ T* dst, __ubuf__ int16_t* src, uint8_t repeat, uint16_t dst_block_stride,               \
                     uint16_t src_block_stride, uint8_t dst_repeat_stride, uint8_t src_repeat_stride, CANOPY_WHERE) { \
        AscendC::CastDeq<T, int16_t, false, by_vector, lower>(                                                        \
            canopy::kernel::unified(dst), canopy::kernel::unified(src), AscendC::MASK_PLACEHOLDER, repeat,            \
            AscendC::UnaryRepeatParams(dst_block_stride, src_block_stride, dst_repeat_stride, src_repeat_stride),     \
            where);                                                                                                   \
    }                                                                                                                 \
    CANOPY_C_SYNC(name, (class T), (T * dst, int16_t * src, uint32_t count), (dst, src, count))
CANOPY_C_DEQUANTISE(asc_deq_int162b8_h, false, false)
CANOPY_C_DEQUANTISE(asc_deq_int162b8_l, false, true)
CANOPY_C_DEQUANTISE(asc_vdeq_int162b8_h, true, false)
CANOPY_C_DEQUANTISE(asc_vdeq_int162b8_l, true, true)
#undef CANOPY_C_DEQUANTISE

#endif
