// SPDX-License-Identifier: Apache-2.0
// Mean and variance of data that arrive in tiles: WelfordUpdate keeps them for every position of a tile, and
// WelfordFinalize joins all positions. Normalize applies mean and variance computed elsewhere.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_WELFORD_H
#define CANOPY_KERNEL_HIGH_LEVEL_WELFORD_H

#include <kernel_tiling/vector_configs.h>

#include "canopy_kernel/high_level/normalization_rows.h"

namespace AscendC {

struct WelfordUpdateConfig {
    constexpr WelfordUpdateConfig(const bool isInplaceIn) : isInplace(isInplaceIn) {}
    bool isInplace = false;
};

inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};

struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};

struct WelfordFinalizeConfig {
    constexpr WelfordFinalizeConfig(const bool isCorrectionIn) : isCorrection(isCorrectionIn) {}
    bool isCorrection = false;
};

inline constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};

struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
#if __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 5102
    float rRecWithCorrection;
#endif
};

struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};

inline constexpr NormalizeConfig NLCFG_NORM = {ReducePattern::AR, -1, false, false, false};
inline constexpr NormalizeConfig NLCFG_NOBETA = {ReducePattern::AR, -1, true, false, false};
inline constexpr NormalizeConfig NLCFG_NOGAMMA = {ReducePattern::AR, -1, false, true, false};
inline constexpr NormalizeConfig NLCFG_NOOPT = {ReducePattern::AR, -1, true, true, false};

struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

}  // namespace AscendC

namespace canopy::kernel {

struct WelfordStep {
    float reciprocal;
    TwoResults operator()(float mean, float variance, float x) const {
        const float difference = x - mean;
        const float moved = mean + difference * reciprocal;
        return {moved, variance + difference * (x - moved)};
    }
};

template <const AscendC::WelfordUpdateConfig& config, class T, class U>
inline void welford_update(const CheckedCall& call, const LocalTensor<U>& out_mean, const LocalTensor<U>& out_variance,
                           const LocalTensor<U>& in_mean, const LocalTensor<U>& in_variance, const LocalTensor<T>& src,
                           const AscendC::WelfordUpdateParam& para) {
    static_assert(is_normalizable<T>, "WelfordUpdate: the data are half or float (3510: bfloat16_t too)");
    static_assert(is_same<U, float>, "WelfordUpdate: mean and variance are float");
    if (has_no_rows(call.name)) return;
    if constexpr (tests_parameters) {
        if (checked && para.rnLength != 1)
            fail(call.where, "%s: rnLength is %u; it must be 1", call.name, para.rnLength);
        call.whole_blocks<T>("abLength", para.abLength);
        call.positive("abComputeLength", para.abComputeLength);
        call.at_most("abComputeLength", para.abComputeLength, "abLength", para.abLength);
        call.operand("inputX", src, para.abLength);
        call.operand("inputMean", in_mean, para.abLength);
        call.operand("inputVariance", in_variance, para.abLength);
        call.operand("outputMean", out_mean, para.abLength);
        call.operand("outputVariance", out_variance, para.abLength);
    }
    const uint64_t count = para.abComputeLength;
    const U *mean = in_mean.GetPhyAddr(), *variance = in_variance.GetPhyAddr();
    const T* x = src.GetPhyAddr();
    compute_pair(count, WelfordStep{para.nRec}, out_mean.GetPhyAddr(), out_variance.GetPhyAddr(), mean, variance, x);
    if constexpr (config.isInplace) {
        const uint64_t rest = para.abLength - count;
        move_bytes(out_mean.GetPhyAddr() + count, mean + count, rest * sizeof(U));
        move_bytes(out_variance.GetPhyAddr() + count, variance + count, rest * sizeof(U));
    }
}

// The moments of all positions together; `weight` is the number of elements behind each of them.
struct WeightedValue {
    float weight;
    float operator()(float x) const { return x * weight; }
    float operator()(float x, float count) const { return x * count; }
};
struct JoinedVariance {
    float mean, weight;
    float operator()(float m, float variance) const { return variance + weight * SquareOfDeviation{mean}(m); }
    float operator()(float m, float variance, float count) const {
        return variance + count * SquareOfDeviation{mean}(m);
    }
};
// Counts are integers; they take part in arithmetic as floats.
template <class Operation>
struct WithCount {
    Operation operation;
    float operator()(float x, int32_t count) const { return operation(x, static_cast<float>(count)); }
    float operator()(float x, float y, int32_t count) const { return operation(x, y, static_cast<float>(count)); }
};

template <bool is_corrected>
inline float variance_factor(const AscendC::WelfordFinalizePara& para) {
#if __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 5102
    if (is_corrected) return para.rRecWithCorrection;
#else
    static_assert(!is_corrected, "WelfordFinalize: isCorrection needs chip 3510");
#endif
    return para.rRec;
}

inline bool is_reciprocal(float value, uint64_t of) {
    return math::absolute(value * static_cast<float>(of) - 1.0f) < 1e-3f;
}

inline void check_welford(const CheckedCall& call, const LocalTensor<float>& out_mean,
                          const LocalTensor<float>& out_variance, const LocalTensor<float>& mean,
                          const LocalTensor<float>& variance, const AscendC::WelfordFinalizePara& para,
                          bool has_counts) {
    if constexpr (tests_parameters) {
        call.whole_blocks<float>("abLength", para.abLength);
        call.operand("inputMean", mean, para.abLength);
        call.operand("inputVariance", variance, para.abLength);
        call.operand("outputMean", out_mean, 1);
        call.operand("outputVariance", out_variance, 1);
        if (!checked || has_counts) return;
        if (para.headCountLength + para.tailCountLength != para.abLength)
            fail(call.where, "%s: headCountLength + tailCountLength is %u; it must equal abLength, %u", call.name,
                 para.headCountLength + para.tailCountLength, para.abLength);
        if (para.tailCount == 0 && para.tailCountLength != 0)
            fail(call.where, "%s: tailCountLength is %u without a tailCount", call.name, para.tailCountLength);
        if (para.tailCountLength != 0) return;
        if (!is_reciprocal(para.abRec, para.abLength))
            fail(call.where, "%s: abRec is %g; it must be 1 / abLength", call.name, static_cast<double>(para.abRec));
        if (!is_reciprocal(para.rRec, uint64_t{para.rnLength} * para.abLength))
            fail(call.where, "%s: rRec is %g; it must be 1 / (rnLength * abLength)", call.name,
                 static_cast<double>(para.rRec));
    }
}

template <bool is_corrected>
inline void welford_finalize(const CheckedCall& call, const LocalTensor<float>& out_mean,
                             const LocalTensor<float>& out_variance, const LocalTensor<float>& in_mean,
                             const LocalTensor<float>& in_variance, const LocalTensor<int32_t>* counts,
                             const AscendC::WelfordFinalizePara& para) {
    if (has_no_rows(call.name)) return;
    check_welford(call, out_mean, out_variance, in_mean, in_variance, para, counts != nullptr);
    const float *m = in_mean.GetPhyAddr(), *v = in_variance.GetPhyAddr();
    const float factor = variance_factor<is_corrected>(para);
    float mean, variance;
    if (counts != nullptr) {
        call.operand("counts", *counts, para.abLength);
        const int32_t* c = counts->GetPhyAddr();
        mean = para.rRec * sum_of(para.abLength, WithCount<WeightedValue>{}, m, c);
        variance = sum_of(para.abLength, WithCount<JoinedVariance>{{mean, 0}}, m, v, c);
    } else if (para.tailCountLength == 0) {
        mean = para.abRec * sum_of(para.abLength, ValueItself{}, m);
        variance = sum_of(para.abLength, JoinedVariance{mean, static_cast<float>(para.rnLength)}, m, v);
    } else {
        const uint64_t head = para.headCountLength, tail = para.tailCountLength;
        const auto in_head = static_cast<float>(para.headCount), in_tail = static_cast<float>(para.tailCount);
        mean = para.rRec * (sum_of(head, WeightedValue{in_head}, m) + sum_of(tail, WeightedValue{in_tail}, m + head));
        variance = sum_of(head, JoinedVariance{mean, in_head}, m, v) +
                   sum_of(tail, JoinedVariance{mean, in_tail}, m + head, v + head);
    }
    out_mean.GetPhyAddr()[0] = mean;
    out_variance.GetPhyAddr()[0] = factor * variance;
}

template <const AscendC::NormalizeConfig& config, class U, class T>
inline void normalize(const CheckedCall& call, const LocalTensor<T>& output, const LocalTensor<float>& rstd,
                      const LocalTensor<float>& mean, const LocalTensor<float>& variance, const LocalTensor<T>& src,
                      const LocalTensor<U>& gamma, const LocalTensor<U>& beta, float epsilon,
                      const AscendC::NormalizePara& para) {
    static_assert(is_normalizable<T> && is_normalizable<U>,
                  "Normalize: the data, gamma and beta are half or float (3510: bfloat16_t too)");
    static_assert(config.reducePattern == AscendC::ReducePattern::AR, "Normalize: reducePattern must be AR");
    static_assert(!config.isOnlyOutput, "Normalize: isOnlyOutput must be false");
    if (has_no_rows(call.name)) return;
    const NormRows shape{para.aLength, para.rLengthWithPadding, para.rLength};
    shape.check(call, src);
    call.positive("rLength", para.rLength);
    if constexpr (checked && config.aLength != -1)
        if (static_cast<uint32_t>(config.aLength) != para.aLength)
            fail(call.where, "%s: aLength is %u, that of the configuration is %d", call.name, para.aLength,
                 config.aLength);
    call.operand("the output", output, shape.rows * shape.pitch);
    call.operand("outputRstd", rstd, shape.rows);
    call.operand("inputMean", mean, shape.rows);
    call.operand("inputVariance", variance, shape.rows);
    if constexpr (!config.isNoGamma) call.operand("gamma", gamma, shape.used);
    if constexpr (!config.isNoBeta) call.operand("beta", beta, shape.used);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const uint64_t at = row * shape.pitch;
        const Standardize operation{mean.GetPhyAddr()[row], reciprocal_root(variance.GetPhyAddr()[row] + epsilon)};
        standardize<config.isNoGamma, config.isNoBeta>(shape.used, operation, output.GetPhyAddr() + at,
                                                       static_cast<const T*>(src.GetPhyAddr()) + at, gamma.GetPhyAddr(),
                                                       beta.GetPhyAddr());
        rstd.GetPhyAddr()[row] = operation.rstd;
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                          const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                          const LocalTensor<T>& inputX, const WelfordUpdateParam& para, CANOPY_WHERE) {
    canopy::kernel::welford_update<config>({"WelfordUpdate", where}, outputMean, outputVariance, inputMean,
                                           inputVariance, inputX, para);
}

template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                          const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                          const LocalTensor<T>& inputX, const LocalTensor<uint8_t>& sharedTmpBuffer,
                          const WelfordUpdateParam& para, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"WelfordUpdate", where};
    call.scratch(sharedTmpBuffer, outputMean, outputVariance, inputMean, inputVariance, inputX);
    canopy::kernel::welford_update<config>(call, outputMean, outputVariance, inputMean, inputVariance, inputX, para);
}

// The configuration is a template argument on the chips that can correct the variance.
#if __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 5102
#define CANOPY_FINALIZE bool isReuseSource = false, const WelfordFinalizeConfig &config = WFFINALIZE_DEFAULT_CFG
#define CANOPY_CORRECTED config.isCorrection
#else
#define CANOPY_FINALIZE bool isReuseSource = false
#define CANOPY_CORRECTED false
#endif

template <CANOPY_FINALIZE>
inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                            WelfordFinalizePara& para, CANOPY_WHERE) {
    canopy::kernel::welford_finalize<CANOPY_CORRECTED>({"WelfordFinalize", where}, outputMean, outputVariance,
                                                       inputMean, inputVariance, nullptr, para);
}

template <CANOPY_FINALIZE>
inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                            const LocalTensor<int32_t>& counts, WelfordFinalizePara& para, CANOPY_WHERE) {
    canopy::kernel::welford_finalize<CANOPY_CORRECTED>({"WelfordFinalize", where}, outputMean, outputVariance,
                                                       inputMean, inputVariance, &counts, para);
}

template <CANOPY_FINALIZE>
inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                            const LocalTensor<uint8_t>& sharedTmpBuffer, WelfordFinalizePara& para, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"WelfordFinalize", where};
    call.scratch(sharedTmpBuffer, outputMean, outputVariance, inputMean, inputVariance);
    canopy::kernel::welford_finalize<CANOPY_CORRECTED>(call, outputMean, outputVariance, inputMean, inputVariance,
                                                       nullptr, para);
}

template <CANOPY_FINALIZE>
inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                            const LocalTensor<int32_t>& counts, const LocalTensor<uint8_t>& sharedTmpBuffer,
                            WelfordFinalizePara& para, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"WelfordFinalize", where};
    call.scratch(sharedTmpBuffer, outputMean, outputVariance, inputMean, inputVariance, counts);
    canopy::kernel::welford_finalize<CANOPY_CORRECTED>(call, outputMean, outputVariance, inputMean, inputVariance,
                                                       &counts, para);
}

#undef CANOPY_CORRECTED
#undef CANOPY_FINALIZE

template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                      const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                      const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
                      const LocalTensor<uint8_t>& sharedTmpBuffer, const float epsilon, const NormalizePara& para,
                      CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"Normalize", where};
    call.scratch(sharedTmpBuffer, output, outputRstd, inputMean, inputVariance, inputX);
    canopy::kernel::normalize<config>(call, output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, epsilon,
                                      para);
}

template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                      const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                      const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
                      const float epsilon, const NormalizePara& para, CANOPY_WHERE) {
    canopy::kernel::normalize<config>({"Normalize", where}, output, outputRstd, inputMean, inputVariance, inputX, gamma,
                                      beta, epsilon, para);
}

}  // namespace AscendC

#endif
