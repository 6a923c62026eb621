// SPDX-License-Identifier: Apache-2.0
// Casts between element types, and operations whose result is cast. Out-of-range values saturate; NaN becomes 0 in an
// integer; infinities are kept if the type has them.
#ifndef CANOPY_KERNEL_VECTOR_CAST_H
#define CANOPY_KERNEL_VECTOR_CAST_H

#include "canopy_kernel/core/control.h"
#include "canopy_kernel/vector/convert.h"
#include "canopy_kernel/vector/vector_binary.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_castable = is_vector_float<T> || is_small_float<T> || is_same<T, int4b_t> ||
                                    (is_integer<T> && !is_same<T, uint64_t>);

// The type pairs that every chip supports.
template <class D, class S>
inline constexpr bool casts_everywhere =
    (is_same<D, half> && is_any_of<S, int4b_t, int8_t, uint8_t, int16_t, int32_t, float>) ||
    (is_same<S, half> && is_any_of<D, int4b_t, int8_t, uint8_t, int16_t, int32_t, float>) ||
    (is_same<S, bfloat16_t> && is_any_of<D, int32_t, float>) ||
    (is_same<S, int32_t> && is_any_of<D, int16_t, float, int64_t>) ||
    (is_same<S, float> && is_any_of<D, int16_t, bfloat16_t, int32_t, float, int64_t>) ||
    (is_same<S, int64_t> && is_any_of<D, int32_t, float>) || (is_same<S, int16_t> && is_same<D, float>);

template <class D, class S>
inline constexpr bool casts = casts_everywhere<D, S> || (any_type_chip && is_castable<D> && is_castable<S>);

template <class D, class S>
constexpr bool range_matters() {
    if constexpr (is_same<D, float>) return false;
    if constexpr (is_any_of<D, half, bfloat16_t>) return rounding_matters<D, S>();
    return true;
}

template <RoundMode mode, bool saturate, class D>
struct CastRule {
    template <class S>
    static D element(const NoElement&, const S* s, const NoElement*, const NoElement*, [[maybe_unused]] uint32_t zero) {
        return convert<mode, saturate, D, S>(*s, zero);
    }
};

template <RoundMode mode, bool saturate, class D, class S>
inline void cast_run(uint64_t count, Run<D> d, Run<const S> s) {
    if constexpr (is_tracing_variant && packing<D> == 1 && packing<S> == 1)
        return trace_compute<CastRule<mode, saturate, D>>(count, NoElement{}, d, s);
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    if constexpr (packing<D> == 2 && packing<S> == 2) {
        for (uint64_t i = 0; i < count; ++i) d.set(i, convert<mode, saturate, D, S>(s.get(i), zero));
    } else if constexpr (packing<D> == 2) {
        for (uint64_t i = 0; i < count; ++i) d.set(i, convert<mode, saturate, D, S>(s[i], zero));
    } else if constexpr (is_any_of<D, hifloat8_t, fp8_e8m0_t> && packing<S> == 1) {
        for (uint64_t i = 0; i < count; ++i) d[i] = convert<mode, saturate, D, S>(s[i], zero);
    } else {
        constexpr bool halves = packing<S> == 1 && (is_same<D, half> || is_same<S, half>);
        if constexpr (is_same<D, half> && is_same<S, float> && rounds_eight_halves<mode>) {
            const uint64_t eights = count / 8 * 8;
#pragma clang loop unroll_count(4)
            for (uint64_t i = 0; i < eights; i += 8) eight_floats_to_halves<mode, saturate>(d + i, s + i);
            d += eights;
            s += eights;
            count -= eights;
        }
        for_each_lane<halves>(count, [&](uint64_t i) CANOPY_ALWAYS {
            if constexpr (packing<S> == 2)
                d[i] = convert<mode, saturate, D, S>(s.get(i), zero);
            else
                d[i] = convert<mode, saturate, D, S>(s[i], zero);
        });
    }
}

template <class T>
inline T* element_at(T* run, uint64_t i) {
    return run + i;
}
template <class T>
inline Packed<T> element_at(const Packed<T>& run, uint64_t i) {
    return {run.address, static_cast<uint32_t>(run.first + i)};
}

template <RoundMode value>
struct Rounding {
    static constexpr RoundMode mode = value;
};

// Calls act(Rounding<mode>) for a mode known at run time; folded away if it is a constant.
template <class D, class S, class Act>
__attribute__((always_inline)) inline void with_rounding(RoundMode mode, const Act& act) {
    if constexpr (rounding_matters<D, S>()) {
        switch (mode) {
            case RoundMode::CAST_FLOOR:
                return act(Rounding<RoundMode::CAST_FLOOR>{});
            case RoundMode::CAST_CEIL:
                return act(Rounding<RoundMode::CAST_CEIL>{});
            case RoundMode::CAST_ROUND:
            case RoundMode::CAST_HYBRID:
                return act(Rounding<RoundMode::CAST_ROUND>{});
            case RoundMode::CAST_TRUNC:
                return act(Rounding<RoundMode::CAST_TRUNC>{});
            case RoundMode::CAST_ODD:
                return act(Rounding<RoundMode::CAST_ODD>{});
            default:
                break;
        }
    }
    act(Rounding<RoundMode::CAST_RINT>{});
}

// int32_t to half, scaled by the value of SetDeqScale.
struct ScaleRule {
    static half element(const float& scale, const int32_t* s, const NoElement*, const NoElement*, uint32_t) {
        return float_to_half<RoundMode::CAST_RINT, true>(static_cast<float>(*s) * scale);
    }
};

inline void scale_run(uint64_t count, half* d, const int32_t* s, float scale) {
    if constexpr (is_tracing_variant) return trace_compute<ScaleRule>(count, scale, d, s);
    for_each_lane<true>(count, [&](uint64_t i) CANOPY_ALWAYS {
        d[i] = float_to_half<RoundMode::CAST_RINT, true>(static_cast<float>(s[i]) * scale);
    });
}

inline float cast_scale() {
    const uint64_t bits = core_state().dequantisation;
    return (bits & scale_is_set) != 0 ? unpack_dequantisation(bits).scale : 1.0f;
}

// Optimised for size: programs rarely turn saturation off.
template <class D, class S>
__attribute__((noinline)) void cast_unsaturated(RoundMode mode, const Selection& selection, const Strided<D>& to,
                                                const Strided<const S>& from) {
    for_each_run(
        selection,
        [mode](uint64_t n, Run<D> d, Run<const S> s) {
            for (uint64_t i = 0; i < n; ++i)
                with_rounding<D, S>(mode, [&](auto rounding) {
                    cast_run<decltype(rounding)::mode, false, D, S>(1, element_at(d, i), element_at(s, i));
                });
        },
        to, from);
}

// Only chips that support every type can turn saturation off.
template <class D, class S>
inline bool saturation_is_off() {
    if constexpr (any_type_chip && range_matters<D, S>())
        return __builtin_expect((core_state().control >> no_saturation_bit & 1) != 0, 0);
    return false;
}

template <class D, class S>
__attribute__((always_inline)) inline void cast_strided(RoundMode mode, const Selection& selection,
                                                        const Strided<D>& to, const Strided<const S>& from) {
    if constexpr (is_same<D, half> && is_same<S, int32_t>) {
        const float scale = cast_scale();
        write_runs(
            selection, [scale](uint64_t n, half* d, const int32_t* s) { scale_run(n, d, s, scale); }, to, from);
    } else {
        if (saturation_is_off<D, S>()) return cast_unsaturated(mode, selection, to, from);
        with_rounding<D, S>(mode, [&](auto rounding) {
            write_runs(
                selection,
                [](uint64_t n, Run<D> d, Run<const S> s) { cast_run<decltype(rounding)::mode, true, D, S>(n, d, s); },
                to, from);
        });
    }
}

template <class D, class S>
__attribute__((always_inline)) inline void cast_counted(const LocalTensor<D>& dst, const LocalTensor<S>& src,
                                                        RoundMode mode, uint32_t count, Where where) {
    const Instruction instruction(PIPE_V, "Cast", where);
    check_count(dst, count, "Cast", "dst", where);
    check_count(src, count, "Cast", "src", where);
    instruction.tell();
    const auto to = run_at(dst.GetPhyAddr(), 0);
    const auto from = run_at(static_cast<const S*>(src.GetPhyAddr()), 0);
    if constexpr (is_same<D, half> && is_same<S, int32_t>) {
        scale_run(count, to, from, cast_scale());
    } else {
        if (saturation_is_off<D, S>()) {
            constexpr uint32_t width = lanes<D, S>;
            const auto repeat = [](uint64_t bytes) { return static_cast<uint32_t>(bytes / block_bytes); };
            return cast_unsaturated(mode, select_total(width, count), Strided<D>(dst, 1, repeat(bytes_of<D>(width))),
                                    Strided<const S>(src, 1, repeat(bytes_of<S>(width))));
        }
        with_rounding<D, S>(mode,
                            [&](auto rounding) { cast_run<decltype(rounding)::mode, true, D, S>(count, to, from); });
    }
}

template <bool set, class D, class S, class Mask>
__attribute__((always_inline)) inline void cast_masked(const LocalTensor<D>& dst, const LocalTensor<S>& src,
                                                       RoundMode mode, Mask mask, uint8_t repeats,
                                                       const UnaryRepeatParams& strides, Where where) {
    const Selection selection = select<set>(lanes<D, S>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto from = source(src, strides.srcBlkStride, strides.srcRepStride);
    const Instruction instruction(PIPE_V, "Cast", where);
    check_strided(dst, to, selection, "Cast", "dst", where);
    check_strided(src, from, selection, "Cast", "src", where);
    instruction.tell();
    cast_strided(mode, selection, to, from);
}

// An operation whose result is cast to the destination's type, to nearest even.
template <class Operation, class D>
struct CastResult {
    template <class T>
    D operator()(T a, T b) const {
        const T value = Operation{}(a, b);
        if constexpr (is_same<T, float>)
            return from_float<RoundMode::CAST_RINT, true, D>(value);
        else
            return from_integer<RoundMode::CAST_RINT, true, D>(value);
    }
};

struct MulCastOperation : MulOperation {
    template <class D, class S>
    static constexpr bool supports = is_same<S, half>&& is_any_of<D, int8_t, uint8_t>;
};
template <class D, class S>
inline constexpr bool is_rectified_cast = (is_same<S, half> && is_same<D, int8_t>) ||
                                          (is_same<S, float> && is_same<D, half>) ||
                                          (is_same<S, int16_t> && is_same<D, int8_t>);
struct AddReluCastOperation : AddReluOperation {
    template <class D, class S>
    static constexpr bool supports = is_rectified_cast<D, S>;
};
struct SubReluCastOperation : SubReluOperation {
    template <class D, class S>
    static constexpr bool supports = is_rectified_cast<D, S>;
};

// Stores the results as they are.
template <class Operation, class D, class S>
inline void casting_run(uint64_t count, D* d, const S* a, const S* b) {
    const uint32_t zero = opaque_zero();
    for_each_lane<true>(count, [&](uint64_t i) CANOPY_ALWAYS {
        d[i] = CastResult<Operation, D>{}(widen(a[i], zero), widen(b[i], zero));
    });
}

template <bool set, class Operation, class D, class S, class Mask>
inline void casting_masked(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src0,
                           const LocalTensor<S>& src1, Mask mask, uint8_t repeats, const BinaryRepeatParams& strides,
                           Where where) {
    const Selection selection = select<set>(lanes<D, S>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto left = source(src0, strides.src0BlkStride, strides.src0RepStride);
    const auto right = source(src1, strides.src1BlkStride, strides.src1RepStride);
    const Instruction instruction(PIPE_V, name, where);
    check_strided(dst, to, selection, name, "dst", where);
    check_strided(src0, left, selection, name, "src0", where);
    check_strided(src1, right, selection, name, "src1", where);
    instruction.tell();
    write_runs(
        selection, [](uint64_t count, D* d, const S* a, const S* b) { casting_run<Operation>(count, d, a, b); }, to,
        left, right);
}

template <class Operation, class D, class S>
inline void casting_counted(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src0,
                            const LocalTensor<S>& src1, uint32_t count, Where where) {
    const Instruction instruction(PIPE_V, name, where);
    check_count(dst, count, name, "dst", where);
    check_count(src0, count, name, "src0", where);
    check_count(src1, count, name, "src1", where);
    instruction.tell();
    casting_run<Operation, D, S>(count, dst.GetPhyAddr(), src0.GetPhyAddr(), src1.GetPhyAddr());
}

// int16_t to eight bits: scaled, rounded to even, moved by the offset, saturated. Sixteen results go to one half of a
// destination block.
template <class D>
inline void dequantise_run(uint64_t count, D* d, const int16_t* s, const Dequantisation* each, uint32_t period,
                           uint64_t first) {
    for (uint64_t i = 0; i < count; ++i) {
        const Dequantisation& parameters = each[(first + i) % period];
        const float scaled = math::nearest_even(static_cast<float>(s[i]) * parameters.scale);
        d[i] = from_float<RoundMode::CAST_RINT, true, D>(scaled + static_cast<float>(parameters.offset));
    }
}

// Writes the active parameters to `each` and returns their number.
inline uint32_t load_dequantisation(Dequantisation each[16]) {
    const uint64_t bits = core_state().dequantisation;
    if ((bits & scale_is_vector) == 0) {
        if ((bits & scale_is_set) != 0) each[0] = unpack_dequantisation(bits);
        return 1;
    }
    const auto* stored = reinterpret_cast<const uint64_t*>(bits & ((1ull << 48) - 1));
    for (int i = 0; i < 16; ++i) each[i] = unpack_dequantisation(stored[i]);
    return 16;
}

// The destination of CastDeq and the parameters in local memory as operands, in the checking variant: sixteen lanes
// fill half a block.
template <class D>
inline void name_half_blocks(const LocalTensor<D>& dst, bool first_half, const Selection& selection,
                             uint32_t block_stride, uint32_t repeat_stride) {
    if constexpr (is_checking_variant) {
        const auto* base = reinterpret_cast<const unsigned char*>(dst.GetPhyAddr()) + (first_half ? 0 : 16);
        const uint64_t block = uint64_t{block_stride} * block_bytes, repeat = uint64_t{repeat_stride} * block_bytes;
        const auto name_leading = [&](uint64_t first, uint32_t repeats, uint32_t lanes) {
            const auto* at = base + first * repeat;
            add_walk(CANOPY_CHECK_WRITE, "dst", dst, at, {16, block, lanes / 16, repeat, repeats});
            add_walk(CANOPY_CHECK_WRITE, "dst", dst, at + lanes / 16 * block, {lanes % 16, 0, 1, repeat, repeats});
        };
        if (selection.sparse)
            add_selected(CANOPY_CHECK_WRITE, "dst", place_of(dst), base,
                         {16, block, 8, repeat, static_cast<uint32_t>(selection.repeats)}, selection.bits, 1);
        else
            name_leading(0, static_cast<uint32_t>(selection.repeats), selection.lanes);
        if (selection.tail != 0) name_leading(selection.repeats, 1, selection.tail);
        const uint64_t bits = core_state().dequantisation;
        if ((bits & scale_is_vector) != 0)
            add_memory(CANOPY_CHECK_READ, "parameters", Hardware::UB,
                       reinterpret_cast<const void*>(bits & ((1ull << 48) - 1)), {128}, 8);
    }
}

template <bool half_block, class D>
inline void dequantise(const LocalTensor<D>& dst, const Strided<const int16_t>& from, const Selection& selection,
                       uint32_t block_stride, uint32_t repeat_stride) {
    Dequantisation each[16];
    const uint32_t period = load_dequantisation(each);
    auto* base = dst.GetPhyAddr() + (half_block ? 0 : 16);
    // Sixteen lanes of a repeat fill half a block, so the walk covers the source only and computes the destination from
    // the lane.
    for_each_run(
        selection,
        [&](uint64_t count, uint64_t lane, const int16_t* s) {
            for (uint64_t done = 0; done < count;) {
                const uint64_t at = lane + done, block = at / 16, place = at % 16;
                const uint64_t n = smaller<uint64_t>(16 - place, count - done);
                D* d = base + block / 8 * repeat_stride * block_bytes + block % 8 * block_stride * block_bytes + place;
                dequantise_run(n, d, s + done, each, period, place);
                done += n;
            }
        },
        LaneIndex{selection.width}, from);
}

}  // namespace canopy::kernel

namespace AscendC {

template <class T, class U>
__attribute__((always_inline)) inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                                const RoundMode& roundMode, const uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::casts<T, U>, "Cast: this pair of element types is not supported on this chip");
    canopy::kernel::cast_counted(dst, src, roundMode, count, where);
}

template <class T, class U, bool isSetMask = true>
__attribute__((always_inline)) inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                                const RoundMode& roundMode, const uint64_t mask[],
                                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                                                CANOPY_WHERE) {
    static_assert(canopy::kernel::casts<T, U>, "Cast: this pair of element types is not supported on this chip");
    canopy::kernel::cast_masked<isSetMask>(dst, src, roundMode, mask, repeatTime, repeatParams, where);
}

template <class T, class U, bool isSetMask = true>
__attribute__((always_inline)) inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                                const RoundMode& roundMode, const uint64_t mask,
                                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                                                CANOPY_WHERE) {
    static_assert(canopy::kernel::casts<T, U>, "Cast: this pair of element types is not supported on this chip");
    canopy::kernel::cast_masked<isSetMask>(dst, src, roundMode, mask, repeatTime, repeatParams, where);
}

#define CANOPY_CASTING(Name)                                                                                           \
    template <class T, class U>                                                                                        \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     uint32_t count, CANOPY_WHERE) {                                                                   \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": this pair of element types is not supported");               \
        canopy::kernel::casting_counted<Operation>(#Name, dst, src0, src1, count, where);                              \
    }                                                                                                                  \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,          \
                     CANOPY_WHERE) {                                                                                   \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": this pair of element types is not supported");               \
        canopy::kernel::casting_masked<isSetMask, Operation>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,   \
                                                             where);                                                   \
    }                                                                                                                  \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask, \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": this pair of element types is not supported");               \
        canopy::kernel::casting_masked<isSetMask, Operation>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,   \
                                                             where);                                                   \
    }

CANOPY_CASTING(MulCast)      // dst = cast(src0 * src1)
CANOPY_CASTING(AddReluCast)  // dst = cast(max(src0 + src1, 0))
CANOPY_CASTING(SubReluCast)  // dst = cast(max(src0 - src1, 0))

#undef CANOPY_CASTING

// int16_t to int8_t or uint8_t with the parameters of SetDeqScale. halfBlock chooses the first or the second half of
// each block of dst.
template <class T, class U, bool isVecDeq = true, bool halfBlock = true>
inline void CastDeq(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<T, int8_t, uint8_t> && canopy::kernel::is_same<U, int16_t>,
                  "CastDeq: this pair of element types is not supported");
    const canopy::kernel::Instruction instruction(PIPE_V, "CastDeq", where);
    canopy::kernel::check_count(src, count, "CastDeq", "src", where);
    if constexpr (canopy::kernel::is_checking_variant)
        canopy::kernel::name_half_blocks(dst, halfBlock, canopy::kernel::select_total(128, count), 1, 8);
    else
        canopy::kernel::check_count(dst, (count + 15) / 16 * 32, "CastDeq", "dst", where);
    canopy::kernel::dequantise<halfBlock>(dst, canopy::kernel::source(src, 1, 8),
                                          canopy::kernel::select_total(128, count), 1, 8);
}

template <class T, class U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true, class Mask>
inline void CastDeq(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask mask, uint8_t repeatTime,
                    const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<T, int8_t, uint8_t> && canopy::kernel::is_same<U, int16_t>,
                  "CastDeq: this pair of element types is not supported");
    const auto selection = canopy::kernel::select<isSetMask>(128, canopy::kernel::mask_of(mask), repeatTime);
    const auto from = canopy::kernel::source(src, repeatParams.srcBlkStride, repeatParams.srcRepStride);
    const uint32_t blocks = repeatParams.dstBlkStride == 0 ? 1 : repeatParams.dstBlkStride;
    const canopy::kernel::Instruction instruction(PIPE_V, "CastDeq", where);
    canopy::kernel::check_strided(src, from, selection, "CastDeq", "src", where);
    canopy::kernel::check_place(dst, "CastDeq", "dst", where);
    canopy::kernel::name_half_blocks(dst, halfBlock, selection, blocks, repeatParams.dstRepStride);
    instruction.tell();
    canopy::kernel::dequantise<halfBlock>(dst, from, selection, blocks, repeatParams.dstRepStride);
}

}  // namespace AscendC

#endif
