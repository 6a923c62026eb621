// SPDX-License-Identifier: Apache-2.0
// Softmax in all its forms: plain, flash, gradient, logarithm. A matrix has srcM rows of srcK columns; maxima and sums
// are taken over the first oriSrcK columns of the first oriSrcM rows. The temporary buffer and the tiling are not
// needed here.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_H

#include "canopy_kernel/high_level/softmax_flash.h"
#include "canopy_kernel/high_level/softmax_gradient.h"
#include "canopy_kernel/high_level/softmax_rows.h"

namespace canopy::kernel {

template <bool is_basic, bool is_nz, const SoftmaxConfig& config, class T, class S>
inline void softmax_with_values(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<S>& sum,
                                const LocalTensor<S>& max, const LocalTensor<T>& src, const SoftMaxTiling& tiling,
                                const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SoftMax: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<is_nz, config>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto sums = row_results<is_single_value<config>>(call, "sumTensor", sum, shape);
    const auto maxima = row_results<is_single_value<config>>(call, "maxTensor", max, shape);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const float largest = shape.largest(row, src.GetPhyAddr());
        sums.set(row, shape.divided_exponentials(row, largest, 0, dst.GetPhyAddr(), src.GetPhyAddr()));
        maxima.set(row, largest);
    }
}

template <bool is_basic, const SoftmaxConfig& config, class T>
inline void softmax_alone(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SoftMax: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<false, config>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    for (uint64_t row = 0; row < shape.rows; ++row)
        shape.divided_exponentials(row, shape.largest(row, src.GetPhyAddr()), 0, dst.GetPhyAddr(), src.GetPhyAddr());
}

// Maxima and sums are inputs.
template <bool is_basic, bool is_nz, const SoftmaxConfig& config, class T, class S>
inline void simple_softmax(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<S>& sum,
                           const LocalTensor<S>& max, const LocalTensor<T>& src, const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SimpleSoftMax: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<is_nz, config>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto sums = row_values<is_single_value<config>>(call, "inSumTensor", sum, shape);
    const auto maxima = row_values<is_single_value<config>>(call, "inMaxTensor", max, shape);
    for (uint64_t row = 0; row < shape.rows; ++row)
        shape.apply(row, ExpMinusDivided{maxima.get(row), sums.get(row)}, dst.GetPhyAddr(), src.GetPhyAddr());
}

// The logarithm to base 10 of the softmax, which stays finite where the softmax itself is too small for its type.
struct LogOfSoftmax {
    float base, log_of_sum;
    float operator()(float x) const { return ((x - base) - log_of_sum) * 0.434294481903f; }
};

template <bool is_nz, class T>
inline void log_softmax(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<T>& sum,
                        const LocalTensor<T>& max, const LocalTensor<T>& src, const LogSoftMaxTiling& tiling,
                        const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "LogSoftMax: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<is_nz>(call, info, src, tiling);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto sums = row_results<false>(call, "sum", sum, shape);
    const auto maxima = row_results<false>(call, "max", max, shape);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const float largest = shape.largest(row, src.GetPhyAddr());
        const float total = shape.sum(row, ExpMinus{largest}, static_cast<const T*>(src.GetPhyAddr()));
        shape.apply(row, LogOfSoftmax{largest, math::log(total)}, dst.GetPhyAddr(), src.GetPhyAddr());
        sums.set(row, total);
        maxima.set(row, largest);
    }
}

// Sets the rows whose maximum has the bits `from`; returns whether there are any.
template <bool is_nz, bool is_single, class T, class S>
inline bool adjust_softmax(const CheckedCall& call, const LocalTensor<T>& result, const LocalTensor<S>& max,
                           uint32_t from, T to, const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T> && is_softmax_type<S>, "AdjustSoftMaxRes: the data are half or float");
    if (has_no_rows(call.name)) return false;
    const auto shape = softmax_rows<is_nz>(call, info, result, SoftMaxTiling{});
    const auto maxima = row_values<is_single>(call, "maxTensor", max, shape);
    call.sized("dst", result, shape.size());
    bool any = false;
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const S value = max.GetPhyAddr()[row * maxima.width];
        if (bits_as<Bits<S>>(value) != static_cast<Bits<S>>(from)) continue;
        any = true;
        shape.layout.for_each_piece(
            row, 0, shape.layout.columns,
            [&](uint32_t, uint64_t count, T* at) {
                for (uint64_t i = 0; i < count; ++i) at[i] = to;
            },
            result.GetPhyAddr());
    }
    return any;
}

}  // namespace canopy::kernel

namespace AscendC {

// Forms with sums and maxima: in the type of the data, and in float for data in half; each without and with a temporary
// buffer.
#define CANOPY_SOFTMAX(Name, function, Data, Value, sum, max)                                                          \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,          \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                       \
    inline void Name(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& sum, const LocalTensor<Value>& max, \
                     const LocalTensor<Data>& srcTensor, const SoftMaxTiling& tiling,                                  \
                     const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {                                    \
        canopy::kernel::function<isBasicBlock, isDataFormatNZ, config>({#Name, where}, dstTensor, sum, max, srcTensor, \
                                                                       tiling, softmaxShapeInfo);                      \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,          \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                       \
    inline void Name(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& sum, const LocalTensor<Value>& max, \
                     const LocalTensor<Data>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,                  \
                     const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {       \
        const canopy::kernel::CheckedCall call{#Name, where};                                                          \
        call.scratch(sharedTmpBuffer, dstTensor, sum, max, srcTensor);                                                 \
        canopy::kernel::function<isBasicBlock, isDataFormatNZ, config>(call, dstTensor, sum, max, srcTensor, tiling,   \
                                                                       softmaxShapeInfo);                              \
    }

CANOPY_SOFTMAX(SoftMax, softmax_with_values, T, T, sumTensor, maxTensor)
CANOPY_SOFTMAX(SoftMax, softmax_with_values, half, float, sumTensor, maxTensor)
CANOPY_SOFTMAX(SimpleSoftMax, simple_softmax, T, T, inSumTensor, inMaxTensor)
CANOPY_SOFTMAX(SimpleSoftMax, simple_softmax, half, float, inSumTensor, inMaxTensor)

#undef CANOPY_SOFTMAX

template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::softmax_alone<isBasicBlock, config>({"SoftMax", where}, dstTensor, srcTensor, tiling,
                                                        softmaxShapeInfo);
}

template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"SoftMax", where};
    call.scratch(sharedTmpBuffer, dstTensor, srcTensor);
    canopy::kernel::softmax_alone<isBasicBlock, config>(call, dstTensor, srcTensor, tiling, softmaxShapeInfo);
}

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                       const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                       const LogSoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"LogSoftMax", where};
    call.scratch(sharedTmpBuffer, dst, sum, max, src);
    canopy::kernel::log_softmax<isDataFormatNZ>(call, dst, sum, max, src, tiling, softmaxShapeInfo);
}

template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
inline bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const uint32_t from,
                             const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo, CANOPY_WHERE) {
    return canopy::kernel::adjust_softmax<isDataFormatNZ, stepSizeMode != 0>({"AdjustSoftMaxRes", where}, softMaxRes,
                                                                             maxTensor, from, to, softmaxShapeInfo);
}

}  // namespace AscendC

#endif
