// SPDX-License-Identifier: Apache-2.0
// Copies of the C interface between global memory and a core, for chips that count bytes from the start of a row to the
// start of the next. Two loops of their own registers can surround the _align forms.
#ifndef CANOPY_KERNEL_C_INTERFACE_COPIES_3510_H
#define CANOPY_KERNEL_C_INTERFACE_COPIES_3510_H

#include "canopy_kernel/c_interface/copies.h"
#include "canopy_kernel/copy/copy.h"

// Hints for the cache of the device.
enum class asc_load_l2_cache_mode : uint8_t {
    NORMAL_FIRST_VICTIM = 0,
    NORMAL_LAST_VICTIM = 1,
    NORMAL_PERSISTENT = 2,
    NOTALLOC_KEEP = 4,
    NOTALLOC_CLEAN = 5,
    NOTALLOC_DROP = 6
};
enum class asc_store_l2_cache_mode : uint8_t {
    NORMAL_FIRST_VICTIM = 0,
    NORMAL_LAST_VICTIM = 1,
    NORMAL_PERSISTENT = 2,
    NOTALLOC_CLEAN = 4
};

inline void asc_dci(CANOPY_WHERE) { dcci(nullptr, cache_line_t::ENTIRE_DATA_CACHE, where); }
template <class T>
inline void asc_store_dev(__gm__ T* addr, canopy::c_interface::number<T> value) {
    AscendC::WriteGmByPassDCache(addr, value);
}
inline void asc_set_store_atomic_config_v2(uint16_t type, uint16_t op) {
    canopy::c_interface::set_store_atomic(type, op);
}

// Registers of the loops around copies: the first is the inner one; strides in bytes.
#define CANOPY_C_LOOPS(name, Size, loops)                                                             \
    inline void asc_set_##name##_loop_size(Size loop1_size, Size loop2_size) {                        \
        uint64_t* set = loops;                                                                        \
        set[0] = loop1_size;                                                                          \
        set[1] = loop2_size;                                                                          \
    }                                                                                                 \
    inline void asc_set_##name##_loop1_stride(uint64_t loop1_src_stride, uint64_t loop1_dst_stride) { \
        uint64_t* set = loops;                                                                        \
        set[2] = loop1_src_stride;                                                                    \
        set[3] = loop1_dst_stride;                                                                    \
    }                                                                                                 \
    inline void asc_set_##name##_loop2_stride(uint64_t loop2_src_stride, uint64_t loop2_dst_stride) { \
        uint64_t* set = loops;                                                                        \
        set[4] = loop2_src_stride;                                                                    \
        set[5] = loop2_dst_stride;                                                                    \
    }
CANOPY_C_LOOPS(gm2ub, uint64_t, canopy::kernel::core_state().loop_mode)
CANOPY_C_LOOPS(ub2gm, uint32_t, canopy::kernel::core_state().loop_mode + 6)
CANOPY_C_LOOPS(gm2l1, uint64_t, canopy::kernel::core_state().c_interface.l1_loops)
#undef CANOPY_C_LOOPS

inline void asc_set_gm2ub_pad(uint32_t pad_val) { AscendC::SetPadValue(pad_val); }
inline void asc_set_gm2l1_pad(uint32_t pad_val) { AscendC::SetPadValue(pad_val); }

namespace canopy::c_interface {

// The elements as bytes if two share one.
template <class T>
using whole = kernel::choose<kernel::packing<T> == 1, T, uint8_t>;

struct RowsIn {
    uint32_t rows, bytes;
    uint8_t left, right;
    bool constant;
    uint64_t src_stride;
    uint32_t dst_stride;
};

// Rows of bytes with padding left and right: a constant, or the first element of the row. Each row is filled up to a
// multiple of 32 bytes.
template <class T>
inline void copy_rows_in(const char* name, const kernel::LocalTensor<T>& dst, const T* src, const RowsIn& copy,
                         const uint64_t* loop_registers, Where where) {
    using namespace kernel;
    if (copy.rows == 0 || copy.bytes == 0) return;
    require_block(name, "destination", dst, where);
    require_memory_of(name, "source", memory_at<T>(src), where);
    const uint64_t* set = loop_registers;
    const CopyLoops loops{set[0] == 0 ? 1 : set[0], set[1] == 0 ? 1 : set[1], set[2], set[3], set[4], set[5]};
    check_limit(name, "bytes of padding on the left", copy.left * int64_t{sizeof(T)}, 0, block_bytes, where);
    check_limit(name, "bytes of padding on the right", copy.right * int64_t{sizeof(T)}, 0, block_bytes, where);
    RowPadding<T> padding{copy.left, copy.right, copy.constant, copy.constant && copy.left + copy.right != 0, T{}};
    const uint64_t value = core_state().pad_value;
    __builtin_memcpy(&padding.value, &value, smaller(sizeof(T), sizeof(uint32_t)));
    const uint64_t end = round_up(copy.bytes + uint64_t{copy.left + 0u + copy.right} * sizeof(T), block_bytes);
    const Instruction instruction(PIPE_MTE2, name, where);
    check_looped(name, "destination", dst, {copy.rows, end, 0, 0}, copy.dst_stride,
                 {loops.count1, loops.count2, loops.to1, loops.to2}, where);
    if constexpr (is_checking_variant)
        check_looped(name, "source", memory_at<T>(src), {copy.rows, copy.bytes, 0, 0},
                     static_cast<int64_t>(copy.src_stride), {loops.count1, loops.count2, loops.from1, loops.from2},
                     where);
    instruction.tell();
    for_each_loop(loops, [&](uint64_t to_offset, uint64_t from_offset) {
        auto* to = reinterpret_cast<unsigned char*>(dst.GetPhyAddr()) + to_offset;
        const auto* from = reinterpret_cast<const unsigned char*>(src) + from_offset;
        for (uint64_t row = 0; row < copy.rows; ++row)
            copy_padded_row(to + row * copy.dst_stride, from + row * copy.src_stride, copy.bytes, padding, end);
    });
}

template <class T>
inline void copy_rows_to_memory(const char* name, T* dst, const kernel::LocalTensor<T>& src, uint32_t rows,
                                uint32_t bytes, uint64_t dst_stride, uint32_t src_stride, Where where) {
    using namespace kernel;
    if (rows == 0 || bytes == 0) return;
    require_block(name, "source", src, where);
    require_memory_of(name, "destination", memory_at<T>(dst), where);
    const Rows all{rows, bytes, static_cast<int64_t>(dst_stride), src_stride};
    const CopyLoops loops = copy_loops(6);
    const Instruction instruction(PIPE_MTE3, name, where);
    check_looped(name, "source", src, all, all.from, {loops.count1, loops.count2, loops.from1, loops.from2}, where);
    if constexpr (is_checking_variant)
        check_looped(name, "destination", memory_at<T>(dst), all, all.to,
                     {loops.count1, loops.count2, loops.to1, loops.to2}, where);
    instruction.tell();
    Outlet outlet(element_kind<T>);
    for_each_loop(loops, [&](uint64_t to, uint64_t from) {
        copy_rows_out(outlet, reinterpret_cast<unsigned char*>(dst) + to,
                      reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + from, all);
    });
}

}  // namespace canopy::c_interface

// Rows of any number of bytes.
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint16_t n_burst, uint32_t len_burst,
                                 uint8_t left_padding_num, uint8_t right_padding_num, bool enable_constant_pad,
                                 asc_load_l2_cache_mode, uint64_t src_stride, uint32_t dst_stride, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_rows_in("asc_copy_gm2ub_align", tensor_at<TPosition::VECIN>(dst), src,
                 {n_burst, len_burst, left_padding_num, right_padding_num, enable_constant_pad, src_stride, dst_stride},
                 canopy::kernel::core_state().loop_mode, where);
}
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint16_t n_burst, uint32_t len_burst,
                                 uint8_t left_padding_num, uint8_t right_padding_num, bool enable_constant_pad,
                                 uint8_t l2_cache_mode, uint64_t src_stride, uint32_t dst_stride, CANOPY_WHERE) {
    asc_copy_gm2ub_align(dst, src, n_burst, len_burst, left_padding_num, right_padding_num, enable_constant_pad,
                         static_cast<asc_load_l2_cache_mode>(l2_cache_mode), src_stride, dst_stride, where);
}
template <class T>
inline void asc_copy_gm2ub_align(__ubuf__ T* dst, __gm__ T* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_gm2ub_align(dst, src, 1, size, 0, 0, false, uint8_t{0}, size, size, where);
}
CANOPY_C_SYNC(asc_copy_gm2ub_align, (class T), (T * dst, T* src, uint32_t size), (dst, src, size))

template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint16_t n_burst, uint32_t len_burst,
                                 asc_store_l2_cache_mode, uint64_t dst_stride, uint32_t src_stride, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_rows_to_memory("asc_copy_ub2gm_align", dst, tensor_at<TPosition::VECOUT>(src), n_burst, len_burst, dst_stride,
                        src_stride, where);
}
template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint16_t n_burst, uint32_t len_burst,
                                 uint8_t l2_cache_mode, uint64_t dst_stride, uint32_t src_stride, CANOPY_WHERE) {
    asc_copy_ub2gm_align(dst, src, n_burst, len_burst, static_cast<asc_store_l2_cache_mode>(l2_cache_mode), dst_stride,
                         src_stride, where);
}
template <class T>
inline void asc_copy_ub2gm_align(__gm__ T* dst, __ubuf__ T* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_ub2gm_align(dst, src, 1, size, uint8_t{0}, size, size, where);
}
CANOPY_C_SYNC(asc_copy_ub2gm_align, (class T), (T * dst, T* src, uint32_t size), (dst, src, size))

template <class T>
inline void asc_copy_gm2l1_align(__cbuf__ T* dst, __gm__ T* src, uint32_t n_burst, uint32_t len_burst,
                                 uint8_t left_padding_count, uint8_t right_padding_count, bool data_select_bit,
                                 uint8_t l2_cache_ctl, uint64_t burst_src_stride, uint32_t burst_dst_stride,
                                 CANOPY_WHERE) {
    using namespace canopy::c_interface;
    static_cast<void>(l2_cache_ctl);
    copy_rows_in("asc_copy_gm2l1_align", tensor_at<TPosition::A1>(dst), src,
                 {n_burst, len_burst, left_padding_count, right_padding_count, data_select_bit, burst_src_stride,
                  burst_dst_stride},
                 canopy::kernel::core_state().c_interface.l1_loops, where);
}
CANOPY_C_SYNC(asc_copy_gm2l1_align, (class T),
              (T * dst, T* src, uint32_t n_burst, uint32_t len_burst, uint8_t left_padding_count,
               uint8_t right_padding_count, bool data_select_bit, uint8_t l2_cache_ctl, uint64_t burst_src_stride,
               uint32_t burst_dst_stride),
              (dst, src, n_burst, len_burst, left_padding_count, right_padding_count, data_select_bit, l2_cache_ctl,
               burst_src_stride, burst_dst_stride))

// Bytes, without padding.
inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t src_stride, uint16_t dst_stride, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    copy_rows_in("asc_copy_gm2ub", bytes_at<TPosition::VECIN>(dst), static_cast<const uint8_t*>(src),
                 {n_burst, len_burst, 0, 0, false, src_stride, dst_stride}, canopy::kernel::core_state().loop_mode,
                 where);
}
inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_gm2ub_align(static_cast<uint8_t*>(dst), static_cast<uint8_t*>(src), size, where);
}
CANOPY_C_SYNC(asc_copy_gm2ub, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t dst_stride, uint16_t src_stride, CANOPY_WHERE) {
    asc_copy_ub2gm_align(static_cast<uint8_t*>(dst), static_cast<uint8_t*>(src), n_burst, len_burst, uint8_t{0},
                         dst_stride, src_stride, where);
}
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ void* src, uint32_t size, CANOPY_WHERE) {
    asc_copy_ub2gm_align(static_cast<uint8_t*>(dst), static_cast<uint8_t*>(src), size, where);
}
CANOPY_C_SYNC(asc_copy_ub2gm, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))

// Blocks of 32 bytes between the unified buffer and L1; gaps from the end of a row to the start of the next.
inline void asc_copy_ub2l1(__cbuf__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst,
                           uint16_t src_gap, uint16_t dst_gap, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    canopy::kernel::copy_inside("asc_copy_ub2l1", bytes_at<TPosition::A1>(dst), bytes_at<TPosition::VECCALC>(src),
                                AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), 0, where);
}
inline void asc_copy_ub2l1(__cbuf__ void* dst, __ubuf__ void* src, uint32_t size, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    AscendC::DataCopy(bytes_at<TPosition::A1>(dst), bytes_at<TPosition::VECCALC>(src), size, where);
}
CANOPY_C_SYNC(asc_copy_ub2l1, (class = void), (void* dst, void* src, uint32_t size), (dst, src, size))
inline void asc_copy_l12ub(__ubuf__ void* dst_addr, __cbuf__ void* src_addr, bool sub_blockid, uint16_t n_burst,
                           uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    canopy::kernel::copy_inside(
        "asc_copy_l12ub", bytes_at<TPosition::VECCALC>(dst_addr), bytes_at<TPosition::A1>(src_addr),
        AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), sub_blockid ? 1 : 0, where);
}
CANOPY_C_SYNC(asc_copy_l12ub, (class = void),
              (void* dst_addr, void* src_addr, bool sub_blockid, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap,
               uint16_t dst_gap),
              (dst_addr, src_addr, sub_blockid, n_burst, len_burst, src_gap, dst_gap))

// Into L1: rows of bytes, or a rectangle of fractals whose columns have the same distance on both sides.
inline void asc_copy_gm2l1(__cbuf__ void* dst, __gm__ void* src, uint32_t n_burst, uint32_t len_burst,
                           uint8_t pad_func_mode, uint64_t src_stride, uint32_t dst_stride, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    if (pad_func_mode != 0)
        canopy::kernel::fail(where, "asc_copy_gm2l1: pad_func_mode %u is not supported; 0 copies rows as they are",
                             pad_func_mode);
    copy_rows_in("asc_copy_gm2l1", bytes_at<TPosition::A1>(dst), static_cast<const uint8_t*>(src),
                 {n_burst, len_burst, 0, 0, false, src_stride, dst_stride},
                 canopy::kernel::core_state().c_interface.l1_loops, where);
}
CANOPY_C_SYNC(asc_copy_gm2l1, (class = void),
              (void* dst, void* src, uint32_t n_burst, uint32_t len_burst, uint8_t pad_func_mode, uint64_t src_stride,
               uint32_t dst_stride),
              (dst, src, n_burst, len_burst, pad_func_mode, src_stride, dst_stride))
inline void asc_copy_gm2l1(__cbuf__ void* dst, __gm__ void* src, uint32_t m_start_position, uint32_t k_start_position,
                           uint16_t dst_stride, uint16_t m_step, uint16_t k_step, uint8_t decomp_mode,
                           uint8_t l2_cache_ctl, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    static_cast<void>(l2_cache_ctl);
    if (decomp_mode != 0)
        canopy::kernel::fail(where, "asc_copy_gm2l1: decomp_mode %u is not supported; 0 copies data as it is",
                             decomp_mode);
    const auto to = bytes_at<TPosition::A1>(dst);
    canopy::kernel::require_block("asc_copy_gm2l1", "destination", to, where);
    if (k_step != 0)
        canopy::kernel::check_extent("asc_copy_gm2l1", "destination", to,
                                     ((k_step - 1ull) * dst_stride + m_step) * canopy::kernel::fractal_bytes, where);
    const AscendC::LoadData2DParamsV2 params(m_start_position, k_start_position, m_step, k_step, dst_stride, dst_stride,
                                             false, 0);
    const canopy::kernel::Instruction instruction(PIPE_MTE2, "asc_copy_gm2l1", where);
    canopy::kernel::add_load(to, memory_at<uint8_t>(static_cast<const uint8_t*>(src)), params);
    canopy::kernel::load_rectangle(to.GetPhyAddr(), static_cast<const uint8_t*>(src), params, where);
}
CANOPY_C_SYNC(asc_copy_gm2l1, (class = void),
              (void* dst, void* src, uint32_t m_start_position, uint32_t k_start_position, uint16_t dst_stride,
               uint16_t m_step, uint16_t k_step, uint8_t decomp_mode, uint8_t l2_cache_ctl),
              (dst, src, m_start_position, k_start_position, dst_stride, m_step, k_step, decomp_mode, l2_cache_ctl))

// Matrices into fractals ---------------------------------------------------------------------------------------------

// Bits 15:0: matrices; 31:16: blocks of 32 bytes between rows; 47:32: between columns of blocks; 63:48: between
// matrices.
inline void asc_set_gm2l1_nz_para(uint64_t config) { canopy::kernel::core_state().c_interface.fractals = config; }

namespace canopy::c_interface {

template <class T, class Params>
inline Params fractal_params(const char* name, uint64_t row, uint64_t matrix, uint16_t n, uint32_t d, Where where) {
    const uint64_t layout = kernel::core_state().c_interface.fractals;
    if (row % sizeof(T) != 0 || matrix % sizeof(T) != 0)
        kernel::fail(where, "%s: strides of %llu and %llu bytes are not multiples of an element of %u bytes", name,
                     kernel::printable(row), kernel::printable(matrix), static_cast<unsigned>(sizeof(T)));
    return Params(static_cast<uint16_t>(layout), n, d, matrix / sizeof(T), row / sizeof(T),
                  static_cast<uint16_t>(layout >> 32), static_cast<uint16_t>(layout >> 16),
                  static_cast<uint32_t>((layout >> 48) * 32 / sizeof(T)));
}

}  // namespace canopy::c_interface

// Row-major (nd) or column-major (dn) matrices of n_value x d_value; loop1_src_stride is the distance of rows (columns)
// and loop4_src_stride that of matrices, in bytes. smallc0_en: at most four channels.
#define CANOPY_C_FRACTALS(name, Params)                                                                             \
    template <class T>                                                                                              \
    inline void name(T* dst, T* src, uint64_t loop1_src_stride, uint8_t l2_cache_ctl, uint16_t n_value,             \
                     uint32_t d_value, uint64_t loop4_src_stride, bool smallc0_en, CANOPY_WHERE) {                  \
        using namespace canopy::c_interface;                                                                        \
        static_cast<void>(l2_cache_ctl);                                                                            \
        const auto params =                                                                                         \
            fractal_params<T, AscendC::Params>(#name, loop1_src_stride, loop4_src_stride, n_value, d_value, where); \
        if (smallc0_en)                                                                                             \
            AscendC::DataCopy<T, true>(tensor_at<TPosition::A1>(dst), memory_at<T>(src), params, where);            \
        else                                                                                                        \
            AscendC::DataCopy<T, false>(tensor_at<TPosition::A1>(dst), memory_at<T>(src), params, where);           \
    }                                                                                                               \
    CANOPY_C_SYNC(name, (class T),                                                                                  \
                  (T * dst, T * src, uint64_t loop1_src_stride, uint8_t l2_cache_ctl, uint16_t n_value,             \
                   uint32_t d_value, uint64_t loop4_src_stride, bool smallc0_en),                                   \
                  (dst, src, loop1_src_stride, l2_cache_ctl, n_value, d_value, loop4_src_stride, smallc0_en))
CANOPY_C_FRACTALS(asc_copy_gm2l1_nd2nz, Nd2NzParams)
CANOPY_C_FRACTALS(asc_copy_gm2l1_dn2nz, Dn2NzParams)
#undef CANOPY_C_FRACTALS

// Copies in five dimensions ------------------------------------------------------------------------------------------

union asc_ndim_pad_count_config {
    uint64_t config = 0;
    struct {
        uint8_t loop1_lp_count, loop1_rp_count, loop2_lp_count, loop2_rp_count, loop3_lp_count, loop3_rp_count,
            loop4_lp_count, loop4_rp_count;
    };
};

inline void asc_ndim_copy_dci() { AscendC::NdDmaDci(); }
inline void asc_set_ndim_pad_count(asc_ndim_pad_count_config& config) {
    canopy::kernel::core_state().c_interface.dimension_padding = config.config;
}
template <class T>
inline void asc_set_ndim_pad_value(T pad_value) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &pad_value, sizeof pad_value);
    canopy::kernel::core_state().c_interface.dimension_value = bits;
}
// Strides in elements.
#define CANOPY_C_DIMENSION(number)                                                             \
    inline void asc_set_ndim_loop##number##_stride(uint64_t dst_stride, uint64_t src_stride) { \
        auto& strides = canopy::kernel::core_state().c_interface.dimension_strides[number];    \
        strides[0] = dst_stride;                                                               \
        strides[1] = src_stride;                                                               \
    }
CANOPY_C_DIMENSION(0)
CANOPY_C_DIMENSION(1)
CANOPY_C_DIMENSION(2)
CANOPY_C_DIMENSION(3)
CANOPY_C_DIMENSION(4)
#undef CANOPY_C_DIMENSION

namespace canopy::c_interface {

inline constexpr AscendC::NdDmaConfig pad_with_nearest{true};

}  // namespace canopy::c_interface

// `padding_mode` pads with the nearest element instead of the value of asc_set_ndim_pad_value.
template <class T>
inline void asc_ndim_copy_gm2ub(__ubuf__ T* dst, __gm__ T* src, uint32_t loop0_size, uint32_t loop1_size,
                                uint32_t loop2_size, uint32_t loop3_size, uint32_t loop4_size, uint8_t loop0_lp_count,
                                uint8_t loop0_rp_count, bool padding_mode, uint8_t cache_mode, CANOPY_WHERE) {
    using namespace canopy::c_interface;
    static_cast<void>(cache_mode);
    using E = whole<T>;
    const auto& state = canopy::kernel::core_state().c_interface;
    const uint32_t sizes[] = {loop0_size, loop1_size, loop2_size, loop3_size, loop4_size};
    AscendC::MultiCopyParams<E, 5> params{};
    for (int i = 0; i < 5; ++i) {
        params.loopInfo.loopSize[i] = sizes[i];
        params.loopInfo.loopDstStride[i] = static_cast<uint32_t>(state.dimension_strides[i][0]);
        params.loopInfo.loopSrcStride[i] = state.dimension_strides[i][1];
        params.loopInfo.loopLpSize[i] =
            i == 0 ? loop0_lp_count : static_cast<uint8_t>(state.dimension_padding >> (16 * (i - 1)));
        params.loopInfo.loopRpSize[i] =
            i == 0 ? loop0_rp_count : static_cast<uint8_t>(state.dimension_padding >> (16 * (i - 1) + 8));
    }
    __builtin_memcpy(&params.constantValue, &state.dimension_value, sizeof(E));
    const auto to = tensor_at<TPosition::VECIN>(reinterpret_cast<E*>(dst));
    const auto from = memory_at<E>(reinterpret_cast<E*>(src));
    if (padding_mode)
        AscendC::DataCopy<E, 5, pad_with_nearest>(to, from, params, where);
    else
        AscendC::DataCopy<E, 5>(to, from, params, where);
}

#endif
