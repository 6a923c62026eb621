// SPDX-License-Identifier: Apache-2.0
// Softmax of a row that arrives in tiles: every call takes the maximum and the sum so far, and returns those that
// include its tile, and the factor that corrects what was computed with the old maximum.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_FLASH_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_FLASH_H

#include "canopy_kernel/high_level/softmax_rows.h"

namespace canopy::kernel {

// SoftmaxFlash: the result of each tile is divided by the sum so far.
template <bool is_basic, class T, class S>
inline void softmax_flash(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<S>& sum,
                          const LocalTensor<S>& max, const LocalTensor<T>& src, const LocalTensor<T>& factor,
                          const LocalTensor<S>& old_sum, const LocalTensor<S>& old_max, const SoftMaxTiling& tiling,
                          bool is_update, const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SoftmaxFlash: the data are half or float");
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<false>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto sums = row_results<false>(call, "sumTensor", sum, shape);
    const auto maxima = row_results<false>(call, "maxTensor", max, shape);
    T* to = dst.GetPhyAddr();
    const T* from = src.GetPhyAddr();
    if (!is_update) {
        for (uint64_t row = 0; row < shape.rows; ++row) {
            const float largest = shape.largest(row, from);
            sums.set(row, shape.divided_exponentials(row, largest, 0, to, from));
            maxima.set(row, largest);
        }
        return;
    }
    const auto factors = row_results<false>(call, "expMaxTensor", factor, shape);
    const auto old_sums = row_values<false>(call, "inSumTensor", old_sum, shape);
    const auto old_maxima = row_values<false>(call, "inMaxTensor", old_max, shape);
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const float old = old_maxima.get(row), here = shape.largest(row, from);
        const float largest = math::maximum(old, here);
        const float carried = math::exp(old - largest) * old_sums.get(row);
        const float total = shape.divided_exponentials(row, largest, carried, to, from);
        maxima.set(row, largest);
        sums.set(row, total);
        factors.set(row, carried / total);
    }
}

// SoftmaxFlashV2: nothing is divided; the program divides by the last sum.
template <bool is_update, bool is_basic, bool is_nz, const SoftmaxConfig& config, class T, class S>
inline void softmax_flash_v2(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<S>* tile_max,
                             const LocalTensor<S>& sum, const LocalTensor<S>& max, const LocalTensor<T>& src,
                             const LocalTensor<T>& factor, const LocalTensor<S>& old_sum, const LocalTensor<S>& old_max,
                             const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info) {
    static_assert(is_softmax_type<T>, "SoftmaxFlashV2: the data are half or float");
    constexpr bool is_single = is_single_value<config>;
    if (has_no_rows(call.name)) return;
    const auto shape = softmax_rows<is_nz, config>(call, info, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto sums = row_results<is_single>(call, "expSumTensor", sum, shape);
    const auto maxima = row_results<is_single>(call, "maxTensor", max, shape);
    T* to = dst.GetPhyAddr();
    const T* from = src.GetPhyAddr();
    if constexpr (!is_update) {
        for (uint64_t row = 0; row < shape.rows; ++row) {
            const float largest = shape.largest(row, from);
            sums.set(row, shape.exponentials(row, largest, to, from));
            maxima.set(row, largest);
        }
    } else {
        const auto factors = row_results<is_single>(call, "expMaxTensor", factor, shape);
        const auto old_sums = row_values<is_single>(call, "inExpSumTensor", old_sum, shape);
        const auto old_maxima = row_values<is_single>(call, "inMaxTensor", old_max, shape);
        if (tile_max != nullptr) row_results<is_single>(call, "outReduceMax", *tile_max, shape);
        for (uint64_t row = 0; row < shape.rows; ++row) {
            const float old = old_maxima.get(row), here = shape.largest(row, from);
            const float largest = math::maximum(old, here);
            const float correction = math::exp(old - largest);
            const float carried = correction * old_sums.get(row);
            const float total = carried + shape.exponentials(row, largest, to, from);
            if (tile_max != nullptr) RowValues<is_single, S>{*tile_max}.set(row, here);
            maxima.set(row, largest);
            sums.set(row, total);
            factors.set(row, correction);
        }
    }
}

// SoftmaxFlashV3 moves each eighth of a row towards the mean of the row before the exponential.
template <bool is_nz>
struct ShiftedRow {
    static constexpr uint32_t parts = 8, group = 8, covered = 512;

    const SoftmaxRows<is_nz>& shape;
    float shift[parts];  // subtracted from each eighth
    float mean;

    uint32_t part_columns() const { return shape.layout.columns / parts; }

    template <class T>
    ShiftedRow(const SoftmaxRows<is_nz>& rows, uint64_t row, float strength, const T* src) : shape(rows) {
        // The sums of the first 512 columns cover 64 neighbours each; later columns count in turn, eight by eight.
        float sums[parts] = {};
        shape.layout.for_each_piece(
            row, 0, shape.layout.columns,
            [&](uint32_t column, uint64_t count, const T* x) {
                for (uint64_t i = 0; i < count; i += group) {
                    const auto at = static_cast<uint32_t>(column + i);
                    const uint32_t part = at < covered ? at / (covered / parts) : at / group % parts;
                    sums[part] += sum_run(x + i, group);
                }
            },
            src);
        float total = 0;
        for (float sum : sums) total += sum;
        mean = total / static_cast<float>(shape.layout.columns);
        const auto columns = static_cast<float>(part_columns());
        for (uint32_t part = 0; part < parts; ++part) shift[part] = (mean - sums[part] / columns) * strength;
    }

    template <class T>
    float largest(uint64_t row, const T* src) const {
        float best = -__builtin_inff();
        for (uint32_t part = 0; part < parts; ++part)
            shape.layout.for_each_piece(
                row, part * part_columns(), (part + 1) * part_columns(),
                [&](uint32_t, uint64_t count, const T* x) {
                    const float here = extreme_value<true>(x, count) - shift[part];
                    best = here > best ? here : best;
                },
                src);
        return best;
    }
    // dst = exp(src - shift - base); returns the sum.
    template <class T>
    float exponentials(uint64_t row, float base, T* dst, const T* src) const {
        PartialSums<panel_partial_sums> sums;
        for (uint32_t part = 0; part < parts; ++part)
            shape.layout.for_each_piece(
                row, part * part_columns(), (part + 1) * part_columns(),
                [&](uint32_t, uint64_t count, T* d, const T* x) {
                    sums.add_and_store(count, ShiftedExp{shift[part], base}, d, x);
                },
                dst, src);
        return sums.total();
    }

private:
    struct ShiftedExp {
        float shift, base;
        float operator()(float x) const { return math::exp((x - shift) - base); }
    };
};

template <bool is_update, bool is_basic, bool is_nz, const SoftmaxConfig& config, class T, class U>
inline void softmax_flash_v3(const CheckedCall& call, const LocalTensor<T>& dst, const LocalTensor<U>& mean,
                             const LocalTensor<U>& sum, const LocalTensor<U>& max, const LocalTensor<T>& src,
                             const LocalTensor<T>& factor, const LocalTensor<U>& old_mean,
                             const LocalTensor<U>& old_sum, const LocalTensor<U>& old_max, const SoftMaxTiling& tiling,
                             const AscendC::SoftMaxParams& params) {
    static_assert(is_same<T, half> && is_same<U, float>, "SoftmaxFlashV3: the data are half, the other tensors float");
    constexpr bool is_single = is_single_value<config>;
    if (has_no_rows(call.name)) return;
    const auto shape =
        softmax_rows<is_nz>(call, {params.srcM, params.srcK, params.oriSrcM, params.oriSrcK}, src, tiling);
    check_basic_block<is_basic, T>(call, shape);
    if constexpr (checked) {
        const uint32_t rows = shape.layout.rows, columns = shape.layout.columns;
        if (shape.rows != rows || shape.used != columns)
            fail(call.where, "%s: oriSrcM and oriSrcK must equal srcM and srcK", call.name);
        if (rows % 8 != 0 || columns < 512 || columns % 64 != 0)
            fail(call.where,
                 "%s: srcM must be a multiple of 8 and srcK a multiple of 64 from 512 on; they are %u and %u",
                 call.name, rows, columns);
        if (params.splitMeanCnt != 8)
            fail(call.where, "%s: splitMeanCnt is %u; it must be 8", call.name, params.splitMeanCnt);
        if (is_update && params.loopCnt == 0) fail(call.where, "%s: loopCnt is 0", call.name);
    }
    call.same_size("the destination", dst, src);
    call.sized("dst", dst, shape.size());
    const auto means = row_results<is_single>(call, "meanTensor", mean, shape);
    const auto sums = row_results<is_single>(call, "expSumTensor", sum, shape);
    const auto maxima = row_results<is_single>(call, "maxTensor", max, shape);
    if constexpr (is_update) {
        row_results<is_single>(call, "expMaxTensor", factor, shape);
        row_values<is_single>(call, "inMeanTensor", old_mean, shape);
        row_values<is_single>(call, "inExpSumTensor", old_sum, shape);
        row_values<is_single>(call, "inMaxTensor", old_max, shape);
    }
    const float strength = params.alpha / (1.0f - params.alpha);
    T* to = dst.GetPhyAddr();
    const T* from = src.GetPhyAddr();
    for (uint64_t row = 0; row < shape.rows; ++row) {
        const ShiftedRow<is_nz> shifted(shape, row, strength, from);
        const float here = shifted.largest(row, from);
        if constexpr (!is_update) {
            means.set(row, shifted.mean);
            maxima.set(row, here);
            sums.set(row, shifted.exponentials(row, here, to, from));
        } else {
            const RowValues<is_single, T> factors{factor};
            const RowValues<is_single, U> old_means{old_mean}, old_sums{old_sum}, old_maxima{old_max};
            const auto loops = static_cast<float>(params.loopCnt);
            const float before = old_means.get(row), old = old_maxima.get(row), carried = old_sums.get(row);
            const float all = (shifted.mean + before * (loops - 1.0f)) / loops;
            const float of_tile = (shifted.mean - all) * strength, of_old = (before - all) * strength;
            const float largest = math::maximum(here + of_tile, old + of_old);
            const float correction = math::exp(old - largest + of_old);
            const float total = correction * carried + shifted.exponentials(row, largest - of_tile, to, from);
            means.set(row, all);
            maxima.set(row, largest);
            sums.set(row, total);
            factors.set(row, correction);
        }
    }
}

}  // namespace canopy::kernel

namespace AscendC {

// Each without and with a temporary buffer; sums and maxima in the type of the data, or in float for data in half.
#define CANOPY_SOFTMAX_FLASH(Data, Value)                                                                           \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                    \
    inline void SoftmaxFlash(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& sumTensor,               \
                             const LocalTensor<Value>& maxTensor, const LocalTensor<Data>& srcTensor,               \
                             const LocalTensor<Data>& expMaxTensor, const LocalTensor<Value>& inSumTensor,          \
                             const LocalTensor<Value>& inMaxTensor, const SoftMaxTiling& tiling,                    \
                             bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {  \
        canopy::kernel::softmax_flash<isBasicBlock>({"SoftmaxFlash", where}, dstTensor, sumTensor, maxTensor,       \
                                                    srcTensor, expMaxTensor, inSumTensor, inMaxTensor, tiling,      \
                                                    isUpdate, softmaxShapeInfo);                                    \
    }                                                                                                               \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                    \
    inline void SoftmaxFlash(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& sumTensor,               \
                             const LocalTensor<Value>& maxTensor, const LocalTensor<Data>& srcTensor,               \
                             const LocalTensor<Data>& expMaxTensor, const LocalTensor<Value>& inSumTensor,          \
                             const LocalTensor<Value>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,    \
                             const SoftMaxTiling& tiling, bool isUpdate = false,                                    \
                             const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {                         \
        const canopy::kernel::CheckedCall call{"SoftmaxFlash", where};                                              \
        call.scratch(sharedTmpBuffer, dstTensor, sumTensor, maxTensor, srcTensor);                                  \
        canopy::kernel::softmax_flash<isBasicBlock>(call, dstTensor, sumTensor, maxTensor, srcTensor, expMaxTensor, \
                                                    inSumTensor, inMaxTensor, tiling, isUpdate, softmaxShapeInfo);  \
    }                                                                                                               \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,             \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                       \
    inline void SoftmaxFlashV2(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& expSumTensor,          \
                               const LocalTensor<Value>& maxTensor, const LocalTensor<Data>& srcTensor,             \
                               const LocalTensor<Data>& expMaxTensor, const LocalTensor<Value>& inExpSumTensor,     \
                               const LocalTensor<Value>& inMaxTensor, const SoftMaxTiling& tiling,                  \
                               const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {                       \
        const LocalTensor<Value>* none = nullptr;                                                                   \
        canopy::kernel::softmax_flash_v2<isUpdate, isBasicBlock, isDataFormatNZ, config>(                           \
            {"SoftmaxFlashV2", where}, dstTensor, none, expSumTensor, maxTensor, srcTensor, expMaxTensor,           \
            inExpSumTensor, inMaxTensor, tiling, softmaxShapeInfo);                                                 \
    }                                                                                                               \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,             \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                       \
    inline void SoftmaxFlashV2(const LocalTensor<Data>& dstTensor, const LocalTensor<Value>& expSumTensor,          \
                               const LocalTensor<Value>& maxTensor, const LocalTensor<Data>& srcTensor,             \
                               const LocalTensor<Data>& expMaxTensor, const LocalTensor<Value>& inExpSumTensor,     \
                               const LocalTensor<Value>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,  \
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},          \
                               CANOPY_WHERE) {                                                                      \
        const canopy::kernel::CheckedCall call{"SoftmaxFlashV2", where};                                            \
        call.scratch(sharedTmpBuffer, dstTensor, expSumTensor, maxTensor, srcTensor);                               \
        const LocalTensor<Value>* none = nullptr;                                                                   \
        canopy::kernel::softmax_flash_v2<isUpdate, isBasicBlock, isDataFormatNZ, config>(                           \
            call, dstTensor, none, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor, inMaxTensor,   \
            tiling, softmaxShapeInfo);                                                                              \
    }

CANOPY_SOFTMAX_FLASH(T, T)
CANOPY_SOFTMAX_FLASH(half, float)

#undef CANOPY_SOFTMAX_FLASH

// Also stores the maxima of this tile. Only for updates with one value per row; otherwise it does nothing.
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax,
                           const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,
                           const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax, const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    if constexpr (isUpdate && canopy::kernel::is_single_value<config>)
        canopy::kernel::softmax_flash_v2<true, isBasicBlock, isDataFormatNZ, config>(
            {"SoftmaxFlashV2", where}, dstTensor, &outReduceMax, outExpSum, outMax, srcTensor, outExpMax, inExpSum,
            inMax, tiling, softmaxShapeInfo);
}

template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax,
                           const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,
                           const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax,
                           const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& softmaxShapeInfo = {}, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"SoftmaxFlashV2", where};
    call.scratch(sharedTmpBuffer, dstTensor, outReduceMax, outExpSum, outMax, srcTensor);
    SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
        dstTensor, outReduceMax, outExpSum, outMax, srcTensor, outExpMax, inExpSum, inMax, tiling, softmaxShapeInfo,
        where);
}

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                           const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                           const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const SoftMaxTiling& tiling, const SoftMaxParams& params,
                           CANOPY_WHERE) {
    canopy::kernel::softmax_flash_v3<isUpdate, isBasicBlock, isDataFormatNZ, config>(
        {"SoftmaxFlashV3", where}, dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor,
        inMeanTensor, inExpSumTensor, inMaxTensor, tiling, params);
}

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                           const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                           const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                           const SoftMaxTiling& tiling, const SoftMaxParams& params, CANOPY_WHERE) {
    const canopy::kernel::CheckedCall call{"SoftmaxFlashV3", where};
    call.scratch(sharedTmpBuffer, dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor);
    canopy::kernel::softmax_flash_v3<isUpdate, isBasicBlock, isDataFormatNZ, config>(
        call, dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inMeanTensor, inExpSumTensor,
        inMaxTensor, tiling, params);
}

}  // namespace AscendC

#endif
