// SPDX-License-Identifier: Apache-2.0
// libtiling_api: tilings of the vector operations that have one. Each function fills the plain structure; the class
// with setters gets the same values. Fields that divide the work on the chip describe one pass over everything.
#include <algorithm>
#include <cstring>

#include "checked_shape.h"
#include "tiling/vector_tiling.h"

namespace AscendC {
namespace {

using host::block;
using host::bytes;
using host::elements;
using host::reject;
using host::round_up;
using Platform = platform_ascendc::PlatformAscendC;

// Copies between the two forms of a tiling.
#define CANOPY_GET(type, name) to.name = from.get_##name();
#define CANOPY_SET(type, name) to.set_##name(from.name);
#define CANOPY_COPIES(name, FIELDS)                                                                 \
    [[maybe_unused]] void copy(const optiling::name& from, tiling::name& to) { FIELDS(CANOPY_GET) } \
    [[maybe_unused]] void copy(const tiling::name& from, optiling::name& to) { FIELDS(CANOPY_SET) } \
    [[maybe_unused]] tiling::name plain_form(const optiling::name*) { return {}; }
CANOPY_VECTOR_TILINGS(CANOPY_COPIES)
#undef CANOPY_COPIES
#undef CANOPY_SET
#undef CANOPY_GET

// Fills a class by filling its plain form.
template <class Class, class Fill>
auto through_plain(Class& result, Fill fill) {
    auto plain = plain_form(&result);
    copy(result, plain);
    struct Back {
        decltype(plain)& from;
        Class& to;
        ~Back() { copy(from, to); }
    } back{plain, result};
    return fill(plain);
}

// ---- softmax -------------------------------------------------------------------------------------------------------

struct Rows {
    uint32_t m = 0, k = 0;
};

bool rows_of(const char* name, const TensorShape& shape, uint32_t size, Rows& rows) {
    const uint64_t count = elements(name, shape);
    if (count == 0) return false;
    if (size == 0) return reject(name, "the size of an element is 0");
    rows.k = static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
    rows.m = static_cast<uint32_t>(count / rows.k);
    return true;
}

template <class Tiling>
void fill_softmax(const char* name, const TensorShape& shape, uint32_t size, Tiling& tiling) {
    Rows rows;
    if (!rows_of(name, shape, size, rows)) return;
    if (uint64_t{rows.k} * size % block != 0) {
        reject(name, "the last dimension must have a multiple of 32 bytes");
        return;
    }
    const auto wide = static_cast<uint32_t>(block / size);  // elements that repeat the maximum or sum of a row
    tiling = {};
    tiling.srcM = tiling.outMaxM = tiling.splitM = tiling.reduceM = rows.m;
    tiling.srcK = tiling.splitK = rows.k;
    tiling.outMaxK = tiling.reduceK = wide;
    tiling.srcSize = tiling.splitSize = rows.m * rows.k;
    tiling.outMaxSize = tiling.reduceSize = rows.m * wide;
    tiling.rangeM = 1;
}

uint32_t softmax_bytes(const char* name, const TensorShape& shape, uint32_t size, bool all_rows) {
    Rows rows;
    if (!rows_of(name, shape, size, rows)) return 0;
    return bytes(4ull * (all_rows ? rows.m : 1) * (block / size + rows.k + 64));
}

// ---- normalisation -------------------------------------------------------------------------------------------------

struct Batch {
    uint32_t b = 0, s = 0, h = 0, original = 0;
};

bool batch_of(const char* name, const TensorShape& shape, uint32_t size, int64_t original, Batch& batch) {
    if (shape.GetDimNum() < 3) return reject(name, "the shape must have the dimensions B, S and H");
    if (elements(name, shape) == 0) return false;
    if (size == 0) return reject(name, "typeSize is 0");
    const int64_t h = shape.GetDim(2);
    if (h * size % static_cast<int64_t>(block) != 0) return reject(name, "H must have a multiple of 32 bytes");
    if (original < 1 || original > h) return reject(name, "the original H must be in 1 to H");
    batch = {static_cast<uint32_t>(shape.GetDim(0)), static_cast<uint32_t>(shape.GetDim(1)), static_cast<uint32_t>(h),
             static_cast<uint32_t>(original)};
    return true;
}

// {B, S, H, original H}.
bool four_of(const char* name, const TensorShape& shape, uint32_t size, Batch& batch) {
    if (shape.GetDimNum() != 4) return reject(name, "the shape must have the dimensions B, S, H and original H");
    return batch_of(name, shape, size, shape.GetDim(3), batch);
}

// {A, R}.
bool two_of(const char* name, const TensorShape& shape, uint32_t size, Rows& rows) {
    if (shape.GetDimNum() != 2) return reject(name, "the shape must have the dimensions A and R");
    return rows_of(name, shape, size, rows);
}

template <class Tiling>
void fill_norm(const Batch& batch, Tiling& tiling) {
    tiling = {};
    tiling.bLength = batch.b;
    tiling.sLength = batch.s;
    tiling.hLength = batch.h;
    tiling.originalHLength = batch.original;
}

// The parts that LayerNorm and DeepNorm have in common.
template <class Tiling>
void fill_layer_norm(const Batch& batch, uint32_t stack, Tiling& tiling) {
    fill_norm(batch, tiling);
    tiling.inputXSize = tiling.inputRoundSize = tiling.bshCurLength = batch.b * batch.s * batch.h;
    tiling.meanVarSize = tiling.meanVarRoundSize = tiling.bsCurLength = batch.b * batch.s;
    tiling.tmpBufSize = stack / static_cast<uint32_t>(sizeof(float));
    tiling.loopRound = 1;
    tiling.lastDimValueBack = 1.0f / static_cast<float>(batch.original);
}

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// `rows` buffers of a row each, in float, for one row and for all of them.
void answer_rows(const Batch& batch, uint64_t buffers, uint32_t& maxValue, uint32_t& minValue) {
    const uint64_t row = round_up(buffers * batch.h * sizeof(float) + 2 * block, block);
    minValue = bytes(row);
    maxValue = bytes(row * batch.b * batch.s);
}

}  // namespace

uint32_t GetSoftMaxMaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool) {
    return softmax_bytes("GetSoftMaxMaxTmpSize", srcShape, dataTypeSize, true);
}
uint32_t GetSoftMaxMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool) {
    return softmax_bytes("GetSoftMaxMinTmpSize", srcShape, dataTypeSize, false);
}
uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape srcShape, const uint32_t dataTypeSize, const bool) {
    return softmax_bytes("GetLogSoftMaxMaxTmpSize", srcShape, dataTypeSize, true);
}
uint32_t GetLogSoftMaxMinTmpSize(const TensorShape srcShape, const uint32_t dataTypeSize, const bool) {
    return softmax_bytes("GetLogSoftMaxMinTmpSize", srcShape, dataTypeSize, false);
}

#define CANOPY_DEFINE(name)                                                                                            \
    uint32_t Get##name##MaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool, const bool) { \
        return softmax_bytes("Get" #name "MaxTmpSize", srcShape, dataTypeSize, true);                                  \
    }                                                                                                                  \
    uint32_t Get##name##MinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize, const bool, const bool) { \
        return softmax_bytes("Get" #name "MinTmpSize", srcShape, dataTypeSize, false);                                 \
    }
CANOPY_DEFINE(SoftMaxFlash)
CANOPY_DEFINE(SoftMaxGrad)
#undef CANOPY_DEFINE

// The data and the sums may have different types; the narrower one decides how wide a sum is.
uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t dataTypeSize2, const bool, const bool, const bool) {
    return softmax_bytes("GetSoftMaxFlashV2MaxTmpSize", srcShape, std::min(dataTypeSize1, dataTypeSize2), true);
}
uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                     const uint32_t dataTypeSize2, const bool, const bool, const bool) {
    return softmax_bytes("GetSoftMaxFlashV2MinTmpSize", srcShape, std::min(dataTypeSize1, dataTypeSize2), false);
}
void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& srcShape, const uint32_t dataTypeSize1,
                                    const uint32_t dataTypeSize2, uint32_t& maxValue, uint32_t& minValue, const bool,
                                    const bool) {
    const uint32_t size = std::min(dataTypeSize1, dataTypeSize2);
    const uint32_t largest = softmax_bytes("GetSoftMaxFlashV3MaxMinTmpSize", srcShape, size, true);
    if (largest == 0) return;
    maxValue = largest;
    minValue = softmax_bytes("GetSoftMaxFlashV3MaxMinTmpSize", srcShape, size, false);
}

void SoftMaxTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t,
                       tiling::SoftMaxTiling& softmaxTiling) {
    fill_softmax("SoftMaxTilingFunc", srcShape, dataTypeSize, softmaxTiling);
}
void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize, const uint32_t,
                          tiling::LogSoftMaxTiling& softmaxTiling) {
    fill_softmax("LogSoftMaxTilingFunc", srcShape, dataTypeSize, softmaxTiling);
}
void SoftMaxFlashTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t,
                            tiling::SoftMaxTiling& softmaxFlashTiling, const bool) {
    fill_softmax("SoftMaxFlashTilingFunc", srcShape, dataTypeSize, softmaxFlashTiling);
}
void SoftMaxFlashV2TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1, const uint32_t, const uint32_t,
                              tiling::SoftMaxTiling& softmaxFlashTiling, const bool, const bool, const bool) {
    fill_softmax("SoftMaxFlashV2TilingFunc", srcShape, dataTypeSize1, softmaxFlashTiling);
}
void SoftMaxFlashV3TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1, const uint32_t, const uint32_t,
                              tiling::SoftMaxTiling& softmaxFlashV3Tiling, const bool, const bool) {
    fill_softmax("SoftMaxFlashV3TilingFunc", srcShape, dataTypeSize1, softmaxFlashV3Tiling);
}
void SoftMaxGradTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t,
                           tiling::SoftMaxTiling& softmaxGradTiling, const bool) {
    fill_softmax("SoftMaxGradTilingFunc", srcShape, dataTypeSize, softmaxGradTiling);
}
bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, const uint32_t) {
    return tiling.splitM % 8 == 0 && tiling.splitK < 2048 && tiling.splitK % 64 == 0;
}

void SoftMaxTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                       optiling::SoftMaxTiling& softmaxTiling) {
    through_plain(softmaxTiling,
                  [&](auto& plain) { SoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, plain); });
}
void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                          optiling::LogSoftMaxTiling& softmaxTiling) {
    through_plain(softmaxTiling,
                  [&](auto& plain) { LogSoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, plain); });
}
void SoftMaxFlashTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                            optiling::SoftMaxTiling& softmaxFlashTiling, const bool isUpdate) {
    through_plain(softmaxFlashTiling, [&](auto& plain) {
        SoftMaxFlashTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, plain, isUpdate);
    });
}
void SoftMaxFlashV2TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
                              const uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxFlashTiling,
                              const bool isUpdate, const bool isBasicBlock, const bool isFlashOutputBrc) {
    through_plain(softmaxFlashTiling, [&](auto& plain) {
        SoftMaxFlashV2TilingFunc(srcShape, dataTypeSize1, dataTypeSize2, localWorkSpaceSize, plain, isUpdate,
                                 isBasicBlock, isFlashOutputBrc);
    });
}
void SoftMaxFlashV3TilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
                              const uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxFlashV3Tiling,
                              const bool isUpdate, const bool isBasicBlock) {
    through_plain(softmaxFlashV3Tiling, [&](auto& plain) {
        SoftMaxFlashV3TilingFunc(srcShape, dataTypeSize1, dataTypeSize2, localWorkSpaceSize, plain, isUpdate,
                                 isBasicBlock);
    });
}
void SoftMaxGradTilingFunc(const TensorShape& srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                           optiling::SoftMaxTiling& softmaxGradTiling, const bool isFront) {
    through_plain(softmaxGradTiling, [&](auto& plain) {
        SoftMaxGradTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, plain, isFront);
    });
}
bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, const uint32_t dataTypeSize) {
    return through_plain(tiling, [&](auto& plain) { return IsBasicBlockInSoftMax(plain, dataTypeSize); });
}

// ---- normalisation -------------------------------------------------------------------------------------------------

void GetLayerNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, uint32_t& maxValue,
                               uint32_t& minValue) {
    Batch batch;
    if (four_of("GetLayerNormMaxMinTmpSize", srcShape, typeSize, batch)) answer_rows(batch, 3, maxValue, minValue);
}
void GetLayerNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, const bool,
                               const bool isOnlyOutput, uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetLayerNormMaxMinTmpSize";
    Rows rows;
    if (isOnlyOutput)
        reject(name, "isOnlyOutput must be false");
    else if (two_of(name, srcShape, typeSize, rows))
        answer_rows({1, rows.m, rows.k, rows.k}, 2, maxValue, minValue);
}
void GetNormalizeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSizeU, const uint32_t typeSizeT,
                               const bool, const bool, const bool isOnlyOutput, uint32_t& maxValue,
                               uint32_t& minValue) {
    const char* name = "GetNormalizeMaxMinTmpSize";
    Rows rows;
    if (isOnlyOutput)
        reject(name, "isOnlyOutput must be false");
    else if (two_of(name, srcShape, std::min(typeSizeU, typeSizeT), rows))
        answer_rows({1, rows.m, rows.k, rows.k}, 1, maxValue, minValue);
}
void GetWelfordUpdateMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSizeT, const uint32_t typeSizeU,
                                   const bool, const bool, uint32_t& maxValue, uint32_t& minValue) {
    Rows rows;
    if (two_of("GetWelfordUpdateMaxMinTmpSize", srcShape, std::min(typeSizeT, typeSizeU), rows))
        answer_rows({1, rows.m, rows.k, rows.k}, 2, maxValue, minValue);
}
void GetLayerNormGradMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, uint32_t& maxValue,
                                   uint32_t& minValue) {
    Batch batch;
    if (four_of("GetLayerNormGradMaxMinTmpSize", srcShape, typeSize, batch)) answer_rows(batch, 6, maxValue, minValue);
}
void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool,
                                       uint32_t& maxValue, uint32_t& minValue) {
    Batch batch;
    if (four_of("GetLayerNormGradBetaMaxMinTmpSize", srcShape, typeSize, batch))
        answer_rows(batch, 4, maxValue, minValue);
}
bool GetRmsNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, uint32_t& maxValue,
                             uint32_t& minValue, const bool) {
    Batch batch;
    if (!batch_of("GetRmsNormMaxMinTmpSize", srcShape, typeSize, srcShape.GetDim(2), batch)) return false;
    answer_rows(batch, 2, maxValue, minValue);
    return true;
}
bool GetDeepNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool, const bool,
                              uint32_t& maxValue, uint32_t& minValue) {
    const char* name = "GetDeepNormMaxMinTmpSize";
    Batch batch;
    if (!batch_of(name, srcShape, typeSize, srcShape.GetDim(2), batch)) return false;
    if (batch.h > 2040) return reject(name, "H must not be more than 2040");
    answer_rows(batch, 3, maxValue, minValue);
    return true;
}
bool GetBatchNormMaxMinTmpSize(const TensorShape& srcShape, const TensorShape& originSrcShape, const uint32_t typeSize,
                               const bool, uint32_t& maxValue, uint32_t& minValue, const bool) {
    const char* name = "GetBatchNormMaxMinTmpSize";
    Batch batch;
    if (!batch_of(name, srcShape, typeSize, originSrcShape.GetDim(2), batch)) return false;
    answer_rows(batch, 3, maxValue, minValue);
    return true;
}
void GetGroupNormMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize, const bool,
                               const uint32_t groupNum, uint32_t& maxValue, uint32_t& minValue) {
    tiling::GroupNormTiling tiling;
    GetGroupNormNDTilingInfo(srcShape, 0, typeSize, false, groupNum, tiling);
    if (tiling.n == 0) return;
    answer_rows({tiling.n, tiling.g, tiling.dhwAlignSize, tiling.dhwAlignSize}, 3, maxValue, minValue);
}

void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool, tiling::LayerNormTiling& tiling) {
    Batch batch;
    if (four_of("GetLayerNormNDTilingInfo", srcShape, typeSize, batch)) fill_layer_norm(batch, stackBufferSize, tiling);
}
void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool, const bool, tiling::LayerNormSeparateTiling& tiling) {
    Rows rows;
    if (!two_of("GetLayerNormNDTilingInfo", srcShape, typeSize, rows)) return;
    tiling = {};
    tiling.aLength = tiling.meanVarSize = tiling.meanVarRoundSize = tiling.aCurLength = rows.m;
    tiling.rLength = rows.k;
    tiling.inputXSize = tiling.inputRoundSize = tiling.arCurLength = rows.m * rows.k;
    tiling.tmpBufSize = stackBufferSize / static_cast<uint32_t>(sizeof(float));
    tiling.loopRound = 1;
    // The largest power of two up to R, where a sum by halves begins.
    tiling.rHeadLength = 1;
    while (tiling.rHeadLength <= rows.k / 2) tiling.rHeadLength *= 2;
    tiling.k2Rec = 1.0f / static_cast<float>(tiling.rHeadLength);
    tiling.k2RRec = static_cast<float>(tiling.rHeadLength) / static_cast<float>(rows.k);
    tiling.rValueBack = 1.0f / static_cast<float>(rows.k);
}
void GetLayerNormGradNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                  const bool, tiling::LayerNormGradTiling& tiling) {
    Batch batch;
    if (!four_of("GetLayerNormGradNDTilingInfo", srcShape, typeSize, batch)) return;
    fill_norm(batch, tiling);
    tiling.stackBufferSize = stackBufferSize / static_cast<uint32_t>(sizeof(float));
    tiling.oneCalSize = batch.b * batch.s * batch.h;
    tiling.nohCalSize = batch.b * batch.s;
    tiling.loopNum = 1;
    const float back = 1.0f / static_cast<float>(batch.original);
    tiling.lastDimValueBack = bits_of(back);
    tiling.lastDimValueBackMulTwo = bits_of(2 * back);
}
void GetLayerNormGradBetaNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize,
                                      const uint32_t typeSize, const bool, tiling::LayerNormGradBetaTiling& tiling) {
    Batch batch;
    if (!four_of("GetLayerNormGradBetaNDTilingInfo", srcShape, typeSize, batch)) return;
    fill_norm(batch, tiling);
    tiling.stackBufferSize = stackBufferSize / static_cast<uint32_t>(sizeof(float));
    tiling.bshLength = tiling.oneCalSize = tiling.bshCurLength = batch.b * batch.s * batch.h;
    tiling.bsLength = tiling.bsCurLength = batch.b * batch.s;
    tiling.loopRound = 1;
}
bool GetRmsNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape, const uint32_t,
                          const uint32_t typeSize, tiling::RmsNormTiling& tiling, const bool) {
    Batch batch;
    if (!batch_of("GetRmsNormTilingInfo", srcShape, typeSize, originSrcShape.GetDim(2), batch)) return false;
    fill_norm(batch, tiling);
    tiling.reciprocalOfHLength = 1.0f / static_cast<float>(batch.original);
    tiling.mainBshLength = batch.b * batch.s * batch.h;
    tiling.mainBsLength = batch.b * batch.s;
    tiling.mainBsLengthAlign = static_cast<uint32_t>(round_up(tiling.mainBsLength, block / sizeof(float)));
    tiling.loopRound = 1;
    return true;
}
bool GetDeepNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,
                           const uint32_t stackBufferSize, const uint32_t typeSize, const bool, const bool,
                           tiling::DeepNormTiling& tiling) {
    const char* name = "GetDeepNormTilingInfo";
    Batch batch;
    if (!batch_of(name, srcShape, typeSize, originSrcShape.GetDim(2), batch)) return false;
    if (batch.h > 2040) return reject(name, "H must not be more than 2040");
    fill_layer_norm(batch, stackBufferSize, tiling);
    return true;
}
bool GetBatchNormNDTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,
                              const uint32_t stackBufferByteSize, const uint32_t typeSize, const bool,
                              tiling::BatchNormTiling& tilling, const bool) {
    const char* name = "GetBatchNormNDTilingInfo";
    Batch batch;
    if (!batch_of(name, srcShape, typeSize, srcShape.GetDim(2), batch)) return false;
    const int64_t original = originSrcShape.GetDim(0);
    if (original < 1 || original > batch.b) return reject(name, "the original B must be in 1 to B");
    tilling = {};
    tilling.originalBLength = static_cast<uint32_t>(original);
    tilling.meanVarSize = tilling.shCurLength = batch.s * batch.h;
    tilling.bshCurLength = batch.b * batch.s * batch.h;
    tilling.tmpBufSize = stackBufferByteSize / static_cast<uint32_t>(sizeof(float));
    tilling.loopRound = 1;
    tilling.firstDimValueBack = 1.0f / static_cast<float>(original);
    tilling.shCurLengthBlockNum = static_cast<uint32_t>((uint64_t{tilling.shCurLength} * typeSize + block - 1) / block);
    return true;
}
// {N, C, H, W}, or more dimensions behind C.
void GetGroupNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool, const uint32_t groupNum, tiling::GroupNormTiling& tiling) {
    const char* name = "GetGroupNormNDTilingInfo";
    if (srcShape.GetDimNum() < 3) {
        reject(name, "the shape must have the dimensions N, C, H and W");
        return;
    }
    const uint64_t count = elements(name, srcShape);
    if (count == 0) return;
    if (typeSize == 0 || groupNum == 0 || srcShape.GetDim(1) % groupNum != 0) {
        reject(name, "C must be a multiple of groupNum, and typeSize not 0");
        return;
    }
    tiling = {};
    tiling.n = static_cast<uint32_t>(srcShape.GetDim(0));
    tiling.c = static_cast<uint32_t>(srcShape.GetDim(1));
    tiling.hw = static_cast<uint32_t>(count / tiling.n / tiling.c);
    tiling.g = groupNum;
    tiling.d = tiling.c / groupNum;
    tiling.hwAlignSize = static_cast<uint32_t>(round_up(uint64_t{tiling.hw} * typeSize, block) / typeSize);
    tiling.dhwAlignSize = tiling.d * tiling.hwAlignSize;
    tiling.inputXSize = tiling.inputRoundSize = tiling.bshCurLength = tiling.n * tiling.g * tiling.dhwAlignSize;
    tiling.meanVarSize = tiling.meanVarRoundSize = tiling.bsCurLength = tiling.n * tiling.g;
    tiling.tmpBufSize = stackBufferSize / static_cast<uint32_t>(sizeof(float));
    tiling.loopRound = 1;
    tiling.factor = 1.0f / static_cast<float>(tiling.d * tiling.hw);
    tiling.smallShape = tiling.hwAlignSize <= 64;
}

// ---- sorting and layout --------------------------------------------------------------------------------------------

bool TopKTilingFunc(const Platform&, const int32_t inner, const int32_t outter, const int32_t k,
                    const uint32_t dataTypeSize, const bool, enum TopKMode mode, const bool,
                    tiling::TopkTiling& topKTiling) {
    const char* name = "TopKTilingFunc";
    if (inner <= 0 || outter <= 0 || inner % 32 != 0 || inner > 4096)
        return reject(name, "inner must be a multiple of 32 up to 4096, and outter positive");
    if (mode == TopKMode::TOPK_NSMALL && inner != 32) return reject(name, "inner must be 32 in the mode TOPK_NSMALL");
    if (k < 1 || k > inner) return reject(name, "k must be in 1 to inner");
    if (dataTypeSize != 2 && dataTypeSize != 4) return reject(name, "an element must have 2 or 4 bytes");
    topKTiling = {};
    topKTiling.allDataSize = inner * outter;
    topKTiling.innerDataSize = inner;
    topKTiling.sortRepeat = static_cast<uint32_t>(inner / 32);
    topKTiling.mrgSortRepeat = inner / 32 / 4;
    topKTiling.kAlignFourBytes = static_cast<int32_t>(round_up(static_cast<uint64_t>(k), 8));
    topKTiling.kAlignTwoBytes = static_cast<int32_t>(round_up(static_cast<uint64_t>(k), 16));
    topKTiling.tmpLocalSize = 2 * 8 / static_cast<int32_t>(dataTypeSize) * inner;
    return true;
}
void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, const uint32_t, const uint32_t typeSize,
                   tiling::PadTiling& tiling) {
    const char* name = "PadTilingFunc";
    if (srcShape.GetDimNum() != 2 || oriSrcShape.GetDimNum() != 2) {
        reject(name, "both shapes must have 2 dimensions");
        return;
    }
    if (elements(name, srcShape) == 0 || elements(name, oriSrcShape) == 0) return;
    if (typeSize != 2 && typeSize != 4) {
        reject(name, "an element must have 2 or 4 bytes");
        return;
    }
    tiling = {};
    tiling.srcHeight = static_cast<uint32_t>(srcShape.GetDim(0));
    tiling.srcWidth = static_cast<uint32_t>(srcShape.GetDim(1));
    tiling.srcOriWidth = static_cast<uint32_t>(oriSrcShape.GetDim(1));
    tiling.blocksPerRow = static_cast<uint32_t>((uint64_t{tiling.srcWidth} * typeSize + block - 1) / block);
    tiling.widthWithoutLastBlock = (tiling.blocksPerRow - 1) * static_cast<uint32_t>(block) / typeSize;
    tiling.heightTiling = tiling.srcHeight;
    tiling.widthTiling = tiling.srcWidth;
}
void UnPadTilingFunc(const TensorShape srcShape, const uint32_t, const uint32_t typeSize, tiling::UnPadTiling& tiling) {
    const char* name = "UnPadTilingFunc";
    if (srcShape.GetDimNum() != 2) {
        reject(name, "the shape must have 2 dimensions");
        return;
    }
    if (elements(name, srcShape) == 0) return;
    if (typeSize == 0 || srcShape.GetDim(1) * typeSize % block != 0) {
        reject(name, "the last dimension must have a multiple of 32 bytes");
        return;
    }
    tiling = {};
    tiling.srcHeight = static_cast<uint32_t>(srcShape.GetDim(0));
    tiling.srcWidth = tiling.widthTiling = static_cast<uint32_t>(srcShape.GetDim(1));
}
// param0 is the type, param1 the number of dimensions, the dimensions follow.
void GetTransposeTilingInfo(const TensorShape& srcShape, const uint32_t, const uint32_t typeSize,
                            const uint32_t transposeTypeIn, tiling::ConfusionTransposeTiling& tiling) {
    const char* name = "GetTransposeTilingInfo";
    if (typeSize == 0) {
        reject(name, "typeSize is 0");
        return;
    }
    if (!host::is_transpose(name, srcShape, transposeTypeIn)) return;
    tiling = {};
    tiling.param0 = transposeTypeIn;
    tiling.param1 = static_cast<uint32_t>(srcShape.GetDimNum());
    uint32_t* const dimension[4] = {&tiling.param2, &tiling.param3, &tiling.param4, &tiling.param5};
    for (std::size_t i = 0; i < srcShape.GetDimNum(); ++i) *dimension[i] = static_cast<uint32_t>(srcShape.GetDim(i));
}
void GetConfusionTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                     const uint32_t typeSize, const uint32_t transposeTypeIn,
                                     tiling::ConfusionTransposeTiling& tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
// Type 7: two dimensions change places.
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                         const uint32_t typeSize, tiling::ConfusionTransposeTiling& tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, 7, tiling);
}

// ---- the same for the classes --------------------------------------------------------------------------------------

void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool isReuseSource, optiling::LayerNormTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, plain);
    });
}
void GetLayerNormNDTillingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                               const bool isReuseSource, optiling::LayerNormTiling& tilling) {
    GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);
}
void GetLayerNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool isReuseSource, const bool isComputeRstd,
                              optiling::LayerNormSeparateTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, isComputeRstd, plain);
    });
}
void GetLayerNormGradNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                  const bool isReuseSource, optiling::LayerNormGradTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetLayerNormGradNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, plain);
    });
}
void GetLayerNormGradBetaNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize,
                                      const uint32_t typeSize, const bool isReuseSource,
                                      optiling::LayerNormGradBetaTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetLayerNormGradBetaNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, plain);
    });
}
bool GetRmsNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,
                          const uint32_t stackBufferByteSize, const uint32_t typeSize, optiling::RmsNormTiling& tiling,
                          const bool isBasicBlock) {
    return through_plain(tiling, [&](auto& plain) {
        return GetRmsNormTilingInfo(srcShape, originSrcShape, stackBufferByteSize, typeSize, plain, isBasicBlock);
    });
}
bool GetDeepNormTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,
                           const uint32_t stackBufferSize, const uint32_t typeSize, const bool isReuseSource,
                           const bool isBasicBlock, optiling::DeepNormTiling& tiling) {
    return through_plain(tiling, [&](auto& plain) {
        return GetDeepNormTilingInfo(srcShape, originSrcShape, stackBufferSize, typeSize, isReuseSource, isBasicBlock,
                                     plain);
    });
}
bool GetBatchNormNDTilingInfo(const TensorShape& srcShape, const TensorShape& originSrcShape,
                              const uint32_t stackBufferByteSize, const uint32_t typeSize, const bool isReuseSource,
                              optiling::BatchNormTiling& tilling, const bool isBasicBlock) {
    return through_plain(tilling, [&](auto& plain) {
        return GetBatchNormNDTilingInfo(srcShape, originSrcShape, stackBufferByteSize, typeSize, isReuseSource, plain,
                                        isBasicBlock);
    });
}
void GetGroupNormNDTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                              const bool isReuseSource, const uint32_t groupNum, optiling::GroupNormTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetGroupNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, groupNum, plain);
    });
}
bool TopKTilingFunc(const Platform& ascendcPlatform, const int32_t inner, const int32_t outter, const int32_t k,
                    const uint32_t dataTypeSize, const bool isInitIndex, enum TopKMode mode, const bool isLargest,
                    optiling::TopkTiling& topKTiling) {
    return through_plain(topKTiling, [&](auto& plain) {
        return TopKTilingFunc(ascendcPlatform, inner, outter, k, dataTypeSize, isInitIndex, mode, isLargest, plain);
    });
}
void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, const uint32_t stackBufferSize,
                   const uint32_t typeSize, optiling::PadTiling& tiling) {
    through_plain(tiling, [&](auto& plain) { PadTilingFunc(srcShape, oriSrcShape, stackBufferSize, typeSize, plain); });
}
void UnPadTilingFunc(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                     optiling::UnPadTiling& tiling) {
    through_plain(tiling, [&](auto& plain) { UnPadTilingFunc(srcShape, stackBufferSize, typeSize, plain); });
}
void GetTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                            const uint32_t transposeTypeIn, optiling::ConfusionTransposeTiling& tiling) {
    through_plain(tiling, [&](auto& plain) {
        GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, plain);
    });
}
void GetConfusionTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                     const uint32_t typeSize, const uint32_t transposeTypeIn,
                                     optiling::ConfusionTransposeTiling& tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                         const uint32_t typeSize, optiling::ConfusionTransposeTiling& tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, 7, tiling);
}

}  // namespace AscendC
