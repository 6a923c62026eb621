// SPDX-License-Identifier: Apache-2.0
// The cube in the C interface: loads into L0A and L0B, products, constants, and the registers of the cube's output.
#ifndef CANOPY_KERNEL_C_INTERFACE_CUBE_H
#define CANOPY_KERNEL_C_INTERFACE_CUBE_H

#include "canopy_kernel/c_interface/copies.h"
#include "canopy_kernel/cube/cube_image.h"

// Precision and order of products; they do not change results here.
inline void asc_enable_hf32() { AscendC::SetHF32Mode(true); }
inline void asc_set_fp32_mode() { AscendC::SetHF32Mode(false); }
inline void asc_enable_hf32_trans(uint32_t mode) { AscendC::SetHF32TransMode(mode != 0); }
inline void asc_set_mmad_direction_m() { AscendC::SetMMLayoutTransform(false); }
inline void asc_set_mmad_direction_n() { AscendC::SetMMLayoutTransform(true); }

// Image to column ----------------------------------------------------------------------------------------------------

union asc_l13d_fmatrix_config {
    uint64_t config = 0;
    struct {
        uint16_t l1_height;
        uint16_t l1_width;
        uint8_t padding_left_size, padding_right_size, padding_top_size, padding_bottom_size;
    };
};
union asc_load3d_v2_config {
    uint64_t config = 0x10000;  // one repeat
    struct {
        uint64_t rpt_stride : 16;
        uint64_t rpt_time : 8;
        uint64_t rpt_mode : 1;
        uint64_t reserved2 : 39;
    };
};

namespace canopy::c_interface {

inline void set_image(const asc_l13d_fmatrix_config& config, AscendC::FmatrixMode mode) {
    const uint8_t padding[] = {config.padding_left_size, config.padding_right_size, config.padding_top_size,
                               config.padding_bottom_size};
    AscendC::SetFmatrix(config.l1_height, config.l1_width, padding, mode);
}

// The registers hold the image and its padding.
inline constexpr AscendC::IsResetLoad3dConfig image_in_registers{false, false};

template <TPosition position, class T>
inline void load_image(T* dst, const T* src, uint16_t k_extension, uint16_t m_extension, uint16_t k_start,
                       uint16_t m_start, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,
                       uint8_t dilation_w, uint8_t dilation_h, bool filter_size_w, bool filter_size_h, bool transpose,
                       bool right_matrix, uint16_t channel_size, Where where) {
    AscendC::LoadData3DParamsV2<T> params;
    params.kExtension = k_extension;
    params.mExtension = m_extension;
    params.kStartPt = k_start;
    params.mStartPt = m_start;
    params.strideW = stride_w;
    params.strideH = stride_h;
    params.filterW = filter_w;
    params.filterH = filter_h;
    params.dilationFilterW = dilation_w;
    params.dilationFilterH = dilation_h;
    params.filterSizeW = filter_size_w;
    params.filterSizeH = filter_size_h;
    params.enTranspose = transpose;
    params.fMatrixCtrl = right_matrix;
    params.channelSize = channel_size;
    AscendC::LoadData<T, image_in_registers>(tensor_at<position>(dst), tensor_at<TPosition::A1>(src), params, where);
}

}  // namespace canopy::c_interface

inline void asc_set_l13d_fmatrix(asc_l13d_fmatrix_config& config) {
    canopy::c_interface::set_image(config, AscendC::FMATRIX_LEFT);
}
inline void asc_set_l13d_fmatrix_b(asc_l13d_fmatrix_config& config) {
    canopy::c_interface::set_image(config, AscendC::FMATRIX_RIGHT);
}
inline void asc_set_l13d_rpt(asc_load3d_v2_config& config, CANOPY_WHERE) {
    AscendC::SetLoadDataRepeat({static_cast<uint16_t>(config.rpt_stride), static_cast<uint8_t>(config.rpt_time),
                                static_cast<uint8_t>(config.rpt_mode)},
                               where);
}
template <class T>
inline void asc_set_l13d_padding(T config) {
    AscendC::SetLoadDataPaddingValue(config);
}

#define CANOPY_C_LOAD_IMAGE(name, position)                                                                        \
    template <class T>                                                                                             \
    inline void name(T* dst, T* src, uint16_t k_extension, uint16_t m_extension, uint16_t k_start_pt,              \
                     uint16_t m_start_pt, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,  \
                     uint8_t dilation_filter_w, uint8_t dilation_filter_h, bool filter_size_w, bool filter_size_h, \
                     bool transpose, bool f_matrix_ctrl, uint16_t channel_size, CANOPY_WHERE) {                    \
        canopy::c_interface::load_image<position>(dst, src, k_extension, m_extension, k_start_pt, m_start_pt,      \
                                                  stride_w, stride_h, filter_w, filter_h, dilation_filter_w,       \
                                                  dilation_filter_h, filter_size_w, filter_size_h, transpose,      \
                                                  f_matrix_ctrl, channel_size, where);                             \
    }                                                                                                              \
    CANOPY_C_SYNC(                                                                                                 \
        name, (class T),                                                                                           \
        (T * dst, T * src, uint16_t k_extension, uint16_t m_extension, uint16_t k_start_pt, uint16_t m_start_pt,   \
         uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h, uint8_t dilation_filter_w,        \
         uint8_t dilation_filter_h, bool filter_size_w, bool filter_size_h, bool transpose, bool f_matrix_ctrl,    \
         uint16_t channel_size),                                                                                   \
        (dst, src, k_extension, m_extension, k_start_pt, m_start_pt, stride_w, stride_h, filter_w, filter_h,       \
         dilation_filter_w, dilation_filter_h, filter_size_w, filter_size_h, transpose, f_matrix_ctrl, channel_size))
CANOPY_C_LOAD_IMAGE(asc_copy_l12l0a, canopy::kernel::TPosition::A2)
CANOPY_C_LOAD_IMAGE(asc_copy_l12l0b, canopy::kernel::TPosition::B2)
#undef CANOPY_C_LOAD_IMAGE

// Products -----------------------------------------------------------------------------------------------------------

namespace canopy::c_interface {

// The address of c may hold the place of the bias in its table in its upper half.
template <class C>
inline C* split_result(C* c, uint64_t& bias) {
    const auto bits = reinterpret_cast<uintptr_t>(c);
    const uint64_t low = bits & 0xffffffff, high = bits >> 32;
    if (high == 0 || high >= kernel::memory_size(kernel::Hardware::BIAS) ||
        low >= kernel::memory_size(kernel::Hardware::L0C))
        return c;
    bias = high;
    return reinterpret_cast<C*>(low);
}

template <class C, class A, class B>
inline void multiply(C* c, A* a, B* b, uint16_t m, uint16_t k, uint16_t n, uint8_t unit_flag, bool align_k,
                     bool disable_gemv, bool from_bias, bool zero, Where where) {
    AscendC::MmadParams params(m, n, k, unit_flag, from_bias, zero);
    params.kDirectionAlign = align_k;
    params.disableGemv = disable_gemv;
    uint64_t bias = 0;
    const auto result = tensor_at<TPosition::CO1>(split_result(c, bias));
    const auto left = tensor_at<TPosition::A2>(a);
    const auto right = tensor_at<TPosition::B2>(b);
    if (from_bias)
        AscendC::Mmad(result, left, right, tensor_at<TPosition::C2>(static_cast<const C*>(address(bias))), params,
                      where);
    else
        AscendC::Mmad(result, left, right, params, where);
}

}  // namespace canopy::c_interface

// c = a * b with m = left_height, k = n_dim, n = right_width: added to the old c, or to the bias (c_matrix_source), or
// to zero (c_matrix_init_val). `switched` aligns k for elements of 4 bytes on 2201, and turns off products with vectors
// on 3510.
#define CANOPY_C_MULTIPLY(name)                                                                                 \
    template <class C, class A, class B>                                                                        \
    inline void name(C* c_matrix, A* a_matrix, B* b_matrix, uint16_t left_height, uint16_t n_dim,               \
                     uint16_t right_width, uint8_t unit_flag, bool switched, bool c_matrix_source,              \
                     bool c_matrix_init_val, CANOPY_WHERE) {                                                    \
        canopy::c_interface::multiply(c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, \
                                      __NPU_ARCH__ < 3510 && switched, __NPU_ARCH__ >= 3510 && switched,        \
                                      c_matrix_source, c_matrix_init_val, where);                               \
    }                                                                                                           \
    CANOPY_C_SYNC(                                                                                              \
        name, (class C, class A, class B),                                                                      \
        (C * c_matrix, A * a_matrix, B * b_matrix, uint16_t left_height, uint16_t n_dim, uint16_t right_width,  \
         uint8_t unit_flag, bool switched, bool c_matrix_source, bool c_matrix_init_val),                       \
        (c_matrix, a_matrix, b_matrix, left_height, n_dim, right_width, unit_flag, switched, c_matrix_source,   \
         c_matrix_init_val))
CANOPY_C_MULTIPLY(asc_mmad)

// Constants in L1 ----------------------------------------------------------------------------------------------------

union asc_fill_value_config {
    uint64_t config = 0;
    struct {
        uint64_t repeat : 15;
        uint64_t reserved1 : 1;
        uint64_t blk_num : 15;
        uint64_t reserved2 : 1;
        uint64_t dst_gap : 15;
        uint64_t reserved3 : 17;
    };
};

namespace canopy::c_interface {

// `value` gives the bits of an element.
template <TPosition position, class T, class V>
inline void fill(const char* name, T* dst, V value, const asc_fill_value_config& config, Where where) {
    static_assert(kernel::is_any_of<T, half, float, int16_t, int32_t, uint16_t, uint32_t, bfloat16_t>,
                  "asc_fill: the element types are half, float, int16_t, int32_t, uint16_t, uint32_t, bfloat16_t");
    T element{};
    __builtin_memcpy(&element, &value, kernel::smaller(sizeof element, sizeof value));
    const auto to = tensor_at<position>(dst);
    const uint64_t unit = position == TPosition::A1 ? 32 : 512;
    if (config.repeat != 0)
        kernel::check_extent(name, "destination", to,
                             ((config.repeat - 1ull) * (config.blk_num + config.dst_gap) + config.blk_num) * unit,
                             where);
    AscendC::InitConstValue(
        to, AscendC::InitConstValueParams<T>(config.repeat, config.blk_num, config.dst_gap, element), where);
}

// The value is given as the bits of a half, a bfloat16_t, or a word.
template <class V>
using fill_value = kernel::choose<kernel::is_any_of<V, half, bfloat16_t>, V, uint32_t>;

}  // namespace canopy::c_interface

// `repeat` runs of `blk_num` blocks with a gap of `dst_gap` blocks: of 32 bytes in L1, of 512 bytes elsewhere.
#define CANOPY_C_FILL(name, position)                                                                           \
    template <class T, class V>                                                                                 \
    inline void name(T* dst, V value, const asc_fill_value_config& config, CANOPY_WHERE) {                      \
        canopy::c_interface::fill<position>(#name, dst, static_cast<canopy::c_interface::fill_value<V>>(value), \
                                            config, where);                                                     \
    }                                                                                                           \
    CANOPY_C_SYNC(name, (class T, class V), (T * dst, V value, const asc_fill_value_config& config),            \
                  (dst, value, config))
CANOPY_C_FILL(asc_fill_l1, canopy::kernel::TPosition::A1)

// The cube's output --------------------------------------------------------------------------------------------------

union asc_set_l0c_copy_params_config {
    uint64_t config = 0;
    struct {
        uint64_t nd_num : 16;
        uint64_t src_nd_stride : 16;
        uint64_t dst_nd_stride : 16;
    };
};

// The scale of all columns, as bits.
inline void asc_set_l0c_copy_prequant(uint64_t config) { AscendC::SetFixpipePreQuantFlag(config); }
// Addresses of the slopes and of the scales of the columns.
inline void asc_set_l0c2gm_config(uint64_t relu_pre, uint64_t quant_pre, bool) {
    using namespace canopy::c_interface;
    auto& cube = canopy::kernel::core_state().cube;
    cube.relu_vector = bytes_at<TPosition::C2PIPE2GM>(address(relu_pre)).GetPhyAddr();
    cube.quantisation_vector = bytes_at<TPosition::C2PIPE2GM>(address(quant_pre)).GetPhyAddr();
}
// The slope of a leaky relu, which asc_copy_l0c2gm refuses.
template <class T>
inline void asc_set_l0c2gm_lrelu_alpha(T&) {}

namespace canopy::c_interface {

inline void require_simple_output(const char* name, uint8_t relu, bool others, Where where) {
    if (relu > 1) kernel::fail(where, "%s: relu_pre %u is not supported; 0 is none, 1 clamps at 0", name, relu);
    if (others)
        kernel::fail(where,
                     "%s: clipping, a second quantisation, element-wise operations and padding of channels are "
                     "not supported",
                     name);
}

// The type of the result when the destination is void*: the quantisation mode decides.
template <class S, class Act>
inline void with_result_type(const char* name, uint64_t mode, Where where, const Act& act) {
    switch (static_cast<QuantMode_t>(mode)) {
        case NoQuant:
        case QF322F32_PRE:
        case VQF322F32_PRE:
            return act(static_cast<S*>(nullptr));
        case F322F16:
        case VDEQF16:
        case DEQF16:
        case QF322F16_PRE:
        case VQF322F16_PRE:
            return act(static_cast<half*>(nullptr));
        case F322BF16:
        case QF322BF16_PRE:
        case VQF322BF16_PRE:
        case QS322BF16_PRE:
        case VQS322BF16_PRE:
            return act(static_cast<bfloat16_t*>(nullptr));
        case VREQ8:
        case REQ8:
        case VQF322B8_PRE:
        case QF322B8_PRE:
            return act(static_cast<int8_t*>(nullptr));
        default:
            kernel::fail(where, "%s: quant_pre %llu is not supported", name, kernel::printable(mode));
    }
}

}  // namespace canopy::c_interface

#endif
