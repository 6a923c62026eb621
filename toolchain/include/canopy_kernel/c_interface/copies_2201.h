// SPDX-License-Identifier: Apache-2.0
// Copies of the C interface between global memory and a core, for chips that count gaps from the end of a row to the
// start of the next: in blocks of 32 bytes, in bytes in the global memory of the _align forms.
#ifndef CANOPY_KERNEL_C_INTERFACE_COPIES_2201_H
#define CANOPY_KERNEL_C_INTERFACE_COPIES_2201_H

#include "canopy_kernel/c_interface/copies.h"

// `size` bytes, a multiple of 32, or rows of blocks.
#define CANOPY_C_COPY_IN(name, position)                                                                               \
    inline void name(void* dst, void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap,   \
                     CANOPY_WHERE) {                                                                                   \
        using namespace canopy::c_interface;                                                                           \
        AscendC::DataCopy(bytes_at<position>(dst), memory_at<uint8_t>(static_cast<const uint8_t*>(src)),               \
                          AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), where);                       \
    }                                                                                                                  \
    inline void name(void* dst, void* src, uint32_t size, CANOPY_WHERE) {                                              \
        using namespace canopy::c_interface;                                                                           \
        AscendC::DataCopy(bytes_at<position>(dst), memory_at<uint8_t>(static_cast<const uint8_t*>(src)), size, where); \
    }                                                                                                                  \
    CANOPY_C_SYNC(name, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))
CANOPY_C_COPY_IN(asc_copy_gm2ub, TPosition::VECIN)
CANOPY_C_COPY_IN(asc_copy_gm2l1, TPosition::A1)
#undef CANOPY_C_COPY_IN

inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                           uint16_t dst_gap, CANOPY_WHERE) {
    canopy::intrinsics::copy_ubuf_to_gm(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, where);
}
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint32_t size, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::DataCopy(memory_at<uint8_t>(static_cast<uint8_t*>(dst)), bytes_at<TPosition::VECOUT>(src), size, where);
}
CANOPY_C_SYNC(asc_copy_ub2gm, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))

inline void asc_copy_l12gm(__gm__ void* dst, __cbuf__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
                           uint16_t dst_gap, CANOPY_WHERE) {
    canopy::intrinsics::copy_cbuf_to_gm(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, where);
}
CANOPY_C_SYNC(asc_copy_l12gm, (class = void),
              (void* dst, void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap),
              (dst, src, n_burst, len_burst, src_gap, dst_gap))

// Rows of any number of bytes, with padding elements left and right of each; gaps of the unified buffer count blocks.
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint16_t n_burst, uint32_t len_burst,
                                 uint8_t left_padding_num, uint8_t right_padding_num, uint32_t src_gap,
                                 uint32_t dst_gap, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::DataCopyPad(tensor_at<TPosition::VECIN>(dst), memory_at<T>(src),
                         AscendC::DataCopyExtParams(n_burst, len_burst, src_gap, dst_gap, 0),
                         AscendC::DataCopyPadExtParams<T>(false, left_padding_num, right_padding_num, T()), where);
}
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_gm2ub_align(dst, src, 1, size, 0, 0, 0, 0, where);
}
CANOPY_C_SYNC(asc_copy_gm2ub_align, (class T), (T * dst, T* src, uint32_t size), (dst, src, size))

template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint16_t n_burst, uint32_t len_burst, uint8_t, uint8_t,
                                 uint32_t src_gap, uint32_t dst_gap, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::DataCopyPad(memory_at<T>(dst), tensor_at<TPosition::VECOUT>(src),
                         AscendC::DataCopyExtParams(n_burst, len_burst, src_gap, dst_gap, 0), where);
}
template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_ub2gm_align(dst, src, 1, size, 0, 0, 0, 0, where);
}
CANOPY_C_SYNC(asc_copy_ub2gm_align, (class T), (T * dst, T* src, uint32_t size), (dst, src, size))

namespace canopy::c_interface {

// asc_copy_gm2l1 copies fractals if the pointers have one of these types, blocks otherwise.
template <class T>
using if_fractals = kernel::only_if<kernel::is_any_of<T, bfloat16_t, half, float, int32_t, int8_t, uint32_t, uint8_t>>;

}  // namespace canopy::c_interface

// Fractals of 512 bytes: `repeat` of them, `src_stride` fractals apart, into places with `dst_gap` fractals between.
template <class T, class = canopy::c_interface::if_fractals<T>>
inline void asc_copy_gm2l1(__cbuf__ T* dst, __gm__ T* src, uint16_t base_idx, uint8_t repeat, uint16_t src_stride,
                           uint16_t dst_gap, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    const auto to = tensor_at<TPosition::A1>(dst);
    canopy::kernel::require_block("asc_copy_gm2l1", "destination", to, where);
    if (repeat != 0)
        canopy::kernel::check_extent("asc_copy_gm2l1", "destination", to, (repeat - 1u) * (1u + dst_gap) * 512ull + 512,
                                     where);
    const AscendC::LoadData2DParams params(base_idx, repeat, src_stride, 0, dst_gap, false, 0);
    const canopy::kernel::Instruction instruction(PIPE_MTE2, "asc_copy_gm2l1", where);
    canopy::kernel::add_load(to, memory_at<T>(src), params);
    canopy::kernel::load_fractals(to.GetPhyAddr(), static_cast<const T*>(src), params);
}
CANOPY_C_SYNC(asc_copy_gm2l1, (class T, class = canopy::c_interface::if_fractals<T>),
              (T * dst, T* src, uint16_t base_idx, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap),
              (dst, src, base_idx, repeat, src_stride, dst_gap))

// Row-major matrices into fractals.
template <class T>
inline void asc_copy_gm2l1_nd2nz(__cbuf__ T* dst, __gm__ T* src, uint16_t nd_num, uint16_t n_value, uint16_t d_value,
                                 uint16_t src_nd_matrix_stride, uint16_t src_d_value, uint16_t dst_nz_c0_stride,
                                 uint16_t dst_nz_n_stride, uint16_t dst_nz_matrix_stride, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::DataCopy(tensor_at<TPosition::A1>(dst), memory_at<T>(src),
                      AscendC::Nd2NzParams(nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value,
                                           dst_nz_c0_stride, dst_nz_n_stride, dst_nz_matrix_stride),
                      where);
}
CANOPY_C_SYNC(asc_copy_gm2l1_nd2nz, (class T),
              (T * dst, T* src, uint16_t nd_num, uint16_t n_value, uint16_t d_value, uint16_t src_nd_matrix_stride,
               uint16_t src_d_value, uint16_t dst_nz_c0_stride, uint16_t dst_nz_n_stride,
               uint16_t dst_nz_matrix_stride),
              (dst, src, nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value, dst_nz_c0_stride, dst_nz_n_stride,
               dst_nz_matrix_stride))

// Not available: the hardware's own padding patterns, the loader of images, and a path that this chip does not have.
#define CANOPY_C_UNAVAILABLE(name, reason) \
    template <class... Arguments>          \
    __attribute__((unavailable(reason))) void name(Arguments...)
#define CANOPY_C_PADDED(name)                                                                        \
    CANOPY_C_UNAVAILABLE(name, #name                                                                 \
                         " is not supported: the patterns of the pad modes are not documented; use " \
                         "asc_copy_gm2l1 and asc_fill_l1");                                          \
    CANOPY_C_UNAVAILABLE(name##_sync, #name                                                          \
                         "_sync is not supported: the patterns of the pad modes are not "            \
                         "documented; use asc_copy_gm2l1 and asc_fill_l1");
CANOPY_C_PADDED(asc_copy_gm2l1_pad1)
CANOPY_C_PADDED(asc_copy_gm2l1_pad2)
CANOPY_C_PADDED(asc_copy_gm2l1_pad3)
CANOPY_C_PADDED(asc_copy_gm2l1_pad4)
CANOPY_C_PADDED(asc_copy_gm2l1_pad5)
CANOPY_C_PADDED(asc_copy_gm2l1_pad6)
CANOPY_C_PADDED(asc_copy_gm2l1_pad7)
CANOPY_C_PADDED(asc_copy_gm2l1_pad8)
#undef CANOPY_C_PADDED
CANOPY_C_UNAVAILABLE(asc_load_image_to_cbuf, "asc_load_image_to_cbuf is not supported: it needs the image converter");
CANOPY_C_UNAVAILABLE(asc_load_image_to_cbuf_sync,
                     "asc_load_image_to_cbuf_sync is not supported: it needs the image converter");
CANOPY_C_UNAVAILABLE(asc_copy_l12l0c, "asc_copy_l12l0c is not supported: no copy leads from L1 to L0C on this chip");
CANOPY_C_UNAVAILABLE(asc_copy_l12l0c_sync,
                     "asc_copy_l12l0c_sync is not supported: no copy leads from L1 to L0C on this chip");
#undef CANOPY_C_UNAVAILABLE

#endif
