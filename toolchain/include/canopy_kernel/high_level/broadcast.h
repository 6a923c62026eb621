// SPDX-License-Identifier: Apache-2.0
// Broadcast: axes of size 1 are repeated up to the size of the result.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_BROADCAST_H
#define CANOPY_KERNEL_HIGH_LEVEL_BROADCAST_H

#include <kernel_tiling/kernel_tiling.h>

#include "canopy_kernel/copy/copy.h"
#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/vector_fill.h"

namespace canopy::kernel {

using AscendC::BroadcastTiling;

inline constexpr uint32_t most_axes = 9;

// Strides are 0 along repeated axes. With `inner_pad`, rows of the source fill whole blocks.
template <class T>
inline void plan_broadcast(uint32_t rank, const uint32_t* to, const uint32_t* from, bool inner_pad,
                           BroadcastTiling& plan, Where where) {
    if (rank < 1 || rank > most_axes)
        fail(where, "Broadcast: the rank is %u; it must be between 1 and %u", rank, most_axes);
    plan = {};
    plan.oriRank = plan.rank = rank;
    uint64_t to_size = 1, from_size = 1;
    for (uint32_t i = rank; i-- > 0;) {
        if (from[i] != to[i] && from[i] != 1)
            fail(where, "Broadcast: axis %u has %u elements in the source and %u in the destination", i, from[i],
                 to[i]);
        plan.oriSrcShape[i] = from[i];
        plan.oriDstShape[i] = plan.dstShape[i] = to[i];
        plan.dstStride[i] = static_cast<uint32_t>(to_size);
        plan.srcStride[i] = from[i] == to[i] ? static_cast<uint32_t>(from_size) : 0;
        to_size *= to[i];
        const uint64_t length = i + 1 == rank && inner_pad ? round_up(from[i], elements_in<T>(block_bytes)) : from[i];
        from_size *= length;
    }
    plan.dstSize = static_cast<uint32_t>(to_size);
    plan.srcSize = static_cast<uint32_t>(from_size);
}

// Copies a row that does not overlap the source, without a call where that is the larger part of the work.
template <class T>
inline void broadcast_row(uint64_t count, T* to, const T* from) {
    using Element = unsigned_like<sizeof(T)>;
    constexpr uint64_t step = 64 / sizeof(T), longest = 16 * step;
    if (is_tracing_variant || count % step != 0 || count > longest) return move_bytes(to, from, count * sizeof(T));
    for (uint64_t i = 0; i < count; i += step) {
        lane_vector<Element, step> lanes;
        __builtin_memcpy(&lanes, from + i, sizeof lanes);
        store_lanes(to + i, lanes);
    }
}

// One run for each coordinate of the outer axes: a copy, or a fill with one element. The last of the outer axes is the
// inner loop.
template <class T>
inline void broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const BroadcastTiling& plan, Where where) {
    static_assert(packing<T> == 1, "Broadcast: elements of less than a byte are not supported");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "Broadcast", where, CANOPY_CHECK_FILL);
    check_vector_operand("Broadcast", "the destination", dst, uint64_t{plan.dstSize} * sizeof(T), where);
    check_vector_operand("Broadcast", "the source", src, uint64_t{plan.srcSize} * sizeof(T), where);
    const uint32_t last = plan.rank - 1, length = plan.dstShape[last];
    const uint32_t outer = last == 0 ? 0 : last - 1, rows = last == 0 ? 1 : plan.dstShape[outer];
    const uint64_t pitch = plan.srcStride[outer];
    const bool repeats = plan.srcStride[last] == 0;
    if (rows == 0 || length == 0) return;
    uint32_t at[most_axes] = {};
    uint64_t from = 0;
    T* to = dst.GetPhyAddr();
    for (uint64_t done = 0; done < plan.dstSize; done += uint64_t{rows} * length) {
        const T* source = src.GetPhyAddr() + from;
        for (uint32_t r = 0; r < rows; ++r, to += length, source += pitch) {
            if (repeats)
                fill_run(length, to, *source);
            else
                broadcast_row(length, to, source);
        }
        for (uint32_t axis = outer; axis-- > 0;) {
            from += plan.srcStride[axis];
            if (++at[axis] < plan.dstShape[axis]) break;
            from -= uint64_t{plan.srcStride[axis]} * plan.dstShape[axis];
            at[axis] = 0;
        }
    }
}

template <class T, int32_t dim, int32_t axis>
inline void broadcast_axis(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t* to,
                           const uint32_t* from, Where where) {
    static_assert(dim == 1 || dim == 2, "Broadcast: with the axis as a template argument, dim is 1 or 2");
    static_assert(axis == 0 || axis == 1, "Broadcast: axis is 0 or 1");
    static_assert(axis < dim, "Broadcast: axis must be less than dim");
    if constexpr (checked) {
        if (dim == 2) check_whole_blocks<T>("Broadcast", "the other axis of the source", from[1 - axis], where);
    }
    if (dim == 2 && from[1 - axis] != to[1 - axis])
        fail(where, "Broadcast: axis %d has %u elements in the source and %u in the destination", 1 - axis,
             from[1 - axis], to[1 - axis]);
    BroadcastTiling plan;
    plan_broadcast<T>(static_cast<uint32_t>(dim), to, from, false, plan, where);
    broadcast(dst, src, plan, where);
}

}  // namespace canopy::kernel

namespace AscendC {

// Repeats the axis `axis` of a vector or a matrix.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim], CANOPY_WHERE) {
    canopy::kernel::broadcast_axis<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, where);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim], const LocalTensor<uint8_t>& sharedTmpBuffer, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Broadcast", sharedTmpBuffer, where, dstLocal, srcLocal);
    canopy::kernel::broadcast_axis<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, where);
}

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim], CANOPY_WHERE) {
    canopy::kernel::broadcast_axis<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, where);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim], const LocalTensor<uint8_t>& sharedTmpBuffer, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("BroadCast", sharedTmpBuffer, where, dstLocal, srcLocal);
    canopy::kernel::broadcast_axis<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, where);
}

// Any axes of size 1. Constant shapes replace those of the call.
template <typename T, int constRank = -1, uint32_t* constDstShape = nullptr, uint32_t* constSrcShape = nullptr>
inline void GetBroadcastTilingInfo(uint32_t rank, const uint32_t* dstShape, const uint32_t* srcShape, bool srcInnerPad,
                                   BroadcastTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::plan_broadcast<T>(constRank == -1 ? rank : static_cast<uint32_t>(constRank),
                                      constDstShape == nullptr ? dstShape : constDstShape,
                                      constSrcShape == nullptr ? srcShape : constSrcShape, srcInnerPad, tiling, where);
}
template <typename T, int constRank = -1, uint32_t* constDstShape = nullptr, uint32_t* constSrcShape = nullptr,
          bool constSrcInnerPad = false>
inline void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t* dstShape,
                      const uint32_t* srcShape, BroadcastTiling* tiling, CANOPY_WHERE) {
    static_cast<void>(dstShape);
    static_cast<void>(srcShape);
    if (tiling == nullptr) canopy::kernel::fail(where, "Broadcast: the tiling is null");
    canopy::kernel::broadcast(dst, src, *tiling, where);
}

}  // namespace AscendC

#endif
