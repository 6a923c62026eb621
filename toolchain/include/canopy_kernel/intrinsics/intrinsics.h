// SPDX-License-Identifier: Apache-2.0
// The instructions of a core under their own names, for kernels that do not use tensors: registers, copies, the cube
// and flags. Vector instructions are in intrinsics_vector.h.
//
// An address in a memory of the core is a pointer, as tensors return it, or a byte offset in that memory, as kernels
// write it: `(__ubuf__ half*)get_imm(256)`. Lengths and strides have the units of the chip: blocks of 32 bytes, and
// gaps from the end of a row to the start of the next.
#ifndef CANOPY_KERNEL_INTRINSICS_H
#define CANOPY_KERNEL_INTRINSICS_H

#include "canopy_kernel/copy/data_copy_pad.h"
#include "canopy_kernel/copy/fractal_copy.h"
#include "canopy_kernel/core/control.h"
#include "canopy_kernel/core/synchronise.h"
#include "canopy_kernel/cube/co1_copy.h"
#include "canopy_kernel/cube/cube_multiply.h"

namespace canopy::kernel {

// A tensor over the memory of a position, from an address to its end.
template <TPosition position, class T>
inline LocalTensor<plain<T>> tensor_at(T* address) {
    constexpr Hardware memory = memory_of(position);
    constexpr uint64_t size = memory_size(memory);
    auto at = reinterpret_cast<uintptr_t>(address);
    if (at < size) at += reinterpret_cast<uintptr_t>(memory_base(memory));
    uint64_t rest = size;
    if constexpr (checked) {
        const uint64_t offset = at - reinterpret_cast<uintptr_t>(memory_base(memory));
        rest = offset < size ? size - offset : 0;
    }
    if constexpr (is_checking_variant && !checked) rest = 0;  // a pointer does not say how much it points at
    LocalTensor<plain<T>> tensor;
    tensor.place(reinterpret_cast<plain<T>*>(at), static_cast<uint32_t>(elements_in<plain<T>>(rest)), position);
    return tensor;
}

template <class T, class Address>
inline GlobalTensor<T> memory_at(Address* address) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<T*>(const_cast<plain<Address>*>(address)));
    return tensor;
}

template <class T>
inline LocalTensor<plain<T>> unified(T* address) {
    return tensor_at<TPosition::VECCALC>(address);
}

template <TPosition position>
inline LocalTensor<uint8_t> bytes_at(const void* address) {
    return tensor_at<position>(static_cast<const uint8_t*>(address));
}

// Keeps the element type.
inline void set_atomic_kind(AtomicKind kind) {
    CoreState& state = core_state();
    set_atomic(state, kind, state.atomic_type);
}

}  // namespace canopy::kernel

// In a separate namespace, so that the program's own names take precedence: a kernel may have one of these names.
namespace canopy::intrinsics {

// Registers ----------------------------------------------------------------------------------------------------------

// A number made of 16-bit pieces, the lowest first.
constexpr uint64_t get_imm(uint64_t low, uint64_t second = 0, uint64_t third = 0, uint64_t high = 0) {
    return low | second << 16 | third << 32 | high << 48;
}

inline void set_vector_mask(uint64_t high, uint64_t low) { AscendC::SetVectorMask<uint8_t>(high, low); }
inline void set_mask_count() { AscendC::SetMaskCount(); }
inline void set_mask_norm() { AscendC::SetMaskNorm(); }

// Bit 56 of the control register is the mask mode.
inline uint64_t get_ctrl() {
    const auto& state = kernel::core_state();
    return (state.control & ~(1ull << 56)) | uint64_t{state.counter_mode} << 56;
}
inline void set_ctrl(uint64_t value) {
    auto& state = kernel::core_state();
    state.control = value & ~(1ull << 56);
    state.counter_mode = (value >> 56 & 1) != 0;
}
constexpr uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(1ull << bit); }
constexpr uint64_t sbitset1(uint64_t value, int64_t bit) { return value | 1ull << bit; }

inline int64_t get_subblockid() { return AscendC::GetSubBlockIdx(); }
inline int64_t get_subblockdim() { return AscendC::GetSubBlockNum(); }
inline int64_t get_sys_cnt() { return AscendC::GetSystemCycle(); }

inline void set_deqscale(half scale) { AscendC::SetDeqScale(scale); }
inline void set_mov_pad_val(uint64_t bits) { kernel::core_state().pad_value = bits | kernel::pad_value_is_set; }

// How copies to global memory combine with its contents: the operation, then the element type.
inline void set_atomic_none() { AscendC::SetAtomicNone(); }
inline void set_atomic_add() { kernel::set_atomic_kind(kernel::AtomicKind::add); }
inline void set_atomic_max() { kernel::set_atomic_kind(kernel::AtomicKind::maximum); }
inline void set_atomic_min() { kernel::set_atomic_kind(kernel::AtomicKind::minimum); }
inline void set_atomic_f32() { kernel::core_state().atomic_type = kernel::ElementKind::float32; }
inline void set_atomic_f16() { kernel::core_state().atomic_type = kernel::ElementKind::half; }
inline void set_atomic_bf16() { kernel::core_state().atomic_type = kernel::ElementKind::bfloat16; }
inline void set_atomic_s32() { kernel::core_state().atomic_type = kernel::ElementKind::int32; }
inline void set_atomic_s16() { kernel::core_state().atomic_type = kernel::ElementKind::int16; }
inline void set_atomic_s8() { kernel::core_state().atomic_type = kernel::ElementKind::int8; }

// Flags and fences ---------------------------------------------------------------------------------------------------

enum mem_dsb_t : uint8_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
inline void dsb(mem_dsb_t kind, kernel::Where where = kernel::here()) {
    kernel::tell_data_barrier("dsb", static_cast<uint32_t>(kind), where);
    kernel::memory_fence();
}

// Flags between cores: bits 4 and 5 of the configuration are the mode, 8 to 11 the flag id.
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t configuration, kernel::Where where = kernel::here()) {
    const auto mode = static_cast<uint32_t>(configuration >> 4 & 3),
               id = static_cast<uint32_t>(configuration >> 8 & 15);
    kernel::tell_core_flag(true, "ffts_cross_core_sync", mode, pipe, id, where);
    kernel::finish_stores(kernel::core_state());
    kernel::set_flag(mode, id);
}
inline void wait_flag_dev(int64_t flag, kernel::Where where = kernel::here()) {
    AscendC::CrossCoreWaitFlag(static_cast<uint16_t>(flag), where);
}
// On a chip, the address of the flags; here flags need no memory.
inline void set_ffts_base_addr(uint64_t) {}

// Copies -------------------------------------------------------------------------------------------------------------

inline constexpr pad_t PAD_NONE = pad_t::PAD_NONE;

#define CANOPY_COPY_IN(name, position)                                                                      \
    inline void name(void* dst, const void* src, uint8_t, uint16_t rows, uint16_t length, uint16_t src_gap, \
                     uint16_t dst_gap, pad_t = PAD_NONE, kernel::Where where = kernel::here()) {            \
        AscendC::DataCopy(kernel::bytes_at<position>(dst),                                                  \
                          kernel::memory_at<uint8_t>(static_cast<const uint8_t*>(src)),                     \
                          AscendC::DataCopyParams(rows, length, src_gap, dst_gap), where);                  \
    }
#define CANOPY_COPY_OUT(name, position)                                                                            \
    inline void name(void* dst, const void* src, uint8_t, uint16_t rows, uint16_t length, uint16_t src_gap,        \
                     uint16_t dst_gap, kernel::Where where = kernel::here()) {                                     \
        AscendC::DataCopy(kernel::memory_at<uint8_t>(static_cast<uint8_t*>(dst)), kernel::bytes_at<position>(src), \
                          AscendC::DataCopyParams(rows, length, src_gap, dst_gap), where);                         \
    }
#define CANOPY_COPY_INSIDE(name, to, from)                                                                  \
    inline void name(void* dst, const void* src, uint8_t, uint16_t rows, uint16_t length, uint16_t src_gap, \
                     uint16_t dst_gap, kernel::Where where = kernel::here()) {                              \
        AscendC::DataCopy(kernel::bytes_at<to>(dst), kernel::bytes_at<from>(src),                           \
                          AscendC::DataCopyParams(rows, length, src_gap, dst_gap), where);                  \
    }
CANOPY_COPY_IN(copy_gm_to_ubuf, kernel::TPosition::VECIN)
CANOPY_COPY_IN(copy_gm_to_cbuf, kernel::TPosition::A1)
CANOPY_COPY_OUT(copy_ubuf_to_gm, kernel::TPosition::VECOUT)
CANOPY_COPY_OUT(copy_cbuf_to_gm, kernel::TPosition::A1)
CANOPY_COPY_INSIDE(copy_ubuf_to_ubuf, kernel::TPosition::VECCALC, kernel::TPosition::VECCALC)
CANOPY_COPY_INSIDE(copy_ubuf_to_cbuf, kernel::TPosition::A1, kernel::TPosition::VECCALC)
CANOPY_COPY_INSIDE(copy_cbuf_to_ubuf, kernel::TPosition::VECCALC, kernel::TPosition::A1)
#undef CANOPY_COPY_IN
#undef CANOPY_COPY_OUT
#undef CANOPY_COPY_INSIDE

// Rows of any number of bytes: `length` and the gaps in global memory count bytes. The padding left and right counts
// elements and has the value of set_mov_pad_val.
#define CANOPY_ALIGNED_COPIES(bits)                                                                                \
    inline void copy_gm_to_ubuf_align_b##bits(void* dst, const void* src, uint8_t, uint16_t rows, uint32_t length, \
                                              uint8_t left, uint8_t right, uint32_t src_gap, uint32_t dst_gap,     \
                                              kernel::Where where = kernel::here()) {                              \
        using T = uint##bits##_t;                                                                                  \
        AscendC::DataCopyPad(kernel::tensor_at<kernel::TPosition::VECIN>(static_cast<T*>(dst)),                    \
                             kernel::memory_at<T>(static_cast<const T*>(src)),                                     \
                             AscendC::DataCopyExtParams(rows, length, src_gap, dst_gap, 0),                        \
                             AscendC::DataCopyPadExtParams<T>(false, left, right, T(0)), where);                   \
    }                                                                                                              \
    inline void copy_ubuf_to_gm_align_b##bits(void* dst, const void* src, uint8_t, uint16_t rows, uint32_t length, \
                                              uint8_t, uint8_t, uint32_t src_gap, uint32_t dst_gap,                \
                                              kernel::Where where = kernel::here()) {                              \
        using T = uint##bits##_t;                                                                                  \
        AscendC::DataCopyPad(kernel::memory_at<T>(static_cast<T*>(dst)),                                           \
                             kernel::tensor_at<kernel::TPosition::VECOUT>(static_cast<const T*>(src)),             \
                             AscendC::DataCopyExtParams(rows, length, src_gap, dst_gap, 0), where);                \
    }                                                                                                              \
    inline void copy_gm_to_cbuf_multi_nd2nz_b##bits(void* dst, const void* src, uint8_t, uint16_t matrices,        \
                                                    uint16_t rows, uint16_t columns, uint16_t src_matrix,          \
                                                    uint16_t src_row, uint16_t dst_column, uint16_t dst_row,       \
                                                    uint16_t dst_matrix, kernel::Where where = kernel::here()) {   \
        using T = uint##bits##_t;                                                                                  \
        AscendC::DataCopy(                                                                                         \
            kernel::tensor_at<kernel::TPosition::A1>(static_cast<T*>(dst)),                                        \
            kernel::memory_at<T>(static_cast<const T*>(src)),                                                      \
            AscendC::Nd2NzParams(matrices, rows, columns, src_matrix, src_row, dst_column, dst_row, dst_matrix),   \
            where);                                                                                                \
    }
CANOPY_ALIGNED_COPIES(8)
CANOPY_ALIGNED_COPIES(16)
CANOPY_ALIGNED_COPIES(32)
#undef CANOPY_ALIGNED_COPIES

// The cube -----------------------------------------------------------------------------------------------------------

enum class addr_cal_mode_t : uint8_t { inc, dec };

// Fractals of 512 bytes. Split chips take a gap for the destination, coupled ones do not.
#define CANOPY_LOAD(name, to, source_tensor)                                                                           \
    template <class T>                                                                                                 \
    inline void name(T* dst, const T* src, uint16_t first, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,      \
                     uint8_t sid, bool transpose, addr_cal_mode_t mode, kernel::Where where = kernel::here()) {        \
        AscendC::LoadData(                                                                                             \
            kernel::tensor_at<to>(dst), source_tensor,                                                                 \
            AscendC::LoadData2DParams(first, repeat, src_stride, sid, dst_gap, transpose, static_cast<uint8_t>(mode)), \
            where);                                                                                                    \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(T* dst, const T* src, uint16_t first, uint8_t repeat, uint16_t src_stride, uint8_t sid,           \
                     bool transpose, kernel::Where where = kernel::here()) {                                           \
        name(dst, src, first, repeat, src_stride, 0, sid, transpose, addr_cal_mode_t::inc, where);                     \
    }
CANOPY_LOAD(load_cbuf_to_ca, kernel::TPosition::A2, kernel::tensor_at<kernel::TPosition::A1>(src))
CANOPY_LOAD(load_cbuf_to_cb, kernel::TPosition::B2, kernel::tensor_at<kernel::TPosition::B1>(src))
CANOPY_LOAD(load_gm_to_ca, kernel::TPosition::A2, kernel::memory_at<T>(src))
CANOPY_LOAD(load_gm_to_cb, kernel::TPosition::B2, kernel::memory_at<T>(src))
#undef CANOPY_LOAD

// c = a * b, added to the old c unless `zero` is set.
template <class C, class A, class B>
inline void mad(C* c, A* a, B* b, uint16_t m, uint16_t k, uint16_t n, uint8_t flag, bool align_k, bool from_bias,
                bool zero, kernel::Where where = kernel::here()) {
    AscendC::MmadParams params(m, n, k, flag, from_bias, zero);
    params.kDirectionAlign = align_k;
    AscendC::Mmad(kernel::tensor_at<kernel::TPosition::CO1>(c), kernel::tensor_at<kernel::TPosition::A2>(a),
                  kernel::tensor_at<kernel::TPosition::B2>(b), params, where);
}
template <class C, class A, class B>
inline void mad(C* c, A* a, B* b, uint16_t m, uint16_t k, uint16_t n, bool zero, kernel::Where where = kernel::here()) {
    mad(c, a, b, m, k, n, 0, false, false, zero, where);
}

inline void set_quant_pre(uint64_t parameters) { AscendC::SetFixpipePreQuantFlag(parameters); }
// Bits 0 to 15: number of matrices; 16 to 31 and 32 to 47: strides between them in L0C and in global memory.
inline void set_nd_para(uint64_t parameters) { kernel::core_state().cube.nz_to_nd = parameters; }

template <class D, class S>
inline void copy_matrix_cc_to_gm(D* dst, S* src, uint8_t, uint16_t columns, uint16_t rows, uint32_t dst_stride,
                                 uint16_t src_stride, uint8_t flag, QuantMode_t mode, uint8_t relu, bool split,
                                 bool to_rows, kernel::Where where = kernel::here()) {
    AscendC::DataCopyCO12DstParams params;
    params.nSize = columns;
    params.mSize = rows;
    params.dstStride = dst_stride;
    params.srcStride = src_stride;
    params.unitFlag = flag;
    params.quantPre = mode;
    params.reluPre = relu;
    params.channelSplit = split;
    params.nz2ndEn = to_rows;
    AscendC::DataCopy(kernel::memory_at<D>(dst), kernel::tensor_at<kernel::TPosition::CO1>(src), params, where);
}

// For coupled chips: rows of fractals of 16 x 16 elements into the unified buffer. The types of the two sides determine
// the conversion.
enum class ConvRelu_t : uint8_t { CRMODE_NONE, CRMODE_F32toF16_NONE, CRMODE_F32toF16_RELU };
inline constexpr ConvRelu_t CRMODE_NONE = ConvRelu_t::CRMODE_NONE;
inline constexpr ConvRelu_t CRMODE_F32toF16_NONE = ConvRelu_t::CRMODE_F32toF16_NONE;
inline constexpr ConvRelu_t CRMODE_F32toF16_RELU = ConvRelu_t::CRMODE_F32toF16_RELU;
template <class D, class S>
inline void copy_matrix_cc_to_ubuf(D* dst, S* src, uint8_t, uint16_t rows, uint16_t length, uint16_t src_gap,
                                   uint16_t dst_gap, ConvRelu_t mode, kernel::Where where = kernel::here()) {
    AscendC::DataCopyEnhancedParams enhanced;
    enhanced.blockMode = AscendC::BlockMode::BLOCK_MODE_MATRIX;
    enhanced.isRelu = mode == CRMODE_F32toF16_RELU;
    AscendC::DataCopy(kernel::unified(dst), kernel::tensor_at<kernel::TPosition::CO1>(src),
                      AscendC::DataCopyParams(rows, length, src_gap, dst_gap), enhanced, where);
}

}  // namespace canopy::intrinsics

using namespace canopy::intrinsics;

#endif
