// SPDX-License-Identifier: Apache-2.0
// DataCopy between global memory and the memories of a core, and inside a core: contiguous runs, rows with gaps, and
// slices. Copies that change the layout are in fractal_copy.h, copies of any number of bytes in data_copy_pad.h.
#ifndef CANOPY_KERNEL_DATA_COPY_H
#define CANOPY_KERNEL_DATA_COPY_H

#include "canopy_kernel/copy/atomic.h"
#include "canopy_kernel/copy/data_copy_params.h"
#include "canopy_kernel/core/partner.h"

namespace canopy::kernel {

using AscendC::DataCopyParams;

// True if this chip has a copy engine between the two memories.
constexpr bool has_route(Hardware from, Hardware to) {
    switch (from) {
        case Hardware::GM:
            return to == Hardware::UB || to == Hardware::L1;
        case Hardware::UB:
            return to == Hardware::GM || to == Hardware::UB || to == Hardware::L1 || (coupled && to == Hardware::L0C);
        case Hardware::L1:
            return to == Hardware::GM || to == Hardware::UB || to == Hardware::L1 || to == Hardware::BIAS ||
                   to == Hardware::FIXBUF || (coupled && to == Hardware::L0C);
        case Hardware::L0C:
            return to == Hardware::UB || (coupled && to == Hardware::L0C);
        default:
            return false;
    }
}

// The pipe that copies between two memories.
constexpr pipe_t copy_pipe(Hardware from, Hardware to) {
    if (from == Hardware::GM) return PIPE_MTE2;
    if (from == Hardware::L0C) return coupled ? PIPE_V : PIPE_FIX;
    if (to == Hardware::GM || (from == Hardware::UB && to == Hardware::L1)) return PIPE_MTE3;
    if (from == Hardware::UB) return PIPE_V;
    return to == Hardware::FIXBUF ? PIPE_FIX : PIPE_MTE1;
}

// Of a copy inside a core; needed in the checking variant only.
template <class T, class U>
inline pipe_t copy_pipe(const LocalTensor<T>& dst, const LocalTensor<U>& src) {
    if constexpr (is_checking_variant) return copy_pipe(memory_of(src.position()), memory_of(dst.position()));
    return PIPE_S;
}

inline void require_route(const char* operation, TPosition from, TPosition to, Where where) {
    if (__builtin_expect(!has_route(memory_of(from), memory_of(to)), 0))
        fail(where, "%s: no copy leads from position %s (%s) to %s (%s)", operation, name_of(from),
             name_of(memory_of(from)), name_of(to), name_of(memory_of(to)));
}

// An operand of a copy inside a core must have memory and start at a multiple of 32 bytes.
template <class T>
inline void require_block(const char* operation, const char* operand, const LocalTensor<T>& tensor, Where where) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.GetPhyAddr());
    if (__builtin_expect(address == 0 || address % block_bytes != 0, 0)) {
        if (address == 0) fail(where, "%s: the %s is a tensor without memory", operation, operand);
        fail(where, "%s: the %s starts %u bytes past a multiple of 32 bytes of %s", operation, operand,
             static_cast<unsigned>(address % block_bytes), name_of(memory_of(tensor.position())));
    }
}

template <class T>
inline void require_memory_of(const char* operation, const char* operand, const GlobalTensor<T>& tensor, Where where) {
    if (__builtin_expect(tensor.GetPhyAddr() == nullptr, 0))
        fail(where, "%s: the %s is a global tensor without memory; call SetGlobalBuffer first", operation, operand);
}

// The count form copies whole blocks; 4-bit elements may end with half a block.
template <class T>
inline void require_whole_blocks(const char* operation, uint64_t bytes, Where where) {
    if (__builtin_expect(bytes % (block_bytes / packing<T>) != 0, 0))
        fail(where, "%s: %llu bytes are not a multiple of 32; DataCopyPad copies any number", operation,
             printable(bytes));
}

inline void copy_block(void* to, const void* from) {
    if constexpr (is_tracing_variant) return trace_copy(to, from, block_bytes);
    __builtin_memcpy(to, from, block_bytes);
}

// Rows of a copy. Distances are from start to start, in bytes.
struct Rows {
    uint64_t count;
    uint64_t bytes;
    int64_t to;
    int64_t from;

    bool contiguous() const { return to == static_cast<int64_t>(bytes) && from == static_cast<int64_t>(bytes); }
    // Bytes from the first row to the end of the last one.
    uint64_t extent(int64_t distance) const {
        if (count == 0 || bytes == 0) return 0;
        return static_cast<uint64_t>(distance > 0 ? distance : 0) * (count - 1) + bytes;
    }
};

// Bytes that the checking variant counts for a row: copies access whole blocks of local memory.
template <class T>
constexpr uint64_t touched_bytes(const LocalTensor<T>&, uint64_t bytes) {
    return round_up(bytes, block_bytes);
}
template <class T>
constexpr uint64_t touched_bytes(const GlobalTensor<T>&, uint64_t bytes) {
    return bytes;
}

// Adds rows, in `repeats` repeats, as an operand of a copy, in the checking variant. `distance` is from row to row.
// Rows that do not fill their blocks stay apart, since those of the two sides belong together.
template <class Tensor>
inline void name_rows(const char* operand, const Tensor& tensor, uint64_t offset, const Rows& rows, int64_t distance,
                      uint64_t repeat_distance = 0, uint64_t repeats = 1, bool apart = false) {
    if constexpr (is_checking_variant) {
        if (rows.count == 0 || rows.bytes == 0) return;
        Walk walk{touched_bytes(tensor, rows.bytes), static_cast<uint64_t>(distance),
                  static_cast<uint32_t>(rows.count), repeat_distance,
                  static_cast<uint32_t>(repeats),    apart || rows.bytes % block_bytes != 0};
        if (distance < 0) {
            offset += static_cast<uint64_t>(distance) * (rows.count - 1);
            walk.step = static_cast<uint64_t>(-distance);
        }
        walk.apart = walk.apart && walk.pieces > 1;
        name_operand(operand, tensor, offset, walk);
    }
}

// Fails if rows exceed their tensor. In the checking variant: as name_rows.
template <class Tensor>
inline void check_rows(const char* operation, const char* operand, const Tensor& tensor, const Rows& rows,
                       int64_t distance, Where where) {
    if constexpr (is_checking_variant)
        name_rows(operand, tensor, 0, rows, distance);
    else
        check_extent(operation, operand, tensor, rows.extent(distance), where);
}

inline Rows rows_of(const DataCopyParams& params, uint32_t to_unit = block_bytes, uint32_t from_unit = block_bytes,
                    uint32_t length_unit = block_bytes) {
    const int64_t bytes = int64_t{params.blockLen} * length_unit;
    return {params.blockCount, static_cast<uint64_t>(bytes), bytes + int64_t{params.dstStride} * to_unit,
            bytes + int64_t{params.srcStride} * from_unit};
}

// End of a fractal copy in its destination, in bytes.
template <class T, class Params>
inline uint64_t fractal_extent(const Params& params, uint32_t matrices) {
    if (matrices == 0 || params.nValue == 0 || params.dValue == 0) return 0;
    const uint64_t columns = (bytes_of<T>(params.dValue) + block_bytes - 1) / block_bytes;
    return bytes_of<T>(uint64_t{params.dstNzMatrixStride} * (matrices - 1)) +
           (columns - 1) * params.dstNzC0Stride * uint64_t{block_bytes} +
           (params.nValue - 1) * params.dstNzNStride * uint64_t{block_bytes} + block_bytes;
}

// The destination of a fractal copy as an operand, in the checking variant: whole blocks, with the zeros behind a row.
template <class T, class Params>
inline void name_fractals(const LocalTensor<T>& dst, const Params& params, uint32_t matrices) {
    if constexpr (is_checking_variant) {
        const uint64_t columns = (bytes_of<T>(params.dValue) + block_bytes - 1) / block_bytes;
        for (uint64_t i = 0; i < matrices; ++i)
            name_rows("destination", dst, bytes_of<T>(i * params.dstNzMatrixStride), {params.nValue, block_bytes, 0, 0},
                      params.dstNzNStride * int64_t{block_bytes}, params.dstNzC0Stride * uint64_t{block_bytes},
                      columns);
    }
}

// Copies rows into or inside a core. Rows may overlap.
inline void copy_rows(void* to, const void* from, Rows rows) {
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    if (rows.contiguous()) {
        rows.bytes *= rows.count;
        rows.count = rows.count == 0 ? 0 : 1;
    }
    if (rows.bytes == block_bytes) {
        for (uint64_t i = 0; i < rows.count; ++i, target += rows.to, source += rows.from) copy_block(target, source);
        return;
    }
    for (uint64_t i = 0; i < rows.count; ++i, target += rows.to, source += rows.from)
        move_bytes(target, source, rows.bytes);
}

inline void copy_rows_out(Outlet& outlet, void* to, const void* from, Rows rows) {
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    if (rows.contiguous()) {
        rows.bytes *= rows.count;
        rows.count = rows.count == 0 ? 0 : 1;
    }
    for (uint64_t i = 0; i < rows.count; ++i, target += rows.to, source += rows.from)
        outlet.put(target, source, rows.bytes);
}

inline void check_copy_params(const DataCopyParams& params, Where where) {
    check_limit("DataCopy", "blockCount", params.blockCount, 1, 4095, where);
    check_limit("DataCopy", "blockLen", params.blockLen, 1, 65535, where);
}

// The destination of a copy inside a core, or to another core of the group, as an operand in the checking variant.
template <class T, class U>
inline void name_stored_rows(const char* operation, const LocalTensor<T>& dst, const LocalTensor<U>& src,
                             const Rows& rows, Where where, uint32_t which = 0) {
    name_rows("destination",
              stored_tensor(operation, dst, memory_of(src.position()), rows.extent(rows.to), where, which), 0, rows,
              rows.to);
}

// Bytes per unit of a copy: larger for the bias buffer and the buffer of output parameters.
constexpr uint32_t copy_unit(Hardware to) {
    return to == Hardware::BIAS ? 64 : to == Hardware::FIXBUF ? 128 : block_bytes;
}

// Rows inside a core, or between the cores of a group; `which` is the vector core whose unified buffer receives.
template <class T>
inline void copy_inside(const char* operation, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyParams& params, uint32_t which, Where where) {
    const uint32_t unit = copy_unit(memory_of(dst.position()));
    const Rows rows = rows_of(params, unit, block_bytes, unit);
    require_route(operation, src.position(), dst.position(), where);
    require_block(operation, "destination", dst, where);
    require_block(operation, "source", src, where);
    const Instruction instruction(copy_pipe(dst, src), operation, where);
    check_copy_params(params, where);
    if constexpr (is_checking_variant) {
        name_stored_rows(operation, dst, src, rows, where, which);
        name_rows("source", src, 0, rows, rows.from);
        instruction.tell();
    } else {
        check_extent(operation, "destination", dst, rows.extent(rows.to), where);
        check_extent(operation, "source", src, rows.extent(rows.from), where);
    }
    copy_rows(copy_target(operation, dst, memory_of(src.position()), rows.extent(rows.to), where, which),
              src.GetPhyAddr(), rows);
}

// Iterates over the pieces of a slice like an odometer, innermost dimension first.
template <class T>
class SliceWalk {
public:
    SliceWalk(const AscendC::SliceInfo* info, uint32_t dimensions) : info_(info), dimensions_(dimensions) {
        uint64_t pitch = 1;
        for (uint32_t i = 0; i < dimensions; ++i) {
            const uint64_t piece = i == 0 ? piece_elements() : 1;
            pitch_[i] = pitch;
            step_[i] = piece + info[i].stride;
            pieces_[i] = (info[i].endIndex + uint64_t{1} - info[i].startIndex + info[i].stride) / step_[i];
            pitch *= info[i].shapeValue;
        }
    }

    uint64_t piece_elements() const { return info_[0].burstLen * elements_in<T>(block_bytes); }
    uint64_t pieces() const {
        uint64_t total = 1;
        for (uint32_t i = 0; i < dimensions_; ++i) total *= pieces_[i];
        return total;
    }
    // The first element of the next piece.
    uint64_t next() {
        uint64_t element = 0;
        for (uint32_t i = 0; i < dimensions_; ++i) element += (info_[i].startIndex + index_[i] * step_[i]) * pitch_[i];
        for (uint32_t i = 0; i < dimensions_ && ++index_[i] == pieces_[i]; ++i) index_[i] = 0;
        return element;
    }

private:
    const AscendC::SliceInfo* info_;
    uint32_t dimensions_;
    uint64_t pitch_[AscendC::K_MAX_DIM] = {};
    uint64_t step_[AscendC::K_MAX_DIM] = {};
    uint64_t pieces_[AscendC::K_MAX_DIM] = {};
    uint64_t index_[AscendC::K_MAX_DIM] = {};
};

// Fails if `bytes` bytes from an element on exceed the tensor. In the checking variant: they are an operand.
template <class Tensor>
inline void check_piece(const char* operation, const char* operand, const Tensor& tensor, uint64_t element,
                        uint64_t bytes, Where where) {
    using T = typename Tensor::PrimType;
    if constexpr (is_checking_variant)
        name_operand(operand, tensor, bytes_of<T>(element), {touched_bytes(tensor, bytes)});
    else
        check_extent(operation, operand, tensor, bytes_of<T>(element) + bytes, where);
}

// Calls move(destination element, source element, bytes) for each piece of a copy of slices.
template <class T, class Move>
inline void for_each_piece(const AscendC::SliceInfo* to, const AscendC::SliceInfo* from, uint32_t dimensions,
                           Where where, const Move& move) {
    if (dimensions == 0 || dimensions > AscendC::K_MAX_DIM)
        fail(where, "DataCopy: a slice of %u dimensions; there may be between 1 and %d", dimensions,
             AscendC::K_MAX_DIM);
    if (to[0].burstLen != from[0].burstLen || from[0].burstLen == 0)
        fail(where, "DataCopy: slices with bursts of %u and %u blocks; they must be equal", to[0].burstLen,
             from[0].burstLen);
    SliceWalk<T> target(to, dimensions), source(from, dimensions);
    const uint64_t pieces = source.pieces();
    if (target.pieces() != pieces)
        fail(where, "DataCopy: the source's slice has %llu bursts, the destination's %llu", printable(pieces),
             printable(target.pieces()));
    const uint64_t bytes = bytes_of<T>(source.piece_elements());
    for (uint64_t i = 0; i < pieces; ++i) move(target.next(), source.next(), bytes);
}

}  // namespace canopy::kernel

namespace AscendC {

// Global memory -> core.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const uint64_t bytes = bytes_of<T>(count);
    if (bytes == 0) return;
    require_route("DataCopy", TPosition::GM, dst.position(), where);
    require_whole_blocks<T>("DataCopy", bytes, where);
    require_block("DataCopy", "destination", dst, where);
    require_memory_of("DataCopy", "source", src, where);
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    check_extent("DataCopy", "destination", dst, bytes, where);
    check_extent("DataCopy", "source", src, bytes, where);
    instruction.tell();
    copy_in(dst.GetPhyAddr(), src.GetPhyAddr(), bytes);
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Rows rows = rows_of(repeatParams);
    require_route("DataCopy", TPosition::GM, dst.position(), where);
    require_block("DataCopy", "destination", dst, where);
    require_memory_of("DataCopy", "source", src, where);
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    check_copy_params(repeatParams, where);
    check_rows("DataCopy", "destination", dst, rows, rows.to, where);
    check_rows("DataCopy", "source", src, rows, rows.from, where);
    instruction.tell();
    copy_rows(dst.GetPhyAddr(), src.GetPhyAddr(), rows);
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    require_route("DataCopy", TPosition::GM, dst.position(), where);
    require_memory_of("DataCopy", "source", src, where);
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    for_each_piece<T>(dstSliceInfo, srcSliceInfo, dimValue, where, [&](uint64_t to, uint64_t from, uint64_t bytes) {
        check_piece("DataCopy", "destination", dst, to, bytes, where);
        check_piece("DataCopy", "source", src, from, bytes, where);
        move_bytes(advance(dst.GetPhyAddr(), to), src.GetPhyAddr(from), bytes);
    });
}

// Core -> global memory.
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const uint64_t bytes = bytes_of<T>(count);
    if (bytes == 0) return;
    require_route("DataCopy", src.position(), TPosition::GM, where);
    require_whole_blocks<T>("DataCopy", bytes, where);
    require_block("DataCopy", "source", src, where);
    require_memory_of("DataCopy", "destination", dst, where);
    const Instruction instruction(PIPE_MTE3, "DataCopy", where);
    check_extent("DataCopy", "source", src, bytes, where);
    check_piece("DataCopy", "destination", dst, 0, bytes, where);
    instruction.tell();
    Outlet(element_kind<T>).put(dst.GetPhyAddr(0), src.GetPhyAddr(), bytes);
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Rows rows = rows_of(repeatParams);
    require_route("DataCopy", src.position(), TPosition::GM, where);
    require_block("DataCopy", "source", src, where);
    require_memory_of("DataCopy", "destination", dst, where);
    const Instruction instruction(PIPE_MTE3, "DataCopy", where);
    check_copy_params(repeatParams, where);
    check_rows("DataCopy", "source", src, rows, rows.from, where);
    check_rows("DataCopy", "destination", dst, rows, rows.to, where);
    instruction.tell();
    Outlet outlet(element_kind<T>);
    copy_rows_out(outlet, dst.GetPhyAddr(0), src.GetPhyAddr(), rows);
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    require_route("DataCopy", src.position(), TPosition::GM, where);
    require_memory_of("DataCopy", "destination", dst, where);
    const Instruction instruction(PIPE_MTE3, "DataCopy", where);
    Outlet outlet(element_kind<T>);
    for_each_piece<T>(dstSliceInfo, srcSliceInfo, dimValue, where, [&](uint64_t to, uint64_t from, uint64_t bytes) {
        check_piece("DataCopy", "source", src, from, bytes, where);
        check_piece("DataCopy", "destination", dst, to, bytes, where);
        outlet.put(dst.GetPhyAddr(to), advance(src.GetPhyAddr(), from), bytes);
    });
}

// Inside a core.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const uint64_t bytes = bytes_of<T>(count);
    if (bytes == 0) return;
    require_route("DataCopy", src.position(), dst.position(), where);
    require_whole_blocks<T>("DataCopy", bytes, where);
    require_block("DataCopy", "destination", dst, where);
    require_block("DataCopy", "source", src, where);
    const Instruction instruction(copy_pipe(dst, src), "DataCopy", where);
    if constexpr (is_checking_variant)
        name_stored_rows("DataCopy", dst, src, {1, bytes, 0, 0}, where);
    else
        check_extent("DataCopy", "destination", dst, bytes, where);
    check_extent("DataCopy", "source", src, bytes, where);
    instruction.tell();
    move_bytes(copy_target("DataCopy", dst, memory_of(src.position()), bytes, where), src.GetPhyAddr(), bytes);
}

// blockLen counts units of 64 bytes for the bias buffer, and of 128 bytes for the buffer of output parameters.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::copy_inside("DataCopy", dst, src, repeatParams, 0, where);
}

// Converts a half or bfloat16 bias to float on its way into the bias buffer (L0C on coupled chips).
template <typename T, typename U>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& repeatParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    constexpr bool widens = is_same<T, float> && is_any_of<U, half, bfloat16_t>;
    static_assert(widens || sizeof(T) == sizeof(U),
                  "DataCopy: between tensors of different types only half and bfloat16_t to float can be converted");
    if constexpr (!widens) {
        DataCopy(dst, src.template ReinterpretCast<T>(), repeatParams, where);
    } else {
        if (memory_of(dst.position()) != (coupled ? Hardware::L0C : Hardware::BIAS))
            fail(where, "DataCopy: a copy to position %s cannot change the type", name_of(dst.position()));
        require_route("DataCopy", src.position(), dst.position(), where);
        const Instruction instruction(PIPE_MTE1, "DataCopy", where);
        const uint32_t row = repeatParams.blockLen * 64u / sizeof(U);
        const Rows rows{repeatParams.blockCount, row * sizeof(U), int64_t{row} * 4 + repeatParams.dstStride * 64,
                        int64_t{repeatParams.blockLen} * 64 + repeatParams.srcStride * 32};
        name_rows("destination", dst, 0, {rows.count, row * sizeof(T), 0, 0}, rows.to);
        name_rows("source", src, 0, rows, rows.from);
        const U* from = src.GetPhyAddr();
        T* to = dst.GetPhyAddr();
        for (uint32_t i = 0; i < repeatParams.blockCount; ++i) {
            for (uint32_t j = 0; j < row; ++j) to[j] = static_cast<T>(from[j]);
            to += row + repeatParams.dstStride * 64u / sizeof(T);
            from += row + repeatParams.srcStride * 32u / sizeof(U);
        }
    }
}

}  // namespace AscendC

#endif
