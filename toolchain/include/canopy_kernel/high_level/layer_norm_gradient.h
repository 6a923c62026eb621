// SPDX-License-Identifier: Apache-2.0
// The gradients of layer normalisation.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_LAYER_NORM_GRADIENT_H
#define CANOPY_KERNEL_HIGH_LEVEL_LAYER_NORM_GRADIENT_H

#include "canopy_kernel/high_level/normalization_rows.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

}  // namespace AscendC

namespace canopy::kernel {

struct ProductWithDeviation {
    float mean;
    float operator()(float dy, float gamma, float x) const { return dy * gamma * (x - mean); }
};
struct AddProduct {
    float operator()(float sum, float x, float y) const { return sum + x * y; }
};
struct Deviation {
    float mean;
    float operator()(float x) const { return x - mean; }
};

// The gradient of the input and the standardised input, from which LayerNormGradBeta computes the gradient of gamma.
struct LayerNormGradient {
    float mean, rstd;
    float of_variance, of_mean;  // their parts of the gradient of each element
    TwoResults operator()(float dy, float gamma, float x) const {
        const float deviation = x - mean;
        return {dy * gamma * rstd + (of_variance * deviation + of_mean), deviation * rstd};
    }
};

template <class T>
inline void layer_norm_gradient(const CheckedCall& call, const LocalTensor<T>& out, const LocalTensor<T>& for_gamma,
                                const LocalTensor<T>& gradient, const LocalTensor<T>& src,
                                const LocalTensor<T>& variance, const LocalTensor<T>& mean, const LocalTensor<T>& gamma,
                                T epsilon, const LayerNormGradTiling& tiling,
                                const AscendC::LayerNormGradShapeInfo& info) {
    static_assert(is_any_of<T, half, float>, "LayerNormGrad: the data are half or float");
    if (has_no_rows(call.name)) return;
    const NormRows shape = rows_of_tiling(tiling);
    if constexpr (checked)
        if (info.dataFormat != AscendC::DataFormat::ND)
            fail(call.where, "%s: only the format ND is supported", call.name);
    shape.check(call, src);
    call.operand("outputPdX", out, shape.rows * shape.pitch);
    call.operand("resForGamma", for_gamma, shape.rows * shape.pitch, CANOPY_CHECK_WRITE);
    call.operand("inputDy", gradient, shape.rows * shape.pitch);
    call.operand("inputVariance", variance, shape.rows);
    call.operand("inputMean", mean, shape.rows);
    call.operand("inputGamma", gamma, shape.pitch);
    const auto used = static_cast<float>(shape.used);
    const T* scale = gamma.GetPhyAddr();
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const uint64_t at = row * shape.pitch;
        const T *dy = gradient.GetPhyAddr() + at, *x = src.GetPhyAddr() + at;
        const float average = widen(mean.GetPhyAddr()[row]);
        const float rstd = reciprocal_root(widen(variance.GetPhyAddr()[row]) + widen(epsilon));
        const float with_deviation = sum_of(shape.used, ProductWithDeviation{average}, dy, scale, x);
        const float plain = sum_of(shape.used, ProductOfTwo{}, dy, scale);
        const float deviation = sum_of(shape.used, Deviation{average}, x);
        const float of_variance = -0.5f * with_deviation * (rstd * rstd * rstd);
        const float of_mean = -plain * rstd - of_variance * 2.0f * deviation / used;
        compute_pair(shape.pitch, LayerNormGradient{average, rstd, of_variance * 2.0f / used, of_mean / used},
                     out.GetPhyAddr() + at, for_gamma.GetPhyAddr() + at, dy, scale, x);
    }
}

// The gradients of gamma and beta: sums down the columns.
template <class T>
inline void layer_norm_gradient_beta(const CheckedCall& call, const LocalTensor<T>& of_gamma,
                                     const LocalTensor<T>& of_beta, const LocalTensor<T>& for_gamma,
                                     const LocalTensor<T>& gradient, const LayerNormGradBetaTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "LayerNormGradBeta: the data are half or float");
    if (has_no_rows(call.name)) return;
    const NormRows shape = rows_of_tiling(tiling);
    shape.check(call, gradient);
    call.operand("resForGamma", for_gamma, shape.rows * shape.pitch);
    call.operand("outputPdGamma", of_gamma, shape.pitch);
    call.operand("outputPdBeta", of_beta, shape.pitch);
    for_each_strip(shape.pitch, [&](uint64_t first, uint64_t count) {
        float products[column_strip] = {}, gradients[column_strip] = {};
        const float *so_far = products, *plain = gradients;
        for (uint64_t row = 0; row < shape.rows; ++row) {
            const uint64_t at = row * shape.pitch + first;
            const T *standardised = for_gamma.GetPhyAddr() + at, *dy = gradient.GetPhyAddr() + at;
            compute(count, AddProduct{}, products, so_far, dy, standardised);
            compute(count, SumOfTwo{}, gradients, plain, dy);
        }
        compute(count, ValueItself{}, of_gamma.GetPhyAddr() + first, so_far);
        compute(count, ValueItself{}, of_beta.GetPhyAddr() + first, plain);
    });
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,
                          const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
                          const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                          const LocalTensor<T>& inputGamma, LocalTensor<uint8_t>& sharedTmpBuffer, T epsilon,
                          LayerNormGradTiling& tiling, const LayerNormGradShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"LayerNormGrad", where};
    call.scratch(sharedTmpBuffer, outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma);
    canopy::kernel::layer_norm_gradient(call, outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean,
                                        inputGamma, epsilon, tiling, shapeInfo);
}

template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,
                          const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
                          const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                          const LocalTensor<T>& inputGamma, T epsilon, LayerNormGradTiling& tiling,
                          const LayerNormGradShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::layer_norm_gradient({"LayerNormGrad", where}, outputPdX, resForGamma, inputDy, inputX,
                                        inputVariance, inputMean, inputGamma, epsilon, tiling, shapeInfo);
}

template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                              const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                              const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormGradBetaTiling& tiling,
                              CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"LayerNormGradBeta", where};
    call.scratch(sharedTmpBuffer, outputPdGamma, outputPdBeta, resForGamma, inputDy);
    canopy::kernel::layer_norm_gradient_beta(call, outputPdGamma, outputPdBeta, resForGamma, inputDy, tiling);
}

template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                              const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                              LayerNormGradBetaTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::layer_norm_gradient_beta({"LayerNormGradBeta", where}, outputPdGamma, outputPdBeta, resForGamma,
                                             inputDy, tiling);
}

}  // namespace AscendC

#endif
