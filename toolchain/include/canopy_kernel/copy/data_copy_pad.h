// SPDX-License-Identifier: Apache-2.0
// DataCopyPad: rows of any number of bytes. Rows are packed in global memory; in local memory each row starts at a
// multiple of 32 bytes (except in compact mode) and may be padded left and right. On newer chips two loops can surround
// the copy.
#ifndef CANOPY_KERNEL_DATA_COPY_PAD_H
#define CANOPY_KERNEL_DATA_COPY_PAD_H

#include "canopy_kernel/copy/data_copy.h"

namespace canopy::kernel {

using AscendC::DataCopyExtParams;
using AscendC::PaddingMode;

// The two loops around a copy; distances in bytes.
struct CopyLoops {
    uint64_t count1, count2;
    uint64_t from1, to1, from2, to2;
};

// `direction` is 0 for copies in and 6 for copies out.
inline CopyLoops copy_loops(uint32_t direction) {
    const uint64_t* set = core_state().loop_mode + direction;
    return {set[0] == 0 ? 1 : set[0], set[1] == 0 ? 1 : set[1], set[2], set[3], set[4], set[5]};
}

template <class Body>
inline void for_each_loop(const CopyLoops& loops, const Body& body) {
    for (uint64_t outer = 0; outer < loops.count2; ++outer)
        for (uint64_t inner = 0; inner < loops.count1; ++inner)
            body(outer * loops.to2 + inner * loops.to1, outer * loops.from2 + inner * loops.from1);
}

// SetPadValue sets this bit, so that a pad value of zero counts as set.
inline constexpr uint64_t pad_value_is_set = 1ull << 63;

template <class T>
struct RowPadding {
    uint32_t left;
    uint32_t right;
    bool given;  // pad with `value`; otherwise with the first element of the row
    bool fills_rest;
    T value;
};

template <class T>
inline RowPadding<T> row_padding(bool is_given, uint32_t left, uint32_t right, T value) {
    RowPadding<T> padding{left, right, is_given, is_given && left + right != 0, value};
    if (is_given || left + right == 0) return padding;
    const uint64_t set = core_state().pad_value;
    if ((set & pad_value_is_set) != 0) {
        padding.given = padding.fills_rest = true;
        __builtin_memcpy(&padding.value, &set, smaller(sizeof(T), sizeof(uint32_t)));
    }
    return padding;
}

// Copies one row into local memory and fills it up to `end` bytes after its start.
template <class T>
inline void copy_padded_row(unsigned char* to, const unsigned char* from, uint64_t bytes, const RowPadding<T>& padding,
                            uint64_t end) {
    const uint64_t left = padding.left * sizeof(T);
    if constexpr (is_tracing_variant) {
        trace_forget(to, left);
        trace_copy(to + left, from, bytes);
        return trace_forget(to + left + bytes, end - left - bytes);
    }
    const uint64_t row_end = left + bytes, missing = end - row_end;
    if (missing == 0 && left == 0) return copy_short(to, from, bytes);
    T first{};
    __builtin_memcpy(&first, from, smaller<uint64_t>(sizeof first, bytes));
    const T side = padding.given ? padding.value : first;
    const T rest = padding.fills_rest ? padding.value : first;  // the same as `side` if there is padding on the right
    for (uint64_t at = 0; at < left; at += sizeof(T)) __builtin_memcpy(to + at, &side, sizeof side);
    // Whole blocks of padding first, then the row over what is too much of them.
    const uint64_t blocks = round_up(missing, block_bytes);
    if (missing % sizeof(T) == 0 && left + blocks <= end) {
        using Element = unsigned_like<sizeof(T)>;
        const lane_vector<Element, block_bytes / sizeof(T)> pattern = __builtin_bit_cast(Element, rest);
        for (uint64_t at = end - blocks; at < end; at += block_bytes) store_lanes(to + at, pattern);
        return copy_short(to + left, from, bytes);
    }
    copy_short(to + left, from, bytes);
    for (uint64_t at = row_end; at < end; at += sizeof(T))
        __builtin_memcpy(to + at, &rest, smaller<uint64_t>(sizeof rest, end - at));
}

template <PaddingMode mode, class T>
inline void copy_pad_in(unsigned char* to, const unsigned char* from, const DataCopyExtParams& params,
                        const RowPadding<T>& padding) {
    const uint64_t row = params.blockLen + (padding.left + padding.right) * sizeof(T);
    const int64_t from_step = int64_t{params.blockLen} + params.srcStride;
    const bool compact = mode == PaddingMode::Compact;
    const uint64_t filled = compact ? row : round_up(row, block_bytes);
    const int64_t to_step = static_cast<int64_t>(filled) + params.dstStride * int64_t{block_bytes};
    for (uint32_t i = 0; i < params.blockCount; ++i, to += to_step, from += from_step) {
        const bool last = compact && i + 1u == params.blockCount;
        const uint64_t end = last ? filled + (-reinterpret_cast<uintptr_t>(to + filled) & (block_bytes - 1)) : filled;
        copy_padded_row(to, from, params.blockLen, padding, end);
    }
}

inline Rows pad_rows_out(const DataCopyExtParams& params, PaddingMode mode) {
    const uint64_t row = mode == PaddingMode::Compact ? params.blockLen : round_up(params.blockLen, block_bytes);
    return {params.blockCount, params.blockLen, int64_t{params.blockLen} + params.dstStride,
            static_cast<int64_t>(row) + params.srcStride * int64_t{block_bytes}};
}

template <class T>
inline void check_pad_params(const DataCopyExtParams& params, uint32_t left, uint32_t right, Where where) {
    check_limit("DataCopyPad", "blockCount", params.blockCount, 1, 4095, where);
    check_limit("DataCopyPad", "blockLen", params.blockLen, 1, 2097151, where);
    check_limit("DataCopyPad", "bytes of leftPadding", left * sizeof(T), 0, block_bytes, where);
    check_limit("DataCopyPad", "bytes of rightPadding", right * sizeof(T), 0, block_bytes, where);
}

// 4-bit elements are padded in pairs, as bytes.
template <class T>
inline RowPadding<uint8_t> paired(const RowPadding<T>& padding, Where where) {
    if (padding.left % 2 != 0 || padding.right % 2 != 0)
        fail(where, "DataCopyPad: %u and %u elements of four bits; they can be added in pairs only", padding.left,
             padding.right);
    const auto byte = static_cast<uint8_t>((padding.value.storage & 15) * 17);
    return {padding.left / 2, padding.right / 2, padding.given, padding.fills_rest, byte};
}

// The two loops on the side of one operand.
struct LoopsOfOperand {
    uint64_t count1, count2, step1, step2;
    bool apart = false;  // as for name_rows
};

// As check_rows, with loops around the rows.
template <class Tensor>
inline void check_looped(const char* operation, const char* operand, const Tensor& tensor, const Rows& rows,
                         int64_t distance, const LoopsOfOperand& loops, Where where) {
    if constexpr (is_checking_variant)
        for (uint64_t outer = 0; outer < loops.count2; ++outer)
            name_rows(operand, tensor, outer * loops.step2, rows, distance, loops.step1, loops.count1, loops.apart);
    else
        check_extent(operation, operand, tensor,
                     rows.extent(distance) + (loops.count1 - 1) * loops.step1 + (loops.count2 - 1) * loops.step2,
                     where);
}

template <PaddingMode mode, class T>
inline void data_copy_pad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& params,
                          const RowPadding<T>& padding, Where where) {
    if constexpr (packing<T> == 2)
        return data_copy_pad<mode>(dst.template ReinterpretCast<uint8_t>(), src.template ReinterpretCast<uint8_t>(),
                                   params, paired(padding, where), where);
    if (params.blockCount == 0 || params.blockLen == 0) return;
    require_route("DataCopyPad", TPosition::GM, dst.position(), where);
    require_block("DataCopyPad", "destination", dst, where);
    require_memory_of("DataCopyPad", "source", src, where);
    const CopyLoops loops = copy_loops(0);
    const Instruction instruction(PIPE_MTE2, "DataCopyPad", where);
    if constexpr (tests_parameters) {
        check_pad_params<T>(params, padding.left, padding.right, where);
        const uint64_t row = params.blockLen + (padding.left + padding.right) * sizeof(T);
        const uint64_t pitch = mode == PaddingMode::Compact ? row : round_up(row, block_bytes);
        Rows to{params.blockCount, pitch, static_cast<int64_t>(pitch) + params.dstStride * int64_t{block_bytes}, 0};
        // Only the last of them ends with a whole block.
        if (is_checking_variant && mode == PaddingMode::Compact && params.dstStride == 0) {
            to.bytes *= to.count;
            to.count = 1;
        }
        const Rows from{params.blockCount, params.blockLen, 0, int64_t{params.blockLen} + params.srcStride};
        check_looped("DataCopyPad", "destination", dst, to, to.to,
                     {loops.count1, loops.count2, loops.to1, loops.to2, params.blockLen % block_bytes != 0}, where);
        check_looped("DataCopyPad", "source", src, from, from.from,
                     {loops.count1, loops.count2, loops.from1, loops.from2}, where);
        instruction.tell();
    }
    for_each_loop(loops, [&](uint64_t to, uint64_t from) {
        copy_pad_in<mode>(reinterpret_cast<unsigned char*>(dst.GetPhyAddr()) + to,
                          reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + from, params, padding);
    });
}

template <PaddingMode mode, class T>
inline void data_copy_pad_out(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& params,
                              Where where) {
    if (params.blockCount == 0 || params.blockLen == 0) return;
    require_route("DataCopyPad", src.position(), TPosition::GM, where);
    require_block("DataCopyPad", "source", src, where);
    require_memory_of("DataCopyPad", "destination", dst, where);
    const CopyLoops loops = copy_loops(6);
    const Rows rows = pad_rows_out(params, mode);
    const Instruction instruction(PIPE_MTE3, "DataCopyPad", where);
    check_pad_params<T>(params, 0, 0, where);
    check_looped("DataCopyPad", "source", src, rows, rows.from, {loops.count1, loops.count2, loops.from1, loops.from2},
                 where);
    check_looped("DataCopyPad", "destination", dst, rows, rows.to, {loops.count1, loops.count2, loops.to1, loops.to2},
                 where);
    instruction.tell();
    Outlet outlet(element_kind<T>);
    for_each_loop(loops, [&](uint64_t to, uint64_t from) {
        copy_rows_out(outlet, reinterpret_cast<unsigned char*>(dst.GetPhyAddr(0)) + to,
                      reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + from, rows);
    });
}

inline DataCopyExtParams extended(const DataCopyParams& params) {
    return {params.blockCount, params.blockLen, params.srcStride, params.dstStride, 0};
}

}  // namespace canopy::kernel

namespace AscendC {

// Sets the pad value for DataCopyPad calls that do not give one.
template <typename T, TPosition pos = TPosition::MAX>
inline void SetPadValue(T paddingValue) {
    static_assert(sizeof(T) <= 4, "SetPadValue: the register holds elements of up to four bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &paddingValue, sizeof paddingValue);
    canopy::kernel::core_state().pad_value = bits | canopy::kernel::pad_value_is_set;
}

// Global memory -> core.
template <typename T, PaddingMode mode = PaddingMode::Normal>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams,
                        canopy::kernel::Where where = canopy::kernel::here()) {
    const auto padding = canopy::kernel::row_padding<T>(padParams.isPad, padParams.leftPadding, padParams.rightPadding,
                                                        padParams.paddingValue);
    canopy::kernel::data_copy_pad<mode>(dst, src, dataCopyParams, padding, where);
}

// The row length counts bytes here too; the low bits of the pad value are the element.
template <typename T, PaddingMode mode = PaddingMode::Normal>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const DataCopyPadParams& padParams, canopy::kernel::Where where = canopy::kernel::here()) {
    T value{};
    __builtin_memcpy(&value, &padParams.paddingValue, canopy::kernel::smaller(sizeof value, sizeof(uint64_t)));
    const auto padding =
        canopy::kernel::row_padding<T>(padParams.isPad, padParams.leftPadding, padParams.rightPadding, value);
    canopy::kernel::data_copy_pad<mode>(dst, src, canopy::kernel::extended(dataCopyParams), padding, where);
}

// Core -> global memory.
template <typename T, PaddingMode mode = PaddingMode::Normal>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::data_copy_pad_out<mode>(dst, src, dataCopyParams, where);
}

template <typename T, PaddingMode mode = PaddingMode::Normal>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::data_copy_pad_out<mode>(dst, src, canopy::kernel::extended(dataCopyParams), where);
}

// Unified buffer -> L1: packs the rows with dstStride bytes between them and converts the result to fractals.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        const Nd2NzParams& nd2nzParams, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "DataCopyPad: elements of less than a byte are not supported on the way to L1");
    require_route("DataCopyPad", src.position(), dst.position(), where);
    require_block("DataCopyPad", "destination", dst, where);
    const Rows rows = pad_rows_out(dataCopyParams, PaddingMode::Normal);
    constexpr uint32_t width = block_bytes / sizeof(T);
    constexpr bool through_memory = __NPU_ARCH__ == 2201;  // two copies on the chip
    const auto& p = nd2nzParams;
    {
        const Instruction instruction(PIPE_MTE3, "DataCopyPad", where);
        check_rows("DataCopyPad", "source", src, rows, rows.from, where);
        if constexpr (is_checking_variant && !through_memory)
            name_fractals(stored_tensor("DataCopyPad", dst, Hardware::UB, fractal_extent<T>(p, p.ndNum), where), p,
                          p.ndNum);
    }
    if constexpr (through_memory) {
        tell_order("DataCopyPad", PIPE_MTE3, PIPE_MTE2, where);
        const Instruction instruction(PIPE_MTE2, "DataCopyPad", where);
        name_fractals(dst, p, p.ndNum);
    }
    const auto element = [&](uint64_t packed) {
        const uint64_t row = packed * sizeof(T) / static_cast<uint64_t>(rows.to);
        const uint64_t byte = packed * sizeof(T) % static_cast<uint64_t>(rows.to);
        if (row >= rows.count || byte + sizeof(T) > rows.bytes) return T{};
        T value;
        __builtin_memcpy(
            &value,
            reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + row * static_cast<uint64_t>(rows.from) + byte,
            sizeof value);
        return value;
    };
    T* const to = copy_target("DataCopyPad", dst, memory_of(src.position()), fractal_extent<T>(p, p.ndNum), where);
    for (uint64_t i = 0; i < p.ndNum; ++i)
        for (uint64_t r = 0; r < p.nValue; ++r)
            for (uint64_t c = 0; c < round_up(p.dValue, width); ++c)
                to[i * p.dstNzMatrixStride + (c / width * p.dstNzC0Stride + r * p.dstNzNStride) * width + c % width] =
                    c < p.dValue ? element(i * p.srcNdMatrixStride + r * p.srcDValue + c) : T{};
}

template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const Nd2NzParams& nd2nzParams, canopy::kernel::Where where = canopy::kernel::here()) {
    DataCopyPad(dst, src, canopy::kernel::extended(dataCopyParams), nd2nzParams, where);
}

inline void SetLoopModePara(const LoopModeParams& loopParams, DataCopyMVType type) {
    static_assert(sizeof(canopy::kernel::CoreState::loop_mode) == 12 * sizeof(uint64_t), "six numbers a direction");
    uint64_t* set = canopy::kernel::core_state().loop_mode + (type == DataCopyMVType::OUT_TO_UB ? 0 : 6);
    set[0] = loopParams.loop1Size;
    set[1] = loopParams.loop2Size;
    set[2] = loopParams.loop1SrcStride;
    set[3] = loopParams.loop1DstStride;
    set[4] = loopParams.loop2SrcStride;
    set[5] = loopParams.loop2DstStride;
}

inline void ResetLoopModePara(DataCopyMVType type) { SetLoopModePara(LoopModeParams(), type); }

}  // namespace AscendC

#endif
