// SPDX-License-Identifier: Apache-2.0
// Layer normalisation in its two forms, its variant DeepNorm, its gradients, and RmsNorm. The tilings give the shape;
// temporary buffers are not needed here.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_LAYER_NORM_H
#define CANOPY_KERNEL_HIGH_LEVEL_LAYER_NORM_H

#include "canopy_kernel/high_level/normalization_rows.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};

inline constexpr LayerNormConfig LNCFG_NORM = {false, false, false};

struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

}  // namespace AscendC

namespace canopy::kernel {

// The form with batches, sequences and a last axis: returns means and variances.
template <class T>
inline void layer_norm(const CheckedCall& call, const LocalTensor<T>& output, const LocalTensor<T>& mean,
                       const LocalTensor<T>& variance, const LocalTensor<T>& src, const LocalTensor<T>& gamma,
                       const LocalTensor<T>& beta, T epsilon, const LayerNormTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "LayerNorm: the data are half or float");
    if (has_no_rows(call.name)) return;
    const NormRows shape = rows_of_tiling(tiling);
    shape.check(call, src);
    call.operand("the output", output, shape.rows * shape.pitch);
    call.operand("outputMean", mean, shape.rows);
    call.operand("outputVariance", variance, shape.rows);
    call.operand("gamma", gamma, shape.pitch);
    call.operand("beta", beta, shape.pitch);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const T* x = src.GetPhyAddr() + row * shape.pitch;
        const Moments moments = moments_of(shape.used, x);
        const Standardize operation{moments.mean, reciprocal_root(moments.variance + widen(epsilon))};
        standardize<false, false>(shape.pitch, operation, output.GetPhyAddr() + row * shape.pitch, x,
                                  gamma.GetPhyAddr(), beta.GetPhyAddr());
        mean.GetPhyAddr()[row] = narrow<T>(moments.mean);
        variance.GetPhyAddr()[row] = narrow<T>(moments.variance);
    }
}

// The form with rows to keep and an axis to reduce: statistics in float.
template <const AscendC::LayerNormConfig& config, class U, class T>
inline void layer_norm_rows(const CheckedCall& call, const LocalTensor<T>& output, const LocalTensor<float>& mean,
                            const LocalTensor<float>& deviation, const LocalTensor<T>& src, const LocalTensor<U>& gamma,
                            const LocalTensor<U>& beta, float epsilon, const AscendC::LayerNormPara& para) {
    static_assert(is_normalizable<T> && is_normalizable<U>,
                  "LayerNorm: the data, gamma and beta are half or float (3510: bfloat16_t too)");
    static_assert(!config.isOnlyOutput, "LayerNorm: isOnlyOutput must be false");
    if (has_no_rows(call.name)) return;
    const NormRows shape{para.aLength, para.rLengthWithPadding, para.rLength};
    shape.check(call, src);
    call.positive("rLength", para.rLength);
    call.operand("the output", output, shape.rows * shape.pitch);
    call.operand("outputMean", mean, shape.rows);
    call.operand("outputRstd", deviation, shape.rows);
    if constexpr (!config.isNoGamma) call.operand("gamma", gamma, shape.used);
    if constexpr (!config.isNoBeta) call.operand("beta", beta, shape.used);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const T* x = src.GetPhyAddr() + row * shape.pitch;
        const Moments moments = moments_of(shape.used, x);
        const Standardize operation{moments.mean, reciprocal_root(moments.variance + epsilon)};
        standardize<config.isNoGamma, config.isNoBeta>(shape.used, operation, output.GetPhyAddr() + row * shape.pitch,
                                                       x, gamma.GetPhyAddr(), beta.GetPhyAddr());
        mean.GetPhyAddr()[row] = moments.mean;
        deviation.GetPhyAddr()[row] = config.isOutputRstd ? operation.rstd : moments.variance;
    }
}

struct SquareOfValue {
    float operator()(float x) const { return x * x; }
};
struct ScaleAndMultiply {
    float factor;
    float operator()(float x, float gamma) const { return x * factor * gamma; }
};

template <class T>
inline void rms_norm(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const LocalTensor<T>& gamma, T epsilon, const RmsNormTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "RmsNorm: the data are half or float");
    if (has_no_rows(call.name)) return;
    const NormRows shape = rows_of_tiling(tiling);
    shape.check(call, src);
    call.operand("the destination", dst, shape.rows * shape.pitch);
    call.operand("gammaLocal", gamma, shape.pitch);
    const T* scale = gamma.GetPhyAddr();
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const T* x = src.GetPhyAddr() + row * shape.pitch;
        const float mean = sum_of(shape.used, SquareOfValue{}, x) / static_cast<float>(shape.used);
        compute(shape.pitch, ScaleAndMultiply{reciprocal_root(mean + widen(epsilon))},
                dst.GetPhyAddr() + row * shape.pitch, x, scale);
    }
}

// DeepNorm: layer normalisation of alpha * src + gx.
struct DeepSum {
    float alpha;
    float operator()(float x, float gx) const { return x * alpha + gx; }
};
struct DeepDeviation {
    DeepSum deep;
    float mean;
    float operator()(float x, float gx) const { return SquareOfDeviation{mean}(deep(x, gx)); }
};
struct DeepStandardize {
    DeepSum deep;
    Standardize base;
    float operator()(float x, float gx, float gamma, float beta) const { return base(deep(x, gx), gamma, beta); }
};

template <class T>
inline void deep_norm(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<T>& mean,
                      const LocalTensor<T>& variance, const LocalTensor<T>& src, const LocalTensor<T>& gx,
                      const LocalTensor<T>& beta, const LocalTensor<T>& gamma, T alpha, T epsilon,
                      const DeepNormTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "DeepNorm: the data are half or float");
    if (has_no_rows(call.name)) return;
    const NormRows shape = rows_of_tiling(tiling);
    shape.check(call, src);
    call.at_most("the length of a row", shape.pitch, "the limit of this function", 2040);
    call.operand("the destination", dst, shape.rows * shape.pitch);
    call.operand("gxLocal", gx, shape.rows * shape.pitch);
    call.operand("meanLocal", mean, shape.rows, CANOPY_CHECK_WRITE);
    call.operand("rstdLocal", variance, shape.rows, CANOPY_CHECK_WRITE);
    call.operand("gammaLocal", gamma, shape.pitch);
    call.operand("betaLocal", beta, shape.pitch);
    const DeepSum deep{widen(alpha)};
    const auto used = static_cast<float>(shape.used);
    const T *scale = gamma.GetPhyAddr(), *offset = beta.GetPhyAddr();
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const T *x = src.GetPhyAddr() + row * shape.pitch, *g = gx.GetPhyAddr() + row * shape.pitch;
        const float average = sum_of(shape.used, deep, x, g) / used;
        const float spread = sum_of(shape.used, DeepDeviation{deep, average}, x, g) / used;
        const DeepStandardize operation{deep, {average, reciprocal_root(spread + widen(epsilon))}};
        if constexpr (!is_tracing_variant)  // a trace has operations with up to three sources
            compute(shape.pitch, operation, dst.GetPhyAddr() + row * shape.pitch, x, g, scale, offset);
        mean.GetPhyAddr()[row] = narrow<T>(average);
        variance.GetPhyAddr()[row] = narrow<T>(spread);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma,
                      const LocalTensor<T>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                      LayerNormTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"LayerNorm", where};
    call.scratch(sharedTmpBuffer, output, outputMean, outputVariance, inputX, gamma, beta);
    canopy::kernel::layer_norm(call, output, outputMean, outputVariance, inputX, gamma, beta, epsilon, tiling);
}

template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma,
                      const LocalTensor<T>& beta, const T epsilon, LayerNormTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::layer_norm({"LayerNorm", where}, output, outputMean, outputVariance, inputX, gamma, beta, epsilon,
                               tiling);
}

template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                      const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                      const LocalTensor<U>& beta, const float epsilon, const LayerNormPara& para,
                      [[maybe_unused]] const LayerNormSeparateTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::layer_norm_rows<config>({"LayerNorm", where}, output, outputMean, outputRstd, inputX, gamma, beta,
                                            epsilon, para);
}

template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                      const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                      const LocalTensor<U>& beta, const float epsilon, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const LayerNormPara& para, [[maybe_unused]] const LayerNormSeparateTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"LayerNorm", where};
    call.scratch(sharedTmpBuffer, output, outputMean, outputRstd, inputX);
    canopy::kernel::layer_norm_rows<config>(call, output, outputMean, outputRstd, inputX, gamma, beta, epsilon, para);
}

template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal,
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, const RmsNormTiling& tiling,
                    CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"RmsNorm", where};
    call.scratch(sharedTmpBuffer, dstLocal, srcLocal, gammaLocal);
    canopy::kernel::rms_norm(call, dstLocal, srcLocal, gammaLocal, epsilon, tiling);
}

template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal,
                    const T epsilon, const RmsNormTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::rms_norm({"RmsNorm", where}, dstLocal, srcLocal, gammaLocal, epsilon, tiling);
}

// rstdLocal receives the variance, as on the chips.
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
                     const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                     const LocalTensor<T>& gammaLocal, const LocalTensor<uint8_t>& sharedTmpBuffer, const T alpha,
                     const T epsilon, DeepNormTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"DeepNorm", where};
    call.scratch(sharedTmpBuffer, dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal);
    canopy::kernel::deep_norm(call, dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal, alpha,
                              epsilon, tiling);
}

template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
                     const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                     const LocalTensor<T>& gammaLocal, const T alpha, const T epsilon, DeepNormTiling& tiling,
                     CANOPY_WHERE) {
    canopy::kernel::deep_norm({"DeepNorm", where}, dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal,
                              gammaLocal, alpha, epsilon, tiling);
}

}  // namespace AscendC

#endif
