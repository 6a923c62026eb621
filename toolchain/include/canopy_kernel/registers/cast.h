// SPDX-License-Identifier: Apache-2.0
// Conversion of registers between element types. Each call converts as many elements as a register of the wider type
// has; of the narrower type, every second or fourth element takes part, chosen by the layout.
#ifndef CANOPY_KERNEL_REGISTER_CAST_H
#define CANOPY_KERNEL_REGISTER_CAST_H

#include "canopy_kernel/core/control.h"
#include "canopy_kernel/registers/functions.h"

namespace canopy::kernel::registers {

using AscendC::Reg::CastTrait;
using AscendC::Reg::SatMode;

template <class T>
inline constexpr bool is_fp4 = is_any_of<T, fp4x2_e2m1_t, fp4x2_e1m2_t>;

template <class D, class S>
constexpr bool is_cast_pair() {
    if constexpr (is_same<S, int4b_t>) return is_any_of<D, int16_t, half, bfloat16_t>;
    if constexpr (is_same<S, int8_t>) return is_any_of<D, int16_t, half, int32_t>;
    if constexpr (is_same<S, uint8_t>) return is_any_of<D, uint16_t, half, uint32_t>;
    if constexpr (is_fp4<S> || is_same<S, fp8_e8m0_t>) return is_same<D, bfloat16_t>;
    if constexpr (is_same<S, hifloat8_t>) return is_any_of<D, half, float>;
    if constexpr (is_any_of<S, fp8_e5m2_t, fp8_e4m3fn_t>) return is_same<D, float>;
    if constexpr (is_same<S, int16_t>) return is_any_of<D, int4b_t, uint8_t, half, int32_t, uint32_t, float>;
    if constexpr (is_same<S, uint16_t>) return is_any_of<D, uint8_t, uint32_t>;
    if constexpr (is_same<S, half>)
        return is_any_of<D, int4b_t, int8_t, uint8_t, hifloat8_t, int16_t, bfloat16_t, int32_t, float>;
    if constexpr (is_same<S, bfloat16_t>) return is_fp4<D> || is_any_of<D, fp8_e8m0_t, half, int32_t, float>;
    if constexpr (is_same<S, int32_t>) return is_any_of<D, uint8_t, int16_t, uint16_t, float, int64_t>;
    if constexpr (is_same<S, uint32_t>) return is_any_of<D, uint8_t, int16_t, uint16_t>;
    if constexpr (is_same<S, float>)
        return is_any_of<D, hifloat8_t, fp8_e5m2_t, fp8_e4m3fn_t, int16_t, half, bfloat16_t, int32_t, int64_t>;
    if constexpr (is_same<S, int64_t>) return is_any_of<D, int32_t, float>;
    return false;
}

// The lower bits of the whole number; infinities give the limits, NaN gives 0. The remainder of a division by a power
// of two is exact in float.
template <RoundMode mode, class D>
inline D float_to_low_bits(float x) {
    using Signed = choose<sizeof(D) == 8, int64_t, int32_t>;
    constexpr float modulus = sizeof(D) == 8 ? 0x1p64f : 0x1p32f;
    const float whole = round_whole<mode>(x);
    const bool above = whole == __builtin_inff(), below = whole == -__builtin_inff(), invalid = whole != whole;
    const float finite = above || below || invalid ? 0.0f : whole;
    float rest = finite - math::nearest_even(finite * (1.0f / modulus)) * modulus;
    rest = rest >= modulus * 0.5f ? rest - modulus : rest;
    const auto limit = static_cast<Signed>(above ? Limits<D>::highest : Limits<D>::lowest);
    return static_cast<D>(above || below ? limit : static_cast<Signed>(rest));
}

// With saturation, infinities become the largest numbers and NaN becomes 0.
inline float without_specials(float x, bool keep_nan) {
    constexpr float largest = 0x1.fffffep127f;
    const bool invalid = x != x;
    x = x > largest ? largest : x;
    x = x < -largest ? -largest : x;
    return invalid && !keep_nan ? 0.0f : x;
}

// Types that share a byte come and go as four bits.
template <RoundMode mode, bool saturate, class D, class S, class Stored>
inline auto cast_element(Stored value, uint32_t zero, [[maybe_unused]] bool keep_nan) {
    if constexpr (is_vector_float<S> && is_integer<D>) {
        const float x = exact_value<S>(value, zero);
        if constexpr (saturate)
            return static_cast<D>(float_to_integer<mode, true, D>(x));
        else
            return float_to_low_bits<mode, D>(x);
    } else if constexpr (is_vector_float<S> && is_same<D, fp8_e8m0_t>) {
        return from_float<mode, true, D>(math::absolute(exact_value<S>(value, zero)));
    } else if constexpr (is_vector_float<S> && is_same<D, float>) {
        return exact_value<S>(value, zero);
    } else if constexpr (is_vector_float<S> && !is_same<D, int4b_t>) {
        const float x = exact_value<S>(value, zero);
        return from_float<mode, saturate, D>(saturate ? without_specials(x, keep_nan && is_small_float<D>) : x);
    } else {
        constexpr bool to_float = is_vector_float<D> || is_small_float<D>;
        return convert < mode, saturate || to_float, D, S > (value, zero);
    }
}

// A lane as the element it stands for, and back.
template <class S, class L>
CANOPY_LANES auto lane_value(L lane) {
    if constexpr (packing<S> == 2)
        return static_cast<uint32_t>(lane);
    else
        return __builtin_bit_cast(S, lane);
}
template <class D, class R>
CANOPY_LANES LaneElement<D> value_lane(R value) {
    if constexpr (packing<D> == 2)
        return static_cast<LaneElement<D>>(value);
    else
        return __builtin_bit_cast(LaneElement<D>, value);
}

template <RoundMode mode, bool saturate, class D, class S, uint32_t n>
CANOPY_LANES void cast_array(LaneArray<LaneElement<D>, n>& to, const LaneArray<LaneElement<S>, n>& from,
                             bool keep_nan) {
    const uint32_t zero = opaque_zero();
    CANOPY_VECTOR_LOOP
    for (uint32_t i = 0; i < n; ++i)
        to.element[i] =
            value_lane<D>(cast_element<mode, saturate, D, S>(lane_value<S>(from.element[i]), zero, keep_nan));
}

// Programs rarely let the control register decide.
template <RoundMode mode, bool saturate, class D, class S, uint32_t n>
__attribute__((noinline)) void cast_by_control(LaneArray<LaneElement<D>, n>& to,
                                               const LaneArray<LaneElement<S>, n>& from) {
    const uint64_t control = core_state().control;
    constexpr int own_bit = is_integer<D> || is_same<D, int4b_t> ? 59 : 48;
    const bool global = (control >> cast_control_bit & 1) != 0;
    const bool saturates = global ? (control >> own_bit & 1) == 0 : saturate;
    const bool keep_nan = (control >> cast_nan_bit & 1) != 0;
    if (saturates)
        cast_array<mode, true, D, S>(to, from, keep_nan);
    else
        cast_array<mode, false, D, S>(to, from, keep_nan);
}

template <class D, class S>
constexpr bool saturation_matters() {
    return !(is_same<D, float> || (is_same<S, float> && is_same<D, int64_t>) || is_fp4<D> || is_same<D, fp8_e8m0_t> ||
             (is_same<D, half> && is_any_of<S, int8_t, uint8_t, int4b_t>) ||
             (is_same<D, bfloat16_t> && !is_same<S, half>));
}

// Numbers of S as numbers of D, both as lanes.
template <RoundMode mode, bool saturate, class D, class S, class V>
CANOPY_LANES auto cast_lanes(const V& value) {
    constexpr uint32_t n = count_of<V>;
    constexpr bool nearest = mode == RoundMode::CAST_RINT;
    if constexpr (is_same<D, float> && is_short_float<S>) {
        return widen_lanes<S>(value);
    } else if constexpr (is_same<D, float> && is_same<S, int32_t> && nearest) {
        return __builtin_convertvector(value, Lanes<float, n>);
    } else {
        const auto from = array_of(value);
        LaneArray<LaneElement<D>, n> to;
        if (saturation_matters<D, S>() && __builtin_expect(__atomic_load_n(&any_cast_control, __ATOMIC_RELAXED), 0))
            cast_by_control<mode, saturate, D, S>(to, from);
        else if constexpr (is_short_float<D> && is_same<S, float> && nearest && !saturate)
            return narrow_lanes<D>(value);
        else
            cast_array<mode, saturate, D, S>(to, from, false);
        return lanes_of_array(to);
    }
}

// A shorter name for the choices of a trait.
template <const CastTrait& trait>
struct CastChoice {
    static constexpr bool any_mode = trait.roundMode == RoundMode::CAST_NONE || trait.roundMode == RoundMode::UNKNOWN;
    static constexpr RoundMode mode = any_mode ? RoundMode::CAST_RINT : trait.roundMode;
    static constexpr bool saturate = trait.satMode == SatMode::SAT;
    static constexpr uint32_t layout = layout_index<trait.layoutMode>;
    static constexpr MaskMergeMode merge = trait.mrgMode;
};

// Results in the places of the narrow type; merging keeps all other elements.
template <MaskMergeMode merge, uint32_t ratio, uint32_t layout, class U, class V>
CANOPY_LANES void write_spread(U& dst, const V& narrow_values, const MaskReg& mask) {
    constexpr uint32_t width = sizeof(lane_of<V>) * ratio;
    using Wide = Lanes<unsigned_of<width>>;
    using Own = Lanes<LaneElement<element_type<U>>>;
    const auto spread = lanes_as<Wide>(spread_lanes<ratio, layout>(narrow_values));
    const auto old = lanes_as<Wide>(first(dst).lanes);
    if constexpr (merge == MaskMergeMode::MERGING) {
        constexpr auto place =
            static_cast<unsigned_of<width>>(((1ull << (width / ratio * 8)) - 1) << (layout * (width / ratio) * 8));
        const Wide changed = (old & static_cast<unsigned_of<width>>(~place)) | spread;
        first(dst).lanes = lanes_as<Own>(blended<merge, width>(changed, old, mask));
    } else {
        first(dst).lanes = lanes_as<Own>(blended<MaskMergeMode::ZEROING, width>(spread, old, mask));
    }
}

template <class Choice, class S, class V>
CANOPY_LANES void cast_register(S& dst, const V& src, const MaskReg& mask) {
    using D = element_type<S>;
    using E = element_type<V>;
    constexpr uint32_t to_width = mask_width<S>, from_width = mask_width<V>;
    constexpr RoundMode mode = Choice::mode;
    constexpr bool saturate = Choice::saturate;
    if constexpr (packing<E> == 2) {
        // Byte 4p + layout has elements 2p and 2p + 1.
        static_assert(Choice::layout < 4, "Cast: layoutMode is ZERO to THREE");
        const auto& bytes = first(src).lanes;
        const auto own = choose_lanes<Every<Choice::layout, 4>>(bytes, bytes, indices<64>{});
        const auto nibbles = choose_lanes<Alternate<64>>(own & uint8_t{15}, own >> 4, indices<128>{});
        const MaskReg chosen = mask_at<4, 4, Choice::layout>(mask);
        const auto pairs = lanes_as<Lanes<uint32_t>>(cast_lanes<mode, saturate, D, E>(nibbles));
        const auto old = lanes_as<Lanes<uint32_t>>(first(dst).lanes);
        first(dst).lanes = lanes_as<Lanes<LaneElement<D>>>(blended<Choice::merge, 4>(pairs, old, chosen));
    } else if constexpr (packing<D> == 2) {
        static_assert(Choice::layout < 4, "Cast: layoutMode is ZERO to THREE");
        const auto nibbles = cast_lanes<mode, saturate, D, E>(read(src));
        const auto low = choose_lanes<Every<0, 2>>(nibbles, nibbles, indices<64>{});
        const auto high = choose_lanes<Every<1, 2>>(nibbles, nibbles, indices<64>{});
        const Lanes<uint8_t, 64> bytes = (low & uint8_t{15}) | (high << 4);
        write_spread<Choice::merge, 4, Choice::layout>(dst, bytes, mask);
    } else if constexpr (to_width == from_width) {
        write<Choice::merge>(dst, cast_lanes<mode, saturate, D, E>(read(src)), mask);
    } else if constexpr (to_width > from_width) {
        constexpr uint32_t ratio = to_width / from_width;
        static_assert(Choice::layout < ratio, "Cast: layoutMode is beyond the ratio of the widths");
        const auto values = read(src);
        const auto own = choose_lanes<Every<Choice::layout, ratio>>(values, values, indices<lane_count<S>>{});
        write<Choice::merge>(dst, cast_lanes<mode, saturate, D, E>(own),
                             mask_at<to_width, ratio, Choice::layout>(mask));
    } else {
        constexpr uint32_t ratio = from_width / to_width;
        static_assert(Choice::layout < ratio, "Cast: layoutMode is beyond the ratio of the widths");
        write_spread<Choice::merge, ratio, Choice::layout>(dst, cast_lanes<mode, saturate, D, E>(read(src)), mask);
    }
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

template <typename T = DefaultType, typename U = DefaultType, const CastTrait& trait = castTrait, typename S,
          typename V>
CANOPY_LANES void Cast(S& dstReg, const V& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    static_assert(names_element<T, S> && names_element<U, V>, "Cast: T and U are the element types of dst and src");
    static_assert(is_cast_pair<element_type<S>, element_type<V>>(), "Cast: there is no conversion between these types");
    cast_register<CastChoice<trait>>(dstReg, srcReg, mask);
}

}  // namespace AscendC::Reg

#endif
