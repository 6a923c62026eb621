// SPDX-License-Identifier: Apache-2.0
// Parameter structures of DataCopy, DataCopyPad and Copy.
#ifndef CANOPY_KERNEL_DATA_COPY_PARAMS_H
#define CANOPY_KERNEL_DATA_COPY_PARAMS_H

#include "canopy_kernel/core/core.h"

enum class pad_t : uint8_t {
    PAD_NONE = 0,
    PAD_MODE1,
    PAD_MODE2,
    PAD_MODE3,
    PAD_MODE4,
    PAD_MODE5,
    PAD_MODE6,
    PAD_MODE7,
    PAD_MODE8
};

namespace AscendC {

// Rows of `blockLen` blocks of 32 bytes; strides are gaps from the end of one row to the start of the next.
struct DataCopyParams {
    DataCopyParams() : srcStride(0), dstStride(0) {}
    DataCopyParams(const uint16_t count, const uint16_t len, const uint16_t srcStrideIn, const uint16_t dstStrideIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn) {}

    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    union {
        uint16_t srcGap;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap;
        uint16_t dstStride;
    };
};

// Rows of `blockLen` bytes; a stride counts bytes in global memory and blocks of 32 bytes in local memory.
struct DataCopyExtParams {
#if __NPU_ARCH__ >= 3003
    using Stride = int64_t;
#else
    using Stride = uint32_t;
#endif
    DataCopyExtParams() = default;
    DataCopyExtParams(const uint16_t count, const uint32_t len, const Stride srcStrideIn, const Stride dstStrideIn,
                      const uint32_t rsvIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn), rsv(rsvIn) {}

    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    Stride srcStride = 0;
    Stride dstStride = 0;
    uint32_t rsv = 0;
};

// Elements of padding left and right of each row.
struct DataCopyPadParams {
    DataCopyPadParams() = default;
    DataCopyPadParams(const bool isPadIn, const uint8_t left, const uint8_t right, const uint64_t value)
        : isPad(isPadIn), leftPadding(left), rightPadding(right), paddingValue(value) {}

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    using TYPE = T;

    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(const bool isPadIn, const uint8_t left, const uint8_t right, const T value)
        : isPad(isPadIn), leftPadding(left), rightPadding(right), paddingValue(value) {}
    // For a T that has no implicit conversion from numbers.
    template <typename Number, typename = canopy::kernel::only_if<!canopy::kernel::is_same<Number, T>>>
    DataCopyPadExtParams(const bool isPadIn, const uint8_t left, const uint8_t right, const Number value)
        : isPad(isPadIn), leftPadding(left), rightPadding(right), paddingValue{static_cast<T>(value)} {}

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue{};
};

// Layout of rows in local memory: each at a multiple of 32 bytes, or contiguous.
enum class PaddingMode : uint8_t { Normal = 0, Compact };

// One dimension of a slice: pieces from startIndex to endIndex with `stride` elements between them. A piece is
// `burstLen` blocks of 32 bytes in the innermost (first) dimension, and one index in the others. The dimension has
// `shapeValue` elements.
struct SliceInfo {
    SliceInfo() = default;
    SliceInfo(const uint32_t start, const uint32_t end, const uint32_t strideIn, const uint32_t burst,
              const uint32_t shape = 0)
        : startIndex(start), endIndex(end), stride(strideIn), burstLen(burst), shapeValue(shape) {}

    uint32_t startIndex = 0;
    uint32_t endIndex = 31;
    uint32_t stride = 0;
    uint32_t burstLen = 1;
    uint32_t shapeValue = 0;
};

// Row-major matrices to fractals. Source strides count elements; dstNzC0Stride (between columns of blocks) and
// dstNzNStride (between rows) count blocks of 32 bytes; dstNzMatrixStride counts elements.
struct Nd2NzParams {
    Nd2NzParams() = default;
    Nd2NzParams(const uint16_t ndNumIn, const uint16_t nValueIn, const uint32_t dValueIn,
                const uint64_t srcNdMatrixStrideIn, const uint64_t srcDValueIn, const uint16_t dstNzC0StrideIn,
                const uint16_t dstNzNStrideIn, const uint32_t dstNzMatrixStrideIn)
        : ndNum(ndNumIn),
          nValue(nValueIn),
          dValue(dValueIn),
          srcNdMatrixStride(srcNdMatrixStrideIn),
          srcDValue(srcDValueIn),
          dstNzC0Stride(dstNzC0StrideIn),
          dstNzNStride(dstNzNStrideIn),
          dstNzMatrixStride(dstNzMatrixStrideIn) {}

    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint32_t dValue = 0;
    uint64_t srcNdMatrixStride = 0;
    uint64_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint32_t dstNzMatrixStride = 0;
};
using Gm2L1Nd2NzParams = Nd2NzParams;

// The same for column-major matrices: element (n, d) is d * srcDValue + n elements after the start.
struct Dn2NzParams {
    Dn2NzParams() = default;
    Dn2NzParams(const uint16_t dnNumIn, const uint16_t nValueIn, const uint32_t dValueIn,
                const uint64_t srcDnMatrixStrideIn, const uint64_t srcDValueIn, const uint16_t dstNzC0StrideIn,
                const uint16_t dstNzNStrideIn, const uint32_t dstNzMatrixStrideIn)
        : dnNum(dnNumIn),
          nValue(nValueIn),
          dValue(dValueIn),
          srcDnMatrixStride(srcDnMatrixStrideIn),
          srcDValue(srcDValueIn),
          dstNzC0Stride(dstNzC0StrideIn),
          dstNzNStride(dstNzNStrideIn),
          dstNzMatrixStride(dstNzMatrixStrideIn) {}

    uint16_t dnNum = 0;
    uint16_t nValue = 0;
    uint32_t dValue = 0;
    uint64_t srcDnMatrixStride = 0;
    uint64_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint32_t dstNzMatrixStride = 0;
};

// Fractals to row-major matrices when copying out. Units: 256 elements for srcNdMatrixStride, 16 elements for
// srcNStride (between columns of fractals), one element for the destination's strides.
struct Nz2NdParamsFull {
    Nz2NdParamsFull() = default;
    Nz2NdParamsFull(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                    const uint16_t srcNdMatrixStrideIn, const uint16_t srcNStrideIn, const uint16_t dstDStrideIn,
                    const uint16_t dstNdMatrixStrideIn)
        : ndNum(ndNumIn),
          nValue(nValueIn),
          dValue(dValueIn),
          srcNdMatrixStride(srcNdMatrixStrideIn),
          srcNStride(srcNStrideIn),
          dstDStride(dstDStrideIn),
          dstNdMatrixStride(dstNdMatrixStrideIn) {}

    uint16_t ndNum = 1;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcNStride = 0;
    uint16_t dstDStride = 0;
    uint16_t dstNdMatrixStride = 0;
};

enum class BlockMode : uint8_t {
    BLOCK_MODE_NORMAL = 0,
    BLOCK_MODE_MATRIX,
    BLOCK_MODE_VECTOR,
    BLOCK_MODE_SMALL_CHANNEL,
    BLOCK_MODE_DEPTHWISE
};

enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };

// Copies between the cube's output and the unified buffer, on chips whose cores have both units.
struct DataCopyEnhancedParams {
    DataCopyEnhancedParams() = default;
    DataCopyEnhancedParams(const BlockMode blockModeIn, const DeqScale deqScaleIn, const uint64_t deqValueIn,
                           const uint8_t sidStoreModeIn, const bool isReluIn, const pad_t padModeIn,
                           const uint64_t padValueIn)
        : blockMode(blockModeIn),
          deqScale(deqScaleIn),
          deqValue(deqValueIn),
          sidStoreMode(sidStoreModeIn),
          isRelu(isReluIn),
          padMode(padModeIn),
          padValue(padValueIn) {}

    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
    pad_t padMode = pad_t::PAD_NONE;
    uint64_t padValue = 0;
    uint64_t deqTensorAddr = 0;
};

// Strides between blocks and between repeats, in blocks of 32 bytes.
struct CopyRepeatParams {
    CopyRepeatParams() = default;
    CopyRepeatParams(const uint16_t dstStrideIn, const uint16_t srcStrideIn, uint16_t dstRepeatSizeIn,
                     uint16_t srcRepeatSizeIn)
        : dstStride(dstStrideIn),
          srcStride(srcStrideIn),
          dstRepeatSize(dstRepeatSizeIn),
          srcRepeatSize(srcRepeatSizeIn) {}

    uint16_t dstStride = DEFAULT_BLK_STRIDE;
    uint16_t srcStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

// Two loops around DataCopyPad; the first is the inner one. Strides are in bytes.
struct LoopModeParams {
    LoopModeParams() = default;
    LoopModeParams(const uint32_t size1, const uint32_t size2, const uint64_t srcStride1, const uint64_t dstStride1,
                   const uint64_t srcStride2, const uint64_t dstStride2)
        : loop1Size(size1),
          loop2Size(size2),
          loop1SrcStride(srcStride1),
          loop1DstStride(dstStride1),
          loop2SrcStride(srcStride2),
          loop2DstStride(dstStride2) {}

    uint32_t loop1Size = 0;
    uint32_t loop2Size = 0;
    uint64_t loop1SrcStride = 0;
    uint64_t loop1DstStride = 0;
    uint64_t loop2SrcStride = 0;
    uint64_t loop2DstStride = 0;
};

enum class DataCopyMVType : uint8_t { UB_TO_OUT = 0, OUT_TO_UB };

// A copy in up to five dimensions, innermost first: sizes, strides in elements, and padding elements left and right of
// each dimension.
struct NdDmaConfig {
    static constexpr uint16_t unsetPad = 0xffff;

    bool isNearestValueMode = false;
    uint16_t loopLpSize = unsetPad;
    uint16_t loopRpSize = unsetPad;
    bool ascOptimize = false;
};
constexpr NdDmaConfig kDefaultNdDmaConfig = {};

template <uint8_t dim>
struct MultiCopyLoopInfo {
    uint64_t loopSrcStride[dim];
    uint32_t loopDstStride[dim];
    uint32_t loopSize[dim];
    uint8_t loopLpSize[dim];
    uint8_t loopRpSize[dim];
};

template <typename T, uint8_t dim>
struct MultiCopyParams {
    MultiCopyLoopInfo<dim> loopInfo;
    T constantValue;
};

template <uint8_t dim>
using NdDmaLoopInfo = MultiCopyLoopInfo<dim>;
template <typename T, uint8_t dim>
using NdDmaParams = MultiCopyParams<T, dim>;

}  // namespace AscendC

#endif
