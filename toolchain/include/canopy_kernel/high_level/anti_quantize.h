// SPDX-License-Identifier: Apache-2.0
// Anti-quantisation of weights: scale * (source + offset), in half for results of type half, otherwise in float.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_ANTI_QUANTIZE_H
#define CANOPY_KERNEL_HIGH_LEVEL_ANTI_QUANTIZE_H

#include "canopy_kernel/high_level/quantization_rows.h"

namespace AscendC {

// The shapes of the offset and scale tensors; 0 means that their sizes tell.
struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

struct AscendAntiQuantConfig {
    bool hasOffset;
    bool isTranspose;
    int32_t kDim = 1;
};

enum class AscendAntiQuantPolicy : int32_t {
    PER_TENSOR = 0,
    PER_CHANNEL = 1,
    PER_TOKEN = 2,
    PER_GROUP = 3,
    PER_CHANNEL_PER_GROUP = 4,
    PER_TOKEN_PER_GROUP = 5
};

// A matrix of m x n elements, of which the first `calCount` are computed.
struct AscendAntiQuantParam {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
    uint32_t groupSize = 0;
};

enum class AntiQuantizePolicy : int32_t { PER_TENSOR = 0, PER_CHANNEL = 1, PER_TOKEN = 2, PER_GROUP = 3 };

struct AntiQuantizeConfig {
    AntiQuantizePolicy policy;
    bool hasOffset;
    int32_t kDim = 1;
};

struct AntiQuantizeParams {
    uint32_t m;
    uint32_t n;
    uint32_t groupSize = 0;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::AntiQuantShapeInfo;

template <class S>
inline constexpr bool is_weight = is_any_of<S, int8_t, int4b_t> ||
                                  (any_type_chip &&
                                   is_any_of<S, fp8_e4m3fn_t, fp8_e5m2_t, hifloat8_t, fp4x2_e2m1_t, fp4x2_e1m2_t>);
template <class D>
inline constexpr bool is_weight_result = is_any_of<D, half, bfloat16_t> || (any_type_chip && is_same<D, float>);

template <class D, class S, bool has_offset>
struct AntiQuantizeFormula {
    template <class X>
    static auto element(X x, float scale, [[maybe_unused]] float offset, [[maybe_unused]] uint32_t zero) {
        float value = element_number<S>(x);
        if constexpr (is_same<D, half>) {
            if constexpr (has_offset) value = rounded_to_half(value + offset, zero);
            return static_cast<half>(value * scale);
        } else {
            if constexpr (has_offset) value = value + offset;
            return value * scale;
        }
    }
};

template <class D, class S, Sharing sharing, bool has_offset, class Scale, class Offset>
inline void anti_quantize(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src, const Scale& scale,
                          const Offset& offset, const QuantizedShape& shape, Where where) {
    static_assert(is_weight<S>, "Anti-quantisation: the source is int8_t or int4b_t (3510: also small floats)");
    static_assert(is_weight_result<D>, "Anti-quantisation: the result is half or bfloat16_t (3510: also float)");
    quantize_matrix<AntiQuantizeFormula<D, S, has_offset>, sharing, has_offset>(name, dst, src, scale, offset, shape,
                                                                                where);
}

// How the elements of a weight matrix share scales: `k` is the length of the summed axis, along which groups run.
template <bool transposed>
inline QuantizedShape weight_shape(uint64_t elements, uint64_t k, uint64_t scales, uint64_t height, uint64_t width,
                                   Where where) {
    if (k == 0 || elements % k != 0)
        fail(where, "AscendAntiQuant: k is %llu; it must divide the size of the source (%llu)", printable(k),
             printable(elements));
    const uint64_t n = elements / k;
    uint64_t groups = transposed ? width : height;
    if (groups == 0) groups = n != 0 && scales % n == 0 ? scales / n : 1;
    if (groups == 0 || k % groups != 0)
        fail(where, "AscendAntiQuant: k is %llu; it must be a multiple of the %llu groups of scales", printable(k),
             printable(groups));
    if ((transposed ? height : width) != 0 && (transposed ? height : width) != n)
        fail(where, "AscendAntiQuant: the scales have the shape %llu x %llu for a weight of %llu columns",
             printable(height), printable(width), printable(n));
    return {elements, transposed ? k : n, k / groups};
}

// In bytes, as if elements did not share them.
template <class S>
inline void check_weight(uint32_t k, Where where) {
    if constexpr (checked)
        if (uint64_t{k} * sizeof(S) % block_bytes != 0)
            fail(where, "AscendAntiQuant: k is %u; it must be a multiple of 32", k);
}

template <bool transposed, bool has_offset, class D, class S, class P>
inline void anti_quantize_weight(const LocalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<P>& offset,
                                 const LocalTensor<P>& scale, uint32_t k, const AntiQuantShapeInfo& info, Where where) {
    if (on_cube_core()) return;
    check_weight<S>(k, where);
    if constexpr (checked && has_offset)
        if (info.offsetHeight != info.scaleHeight || info.offsetWidth != info.scaleWidth)
            fail(where, "AscendAntiQuant: offset and scale have different shapes");
    const QuantizedShape shape =
        weight_shape<transposed>(src.GetSize(), k, scale.GetSize(), info.scaleHeight, info.scaleWidth, where);
    constexpr Sharing sharing = transposed ? Sharing::group_of_columns : Sharing::group_of_rows;
    const Instruction instruction(PIPE_V, "AscendAntiQuant", where);
    if constexpr (tests_parameters) {
        if constexpr (is_checking_variant) check_count(src, src.GetSize(), "AscendAntiQuant", "the source", where);
        check_count(dst, src.GetSize(), "AscendAntiQuant", "the destination", where);
        const uint64_t needed = parameters_needed(sharing, shape.rows(), shape.columns, shape.group);
        check_parameter("AscendAntiQuant", "the scale", scale, needed, where);
        if constexpr (has_offset) check_parameter("AscendAntiQuant", "the offset", offset, needed, where);
    }
    static_assert(is_weight<S> && is_weight_result<D>,
                  "AscendAntiQuant: from int8_t or int4b_t (3510: also small floats) to half or bfloat16_t");
    using Formula = AntiQuantizeFormula<D, S, has_offset>;
    if constexpr (has_offset)
        map_matrix<Formula, sharing>(dst, src, parameter_of(scale), parameter_of(offset), shape);
    else
        map_matrix<Formula, sharing>(dst, src, parameter_of(scale), ParameterNumber{0.0f}, shape);
}

// One scale and one offset for the whole weight.
template <bool has_offset, class D, class S>
inline void anti_quantize_all(const LocalTensor<D>& dst, const LocalTensor<S>& src, D offset, D scale, uint32_t k,
                              Where where) {
    check_weight<S>(k, where);
    anti_quantize<D, S, Sharing::tensor, has_offset>("AscendAntiQuant", dst, src, scale, offset,
                                                     {src.GetSize(), src.GetSize()}, where);
}

// A power of two for each group of 32 along k.
template <bool transposed, class D, class S>
inline void anti_quantize_powers(const LocalTensor<D>& dst, const LocalTensor<S>& src,
                                 const LocalTensor<fp8_e8m0_t>& scale, uint32_t k, const AntiQuantShapeInfo& info,
                                 Where where) {
    constexpr uint32_t group = 32;
    const uint64_t n = k == 0 ? 0 : src.GetSize() / k, groups = groups_in(k, group);
    AntiQuantShapeInfo shape = info;
    if (shape.scaleHeight == 0 || shape.scaleWidth == 0) {
        shape.scaleHeight = static_cast<uint32_t>(transposed ? n : groups);
        shape.scaleWidth = static_cast<uint32_t>(transposed ? groups : n);
    }
    anti_quantize_weight<transposed, false>(dst, src, scale, scale, k, shape, where);
}

}  // namespace canopy::kernel

namespace AscendC {

// The weight is a matrix of k rows, or of k columns with isTranspose.
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                            const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::anti_quantize_weight<isTranspose, true>(dst, src, offset, scale, k, shapeInfo, where);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                            const AntiQuantShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dst, src, offset, scale);
    canopy::kernel::anti_quantize_weight<isTranspose, true>(dst, src, offset, scale, k, shapeInfo, where);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<OutputDataType>& scale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                            const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dst, src, scale);
    canopy::kernel::anti_quantize_weight<isTranspose, false>(dst, src, scale, scale, k, shapeInfo, where);
}

// One scale for everything.
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const OutputDataType offset, const OutputDataType scale, const uint32_t k,
                            const AntiQuantShapeInfo& = {}, CANOPY_WHERE) {
    canopy::kernel::anti_quantize_all<true>(dst, src, offset, scale, k, where);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const OutputDataType offset, const OutputDataType scale,
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                            const AntiQuantShapeInfo& = {}, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dst, src);
    canopy::kernel::anti_quantize_all<true>(dst, src, offset, scale, k, where);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const OutputDataType scale, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                            const AntiQuantShapeInfo& = {}, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dst, src);
    canopy::kernel::anti_quantize_all<false>(dst, src, scale, scale, k, where);
}

// Scales that are powers of two.
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<fp8_e8m0_t>& scale, const uint32_t k,
                            const AntiQuantShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::anti_quantize_powers<isTranspose>(dst, src, scale, k, shapeInfo, where);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<fp8_e8m0_t>& scale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                            const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dst, src, scale);
    canopy::kernel::anti_quantize_powers<isTranspose>(dst, src, scale, k, shapeInfo, where);
}

// The forms with a policy: a matrix of m x n elements, groups along the axis kDim.
template <typename dstT, typename srcT, typename scaleT, const AscendAntiQuantConfig& config,
          const AscendAntiQuantPolicy& policy>
inline void AscendAntiQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                            const LocalTensor<scaleT>& scaleTensor, const LocalTensor<scaleT>& offsetTensor,
                            const AscendAntiQuantParam& para, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(config.kDim == 0 || config.kDim == 1, "AscendAntiQuant: kDim is 0 or 1");
    constexpr Sharing sharing = sharing_of(static_cast<int32_t>(policy), config.kDim);
    check_limit("AscendAntiQuant", "calCount", para.calCount, 1, int64_t{para.m} * para.n, where);
    anti_quantize<dstT, srcT, sharing, config.hasOffset>("AscendAntiQuant", dstTensor, srcTensor, scaleTensor,
                                                         offsetTensor, {para.calCount, para.n, para.groupSize}, where);
}
template <typename dstT, typename srcT, typename scaleT, const AscendAntiQuantConfig& config,
          const AscendAntiQuantPolicy& policy>
inline void AscendAntiQuant(const LocalTensor<dstT>& dstTensor, const LocalTensor<srcT>& srcTensor,
                            const LocalTensor<scaleT>& scaleTensor, const LocalTensor<scaleT>& offsetTensor,
                            const LocalTensor<uint8_t>& sharedTmpBuffer, const AscendAntiQuantParam& para,
                            CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AscendAntiQuant", sharedTmpBuffer, where, dstTensor, srcTensor, scaleTensor);
    AscendAntiQuant<dstT, srcT, scaleT, config, policy>(dstTensor, srcTensor, scaleTensor, offsetTensor, para, where);
}

// Scale and offset are numbers with PER_TENSOR, otherwise tensors.
template <const AntiQuantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void AntiQuantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor, const ScaleT& scale,
                         const OffsetT& offset, const AntiQuantizeParams& params, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(config.kDim == 0 || config.kDim == 1, "AntiQuantize: kDim is 0 or 1");
    anti_quantize<DstT, SrcT, sharing_of(static_cast<int32_t>(config.policy), config.kDim), config.hasOffset>(
        "AntiQuantize", dstTensor, srcTensor, scale, offset,
        {uint64_t{params.m} * params.n, params.n, params.groupSize}, where);
}
template <const AntiQuantizeConfig& config, typename DstT, typename SrcT, typename ScaleT, typename OffsetT>
inline void AntiQuantize(const LocalTensor<DstT>& dstTensor, const LocalTensor<SrcT>& srcTensor, const ScaleT& scale,
                         const OffsetT& offset, const LocalTensor<uint8_t>& sharedTmpBuffer,
                         const AntiQuantizeParams& params, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("AntiQuantize", sharedTmpBuffer, where, dstTensor, srcTensor);
    AntiQuantize<config>(dstTensor, srcTensor, scale, offset, params, where);
}

}  // namespace AscendC

#endif
