// SPDX-License-Identifier: Apache-2.0
// The operations of Te::Copy that move results out of L0C: they convert, optionally scale and clamp at 0, and store in
// the layout of the destination.
#ifndef CANOPY_KERNEL_TENSOR_RESULT_COPY_H
#define CANOPY_KERNEL_TENSOR_RESULT_COPY_H

#include "canopy_kernel/cube/fixpipe.h"
#include "canopy_kernel/tensor_interface/copy_operations.h"

namespace AscendC::Te {

enum class RoundMode : uint8_t { DEFAULT = 0, HYBRID = 1 };
enum DualDstMode : uint8_t { DUAL_DST_DISABLE = 0, DUAL_DST_SPLIT_M = 1, DUAL_DST_SPLIT_N = 2 };

struct FixpipeParams {
    constexpr FixpipeParams() = default;
    constexpr FixpipeParams(uint8_t unitFlagIn, bool subBlockIdIn = false)
        : unitFlag(unitFlagIn), subBlockId(subBlockIdIn) {}
    uint8_t unitFlag = 0;
    bool subBlockId = false;  // the vector core whose UB receives
};

#define CANOPY_RESULT_TRAIT(Operation, Constant)                                                            \
    struct Operation##Trait {                                                                               \
        constexpr Operation##Trait() = default;                                                             \
        constexpr Operation##Trait(RoundMode roundModeIn, bool enableReluIn, bool enableChannelSplitIn)     \
            : roundMode(roundModeIn), enableRelu(enableReluIn), enableChannelSplit(enableChannelSplitIn) {} \
        RoundMode roundMode = RoundMode::DEFAULT;                                                           \
        bool enableRelu = false;                                                                            \
        bool enableChannelSplit = false;                                                                    \
    };                                                                                                      \
    inline constexpr Operation##Trait Constant{};                                                           \
    struct Operation##TraitDefault {                                                                        \
        using TraitType = Operation##Trait;                                                                 \
        static constexpr const TraitType value = Constant;                                                  \
    };
CANOPY_RESULT_TRAIT(CopyL0C2GM, DEFAULT_COPY_L0C2GM_TRAIT)
CANOPY_RESULT_TRAIT(CopyL0C2L1, DEFAULT_COPY_L0C2L1_TRAIT)
#undef CANOPY_RESULT_TRAIT

struct CopyL0C2UBTrait {
    constexpr CopyL0C2UBTrait() = default;
    constexpr CopyL0C2UBTrait(RoundMode roundModeIn, bool enableReluIn, bool enableChannelSplitIn,
                              DualDstMode dualDstCtlIn)
        : roundMode(roundModeIn),
          enableRelu(enableReluIn),
          enableChannelSplit(enableChannelSplitIn),
          dualDstCtl(dualDstCtlIn) {}
    RoundMode roundMode = RoundMode::DEFAULT;
    bool enableRelu = false;
    bool enableChannelSplit = false;
    DualDstMode dualDstCtl = DUAL_DST_DISABLE;
};
inline constexpr CopyL0C2UBTrait DEFAULT_COPY_L0C2UB_TRAIT{};
struct CopyL0C2UBTraitDefault {
    using TraitType = CopyL0C2UBTrait;
    static constexpr const TraitType value = DEFAULT_COPY_L0C2UB_TRAIT;
};

// One scale for all columns (a number), or a tensor in L1 with one for each.
template <class T>
inline constexpr bool IsCopyQuantParamV = Std::is_integral_v<T> || IsAttrTensorV<T>;

}  // namespace AscendC::Te

namespace canopy::kernel::te {

struct NoScales {};

// Results of one copy: how sums are converted, and the part of the source that is copied.
struct ResultCopy {
    FixpipeWork work;
    bool hybrid;
    int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;
};

inline constexpr int64_t results_at_once = 16;

template <class D, class S>
inline void convert_results(D* to, const S* from, int64_t column, int64_t count, const ResultCopy& copy) {
    if constexpr (is_same<D, hifloat8_t>) {
        if (copy.hybrid) {
            const auto* words = static_cast<const uint64_t*>(copy.work.scales);
            for (int64_t i = 0; i < count; ++i) {
                const uint64_t word = by_column(copy.work.mode) ? words[column + i] : copy.work.scalar;
                float value = static_cast<float>(from[i]) * Quantisation::from(word).scale;
                if (copy.work.relu && value < 0.0f) value = 0.0f;
                to[i].storage = HybridFormat::encode<AscendC::RoundMode::CAST_HYBRID>(value, true);
            }
            return;
        }
    }
    const FixpipeWork& work = copy.work;
    const auto* words = by_column(work.mode) ? static_cast<const uint64_t*>(work.scales) + column : nullptr;
    const auto elements = static_cast<uint32_t>(count);
    const ColumnRules rules(work.mode, work.scalar, words, work.relu, elements);
    convert_columns(to, from, elements, work.mode, work.relu, rules, 0);
}

// `images`: the matrices of the target follow each other along the rows of the source.
template <class D, class S, class Move>
inline void copy_results(D* to, const Matrices& target, const S* from, const Matrices& source, const ResultCopy& copy,
                         bool images, Move& move) {
    D values[results_at_once];
    const int64_t rows_of_image = target.row.size();
    int64_t count = 0;
    for (int64_t r = 0; r < copy.rows; ++r) {
        D* const row =
            to + (images ? r / rows_of_image * target.apart + target.row.at(r % rows_of_image) : target.row.at(r));
        for (int64_t c = 0; c < copy.columns; c += count) {
            const int64_t column = copy.first_column + c;
            count = smaller(smaller(results_at_once, copy.columns - c),
                            smaller(source.column.run(column), target.column.run(c)));
            convert_results(values, from + source.row.at(copy.first_row + r) + source.column.at(column), column, count,
                            copy);
            copy_rectangle(row + target.column.at(c), {0, target.column.step}, values, {0, 1}, 1, count, move);
        }
    }
}

template <class D, class S, class Quant>
constexpr bool converts() {
    if constexpr (is_same<Quant, NoScales>)
        return is_same<S, float> ? is_any_of<D, half, bfloat16_t, float> : is_same<D, int32_t>;
    else
        return is_same<S, float>
                   ? is_any_of<D, int8_t, uint8_t, fp8_e4m3fn_t, fp8_e5m2_t, hifloat8_t, half, bfloat16_t, float>
                   : is_any_of<D, int8_t, uint8_t, half, bfloat16_t>;
}

template <class Quant>
inline const void* scales_in(const Quant& quant) {
    if constexpr (IsAttrTensorV<Quant>) {
        static_assert(is_any_of<typename Quant::valueType, uint64_t, int64_t>, "Copy: the scales are of uint64_t");
        static_assert(is_in<Quant, Location::L1, Location::FIXBUF>, "Copy: the scales are in L1");
        return address_of(quant);
    } else {
        return nullptr;
    }
}
// Makes `copy` the first half of the source if two vector cores receive. The destination is that of one of them.
__attribute__((noinline)) inline void split_results(const char* operation, ResultCopy& copy, const Matrices& target,
                                                    const Matrices& source, const Receivers& receivers, bool fractals,
                                                    Where where) {
    if (receivers.split == 0) return;
    const int64_t rows = source.row.size(), columns = source.column.size();
    check_split(operation, receivers.split, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), fractals,
                where);
    copy.rows = receivers.split == 1 ? rows / 2 : rows;
    copy.columns = receivers.split == 2 ? columns / 2 : columns;
    if (copy.rows > target.row.size() || copy.columns > target.column.size())
        fail(where, "%s: %lld x %lld elements for each vector core do not fit into a destination of %lld x %lld",
             operation, static_cast<long long>(copy.rows), static_cast<long long>(copy.columns),
             static_cast<long long>(target.row.size()), static_cast<long long>(target.column.size()));
}

template <class Quant>
constexpr uint64_t scale_in(const Quant& quant) {
    if constexpr (Std::is_integral_v<Quant>)
        return static_cast<uint64_t>(quant);
    else
        return 0;
}

// In the checking variant: the matrices of the destination that follow each other along the rows of the source.
template <class D>
inline void add_images(const void* first, const Matrices& target, int64_t rows, int64_t columns) {
    using T = typename D::valueType;
    const int64_t of_image = target.row.size(), whole = rows / of_image;
    add_tensor<D>(CANOPY_CHECK_WRITE, "dst", first, target, {of_image, columns, whole});
    add_tensor<D>(CANOPY_CHECK_WRITE, "dst", static_cast<const T*>(first) + whole * target.apart, target,
                  {rows % of_image, columns, 1});
}

// `to`: to the unified buffer, the vector cores that receive.
template <class To, const auto& trait, class D, class S, class Quant>
inline void copy_out(const char* operation, const D& dst, const S& src, const Quant& quant, Where where,
                     const Receivers& receivers = {}) {
    using T = typename D::valueType;
    using U = typename S::valueType;
    static_assert(is_in<S, Location::L0C>, "Copy: the source of this operation is in L0C");
    static_assert(is_in<D, To>, "Copy: the destination is not in the memory that this operation copies to");
    static_assert(is_any_of<U, float, int32_t>, "Copy: L0C holds float or int32_t");
    static_assert(
        converts<T, U, Quant>(),
        "Copy from L0C: float becomes half, bfloat16_t or float, and int32_t stays; with scales float becomes "
        "int8_t, uint8_t, an 8-bit float, half, bfloat16_t or float, and int32_t int8_t, uint8_t, half or bfloat16_t");
    static_assert(trait.roundMode == AscendC::Te::RoundMode::DEFAULT || is_same<T, hifloat8_t>,
                  "Copy from L0C: RoundMode::HYBRID is for hifloat8_t");
    static_assert(!trait.enableChannelSplit || is_same<T, float>, "Copy from L0C: enableChannelSplit is for float");
    if (on_vector_core()) return;
    const Matrices target = view_of(dst).joined(), source = view_of(src).joined();
    check_operand<Location::L0C>(operation, "source", src, source, where);
    check_operand<To>(operation, "destination", dst, target, where);
    constexpr bool images = image_axes<pattern_of<D>> != 0;
    ResultCopy copy{};
    copy.work.mode = scaling_mode<T, U>(!is_same<Quant, NoScales>, IsAttrTensorV<Quant>);
    copy.work.scalar = scale_in(quant);
    copy.work.scales = scales_in(quant);
    copy.work.relu = trait.enableRelu;
    copy.hybrid = trait.roundMode == AscendC::Te::RoundMode::HYBRID;
    copy.rows = images ? smaller(target.count * target.row.size(), source.row.size()) : common_rows(target, source);
    copy.columns = common_columns(target, source);
    if constexpr (checked && is_same<pattern_of<D>, NZLayoutPtn>) {
        const int64_t width = trait.enableChannelSplit ? 8 : sizeof(T) == 1 ? 32 : 16;
        const int64_t inner = matrices_of(dst.Layout()).column.inner;
        if (inner != width)
            fail(where, "%s: an NZ destination of this type has fractals of %lld columns, not %lld", operation,
                 static_cast<long long>(width), static_cast<long long>(inner));
    }
    const int64_t count = images ? 1 : smaller(target.count, source.count);
    const Instruction instruction(PIPE_FIX, operation, where);
    if constexpr (is_checking_variant) {
        instruction.product(static_cast<uint32_t>(copy.rows), static_cast<uint32_t>(copy.columns), 0, 0);
        Extents sums = whole_fractals(source, copy.rows, copy.columns);
        sums.count = count;
        add_tensor<S>(CANOPY_CHECK_READ, "src", address_of(src), source, sums);
        if (by_column(copy.work.mode))
            add_memory(CANOPY_CHECK_READ, "scales", memory_holding(copy.work.scales), copy.work.scales,
                       {static_cast<uint64_t>(copy.columns) * 8}, 8);
    }
    const auto copy_to = [&](T* first) {
        if constexpr (is_checking_variant) {
            if (images)
                add_images<D>(first, target, copy.rows, copy.columns);
            else
                add_tensor<D>(CANOPY_CHECK_WRITE, "dst", first, target, {copy.rows, copy.columns, count});
        }
        for (int64_t i = 0; i < count; ++i) {
            T* to = first + i * (images ? 0 : target.apart);
            const U* from = address_of(src) + i * source.apart;
            if constexpr (is_same<To, Location::GM>) {
                OutOfCore move(element_kind<T>);
                copy_results(to, target, from, source, copy, images, move);
            } else {
                InsideCore move;
                copy_results(to, target, from, source, copy, images, move);
            }
        }
    };
    if constexpr (is_same<To, Location::UB>) {
        if (stores_to_vector_cores()) {
            split_results(operation, copy, target, source, receivers, has_pattern<D, NZLayoutPtn>, where);
            const bool both = receivers.split != 0;
            for (uint32_t core = both ? 0 : receivers.which; core <= (both ? 1 : receivers.which); ++core) {
                copy_to(in_vector_core(operation, address_of(dst), extent_of(target, sizeof(T) * 8), core, where));
                if (receivers.split == 1) copy.first_row += copy.rows;
                if (receivers.split == 2) copy.first_column += copy.columns;
            }
            return;
        }
    }
    copy_to(address_of(dst));
}

template <const auto& trait, class D, class S, class Quant>
inline void copy_to_vector_cores(const D& dst, const S& src, const Quant& quant, const FixpipeParams& params,
                                 Where where) {
    constexpr DualDstMode split = trait.dualDstCtl;
    static_assert(split != DUAL_DST_SPLIT_N || !is_same<pattern_of<D>, NZLayoutPtn>,
                  "CopyL0C2UB: DUAL_DST_SPLIT_N is not for an NZ destination");
    if (on_vector_core()) return;
    if (split != DUAL_DST_DISABLE && current_block().vector_count == 0)
        fail(where, "CopyL0C2UB: dualDstCtl stores to two vector cores; this kernel runs on cube cores only");
    copy_out<Location::UB, trait>("CopyL0C2UB", dst, src, quant, where, {split, params.subBlockId ? 1u : 0u});
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

#define CANOPY_RESULT_COPY(Operation, To, patterns, text)                                                      \
    struct Operation##With {                                                                                   \
        using Default = Operation##TraitDefault;                                                               \
        using With = Operation##With;                                                                          \
        template <class... Args>                                                                               \
        static constexpr FixpipeParams parameters(const Args&... args) {                                       \
            return FixpipeParams(args...);                                                                     \
        }                                                                                                      \
        template <const auto& trait, class D, class S, class Q = canopy::kernel::te::NoScales>                 \
        static void Copy(canopy::kernel::Where where, const FixpipeParams& params, const D& dst, const S& src, \
                         const Q& quant = {}) {                                                                \
            using namespace canopy::kernel;                                                                    \
            using namespace canopy::kernel::te;                                                                \
            static_assert(has_pattern<S, NZLayoutPtn> && patterns, text);                                      \
            const JoinedInstruction instruction(PIPE_FIX, #Operation, where);                                  \
            instruction.product(0, 0, 0, params.unitFlag);                                                     \
            if constexpr (is_same<Location::To, Location::UB>)                                                 \
                copy_to_vector_cores<trait>(dst, src, quant, params, where);                                   \
            else                                                                                               \
                copy_out<Location::To, trait>(#Operation, dst, src, quant, where);                             \
        }                                                                                                      \
    };                                                                                                         \
    struct Operation {                                                                                         \
        using Default = Operation##TraitDefault;                                                               \
        using With = Operation##With;                                                                          \
        template <const auto& trait, class D, class S, class Q = canopy::kernel::te::NoScales>                 \
        static void Copy(canopy::kernel::Where where, const D& dst, const S& src, const Q& quant = {}) {       \
            With::template Copy<trait>(where, FixpipeParams{}, dst, src, quant);                               \
        }                                                                                                      \
    };
CANOPY_RESULT_COPY(
    CopyL0C2GM, GM,
    (has_pattern<D, NDLayoutPtn, DNLayoutPtn, NZLayoutPtn, NC1HWC0LayoutPtn, NHWCLayoutPtn, NCHWLayoutPtn>),
    "CopyL0C2GM: the source is NZ, the destination ND, DN, NZ, NC1HWC0, NHWC or NCHW")
CANOPY_RESULT_COPY(CopyL0C2UB, UB, (has_pattern<D, NDLayoutPtn, DNLayoutPtn, NZLayoutPtn>),
                   "CopyL0C2UB: the source is NZ, the destination ND, DN or NZ")
CANOPY_RESULT_COPY(CopyL0C2L1, L1, (has_pattern<D, NDLayoutPtn, DNLayoutPtn, NZLayoutPtn>),
                   "CopyL0C2L1: the source is NZ, the destination ND, DN or NZ")
#undef CANOPY_RESULT_COPY

}  // namespace AscendC::Te

#endif
