// SPDX-License-Identifier: Apache-2.0
// What the softmax functions share: the shape of a call, exponentials of a row, and the tensors with one value per row.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_ROWS_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_ROWS_H

#include "canopy_kernel/high_level/rows.h"
#include "canopy_kernel/high_level/softmax_types.h"

namespace canopy::kernel {

using AscendC::SoftmaxConfig;
using AscendC::SoftmaxMode;
using AscendC::SoftMaxShapeInfo;

template <class T>
inline constexpr bool is_softmax_type = is_any_of<T, half, float>;

struct ExpMinus {
    float base;
    float operator()(float x) const { return math::exp(x - base); }
};
struct ScaledExpMinus {
    float base, factor;
    float operator()(float x) const { return math::exp(x - base) * factor; }
};
struct ExpMinusDivided {
    float base, divisor;
    float operator()(float x) const { return math::exp(x - base) / divisor; }
};

// A tensor with one value per row: a block of 32 bytes full of it, or one element.
template <bool is_single, class T>
struct RowValues {
    static constexpr uint32_t width = is_single ? 1 : block_bytes / sizeof(T);
    const LocalTensor<T>& tensor;

    float get(uint64_t row) const { return widen(tensor.GetPhyAddr()[row * width]); }
    void set(uint64_t row, float value) const {
        T* at = tensor.GetPhyAddr() + row * width;
        const T narrowed = narrow<T>(value);
        for (uint32_t i = 0; i < width; ++i) at[i] = narrowed;
    }
};

// The rows of one call: `rows` of them count, and of each the first `used` columns.
template <bool is_nz>
struct SoftmaxRows {
    RowLayout<is_nz> layout;
    uint32_t rows;
    uint32_t used;

    uint64_t size() const { return uint64_t{layout.rows} * layout.columns; }

    template <class T>
    float largest(uint64_t row, const T* src) const {
        float best = -__builtin_inff();
        layout.for_each_piece(
            row, 0, used,
            [&](uint32_t, uint64_t count, const T* x) {
                const float here = extreme_value<true>(x, count);
                best = here > best ? here : best;
            },
            src);
        return best;
    }

    // dst = operation(src...) in all columns.
    template <class Operation, class D, class... S>
    void apply(uint64_t row, const Operation& operation, D* dst, const S*... src) const {
        layout.for_each_piece(
            row, 0, layout.columns,
            [&](uint32_t, uint64_t count, D* d, const S*... s) { compute(count, operation, d, s...); }, dst, src...);
    }

    // dst = exp(src - base) in all columns; returns the sum of those used.
    template <class D, class T>
    float exponentials(uint64_t row, float base, D* dst, const T* src) const {
        Sums sums;
        layout.for_each_piece(
            row, 0, used,
            [&](uint32_t, uint64_t count, D* d, const T* x) { sums.add_and_store(count, ExpMinus{base}, d, x); }, dst,
            src);
        layout.for_each_piece(
            row, used, layout.columns,
            [&](uint32_t, uint64_t count, D* d, const T* x) { compute(count, ExpMinus{base}, d, x); }, dst, src);
        return sums.total();
    }

    // The sum of operation(src...) over the used columns.
    template <class Operation, class... S>
    float sum(uint64_t row, const Operation& operation, const S*... src) const {
        Sums sums;
        layout.for_each_piece(
            row, 0, used, [&](uint32_t, uint64_t count, const S*... s) { sums.add(count, operation, s...); }, src...);
        return sums.total();
    }

    // dst = exp(src - base) / total; returns the total: `more` plus the sum of the exponentials.
    template <class T>
    float divided_exponentials(uint64_t row, float base, float more, T* dst, const T* src) const {
        if constexpr (is_same<T, float>) {
            const float total = more + exponentials(row, base, dst, src);
            apply(row, TimesFactor{1.0f / total}, dst, dst);
            return total;
        } else {
            // Results are rounded once: the exponentials of a row that is not too long wait in float, those of others
            // are computed again.
            constexpr uint32_t longest_kept = 4096;
            if (layout.columns <= longest_kept) {
                float kept[longest_kept];
                const float total = more + keep_exponentials(row, base, kept, src);
                layout.for_each_piece(
                    row, 0, layout.columns,
                    [&](uint32_t column, uint64_t count, T* d) {
                        compute(count, TimesFactor{1.0f / total}, d, static_cast<const float*>(kept) + column);
                    },
                    dst);
                return total;
            }
            const float total = more + sum(row, ExpMinus{base}, src);
            apply(row, ScaledExpMinus{base, 1.0f / total}, dst, src);
            return total;
        }
    }

private:
    using Sums = PartialSums<is_nz ? panel_partial_sums : few_partial_sums>;

    // The same as exponentials(), to a separate row.
    template <class T>
    float keep_exponentials(uint64_t row, float base, float* kept, const T* src) const {
        Sums sums;
        layout.for_each_piece(
            row, 0, used,
            [&](uint32_t column, uint64_t count, const T* x) {
                sums.add_and_store(count, ExpMinus{base}, kept + column, x);
            },
            src);
        layout.for_each_piece(
            row, used, layout.columns,
            [&](uint32_t column, uint64_t count, const T* x) { compute(count, ExpMinus{base}, kept + column, x); },
            src);
        return sums.total();
    }
};

// Rows and columns of a tensor whose shape the program has set: the last axis and all others.
inline SoftMaxShapeInfo shape_of_tensor(const AscendC::ShapeInfo& shape) {
    SoftMaxShapeInfo info;
    if (shape.shapeDim == 0) return info;
    info.srcM = info.oriSrcM = 1;
    for (uint8_t i = 0; i + 1 < shape.shapeDim; ++i) info.srcM *= shape.shape[i];
    info.srcK = shape.shape[shape.shapeDim - 1];
    for (uint8_t i = 0; i + 1 < shape.originalShapeDim; ++i) info.oriSrcM *= shape.originalShape[i];
    info.oriSrcK = shape.originalShapeDim == 0 ? 0 : shape.originalShape[shape.originalShapeDim - 1];
    return info;
}

// The shape of a call: the one given, or else that of the source tensor, or else that of the tiling. Constants of the
// configuration replace the number of rows and columns that count.
template <bool is_nz, const SoftmaxConfig& config = AscendC::SOFTMAX_DEFAULT_CFG, class T, class Tiling>
inline SoftmaxRows<is_nz> softmax_rows(const CheckedCall& call, SoftMaxShapeInfo info, const LocalTensor<T>& src,
                                       const Tiling& tiling) {
    if (!is_nz && (info.srcM == 0 || info.srcK == 0)) info = shape_of_tensor(src.GetShapeInfo());
    if (info.srcM == 0 || info.srcK == 0) info = {tiling.srcM, tiling.srcK, 0, 0};
    if (config.oriSrcM != 0) info.oriSrcM = config.oriSrcM;
    if (config.oriSrcK != 0) info.oriSrcK = config.oriSrcK;
    if (info.oriSrcM == 0) info.oriSrcM = info.srcM;
    if (info.oriSrcK == 0) info.oriSrcK = info.srcK;
    call.positive("srcM", info.srcM);
    call.whole_blocks<T>("srcK", info.srcK);
    call.at_most("oriSrcM", info.oriSrcM, "srcM", info.srcM);
    call.at_most("oriSrcK", info.oriSrcK, "srcK", info.srcK);
    if constexpr (checked && is_nz)
        if (info.srcK % RowLayout<true>::panel != 0)
            fail(call.where, "%s: srcK is %u; in the NZ format it must be a multiple of 16", call.name, info.srcK);
    call.operand("the source", src, uint64_t{info.srcM} * info.srcK);
    return {{info.srcM, info.srcK}, info.oriSrcM, info.oriSrcK};
}

// The promise of isBasicBlock, which changes no result.
template <bool is_basic, class T, bool is_nz>
inline void check_basic_block(const CheckedCall& call, const SoftmaxRows<is_nz>& shape) {
    if constexpr (checked && is_basic) {
        constexpr uint32_t least = repeat_bytes / sizeof(T);
        if (shape.layout.rows % 8 != 0 || shape.layout.columns % 64 != 0 || shape.layout.columns < least ||
            shape.layout.columns >= 2048)
            fail(
                call.where,
                "%s: isBasicBlock needs srcM to be a multiple of 8 and srcK a multiple of 64 from %u to 1984; they are "
                "%u and %u",
                call.name, least, shape.layout.rows, shape.layout.columns);
    }
}

template <bool is_single, class T, bool is_nz>
inline RowValues<is_single, T> row_values(const CheckedCall& call, const char* what, const LocalTensor<T>& tensor,
                                          const SoftmaxRows<is_nz>& shape, uint8_t kind = CANOPY_CHECK_READ) {
    call.operand(what, tensor, uint64_t{shape.rows} * RowValues<is_single, T>::width, kind);
    return {tensor};
}
// The same for results.
template <bool is_single, class T, bool is_nz>
inline RowValues<is_single, T> row_results(const CheckedCall& call, const char* what, const LocalTensor<T>& tensor,
                                           const SoftmaxRows<is_nz>& shape) {
    return row_values<is_single>(call, what, tensor, shape, CANOPY_CHECK_WRITE);
}

template <const SoftmaxConfig& config>
inline constexpr bool is_single_value = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;

}  // namespace canopy::kernel

#endif
