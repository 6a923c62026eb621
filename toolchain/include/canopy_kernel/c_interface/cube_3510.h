// SPDX-License-Identifier: Apache-2.0
// The cube in the C interface of 3510: rectangles of fractals, products with scales, and the cube's output.
#ifndef CANOPY_KERNEL_C_INTERFACE_CUBE_3510_H
#define CANOPY_KERNEL_C_INTERFACE_CUBE_3510_H

#include "canopy_kernel/c_interface/copies_3510.h"
#include "canopy_kernel/c_interface/cube.h"
#include "canopy_kernel/cube/scaled_product.h"

// The 8-bit format of products whose types do not say it; here they do.
inline void asc_enable_fp8() {}
inline void asc_enable_hif8() {}

inline void asc_set_l12l0_padding_val(uint64_t config) { AscendC::SetLoadDataPaddingValue(config); }
inline void asc_set_l3d_rpt_b(uint64_t config, CANOPY_WHERE) {
    asc_load3d_v2_config repeat;
    repeat.config = config;
    asc_set_l13d_rpt(repeat, where);
}

// Flags between the cube core and one vector core, and locks, which have nothing to protect here.
#define asc_sync_intra_arrive(pipe, sync_id) AscendC::CrossCoreSetFlag<4, pipe>(sync_id)
#define asc_sync_intra_wait(pipe, sync_id) AscendC::CrossCoreWaitFlag<4, pipe>(sync_id)
#define asc_lock(pipe, ...) AscendC::Mutex::Lock<pipe>(canopy::c_interface::first_of(__VA_ARGS__))
#define asc_unlock(pipe, ...) AscendC::Mutex::Unlock<pipe>(canopy::c_interface::first_of(__VA_ARGS__))

namespace canopy::c_interface {

template <class... Rest>
constexpr AscendC::MutexID first_of(uint64_t id, Rest...) {
    return static_cast<AscendC::MutexID>(id);
}

}  // namespace canopy::c_interface

// Loads --------------------------------------------------------------------------------------------------------------

// A rectangle of fractals of 16 rows of 32 bytes; strides count fractals between columns.
#define CANOPY_C_LOAD(name, position, turned)                                                                         \
    template <class T>                                                                                                \
    inline void name(T* dst, T* src, uint16_t m_start_position, uint16_t k_start_position, uint8_t m_step,            \
                     uint8_t k_step, int16_t src_stride, uint16_t dst_stride, CANOPY_WHERE) {                         \
        using namespace canopy::c_interface;                                                                          \
        AscendC::LoadData(tensor_at<position>(dst), tensor_at<TPosition::A1>(src),                                    \
                          AscendC::LoadData2DParamsV2(m_start_position, k_start_position, m_step, k_step, src_stride, \
                                                      dst_stride, turned, 0),                                         \
                          where);                                                                                     \
    }                                                                                                                 \
    CANOPY_C_SYNC(name, (class T),                                                                                    \
                  (T * dst, T * src, uint16_t m_start_position, uint16_t k_start_position, uint8_t m_step,            \
                   uint8_t k_step, int16_t src_stride, uint16_t dst_stride),                                          \
                  (dst, src, m_start_position, k_start_position, m_step, k_step, src_stride, dst_stride))
CANOPY_C_LOAD(asc_copy_l12l0a, TPosition::A2, false)
CANOPY_C_LOAD(asc_copy_l12l0b, TPosition::B2, false)
CANOPY_C_LOAD(asc_copy_l12l0a_transpose, TPosition::A2, true)
CANOPY_C_LOAD(asc_copy_l12l0b_transpose, TPosition::B2, true)
#undef CANOPY_C_LOAD

// Squares, each transposed.
template <class T>
inline void asc_copy_l12l0b_trans(__cb__ T* dst, __cbuf__ T* src, uint16_t index_id, uint8_t repeat,
                                  uint16_t src_stride, uint16_t dst_gap, uint16_t dst_frac_gap, uint16_t src_frac_gap,
                                  CANOPY_WHERE) {
    using namespace canopy::c_interface;
    if (src_frac_gap != 0)
        canopy::kernel::fail(where, "asc_copy_l12l0b_trans: src_frac_gap %u is not supported; pass 0", src_frac_gap);
    AscendC::LoadDataWithTranspose(
        tensor_at<TPosition::B2>(dst), tensor_at<TPosition::A1>(src),
        AscendC::LoadData2dTransposeParams(index_id, repeat, src_stride, dst_gap, dst_frac_gap), where);
}
CANOPY_C_SYNC(asc_copy_l12l0b_trans, (class T),
              (T * dst, T* src, uint16_t index_id, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,
               uint16_t dst_frac_gap, uint16_t src_frac_gap),
              (dst, src, index_id, repeat, src_stride, dst_gap, dst_frac_gap, src_frac_gap))

// Products with scales -----------------------------------------------------------------------------------------------

// Scales beside L0A or L0B; `dst` is the address of their data divided by 16. x counts groups of 16 rows, y pairs of
// scales (32 bytes), strides 32 bytes. The data itself is not loaded.
#define CANOPY_C_LOAD_SCALES(name, position)                                                                           \
    template <class T>                                                                                                 \
    inline void name(uint64_t dst, T* src, uint16_t x_start_pos, uint16_t y_start_pos, uint8_t x_step, uint8_t y_step, \
                     uint16_t src_stride, uint16_t dst_stride, CANOPY_WHERE) {                                         \
        using namespace canopy::c_interface;                                                                           \
        static_assert(canopy::kernel::is_same<T, fp8_e8m0_t>, #name ": scales are fp8_e8m0_t");                        \
        const auto* data = static_cast<const fp8_e4m3fn_t*>(address(dst * 16));                                        \
        LoadData(tensor_at<position>(data), tensor_at<TPosition::A1>(static_cast<const fp8_e4m3fn_t*>(nullptr)),       \
                 tensor_at<TPosition::A1>(src), AscendC::LoadData2DParamsV2(),                                         \
                 {x_start_pos, y_start_pos, x_step, y_step, src_stride, dst_stride}, where);                           \
    }                                                                                                                  \
    CANOPY_C_SYNC(name, (class T),                                                                                     \
                  (uint64_t dst, T * src, uint16_t x_start_pos, uint16_t y_start_pos, uint8_t x_step, uint8_t y_step,  \
                   uint16_t src_stride, uint16_t dst_stride),                                                          \
                  (dst, src, x_start_pos, y_start_pos, x_step, y_step, src_stride, dst_stride))
CANOPY_C_LOAD_SCALES(asc_copy_l12l0a_mx, TPosition::A2)
CANOPY_C_LOAD_SCALES(asc_copy_l12l0b_mx, TPosition::B2)
#undef CANOPY_C_LOAD_SCALES

template <class C, class A, class B>
inline void asc_mmad_mx(__cc__ C* c_matrix, __ca__ A* a_matrix, __cb__ B* b_matrix, uint16_t left_height,
                        uint16_t n_dim, uint16_t right_width, uint8_t unit_flag, bool disable_gemv,
                        bool c_matrix_source, bool c_matrix_init_val, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::MmadParams params(left_height, right_width, n_dim, unit_flag, c_matrix_source, c_matrix_init_val);
    params.disableGemv = disable_gemv;
    uint64_t bias = 0;
    const auto result = tensor_at<TPosition::CO1>(split_result(c_matrix, bias));
    const auto left = tensor_at<TPosition::A2>(a_matrix);
    const auto right = tensor_at<TPosition::B2>(b_matrix);
    if (c_matrix_source)
        MmadMx(result, left, right, tensor_at<TPosition::C2>(static_cast<const C*>(address(bias))), params, where);
    else
        MmadMx(result, left, right, params, where);
}
CANOPY_C_SYNC(asc_mmad_mx, (class C, class A, class B),
              (C * c_matrix, A* a_matrix, B* b_matrix, uint16_t left_height, uint16_t n_dim, uint16_t right_width,
               uint8_t unit_flag, bool disable_gemv, bool c_matrix_source, bool c_matrix_init_val),
              (c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, disable_gemv, c_matrix_source,
               c_matrix_init_val))

// The cube's output --------------------------------------------------------------------------------------------------

// Matrices and their distances: in C0 (16 elements) in L0C, in elements in the destination.
inline void asc_set_l0c2gm_nz2nd(uint64_t nd_num, uint64_t src_nd_stride, uint64_t dst_nd_stride) {
    canopy::kernel::core_state().cube.nz_to_nd =
        (nd_num & 0xffff) | (src_nd_stride & 0xffff) << 16 | (dst_nd_stride & 0xffffffff) << 32;
}
// Bits 63:48: rows of 16 elements between the rows of a matrix in L0C that is written by columns.
inline void asc_set_l0c2gm_channel_para(uint64_t config) { canopy::kernel::core_state().c_interface.channel = config; }
// A second quantisation and slopes, which the copies refuse.
inline void asc_set_l0c2gm_quant_post(uint64_t) {}
inline void asc_set_l0c2gm_relu_alpha(uint64_t) {}

namespace canopy::c_interface {

struct Output {
    uint16_t columns, rows;
    uint32_t dst_stride;
    uint16_t src_stride;
    uint64_t mode;
    uint8_t relu;
    bool split, by_rows, by_columns;
    bool others;  // anything that is not supported
    uint8_t unit_flag;
    uint8_t dual = 0;  // to the unified buffer: as in FixpipeParamsArch3510
    bool second = false;
};

template <AscendC::CO2Layout layout, class D, class S>
inline void copy_output_as(const char* name, D* to, const kernel::LocalTensor<S>& from, kernel::Hardware memory,
                           const Output& copy, Where where) {
    const auto& cube = kernel::core_state().cube;
    AscendC::FixpipeParamsArch3510<layout> params;
    params.nSize = copy.columns;
    params.mSize = copy.rows;
    params.srcStride = copy.src_stride;
    params.dstStride = copy.dst_stride;
    params.quantPre = static_cast<QuantMode_t>(copy.mode);
    params.deqScalar = cube.quantisation;
    params.reluEn = copy.relu != 0;
    params.isChannelSplit = copy.split;
    params.dualDstCtl = copy.dual;
    params.subBlockId = copy.second;
    const auto matrices = static_cast<uint16_t>(cube.nz_to_nd);
    const auto from_step = static_cast<uint16_t>(cube.nz_to_nd >> 16);
    const auto to_step = static_cast<uint32_t>(cube.nz_to_nd >> 32);
    if constexpr (layout == AscendC::CO2Layout::ROW_MAJOR)
        params.params = {matrices, from_step, to_step};
    else if constexpr (layout == AscendC::CO2Layout::COLUMN_MAJOR)
        params.params = {matrices, from_step, to_step, 0};
    const kernel::Instruction instruction(PIPE_FIX, name, where);
    if constexpr (kernel::is_checking_variant) {
        params.unitFlag = copy.unit_flag;
        const kernel::OperandPlace place{to, 0, memory, kernel::checked_element<D>};
        kernel::add_fixpipe(instruction, place, to, from, params, layout, nullptr, name, where);
        params.unitFlag = 0;
    }
    kernel::fixpipe(name, to, from, params, layout, nullptr, memory, where);
}

template <class D, class S>
inline void copy_output(const char* name, D* to, const S* src, kernel::Hardware memory, const Output& copy,
                        Where where) {
    require_simple_output(name, copy.relu, copy.others, where);
    const auto from = tensor_at<TPosition::CO1>(src);
    if (copy.by_columns) {
        const uint64_t step = kernel::core_state().c_interface.channel >> 48;
        if (step > 1)
            kernel::fail(where, "%s: rows of L0C that are %llu apart are not supported; asc_set_l0c2gm_channel_para",
                         name, kernel::printable(step));
        copy_output_as<AscendC::CO2Layout::COLUMN_MAJOR>(name, to, from, memory, copy, where);
    } else if (copy.by_rows) {
        copy_output_as<AscendC::CO2Layout::ROW_MAJOR>(name, to, from, memory, copy, where);
    } else {
        copy_output_as<AscendC::CO2Layout::NZ>(name, to, from, memory, copy, where);
    }
}

// A destination without a type gets the type of the quantisation mode.
template <class D, class S>
inline void copy_output_typed(const char* name, D* to, const S* src, kernel::Hardware memory, const Output& copy,
                              Where where) {
    if constexpr (kernel::is_same<D, void>)
        with_result_type<S>(name, copy.mode, where, [&](auto* typed) {
            copy_output(name, static_cast<decltype(typed)>(to), src, memory, copy, where);
        });
    else
        copy_output(name, to, src, memory, copy, where);
}

template <TPosition position, class D>
inline D* place(D* dst) {
    return reinterpret_cast<D*>(bytes_at<position>(dst).GetPhyAddr());
}

}  // namespace canopy::c_interface

#define CANOPY_C_OUTPUT_TAIL                                                                                    \
    uint64_t quant_pre, uint8_t relu_pre, bool split_en, bool nz2nd_en, uint64_t quant_post, uint8_t relu_post, \
        bool clip_relu_post, uint8_t eltwise_op, bool eltwise_antq_en, bool c0_pad_en, bool broadcast_en,       \
        bool nz2dn_en
#define CANOPY_C_OUTPUT_TAIL_ARGUMENTS                                                                           \
    quant_pre, relu_pre, split_en, nz2nd_en, quant_post, relu_post, clip_relu_post, eltwise_op, eltwise_antq_en, \
        c0_pad_en, broadcast_en, nz2dn_en
#define CANOPY_C_OUTPUT(unit_flag)                                                                           \
    {                                                                                                        \
        n_size, m_size, loop_dst_stride, loop_src_stride, quant_pre, relu_pre, split_en, nz2nd_en, nz2dn_en, \
            clip_relu_pre != 0 || quant_post != 0 || relu_post != 0 || clip_relu_post || eltwise_op != 0 ||  \
                eltwise_antq_en || c0_pad_en || broadcast_en,                                                \
            unit_flag                                                                                        \
    }

template <class D, class S>
inline void asc_copy_l0c2gm(__gm__ D* dst_addr, __cc__ S* src_addr, uint16_t n_size, uint16_t m_size,
                            uint32_t loop_dst_stride, uint16_t loop_src_stride, uint8_t l2_cache_ctl,
                            uint8_t clip_relu_pre, uint8_t unit_flag_ctl, CANOPY_C_OUTPUT_TAIL, CANOPY_WHERE) {
    static_cast<void>(l2_cache_ctl);
    canopy::c_interface::copy_output_typed("asc_copy_l0c2gm", dst_addr, src_addr, canopy::kernel::Hardware::GM,
                                           CANOPY_C_OUTPUT(unit_flag_ctl), where);
}
CANOPY_C_SYNC(asc_copy_l0c2gm, (class D, class S),
              (D * dst_addr, S* src_addr, uint16_t n_size, uint16_t m_size, uint32_t loop_dst_stride,
               uint16_t loop_src_stride, uint8_t l2_cache_ctl, uint8_t clip_relu_pre, uint8_t unit_flag_ctl,
               CANOPY_C_OUTPUT_TAIL),
              (dst_addr, src_addr, n_size, m_size, loop_dst_stride, loop_src_stride, l2_cache_ctl, clip_relu_pre,
               unit_flag_ctl, CANOPY_C_OUTPUT_TAIL_ARGUMENTS))

template <class D, class S>
inline void asc_copy_l0c2ub(__ubuf__ D* dst_addr, __cc__ S* src_addr, uint16_t n_size, uint16_t m_size,
                            uint32_t loop_dst_stride, uint16_t loop_src_stride, uint8_t dual_dst_ctl, bool sub_blockid,
                            uint8_t clip_relu_pre, uint8_t unit_flag_ctl, CANOPY_C_OUTPUT_TAIL, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    Output copy = CANOPY_C_OUTPUT(unit_flag_ctl);
    copy.dual = dual_dst_ctl;
    copy.second = sub_blockid;
    copy_output_typed("asc_copy_l0c2ub", place<TPosition::VECIN>(dst_addr), src_addr, canopy::kernel::Hardware::UB,
                      copy, where);
}
CANOPY_C_SYNC(asc_copy_l0c2ub, (class D, class S),
              (D * dst_addr, S* src_addr, uint16_t n_size, uint16_t m_size, uint32_t loop_dst_stride,
               uint16_t loop_src_stride, uint8_t dual_dst_ctl, bool sub_blockid, uint8_t clip_relu_pre,
               uint8_t unit_flag_ctl, CANOPY_C_OUTPUT_TAIL),
              (dst_addr, src_addr, n_size, m_size, loop_dst_stride, loop_src_stride, dual_dst_ctl, sub_blockid,
               clip_relu_pre, unit_flag_ctl, CANOPY_C_OUTPUT_TAIL_ARGUMENTS))

// To L1: with the parameters of the others and a destination of any type, or without the last two of them.
template <class S>
inline void asc_copy_l0c2l1(__cbuf__ void* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size,
                            uint32_t loop_dst_stride, uint16_t loop_src_stride, uint8_t l2_cache_ctl,
                            uint8_t clip_relu_pre, uint8_t unit_flag_mode, CANOPY_C_OUTPUT_TAIL, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    static_cast<void>(l2_cache_ctl);
    copy_output_typed("asc_copy_l0c2l1", place<TPosition::A1>(dst), src, canopy::kernel::Hardware::L1,
                      CANOPY_C_OUTPUT(unit_flag_mode), where);
}
CANOPY_C_SYNC(asc_copy_l0c2l1, (class S),
              (void* dst, S* src, uint16_t n_size, uint16_t m_size, uint32_t loop_dst_stride, uint16_t loop_src_stride,
               uint8_t l2_cache_ctl, uint8_t clip_relu_pre, uint8_t unit_flag_mode, CANOPY_C_OUTPUT_TAIL),
              (dst, src, n_size, m_size, loop_dst_stride, loop_src_stride, l2_cache_ctl, clip_relu_pre, unit_flag_mode,
               CANOPY_C_OUTPUT_TAIL_ARGUMENTS))
template <class D, class S>
inline void asc_copy_l0c2l1(__cbuf__ D* dst, __cc__ S* src, uint16_t n_size, uint16_t m_size, uint32_t loop_dst_stride,
                            uint16_t loop_src_stride, uint8_t clip_relu_pre, uint8_t unit_flag_mode, uint64_t quant_pre,
                            uint8_t relu_pre, bool split_en, bool nz2nd_en, uint64_t quant_post, uint8_t relu_post,
                            bool clip_relu_post, uint8_t eltwise_op, uint8_t eltwise_antq_en, bool c0_pad_en,
                            CANOPY_WHERE) {
    using namespace canopy::c_interface;
    constexpr bool broadcast_en = false, nz2dn_en = false;
    copy_output("asc_copy_l0c2l1", place<TPosition::A1>(dst), src, canopy::kernel::Hardware::L1,
                CANOPY_C_OUTPUT(unit_flag_mode), where);
}

#undef CANOPY_C_OUTPUT
#undef CANOPY_C_OUTPUT_TAIL
#undef CANOPY_C_OUTPUT_TAIL_ARGUMENTS
#undef CANOPY_C_MULTIPLY
#undef CANOPY_C_FILL

#endif
