// SPDX-License-Identifier: Apache-2.0
// libtiling_api: tilings of matrix products. Every tiling it produces is legal on the chip: operand tiles fit twice
// into L0A and L0B, the result tile fits into L0C, and the prefetched tiles fit into L1. Among legal tilings it prefers
// even shares for the cores, then large tiles.
#include "tiling/matmul_tiling.h"

#include <algorithm>

namespace matmul_tiling {
namespace {

using Tiling = AscendC::tiling::TCubeTiling;

constexpr int32_t fractal = 16;

int32_t divide_up(int32_t value, int32_t by) { return (value + by - 1) / by; }
int32_t round_up(int32_t value, int32_t multiple) { return divide_up(value, multiple) * multiple; }

int64_t bits_of(DataType type) {
    switch (type) {
        case DataType::DT_INT4:
        case DataType::DT_FLOAT4_E2M1:
        case DataType::DT_FLOAT4_E1M2:
            return 4;
        case DataType::DT_INT8:
        case DataType::DT_UINT8:
        case DataType::DT_HIFLOAT8:
        case DataType::DT_FLOAT8_E5M2:
        case DataType::DT_FLOAT8_E4M3FN:
        case DataType::DT_FLOAT8_E8M0:
        case DataType::DT_BOOL:
            return 8;
        case DataType::DT_FLOAT16:
        case DataType::DT_BF16:
        case DataType::DT_INT16:
        case DataType::DT_UINT16:
            return 16;
        case DataType::DT_INT64:
        case DataType::DT_UINT64:
        case DataType::DT_DOUBLE:
            return 64;
        default:
            return 32;
    }
}

int64_t bytes(int64_t elements, DataType type) { return elements * bits_of(type) / 8; }

// Elements of k in a row of a fractal; float operands are also read as columns, 16 at a time.
int32_t step_of_k(DataType a, DataType b) {
    const int64_t narrow = std::min(bits_of(a), bits_of(b));
    return std::max<int32_t>(fractal, static_cast<int32_t>(32 * 8 / narrow));
}

bool is_local(TPosition position) {
    return position == TPosition::VECIN || position == TPosition::VECOUT || position == TPosition::VECCALC;
}

// The limit given by the caller, or everything available.
int64_t limit(int32_t asked, int64_t there) { return asked < 0 || asked > there ? there : asked; }

}  // namespace

MatmulApiTilingBase::MatmulApiTilingBase()
    : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}

MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) {
    using platform_ascendc::CoreMemType;
    const auto size = [&](CoreMemType type) {
        uint64_t value = 0;
        platform.GetCoreMemSize(type, value);
        return static_cast<int64_t>(value);
    };
    l1_ = size(CoreMemType::L1) - 256;
    l0a_ = size(CoreMemType::L0_A);
    l0b_ = size(CoreMemType::L0_B);
    l0c_ = size(CoreMemType::L0_C);
    ub_ = size(CoreMemType::UB);
}

MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& platform)
    : l1_(static_cast<int64_t>(platform.l1Size)),
      l0a_(static_cast<int64_t>(platform.l0ASize)),
      l0b_(static_cast<int64_t>(platform.l0BSize)),
      l0c_(static_cast<int64_t>(platform.l0CSize)),
      ub_(static_cast<int64_t>(platform.ubSize)) {}

// --- the caller's settings ------------------------------------------------------------------------------------------

int32_t MatmulApiTilingBase::SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans) {
    a_ = {pos, type, dataType, isTrans};
    return 0;
}

int32_t MatmulApiTilingBase::SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans) {
    b_ = {pos, type, dataType, isTrans};
    return 0;
}

int32_t MatmulApiTilingBase::SetCType(TPosition pos, CubeFormat type, DataType dataType) {
    c_ = {pos, type, dataType, false};
    return 0;
}

int32_t MatmulApiTilingBase::SetBiasType(TPosition pos, CubeFormat type, DataType dataType) {
    bias_ = {pos, type, dataType, false};
    return 0;
}

int32_t MatmulApiTilingBase::SetScaleAType(TPosition, CubeFormat, bool) { return 0; }
int32_t MatmulApiTilingBase::SetScaleBType(TPosition, CubeFormat, bool) { return 0; }
int32_t MatmulApiTilingBase::SetScaleAType(TPosition, CubeFormat, DataType, bool) { return 0; }
int32_t MatmulApiTilingBase::SetScaleBType(TPosition, CubeFormat, DataType, bool) { return 0; }
int32_t MatmulApiTilingBase::SetDequantType(DequantType) { return 0; }

int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k) {
    shape_ = {m, n, k};
    return 0;
}

int32_t MatmulApiTilingBase::SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKIn) {
    return SetOrgShape(orgMIn, orgNIn, orgKIn, orgKIn);
}

int32_t MatmulApiTilingBase::SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKaIn, int32_t orgKbIn) {
    original_ = {orgMIn, orgNIn, orgKaIn};
    original_kb_ = orgKbIn;
    return 0;
}

int32_t MatmulApiTilingBase::SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    a_layout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    b_layout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    c_layout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetBatchNum(int32_t batch) {
    batch_ = batch;
    return 0;
}

int32_t MatmulApiTilingBase::SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k) {
    batch_ = std::max(batchA, batchB);
    batch_shape_ = {m, n, k};
    a_layout_.b = batchA;
    b_layout_.b = batchB;
    return 0;
}

int32_t MatmulApiTilingBase::EnableBias(bool isBiasIn) {
    has_bias_ = isBiasIn;
    return 0;
}

int32_t MatmulApiTilingBase::SetBias(bool isBiasIn) { return EnableBias(isBiasIn); }
int32_t MatmulApiTilingBase::SetSparse(bool) { return 0; }

int32_t MatmulApiTilingBase::SetFixSplit(int32_t baseMIn, int32_t baseNIn, int32_t baseKIn) {
    fixed_ = {baseMIn, baseNIn, baseKIn};
    return 0;
}

int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1Size, int32_t l0CSize, int32_t ubSize, int32_t) {
    l1_ = limit(l1Size, l1_);
    l0c_ = limit(l0CSize, l0c_);
    ub_ = limit(ubSize, ub_);
    return 0;
}

int32_t MatmulApiTilingBase::SetTraverse(MatrixTraverse traverse) {
    traverse_ = traverse;
    return 0;
}

int32_t MatmulApiTilingBase::SetMadType(MatrixMadType madType) {
    mx_ = madType == MatrixMadType::MXMODE;
    return 0;
}

int32_t MatmulApiTilingBase::SetSplitRange(int32_t maxBaseM, int32_t maxBaseN, int32_t maxBaseK, int32_t minBaseM,
                                           int32_t minBaseN, int32_t minBaseK) {
    largest_ = {maxBaseM, maxBaseN, maxBaseK};
    smallest_ = {minBaseM, minBaseN, minBaseK};
    return 0;
}

int32_t MatmulApiTilingBase::SetDoubleBuffer(bool a, bool b, bool c, bool, bool, bool) {
    buffer_a_ = a;
    buffer_b_ = b;
    buffer_c_ = c;
    return 0;
}

void MatmulApiTilingBase::SetMatmulConfigParams(int32_t mmConfigType, bool enableL1CacheUB, ScheduleType scheduleType,
                                                MatrixTraverse traverse, bool enVecND2NZ) {
    SetMatmulConfigParams({mmConfigType, enableL1CacheUB, scheduleType, traverse, enVecND2NZ});
}

void MatmulApiTilingBase::SetMatmulConfigParams(const MatmulConfigParams& configParams) {
    config_ = configParams;
    if (configParams.traverse != MatrixTraverse::NOSET) traverse_ = configParams.traverse;
}

// --- the tiling -----------------------------------------------------------------------------------------------------

bool MatmulApiTilingBase::check() const {
    if (shape_.m <= 0 || shape_.n <= 0 || shape_.k <= 0) return false;
    for (const int32_t fixed : {fixed_.m, fixed_.n})
        if (fixed != -1 && (fixed <= 0 || fixed % fractal != 0)) return false;
    return fixed_.k == -1 || fixed_.k > 0;
}

bool MatmulApiTilingBase::divide(Tiling& tiling) const {
    tiling.usedCoreNum = 1;
    tiling.singleCoreM = shape_.m;
    tiling.singleCoreN = shape_.n;
    tiling.singleCoreK = shape_.k;
    return true;
}

// Chooses the tile size: as large as L0C, L0A and L0B allow, but no larger than a core's share.
bool MatmulApiTilingBase::choose_base(Tiling& tiling) const {
    const auto bounded = [](int32_t value, int32_t lowest, int32_t highest) {
        if (highest > 0) value = std::min(value, highest / fractal * fractal);
        if (lowest > 0) value = std::max(value, round_up(lowest, fractal));
        return value;
    };
    const int64_t copies_c = buffer_c_ ? 2 : 1;
    const int32_t step = step_of_k(a_.type, b_.type);
    int32_t m = fixed_.m > 0 ? fixed_.m
                             : bounded(std::min(128, round_up(tiling.singleCoreM, fractal)), smallest_.m, largest_.m);
    int32_t n = fixed_.n > 0
                    ? fixed_.n
                    : bounded(std::min(is_local(c_.position) ? 128 : 256, round_up(tiling.singleCoreN, fractal)),
                              smallest_.n, largest_.n);
    // If L0C (or UB, for a result that goes there) is too small, shrink the sides the caller left open, longer side
    // first.
    const auto fits = [&] {
        if (int64_t{m} * n * 4 * copies_c > l0c_) return false;
        return !is_local(c_.position) || bytes(int64_t{m} * n, c_.type) <= ub_;
    };
    while (!fits()) {
        const bool shorten_n = fixed_.m > 0 || (fixed_.n <= 0 && n >= m);
        int32_t& side = shorten_n ? n : m;
        if ((shorten_n && fixed_.n > 0) || side <= fractal) return false;
        side = round_up(side / 2, fractal);
    }
    const int64_t copies_a = buffer_a_ ? 2 : 1, copies_b = buffer_b_ ? 2 : 1;
    const int64_t k_limit =
        std::min(l0a_ * 8 / (copies_a * m * bits_of(a_.type)), l0b_ * 8 / (copies_b * n * bits_of(b_.type)));
    int32_t k = static_cast<int32_t>(std::min<int64_t>(k_limit / step * step, round_up(tiling.singleCoreK, step)));
    if (largest_.k > 0) k = std::min(k, std::max(step, largest_.k / step * step));
    if (fixed_.k > 0) k = round_up(fixed_.k, step);
    if (k < step || k > std::max<int64_t>(k_limit, step)) return false;
    if (bytes(int64_t{m} * k, a_.type) > l0a_ || bytes(int64_t{n} * k, b_.type) > l0b_) return false;
    const auto copies = [](bool wanted, int64_t tile, int64_t memory) { return wanted && 2 * tile <= memory ? 2 : 1; };
    tiling.baseM = m;
    tiling.baseN = n;
    tiling.baseK = k;
    tiling.dbL0A = copies(buffer_a_, bytes(int64_t{m} * k, a_.type), l0a_);
    tiling.dbL0B = copies(buffer_b_, bytes(int64_t{n} * k, b_.type), l0b_);
    tiling.dbL0C = copies(buffer_c_, int64_t{m} * n * 4, l0c_);
    return true;
}

// Chooses how many operand tiles are prefetched into L1: two of each, then more along k while they fit.
bool MatmulApiTilingBase::choose_depth(Tiling& tiling) const {
    const int64_t tile_a = bytes(int64_t{tiling.baseM} * tiling.baseK, a_.type);
    const int64_t tile_b = bytes(int64_t{tiling.baseN} * tiling.baseK, b_.type);
    const int64_t bias = has_bias_ ? bytes(tiling.baseN, bias_.type) : 0;
    const int32_t steps_k = divide_up(tiling.singleCoreK, tiling.baseK);
    int32_t step = 1, copies = 2;
    const auto fits = [&](int32_t steps, int32_t many) { return many * steps * (tile_a + tile_b) + bias <= l1_; };
    if (!fits(1, 2)) copies = 1;
    if (!fits(1, copies)) return false;
    if (config_.mmConfigType != 0 || config_.scheduleType == ScheduleType::N_BUFFER_33)
        while (step * 2 <= steps_k && fits(step * 2, copies)) step *= 2;
    tiling.stepM = 1;
    tiling.stepN = 1;
    tiling.stepKa = step;
    tiling.stepKb = step;
    tiling.depthA1 = step * std::min(copies, divide_up(steps_k, step) > 1 ? copies : 1);
    tiling.depthB1 = step * std::min(copies, divide_up(steps_k, step) > 1 ? copies : 1);
    return true;
}

void MatmulApiTilingBase::fill_rest(Tiling& tiling) const {
    tiling.M = original_.m > 0 ? original_.m : shape_.m;
    tiling.N = original_.n > 0 ? original_.n : shape_.n;
    tiling.Ka = original_.k > 0 ? original_.k : shape_.k;
    tiling.Kb = original_kb_ > 0 ? original_kb_ : shape_.k;
    tiling.isBias = has_bias_;
    tiling.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
    const int64_t tile_a = bytes(int64_t{tiling.baseM} * tiling.baseK, a_.type);
    const int64_t tile_b = bytes(int64_t{tiling.baseN} * tiling.baseK, b_.type);
    tiling.shareL1Size = static_cast<int32_t>(tiling.depthA1 * tile_a + tiling.depthB1 * tile_b +
                                              (has_bias_ ? bytes(tiling.baseN, bias_.type) : 0));
    tiling.shareL0CSize = tiling.baseM * tiling.baseN * 4 * tiling.dbL0C;
    tiling.transLength =
        static_cast<int32_t>(std::max(std::max(tile_a, tile_b), bytes(int64_t{tiling.baseM} * tiling.baseN, c_.type)));
    tiling.shareUbSize = is_local(c_.position) || is_local(a_.position) ? tiling.transLength : 0;
    tiling.batchM = tiling.batchN = tiling.singleBatchM = tiling.singleBatchN = 1;
    tiling.BatchNum = batch_;
    tiling.ALayoutInfoB = a_layout_.b, tiling.ALayoutInfoS = a_layout_.s, tiling.ALayoutInfoN = a_layout_.n;
    tiling.ALayoutInfoG = a_layout_.g, tiling.ALayoutInfoD = a_layout_.d;
    tiling.BLayoutInfoB = b_layout_.b, tiling.BLayoutInfoS = b_layout_.s, tiling.BLayoutInfoN = b_layout_.n;
    tiling.BLayoutInfoG = b_layout_.g, tiling.BLayoutInfoD = b_layout_.d;
    tiling.CLayoutInfoB = c_layout_.b, tiling.CLayoutInfoS1 = c_layout_.s, tiling.CLayoutInfoN = c_layout_.n;
    tiling.CLayoutInfoG = c_layout_.g, tiling.CLayoutInfoS2 = c_layout_.d;
    tiling.mxTypePara = mx_ ? 0x01010101 : 0;
}

int64_t MatmulApiTilingBase::GetTiling(Tiling& tiling) {
    Tiling made;
    if (!check() || !divide(made) || !choose_base(made) || !choose_depth(made)) return -1;
    fill_rest(made);
    result_ = made;
    tiling = made;
    return 0;
}

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling& tiling) {
    Tiling made;
    const int64_t status = GetTiling(made);
    if (status != 0) return status;
#define CANOPY_FIELD(name) tiling.set_##name(made.name);
    CANOPY_CUBE_TILING_FIELDS(CANOPY_FIELD)
#undef CANOPY_FIELD
    return 0;
}

// --- several cores --------------------------------------------------------------------------------------------------

int32_t MultiCoreMatmulTiling::SetDim(int32_t dim) {
    if (dim <= 0) return -1;
    cores_ = dim;
    return 0;
}

int32_t MultiCoreMatmulTiling::SetShape(int32_t m, int32_t n, int32_t k) {
    return MatmulApiTilingBase::SetShape(m, n, k);
}

int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t singleMIn, int32_t singleNIn, int32_t singleKIn) {
    single_ = {singleMIn, singleNIn, singleKIn};
    return 0;
}

int32_t MultiCoreMatmulTiling::SetSingleRange(int32_t maxM, int32_t maxN, int32_t maxK, int32_t minM, int32_t minN,
                                              int32_t minK) {
    single_largest_ = {maxM, maxN, maxK};
    single_smallest_ = {minM, minN, minK};
    return 0;
}

int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK) {
    align_ = {alignM, alignN, alignK};
    return 0;
}

void MultiCoreMatmulTiling::EnableMultiCoreSplitK(bool flag) { split_k_ = flag; }

int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t& shapeM, int32_t& shapeN, int32_t& shapeK) const {
    if (result_.usedCoreNum <= 0) return -1;
    shapeM = result_.singleCoreM;
    shapeN = result_.singleCoreN;
    shapeK = result_.singleCoreK;
    return 0;
}

int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim) const {
    if (result_.usedCoreNum <= 0) return -1;
    dim = result_.usedCoreNum;
    mDim = divide_up(shape_.m, result_.singleCoreM);
    nDim = divide_up(shape_.n, result_.singleCoreN);
    return 0;
}

// Tries every number of parts along m and n (and k, when allowed) for which there are enough cores. Prefers the
// smallest maximum share of a core, then shares without a remainder, then shares close to square, which read least.
bool MultiCoreMatmulTiling::divide(Tiling& tiling) const {
    const auto share = [](int32_t whole, int32_t parts, int32_t fixed, int32_t align) {
        if (fixed > 0) return std::min(fixed, whole);
        return std::min(whole, round_up(divide_up(whole, parts), align > 0 ? align : fractal));
    };
    bool found = false;
    int64_t best_work = 0, best_edge = 0;
    bool best_whole = false;
    const int32_t k_parts = split_k_ ? cores_ : 1;
    for (int32_t parts_k = 1; parts_k <= k_parts; ++parts_k)
        for (int32_t parts_m = 1; parts_m * parts_k <= cores_; ++parts_m) {
            const int32_t parts_n = cores_ / (parts_m * parts_k);
            const int32_t m = share(shape_.m, parts_m, single_.m, align_.m);
            const int32_t n = share(shape_.n, parts_n, single_.n, align_.n);
            const int32_t k = split_k_
                                  ? share(shape_.k, parts_k, single_.k, std::max(align_.k, step_of_k(a_.type, b_.type)))
                              : single_.k > 0 ? std::min(single_.k, shape_.k)
                                              : shape_.k;
            if (single_largest_.m > 0 && m > single_largest_.m) continue;
            if (single_largest_.n > 0 && n > single_largest_.n) continue;
            const int64_t used = int64_t{divide_up(shape_.m, m)} * divide_up(shape_.n, n) * divide_up(shape_.k, k);
            if (used > cores_) continue;
            const int64_t work = int64_t{round_up(m, fractal)} * round_up(n, fractal) * k;
            const int64_t edge = int64_t{m} + n;
            const bool whole = shape_.m % m == 0 && shape_.n % n == 0 && shape_.k % k == 0;
            if (found && (work > best_work || (work == best_work && best_whole && !whole) ||
                          (work == best_work && best_whole == whole && edge >= best_edge)))
                continue;
            found = true;
            best_work = work, best_edge = edge, best_whole = whole;
            tiling.usedCoreNum = static_cast<int32_t>(used);
            tiling.singleCoreM = m;
            tiling.singleCoreN = n;
            tiling.singleCoreK = k;
        }
    return found;
}

int32_t BatchMatmulTiling::GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim, int32_t& batchCoreM,
                                      int32_t& batchCoreN) const {
    if (result_.usedCoreNum <= 0) return -1;
    dim = mDim = nDim = batchCoreM = batchCoreN = 1;
    return 0;
}

}  // namespace matmul_tiling

int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize) {
    bufSize = {tiling.shareUbSize, tiling.shareL1Size, tiling.shareL0CSize};
    return 0;
}

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize) {
    bufSize = {tiling.get_shareUbSize(), tiling.get_shareL1Size(), tiling.get_shareL0CSize()};
    return 0;
}

int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize) {
    return MatmulGetTmpBufSize(tiling, bufSize);
}

int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize) {
    return MatmulGetTmpBufSize(tiling, bufSize);
}
