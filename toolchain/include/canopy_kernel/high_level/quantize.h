// SPDX-License-Identifier: Apache-2.0
// Quantisation: source * scale + offset, rounded to int8_t or a float of 8 or 4 bits; numbers out of range saturate.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_QUANTIZE_H
#define CANOPY_KERNEL_HIGH_LEVEL_QUANTIZE_H

#include "canopy_kernel/high_level/quantization_rows.h"

namespace AscendC {

// Counts of 0 mean those of the call.
struct AscendQuantConfig {
    constexpr AscendQuantConfig(const uint32_t calcCountIn, const uint32_t offsetCountIn, const uint32_t scaleCountIn,
                                const uint32_t workLocalSizeIn)
        : calcCount(calcCountIn),
          offsetCount(offsetCountIn),
          scaleCount(scaleCountIn),
          workLocalSize(workLocalSizeIn) {}
    constexpr AscendQuantConfig(const uint32_t calcCountIn, const uint32_t offsetCountIn, const uint32_t scaleCountIn,
                                const uint32_t workLocalSizeIn, const bool hasOffsetIn, const int32_t kDimIn,
                                const RoundMode roundModeIn)
        : calcCount(calcCountIn),
          offsetCount(offsetCountIn),
          scaleCount(scaleCountIn),
          workLocalSize(workLocalSizeIn),
          hasOffset(hasOffsetIn),
          kDim(kDimIn),
          roundMode(roundModeIn) {}
    constexpr AscendQuantConfig(const bool hasOffsetIn, const int32_t kDimIn, const RoundMode roundModeIn)
        : hasOffset(hasOffsetIn), kDim(kDimIn), roundMode(roundModeIn) {}
    constexpr AscendQuantConfig(const bool hasOffsetIn, const int32_t kDimIn) : hasOffset(hasOffsetIn), kDim(kDimIn) {}
    constexpr AscendQuantConfig(const bool hasOffsetIn) : hasOffset(hasOffsetIn) {}

    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
    bool hasOffset = false;
    int32_t kDim = 1;
    RoundMode roundMode = RoundMode::CAST_RINT;
};

constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0, false, 1, RoundMode::CAST_RINT};

enum class AscendQuantPolicy : int32_t {
    PER_TENSOR = 0,
    PER_CHANNEL = 1,
    PER_TOKEN = 2,
    PER_GROUP = 3,
    PER_CHANNEL_PER_GROUP = 4,
    PER_TOKEN_PER_GROUP = 5
};

// A matrix of m x n elements, of which the first `calCount` are computed.
struct AscendQuantParam {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
    uint32_t groupSize = 0;
};

enum class QuantizePolicy : int32_t { PER_TENSOR = 0, PER_CHANNEL = 1, PER_TOKEN = 2, PER_GROUP = 3 };

struct QuantizeConfig {
    QuantizePolicy policy;
    bool hasOffset;
    RoundMode roundMode = RoundMode::CAST_RINT;
    int32_t kDim = 1;
};

struct QuantizeParams {
    uint32_t m;
    uint32_t n;
    uint32_t groupSize = 0;
};

}  // namespace AscendC

namespace canopy::kernel {

// The older chips compute in half, from operands rounded to half.
inline constexpr bool quantizes_in_half = __NPU_ARCH__ < 3003;

template <class D>
inline constexpr bool is_quantized = is_same<D, int8_t> ||
                                     (any_type_chip &&
                                      is_any_of<D, fp8_e4m3fn_t, fp8_e5m2_t, hifloat8_t, fp4x2_e2m1_t, fp4x2_e1m2_t>);
template <class S>
inline constexpr bool is_unquantized = is_any_of<S, half, float> || (any_type_chip && is_same<S, bfloat16_t>);

// The mode used for a requested one: formats of eight bits have only one.
template <class D>
constexpr RoundMode quantizing_mode(RoundMode wanted) {
    if (is_any_of<D, fp8_e4m3fn_t, fp8_e5m2_t>) return RoundMode::CAST_RINT;
    if (is_same<D, hifloat8_t>) return RoundMode::CAST_ROUND;
    const bool known = wanted == RoundMode::CAST_FLOOR || wanted == RoundMode::CAST_CEIL ||
                       wanted == RoundMode::CAST_ROUND || wanted == RoundMode::CAST_TRUNC;
    return known ? wanted : RoundMode::CAST_RINT;
}

template <class D, class S, RoundMode mode, bool has_offset>
struct QuantizeFormula {
    template <class X>
    static auto element(X x, float scale, [[maybe_unused]] float offset, [[maybe_unused]] uint32_t zero) {
        float value = element_number<S>(x);
        if constexpr (quantizes_in_half) {
            if constexpr (is_same<S, float>) value = rounded_to_half(value, zero);
            value = rounded_to_half(value * rounded_to_half(scale, zero), zero);
            if constexpr (has_offset) value = rounded_to_half(value + rounded_to_half(offset, zero), zero);
        } else {
            value = value * scale;
            if constexpr (has_offset) value = value + offset;
        }
        return from_float<quantizing_mode<D>(mode), true, D>(value);
    }
};

template <class D, class S, Sharing sharing, bool has_offset, RoundMode mode, class Scale, class Offset>
inline void quantize(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src, const Scale& scale,
                     const Offset& offset, const QuantizedShape& shape, Where where) {
    static_assert(is_quantized<D>, "Quantisation: the result is int8_t (3510: also floats of 8 or 4 bits)");
    static_assert(is_unquantized<S>, "Quantisation: the source is half or float (3510: also bfloat16_t)");
    static_assert(
        packing<D> == 1 || ((sharing == Sharing::group_of_rows || sharing == Sharing::group_of_columns) && !has_offset),
        "Quantisation: floats of 4 bits have scales for groups, and no offset");
    quantize_matrix<QuantizeFormula<D, S, mode, has_offset>, sharing, has_offset>(name, dst, src, scale, offset, shape,
                                                                                  where);
}

// Scales of `columns` channels, repeated over the data.
template <class D, class S, RoundMode mode, class Offset>
inline void quantize_channels(const LocalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<S>& scale,
                              const Offset& offset, uint32_t columns, uint32_t offsets, uint32_t count, Where where) {
    if constexpr (checked) {
        if (columns != offsets)
            fail(where, "AscendQuant: scaleCount is %u and offsetCount is %u; they must be equal", columns, offsets);
        check_whole_blocks<S>("AscendQuant", "scaleCount", columns, where);
        if (columns == 0 || count % columns != 0)
            fail(where, "AscendQuant: calCount is %u; it must be a multiple of scaleCount (%u)", count, columns);
    }
    quantize<D, S, Sharing::channel, true, mode>("AscendQuant", dst, src, scale, offset, {count, columns}, where);
}

template <class D, class S, class Scale, const AscendC::AscendQuantConfig& config,
          const AscendC::AscendQuantPolicy& policy, class Offset>
inline void quantize_by_policy(const LocalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<Scale>& scale,
                               const Offset& offset, const AscendC::AscendQuantParam& para, Where where) {
    static_assert(config.kDim == 0 || config.kDim == 1, "AscendQuant: kDim is 0 or 1");
    constexpr Sharing sharing = sharing_of(static_cast<int32_t>(policy), config.kDim);
    check_limit("AscendQuant", "calCount", para.calCount, 1, int64_t{para.m} * para.n, where);
    quantize<D, S, sharing, config.hasOffset, config.roundMode>("AscendQuant", dst, src, scale, offset,
                                                                {para.calCount, para.n, para.groupSize}, where);
}

}  // namespace canopy::kernel

namespace AscendC {

// The forms of AscendQuant for one scale, for a scale per channel, and for a scale and an offset per channel; each with
// and without counts and work space. TEMPLATE is the list of template parameters, D and S are the element types.
#define CANOPY_QUANT_FORMS(TEMPLATE, D, S, MODE)                                                                       \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor, const float scale,       \
                            const float offset, const uint32_t calCount, CANOPY_WHERE) {                               \
        canopy::kernel::quantize<D, S, canopy::kernel::Sharing::tensor, true, MODE>(                                   \
            "AscendQuant", dstTensor, srcTensor, scale, offset, {calCount, calCount}, where);                          \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor, const float scale,       \
                            const float offset, CANOPY_WHERE) {                                                        \
        canopy::kernel::quantize<D, S, canopy::kernel::Sharing::tensor, true, MODE>(                                   \
            "AscendQuant", dstTensor, srcTensor, scale, offset, {srcTensor.GetSize(), srcTensor.GetSize()}, where);    \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<S>& scaleTensor, const canopy::kernel::only_if<true, S> offset,          \
                            const uint32_t scaleCount, const uint32_t calCount, CANOPY_WHERE) {                        \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offset, scaleCount,           \
                                                      scaleCount, calCount, where);                                    \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<S>& scaleTensor, const canopy::kernel::only_if<true, S> offset,          \
                            CANOPY_WHERE) {                                                                            \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offset,                       \
                                                      scaleTensor.GetSize(), scaleTensor.GetSize(),                    \
                                                      srcTensor.GetSize(), where);                                     \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<S>& scaleTensor, const LocalTensor<S>& offsetTensor,                     \
                            const uint32_t scaleCount, const uint32_t offsetCount, const uint32_t calCount,            \
                            CANOPY_WHERE) {                                                                            \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offsetTensor, scaleCount,     \
                                                      offsetCount, calCount, where);                                   \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<S>& scaleTensor, const LocalTensor<S>& offsetTensor, CANOPY_WHERE) {     \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offsetTensor,                 \
                                                      scaleTensor.GetSize(), offsetTensor.GetSize(),                   \
                                                      srcTensor.GetSize(), where);                                     \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale, const float offset,        \
                            const uint32_t calCount, CANOPY_WHERE) {                                                   \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor);             \
        canopy::kernel::quantize<D, S, canopy::kernel::Sharing::tensor, true, MODE>(                                   \
            "AscendQuant", dstTensor, srcTensor, scale, offset, {calCount, calCount}, where);                          \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale, const float offset,        \
                            CANOPY_WHERE) {                                                                            \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor);             \
        canopy::kernel::quantize<D, S, canopy::kernel::Sharing::tensor, true, MODE>(                                   \
            "AscendQuant", dstTensor, srcTensor, scale, offset, {srcTensor.GetSize(), srcTensor.GetSize()}, where);    \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<S>& scaleTensor,            \
                            const canopy::kernel::only_if<true, S> offset, const uint32_t scaleCount,                  \
                            const uint32_t calCount, CANOPY_WHERE) {                                                   \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor,              \
                                             scaleTensor);                                                             \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offset, scaleCount,           \
                                                      scaleCount, calCount, where);                                    \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<S>& scaleTensor,            \
                            const canopy::kernel::only_if<true, S> offset, CANOPY_WHERE) {                             \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor,              \
                                             scaleTensor);                                                             \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offset,                       \
                                                      scaleTensor.GetSize(), scaleTensor.GetSize(),                    \
                                                      srcTensor.GetSize(), where);                                     \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<S>& scaleTensor,            \
                            const LocalTensor<S>& offsetTensor, const uint32_t scaleCount, const uint32_t offsetCount, \
                            const uint32_t calCount, CANOPY_WHERE) {                                                   \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor,              \
                                             scaleTensor);                                                             \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offsetTensor, scaleCount,     \
                                                      offsetCount, calCount, where);                                   \
    }                                                                                                                  \
    template <CANOPY_LIST TEMPLATE>                                                                                    \
    inline void AscendQuant(const LocalTensor<D>& dstTensor, const LocalTensor<S>& srcTensor,                          \
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<S>& scaleTensor,            \
                            const LocalTensor<S>& offsetTensor, CANOPY_WHERE) {                                        \
        const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor,              \
                                             scaleTensor);                                                             \
        canopy::kernel::quantize_channels<D, S, MODE>(dstTensor, srcTensor, scaleTensor, offsetTensor,                 \
                                                      scaleTensor.GetSize(), offsetTensor.GetSize(),                   \
                                                      srcTensor.GetSize(), where);                                     \
    }
#define CANOPY_LIST(...) __VA_ARGS__

CANOPY_QUANT_FORMS((typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG),
                   int8_t, T, config.roundMode)
#if __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 5102
CANOPY_QUANT_FORMS((typename dstT, typename srcT, bool isReuseSource = false), dstT, srcT, RoundMode::CAST_RINT)
#endif

#undef CANOPY_LIST
#undef CANOPY_QUANT_FORMS

// The forms with a policy.
template <typename dstT, typename srcT, typename scaleT, bool isReuseSource = false, const AscendQuantConfig& config,
          const AscendQuantPolicy& policy>
inline void AscendQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                        const LocalTensor<scaleT>& scaleTensor, const LocalTensor<scaleT>& offsetTensor,
                        const AscendQuantParam& para, CANOPY_WHERE) {
    canopy::kernel::quantize_by_policy<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor,
                                                                           offsetTensor, para, where);
}
template <typename dstT, typename srcT, typename scaleT, bool isReuseSource = false, const AscendQuantConfig& config,
          const AscendQuantPolicy& policy>
inline void AscendQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                        const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<scaleT>& scaleTensor,
                        const LocalTensor<scaleT>& offsetTensor, const AscendQuantParam& para, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor, scaleTensor);
    canopy::kernel::quantize_by_policy<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor,
                                                                           offsetTensor, para, where);
}
template <typename dstT, typename srcT, typename scaleT, bool isReuseSource = false, const AscendQuantConfig& config,
          const AscendQuantPolicy& policy>
inline void AscendQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                        const LocalTensor<scaleT>& scaleTensor, const scaleT offset, const AscendQuantParam& para,
                        CANOPY_WHERE) {
    canopy::kernel::quantize_by_policy<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor, offset,
                                                                           para, where);
}
template <typename dstT, typename srcT, typename scaleT, bool isReuseSource = false, const AscendQuantConfig& config,
          const AscendQuantPolicy& policy>
inline void AscendQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                        const LocalTensor<uint8_t>& sharedTmpBuffer, const LocalTensor<scaleT>& scaleTensor,
                        const scaleT offset, const AscendQuantParam& para, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendQuant", sharedTmpBuffer, where, dstTensor, srcTensor, scaleTensor);
    canopy::kernel::quantize_by_policy<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor, offset,
                                                                           para, where);
}

// Scale and offset are numbers with PER_TENSOR, otherwise tensors.
template <const QuantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void Quantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor, const ScaleT& scale,
                     const OffsetT& offset, const QuantizeParams& params, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(config.kDim == 0 || config.kDim == 1, "Quantize: kDim is 0 or 1");
    quantize<DstT, SrcT, sharing_of(static_cast<int32_t>(config.policy), config.kDim), config.hasOffset,
             config.roundMode>("Quantize", dstTensor, srcTensor, scale, offset,
                               {uint64_t{params.m} * params.n, params.n, params.groupSize}, where);
}
template <const QuantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void Quantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const ScaleT& scale, const OffsetT& offset,
                     const QuantizeParams& params, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Quantize", sharedTmpBuffer, where, dstTensor, srcTensor);
    Quantize<config>(dstTensor, srcTensor, scale, offset, params, where);
}

}  // namespace AscendC

#endif
