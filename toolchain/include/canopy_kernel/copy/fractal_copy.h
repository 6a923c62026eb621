// SPDX-License-Identifier: Apache-2.0
// DataCopy that changes the layout: row-major and column-major matrices to fractals (columns of 32-byte blocks),
// fractals to row-major matrices, and the older copies between the cube's output and the unified buffer.
#ifndef CANOPY_KERNEL_FRACTAL_COPY_H
#define CANOPY_KERNEL_FRACTAL_COPY_H

#include "canopy_kernel/copy/data_copy.h"

namespace canopy::kernel {

using AscendC::Dn2NzParams;
using AscendC::Nd2NzParams;
using AscendC::Nz2NdParamsFull;

// Rows copied together, so that each cache line of the destination is written in one go.
inline constexpr uint32_t rows_at_once = 8;

struct FractalTarget {
    unsigned char* address;
    uint64_t column;  // bytes between columns of blocks
    uint64_t row;     // bytes between rows
};

// Copies a row-major matrix of `rows` rows of `bytes` bytes into columns of blocks; pads the last block of each row
// with zeros.
inline void spread_matrix(FractalTarget to, const unsigned char* from, uint32_t rows, uint64_t bytes, uint64_t pitch) {
    const uint64_t whole = bytes / block_bytes;
    const uint64_t rest = bytes % block_bytes;
    for (uint32_t first = 0; first < rows; first += rows_at_once) {
        const uint32_t last = smaller(first + rows_at_once, rows);
        for (uint64_t c = 0; c < whole; ++c)
            for (uint32_t r = first; r < last; ++r)
                copy_block(to.address + c * to.column + r * to.row, from + r * pitch + c * block_bytes);
        if (rest == 0) continue;
        for (uint32_t r = first; r < last; ++r) {
            alignas(32) unsigned char block[block_bytes] = {};
            __builtin_memcpy(block, from + r * pitch + whole * block_bytes, rest);
            copy_block(to.address + whole * to.column + r * to.row, block);
        }
    }
}

template <class T>
inline void copy_nd_to_nz(T* to, const T* from, const Nd2NzParams& params) {
    for (uint32_t i = 0; i < params.ndNum; ++i) {
        const FractalTarget target{
            reinterpret_cast<unsigned char*>(to) + bytes_of<T>(uint64_t{i} * params.dstNzMatrixStride),
            params.dstNzC0Stride * uint64_t{block_bytes}, params.dstNzNStride * uint64_t{block_bytes}};
        spread_matrix(target, reinterpret_cast<const unsigned char*>(from) + bytes_of<T>(i * params.srcNdMatrixStride),
                      params.nValue, bytes_of<T>(params.dValue), bytes_of<T>(params.srcDValue));
    }
}

// Images of up to four channels: each row has four elements, padded with zeros, and rows are contiguous.
inline constexpr uint32_t small_channels = 4;

template <class T>
inline uint64_t small_extent(const Nd2NzParams& params) {
    if (params.ndNum == 0) return 0;
    return bytes_of<T>(uint64_t{params.dstNzMatrixStride} * (params.ndNum - 1) +
                       uint64_t{params.nValue} * small_channels);
}

template <class T>
inline void copy_small_channels(T* to, const T* from, const Nd2NzParams& params) {
    for (uint32_t i = 0; i < params.ndNum; ++i)
        for (uint32_t r = 0; r < params.nValue; ++r)
            for (uint32_t c = 0; c < small_channels; ++c)
                to[uint64_t{i} * params.dstNzMatrixStride + r * small_channels + c] =
                    c < params.dValue ? from[i * params.srcNdMatrixStride + r * params.srcDValue + c] : T{};
}

template <class T>
inline void copy_dn_to_nz(T* to, const T* from, const Dn2NzParams& params) {
    constexpr uint32_t width = block_bytes / sizeof(T);
    for (uint32_t i = 0; i < params.dnNum; ++i) {
        T* matrix = to + uint64_t{i} * params.dstNzMatrixStride;
        const T* source = from + i * params.srcDnMatrixStride;
        for (uint32_t first = 0; first < params.dValue; first += width)
            for (uint32_t n = 0; n < params.nValue; ++n) {
                T* block = matrix + uint64_t{first / width} * params.dstNzC0Stride * width +
                           uint64_t{n} * params.dstNzNStride * width;
                for (uint32_t d = 0; d < width; ++d)
                    block[d] = first + d < params.dValue ? source[(first + d) * params.srcDValue + n] : T{};
            }
    }
}

// The matrices of a copy to fractals as operands, in the checking variant. `rows` rows of `bytes` bytes in the source.
template <bool small, class T, class Source, class Params>
inline void name_matrices(const LocalTensor<T>& dst, const Source& src, const Params& params, uint32_t matrices,
                          uint64_t rows, uint64_t bytes, uint64_t matrix_stride) {
    if constexpr (is_checking_variant) {
        if constexpr (small)
            name_rows("destination", dst, 0, {1, bytes_of<T>(uint64_t{params.nValue} * small_channels), 0, 0}, 0,
                      bytes_of<T>(params.dstNzMatrixStride), matrices);
        else
            name_fractals(dst, params, matrices);
        name_rows("source", src, 0, {rows, bytes, 0, 0}, static_cast<int64_t>(bytes_of<T>(params.srcDValue)),
                  bytes_of<T>(matrix_stride), matrices);
    }
}
template <bool small, class T, class Source>
inline void name_operands(const LocalTensor<T>& dst, const Source& src, const Nd2NzParams& params) {
    name_matrices<small>(dst, src, params, params.ndNum, params.nValue, bytes_of<T>(params.dValue),
                         params.srcNdMatrixStride);
}
template <bool small, class T, class Source>
inline void name_operands(const LocalTensor<T>& dst, const Source& src, const Dn2NzParams& params) {
    name_matrices<small>(dst, src, params, params.dnNum, params.dValue, bytes_of<T>(params.nValue),
                         params.srcDnMatrixStride);
}

template <bool small, class T>
inline void check_nd_to_nz(const LocalTensor<T>& dst, const Nd2NzParams& params, Where where) {
    require_block("DataCopy with Nd2NzParams", "destination", dst, where);
    check_limit("DataCopy with Nd2NzParams", "ndNum", params.ndNum, 0, 4095, where);
    check_limit("DataCopy with Nd2NzParams", "nValue", params.nValue, 0, 16384, where);
    if constexpr (small)
        check_limit("DataCopy with Nd2NzParams and small channels", "dValue", params.dValue, 0, small_channels, where);
    else if constexpr (!is_checking_variant)
        check_extent("DataCopy with Nd2NzParams", "destination", dst, fractal_extent<T>(params, params.ndNum), where);
}

// Elements of a row in one column of fractals, as the cube writes them.
template <class T>
inline constexpr uint32_t fractal_width = sizeof(T) == 1 ? 32 : 16;

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool enableSmallC0 = false>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    require_route("DataCopy", TPosition::GM, dst.position(), where);
    require_memory_of("DataCopy", "source", src, where);
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    check_nd_to_nz<enableSmallC0>(dst, intriParams, where);
    name_operands<enableSmallC0>(dst, src, intriParams);
    instruction.tell();
    if constexpr (enableSmallC0)
        copy_small_channels<T>(dst.GetPhyAddr(), src.GetPhyAddr(), intriParams);
    else
        copy_nd_to_nz<T>(dst.GetPhyAddr(), src.GetPhyAddr(), intriParams);
}

template <typename T, bool enableSmallC0 = false>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Nd2NzParams& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    require_route("DataCopy", src.position(), dst.position(), where);
    const Instruction instruction(copy_pipe(dst, src), "DataCopy", where);
    check_nd_to_nz<enableSmallC0>(dst, intriParams, where);
    const uint64_t bytes =
        enableSmallC0 ? small_extent<T>(intriParams) : fractal_extent<T>(intriParams, intriParams.ndNum);
    if constexpr (is_checking_variant) {
        name_operands<enableSmallC0>(
            stored_tensor("DataCopy with Nd2NzParams", dst, memory_of(src.position()), bytes, where), src, intriParams);
        instruction.tell();
    }
    T* const to = copy_target("DataCopy with Nd2NzParams", dst, memory_of(src.position()), bytes, where);
    if constexpr (enableSmallC0)
        copy_small_channels<T>(to, src.GetPhyAddr(), intriParams);
    else
        copy_nd_to_nz<T>(to, src.GetPhyAddr(), intriParams);
}

template <typename T, bool enableSmallC0 = false>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Dn2NzParams& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "DataCopy with Dn2NzParams: elements of less than a byte cannot be transposed");
    require_route("DataCopy", TPosition::GM, dst.position(), where);
    require_memory_of("DataCopy", "source", src, where);
    require_block("DataCopy with Dn2NzParams", "destination", dst, where);
    const Instruction instruction(PIPE_MTE2, "DataCopy", where);
    name_operands<enableSmallC0>(dst, src, intriParams);
    instruction.tell();
    if constexpr (enableSmallC0) {
        for (uint32_t i = 0; i < intriParams.dnNum; ++i)
            for (uint32_t n = 0; n < intriParams.nValue; ++n)
                for (uint32_t d = 0; d < small_channels; ++d)
                    dst.GetPhyAddr()[uint64_t{i} * intriParams.dstNzMatrixStride + n * small_channels + d] =
                        d < intriParams.dValue
                            ? src.GetPhyAddr()[i * intriParams.srcDnMatrixStride + d * intriParams.srcDValue + n]
                            : T{};
    } else {
        if constexpr (!is_checking_variant)
            check_extent("DataCopy with Dn2NzParams", "destination", dst,
                         fractal_extent<T>(intriParams, intriParams.dnNum), where);
        copy_dn_to_nz<T>(dst.GetPhyAddr(), src.GetPhyAddr(), intriParams);
    }
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Nz2NdParamsFull& intriParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "DataCopy with Nz2NdParamsFull: elements of less than a byte are not supported");
    constexpr uint32_t width = fractal_width<T>;
    require_route("DataCopy", src.position(), TPosition::GM, where);
    require_block("DataCopy with Nz2NdParamsFull", "source", src, where);
    require_memory_of("DataCopy", "destination", dst, where);
    const auto& p = intriParams;
    const Instruction instruction(copy_pipe(memory_of(src.position()), Hardware::GM), "DataCopy", where);
    if constexpr (is_checking_variant) {
        name_rows("destination", dst, 0, {p.nValue, uint64_t{p.dValue} * sizeof(T), 0, 0},
                  static_cast<int64_t>(p.dstDStride * sizeof(T)), p.dstNdMatrixStride * sizeof(T), p.ndNum);
        for (uint64_t i = 0; i < p.ndNum; ++i)
            for (uint32_t c = 0; c < p.dValue; c += width)
                name_rows("source", src,
                          (i * p.srcNdMatrixStride * 256 + uint64_t{c / width} * p.srcNStride * 16) * sizeof(T),
                          {p.nValue, smaller<uint32_t>(width, p.dValue - c) * sizeof(T), 0, 0}, width * sizeof(T));
        instruction.tell();
    }
    Outlet outlet(element_kind<T>);
    for (uint32_t i = 0; i < p.ndNum; ++i)
        for (uint32_t r = 0; r < p.nValue; ++r)
            for (uint32_t c = 0; c < p.dValue; c += width) {
                const uint64_t from = uint64_t{i} * p.srcNdMatrixStride * 256 +
                                      uint64_t{c / width} * p.srcNStride * 16 + uint64_t{r} * width;
                const uint64_t count = smaller<uint32_t>(width, p.dValue - c);
                if constexpr (!is_checking_variant)
                    check_extent("DataCopy with Nz2NdParamsFull", "source", src, (from + count) * sizeof(T), where);
                outlet.put(dst.GetPhyAddr(uint64_t{i} * p.dstNdMatrixStride + uint64_t{r} * p.dstDStride + c),
                           src.GetPhyAddr() + from, count * sizeof(T));
            }
}

}  // namespace AscendC

namespace canopy::kernel {

// One element of a converting copy: scaled, optionally clamped at 0, rounded to the type.
template <class T, class U>
inline T copied_as(U value, float scale, bool relu) {
    float number = static_cast<float>(value) * scale;
    if (relu && number < 0) number = 0;
    if constexpr (is_floating<T>) {
        return static_cast<T>(number);
    } else if (is_same<T, U> && scale == 1.0f) {
        return relu && value < U{} ? T{} : static_cast<T>(value);
    } else {
        constexpr float low = sizeof(T) == 1 ? -128.0f : sizeof(T) == 2 ? -32768.0f : -2147483648.0f;
        constexpr float high = sizeof(T) == 1 ? 127.0f : sizeof(T) == 2 ? 32767.0f : 2147483520.0f;
        const float rounded = __builtin_rintf(number);
        return static_cast<T>(rounded < low ? low : rounded > high ? high : rounded);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

// Between the cube's output and the unified buffer, row lengths count fractals of 16 x 16 elements (BLOCK_MODE_MATRIX)
// or the first rows of fractals (BLOCK_MODE_VECTOR). Gaps count blocks of 32 bytes in the unified buffer and fractals
// in the other memory. The type may change.
template <typename T, typename U>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams& enhancedParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1 && packing<U> == 1, "DataCopy with DataCopyEnhancedParams: no types below a byte");
    const BlockMode mode = enhancedParams.blockMode;
    if (mode == BlockMode::BLOCK_MODE_NORMAL) {
        if constexpr (sizeof(T) == sizeof(U) || (is_same<T, float> && is_any_of<U, half, bfloat16_t>))
            return DataCopy(dst, src, intriParams, where);
        else
            fail(where, "DataCopy with DataCopyEnhancedParams: BLOCK_MODE_NORMAL cannot change the type");
    }
    if (mode != BlockMode::BLOCK_MODE_MATRIX && mode != BlockMode::BLOCK_MODE_VECTOR)
        fail(where, "DataCopy with DataCopyEnhancedParams: blockMode %u is not supported", static_cast<unsigned>(mode));
    require_route("DataCopy", src.position(), dst.position(), where);
    float scale = 1.0f;
    if (enhancedParams.deqScale == DeqScale::DEQ) {
        const auto bits = static_cast<uint32_t>(enhancedParams.deqValue);
        __builtin_memcpy(&scale, &bits, sizeof scale);
    } else if (enhancedParams.deqScale != DeqScale::DEQ_NONE) {
        fail(where, "DataCopy with DataCopyEnhancedParams: deqScale %u is not supported",
             static_cast<unsigned>(enhancedParams.deqScale));
    }
    const bool matrix = mode == BlockMode::BLOCK_MODE_MATRIX;
    const uint64_t used = matrix ? 256 : 16;
    const auto step = [&](TPosition position) {
        return matrix || memory_of(position) == Hardware::L0C ? uint64_t{256} : uint64_t{16};
    };
    const auto gap = [&](TPosition position, uint64_t size) {
        return memory_of(position) == Hardware::L0C ? uint64_t{256} : 32 / size;
    };
    const uint64_t to_step = step(dst.position());
    const uint64_t from_step = step(src.position());
    const uint64_t row = intriParams.blockLen * to_step;
    const uint64_t rows = intriParams.blockCount;
    const uint64_t end =
        rows == 0 ? 0 : rows * row + (rows - 1) * intriParams.dstStride * gap(dst.position(), sizeof(T));
    const Instruction instruction(copy_pipe(dst, src), "DataCopy", where);
    if constexpr (is_checking_variant) {
        const auto name_bursts = [&](const char* operand, const auto& tensor, uint64_t size, uint64_t pitch,
                                     uint64_t burst) {
            name_rows(operand, tensor, 0, {intriParams.blockLen, used * size, 0, 0}, static_cast<int64_t>(pitch * size),
                      burst * size, rows);
        };
        name_bursts("destination", dst, sizeof(T), to_step,
                    row + intriParams.dstStride * gap(dst.position(), sizeof(T)));
        name_bursts("source", src, sizeof(U), from_step,
                    intriParams.blockLen * from_step + intriParams.srcStride * gap(src.position(), sizeof(U)));
        instruction.tell();
    }
    T* to = copy_target("DataCopy with DataCopyEnhancedParams", dst, memory_of(src.position()), end * sizeof(T), where);
    const U* from = src.GetPhyAddr();
    for (uint32_t i = 0; i < intriParams.blockCount; ++i) {
        for (uint32_t j = 0; j < intriParams.blockLen; ++j, to += to_step, from += from_step)
            for (uint64_t e = 0; e < used; ++e) to[e] = copied_as<T>(from[e], scale, enhancedParams.isRelu);
        to += intriParams.dstStride * gap(dst.position(), sizeof(T));
        from += intriParams.srcStride * gap(src.position(), sizeof(U));
    }
}

// Copies a bias from the unified buffer to the cube's output, on chips whose cores have both: each block of 16 values
// becomes the 16 rows of a fractal. Gaps count blocks of 32 bytes in the source and fractals in the destination.
template <typename T, typename U>
inline void BroadCastVecToMM(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t blockCount,
                             const uint8_t blockLen, const uint8_t srcGap, const uint8_t dstGap,
                             canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(coupled, "BroadCastVecToMM: this chip has a buffer for the bias; copy it to position C2");
    static_assert(is_same<T, U>, "BroadCastVecToMM: the bias has the type of the result");
    require_memory(dst, Hardware::L0C, "the destination of BroadCastVecToMM", where);
    require_memory(src, Hardware::UB, "the source of BroadCastVecToMM", where);
    constexpr uint32_t side = 16;
    const uint64_t blocks = static_cast<uint64_t>(blockCount) * blockLen;
    const uint64_t gaps = blockCount > 0 ? static_cast<uint64_t>(blockCount) - 1 : 0;
    const Instruction instruction(PIPE_V, "BroadCastVecToMM", where);
    check_extent("BroadCastVecToMM", "destination", dst, (blocks + gaps * dstGap) * side * side * sizeof(T), where);
    check_extent("BroadCastVecToMM", "source", src, blocks * side * sizeof(U) + gaps * srcGap * block_bytes, where);
    T* to = dst.GetPhyAddr();
    const U* from = src.GetPhyAddr();
    for (int32_t burst = 0; burst < blockCount; ++burst) {
        for (uint32_t block = 0; block < blockLen; ++block, from += side)
            for (uint32_t row = 0; row < side; ++row, to += side) __builtin_memcpy(to, from, side * sizeof(T));
        to += dstGap * side * side;
        from += srcGap * block_bytes / sizeof(U);
    }
}

// Copies from and to global memory ignore the enhanced parameters.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams&, canopy::kernel::Where where = canopy::kernel::here()) {
    DataCopy(dst, src, intriParams, where);
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams&, canopy::kernel::Where where = canopy::kernel::here()) {
    DataCopy(dst, src, intriParams, where);
}

}  // namespace AscendC

#endif
