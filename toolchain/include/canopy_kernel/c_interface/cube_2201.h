// SPDX-License-Identifier: Apache-2.0
// The cube in the C interface of 2201: fractals by index, the long form of products, and the cube's output.
#ifndef CANOPY_KERNEL_C_INTERFACE_CUBE_2201_H
#define CANOPY_KERNEL_C_INTERFACE_CUBE_2201_H

#include "canopy_kernel/c_interface/cube.h"
#include "canopy_kernel/cube/scaled_product.h"

inline void asc_set_l13d_size(uint64_t value, CANOPY_WHERE) {
    AscendC::SetLoadDataBoundary(static_cast<uint32_t>(value), where);
}

// `repeat` fractals of 512 bytes, `src_stride` apart, with gaps of `dst_gap` fractals.
#define CANOPY_C_LOAD(name, position, source)                                                                       \
    template <class T>                                                                                              \
    inline void name(T* dst, T* src, uint16_t start_index, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,   \
                     CANOPY_WHERE) {                                                                                \
        using namespace canopy::c_interface;                                                                        \
        AscendC::LoadData(tensor_at<position>(dst), source,                                                         \
                          AscendC::LoadData2DParams(start_index, repeat, src_stride, 0, dst_gap, false, 0), where); \
    }                                                                                                               \
    CANOPY_C_SYNC(name, (class T),                                                                                  \
                  (T * dst, T * src, uint16_t start_index, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap),  \
                  (dst, src, start_index, repeat, src_stride, dst_gap))
CANOPY_C_LOAD(asc_copy_l12l0a, TPosition::A2, tensor_at<TPosition::A1>(src))
CANOPY_C_LOAD(asc_copy_l12l0b, TPosition::B2, tensor_at<TPosition::A1>(src))
CANOPY_C_LOAD(asc_copy_gm2l0a, TPosition::A2, memory_at<T>(src))
CANOPY_C_LOAD(asc_copy_gm2l0b, TPosition::B2, memory_at<T>(src))
#undef CANOPY_C_LOAD

// Squares, each transposed.
#define CANOPY_C_LOAD_TURNED(name, position)                                                                     \
    template <class T>                                                                                           \
    inline void name(T* dst, T* src, uint16_t index_id, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,   \
                     bool enable_addr_decrement, uint16_t dst_frac_gap, CANOPY_WHERE) {                          \
        using namespace canopy::c_interface;                                                                     \
        AscendC::LoadDataWithTranspose(tensor_at<position>(dst), tensor_at<TPosition::A1>(src),                  \
                                       AscendC::LoadData2dTransposeParams(index_id, repeat, src_stride, dst_gap, \
                                                                          dst_frac_gap, enable_addr_decrement),  \
                                       where);                                                                   \
    }                                                                                                            \
    CANOPY_C_SYNC(name, (class T),                                                                               \
                  (T * dst, T * src, uint16_t index_id, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,   \
                   bool enable_addr_decrement, uint16_t dst_frac_gap),                                           \
                  (dst, src, index_id, repeat, src_stride, dst_gap, enable_addr_decrement, dst_frac_gap))
CANOPY_C_LOAD_TURNED(asc_copy_l12l0a_trans, TPosition::A2)
CANOPY_C_LOAD_TURNED(asc_copy_l12l0b_trans, TPosition::B2)
#undef CANOPY_C_LOAD_TURNED

CANOPY_C_MULTIPLY(asc_mmad_s4)

namespace canopy::c_interface {

inline void require_no_offsets(const char* name, uint8_t feature, uint8_t mask, bool weight, Where where) {
    if (feature != 0 || mask != 0 || weight)
        kernel::fail(where, "%s: offsets of features, weights and masks are not supported; pass 0", name);
}

}  // namespace canopy::c_interface

#define CANOPY_C_MULTIPLY_LONG(name)                                                                              \
    template <class C, class A, class B>                                                                          \
    inline void name(C* c_matrix, A* a_matrix, B* b_matrix, uint16_t left_height, uint16_t n_dim,                 \
                     uint16_t right_width, uint8_t feat_offset, uint8_t smask_offset, uint8_t unit_flag,          \
                     bool k_direction_align, bool is_weight_offset, bool c_matrix_source, bool c_matrix_init_val, \
                     CANOPY_WHERE) {                                                                              \
        canopy::c_interface::require_no_offsets(#name, feat_offset, smask_offset, is_weight_offset, where);       \
        name(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, k_direction_align,         \
             c_matrix_source, c_matrix_init_val, where);                                                          \
    }                                                                                                             \
    CANOPY_C_SYNC(name, (class C, class A, class B),                                                              \
                  (C * c_matrix, A * a_matrix, B * b_matrix, uint16_t left_height, uint16_t n_dim,                \
                   uint16_t right_width, uint8_t feat_offset, uint8_t smask_offset, uint8_t unit_flag,            \
                   bool k_direction_align, bool is_weight_offset, bool c_matrix_source, bool c_matrix_init_val),  \
                  (c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, feat_offset, smask_offset,      \
                   unit_flag, k_direction_align, is_weight_offset, c_matrix_source, c_matrix_init_val))
CANOPY_C_MULTIPLY_LONG(asc_mmad)
CANOPY_C_MULTIPLY_LONG(asc_mmad_s4)
#undef CANOPY_C_MULTIPLY_LONG

// A right factor of which two of four values are stored, with the index that says which.
template <class T, class I>
inline void asc_copy_l12l0b_sparse(__cb__ T* dst, __cbuf__ T* src, __cbuf__ I* index, uint16_t start_index,
                                   uint8_t repeat, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    LoadDataWithSparse(tensor_at<TPosition::B2>(dst), tensor_at<TPosition::A1>(src),
                       tensor_at<TPosition::A1>(reinterpret_cast<uint8_t*>(index)),
                       AscendC::LoadData2DParams(start_index, repeat, 0, 0, 0, false, 0), where);
}
CANOPY_C_SYNC(asc_copy_l12l0b_sparse, (class T, class I),
              (T * dst, T* src, I* index, uint16_t start_index, uint8_t repeat), (dst, src, index, start_index, repeat))
template <class C, class A, class B>
inline void asc_mmad_sparse(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint16_t m, uint16_t k, uint16_t n,
                            uint8_t unit_flag, bool c_matrix_source, bool c_matrix_init_val, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    if (c_matrix_source) canopy::kernel::fail(where, "asc_mmad_sparse: a bias is not supported");
    MmadWithSparse(tensor_at<TPosition::CO1>(c), tensor_at<TPosition::A2>(a), tensor_at<TPosition::B2>(b),
                   AscendC::MmadParams(m, n, k, unit_flag, false, c_matrix_init_val), where);
}
CANOPY_C_SYNC(asc_mmad_sparse, (class C, class A, class B),
              (C * c, A* a, B* b, uint16_t m, uint16_t k, uint16_t n, uint8_t unit_flag, bool c_matrix_source,
               bool c_matrix_init_val),
              (c, a, b, m, k, n, unit_flag, c_matrix_source, c_matrix_init_val))

CANOPY_C_FILL(asc_fill_l0a, canopy::kernel::TPosition::A2)
CANOPY_C_FILL(asc_fill_l0b, canopy::kernel::TPosition::B2)

// The cube's output --------------------------------------------------------------------------------------------------

inline void asc_set_l0c_copy_params(uint16_t nd_num, uint16_t src_nd_stride, uint16_t dst_nd_stride) {
    AscendC::SetFixpipeNz2ndFlag(nd_num, src_nd_stride, dst_nd_stride);
}
inline uint64_t asc_get_l0c2gm_prequant() { return canopy::kernel::core_state().cube.quantisation; }
inline uint64_t asc_get_l0c2gm_relu() {
    return reinterpret_cast<uintptr_t>(canopy::kernel::core_state().cube.relu_vector);
}
inline uint64_t asc_get_l0c2gm_unitflag() { return 0; }

namespace canopy::c_interface {

template <class Destination, class S>
inline void copy_output(const char* name, const Destination& to, S* src, uint16_t columns, uint16_t rows,
                        uint32_t dst_stride, uint16_t src_stride, uint8_t unit_flag, uint64_t mode, uint8_t relu,
                        bool split, bool to_rows, Where where) {
    require_simple_output(name, relu, false, where);
    AscendC::DataCopyCO12DstParams params(columns, rows, dst_stride, src_stride, static_cast<QuantMode_t>(mode), relu,
                                          split, to_rows);
    params.unitFlag = unit_flag;
    AscendC::DataCopy(to, tensor_at<TPosition::CO1>(src), params, where);
}

}  // namespace canopy::c_interface

template <class D, class S>
inline void asc_copy_l0c2gm(__gm__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride_dst_d,
                            uint16_t src_stride, uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre,
                            bool channel_split, bool nz2nd_en, CANOPY_WHERE) {
    canopy::c_interface::copy_output("asc_copy_l0c2gm", canopy::kernel::memory_at<D>(dst), src, n_size, m_size,
                                     dst_stride_dst_d, src_stride, unit_flag_mode, quant_pre, relu_pre, channel_split,
                                     nz2nd_en, where);
}
CANOPY_C_SYNC(asc_copy_l0c2gm, (class D, class S),
              (D * dst, S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride_dst_d, uint16_t src_stride,
               uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre, bool channel_split, bool nz2nd_en),
              (dst, src, n_size, m_size, dst_stride_dst_d, src_stride, unit_flag_mode, quant_pre, relu_pre,
               channel_split, nz2nd_en))

template <class D, class S>
inline void asc_copy_l0c2l1(__cbuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride,
                            uint16_t src_stride, uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre,
                            bool enable_channel_split, bool enable_nz2nd, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    if constexpr (canopy::kernel::is_same<D, void>)
        with_result_type<S>("asc_copy_l0c2l1", quant_pre, where, [&](auto* typed) {
            asc_copy_l0c2l1(static_cast<decltype(typed)>(dst), src, n_size, m_size, dst_stride, src_stride,
                            unit_flag_mode, quant_pre, relu_pre, enable_channel_split, enable_nz2nd, where);
        });
    else
        copy_output("asc_copy_l0c2l1", tensor_at<TPosition::A1>(dst), src, n_size, m_size, dst_stride, src_stride,
                    unit_flag_mode, quant_pre, relu_pre, enable_channel_split, enable_nz2nd, where);
}
CANOPY_C_SYNC(asc_copy_l0c2l1, (class D, class S),
              (D * dst, S* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride, uint16_t src_stride,
               uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre, bool enable_channel_split,
               bool enable_nz2nd),
              (dst, src, n_size, m_size, dst_stride, src_stride, unit_flag_mode, quant_pre, relu_pre,
               enable_channel_split, enable_nz2nd))

#undef CANOPY_C_MULTIPLY
#undef CANOPY_C_FILL

#endif
