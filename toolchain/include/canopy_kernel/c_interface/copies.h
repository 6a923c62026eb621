// SPDX-License-Identifier: Apache-2.0
// Copies of the C interface that are alike on every chip: blocks of 32 bytes inside a core, the bias table, and the
// buffer with the parameters of the cube's output.
#ifndef CANOPY_KERNEL_C_INTERFACE_COPIES_H
#define CANOPY_KERNEL_C_INTERFACE_COPIES_H

#include "canopy_kernel/c_interface/support.h"

// The value that pads rows.
template <class T>
inline void asc_set_copy_pad_val(T pad_value) {
    AscendC::SetPadValue(pad_value);
}

// Rows of `len_burst` blocks of 32 bytes; gaps from the end of a row to the start of the next, in blocks.
inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t src_gap, uint16_t dst_gap, CANOPY_WHERE) {
    canopy::intrinsics::copy_ubuf_to_ubuf(dst, src, 0, n_burst, len_burst, src_gap, dst_gap, where);
}
inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint32_t size, CANOPY_WHERE) {
    using namespace canopy::kernel;
    AscendC::DataCopy(bytes_at<TPosition::VECCALC>(dst), bytes_at<TPosition::VECCALC>(src), size, where);
}
CANOPY_C_SYNC(asc_copy_ub2ub, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))

namespace canopy::c_interface {

using kernel::bytes_at;
using kernel::memory_at;
using kernel::tensor_at;
using kernel::TPosition;
using kernel::Where;

// Rows into a table of the cube: lengths and gaps of the destination in 64 bytes, gaps of the source in 32 bytes.
template <TPosition table>
inline void copy_to_table(const char* name, const void* dst, const void* src, uint16_t rows, uint32_t length,
                          uint16_t src_gap, uint16_t dst_gap, Where where) {
    const auto to = bytes_at<table>(dst);
    const auto from = bytes_at<TPosition::A1>(src);
    const kernel::Rows all{rows, length, static_cast<int64_t>(length) + dst_gap * 64,
                           static_cast<int64_t>(length) + src_gap * 32};
    kernel::require_block(name, "source", from, where);
    const kernel::Instruction instruction(kernel::copy_pipe(kernel::Hardware::L1, kernel::memory_of(table)), name,
                                          where);
    kernel::check_rows(name, "destination", to, all, all.to, where);
    kernel::check_rows(name, "source", from, all, all.from, where);
    kernel::copy_rows(to.GetPhyAddr(), from.GetPhyAddr(), all);
}

inline const void* address(uint64_t value) { return reinterpret_cast<const void*>(value); }

// `convert` turns half or bfloat16_t into float.
template <class T>
inline void copy_to_bias(uint64_t dst, const T* src, bool convert, uint16_t rows, uint16_t length, uint16_t src_gap,
                         uint16_t dst_gap, Where where) {
    if constexpr (kernel::is_any_of<T, half, bfloat16_t>) {
        if (convert)
            return AscendC::DataCopy(tensor_at<TPosition::C2>(static_cast<const float*>(address(dst))),
                                     tensor_at<TPosition::A1>(src),
                                     AscendC::DataCopyParams(rows, length, src_gap, dst_gap), where);
    }
    copy_to_table<TPosition::C2>("asc_copy_l12bt", address(dst), src, rows, length * 64u, src_gap, dst_gap, where);
}

}  // namespace canopy::c_interface

// Into the bias table; `dst` is an address there. `conv_control` makes float from half (or from bfloat16_t).
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ void* src, uint16_t conv_control, uint16_t n_burst,
                           uint16_t len_burst, uint16_t source_gap, uint16_t dst_gap, CANOPY_WHERE) {
    canopy::c_interface::copy_to_bias(dst, static_cast<const half*>(src), conv_control != 0, n_burst, len_burst,
                                      source_gap, dst_gap, where);
}
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ void* src, uint32_t size, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_to_table<TPosition::C2>("asc_copy_l12bt", address(dst), src, 1, size, 0, 0, where);
}
template <class T>
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ T* src, uint16_t conv_control, uint16_t n_burst, uint16_t len_burst,
                           uint16_t source_gap, uint16_t dst_gap, CANOPY_WHERE) {
    canopy::c_interface::copy_to_bias(dst, src, conv_control != 0, n_burst, len_burst, source_gap, dst_gap, where);
}
CANOPY_C_SYNC(asc_copy_l12bt, (class = void), (uint64_t dst, void* src, uint32_t size), (dst, src, size))

// Into the buffer of scales and slopes of the cube's output.
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t src_gap_size, uint16_t dst_gap_size, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_to_table<TPosition::C2PIPE2GM>("asc_copy_l12fb", dst, src, n_burst, len_burst * 64u, src_gap_size,
                                        dst_gap_size, where);
}
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint32_t size, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_to_table<TPosition::C2PIPE2GM>("asc_copy_l12fb", dst, src, 1, size, 0, 0, where);
}
CANOPY_C_SYNC(asc_copy_l12fb, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))

#endif
