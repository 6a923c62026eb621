// SPDX-License-Identifier: Apache-2.0
// The structures of the softmax functions, and the tilings a kernel makes itself.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_TYPES_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_TYPES_H

#include <kernel_tiling/kernel_tiling.h>
#include <stdint.h>

namespace AscendC {

// Rows and columns of the matrix in memory, and how many of them are data.
struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

struct SoftMaxParams {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
    uint32_t loopCnt{1};
    uint32_t splitMeanCnt{8};
    float alpha{0.9375};
};

// Whether maximum and sum of a row fill a block of 32 bytes each, or one element.
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };

struct SoftmaxConfig {
    constexpr SoftmaxConfig(const bool isCheckTilingIn) : isCheckTiling(isCheckTilingIn) {}
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn) {}
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn,
                            const enum SoftmaxMode modeIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn), mode(modeIn) {}

    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};

inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

// All rows in one step: a processor needs no buffers that would limit them.
constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo& shapeInfo,
                                                 [[maybe_unused]] const uint32_t dataTypeSize1,
                                                 const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,
                                                 [[maybe_unused]] const bool isUpdate = false,
                                                 [[maybe_unused]] const bool isBasicBlock = false,
                                                 [[maybe_unused]] const bool isDataFormatNZ = false,
                                                 [[maybe_unused]] const bool isFlashOutputBrc = false) {
    static_cast<void>(localWorkSpaceSize);
    SoftMaxTiling tiling;
    tiling.srcM = tiling.outMaxM = tiling.splitM = tiling.reduceM = shapeInfo.srcM;
    tiling.srcK = tiling.splitK = shapeInfo.srcK;
    tiling.outMaxK = tiling.reduceK = dataTypeSize2 == 0 ? 0 : 32 / dataTypeSize2;
    tiling.srcSize = tiling.splitSize = shapeInfo.srcM * shapeInfo.srcK;
    tiling.outMaxSize = tiling.reduceSize = shapeInfo.srcM * tiling.outMaxK;
    tiling.rangeM = shapeInfo.srcM == 0 ? 0 : 1;
    return tiling;
}

// Whether isBasicBlock may be true.
constexpr bool IsBasicBlockInSoftMax(const SoftMaxTiling& tiling, [[maybe_unused]] const uint32_t dataTypeSize = 2) {
    return tiling.splitM % 8 == 0 && tiling.splitK < 2048 && tiling.splitK % 64 == 0;
}

}  // namespace AscendC

#endif
