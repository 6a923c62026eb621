// SPDX-License-Identifier: Apache-2.0
// Dequantisation of integer sums: source * scale in float, rounded once to the result's type.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_DEQUANTIZE_H
#define CANOPY_KERNEL_HIGH_LEVEL_DEQUANTIZE_H

#include "canopy_kernel/high_level/quantization_rows.h"

namespace AscendC {

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW = 1 };

// m rows of n elements, of which the first `calCount` are computed.
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};

struct AscendDeQuantConfig {
    bool hasOffset;
    int32_t kDim = 1;
};

enum class AscendDeQuantPolicy : int32_t {
    PER_TOKEN = 0,
    PER_GROUP = 1,
    PER_CHANNEL_PER_GROUP = 2,
    PER_TOKEN_PER_GROUP = 3
};

// A matrix of m x n elements, of which the first `calCount` are computed.
struct AscendDeQuantParam {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
    uint32_t groupSize = 0;
};

enum class DequantizePolicy : int32_t { PER_TENSOR = 0, PER_CHANNEL = 1, PER_TOKEN = 2, PER_GROUP = 3 };

struct DequantizeConfig {
    DequantizePolicy policy;
    bool hasOffset = false;
    int32_t kDim = 1;
};

struct DequantizeParams {
    uint32_t m;
    uint32_t n;
    uint32_t groupSize = 0;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::DequantParams;

// bfloat16_t is rounded by the loop.
template <class D>
inline auto rounded_result(float value) {
    if constexpr (is_same<D, half>)
        return from_float<RoundMode::CAST_RINT, true, half>(value);
    else
        return value;
}

template <class D, class S>
struct DequantizeFormula {
    template <class X>
    static auto element(X x, float scale, float, uint32_t) {
        return rounded_result<D>(element_number<S>(x) * scale);
    }
};

template <class D, class S, Sharing sharing, class Scale>
inline void dequantize(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src, const Scale& scale,
                       const QuantizedShape& shape, Where where) {
    static_assert(is_any_of<D, half, float, bfloat16_t>, "Dequantisation: the result is half, bfloat16_t or float");
    static_assert(is_any_of<S, int32_t, float>, "Dequantisation: the source is int32_t or float");
    quantize_matrix<DequantizeFormula<D, S>, sharing, false>(name, dst, src, scale, 0.0f, shape, where);
}

// Rows of n elements become rows of whole blocks. The scale is a number or has an element for each column.
template <class D, class Scale>
inline void dequantize_rows(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const Scale& scale,
                            const DequantParams& params, Where where) {
    static_assert(is_any_of<D, half, float, bfloat16_t>, "AscendDequant: the result is half, bfloat16_t or float");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "AscendDequant", where);
    const uint64_t pitch = round_up(params.n, elements_in<D>(block_bytes));
    if constexpr (checked) {
        if (params.n % 8 != 0) fail(where, "AscendDequant: n is %u; it must be a multiple of 8", params.n);
        check_limit("AscendDequant", "calCount", params.calCount, 1, params.n, where);
        check_limit("AscendDequant", "m", params.m, 1, INT32_MAX, where);
    }
    check_count(src, static_cast<int64_t>(uint64_t{params.m} * params.n), "AscendDequant", "the source", where);
    check_vector_operand("AscendDequant", "the destination", dst,
                         params.m == 0 ? 0 : ((params.m - 1) * pitch + params.calCount) * sizeof(D), where);
    check_parameter("AscendDequant", "the scale", scale, params.calCount, where);
    const auto factors = parameter_of(scale);
    for (uint64_t row = 0; row < params.m; ++row)
        map_stretch<DequantizeFormula<D, int32_t>, true, D, int32_t>(params.calCount, dst.GetPhyAddr() + row * pitch,
                                                                     src.GetPhyAddr() + row * params.n, factors,
                                                                     ParameterNumber{0.0f}, 0);
}

// With SINGLE_ROW, one row that is a multiple of the scales is read as several rows.
template <class D, AscendC::DeQuantMode mode>
constexpr DequantParams dequantized_rows(const DequantParams& params) {
    const bool several = mode == AscendC::DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 &&
                         params.calCount != 0 && params.n % params.calCount == 0 &&
                         params.calCount % elements_in<D>(block_bytes) == 0;
    return several ? DequantParams{params.n / params.calCount, params.calCount, params.calCount} : params;
}

// `count` elements; the scales repeat.
template <class D, class Scale>
inline void dequantize_repeating(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src,
                                 const LocalTensor<Scale>& scale, uint32_t count, Where where) {
    check_limit("AscendDequant", "calCount", count, 1, src.GetSize(), where);
    const uint64_t columns = smaller(uint64_t{scale.GetSize()}, uint64_t{count});
    if (columns == 0) return;
    dequantize<D, int32_t, Sharing::channel>("AscendDequant", dst, src, scale, {count, columns}, where);
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, DequantParams params, CANOPY_WHERE) {
    canopy::kernel::dequantize_rows(dstTensor, srcTensor, deqScale,
                                    canopy::kernel::dequantized_rows<dstT, mode>(params), where);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                          DequantParams params, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendDequant", sharedTmpBuffer, where, dstTensor, srcTensor, deqScale);
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, params, where);
}

// Scales repeat over `calCount` elements, or over all of them.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, const uint32_t calCount, CANOPY_WHERE) {
    canopy::kernel::dequantize_repeating(dstTensor, srcTensor, deqScale, calCount, where);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                          const uint32_t calCount, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendDequant", sharedTmpBuffer, where, dstTensor, srcTensor, deqScale);
    canopy::kernel::dequantize_repeating(dstTensor, srcTensor, deqScale, calCount, where);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, CANOPY_WHERE) {
    canopy::kernel::dequantize_repeating(dstTensor, srcTensor, deqScale, srcTensor.GetSize(), where);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                          CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendDequant", sharedTmpBuffer, where, dstTensor, srcTensor, deqScale);
    canopy::kernel::dequantize_repeating(dstTensor, srcTensor, deqScale, srcTensor.GetSize(), where);
}

// One scale.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const scaleT deqScale, DequantParams params, CANOPY_WHERE) {
    canopy::kernel::dequantize_rows(dstTensor, srcTensor, deqScale,
                                    canopy::kernel::dequantized_rows<dstT, mode>(params), where);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const scaleT deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer, DequantParams params,
                          CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendDequant", sharedTmpBuffer, where, dstTensor, srcTensor);
    canopy::kernel::dequantize_rows(dstTensor, srcTensor, deqScale,
                                    canopy::kernel::dequantized_rows<dstT, mode>(params), where);
}

// The forms with a policy.
template <typename dstT, typename srcT, typename scaleT, const AscendDeQuantConfig& config,
          const AscendDeQuantPolicy& policy>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                          const LocalTensor<scaleT>& scaleTensor, const LocalTensor<scaleT>& offsetTensor,
                          const AscendDeQuantParam& para, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(!config.hasOffset, "AscendDequant: there is no offset; hasOffset must be false");
    static_assert(config.kDim == 0 || config.kDim == 1, "AscendDequant: kDim is 0 or 1");
    static_cast<void>(offsetTensor);
    // These policies begin with the one for tokens.
    constexpr Sharing sharing =
        sharing_of(static_cast<int32_t>(policy) + static_cast<int32_t>(Sharing::token), config.kDim);
    check_limit("AscendDequant", "calCount", para.calCount, 1, int64_t{para.m} * para.n, where);
    dequantize<dstT, srcT, sharing>("AscendDequant", dstTensor, srcTensor, scaleTensor,
                                    {para.calCount, para.n, para.groupSize}, where);
}
template <typename dstT, typename srcT, typename scaleT, const AscendDeQuantConfig& config,
          const AscendDeQuantPolicy& policy>
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                          const LocalTensor<scaleT>& scaleTensor, const LocalTensor<scaleT>& offsetTensor,
                          const LocalTensor<uint8_t>& sharedTmpBuffer, const AscendDeQuantParam& para, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendDequant", sharedTmpBuffer, where, dstTensor, srcTensor, scaleTensor);
    AscendDequant<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor, offsetTensor, para, where);
}

// The scale is a number with PER_TENSOR, otherwise a tensor; the offset is not used.
template <const DequantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void Dequantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor, const ScaleT& scale,
                       const OffsetT& offset, const DequantizeParams& params, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(!config.hasOffset, "Dequantize: there is no offset; hasOffset must be false");
    static_assert(config.kDim == 0 || config.kDim == 1, "Dequantize: kDim is 0 or 1");
    static_cast<void>(offset);
    dequantize<DstT, SrcT, sharing_of(static_cast<int32_t>(config.policy), config.kDim)>(
        "Dequantize", dstTensor, srcTensor, scale, {uint64_t{params.m} * params.n, params.n, params.groupSize}, where);
}
template <const DequantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void Dequantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor, const ScaleT& scale,
                       const OffsetT& offset, const LocalTensor<uint8_t>& sharedTmpBuffer,
                       const DequantizeParams& params, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Dequantize", sharedTmpBuffer, where, dstTensor, srcTensor);
    Dequantize<config>(dstTensor, srcTensor, scale, offset, params, where);
}

}  // namespace AscendC

#endif
