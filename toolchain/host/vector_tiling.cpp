// SPDX-License-Identifier: Apache-2.0
// libtiling_api: temporary memory of the high-level vector operations. The operations use none here; programs divide UB
// by these sizes, so they are as large as on the chip where that is known, and one block otherwise.
#include "tiling/vector_tiling.h"

#include <algorithm>
#include <limits>

#include "checked_shape.h"

namespace AscendC {
namespace {

using host::block;
using host::bytes;
using host::elements;
using host::reject;
using host::round_up;
using Platform = platform_ascendc::PlatformAscendC;

constexpr uint64_t repeat = 256;  // bytes of one repeat of a vector instruction

// Both sizes, at least one block.
void answer(uint64_t largest, uint64_t smallest, uint32_t& maxValue, uint32_t& minValue) {
    minValue = bytes(std::max<uint64_t>(smallest, block));
    maxValue = std::max(bytes(largest), minValue);
}

// `factor` bytes for each byte of the operand, and for one repeat at least.
bool answer_factor(const char* name, const TensorShape& shape, uint32_t typeSize, uint32_t factor, uint32_t& maxValue,
                   uint32_t& minValue) {
    const uint64_t count = elements(name, shape);
    if (count == 0) return false;
    if (typeSize == 0) return reject(name, "typeSize is 0");
    answer(factor * count * typeSize, factor * repeat, maxValue, minValue);
    return true;
}

uint32_t by_type(uint32_t typeSize, uint32_t half_factor, uint32_t float_factor) {
    return typeSize == 2 ? half_factor : float_factor;
}

// Programs divide by the first result, so it is never 0.
void answer_live(uint32_t factor, uint32_t& count, uint32_t& extra) {
    count = std::max(factor, 1u);
    extra = 0;
}

// The sizes for operations that need nothing on the chip either, or whose needs are not known.
void answer_block(const char* name, const TensorShape& shape, uint32_t& maxValue, uint32_t& minValue) {
    if (elements(name, shape) != 0) answer(block, block, maxValue, minValue);
}

}  // namespace

// ---- element-wise operations ---------------------------------------------------------------------------------------

#define CANOPY_DEFINE(name, half_factor, float_factor)                                                               \
    void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool,                  \
                                  uint32_t& maxValue, uint32_t& minValue) {                                          \
        answer_factor("Get" #name "MaxMinTmpSize", srcShape, typeSize, by_type(typeSize, half_factor, float_factor), \
                      maxValue, minValue);                                                                           \
    }                                                                                                                \
    void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {   \
        answer_live(by_type(typeSize, half_factor, float_factor), maxLiveNodeCount, extraBuf);                       \
    }
CANOPY_MATH_OPERATIONS(CANOPY_DEFINE)
#undef CANOPY_DEFINE

#define CANOPY_DEFINE(name)                                                                                 \
    void Get##name##MaxMinTmpSize(const Platform&, const TensorShape& srcShape, const uint32_t, const bool, \
                                  uint32_t& maxValue, uint32_t& minValue) {                                 \
        answer_block("Get" #name "MaxMinTmpSize", srcShape, maxValue, minValue);                            \
    }                                                                                                       \
    void Get##name##TmpBufferFactorSize(const Platform&, const uint32_t, uint32_t& maxLivedNodeCount,       \
                                        uint32_t& extraBuf) {                                               \
        answer_live(0, maxLivedNodeCount, extraBuf);                                                        \
    }
CANOPY_PLATFORM_OPERATIONS(CANOPY_DEFINE)
#undef CANOPY_DEFINE

namespace {

uint32_t round_factor(const Platform& platform, uint32_t typeSize) {
    return by_type(typeSize, 1, 0) + (platform.GetCurNpuArch() == 2002 ? 1 : 0);
}

uint32_t sine_factor(uint32_t typeSize, bool reuse) { return by_type(typeSize, 8, reuse ? 2 : 3); }

bool is_scalar(const TensorShape& shape) { return shape.GetShapeSize() == 1; }

}  // namespace

void GetRoundMaxMinTmpSize(const Platform& platform, const TensorShape& srcShape, const uint32_t typeSize, const bool,
                           uint32_t& maxValue, uint32_t& minValue) {
    answer_factor("GetRoundMaxMinTmpSize", srcShape, typeSize, round_factor(platform, typeSize), maxValue, minValue);
}

void GetRoundTmpBufferFactorSize(const Platform& platform, const uint32_t typeSize, uint32_t& maxLiveNodeCount,
                                 uint32_t& extraBuf) {
    answer_live(round_factor(platform, typeSize), maxLiveNodeCount, extraBuf);
}

bool GetExpMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, uint32_t& maxValue,
                         uint32_t& minValue) {
    return answer_factor("GetExpMaxMinTmpSize", srcShape, typeSize, by_type(typeSize, 8, 3), maxValue, minValue);
}

void GetExpTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
    answer_live(by_type(typeSize, 8, 3), maxLiveNodeCount, extraBuffer);
}

#define CANOPY_DEFINE(name)                                                                                            \
    void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,      \
                                  uint32_t& maxValue, uint32_t& minValue) {                                            \
        answer_factor("Get" #name "MaxMinTmpSize", srcShape, typeSize, sine_factor(typeSize, isReuseSource), maxValue, \
                      minValue);                                                                                       \
    }                                                                                                                  \
    void Get##name##MaxMinTmpSize(const name##Config&, const TensorShape& srcShape, const uint32_t typeSize,           \
                                  const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue) {                  \
        Get##name##MaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);                               \
    }                                                                                                                  \
    void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {     \
        answer_live(sine_factor(typeSize, false), maxLiveNodeCount, extraBuf);                                         \
    }                                                                                                                  \
    void Get##name##TmpBufferFactorSize(const name##Config&, const uint32_t typeSize, uint32_t& maxLiveNodeCount,      \
                                        uint32_t& extraBuf) {                                                          \
        answer_live(sine_factor(typeSize, false), maxLiveNodeCount, extraBuf);                                         \
    }
CANOPY_DEFINE(Sin)
CANOPY_DEFINE(Cos)
#undef CANOPY_DEFINE

// One byte for each element.
void GetClampMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, const bool, uint32_t& maxValue,
                           uint32_t& minValue) {
    answer_factor("GetClampMaxMinTmpSize", srcShape, 1, 1, maxValue, minValue);
}

void GetClampTmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(1, maxLiveNodeCount, extraBuf);
}

void GetPowerMaxMinTmpSize(const TensorShape& srcShape1, const TensorShape& srcShape2, const bool,
                           const uint32_t typeSize, const bool, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetPowerMaxMinTmpSize";
    if (elements(name, srcShape1) == 0 || elements(name, srcShape2) == 0) return;
    const TensorShape& larger = is_scalar(srcShape1) ? srcShape2 : srcShape1;
    answer_factor(name, larger, typeSize, by_type(typeSize, 14, is_scalar(srcShape2) ? 5 : 4), maxValue, minValue);
}

void GetPowerTmpBufferFactorSize(const bool, const bool expIsTensor, const bool, const uint32_t typeSize,
                                 uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
    answer_live(by_type(typeSize, 14, expIsTensor ? 4 : 5), maxLiveNodeCount, extraBuffer);
}

void GetCumSumMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, const bool,
                            uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetCumSumMaxMinTmpSize";
    if (srcShape.GetDimNum() != 2)
        reject(name, "the shape must have 2 dimensions");
    else
        answer_factor(name, srcShape, typeSize, 1, maxValue, minValue);
}

// ---- activations ---------------------------------------------------------------------------------------------------

void GetGeluMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, uint32_t& maxValue, uint32_t& minValue) {
    const uint64_t count = elements("GetGeluMaxMinTmpSize", srcShape);
    if (count != 0) answer(12 * count, 3 * repeat, maxValue, minValue);
}

uint32_t GetGeluMaxTmpSize(const TensorShape& srcShape, const uint32_t typeSize) {
    uint32_t largest = 0, smallest = 0;
    GetGeluMaxMinTmpSize(srcShape, typeSize, largest, smallest);
    return largest;
}

uint32_t GetGeluMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize) {
    uint32_t largest = 0, smallest = 0;
    GetGeluMaxMinTmpSize(srcShape, typeSize, largest, smallest);
    return smallest;
}

#define CANOPY_DEFINE(name)                                                                                      \
    void name(const TensorShape& srcShape, const uint32_t, const bool, uint32_t& maxValue, uint32_t& minValue) { \
        answer_block(#name, srcShape, maxValue, minValue);                                                       \
    }
CANOPY_DEFINE(GetGeGLUMaxMinTmpSize)
CANOPY_DEFINE(GetReGluMaxMinTmpSize)
CANOPY_DEFINE(GetSigmoidMaxMinTmpSize)
CANOPY_DEFINE(GetSiluTmpSize)
CANOPY_DEFINE(GetSwishTmpSize)
CANOPY_DEFINE(GetReduceXorSumMaxMinTmpSize)
CANOPY_DEFINE(GetWelfordFinalizeMaxMinTmpSize)
#undef CANOPY_DEFINE

void GetSwiGLUMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, uint32_t& maxValue, uint32_t& minValue,
                            const bool) {
    answer_block("GetSwiGLUMaxMinTmpSize", srcShape, maxValue, minValue);
}

void GetGeGLUTmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}

void GetSwiGLUTmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
    answer_live(0, maxLiveNodeCount, extraBuffer);
}

// ---- quantisation --------------------------------------------------------------------------------------------------

#define CANOPY_DEFINE(name)                                                                          \
    void name(const TensorShape& srcShape, const uint32_t, uint32_t& maxValue, uint32_t& minValue) { \
        answer_block(#name, srcShape, maxValue, minValue);                                           \
    }
CANOPY_DEFINE(GetAscendQuantMaxMinTmpSize)
CANOPY_DEFINE(GetQuantizeMaxMinTmpSize)
CANOPY_DEFINE(GetAscendDequantMaxMinTmpSize)
CANOPY_DEFINE(GetDequantizeMaxMinTmpSize)
#undef CANOPY_DEFINE

void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}
void GetQuantizeTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}
void GetAscendDequantTmpBufferFactorSize(const TensorShape&, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}
void GetDequantizeTmpBufferFactorSize(const TensorShape&, uint32_t& maxLiveNodeCnt, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCnt, extraBuf);
}

namespace {

void answer_anti_quant(const char* name, const TensorShape& shape, const TensorShape& scales, uint32_t& maxValue,
                       uint32_t& minValue) {
    if (elements(name, scales) != 0) answer_block(name, shape, maxValue, minValue);
}

}  // namespace

void GetAscendAntiQuantMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool, TensorDataType,
                                     TensorDataType, uint32_t& maxValue, uint32_t& minValue) {
    answer_anti_quant("GetAscendAntiQuantMaxMinTmpSize", srcShape, scaleShape, maxValue, minValue);
}

uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool, TensorDataType,
                                      TensorDataType) {
    uint32_t largest = 0, smallest = 0;
    answer_anti_quant("GetAscendAntiQuantMaxTmpSize", srcShape, scaleShape, largest, smallest);
    return largest;
}

uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool, TensorDataType,
                                      TensorDataType) {
    uint32_t largest = 0, smallest = 0;
    answer_anti_quant("GetAscendAntiQuantMinTmpSize", srcShape, scaleShape, largest, smallest);
    return smallest;
}

void GetAscendAntiQuantTmpBufferFactorSize(const TensorShape&, const TensorShape&, bool, TensorDataType, TensorDataType,
                                           uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}

void GetAntiQuantizeMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool, TensorDataType,
                                  TensorDataType, uint32_t& maxValue, uint32_t& minValue) {
    answer_anti_quant("GetAntiQuantizeMaxMinTmpSize", srcShape, scaleShape, maxValue, minValue);
}

void GetAntiQuantizeTmpBufferFactorSize(const TensorShape&, const TensorShape&, TensorDataType, TensorDataType,
                                        uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
    answer_live(0, maxLiveNodeCount, extraBuf);
}

// ---- reductions ----------------------------------------------------------------------------------------------------

namespace {

void answer_reduction(const char* name, const TensorShape& shape, TensorDataType type, ReducePattern pattern,
                      uint32_t& maxValue, uint32_t& minValue) {
    if (shape.GetDimNum() != 2) {
        reject(name, "the shape must have 2 dimensions");
        return;
    }
    if (pattern != ReducePattern::AR && pattern != ReducePattern::RA) {
        reject(name, "the pattern must be AR or RA");
        return;
    }
    const auto size = static_cast<uint32_t>(ge::GetSizeByDataType(type));
    if (size == 0) {
        reject(name, "the data type is not supported");
        return;
    }
    const uint64_t count = elements(name, shape);
    if (count == 0) return;
    // A result or a row, whichever is longer, in float.
    const auto width = static_cast<uint64_t>(std::max(shape.GetDim(0), shape.GetDim(1)));
    answer(count * size, round_up(width * sizeof(float), block), maxValue, minValue);
}

uint64_t sum_bytes(uint64_t n, uint64_t size) { return round_up((n * size + repeat - 1) / repeat * size, block); }

}  // namespace

#define CANOPY_DEFINE(name)                                                                                          \
    void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const TensorDataType dataType, ReducePattern pattern, \
                                  bool, bool, uint32_t& maxValue, uint32_t& minValue) {                              \
        answer_reduction("Get" #name "MaxMinTmpSize", srcShape, dataType, pattern, maxValue, minValue);              \
    }
CANOPY_REDUCTIONS(CANOPY_DEFINE)
#undef CANOPY_DEFINE

void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t& maxSize, uint32_t& minSize) {
    if (n == 0 || typeSize == 0)
        reject("GetSumMaxMinTmpSize", "n and typeSize must not be 0");
    else
        answer(sum_bytes(n, typeSize), sum_bytes(n, typeSize), maxSize, minSize);
}

void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t accTypeSize, const bool,
                          uint32_t& maxSize, uint32_t& minSize) {
    if (n == 0 || srcTypeSize == 0 || accTypeSize < srcTypeSize) {
        reject("GetMeanMaxMinTmpSize", "n and the sizes must not be 0, and accTypeSize not below srcTypeSize");
        return;
    }
    // Narrow elements are widened first.
    const uint64_t widened = accTypeSize == srcTypeSize ? 0 : round_up(uint64_t{n} * accTypeSize, block);
    answer(sum_bytes(n, accTypeSize) + widened, sum_bytes(n, accTypeSize) + widened, maxSize, minSize);
}

void GetMeanTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
    answer_live(by_type(typeSize, 2, 1), maxLiveNodeCount, extraBuffer);
}

// ---- sorting -------------------------------------------------------------------------------------------------------

namespace {

bool answer_top_k(int32_t inner, int32_t outter, TopKMode mode, uint32_t size, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetTopKMaxMinTmpSize";
    if (inner <= 0 || outter <= 0 || inner % 32 != 0 || inner > 4096)
        return reject(name, "inner must be a multiple of 32 up to 4096, and outter positive");
    if (mode == TopKMode::TOPK_NSMALL && inner != 32) return reject(name, "inner must be 32 in the mode TOPK_NSMALL");
    if (size != 2 && size != 4) return reject(name, "an element must have 2 or 4 bytes");
    // Pairs of value and index, twice.
    const uint64_t row = 2 * 8 * static_cast<uint64_t>(inner);
    answer(row * (mode == TopKMode::TOPK_NSMALL ? static_cast<uint64_t>(outter) : 1), row, maxValue, minValue);
    return true;
}

}  // namespace

bool GetTopKMaxMinTmpSize(const Platform&, const int32_t inner, const int32_t outter, const bool, const bool,
                          enum TopKMode mode, const bool, const uint32_t dataTypeSize, uint32_t& maxValue,
                          uint32_t& minValue) {
    return answer_top_k(inner, outter, mode, dataTypeSize, maxValue, minValue);
}

bool GetTopKMaxMinTmpSize(const int32_t inner, const int32_t outter, const int32_t k, const bool, const bool,
                          enum TopKMode mode, const bool, TensorDataType dataType, const TopKConfig& config,
                          uint32_t& maxValue, uint32_t& minValue) {
    if (k < 1 || k > inner) return reject("GetTopKMaxMinTmpSize", "k must be in 1 to inner");
    const auto size = static_cast<uint32_t>(ge::GetSizeByDataType(dataType));
    if (config.algo == TopKAlgo::MERGE_SORT) return answer_top_k(inner, outter, mode, size, maxValue, minValue);
    if (inner <= 0 || outter <= 0 || size == 0)
        return reject("GetTopKMaxMinTmpSize", "inner and outter must be positive, and the data type a number");
    answer(2 * uint64_t(size + 4) * uint64_t(inner), 2 * uint64_t(size + 4) * uint64_t(inner), maxValue, minValue);
    return true;
}

void GetSortMaxMinTmpSize(const TensorShape& srcShape, TensorDataType valueType, TensorDataType indexType, bool,
                          const SortConfig& config, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetSortMaxMinTmpSize";
    const uint64_t count = elements(name, srcShape);
    if (count == 0) return;
    const auto value = static_cast<uint64_t>(ge::GetSizeByDataType(valueType));
    const bool indexes = config.hasSrcIndex || config.hasDstIndex;
    const auto index = indexes ? static_cast<uint64_t>(ge::GetSizeByDataType(indexType)) : 0;
    if (value == 0 || (indexes && index == 0)) {
        reject(name, "the data type is not supported");
        return;
    }
    // A second copy of everything that is sorted.
    answer(count * (value + index), count * (value + index), maxValue, minValue);
}

// Concat and Sort work on pairs of 8 bytes.
uint32_t GetConcatTmpSize(const Platform&, const uint32_t elemCount, const uint32_t) {
    return bytes(std::max<uint64_t>(8ull * elemCount, block));
}

uint32_t GetSortTmpSize(const Platform&, const uint32_t elemCount, const uint32_t) {
    return bytes(std::max<uint64_t>(8ull * elemCount, block));
}

// ---- layout, selection, numbers ------------------------------------------------------------------------------------

void GetBroadCastMaxMinTmpSize(const Platform&, const TensorShape& srcShape, const TensorShape& dstShape, uint32_t,
                               const bool, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetBroadCastMaxMinTmpSize";
    if (srcShape.GetDimNum() != dstShape.GetDimNum()) {
        reject(name, "both shapes must have the same number of dimensions");
        return;
    }
    for (std::size_t i = 0; i < srcShape.GetDimNum(); ++i)
        if (srcShape.GetDim(i) != dstShape.GetDim(i) && srcShape.GetDim(i) != 1) {
            reject(name, "a dimension that is broadcast must be 1 in the source");
            return;
        }
    answer_block(name, dstShape, maxValue, minValue);
}

void GetPadMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetPadMaxMinTmpSize";
    if (srcShape.GetDimNum() != 2) {
        reject(name, "the shape must have 2 dimensions");
        return;
    }
    if (const uint64_t count = elements(name, srcShape); count != 0)
        answer(64 * round_up(count, 16), 1024, maxValue, minValue);
}

void GetUnPadMaxMinTmpSize(const Platform&, const TensorShape& srcShape, const uint32_t, uint32_t& maxValue,
                           uint32_t& minValue) {
    answer_block("GetUnPadMaxMinTmpSize", srcShape, maxValue, minValue);
}

void GetTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const uint32_t transposeTypeIn,
                               uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetTransposeMaxMinTmpSize";
    if (!host::is_transpose(name, srcShape, transposeTypeIn)) return;
    answer_factor(name, srcShape, typeSize, 1, maxValue, minValue);
}

void GetConfusionTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize,
                                        const uint32_t transposeTypeIn, uint32_t& maxValue, uint32_t& minValue) {
    GetTransposeMaxMinTmpSize(srcShape, typeSize, transposeTypeIn, maxValue, minValue);
}

bool GetTransDataMaxMinTmpSize(const Platform&, const TensorShape& srcShape, const TensorShape& dstShape,
                               const TensorDataType dataType, const TransDataConfig&, uint32_t& maxValue,
                               uint32_t& minValue) {
    const char* name = "GetTransDataMaxMinTmpSize";
    if (elements(name, srcShape) == 0 || elements(name, dstShape) == 0) return false;
    if (ge::GetSizeByDataType(dataType) != 2) return reject(name, "an element must have 2 bytes");
    answer(block, block, maxValue, minValue);
    return true;
}

namespace {

struct Sizes {
    uint32_t largest = 0, smallest = 0;
};

bool select_sizes(const char* name, const TensorShape& first, const TensorShape& second, uint32_t source_size,
                  const TensorShape& mask, uint32_t mask_size, bool reuse, Sizes& sizes) {
    const auto scalar = [](const TensorShape& shape) { return shape.GetDimNum() == 0 || is_scalar(shape); };
    if (scalar(first) == scalar(second)) return reject(name, "one source must be a scalar, the other a tensor");
    const TensorShape& source = scalar(first) ? second : first;
    if (source.GetDimNum() != 2 || mask.GetDimNum() != 2) return reject(name, "tensors must have 2 dimensions");
    const uint64_t count = elements(name, source);
    if (count == 0 || elements(name, mask) == 0) return false;
    if (source_size == 0 || mask_size == 0) return reject(name, "the size of an element is 0");
    const uint64_t copy = mask.GetDim(1) != source.GetDim(1) && !reuse ? round_up(count * mask_size, block) : 0;
    const auto part = [&](uint64_t n) { return std::max<uint64_t>(1024, 2 * round_up(n, 32) + 512) + copy; };
    answer(part(count), part(std::min<uint64_t>(count, 4096)), sizes.largest, sizes.smallest);
    return true;
}

}  // namespace

#define CANOPY_DEFINE(name)                                                                                        \
    void Get##name##MaxMinTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,                      \
                                  const uint32_t srcTypeSize, const TensorShape& maskShape,                        \
                                  const uint32_t maskTypeSize, const bool isReuseMask, uint32_t& maxValue,         \
                                  uint32_t& minValue) {                                                            \
        Sizes sizes;                                                                                               \
        if (!select_sizes("Get" #name "MaxMinTmpSize", src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, \
                          isReuseMask, sizes))                                                                     \
            return;                                                                                                \
        maxValue = sizes.largest;                                                                                  \
        minValue = sizes.smallest;                                                                                 \
    }                                                                                                              \
    uint32_t Get##name##MaxTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,                     \
                                   const uint32_t srcTypeSize, const TensorShape& maskShape,                       \
                                   const uint32_t maskTypeSize, const bool isReuseMask) {                          \
        Sizes sizes;                                                                                               \
        select_sizes("Get" #name "MaxTmpSize", src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize,         \
                     isReuseMask, sizes);                                                                          \
        return sizes.largest;                                                                                      \
    }                                                                                                              \
    uint32_t Get##name##MinTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,                     \
                                   const uint32_t srcTypeSize, const TensorShape& maskShape,                       \
                                   const uint32_t maskTypeSize, const bool isReuseMask) {                          \
        Sizes sizes;                                                                                               \
        select_sizes("Get" #name "MinTmpSize", src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize,         \
                     isReuseMask, sizes);                                                                          \
        return sizes.smallest;                                                                                     \
    }
CANOPY_DEFINE(Select)
CANOPY_DEFINE(SelectWithBytesMask)
#undef CANOPY_DEFINE

void GetDropOutMaxMinTmpSize(const TensorShape& srcShape, const uint32_t, const bool, uint32_t& maxValue,
                             uint32_t& minValue) {
    if (const uint64_t count = elements("GetDropOutMaxMinTmpSize", srcShape); count != 0)
        answer(8 * count, 512, maxValue, minValue);
}

uint32_t GetDropOutMaxTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource) {
    Sizes sizes;
    GetDropOutMaxMinTmpSize(srcShape, typeSize, isReuseSource, sizes.largest, sizes.smallest);
    return sizes.largest;
}

uint32_t GetDropOutMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource) {
    Sizes sizes;
    GetDropOutMaxMinTmpSize(srcShape, typeSize, isReuseSource, sizes.largest, sizes.smallest);
    return sizes.smallest;
}

void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { answer(block, block, maxValue, minValue); }

void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) {
    GetArangeMaxMinTmpSize(maxValue, minValue);
}

}  // namespace AscendC
