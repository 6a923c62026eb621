// SPDX-License-Identifier: Apache-2.0
// The gradient of softmax.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_GRADIENT_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_GRADIENT_H

#include "canopy_kernel/high_level/softmax_rows.h"

namespace canopy::kernel {

struct GradientOfSoftmax {
    float dot;
    float operator()(float gradient, float y) const { return (gradient - dot) * y; }
};

// With `is_front` only the product of each row with its gradient, as one block of 32 bytes per row.
template <bool is_basic, bool is_nz, class T>
inline void softmax_gradient(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<T>& gradient,
                             const LocalTensor<T>& src, const SoftMaxTiling& tiling, bool is_front,
                             const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SoftmaxGrad: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<is_nz>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("gradTensor", gradient, src);
    call.sized("gradTensor", gradient, shape.size());
    if (is_front) {
        row_results<false>(call, "the destination", dst, shape);
    } else {
        call.same_size("the destination", dst, src);
        call.sized("dst", dst, shape.size());
    }
    const T *dy = gradient.GetPhyAddr(), *y = src.GetPhyAddr();
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const float dot = shape.sum(row, ProductOfTwo{}, dy, y);
        if (is_front)
            RowValues<false, T>{dst}.set(row, dot);
        else
            shape.apply(row, GradientOfSoftmax{dot}, dst.GetPhyAddr(), dy, y);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                        const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling, bool isFront = false,
                        const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::softmax_gradient<false, isDataFormatNZ>({"SoftmaxGrad", where}, dstTensor, gradTensor, srcTensor,
                                                            tiling, isFront, softmaxShapeInfo);
}

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                        const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                        const SoftMaxTiling& tiling, bool isFront = false,
                        const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"SoftmaxGrad", where};
    call.scratch(sharedTmpBuffer, dstTensor, gradTensor, srcTensor);
    canopy::kernel::softmax_gradient<false, isDataFormatNZ>(call, dstTensor, gradTensor, srcTensor, tiling, isFront,
                                                            softmaxShapeInfo);
}

template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                             const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                             const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    canopy::kernel::softmax_gradient<isBasicBlock, isDataFormatNZ>({"SoftmaxGradFront", where}, dstTensor, gradTensor,
                                                                   srcTensor, tiling, true, softmaxShapeInfo);
}

template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                             const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                             const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"SoftmaxGradFront", where};
    call.scratch(sharedTmpBuffer, dstTensor, gradTensor, srcTensor);
    canopy::kernel::softmax_gradient<isBasicBlock, isDataFormatNZ>(call, dstTensor, gradTensor, srcTensor, tiling, true,
                                                                   softmaxShapeInfo);
}

}  // namespace AscendC

#endif
