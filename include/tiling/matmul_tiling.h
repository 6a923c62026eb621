// SPDX-License-Identifier: Apache-2.0
// Tilings of matrix products: how the product is divided among cores, and what each core keeps in each memory at a
// time. Link with -ltiling_api -lplatform.
//
// Threads: an object belongs to one thread at a time.
#ifndef CANOPY_TILING_MATMUL_TILING_H
#define CANOPY_TILING_MATMUL_TILING_H

#include <cstdint>

#include "../kernel_tiling/kernel_tiling.h"
#include "../platform/platform_ascendc.h"
#include "../register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(TCubeTiling)
#define CANOPY_FIELD(name) TILING_DATA_FIELD_DEF(int32_t, name)
CANOPY_CUBE_TILING_FIELDS(CANOPY_FIELD)
#undef CANOPY_FIELD
END_TILING_DATA_DEF

}  // namespace optiling

namespace matmul_tiling {

enum class TPosition : int32_t {
    GM = 0,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    MAX
};

enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR, COLUMN_MAJOR };

enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_BF16 = 27,
    DT_BFLOAT16 = DT_BF16,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41
};

enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};

struct PlatformInfo {
    platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
    uint64_t btSize = 0;
    uint64_t fbSize = 0;
};

struct MatmulConfigParams {
    int32_t mmConfigType;  // 0: normal, 1: several loads at once
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;

    MatmulConfigParams(int32_t mmConfigTypeIn = 1, bool enableL1CacheUBIn = false,
                       ScheduleType scheduleTypeIn = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse traverseIn = MatrixTraverse::NOSET, bool enVecND2NZIn = false)
        : mmConfigType(mmConfigTypeIn),
          enableL1CacheUB(enableL1CacheUBIn),
          scheduleType(scheduleTypeIn),
          traverse(traverseIn),
          enVecND2NZ(enVecND2NZIn) {}
};

// Stores the inputs set by the methods below. Functions return 0, or -1 if they fail.
class MatmulApiTilingBase {
public:
    MatmulApiTilingBase();
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform);
    explicit MatmulApiTilingBase(const PlatformInfo& platform);
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
    int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
    int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType);
    int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType);
    int32_t SetScaleAType(TPosition pos, CubeFormat type, bool isTrans = false);
    int32_t SetScaleBType(TPosition pos, CubeFormat type, bool isTrans = false);
    int32_t SetScaleAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
    int32_t SetScaleBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
    int32_t SetDequantType(DequantType dequantType);

    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
    int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKIn);
    int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKaIn, int32_t orgKbIn);
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBatchNum(int32_t batch);
    int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k);

    int32_t EnableBias(bool isBiasIn = false);
    int32_t SetBias(bool isBiasIn = false);
    int32_t SetSparse(bool isSparseIn = false);
    int32_t SetFixSplit(int32_t baseMIn = -1, int32_t baseNIn = -1, int32_t baseKIn = -1);
    int32_t SetBufferSpace(int32_t l1Size = -1, int32_t l0CSize = -1, int32_t ubSize = -1, int32_t btSize = -1);
    int32_t SetTraverse(MatrixTraverse traverse);
    int32_t SetMadType(MatrixMadType madType);
    int32_t SetSplitRange(int32_t maxBaseM = -1, int32_t maxBaseN = -1, int32_t maxBaseK = -1, int32_t minBaseM = -1,
                          int32_t minBaseN = -1, int32_t minBaseK = -1);
    int32_t SetDoubleBuffer(bool a, bool b, bool c, bool bias, bool transND2NZ = true, bool transNZ2ND = true);
    void SetMatmulConfigParams(int32_t mmConfigType = 1, bool enableL1CacheUB = false,
                               ScheduleType scheduleType = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse traverse = MatrixTraverse::NOSET, bool enVecND2NZ = false);
    void SetMatmulConfigParams(const MatmulConfigParams& configParams);

    int32_t GetBaseM() const { return result_.baseM; }
    int32_t GetBaseN() const { return result_.baseN; }
    int32_t GetBaseK() const { return result_.baseK; }

    virtual int64_t GetTiling(optiling::TCubeTiling& tiling);
    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling);

protected:
    struct Operand {
        TPosition position = TPosition::GM;
        CubeFormat format = CubeFormat::ND;
        DataType type = DataType::DT_FLOAT16;
        bool transposed = false;
    };
    struct Three {
        int32_t m = -1, n = -1, k = -1;
    };
    struct Layout {
        int32_t b = 0, s = 0, n = 0, g = 0, d = 0;
    };

    // Divides the product among cores: usedCoreNum and singleCore*. False if it cannot.
    virtual bool divide(AscendC::tiling::TCubeTiling& tiling) const;
    bool check() const;
    bool choose_base(AscendC::tiling::TCubeTiling& tiling) const;
    bool choose_depth(AscendC::tiling::TCubeTiling& tiling) const;
    void fill_rest(AscendC::tiling::TCubeTiling& tiling) const;

    Operand a_, b_, c_, bias_;
    Three shape_, original_, fixed_, largest_, smallest_;
    int32_t original_kb_ = -1;
    Layout a_layout_, b_layout_, c_layout_;
    int32_t batch_ = 0;
    Three batch_shape_;
    bool has_bias_ = false;
    bool buffer_a_ = true, buffer_b_ = true, buffer_c_ = false;
    bool mx_ = false;
    MatrixTraverse traverse_ = MatrixTraverse::NOSET;
    MatmulConfigParams config_{0};
    int64_t l1_, l0a_, l0b_, l0c_, ub_;  // bytes that may be used
    AscendC::tiling::TCubeTiling result_;
};

// One core computes the whole product.
class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

// A product divided among up to SetDim cores.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t dim);  // the most cores that take part
    int32_t SetShape(int32_t m, int32_t n, int32_t k) override;
    int32_t SetSingleShape(int32_t singleMIn = -1, int32_t singleNIn = -1, int32_t singleKIn = -1);
    int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1,
                           int32_t minN = -1, int32_t minK = -1);
    int32_t SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK);
    void EnableMultiCoreSplitK(bool flag);
    // Of the latest tiling.
    int32_t GetSingleShape(int32_t& shapeM, int32_t& shapeN, int32_t& shapeK) const;
    int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim) const;

protected:
    bool divide(AscendC::tiling::TCubeTiling& tiling) const override;

private:
    int32_t cores_ = 1;
    Three single_, single_largest_, single_smallest_, align_;
    bool split_k_ = false;
};

// Many products of one shape, one after the other; the kernel divides the batches among cores.
class BatchMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim, int32_t& batchCoreM, int32_t& batchCoreN) const;
};

}  // namespace matmul_tiling

// Bytes of UB, L1 and L0C that a product with this tiling uses while it runs.
int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize);
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize);
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize);
int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize);

#endif
