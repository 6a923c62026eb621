// SPDX-License-Identifier: Apache-2.0
// Matrix products with scales (MX) and with a sparse right factor, the loads that go with them, and
// LoadDataWithStride.
#ifndef CANOPY_KERNEL_SCALED_PRODUCT_H
#define CANOPY_KERNEL_SCALED_PRODUCT_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/cube/cube_image.h"
#include "canopy_kernel/cube/scaled_multiply.h"
#include "canopy_kernel/cube/sparse_multiply.h"

// Names for small floats whose scales are loaded with them.
using mx_fp8_e4m3_t = fp8_e4m3fn_t;
using mx_fp8_e5m2_t = fp8_e5m2_t;
using mx_fp4x2_e2m1_t = fp4x2_e2m1_t;
using mx_fp4x2_e1m2_t = fp4x2_e1m2_t;

namespace AscendC {

using ::mx_fp4x2_e1m2_t;
using ::mx_fp4x2_e2m1_t;
using ::mx_fp8_e4m3_t;
using ::mx_fp8_e5m2_t;

// A rectangle of scales: x counts groups of 16 rows (or columns), y pairs of scales; strides are 32 bytes between x.
struct LoadData2DMxParams {
    LoadData2DMxParams() = default;
    LoadData2DMxParams(const uint16_t xStartPositionIn, const uint16_t yStartPositionIn, const uint8_t xStepIn,
                       const uint8_t yStepIn, const uint16_t srcStrideIn, const uint16_t dstStrideIn)
        : xStartPosition(xStartPositionIn),
          yStartPosition(yStartPositionIn),
          xStep(xStepIn),
          yStep(yStepIn),
          srcStride(srcStrideIn),
          dstStride(dstStrideIn) {}
    uint16_t xStartPosition = 0;
    uint16_t yStartPosition = 0;
    uint8_t xStep = 0;
    uint8_t yStep = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;
};

// The parameters of a product as a word, as the instruction takes them: m, k and n from bit 0 up, 12 bits each, then
// unitFlag (2 bits, bit 55), disableGemv, cmatrixSource and cmatrixInitVal in the highest bits.
class MmadBitModeParams {
public:
    MmadBitModeParams() = default;
    MmadBitModeParams(const MmadParams& mmadParams_) {
        SetM(mmadParams_.m), SetK(mmadParams_.k), SetN(mmadParams_.n);
        SetUnitFlag(mmadParams_.unitFlag);
        SetDisableGemv(mmadParams_.disableGemv);
        SetCmatrixSource(mmadParams_.cmatrixSource);
        SetCmatrixInitVal(mmadParams_.cmatrixInitVal);
    }
    void SetM(uint16_t m_) { set(0, 12, m_); }
    void SetK(uint16_t k_) { set(12, 12, k_); }
    void SetN(uint16_t n_) { set(24, 12, n_); }
    void SetUnitFlag(uint8_t unitFlag_) { set(55, 2, unitFlag_); }
    void SetDisableGemv(bool disableGemv_) { set(61, 1, disableGemv_); }
    void SetCmatrixSource(bool cmatrixSource_) { set(62, 1, cmatrixSource_); }
    void SetCmatrixInitVal(bool cmatrixInitVal_) { set(63, 1, cmatrixInitVal_); }
    void SetConfig0(uint64_t config0_) { word_ = config0_; }
    uint16_t GetM() const { return static_cast<uint16_t>(get(0, 12)); }
    uint16_t GetK() const { return static_cast<uint16_t>(get(12, 12)); }
    uint16_t GetN() const { return static_cast<uint16_t>(get(24, 12)); }
    uint8_t GetUnitFlag() const { return static_cast<uint8_t>(get(55, 2)); }
    bool GetDisableGemv() const { return get(61, 1) != 0; }
    bool GetCmatrixSource() const { return get(62, 1) != 0; }
    bool GetCmatrixInitVal() const { return get(63, 1) != 0; }
    uint64_t GetConfig0() const { return word_; }

private:
    void set(unsigned at, unsigned bits, uint64_t value) {
        const uint64_t mask = ((uint64_t{1} << bits) - 1) << at;
        word_ = (word_ & ~mask) | ((value << at) & mask);
    }
    uint64_t get(unsigned at, unsigned bits) const { return word_ >> at & ((uint64_t{1} << bits) - 1); }

    uint64_t word_ = 0;
};

}  // namespace AscendC

namespace canopy::kernel {

inline AscendC::MmadParams params_of(const AscendC::MmadParams& params) { return params; }
inline AscendC::MmadParams params_of(const AscendC::MmadBitModeParams& word) {
    AscendC::MmadParams params(word.GetM(), word.GetN(), word.GetK(), word.GetUnitFlag(), word.GetCmatrixSource(),
                               word.GetCmatrixInitVal());
    params.disableGemv = word.GetDisableGemv();
    return params;
}

template <class C, class A, class B>
inline void multiply_scaled(const LocalTensor<C>& c, const LocalTensor<A>& a, const LocalTensor<B>& b, const C* bias,
                            const AscendC::MmadParams& params, Where where) {
    static_assert(is_same<C, float>, "MmadMx: the result is float");
    static_assert(is_scaled_factor<A> && is_scaled_factor<B> && packing<A> == packing<B>,
                  "MmadMx: the factors are fp8_e4m3fn_t and fp8_e5m2_t, or fp4x2_e2m1_t and fp4x2_e1m2_t");
    if (on_vector_core() || params.m == 0 || params.n == 0 || params.k == 0) return;
    check_product(c, a, b, params, where);
    require_whole_groups("MmadMx", params.k, where);
    CanopyProduct product = product_of_fractals<C, A, B>(c.GetPhyAddr(), a.GetPhyAddr(), b.GetPhyAddr(), bias, params.m,
                                                         params.n, params.k, bias == nullptr && !params.cmatrixInitVal);
    add_scales(product);
    multiply(product);
}

// In the checking variant: the operands of a product with scales.
template <class C, class A, class B, class Params>
inline void add_scaled_product(const Instruction& instruction, const LocalTensor<C>& c, const LocalTensor<A>& a,
                               const LocalTensor<B>& b, const Params& word, bool has_bias) {
    if constexpr (is_checking_variant) {
        if (on_vector_core()) return;
        const AscendC::MmadParams params = params_of(word);
        add_product(instruction, c, a, b, params.k,
                    {params.m, params.n, params.k, !has_bias && !params.cmatrixInitVal, false, false}, params.unitFlag);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

#if __NPU_ARCH__ >= 3003

// Loads data and the scales that belong to it.
template <class T, class U = T>
inline void LoadData(const LocalTensor<U>& dst, const LocalTensor<T>& src, const LocalTensor<fp8_e8m0_t>& srcMx,
                     const LoadData2DParamsV2& loadDataParams, const LoadData2DMxParams& loadMxDataParams,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_scaled_factor<T> && sizeof(U) == sizeof(T),
                  "LoadData with scales: the data is fp8_e4m3fn_t, fp8_e5m2_t, fp4x2_e2m1_t or fp4x2_e1m2_t");
    if (on_vector_core()) return;
    const Instruction instruction(PIPE_MTE1, "LoadData", where, load_flow(loadDataParams.ifTranspose));
    add_load(dst, src.template ReinterpretCast<U>(), loadDataParams);
    LoadData(dst, src.template ReinterpretCast<U>(), loadDataParams, where);
    require_memory(srcMx, Hardware::L1, "the source of the scales of LoadData", where);
    const LoadData2DMxParams& scales = loadMxDataParams;
    const Hardware memory = memory_of(dst.position());
    unsigned char* to = scales_of(dst.GetPhyAddr(), memory);
    const auto* from = reinterpret_cast<const unsigned char*>(srcMx.GetPhyAddr());
    instruction.reads(
        "srcMx", srcMx,
        from + (int64_t{scales.xStartPosition} * scales.srcStride + scales.yStartPosition) * scale_fractal,
        {uint64_t{scales.yStep} * scale_fractal, uint64_t{scales.srcStride} * scale_fractal, scales.xStep});
    if constexpr (checked) {
        const uint64_t end = (uint64_t{scales.dstStride} * (scales.xStep - 1u) + scales.yStep) * scale_fractal;
        const auto room = static_cast<uint64_t>(scale_memory(memory) + scale_memory_size - to);
        if (scales.xStep != 0 && scales.yStep != 0 && end > room)
            fail(where, "LoadData: %llu bytes of scales, %llu are left beside %s", printable(end), printable(room),
                 name_of(memory));
    }
    for (int64_t x = 0; x < scales.xStep; ++x)
        __builtin_memcpy(
            to + x * scales.dstStride * scale_fractal,
            from + ((scales.xStartPosition + x) * scales.srcStride + scales.yStartPosition) * scale_fractal,
            static_cast<size_t>(scales.yStep * scale_fractal));
}

#define CANOPY_SCALED_PRODUCT(Params)                                                                             \
    template <class T, class U, class S>                                                                          \
    inline void MmadMx(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,         \
                       const Params& mmadParams, canopy::kernel::Where where = canopy::kernel::here()) {          \
        const canopy::kernel::Instruction instruction(PIPE_M, "MmadMx", where, CANOPY_CHECK_USE);                 \
        canopy::kernel::add_scaled_product(instruction, dst, fm, filter, mmadParams, false);                      \
        canopy::kernel::multiply_scaled<T, U, S>(dst, fm, filter, nullptr, canopy::kernel::params_of(mmadParams), \
                                                 where);                                                          \
    }                                                                                                             \
    template <class T, class U, class S, class V>                                                                 \
    inline void MmadMx(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,         \
                       const LocalTensor<V>& bias, const Params& mmadParams,                                      \
                       canopy::kernel::Where where = canopy::kernel::here()) {                                    \
        static_assert(canopy::kernel::is_same<T, V>, "MmadMx: the bias has the type of the result");              \
        const canopy::kernel::Instruction instruction(PIPE_M, "MmadMx", where, CANOPY_CHECK_USE);                 \
        canopy::kernel::add_scaled_product(instruction, dst, fm, filter, mmadParams, true);                       \
        instruction.reads("bias", bias, canopy::kernel::params_of(mmadParams).n * sizeof(V));                     \
        canopy::kernel::multiply_scaled<T, U, S>(dst, fm, filter, bias.GetPhyAddr(),                              \
                                                 canopy::kernel::params_of(mmadParams), where);                   \
    }
CANOPY_SCALED_PRODUCT(MmadParams)
CANOPY_SCALED_PRODUCT(MmadBitModeParams)
#undef CANOPY_SCALED_PRODUCT

struct LoadDataRepeatParamWithStride {
    LoadDataRepeatParamWithStride() = default;
    LoadDataRepeatParamWithStride(const uint16_t repeatStrideIn, const uint8_t repeatTimeIn, const uint8_t repeatModeIn,
                                  const uint16_t dstStrideIn)
        : repeatStride(repeatStrideIn), repeatTime(repeatTimeIn), repeatMode(repeatModeIn), dstStride(dstStrideIn) {}
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
    uint16_t dstStride = 0;
};

// Sets how LoadDataWithStride stores: fractals `dstStride` apart along k. Programs call it before the load.
inline void SetLoadDataRepeatWithStride(const LoadDataRepeatParamWithStride& repeatParams,
                                        canopy::kernel::Where where = canopy::kernel::here()) {
    if (repeatParams.repeatTime > 1)
        canopy::kernel::fail(where, "SetLoadDataRepeatWithStride: %u repeats are not supported by Canopy yet",
                             repeatParams.repeatTime);
    auto& cube = canopy::kernel::core_state().cube;
    cube.image_set = true;
    cube.image_repeats = repeatParams.repeatTime;
    cube.image_stride = repeatParams.dstStride;
}

template <class T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, class U = T>
inline void LoadDataWithStride(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LoadData3DParamsV2<U>& loadDataParams,
                               canopy::kernel::Where where = canopy::kernel::here()) {
    if (canopy::kernel::on_vector_core()) return;
    const auto& cube = canopy::kernel::core_state().cube;
    if (!cube.image_set) canopy::kernel::fail(where, "LoadDataWithStride: call SetLoadDataRepeatWithStride first");
    if (cube.image_repeats == 0) return;
    canopy::kernel::load_image_of<T, defaultConfig>(dst, src, loadDataParams, cube.image_stride, where);
}

#endif

#if __NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3002

// Loads fractals of the stored values, and the part of the index that belongs to them.
template <class T = int8_t, class U = uint8_t>
inline void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& idx,
                               const LoadData2dParams& loadDataParam,
                               canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_same<T, int8_t> && is_same<U, uint8_t>, "LoadDataWithSparse: int8_t values and a uint8_t index");
    if (on_vector_core()) return;
    require_memory(src, Hardware::L1, "the source of LoadDataWithSparse", where);
    require_memory(idx, Hardware::L1, "the index of LoadDataWithSparse", where);
    require_memory(dst, Hardware::L0B, "the destination of LoadDataWithSparse", where);
    const uint64_t first = loadDataParam.startIndex, count = loadDataParam.repeatTimes;
    const Instruction instruction(PIPE_MTE1, "LoadDataWithSparse", where);
    if constexpr (is_checking_variant) {
        const uint64_t bytes = count * fractal_bytes, before = first * fractal_bytes;
        instruction.writes("dst", dst, bytes);
        instruction.reads("src", src, src.GetPhyAddr() + before, {bytes});
        instruction.reads("idx", idx, idx.GetPhyAddr() + before / data_per_index, {bytes / data_per_index});
    } else {
        check_extent("LoadDataWithSparse", "destination", dst, count * fractal_bytes, where);
        check_extent("LoadDataWithSparse", "source", src, (first + count) * fractal_bytes, where);
        check_extent("LoadDataWithSparse", "index", idx, (first + count) * fractal_bytes / data_per_index, where);
    }
    __builtin_memcpy(dst.GetPhyAddr(), src.GetPhyAddr() + first * fractal_bytes, count * fractal_bytes);
    __builtin_memcpy(sparse_index_of(dst.GetPhyAddr()), idx.GetPhyAddr() + first * fractal_bytes / data_per_index,
                     count * fractal_bytes / data_per_index);
}

// k is that of the left factor; the right one has k / 2 stored rows.
template <class T = int32_t, class U = int8_t>
inline void MmadWithSparse(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<U>& filter,
                           const MmadParams& mmadParams, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_same<T, int32_t> && is_same<U, int8_t>, "MmadWithSparse: int8_t factors and an int32_t result");
    if (on_vector_core() || mmadParams.m == 0 || mmadParams.n == 0 || mmadParams.k == 0) return;
    require_memory(dst, Hardware::L0C, "the result of MmadWithSparse", where);
    require_memory(fm, Hardware::L0A, "the left factor of MmadWithSparse", where);
    require_memory(filter, Hardware::L0B, "the right factor of MmadWithSparse", where);
    if (mmadParams.k % 64 != 0) fail(where, "MmadWithSparse: k is %u; it must be a multiple of 64", mmadParams.k);
    const CanopyProduct product =
        product_of_fractals<T, U, U>(dst.GetPhyAddr(), fm.GetPhyAddr(), filter.GetPhyAddr(), nullptr, mmadParams.m,
                                     mmadParams.n, mmadParams.k, mmadParams.isBias || !mmadParams.cmatrixInitVal);
    const Instruction instruction(PIPE_M, "MmadWithSparse", where, CANOPY_CHECK_USE);
    if constexpr (is_checking_variant)
        add_product(instruction, dst, fm, filter, mmadParams.k / 2u,
                    {mmadParams.m, mmadParams.n, mmadParams.k, product.accumulate != 0, false, false},
                    mmadParams.unitFlag);
    const int64_t columns = (mmadParams.n + 15) / 16;
    const SparseMatrix matrix{
        filter.GetPhyAddr(), sparse_index_of(filter.GetPhyAddr()), 1, columns * fractal_bytes, 32, columns};
    const auto* left = fm.GetPhyAddr();
    multiply_sparse(product, matrix, 0, 0,
                    [&](CanopyProduct& part, int64_t k) { part.a = left + k / 32 * part.a_blocks.column_stride; });
}

#endif

}  // namespace AscendC

#endif
