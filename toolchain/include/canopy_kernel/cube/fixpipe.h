// SPDX-License-Identifier: Apache-2.0
// Fixpipe: moves results out of L0C and converts, scales and lays them out on the way to global memory, L1 or (from
// architecture 3510 on) UB. Quantisation scales are a scalar in the parameters or one 64-bit word per column.
#ifndef CANOPY_KERNEL_FIXPIPE_H
#define CANOPY_KERNEL_FIXPIPE_H

#include "canopy_kernel/copy/atomic.h"
#include "canopy_kernel/cube/cube_load.h"

enum QuantMode_t {
    NoQuant = 0,
    F322F16 = 1,
    F322HIF8_PRE = 2,
    VREQ8 = 8,
    REQ8 = 9,
    VDEQF16 = 10,
    DEQF16 = 11,
    F322BF16 = 16,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    QF322F16_PRE = 32,
    VQF322F16_PRE = 33,
    QF322BF16_PRE = 34,
    VQF322BF16_PRE = 35,
    QF322F32_PRE = 36,
    VQF322F32_PRE = 37,
    QS322BF16_PRE = 38,
    VQS322BF16_PRE = 39,
};

namespace AscendC {

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR = 1, COLUMN_MAJOR = 2 };

struct FixpipeConfig {
    CO2Layout format = CO2Layout::ROW_MAJOR;
    bool isToUB = false;
};
inline constexpr FixpipeConfig CFG_NZ{CO2Layout::NZ, false};
inline constexpr FixpipeConfig CFG_ROW_MAJOR{CO2Layout::ROW_MAJOR, false};
inline constexpr FixpipeConfig CFG_COLUMN_MAJOR{CO2Layout::COLUMN_MAJOR, false};
inline constexpr FixpipeConfig CFG_ROW_MAJOR_UB{CO2Layout::ROW_MAJOR, true};
inline constexpr FixpipeConfig CFG_NZ_UB{CO2Layout::NZ, true};

struct FixpipeParamsV220 {
    FixpipeParamsV220() = default;
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t source, uint32_t destination, bool relu)
        : nSize(n), mSize(m), srcStride(source), dstStride(destination), reluEn(relu) {}
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t source, uint32_t destination, bool relu, QuantMode_t quant,
                      uint64_t scalar, uint16_t nds, uint16_t sourceNd, uint16_t destinationNd, uint8_t flag)
        : nSize(n),
          mSize(m),
          srcStride(source),
          dstStride(destination),
          quantPre(quant),
          deqScalar(scalar),
          ndNum(nds),
          srcNdStride(sourceNd),
          dstNdStride(destinationNd),
          reluEn(relu),
          unitFlag(flag) {}
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;  // from one column of fractals to the next, in rows of 16 elements
    uint32_t dstStride = 0;  // elements between rows, or 32-byte units between columns of fractals
    QuantMode_t quantPre = NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;  // fractals of 1024 bytes
    uint16_t dstNdStride = 0;  // elements
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

struct Nz2NdParams {
    uint16_t ndNum = 1;
    uint32_t srcNdStride = 0;
    uint32_t dstNdStride = 0;
};
struct Nz2DnParams {
    uint16_t dnNum = 1;
    uint32_t srcNzMatrixStride = 0;
    uint32_t dstDnMatrixStride = 0;
    uint32_t srcNzC0Stride = 0;
};
struct Nz2NzParams {};

}  // namespace AscendC

namespace canopy::kernel {

template <AscendC::CO2Layout layout>
struct LayoutParameters {
    using type = AscendC::Nz2NdParams;
};
template <>
struct LayoutParameters<AscendC::CO2Layout::COLUMN_MAJOR> {
    using type = AscendC::Nz2DnParams;
};
template <>
struct LayoutParameters<AscendC::CO2Layout::NZ> {
    using type = AscendC::Nz2NzParams;
};

}  // namespace canopy::kernel

namespace AscendC {

template <CO2Layout layout = CO2Layout::ROW_MAJOR>
struct FixpipeParamsArch3510 {
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = NoQuant;
    uint64_t deqScalar = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    uint8_t dualDstCtl = 0;
    bool subBlockId = false;
    bool isChannelSplit = false;
    typename canopy::kernel::LayoutParameters<layout>::type params{};
};
template <CO2Layout layout = CO2Layout::ROW_MAJOR>
using FixpipeParamsC310 = FixpipeParamsArch3510<layout>;

// Sets the scales or the relu slopes of the columns, from a buffer the kernel filled.
template <class T, bool setRelu = false>
inline void SetFixPipeConfig(const LocalTensor<T>& scales, bool = false) {
    auto& cube = canopy::kernel::core_state().cube;
    (setRelu ? cube.relu_vector : cube.quantisation_vector) = scales.GetPhyAddr();
}
template <class T>
inline void SetFixPipeConfig(const LocalTensor<T>& relu, const LocalTensor<T>& scales, bool = false) {
    auto& cube = canopy::kernel::core_state().cube;
    cube.relu_vector = relu.GetPhyAddr();
    cube.quantisation_vector = scales.GetPhyAddr();
}
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride) {
    canopy::kernel::core_state().cube.nz_to_nd =
        static_cast<uint64_t>(dstNdStride) << 32 | static_cast<uint64_t>(srcNdStride) << 16 | ndNum;
}
inline void SetFixpipePreQuantFlag(uint64_t config) { canopy::kernel::core_state().cube.quantisation = config; }

}  // namespace AscendC

namespace canopy::kernel {

// The 64-bit word of a quantisation: bits 0..31: a float of which 1-8-10 bits count; 37..45: an offset; 46: signed
// result.
struct Quantisation {
    float scale = 1.0f;
    int32_t offset = 0;
    bool is_signed = true;

    static Quantisation from(uint64_t word) {
        Quantisation result;
        const uint32_t bits = static_cast<uint32_t>(word) & 0xffffe000u;
        __builtin_memcpy(&result.scale, &bits, sizeof bits);
        const uint32_t offset = static_cast<uint32_t>(word >> 37) & 0x1ff;
        result.offset = static_cast<int32_t>(offset & 0x100 ? offset | 0xfffffe00u : offset);
        result.is_signed = (word >> 46 & 1) != 0;
        return result;
    }
};

constexpr bool scaled(QuantMode_t mode) { return mode != NoQuant && mode != F322F16 && mode != F322BF16; }
constexpr bool by_column(QuantMode_t mode) {
    return mode == VREQ8 || mode == VDEQF16 || mode == VQF322B8_PRE || mode == VQF322F16_PRE ||
           mode == VQF322BF16_PRE || mode == VQF322F32_PRE || mode == VQS322BF16_PRE;
}

// How sums of type S become elements of type D, with or without scales.
template <class D, class S>
constexpr QuantMode_t scaling_mode(bool scaled, bool columns) {
    if (!scaled) return is_same<D, half> ? F322F16 : is_same<D, bfloat16_t> ? F322BF16 : NoQuant;
    if constexpr (is_same<S, int32_t>) {
        if (is_same<D, half>) return columns ? VDEQF16 : DEQF16;
        if (is_same<D, bfloat16_t>) return columns ? VQS322BF16_PRE : QS322BF16_PRE;
        return columns ? VREQ8 : REQ8;
    } else {
        if (is_same<D, half>) return columns ? VQF322F16_PRE : QF322F16_PRE;
        if (is_same<D, bfloat16_t>) return columns ? VQF322BF16_PRE : QF322BF16_PRE;
        if (is_same<D, float>) return columns ? VQF322F32_PRE : QF322F32_PRE;
        return columns ? VQF322B8_PRE : QF322B8_PRE;
    }
}

// One matrix of a Fixpipe, independent of the structure that described it.
struct FixpipeWork {
    uint32_t n, m, source_stride, destination_stride;
    QuantMode_t mode;
    uint64_t scalar;
    const void* scales;
    bool relu, channel_split;
    AscendC::CO2Layout layout;
};

// What happens to up to `most` columns: they are scaled, what is below `floor` becomes `floor`, and results of one byte
// get an offset and are held between two limits. The word of a column decides the sign of its bytes; the tensor's type
// only names the byte.
struct ColumnRules {
    static constexpr uint32_t most = 256;
    float scale[most], offset[most], low[most], high[most];
    float floor;

    // `words` are those of the columns, or null if all have the word `scalar`.
    ColumnRules(QuantMode_t mode, uint64_t scalar, const uint64_t* words, bool relu, uint32_t count)
        : floor(relu ? 0.0f : -__builtin_inff()) {
        for (uint32_t i = 0; i < count; ++i) {
            Quantisation rule;
            if (scaled(mode)) rule = Quantisation::from(words != nullptr ? words[i] : scalar);
            scale[i] = rule.scale;
            offset[i] = static_cast<float>(rule.offset);
            low[i] = rule.is_signed ? -128.0f : 0.0f;
            high[i] = rule.is_signed ? 127.0f : 255.0f;
        }
    }
};

// Rounds to nearest, ties to even; NaN becomes 0.
inline int32_t held_between(float value, float low, float high) {
    float rounded = math::nearest_even(value);
    rounded = rounded < low ? low : rounded;
    rounded = rounded > high ? high : rounded;
    return static_cast<int32_t>(value == value ? rounded : 0.0f);
}

// Converts `count` neighbours of one row; `first` is the place of their rules.
template <class D, class S>
inline void convert_row(D* to, const S* from, uint32_t count, const ColumnRules& rules, uint32_t first) {
    for_each_lane<is_any_of<D, half>>(count, [&](uint64_t i) CANOPY_ALWAYS {
        float value = static_cast<float>(from[i]) * rules.scale[first + i];
        value = value < rules.floor ? rules.floor : value;
        if constexpr (is_any_of<D, int8_t, uint8_t>) {
            const float shifted = math::nearest_even(value) + rules.offset[first + i];
            to[i] = static_cast<D>(held_between(shifted, rules.low[first + i], rules.high[first + i]));
        } else if constexpr (is_same<D, half>) {
            // Values out of range become the largest finite value.
            value = value > 65504.0f ? 65504.0f : value;
            to[i] = static_cast<half>(value < -65504.0f ? -65504.0f : value);
        } else if constexpr (is_same<D, int32_t>) {
            to[i] = held_between(value, -2147483648.0f, 2147483520.0f);
        } else if constexpr (is_same<D, bfloat16_t>) {
            to[i] = to_bfloat16(value);
        } else {
            to[i] = static_cast<D>(value);
        }
    });
}

// Without conversion; only what is below zero changes.
template <class D>
inline void rectify_row(D* to, const D* from, uint32_t count, bool relu) {
    if (!relu) {
        __builtin_memcpy(to, from, count * sizeof(D));
        return;
    }
    for_each_lane<false>(count, [&](uint64_t i) CANOPY_ALWAYS { to[i] = from[i] < D(0) ? D(0) : from[i]; });
}

template <class D, class S>
inline void convert_columns(D* to, const S* from, uint32_t count, QuantMode_t mode, bool relu, const ColumnRules& rules,
                            uint32_t first) {
    if constexpr (is_same<D, S>)
        if (mode == NoQuant) return rectify_row(to, from, count, relu);
    convert_row(to, from, count, rules, first);
}

// A column of fractals is as wide as 32 bytes of the result; for float it has 16 elements unless it is split.
template <class D>
constexpr uint32_t fractal_columns(const FixpipeWork& work) {
    return sizeof(D) == 4 ? (work.channel_split ? 8 : 16) : 32 / sizeof(D);
}

// Stores the columns first .. first + count - 1; put(to, from, elements) writes a contiguous piece.
template <class D, class S, class Put>
inline void fix_columns(D* destination, const S* source, const FixpipeWork& work, uint32_t first, uint32_t count,
                        const Put& put) {
    const uint32_t width = fractal_columns<D>(work);
    const auto* words = by_column(work.mode) ? static_cast<const uint64_t*>(work.scales) : nullptr;
    const ColumnRules rules(work.mode, work.scalar, words != nullptr ? words + first : nullptr, work.relu, count);
    const auto convert = [&](D* to, uint32_t row, uint32_t column, uint32_t n) {
        const S* from = source + static_cast<uint64_t>((first + column) / 16) * work.source_stride * 16 +
                        static_cast<uint64_t>(row) * 16;
        convert_columns(to, from, n, work.mode, work.relu, rules, column);
    };
    D results[ColumnRules::most];
    if (work.layout == AscendC::CO2Layout::ROW_MAJOR) {
        for (uint32_t row = 0; row < work.m; ++row) {
            for (uint32_t n = 0; n < count; n += 16) convert(results + n, row, n, smaller(16u, count - n));
            put(destination + static_cast<uint64_t>(row) * work.destination_stride + first, results, count);
        }
        return;
    }
    for (uint32_t n = 0; n < count; n += 16) {
        const uint32_t columns = smaller(16u, count - n), at = first + n;
        if (work.layout == AscendC::CO2Layout::COLUMN_MAJOR) {
            for (uint32_t row = 0; row < work.m; ++row) {
                convert(results, row, n, columns);
                for (uint32_t i = 0; i < columns; ++i)
                    put(destination + static_cast<uint64_t>(at + i) * work.destination_stride + row, results + i, 1);
            }
            continue;
        }
        const auto place = [&](uint32_t row, uint32_t column) {
            return destination + static_cast<uint64_t>(column / width) * work.destination_stride * (32 / sizeof(D)) +
                   static_cast<uint64_t>(row) * width + column % width;
        };
        // The rows of a whole column of fractals follow each other.
        const uint32_t together = width == 16 && columns == 16 ? ColumnRules::most / 16 : 1;
        for (uint32_t row = 0; row < work.m; row += together) {
            const uint32_t rows = smaller(together, work.m - row);
            for (uint32_t r = 0; r < rows; ++r) convert(results + r * 16, row + r, n, columns);
            if (together > 1)
                put(place(row, at), results, rows * 16);
            else
                for (uint32_t i = 0; i < columns; i += width)
                    put(place(row, at + i), results + i, smaller(width, columns - i));
        }
    }
}

// Elements from the first to the end of the last one that a matrix has in its destination.
template <class D>
inline uint64_t fixed_extent(const FixpipeWork& work) {
    if (work.m == 0 || work.n == 0) return 0;
    const uint64_t stride = work.destination_stride;
    if (work.layout == AscendC::CO2Layout::ROW_MAJOR) return (work.m - 1) * stride + work.n;
    if (work.layout == AscendC::CO2Layout::COLUMN_MAJOR) return (work.n - 1) * stride + work.m;
    const uint32_t width = fractal_columns<D>(work), last = (work.n - 1) / width;
    return last * stride * (32 / sizeof(D)) + (work.m - 1) * uint64_t{width} + (work.n - last * width);
}

template <class D, class S>
inline void fix_matrix(D* destination, const S* source, const FixpipeWork& work, bool global) {
    for (uint32_t first = 0; first < work.n; first += ColumnRules::most) {
        const uint32_t count = smaller(ColumnRules::most, work.n - first);
        if (global) {
            Outlet outlet(element_kind<D>);
            fix_columns(destination, source, work, first, count,
                        [&](D* to, const D* from, uint32_t elements) { outlet.put(to, from, elements * sizeof(D)); });
        } else {
            fix_columns(destination, source, work, first, count,
                        [](D* to, const D* from, uint32_t elements) { copy_short(to, from, elements * sizeof(D)); });
        }
    }
}

inline FixpipeWork fixpipe_work(const AscendC::FixpipeParamsV220& params, AscendC::CO2Layout layout,
                                const void* scales) {
    return {params.nSize,     params.mSize, params.srcStride, params.dstStride,      params.quantPre,
            params.deqScalar, scales,       params.reluEn,    params.isChannelSplit, layout};
}
template <AscendC::CO2Layout layout>
inline FixpipeWork fixpipe_work(const AscendC::FixpipeParamsArch3510<layout>& params, AscendC::CO2Layout,
                                const void* scales) {
    return {params.nSize,     params.mSize, params.srcStride, params.dstStride,      params.quantPre,
            params.deqScalar, scales,       params.reluEn,    params.isChannelSplit, layout};
}

struct MatrixSteps {
    uint32_t count;
    uint64_t source, destination;  // elements
};

inline MatrixSteps matrix_steps(const AscendC::FixpipeParamsV220& params) {
    return {params.ndNum == 0 ? 1u : params.ndNum, params.srcNdStride * 256ull, params.dstNdStride};
}
template <AscendC::CO2Layout layout>
inline MatrixSteps matrix_steps(const AscendC::FixpipeParamsArch3510<layout>& params) {
    if constexpr (layout == AscendC::CO2Layout::ROW_MAJOR)
        return {params.params.ndNum == 0 ? 1u : params.params.ndNum, params.params.srcNdStride * 16ull,
                params.params.dstNdStride};
    else if constexpr (layout == AscendC::CO2Layout::COLUMN_MAJOR)
        return {params.params.dnNum == 0 ? 1u : params.params.dnNum, params.params.srcNzMatrixStride * 16ull,
                params.params.dstDnMatrixStride};
    else
        return {1, 0, 0};
}

// The vector cores that receive the result: one of them, or both, one with the first half of the rows or columns and
// one with the second half.
struct Receivers {
    uint32_t split;  // 0: not split, 1: rows, 2: columns
    uint32_t which;  // if it is not split
};
inline Receivers receivers(const AscendC::FixpipeParamsV220&) { return {0, 0}; }
template <AscendC::CO2Layout layout>
inline Receivers receivers(const AscendC::FixpipeParamsArch3510<layout>& params) {
    return {params.dualDstCtl, params.subBlockId ? 1u : 0u};
}

__attribute__((noinline)) inline void check_split(const char* operation, uint32_t split, uint64_t rows,
                                                  uint64_t columns, bool fractals, Where where) {
    if (split > 2)
        fail(where, "%s: dualDstCtl is %u; 0 stores to one vector core, 1 splits the rows, 2 the columns", operation,
             split);
    if (current_block().vector_count != 2)
        fail(where, "%s: dualDstCtl stores to two vector cores; this kernel has %u for each cube core", operation,
             current_block().vector_count);
    if (split == 1 && rows % 2 != 0)
        fail(where, "%s: dualDstCtl splits %llu rows; their number must be even", operation, printable(rows));
    if (split == 2 && fractals) fail(where, "%s: dualDstCtl cannot split the columns of an NZ destination", operation);
    if (split == 2 && columns % 32 != 0)
        fail(where, "%s: dualDstCtl splits %llu columns; their number must be a multiple of 32", operation,
             printable(columns));
}

// From the cube core of a group into the unified buffers of its vector cores.
template <class D, class S>
inline void fix_to_vector_cores(const char* operation, D* destination, const S* source, FixpipeWork work,
                                const MatrixSteps& steps, const Receivers& to, Where where) {
    if (to.split != 0) check_split(operation, to.split, work.m, work.n, work.layout == AscendC::CO2Layout::NZ, where);
    if (to.split == 1) work.m /= 2;
    if (to.split == 2) work.n /= 2;
    const uint64_t extent = fixed_extent<D>(work);
    const uint64_t bytes = extent == 0 ? 0 : ((steps.count - 1) * steps.destination + extent) * sizeof(D);
    for (uint32_t core = to.split != 0 ? 0 : to.which; core <= (to.split != 0 ? 1 : to.which); ++core) {
        D* const target = in_vector_core(operation, destination, bytes, core, where);
        for (uint32_t i = 0; i < steps.count; ++i)
            fix_matrix(target + i * steps.destination, source + i * steps.source, work, false);
        // The second half.
        if (to.split == 1) source += uint64_t{work.m} * 16;
        if (to.split == 2) {
            source += uint64_t{work.n / 16} * work.source_stride * 16;
            if (by_column(work.mode)) work.scales = static_cast<const uint64_t*>(work.scales) + work.n;
        }
    }
}

// `to`: the memory of the destination.
template <class D, class S, class Parameters>
inline void fixpipe(const char* operation, D* destination, const LocalTensor<S>& source, const Parameters& params,
                    AscendC::CO2Layout layout, const void* scales, Hardware to, Where where) {
    if constexpr (__NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002)
        fail(where,
             "Fixpipe: this chip has none; DataCopy moves the cube's output to the unified buffer (position CO2)");
    require_memory(source, Hardware::L0C, "the source of Fixpipe", where);
    if (scales == nullptr) scales = core_state().cube.quantisation_vector;
    const FixpipeWork work = fixpipe_work(params, layout, scales);
    if (by_column(work.mode) && work.scales == nullptr)
        fail(where, "Fixpipe: this quantisation needs a scale for each column: pass them, or SetFixPipeConfig first");
    const MatrixSteps steps = matrix_steps(params);
    if (to == Hardware::UB && stores_to_vector_cores())
        return fix_to_vector_cores(operation, destination, source.GetPhyAddr(), work, steps, receivers(params), where);
    for (uint32_t i = 0; i < steps.count; ++i)
        fix_matrix(destination + i * steps.destination, source.GetPhyAddr() + i * steps.source, work,
                   to == Hardware::GM);
}

// ---- the checking variant ------------------------------------------------------------------------------------------

// What one matrix reads and writes, and the next ones at the distances of `steps`. Sums are read in whole fractals, as
// products write them: unit flags are set for all of them.
template <class S>
inline void add_fixed_source(const LocalTensor<S>& source, uint64_t first, const FixpipeWork& work,
                             const MatrixSteps& steps) {
    constexpr uint64_t row = 16 * sizeof(S);
    const uint64_t column = uint64_t{work.source_stride} * row, next = steps.source * sizeof(S);
    const auto* at = reinterpret_cast<const unsigned char*>(source.GetPhyAddr() + first);
    const uint64_t rows = round_up(work.m, 16);
    const uint64_t read = work.source_stride >= work.m ? smaller<uint64_t>(rows, work.source_stride) : rows;
    add_walk(CANOPY_CHECK_READ, "src", source, at, {read * row, column, (work.n + 15) / 16, next, steps.count});
}
template <class D>
inline void add_fixed_target(const OperandPlace& place, const D* target, const FixpipeWork& work,
                             const MatrixSteps& steps) {
    const auto* at = reinterpret_cast<const unsigned char*>(target);
    const uint64_t stride = work.destination_stride, next = steps.destination * sizeof(D);
    const auto add = [&](const unsigned char* first, uint64_t bytes, uint64_t step, uint32_t pieces) {
        add_result("dst", place, first, {bytes, step, pieces, next, steps.count}, element_kind<D>);
    };
    if (work.layout == AscendC::CO2Layout::ROW_MAJOR) return add(at, work.n * sizeof(D), stride * sizeof(D), work.m);
    if (work.layout == AscendC::CO2Layout::COLUMN_MAJOR) return add(at, work.m * sizeof(D), stride * sizeof(D), work.n);
    const uint32_t width = fractal_columns<D>(work), whole = work.n / width;
    add(at, uint64_t{work.m} * width * sizeof(D), stride * 32, whole);
    add(at + whole * stride * 32, work.n % width * sizeof(D), width * sizeof(D), work.m);
}

// The operands of a Fixpipe, as those of the open instruction. `scales` is null if they come from a register.
template <class D, class S, class Parameters>
inline void add_fixpipe(const Instruction& instruction, const OperandPlace& destination, const D* target,
                        const LocalTensor<S>& source, const Parameters& params, AscendC::CO2Layout layout,
                        const OperandPlace* scales, const char* operation, Where where) {
    FixpipeWork work = fixpipe_work(params, layout, nullptr);
    const MatrixSteps steps = matrix_steps(params);
    instruction.product(work.m, work.n, 0, params.unitFlag);
    add_fixed_source(source, 0, work, steps);
    if (by_column(work.mode)) {
        const void* held = core_state().cube.quantisation_vector;
        const OperandPlace registers{held, 0, memory_holding(held), 8};
        const OperandPlace& words = scales != nullptr ? *scales : registers;
        add_access(CANOPY_CHECK_READ, "scales", words, words.tensor, {uint64_t{work.n} * 8});
    }
    if (destination.memory != Hardware::UB || !stores_to_vector_cores())
        return add_fixed_target(destination, target, work, steps);
    const Receivers to = receivers(params);
    if (to.split == 1) work.m /= 2;
    if (to.split == 2) work.n /= 2;
    for (uint32_t core = to.split != 0 ? 0 : to.which; core <= (to.split != 0 ? 1 : to.which); ++core) {
        const D* there = in_vector_core(operation, const_cast<D*>(target), 0, core, where);
        add_fixed_target({there, destination.bytes, destination.memory, destination.element}, there, work, steps);
    }
}

template <class D, class Destination, class S, class Parameters>
inline void add_fixpipe(const Instruction& instruction, const Destination& dst, const D* target,
                        const LocalTensor<S>& src, const Parameters& params, AscendC::CO2Layout layout,
                        const char* operation, Where where) {
    if constexpr (is_checking_variant)
        add_fixpipe(instruction, place_of(dst), target, src, params, layout, nullptr, operation, where);
}
template <class D, class Destination, class S, class Parameters, class W>
inline void add_fixpipe(const Instruction& instruction, const Destination& dst, const D* target,
                        const LocalTensor<S>& src, const Parameters& params, AscendC::CO2Layout layout,
                        const LocalTensor<W>& scales, const char* operation, Where where) {
    if constexpr (is_checking_variant) {
        const OperandPlace place = place_of(scales);
        add_fixpipe(instruction, place_of(dst), target, src, params, layout, &place, operation, where);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class Parameters>
inline void Fixpipe(const GlobalTensor<D>& dst, const LocalTensor<S>& src, const Parameters& params,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "Fixpipe", where);
    canopy::kernel::add_fixpipe(instruction, dst, dst.GetPhyAddr(0), src, params, config.format, "Fixpipe", where);
    canopy::kernel::fixpipe("Fixpipe", dst.GetPhyAddr(0), src, params, config.format, nullptr, Hardware::GM, where);
}
template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class Parameters>
inline void Fixpipe(const LocalTensor<D>& dst, const LocalTensor<S>& src, const Parameters& params,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "Fixpipe", where);
    canopy::kernel::add_fixpipe(instruction, dst, dst.GetPhyAddr(), src, params, config.format, "Fixpipe", where);
    canopy::kernel::fixpipe("Fixpipe", dst.GetPhyAddr(), src, params, config.format, nullptr,
                            canopy::kernel::memory_of(dst.position()), where);
}
// With per-column scales in L1 (or the fixpipe buffer).
template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class W, class Parameters>
inline void Fixpipe(const GlobalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<W>& scales,
                    const Parameters& params, canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "Fixpipe", where);
    canopy::kernel::add_fixpipe(instruction, dst, dst.GetPhyAddr(0), src, params, config.format, scales, "Fixpipe",
                                where);
    canopy::kernel::fixpipe("Fixpipe", dst.GetPhyAddr(0), src, params, config.format, scales.GetPhyAddr(), Hardware::GM,
                            where);
}
template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class W, class Parameters>
inline void Fixpipe(const LocalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<W>& scales,
                    const Parameters& params, canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_FIX, "Fixpipe", where);
    canopy::kernel::add_fixpipe(instruction, dst, dst.GetPhyAddr(), src, params, config.format, scales, "Fixpipe",
                                where);
    canopy::kernel::fixpipe("Fixpipe", dst.GetPhyAddr(), src, params, config.format, scales.GetPhyAddr(),
                            canopy::kernel::memory_of(dst.position()), where);
}

}  // namespace AscendC

// Programs also use these without the namespace.
using AscendC::CFG_COLUMN_MAJOR;
using AscendC::CFG_NZ;
using AscendC::CFG_ROW_MAJOR;

#endif
