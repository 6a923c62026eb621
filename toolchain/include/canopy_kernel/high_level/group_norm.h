// SPDX-License-Identifier: Apache-2.0
// Normalisations over other axes: BatchNorm over the first one, GroupNorm over groups of channels.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_GROUP_NORM_H
#define CANOPY_KERNEL_HIGH_LEVEL_GROUP_NORM_H

#include "canopy_kernel/high_level/normalization_rows.h"

namespace canopy::kernel {

struct AddSquareOfDeviation {
    float operator()(float sum, float x, float mean) const { return sum + SquareOfDeviation{mean}(x); }
};
struct RootOfSum {
    float epsilon;
    float operator()(float variance) const { return reciprocal_root(variance + epsilon); }
};
struct StandardizeByColumn {
    float gamma, beta;
    float operator()(float x, float mean, float rstd) const { return Standardize{mean, rstd}(x, gamma, beta); }
};

// Rows are batches: means and variances are those of the columns, gamma and beta have one element per batch.
template <class T>
inline void batch_norm(const CheckedCall& call, const LocalTensor<T>& output, const LocalTensor<T>& mean,
                       const LocalTensor<T>& variance, const LocalTensor<T>& src, const LocalTensor<T>& gamma,
                       const LocalTensor<T>& beta, T epsilon, const BatchNormTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "BatchNorm: the data are half or float");
    if (has_no_rows(call.name)) return;
    const uint64_t batches = tiling.originalBLength, columns = tiling.meanVarSize;
    call.positive("originalBLength", batches);
    call.whole_blocks<T>("the length of a batch", columns);
    call.operand("the source", src, batches * columns);
    call.operand("the output", output, batches * columns);
    call.operand("outputMean", mean, columns);
    call.operand("outputVariance", variance, columns);
    call.operand("gamm", gamma, batches);
    call.operand("beta", beta, batches);
    const TimesFactor share{1.0f / static_cast<float>(batches)};
    for_each_strip(columns, [&](uint64_t first, uint64_t count) {
        float averages[column_strip] = {}, spreads[column_strip] = {};
        const float *average = averages, *spread = spreads;
        const auto row = [&](uint64_t b) { return static_cast<const T*>(src.GetPhyAddr()) + b * columns + first; };
        for (uint64_t b = 0; b < batches; ++b) compute(count, SumOfTwo{}, averages, average, row(b));
        compute(count, share, averages, average);
        for (uint64_t b = 0; b < batches; ++b) compute(count, AddSquareOfDeviation{}, spreads, spread, row(b), average);
        compute(count, share, spreads, spread);
        compute(count, ValueItself{}, mean.GetPhyAddr() + first, average);
        compute(count, ValueItself{}, variance.GetPhyAddr() + first, spread);
        compute(count, RootOfSum{widen(epsilon)}, spreads, spread);
        for (uint64_t b = 0; b < batches; ++b) {
            const StandardizeByColumn operation{widen(gamma.GetPhyAddr()[b]), widen(beta.GetPhyAddr()[b])};
            compute(count, operation, output.GetPhyAddr() + b * columns + first, row(b), average, spread);
        }
    });
}

struct StandardizeChannel {
    Standardize base;
    float gamma, beta;
    float operator()(float x) const { return base(x, gamma, beta); }
};

// A group is `d` channels of `hw` elements, each with padding up to `hwAlignSize`; gamma and beta have one element per
// channel.
template <class T>
inline void group_norm(const CheckedCall& call, const LocalTensor<T>& output, const LocalTensor<T>& mean,
                       const LocalTensor<T>& variance, const LocalTensor<T>& src, const LocalTensor<T>& gamma,
                       const LocalTensor<T>& beta, T epsilon, const GroupNormTiling& tiling) {
    static_assert(is_any_of<T, half, float>, "GroupNorm: the data are half or float");
    if (has_no_rows(call.name)) return;
    const uint64_t channels = tiling.d, pitch = tiling.hwAlignSize, used = tiling.hw;
    const NormRows shape{uint64_t{tiling.n} * tiling.c, pitch, used};
    shape.check(call, src);
    call.positive("hw", used);
    if constexpr (checked)
        if (uint64_t{tiling.g} * tiling.d != tiling.c)
            fail(call.where, "%s: %u groups of %u channels are not %u channels", call.name, tiling.g, tiling.d,
                 tiling.c);
    call.operand("the output", output, shape.rows * pitch);
    call.operand("outputMean", mean, uint64_t{tiling.n} * tiling.g);
    call.operand("outputVariance", variance, uint64_t{tiling.n} * tiling.g);
    call.operand("gamma", gamma, tiling.c);
    call.operand("beta", beta, tiling.c);
    const auto elements = static_cast<float>(channels * used);
    for (uint64_t group = 0; group < uint64_t{tiling.n} * tiling.g; ++group) {
        const uint64_t first = group % tiling.g * channels;
        const T* x = src.GetPhyAddr() + group * channels * pitch;
        float average = 0, spread = 0;
        for (uint64_t c = 0; c < channels; ++c) average += sum_of(used, ValueItself{}, x + c * pitch);
        average /= elements;
        for (uint64_t c = 0; c < channels; ++c) spread += sum_of(used, SquareOfDeviation{average}, x + c * pitch);
        spread /= elements;
        const Standardize base{average, reciprocal_root(spread + widen(epsilon))};
        for (uint64_t c = 0; c < channels; ++c)
            compute(used,
                    StandardizeChannel{base, widen(gamma.GetPhyAddr()[first + c]), widen(beta.GetPhyAddr()[first + c])},
                    output.GetPhyAddr() + (group * channels + c) * pitch, x + c * pitch);
        mean.GetPhyAddr()[group] = narrow<T>(average);
        variance.GetPhyAddr()[group] = narrow<T>(spread);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
inline void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamm,
                      const LocalTensor<T>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                      BatchNormTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"BatchNorm", where};
    call.scratch(sharedTmpBuffer, output, outputMean, outputVariance, inputX, gamm, beta);
    canopy::kernel::batch_norm(call, output, outputMean, outputVariance, inputX, gamm, beta, epsilon, tiling);
}

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
inline void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamm,
                      const LocalTensor<T>& beta, const T epsilon, BatchNormTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::batch_norm({"BatchNorm", where}, output, outputMean, outputVariance, inputX, gamm, beta, epsilon,
                               tiling);
}

template <typename T, bool isReuseSource = false>
inline void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma,
                      const LocalTensor<T>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                      GroupNormTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"GroupNorm", where};
    call.scratch(sharedTmpBuffer, output, outputMean, outputVariance, inputX, gamma, beta);
    canopy::kernel::group_norm(call, output, outputMean, outputVariance, inputX, gamma, beta, epsilon, tiling);
}

template <typename T, bool isReuseSource = false>
inline void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma,
                      const LocalTensor<T>& beta, const T epsilon, GroupNormTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::group_norm({"GroupNorm", where}, output, outputMean, outputVariance, inputX, gamma, beta, epsilon,
                               tiling);
}

}  // namespace AscendC

#endif
