// SPDX-License-Identifier: Apache-2.0
// Running sums along the rows or down the columns of a matrix.
#ifndef CANOPY_KERNEL_CUMULATIVE_SUM_H
#define CANOPY_KERNEL_CUMULATIVE_SUM_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/high_level/operands.h"
#include "canopy_kernel/vector/rows.h"

namespace AscendC {

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, true};

struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};

}  // namespace AscendC

namespace canopy::kernel {

// Along rows: several rows at a time, since each sum waits for the one before.
template <uint64_t rows, class T>
inline void sum_along(uint64_t columns, const T* from, T* to) {
    Wide<T> sum[rows] = {};
    for (uint64_t i = 0; i < columns; ++i)
#pragma clang loop unroll(full)
        for (uint64_t row = 0; row < rows; ++row) {
            sum[row] += widen(from[row * columns + i]);
            to[row * columns + i] = narrow<T>(sum[row]);
        }
}

// Down columns. The sums are kept in float until they are stored.
template <class T>
inline void sum_down(uint64_t rows, uint64_t columns, const T* from, T* to) {
    constexpr uint64_t most = 512;
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    Wide<T> sum[most];
    for (uint64_t first = 0; first < columns; first += most) {
        const uint64_t count = smaller(most, columns - first);
        for_each_lane<false>(count, [&](uint64_t j) { sum[j] = 0; });
        for (uint64_t row = 0; row < rows; ++row) {
            const T* source_row = from + row * columns + first;
            T* result_row = to + row * columns + first;
            for_each_lane<is_same<T, half>>(count, [&](uint64_t j) {
                sum[j] += widen(source_row[j], zero);
                result_row[j] = narrow<T>(sum[j]);
            });
        }
    }
}

template <bool last_axis, bool with_last_row, class T>
inline void cumulative_sum(const LocalTensor<T>& dst, const LocalTensor<T>& last_row, const LocalTensor<T>& src,
                           Scratch scratch, const AscendC::CumSumInfo& info, Where where) {
    static_assert(is_half_or_float<T>, "CumSum: the elements are half or float");
    if (on_cube_core()) return;
    const uint64_t rows = info.outter, columns = info.inner;
    const Instruction instruction(PIPE_V, "CumSum", where);
    if constexpr (is_checking_variant && with_last_row) instruction.writes("lastRow", last_row, bytes_of<T>(columns));
    if constexpr (tests_parameters) {
        if (checked && (columns == 0 || bytes_of<T>(columns) % block_bytes != 0))
            fail(where, "CumSum: inner is %u elements of %u bytes; a row must be a multiple of 32 bytes", info.inner,
                 static_cast<uint32_t>(sizeof(T)));
        check_operands("CumSum", rows * columns, where, named("dst", dst), named("src", src));
        if (checked && with_last_row) check_operands("CumSum", columns, where, named("lastRow", last_row));
        check_scratch("CumSum", scratch, where, named("dst", dst), named("src", src));
    }
    if (rows == 0) return;
    ask_ahead(bytes_of<T>(rows * columns));
    const T* from = src.GetPhyAddr();
    T* to = dst.GetPhyAddr();
    if constexpr (last_axis) {
        constexpr uint64_t together = 8;
        uint64_t row = 0;
        for (; row + together <= rows; row += together)
            sum_along<together>(columns, from + row * columns, to + row * columns);
        for (; row < rows; ++row) sum_along<1>(columns, from + row * columns, to + row * columns);
    } else {
        sum_down(rows, columns, from, to);
    }
    if constexpr (with_last_row)
        __builtin_memmove(last_row.GetPhyAddr(), to + (rows - 1) * columns, bytes_of<T>(columns));
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor,
                   const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                   const CumSumInfo& cumSumInfo, CANOPY_WHERE) {
    canopy::kernel::cumulative_sum<config.isLastAxis, config.outputLastRow>(dstTensor, lastRowTensor, srcTensor,
                                                                            &sharedTmpBuffer, cumSumInfo, where);
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor,
                   const LocalTensor<T>& srcTensor, const CumSumInfo& cumSumInfo, CANOPY_WHERE) {
    canopy::kernel::cumulative_sum<config.isLastAxis, config.outputLastRow>(dstTensor, lastRowTensor, srcTensor,
                                                                            nullptr, cumSumInfo, where);
}

}  // namespace AscendC

#endif
