// SPDX-License-Identifier: Apache-2.0
// Sums, means and other reductions of rows and columns.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_REDUCTION_H
#define CANOPY_KERNEL_HIGH_LEVEL_REDUCTION_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/high_level/operands.h"
#include "canopy_kernel/vector/rows.h"

namespace AscendC {

// Rows of `inner` elements, of which the first n count.
struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

// The axes of a reduction from the outermost to the innermost: A is kept, R is reduced. The functions take AR and RA.
namespace Pattern::Reduce {
struct R {};
struct AR {};
struct RA {};
struct ARA {};
struct RAR {};
struct ARAR {};
struct RARA {};
struct ARARA {};
struct RARAR {};
struct ARARAR {};
struct RARARA {};
struct ARARARA {};
struct RARARAR {};
struct ARARARAR {};
struct RARARARA {};
struct ARARARARA {};
}  // namespace Pattern::Reduce

}  // namespace AscendC

namespace canopy::kernel {

// Reductions of a matrix: what is kept while folding, how elements enter, and what becomes of the result.
template <class T>
struct SumReduction {
    using Kept = Sum<T>;
    static constexpr bool supports = is_reducible<T>, any_width = true;
    static constexpr Kept neutral = 0;
    using Combine = Adding;
    using Map = Itself;
    template <class W>
    static W finish(W sum, uint64_t) {
        return sum;
    }
};
template <class T>
struct MeanReduction : SumReduction<T> {
    static constexpr bool supports = is_half_or_float<T>, any_width = false;
    static float finish(float sum, uint64_t count) { return sum / static_cast<float>(count); }
};
template <class T>
struct MaxReduction : SumReduction<T> {
    using Kept = Wide<T>;
    static constexpr Kept neutral =
        is_floating<T> ? static_cast<Kept>(-__builtin_inff()) : static_cast<Kept>(lowest_of<T>());
    using Combine = KeepingLarger;
};
template <class T>
struct MinReduction : SumReduction<T> {
    using Kept = Wide<T>;
    static constexpr Kept neutral =
        is_floating<T> ? static_cast<Kept>(__builtin_inff()) : static_cast<Kept>(highest_of<T>());
    using Combine = KeepingSmaller;
};
template <class T>
struct ProdReduction : SumReduction<T> {
    static constexpr bool supports = is_half_or_float<T>, any_width = false;
    static constexpr Sum<T> neutral = 1;
    using Combine = Multiplying;
};
struct BothBits {
    template <class V>
    V operator()(V a, V b) const {
        return a & b;
    }
};
struct EitherBits {
    template <class V>
    V operator()(V a, V b) const {
        return a | b;
    }
};
struct Truth {
    template <class T>
    bool operator()(T x) const {
        return x != T(0);
    }
};
template <class T>
struct AnyReduction {
    using Kept = Bits<T>;
    static constexpr bool supports = is_any_of<T, uint8_t, float>, any_width = false;
    static constexpr Kept neutral = 0;
    using Combine = EitherBits;
    using Map = Truth;
    static Kept finish(Kept result, uint64_t) { return result; }
};
template <class T>
struct AllReduction : AnyReduction<T> {
    static constexpr Bits<T> neutral = 1;
    using Combine = BothBits;
};

// What a reduction of rows touches, in the checking variant.
template <class T>
inline void add_reduction(const Instruction& instruction, const LocalTensor<T>& dst, uint64_t results,
                          const LocalTensor<T>& src, uint64_t rows, uint64_t columns, uint64_t pitch) {
    instruction.reads("src", src, src.GetPhyAddr(),
                      {bytes_of<T>(columns), bytes_of<T>(pitch), static_cast<uint32_t>(rows)});
    instruction.writes("dst", dst, bytes_of<T>(results));
}

// Some of these work on rows of any width if they are stored without gaps; all need padded rows on chips before 3510.
template <template <class> class Reduction, class Pattern, class T>
inline void reduce_matrix(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, Scratch scratch,
                          const uint32_t shape[], bool padded, Where where) {
    using Rule = Reduction<T>;
    constexpr bool along_rows = is_same<Pattern, AscendC::Pattern::Reduce::AR>;
    static_assert(along_rows || is_same<Pattern, AscendC::Pattern::Reduce::RA>,
                  "the pattern of a reduction is Pattern::Reduce::AR or Pattern::Reduce::RA");
    if (on_cube_core()) return;
    const uint64_t rows = shape[0], columns = shape[1];
    const uint64_t pitch = padded ? round_up(bytes_of<T>(columns), block_bytes) / sizeof(T) : columns;
    const uint64_t results = along_rows ? rows : columns;
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    add_reduction(instruction, dst, results, src, rows, columns, pitch);
    if constexpr (is_checking_variant) check_scratch(name, scratch, where);
    if constexpr (checked) {
        if (rows == 0 || columns == 0)
            fail(where, "%s: srcShape is {%u, %u}; both axes must be at least 1", name, shape[0], shape[1]);
        if (!padded && (!Rule::any_width || !any_type_chip))
            fail(where, "%s: srcInnerPad must be true%s", name, Rule::any_width ? " on this chip" : "");
        if (!Rule::any_width && bytes_of<T>(columns) % block_bytes != 0)
            fail(where, "%s: srcShape[1] is %u elements of %u bytes; a row must be a multiple of 32 bytes", name,
                 shape[1], static_cast<uint32_t>(sizeof(T)));
        check_operands(name, (rows - 1) * pitch + columns, where, named("src", src));
        check_operands(name, results, where, named("dst", dst));
        check_scratch(name, scratch, where, named("dst", dst), named("src", src));
    }
    const typename Rule::Combine combine{};
    const typename Rule::Map map{};
    const typename Rule::Kept neutral = Rule::neutral;
    const uint64_t reduced = along_rows ? columns : rows;
    const auto finish = [reduced](typename Rule::Kept result) { return Rule::finish(result, reduced); };
    if constexpr (along_rows)
        fold_rows(rows, columns, pitch, neutral, combine, map, finish, src.GetPhyAddr(), dst.GetPhyAddr());
    else
        fold_columns(rows, columns, pitch, neutral, combine, map, finish, src.GetPhyAddr(), dst.GetPhyAddr());
}

// Sum and Mean: the first n elements of each row.
template <template <class> class Reduction, class T, class Params>
inline void reduce_rows(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, Scratch scratch,
                        const Params& params, Where where) {
    using Rule = Reduction<T>;
    if (on_cube_core()) return;
    const uint64_t rows = params.outter, pitch = params.inner, columns = params.n;
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    add_reduction(instruction, dst, rows, src, rows, columns, pitch);
    if constexpr (is_checking_variant) check_scratch(name, scratch, where);
    if constexpr (checked) {
        if (rows == 0) fail(where, "%s: outter is 0", name);
        if (pitch == 0 || bytes_of<T>(pitch) % block_bytes != 0)
            fail(where, "%s: inner is %u elements of %u bytes; a row must be a multiple of 32 bytes", name,
                 params.inner, static_cast<uint32_t>(sizeof(T)));
        check_limit(name, "n", params.n, 1, params.inner, where);
        check_operands(name, rows * pitch, where, named("src", src));
        check_operands(name, rows, where, named("dst", dst));
        check_scratch(name, scratch, where, named("dst", dst), named("src", src));
    }
    const typename Rule::Kept neutral = Rule::neutral;
    const auto finish = [columns](typename Rule::Kept result) { return Rule::finish(result, columns); };
    fold_rows(rows, columns, pitch, neutral, typename Rule::Combine{}, typename Rule::Map{}, finish, src.GetPhyAddr(),
              dst.GetPhyAddr());
}

template <class T>
inline void reduce_xor_sum(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           Scratch scratch, uint32_t count, Where where) {
    static_assert(is_same<T, int16_t>, "ReduceXorSum: the elements are int16_t");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "ReduceXorSum", where, CANOPY_CHECK_USE);
    check_operands("ReduceXorSum", count, where, named("src0", src0), named("src1", src1));
    check_operands("ReduceXorSum", 1, where, named("dst", dst));
    check_scratch("ReduceXorSum", scratch, where, named("dst", dst), named("src0", src0), named("src1", src1));
    const auto difference = [](int16_t a, int16_t b) { return static_cast<int16_t>(a ^ b); };
    const int64_t sum = fold_run(count, int64_t{0}, Adding{}, difference, src0.GetPhyAddr(), src1.GetPhyAddr());
    *dst.GetPhyAddr() = static_cast<int16_t>(sum > 32767 ? 32767 : (sum < -32768 ? -32768 : sum));
}

}  // namespace canopy::kernel

namespace AscendC {

// dst[i] = the reduction of row i (AR) or column i (RA) of a matrix with srcShape[0] rows of srcShape[1] elements.
// srcInnerPad: every row starts at a multiple of 32 bytes.
#define CANOPY_MATRIX_REDUCTION(Name, Reduction)                                                                  \
    template <class T, class pattern, bool isReuseSource = false>                                                 \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                            \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[], bool srcInnerPad,    \
                     CANOPY_WHERE) {                                                                              \
        static_assert(canopy::kernel::Reduction<T>::supports, #Name ": this element type is not supported");      \
        canopy::kernel::reduce_matrix<canopy::kernel::Reduction, pattern>(                                        \
            #Name, dstTensor, srcTensor, &sharedTmpBuffer, srcShape, srcInnerPad, where);                         \
    }                                                                                                             \
    template <class T, class pattern, bool isReuseSource = false>                                                 \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t srcShape[], \
                     bool srcInnerPad, CANOPY_WHERE) {                                                            \
        static_assert(canopy::kernel::Reduction<T>::supports, #Name ": this element type is not supported");      \
        canopy::kernel::reduce_matrix<canopy::kernel::Reduction, pattern>(#Name, dstTensor, srcTensor, nullptr,   \
                                                                          srcShape, srcInnerPad, where);          \
    }

CANOPY_MATRIX_REDUCTION(ReduceSum, SumReduction)
CANOPY_MATRIX_REDUCTION(ReduceMax, MaxReduction)
CANOPY_MATRIX_REDUCTION(ReduceMin, MinReduction)
CANOPY_MATRIX_REDUCTION(ReduceMean, MeanReduction)
CANOPY_MATRIX_REDUCTION(ReduceProd, ProdReduction)
CANOPY_MATRIX_REDUCTION(ReduceAny, AnyReduction)
CANOPY_MATRIX_REDUCTION(ReduceAll, AllReduction)

#undef CANOPY_MATRIX_REDUCTION

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const SumParams& sumParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_half_or_float<T>, "Sum: the elements are half or float");
    static_assert(reduceDim == -1, "Sum: only the last axis (-1) is summed");
    canopy::kernel::reduce_rows<canopy::kernel::SumReduction>("Sum", dstTensor, srcTensor, &sharedTmpBuffer, sumParams,
                                                              where);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const SumParams& sumParams,
                CANOPY_WHERE) {
    static_assert(canopy::kernel::is_half_or_float<T>, "Sum: the elements are half or float");
    static_assert(reduceDim == -1, "Sum: only the last axis (-1) is summed");
    canopy::kernel::reduce_rows<canopy::kernel::SumReduction>("Sum", dstTensor, srcTensor, nullptr, sumParams, where);
}

// Sums are kept in float whatever the accumulation type is.
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const MeanParams& meanParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_half_or_float<T>, "Mean: the elements are half or float");
    static_assert(canopy::kernel::is_any_of<accType, T, float>, "Mean: accType is float or the type of the elements");
    static_assert(reduceDim == -1, "Mean: only the last axis (-1) is averaged");
    canopy::kernel::reduce_rows<canopy::kernel::MeanReduction>("Mean", dstTensor, srcTensor, &sharedTmpBuffer,
                                                               meanParams, where);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const MeanParams& meanParams,
                 CANOPY_WHERE) {
    static_assert(canopy::kernel::is_half_or_float<T>, "Mean: the elements are half or float");
    static_assert(canopy::kernel::is_any_of<accType, T, float>, "Mean: accType is float or the type of the elements");
    static_assert(reduceDim == -1, "Mean: only the last axis (-1) is averaged");
    canopy::kernel::reduce_rows<canopy::kernel::MeanReduction>("Mean", dstTensor, srcTensor, nullptr, meanParams,
                                                               where);
}

// dst[0] = the sum of src0 ^ src1, at the nearest limit if it does not fit.
template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,
                         const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                         const uint32_t calCount, CANOPY_WHERE) {
    canopy::kernel::reduce_xor_sum(dstTensor, src0Tensor, src1Tensor, &sharedTmpBuffer, calCount, where);
}
template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,
                         const LocalTensor<T>& src1Tensor, const uint32_t calCount, CANOPY_WHERE) {
    canopy::kernel::reduce_xor_sum(dstTensor, src0Tensor, src1Tensor, nullptr, calCount, where);
}

}  // namespace AscendC

#endif
