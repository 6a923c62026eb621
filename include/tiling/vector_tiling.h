// SPDX-License-Identifier: Apache-2.0
// Host functions for the high-level vector operations: the bytes of temporary memory they use, and their tilings. Link
// with -ltiling_api -lplatform.
//
// The operations need no temporary memory here. The sizes are those that programs divide UB with, at least 32 bytes,
// so that a buffer of that size can be allocated. A shape that an operation does not support leaves the outputs as
// they are and prints a line to stderr.
//
// Threads: any.
#ifndef CANOPY_TILING_VECTOR_TILING_H
#define CANOPY_TILING_VECTOR_TILING_H

#include <cstdint>

#include "../graph/tensor.h"
#include "../kernel_tiling/kernel_tiling.h"
#include "../kernel_tiling/vector_configs.h"
#include "../platform/platform_ascendc.h"
#include "../register/tilingdata_base.h"

namespace optiling {

#define CANOPY_FIELD(type, name) TILING_DATA_FIELD_DEF(type, name)
#define CANOPY_TILING(name, FIELDS) BEGIN_TILING_DATA_DEF(name) FIELDS(CANOPY_FIELD) END_TILING_DATA_DEF
CANOPY_VECTOR_TILINGS(CANOPY_TILING)
#undef CANOPY_TILING
#undef CANOPY_FIELD

}  // namespace optiling

namespace AscendC {

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

// ---- element-wise operations: the name, and bytes of temporary memory per byte of the operands for 2-byte and 4-byte
// elements ----
// clang-format off
#define CANOPY_MATH_OPERATIONS(OPERATION) \
    OPERATION(Acos, 6, 2) OPERATION(Acosh, 2, 1) OPERATION(Asin, 6, 2) OPERATION(Asinh, 3, 3) OPERATION(Atan, 12, 5) \
    OPERATION(Atanh, 4, 1) OPERATION(Axpy, 4, 1) OPERATION(Ceil, 2, 1) OPERATION(Cosh, 6, 2) \
    OPERATION(Digamma, 16, 7) OPERATION(Erf, 8, 3) OPERATION(Erfc, 16, 7) OPERATION(Floor, 2, 1) \
    OPERATION(Fmod, 8, 1) OPERATION(Frac, 4, 0) OPERATION(Hypot, 0, 0) OPERATION(Lgamma, 26, 8) \
    OPERATION(Log, 0, 0) OPERATION(Log2, 0, 0) OPERATION(Log10, 0, 0) OPERATION(Sign, 3, 3) OPERATION(Sinh, 4, 1) \
    OPERATION(Tan, 10, 4) OPERATION(Tanh, 4, 1) OPERATION(Trunc, 2, 1) OPERATION(Xor, 1, 1)

// The same for operations whose functions take the platform first.
#define CANOPY_PLATFORM_OPERATIONS(OPERATION) \
    OPERATION(BitwiseAnd) OPERATION(BitwiseNot) OPERATION(BitwiseOr) OPERATION(BitwiseXor) OPERATION(Fma) \
    OPERATION(IsInf) OPERATION(IsNan) OPERATION(LogicalAnd) OPERATION(LogicalAnds) OPERATION(LogicalNot) \
    OPERATION(LogicalOr) OPERATION(LogicalOrs) OPERATION(LogicalXor) OPERATION(Rint) OPERATION(SinCos) \
    OPERATION(Where)

#define CANOPY_REDUCTIONS(OPERATION) \
    OPERATION(ReduceAll) OPERATION(ReduceAny) OPERATION(ReduceMax) OPERATION(ReduceMean) OPERATION(ReduceMin) \
    OPERATION(ReduceProd) OPERATION(ReduceSum)
// clang-format on

#define CANOPY_DECLARE(name, half_factor, float_factor)                                                           \
    void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource, \
                                  uint32_t& maxValue, uint32_t& minValue);                                        \
    void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
CANOPY_MATH_OPERATIONS(CANOPY_DECLARE)
#undef CANOPY_DECLARE

#define CANOPY_DECLARE(name)                                                                                      \
    void Get##name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,                       \
                                  const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource, \
                                  uint32_t& maxValue, uint32_t& minValue);                                        \
    void Get##name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,                 \
                                        const uint32_t typeSize, uint32_t& maxLivedNodeCount, uint32_t& extraBuf);
CANOPY_PLATFORM_OPERATIONS(CANOPY_DECLARE)
CANOPY_DECLARE(Round)
#undef CANOPY_DECLARE

bool GetExpMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                         uint32_t& maxValue, uint32_t& minValue);
void GetExpTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer);
void GetSinMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                         uint32_t& maxValue, uint32_t& minValue);
void GetSinMaxMinTmpSize(const SinConfig& config, const TensorShape& srcShape, const uint32_t typeSize,
                         const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
void GetSinTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetSinTmpBufferFactorSize(const SinConfig& config, const uint32_t typeSize, uint32_t& maxLiveNodeCount,
                               uint32_t& extraBuf);
void GetCosMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                         uint32_t& maxValue, uint32_t& minValue);
void GetCosMaxMinTmpSize(const CosConfig& config, const TensorShape& srcShape, const uint32_t typeSize,
                         const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
void GetCosTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetCosTmpBufferFactorSize(const CosConfig& config, const uint32_t typeSize, uint32_t& maxLiveNodeCount,
                               uint32_t& extraBuf);
void GetClampMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                           uint32_t& maxValue, uint32_t& minValue);
void GetClampTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
// A scalar operand has the shape {1}.
void GetPowerMaxMinTmpSize(const TensorShape& srcShape1, const TensorShape& srcShape2, const bool typeIsInt,
                           const uint32_t typeSize, const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
void GetPowerTmpBufferFactorSize(const bool baseIsTensor, const bool expIsTensor, const bool typeIsInt,
                                 const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer);
void GetCumSumMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isLastAxis,
                            const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);

// ---- activations ----
void GetGeluMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue, uint32_t& minValue);
uint32_t GetGeluMaxTmpSize(const TensorShape& srcShape, const uint32_t typeSize);
uint32_t GetGeluMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize);
void GetGeGLUMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                           uint32_t& maxValue, uint32_t& minValue);
void GetGeGLUTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetReGluMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                           uint32_t& maxValue, uint32_t& minValue);
void GetSigmoidMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, bool isReuseSource,
                             uint32_t& maxValue, uint32_t& minValue);
void GetSiluTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t& maxValue,
                    uint32_t& minValue);
void GetSwishTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t& maxValue,
                     uint32_t& minValue);
void GetSwiGLUMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                            uint32_t& minValue, const bool isReuseSource);
void GetSwiGLUTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer);

// ---- softmax: the last dimension is k, the others together are m ----
uint32_t GetSoftMaxMaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isReuseSource);
uint32_t GetSoftMaxMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isReuseSource);
uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape srcShape, const uint32_t dataTypeSize, const bool isReuseSource);
uint32_t GetLogSoftMaxMinTmpSize(const TensorShape srcShape, const uint32_t dataTypeSize, const bool isReuseSource);
uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isUpdate,
                                   const bool isReuseSource);
uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isUpdate,
                                   const bool isReuseSource);
uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t dataTypeSize2, const bool isUpdate, const bool isBasicBlock = false,
                                     const bool isFlashOutputBrc = false);
uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t dataTypeSize2, const bool isUpdate, const bool isBasicBlock = false,
                                     const bool isFlashOutputBrc = false);
void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                    const uint32_t dataTypeSize2, uint32_t& maxValue, uint32_t& minValue,
                                    const bool isUpdate, const bool isBasicBlock = false);
uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isFront,
                                  const bool isReuseSource);
uint32_t GetSoftMaxGradMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool isFront,
                                  const bool isReuseSource);

// ---- functions that fill a tiling, in both its forms ----
#define CANOPY_DECLARE_TILINGS(in)                                                                                    \
    void SoftMaxTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize,                                  \
                           const uint32_t localWorkSpaceSize, in::SoftMaxTiling& softmaxTiling);                      \
    void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize,                                \
                              const uint32_t localWorkSpaceSize, in::LogSoftMaxTiling& softmaxTiling);                \
    void SoftMaxFlashTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize,                             \
                                const uint32_t localWorkSpaceSize, in::SoftMaxTiling& softmaxFlashTiling,             \
                                const bool isUpdate = false);                                                         \
    void SoftMaxFlashV2TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1,                          \
                                  const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,                    \
                                  in::SoftMaxTiling& softmaxFlashTiling, const bool isUpdate,                         \
                                  const bool isBasicBlock = false, const bool isFlashOutputBrc = false);              \
    void SoftMaxFlashV3TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1,                          \
                                  const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,                    \
                                  in::SoftMaxTiling& softmaxFlashV3Tiling, const bool isUpdate,                       \
                                  const bool isBasicBlock = false);                                                   \
    void SoftMaxGradTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize,                              \
                               const uint32_t localWorkSpaceSize, in::SoftMaxTiling& softmaxGradTiling,               \
                               const bool isFront = false);                                                           \
    bool IsBasicBlockInSoftMax(in::SoftMaxTiling& tiling, const uint32_t dataTypeSize = 2);                           \
    void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,                        \
                                  const uint32_t typeSize, const bool isReuseSource, in::LayerNormTiling& tiling);    \
    void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,                        \
                                  const uint32_t typeSize, const bool isReuseSource, const bool isComputeRstd,        \
                                  in::LayerNormSeparateTiling& tiling);                                               \
    void GetLayerNormGradNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize,                     \
                                      const uint32_t typeSize, const bool isReuseSource,                              \
                                      in::LayerNormGradTiling& tiling);                                               \
    void GetLayerNormGradBetaNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize,                 \
                                          const uint32_t typeSize, const bool isReuseSource,                          \
                                          in::LayerNormGradBetaTiling& tiling);                                       \
    bool GetRmsNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,                         \
                              const uint32_t stackBufferByteSize, const uint32_t typeSize, in::RmsNormTiling& tiling, \
                              const bool isBasicBlock = false);                                                       \
    bool GetDeepNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,                        \
                               const uint32_t stackBufferSize, const uint32_t typeSize, const bool isReuseSource,     \
                               const bool isBasicBlock, in::DeepNormTiling& tiling);                                  \
    bool GetBatchNormNDTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,                     \
                                  const uint32_t stackBufferByteSize, const uint32_t typeSize,                        \
                                  const bool isReuseSource, in::BatchNormTiling& tilling,                             \
                                  const bool isBasicBlock = false);                                                   \
    void GetGroupNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,                        \
                                  const uint32_t typeSize, const bool isReuseSource, const uint32_t groupNum,         \
                                  in::GroupNormTiling& tiling);                                                       \
    bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& ascendcPlatform, const int32_t inner,                \
                        const int32_t outter, const int32_t k, const uint32_t dataTypeSize, const bool isInitIndex,   \
                        enum TopKMode mode, const bool isLargest, in::TopkTiling& topKTiling);                        \
    void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, const uint32_t stackBufferSize,     \
                       const uint32_t typeSize, in::PadTiling& tiling);                                               \
    void UnPadTilingFunc(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,         \
                         in::UnPadTiling& tiling);                                                                    \
    void GetTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, \
                                const uint32_t transposeTypeIn, in::ConfusionTransposeTiling& tiling);                \
    void GetConfusionTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,                 \
                                         const uint32_t typeSize, const uint32_t transposeTypeIn,                     \
                                         in::ConfusionTransposeTiling& tiling);                                       \
    void GetConfusionTransposeOnlyTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,             \
                                             const uint32_t typeSize, in::ConfusionTransposeTiling& tiling);
CANOPY_DECLARE_TILINGS(optiling)
CANOPY_DECLARE_TILINGS(AscendC::tiling)
#undef CANOPY_DECLARE_TILINGS

// An older spelling.
void GetLayerNormNDTillingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                               const bool isReuseSource, optiling::LayerNormTiling& tilling);

// ---- normalisation: {B, S, H, original H}, or {A, R} for the functions with isComputeRstd ----
void GetLayerNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                               uint32_t& maxValue, uint32_t& minValue);
void GetLayerNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                               const bool isComputeRstd, const bool isOnlyOutput, uint32_t& maxValue,
                               uint32_t& minValue);
void GetLayerNormGradMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                   uint32_t& maxValue, uint32_t& minValue);
void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                       uint32_t& maxValue, uint32_t& minValue);
bool GetRmsNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                             uint32_t& minValue, const bool isBasicBlock = false);
bool GetDeepNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                              const bool isBasicBlock, uint32_t& maxValue, uint32_t& minValue);
bool GetBatchNormMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& originSrcShape, const uint32_t typeSize,
                               const bool isReuseSource, uint32_t& maxValue, uint32_t& minValue,
                               const bool isBasicBlock = false);
void GetGroupNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                               const uint32_t groupNum, uint32_t& maxValue, uint32_t& minValue);
void GetNormalizeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSizeU, const uint32_t typeSizeT,
                               const bool isReuseSource, const bool isComputeRstd, const bool isOnlyOutput,
                               uint32_t& maxValue, uint32_t& minValue);
void GetWelfordUpdateMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSizeT, const uint32_t typeSizeU,
                                   const bool isReuseSource, const bool isInplace, uint32_t& maxValue,
                                   uint32_t& minValue);
void GetWelfordFinalizeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                     uint32_t& maxValue, uint32_t& minValue);

// ---- quantisation ----
void GetAscendQuantMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                                 uint32_t& minValue);
void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetQuantizeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                              uint32_t& minValue);
void GetQuantizeTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetAscendDequantMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                                   uint32_t& minValue);
void GetAscendDequantTmpBufferFactorSize(const TensorShape& srcShape, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetDequantizeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                                uint32_t& minValue);
void GetDequantizeTmpBufferFactorSize(const TensorShape& srcShape, uint32_t& maxLiveNodeCnt, uint32_t& extraBuf);
void GetAscendAntiQuantMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool isTranspose,
                                     TensorDataType inputDataType, TensorDataType outputDataType, uint32_t& maxValue,
                                     uint32_t& minValue);
uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool isTranspose,
                                      TensorDataType inputDataType, TensorDataType outputDataType);
uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool isTranspose,
                                      TensorDataType inputDataType, TensorDataType outputDataType);
void GetAscendAntiQuantTmpBufferFactorSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool isTranspose,
                                           TensorDataType inputDataType, TensorDataType outputDataType,
                                           uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetAntiQuantizeMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& scaleShape, bool isTranspose,
                                  TensorDataType inputDataType, TensorDataType outputDataType, uint32_t& maxValue,
                                  uint32_t& minValue);
void GetAntiQuantizeTmpBufferFactorSize(const TensorShape& srcShape, const TensorShape& scaleShape,
                                        TensorDataType inputDataType, TensorDataType outputDataType,
                                        uint32_t& maxLiveNodeCount, uint32_t& extraBuf);

// ---- reductions: shapes of two dimensions, patterns AR and RA ----
#define CANOPY_DECLARE(name)                                                                                         \
    void Get##name##MaxMinTmpSize(const TensorShape& srcShape, const TensorDataType dataType, ReducePattern pattern, \
                                  bool isSrcInnerPad, bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
CANOPY_REDUCTIONS(CANOPY_DECLARE)
#undef CANOPY_DECLARE
void GetReduceXorSumMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                                  uint32_t& maxValue, uint32_t& minValue);
void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool isReuseSource, uint32_t& maxSize,
                         uint32_t& minSize);
void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t accTypeSize,
                          const bool isReuseSource, uint32_t& maxSize, uint32_t& minSize);
void GetMeanTmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer);

// ---- sorting; false if an argument is out of range ----
bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, const int32_t inner,
                          const int32_t outter, const bool isReuseSource, const bool isInitIndex, enum TopKMode mode,
                          const bool isLargest, const uint32_t dataTypeSize, uint32_t& maxValue, uint32_t& minValue);
bool GetTopKMaxMinTmpSize(const int32_t inner, const int32_t outter, const int32_t k, const bool isReuseSource,
                          const bool isInitIndex, enum TopKMode mode, const bool isLargest, TensorDataType dataType,
                          const TopKConfig& config, uint32_t& maxValue, uint32_t& minValue);
void GetSortMaxMinTmpSize(const TensorShape& srcShape, TensorDataType valueType, TensorDataType indexType,
                          bool isReuseSource, const SortConfig& config, uint32_t& maxValue, uint32_t& minValue);
uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, const uint32_t elemCount,
                          const uint32_t dataTypeSize);
uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, const uint32_t elemCount,
                        const uint32_t dataTypeSize);

// ---- layout, selection, numbers ----
void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, const TensorShape& srcShape,
                               const TensorShape& dstShape, uint32_t typeSize, const bool isReuseSource,
                               uint32_t& maxValue, uint32_t& minValue);
void GetPadMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue, uint32_t& minValue);
void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, const TensorShape& srcShape,
                           const uint32_t typeSize, uint32_t& maxValue, uint32_t& minValue);
// transposeTypeIn is a number of TransposeType.
void GetTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const uint32_t transposeTypeIn,
                               uint32_t& maxValue, uint32_t& minValue);
void GetConfusionTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize,
                                        const uint32_t transposeTypeIn, uint32_t& maxValue, uint32_t& minValue);
bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, const TensorShape& srcShape,
                               const TensorShape& dstShape, const TensorDataType dataType,
                               const TransDataConfig& config, uint32_t& maxValue, uint32_t& minValue);
// One of the sources has two dimensions, the other is a scalar: {} or {1}.
#define CANOPY_DECLARE(name)                                                                               \
    void Get##name##MaxMinTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,              \
                                  const uint32_t srcTypeSize, const TensorShape& maskShape,                \
                                  const uint32_t maskTypeSize, const bool isReuseMask, uint32_t& maxValue, \
                                  uint32_t& minValue);                                                     \
    uint32_t Get##name##MaxTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,             \
                                   const uint32_t srcTypeSize, const TensorShape& maskShape,               \
                                   const uint32_t maskTypeSize, const bool isReuseMask);                   \
    uint32_t Get##name##MinTmpSize(const TensorShape& src0Shape, const TensorShape& src1Shape,             \
                                   const uint32_t srcTypeSize, const TensorShape& maskShape,               \
                                   const uint32_t maskTypeSize, const bool isReuseMask);
CANOPY_DECLARE(Select)
CANOPY_DECLARE(SelectWithBytesMask)
#undef CANOPY_DECLARE
void GetDropOutMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource,
                             uint32_t& maxValue, uint32_t& minValue);
uint32_t GetDropOutMaxTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource);
uint32_t GetDropOutMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool isReuseSource);
void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue);
void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue);

}  // namespace AscendC

#endif
