// SPDX-License-Identifier: Apache-2.0
// Masked Copy inside the unified buffer, multi-dimensional copies from global memory, and Fill of global memory.
#ifndef CANOPY_KERNEL_COPY_H
#define CANOPY_KERNEL_COPY_H

#include "canopy_kernel/copy/data_copy.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool has_vector_copy = sizeof(T) == 2 || sizeof(T) == 4 ||
                                        (__NPU_ARCH__ >= 3003 && (sizeof(T) == 1 || sizeof(T) == 8));

template <bool set, class T, class Mask>
inline void copy_selected(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, uint8_t repeats,
                          const AscendC::CopyRepeatParams& params, Where where) {
    static_assert(has_vector_copy<T>, "Copy: this chip copies elements of 16 and 32 bits (64 and 8 bits on 3510)");
    const Selection chosen = select<set>(lanes<T>, mask, repeats);
    const auto to = target(dst, params.dstStride, params.dstRepeatSize);
    const auto from = source(src, params.srcStride, params.srcRepeatSize);
    const Instruction instruction(PIPE_V, "Copy", where);
    check_strided(dst, to, chosen, "Copy", "the destination", where);
    check_strided(src, from, chosen, "Copy", "the source", where);
    instruction.tell();
    write_runs(
        chosen, [](uint64_t count, T* d, const T* s) { move_bytes(d, s, count * sizeof(T)); }, to, from);
}

// A multi-dimensional copy. The padding left and right is `value`, or the nearest element if `nearest`.
template <class T, uint8_t dim>
struct Dimensions {
    const AscendC::MultiCopyLoopInfo<dim>& info;
    uint32_t left[dim];
    uint32_t right[dim];
    bool nearest;
    T value;

    // Copies this dimension and all inner ones. `outside`: an outer dimension is in its padding.
    void copy(int dimension, T* to, const T* from, bool outside) const {
        const auto size = static_cast<int64_t>(info.loopSize[dimension]);
        const int64_t first = -static_cast<int64_t>(left[dimension]);
        const int64_t last = size + right[dimension];
        for (int64_t i = first; i < last; ++i) {
            const bool beyond = i < 0 || i >= size;
            const int64_t at = i < 0 ? 0 : i >= size ? size - 1 : i;
            T* target = to + (i - first) * static_cast<int64_t>(info.loopDstStride[dimension]);
            const T* source = from + at * static_cast<int64_t>(info.loopSrcStride[dimension]);
            const bool filled = outside || (beyond && !nearest);
            if (dimension != 0)
                copy(dimension - 1, target, source, filled);
            else
                *target = filled ? value : *source;
        }
    }
    // The operands as the copy is executed, in the checking variant. Dimensions 0 and 1 are one walk.
    void name_target(const LocalTensor<T>& dst, int dimension, uint64_t to) const {
        const auto elements = [&](int i) { return left[i] + info.loopSize[i] + right[i]; };
        const auto step = [&](int i) { return bytes_of<T>(info.loopDstStride[i]); };
        if (dimension > 1)
            for (uint64_t i = 0; i < elements(dimension); ++i)
                name_target(dst, dimension - 1, to + i * step(dimension));
        else
            name_operand(
                "destination", dst, to,
                {sizeof(T), step(0), elements(0), dimension == 0 ? 0 : step(1), dimension == 0 ? 1 : elements(1)});
    }
    void name_source(const GlobalTensor<T>& src, int dimension, uint64_t from) const {
        const auto step = [&](int i) { return bytes_of<T>(info.loopSrcStride[i]); };
        if (dimension > 1)
            for (uint64_t i = 0; i < info.loopSize[dimension]; ++i)
                name_source(src, dimension - 1, from + i * step(dimension));
        else
            name_operand("source", src, from,
                         {sizeof(T), step(0), info.loopSize[0], dimension == 0 ? 0 : step(1),
                          dimension == 0 ? 1 : info.loopSize[1]});
    }
    uint64_t end() const {
        uint64_t last = 1;
        for (int i = 0; i < dim; ++i)
            last += (uint64_t{left[i]} + info.loopSize[i] + right[i] - 1) * info.loopDstStride[i];
        return last;
    }
};

// Writes `count` copies of a value to global memory.
template <class T>
inline void fill_out(T* memory, uint64_t count, T value) {
    constexpr uint64_t piece = 4096 / sizeof(T);
    alignas(64) T values[piece];
    const uint64_t used = smaller(piece, count);
    for (uint64_t i = 0; i < used; ++i) values[i] = value;
    Outlet outlet(element_kind<T>);
    for (uint64_t i = 0; i < count; i += piece) outlet.put(memory + i, values, smaller(piece, count - i) * sizeof(T));
}

// The destination of a fill: copies out of the core write it.
template <class T>
inline void name_fill(const char* name, const GlobalTensor<T>& dst, uint64_t bytes, Where where) {
    const Instruction instruction(PIPE_MTE3, name, where, CANOPY_CHECK_FILL);
    if constexpr (is_checking_variant)
        name_operand("destination", dst, 0, {bytes});
    else
        check_extent("Fill", "destination", dst, bytes, where);
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const uint8_t repeatTime,
                 const CopyRepeatParams& repeatParams, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::copy_selected<isSetMask>(dst, src, mask, repeatTime, repeatParams, where);
}

template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const uint8_t repeatTime,
                 const CopyRepeatParams& repeatParams, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::copy_selected<isSetMask>(dst, src, mask, repeatTime, repeatParams, where);
}

template <typename T>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(has_vector_copy<T>, "Copy: this chip copies elements of 16 and 32 bits (64 and 8 bits on 3510)");
    const Instruction instruction(PIPE_V, "Copy", where);
    check_count(dst, count, "Copy", "the destination", where);
    check_count(src, count, "Copy", "the source", where);
    instruction.tell();
    move_bytes(dst.GetPhyAddr(), src.GetPhyAddr(), bytes_of<T>(count));
}

// Global memory -> unified buffer in up to five dimensions.
template <typename T, uint8_t dim, const NdDmaConfig& config = kDefaultNdDmaConfig,
          typename = canopy::kernel::only_if<(dim >= 1)>>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const MultiCopyParams<T, dim>& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(dim <= 5, "DataCopy with NdDmaParams: a copy has between 1 and 5 dimensions");
    static_assert(packing<T> == 1, "DataCopy with NdDmaParams: elements of less than a byte are not supported");
    require_route("DataCopy with NdDmaParams", TPosition::GM, dst.position(), where);
    require_memory_of("DataCopy with NdDmaParams", "source", src, where);
    Dimensions<T, dim> dimensions{params.loopInfo, {}, {}, config.isNearestValueMode, params.constantValue};
    for (int i = 0; i < dim; ++i) {
        dimensions.left[i] =
            config.loopLpSize == NdDmaConfig::unsetPad ? params.loopInfo.loopLpSize[i] : config.loopLpSize;
        dimensions.right[i] =
            config.loopRpSize == NdDmaConfig::unsetPad ? params.loopInfo.loopRpSize[i] : config.loopRpSize;
        if (params.loopInfo.loopSize[i] == 0) return;
    }
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    if constexpr (is_checking_variant) {
        dimensions.name_target(dst, dim - 1, 0);
        dimensions.name_source(src, dim - 1, 0);
        instruction.tell();
    } else {
        check_extent("DataCopy with NdDmaParams", "destination", dst, bytes_of<T>(dimensions.end()), where);
    }
    dimensions.copy(dim - 1, dst.GetPhyAddr(), src.GetPhyAddr(), false);
}

// Invalidates the copy engine's cache of global memory; this device has no such cache.
inline void NdDmaDci() {}

// Sets `size` elements of global memory to `value`.
template <typename T>
inline void Fill(const GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value,
                 canopy::kernel::Where where = canopy::kernel::here(), const char* name = "Fill") {
    static_assert(canopy::kernel::packing<T> == 1, "Fill: elements of less than a byte are not supported");
    canopy::kernel::require_memory_of("Fill", "destination", gmWorkspaceAddr, where);
    canopy::kernel::name_fill(name, gmWorkspaceAddr, size * sizeof(T), where);
    canopy::kernel::fill_out(gmWorkspaceAddr.GetPhyAddr(0), size, value);
}

template <typename T>
inline void InitGlobalMemory(const GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value,
                             canopy::kernel::Where where = canopy::kernel::here()) {
    Fill(gmWorkspaceAddr, size, value, where, "InitGlobalMemory");
}

template <typename T>
inline void InitOutput(const GlobalTensor<T>& gmWorkspaceAddr, const uint32_t size, const T value = 0,
                       canopy::kernel::Where where = canopy::kernel::here()) {
    Fill(gmWorkspaceAddr, uint64_t{size}, value, where, "InitOutput");
}

}  // namespace AscendC

#endif
