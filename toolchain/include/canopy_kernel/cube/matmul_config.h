// SPDX-License-Identifier: Apache-2.0
// How a program describes a matrix product to AscendC::Matmul: operand types, configurations, and tilings known at
// compile time. Most of a configuration says how a chip overlaps its copies; only the shape, the batch mode and the
// choice of computing cores affect results here.
#ifndef CANOPY_KERNEL_MATMUL_CONFIG_H
#define CANOPY_KERNEL_MATMUL_CONFIG_H

#include <kernel_tiling/kernel_tiling.h>

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/core/positions.h"
#include "canopy_kernel/target/types.h"

namespace AscendC {

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR, COLUMN_MAJOR };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DEFAULT };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum class MatmulConfigMode { CONFIG_NORM = 0, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE, CONFIG_BASICBLOCK };
enum IterateMode : uint8_t {
    ITERATE_MODE_NONE = 0,
    ITERATE_MODE_NORMAL = 1,
    ITERATE_MODE_ALL = 2,
    ITERATE_MODE_BATCH = 4,
    ITERATE_MODE_N_BATCH = 8,
    ITERATE_MODE_DEFAULT = 255
};

// An operand: position, layout and element type.
template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    using T = TYPE;
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
    static constexpr TPosition srcPos = SRCPOS;
};

// An operand of small floats in which each group of 32 along k shares a power-of-two scale.
template <TPosition POSITION, TPosition SCALE_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          TPosition SRCPOS = TPosition::GM, CubeFormat SCALE_FORMAT = FORMAT, bool SCALE_ISTRANS = ISTRANS,
          TPosition SCALE_SRCPOS = TPosition::GM, LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct MatmulTypeWithScale : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE, SRCPOS> {
    using ScaleType = fp8_e8m0_t;
    static constexpr TPosition scalePosition = SCALE_POSITION;
    static constexpr CubeFormat scaleFormat = SCALE_FORMAT;
    static constexpr bool isScaleTrans = SCALE_ISTRANS;
};

// A right operand of which two of each four values along k are stored; SetSparseIndex says which.
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct SparseMatmulType : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE> {
    constexpr static TPosition indexPos = INDEX_POSITION;
};

// Functions of the program that replace the product's own copies; nullptr keeps the product's own.
template <auto COPY_OUT = nullptr, auto COPY_A1 = nullptr, auto COPY_B1 = nullptr>
struct MatmulCallBackFunc {
    static constexpr auto DataCopyOutPtr = COPY_OUT;
    static constexpr auto CopyA1Ptr = COPY_A1;
    static constexpr auto CopyB1Ptr = COPY_B1;
};

// Describes a tile in L0C to a copy-out function of the program.
struct DataCopyOutParams {
    DataCopyOutParams() = default;
    DataCopyOutParams(uint16_t count, uint16_t length, uint16_t source, uint32_t destination, uint16_t columns,
                      bool unitFlag)
        : cBurstNum(count),
          burstLen(length),
          srcStride(source),
          dstStride(destination),
          oriNSize(columns),
          enUnitFlag(unitFlag) {}

    uint16_t cBurstNum = 0;  // columns of fractals
    uint16_t burstLen = 0;   // 32-byte units of one of them
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;  // elements from row to row of the result
    uint16_t oriNSize = 0;
    bool enUnitFlag = false;
    uint64_t quantMode = 0;
    uint64_t quantScalar = 0;
    uint64_t cbufWorkspaceAddr = 0;
};

struct MatmulConfig {
    bool doNorm = false;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};

struct MatmulShapeParams {
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
};
struct MatmulQuantParams {
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
};
struct MatmulBatchParams {
    bool isNBatch = false;
    BatchMode batchMode = BatchMode::BATCH_LESS_THAN_L1;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsCheck = false;
    bool enVecND2NZ = false;
    bool enableDoubleCache = false;
    bool enableL1CacheUB = false;
    uint32_t doMTE2Preload = 0;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableReuse = true;
    bool enableUBReuse = true;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
};

constexpr MatmulConfig GetNormalConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                       const bool isVecND2NZ = false,
                                       const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                       const bool isMsgReuse = true, const IterateOrder order = IterateOrder::UNDEF,
                                       const ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                                       const bool unitFlag = true, const bool dualMaster = false,
                                       const BatchOutMode outMode = BatchOutMode::SINGLE_BATCH) {
    MatmulConfig config;
    config.doNorm = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = order;
    config.scheduleType = schedule;
    config.enUnitFlag = unitFlag;
    config.enableMixDualMaster = dualMaster;
    config.bmmOutMode = outMode;
    return config;
}

constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                    const uint32_t preload = 0, const bool isVecND2NZ = false,
                                    const bool perTensor = false, const bool antiQuantOffset = false,
                                    const bool unitFlag = false, const bool isMsgReuse = true,
                                    const bool ubReuse = true, const bool l1CacheUb = false,
                                    const bool dualMaster = false, const bool reorderK = false) {
    MatmulConfig config;
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.doMTE2Preload = preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = perTensor;
    config.hasAntiQuantOffset = antiQuantOffset;
    config.enUnitFlag = unitFlag;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = ubReuse;
    config.enableL1CacheUB = l1CacheUb;
    config.enableMixDualMaster = dualMaster;
    config.enableKdimReorderLoad = reorderK;
    return config;
}

constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                           const uint32_t preload = 0, const bool isVecND2NZ = false,
                                           const bool perTensor = false, const bool antiQuantOffset = false) {
    MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, preload, isVecND2NZ, perTensor, antiQuantOffset);
    config.doMultiDataLoad = false;
    config.doSpecialMDL = true;
    return config;
}

constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                            const bool isVecND2NZ = false,
                                            const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                            const bool doubleCache = false, const bool unitFlag = true) {
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
    config.doNorm = false;
    config.doIBShareNorm = true;
    config.enableDoubleCache = doubleCache;
    config.enUnitFlag = unitFlag;
    return config;
}

constexpr MatmulConfig GetBasicConfig(const uint32_t basicM, const uint32_t basicN, const uint32_t basicK,
                                      const bool intrinsicsLimit = false, const bool batchLoop = false,
                                      const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, false, bmmMode);
    config.doNorm = false;
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    return config;
}

constexpr MatmulConfig GetSpecialBasicConfig(const uint32_t basicM, const uint32_t basicN, const uint32_t basicK,
                                             const uint32_t singleCoreM, const uint32_t singleCoreN,
                                             const uint32_t singleCoreK, const uint32_t stepM, const uint32_t stepN,
                                             const bool intrinsicsLimit = false, const bool batchLoop = false,
                                             const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config = GetBasicConfig(basicM, basicN, basicK, intrinsicsLimit, batchLoop, bmmMode);
    config.doBasicBlock = false;
    config.doSpecialBasicBlock = true;
    config.singleCoreM = singleCoreM;
    config.singleCoreN = singleCoreN;
    config.singleCoreK = singleCoreK;
    config.stepM = stepM;
    config.stepN = stepN;
    config.baseMN = basicM * basicN;
    config.singleCoreMN = singleCoreM * singleCoreN;
    return config;
}

}  // namespace AscendC

namespace canopy::kernel {

constexpr void apply(AscendC::MatmulConfig& config, const AscendC::MatmulShapeParams& shape) {
    config.singleCoreM = shape.singleCoreM;
    config.singleCoreN = shape.singleCoreN;
    config.singleCoreK = shape.singleCoreK;
    config.basicM = shape.basicM;
    config.basicN = shape.basicN;
    config.basicK = shape.basicK;
}
constexpr void apply(AscendC::MatmulConfig& config, const AscendC::MatmulQuantParams& quantisation) {
    config.isPerTensor = quantisation.isPerTensor;
    config.hasAntiQuantOffset = quantisation.hasAntiQuantOffset;
}
constexpr void apply(AscendC::MatmulConfig& config, const AscendC::MatmulBatchParams& batch) {
    config.isNBatch = batch.isNBatch;
    config.batchMode = batch.batchMode;
    config.isBiasBatch = batch.isBiasBatch;
    config.bmmOutMode = batch.bmmOutMode;
}
constexpr void apply(AscendC::MatmulConfig& config, const AscendC::MatmulFuncParams& function) {
    config.intrinsicsCheck = function.intrinsicsCheck;
    config.enVecND2NZ = function.enVecND2NZ;
    config.enableDoubleCache = function.enableDoubleCache;
    config.enableL1CacheUB = function.enableL1CacheUB;
    config.doMTE2Preload = function.doMTE2Preload;
    config.iterateOrder = function.iterateOrder;
    config.scheduleType = function.scheduleType;
    config.enableReuse = function.enableReuse;
    config.enableUBReuse = function.enableUBReuse;
    config.isPartialOutput = function.isPartialOutput;
    config.isA2B2Shared = function.isA2B2Shared;
    config.isEnableChannelSplit = function.isEnableChannelSplit;
    config.enableKdimReorderLoad = function.enableKdimReorderLoad;
}

}  // namespace canopy::kernel

namespace AscendC {

template <MatmulConfigMode configMode, typename... ArgTypes>
constexpr MatmulConfig GetMMConfig(ArgTypes&&... args) {
    MatmulConfig config = configMode == MatmulConfigMode::CONFIG_MDL          ? GetMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_IBSHARE    ? GetIBShareNormConfig()
                                                                              : GetNormalConfig();
    if (configMode == MatmulConfigMode::CONFIG_BASICBLOCK) config.doNorm = false, config.doBasicBlock = true;
    (canopy::kernel::apply(config, args), ...);
    return config;
}

inline constexpr MatmulConfig CFG_NORM = GetNormalConfig();
inline constexpr MatmulConfig CFG_MDL = GetMDLConfig();
inline constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();
inline constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);

// A tiling known at compile time. A field of -1 is taken from the tiling given at run time.
struct MatmulApiStaticTiling {
#define CANOPY_FIELD(name) int32_t name = -1;
    CANOPY_CUBE_TILING_FIELDS(CANOPY_FIELD)
#undef CANOPY_FIELD
    MatmulConfig cfg{};
};

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& mmCFG, int32_t l1Size = TOTAL_L1_SIZE) {
    constexpr auto or_unknown = [](uint32_t value) { return value == 0 ? -1 : static_cast<int32_t>(value); };
    MatmulApiStaticTiling tiling;
    tiling.cfg = mmCFG;
    tiling.singleCoreM = or_unknown(mmCFG.singleCoreM);
    tiling.singleCoreN = or_unknown(mmCFG.singleCoreN);
    tiling.singleCoreK = or_unknown(mmCFG.singleCoreK);
    tiling.baseM = or_unknown(mmCFG.basicM);
    tiling.baseN = or_unknown(mmCFG.basicN);
    tiling.baseK = or_unknown(mmCFG.basicK);
    tiling.stepM = mmCFG.stepM == 0 ? 1 : static_cast<int32_t>(mmCFG.stepM);
    tiling.stepN = mmCFG.stepN == 0 ? 1 : static_cast<int32_t>(mmCFG.stepN);
    tiling.stepKa = tiling.stepKb = 1;
    tiling.dbL0A = tiling.dbL0B = 2;
    tiling.dbL0C = 1;
    if (mmCFG.basicK != 0) {
        const uint64_t tiles = canopy::kernel::bytes_of<typename A_TYPE::T>(uint64_t{mmCFG.basicM} * mmCFG.basicK) +
                               canopy::kernel::bytes_of<typename B_TYPE::T>(uint64_t{mmCFG.basicN} * mmCFG.basicK);
        tiling.depthA1 = tiling.depthB1 = 2 * tiles <= static_cast<uint64_t>(l1Size) ? 2 : 1;
    }
    tiling.iterateOrder = mmCFG.iterateOrder == IterateOrder::ORDER_N   ? 1
                          : mmCFG.iterateOrder == IterateOrder::ORDER_M ? 0
                                                                        : -1;
    return tiling;
}

// Ways a chip may schedule the product. Only the triangles change the result: they skip the tiles below (above) the
// diagonal.
namespace Impl::Detail {

template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct MatmulPolicy {
    static constexpr int triangle = 0;
};
template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct NBuffer33MatmulPolicy : MatmulPolicy<MM_CFG, IMPL, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE> {};
template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct MatmulWithScalePolicy : MatmulPolicy<MM_CFG, IMPL, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE> {};
template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct TrianUpperMatmulPolicy : MatmulPolicy<MM_CFG, IMPL, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE> {
    static constexpr int triangle = 1;
};
template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct TrianLowerMatmulPolicy : MatmulPolicy<MM_CFG, IMPL, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE> {
    static constexpr int triangle = -1;
};
template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>
struct SplitMMatmulPolicy {
    static_assert(canopy::kernel::always_false<IMPL>,
                  "AscendC::Impl::Detail::SplitMMatmulPolicy is not supported by Canopy yet");
};

}  // namespace Impl::Detail

namespace Impl {
inline constexpr int32_t QUEUE_DEPTH = 1;
}

// Elements in a row of a fractal.
template <class T>
constexpr uint32_t AuxGetC0Size() {
    return static_cast<uint32_t>(canopy::kernel::elements_in<T>(ONE_BLK_SIZE));
}

// The accumulator type for an element type.
template <class T>
struct GetMmDstType {
    using Type = canopy::kernel::choose<canopy::kernel::is_any_of<T, int8_t, uint8_t, int4b_t>, int32_t, float>;
};
// The type of an element in the cube's operand buffers.
template <class T>
struct GetL0DataType {
    using Type = T;
};

}  // namespace AscendC

// Programs also use them without their namespace.
using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;
using AscendC::CubeFormat;
using AscendC::LayoutMode;
using AscendC::MM_CFG_BB;

#endif
