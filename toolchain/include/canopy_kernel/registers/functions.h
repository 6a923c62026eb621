// SPDX-License-Identifier: Apache-2.0
// Division, roots, exponentials and logarithms of registers, sums and differences with carry, and products of twice the
// width.
#ifndef CANOPY_KERNEL_REGISTER_FUNCTIONS_H
#define CANOPY_KERNEL_REGISTER_FUNCTIONS_H

#include "canopy_kernel/registers/arithmetic.h"
#include "canopy_kernel/vector/convert.h"

namespace canopy::kernel::registers {

using AscendC::Reg::RegLayout;

struct LaneDiv {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return a / b;
    }
};

// Logarithms of another base, computed in double so that powers of the base are exact. x = 2^e m with m around 1, and
// ln m = 2 artanh((m - 1) / (m + 1)).
struct Logarithm {
    double of_two, of_e;  // the logarithms of 2 and of e

    float operator()(float x) const {
        const bool small = x < 0x1p-126f;
        const float scaled = small ? x * 0x1p23f : x;
        const uint32_t bits = bits_as<uint32_t>(scaled) - 0x3f3504f3u;
        const int32_t exponent = (static_cast<int32_t>(bits) >> 23) - (small ? 23 : 0);
        const double m = bits_as<float>((bits & 0x007fffffu) + 0x3f3504f3u);
        const double s = (m - 1.0) / (m + 1.0), q = s * s;
        double p = 1.0 / 13;
        p = p * q + 1.0 / 11;
        p = p * q + 1.0 / 9;
        p = p * q + 1.0 / 7;
        p = p * q + 1.0 / 5;
        p = p * q + 1.0 / 3;
        p = p * q + 1.0;
        float value = static_cast<float>(static_cast<double>(exponent) * of_two + 2.0 * s * p * of_e);
        const float infinity = __builtin_inff();
        value = x < infinity ? value : x;  // infinity and NaN
        value = x == 0.0f ? -infinity : value;
        return x < 0.0f ? __builtin_nanf("") : value;
    }
};
inline constexpr Logarithm log_base_2 = {1.0, 1.4426950408889634};
inline constexpr Logarithm log_base_10 = {0.30102999566398120, 0.43429448190325182};

// The mask of elements of `width` bytes, read in the place that element `layout` of `ratio` narrower ones has.
template <uint32_t width, uint32_t ratio, uint32_t layout>
CANOPY_LANES MaskReg mask_at(const MaskReg& mask) {
    constexpr uint32_t narrow_width = width / ratio, n = register_bytes / width;
    if constexpr (layout == 0) {
        return mask;
    } else {
        if (__builtin_expect(selects_all<narrow_width>(mask), 1)) return leading_mask(width, n);
        const auto narrow_lanes_selected = selected_lanes<narrow_width>(mask);
        const auto own = choose_lanes<Every<layout, ratio>>(narrow_lanes_selected, narrow_lanes_selected, indices<n>{});
        return lane_mask(__builtin_convertvector(own, SelectedLanes<width>));
    }
}

// Places the elements of `value` at positions `layout`, `layout + ratio`, ...; all others become 0.
template <uint32_t ratio, uint32_t layout, class V>
CANOPY_LANES auto spread_lanes(const V& value) {
    using Bits = unsigned_of<sizeof(lane_of<V>)>;
    using Wider = unsigned_of<sizeof(lane_of<V>) * ratio>;
    constexpr uint32_t n = count_of<V>;
    const auto wide = __builtin_convertvector(lanes_as<Lanes<Bits, n>>(value), Lanes<Wider, n>);
    return lanes_as<Lanes<lane_of<V>, n * ratio>>(wide << (8 * layout * sizeof(lane_of<V>)));
}

template <RegLayout layout>
inline constexpr uint32_t layout_index = layout == RegLayout::UNKNOWN ? 0 : static_cast<uint32_t>(layout);

// Results are 32-bit integers; `carry` gets their mask.
template <class U, class V, class C>
CANOPY_LANES void write_with_carry(MaskReg& carry, U& dst, const V& result, const C& carried, const MaskReg& mask) {
    using T = element_type<U>;
    static_assert(is_any_of<T, int32_t, uint32_t>, "sums and differences with carry are for 32-bit integers");
    const auto lanes =
        blended<MaskMergeMode::ZEROING, 4>(lanes_as<SelectedLanes<4>>(carried), SelectedLanes<4>(0), mask);
    write<MaskMergeMode::ZEROING>(dst, result, mask);
    carry = lane_mask(lanes);
}

// a + b + one; a carry is set if it does not fit.
template <class U>
CANOPY_LANES void add_with_carry(MaskReg& carry, U& dst, const Lanes<uint32_t>& a, const Lanes<uint32_t>& b,
                                 const Lanes<uint32_t>& one, const MaskReg& mask) {
    const auto sum = a + b, result = sum + one;
    write_with_carry(carry, dst, result, (sum < a) | (result < sum), mask);
}
CANOPY_LANES Lanes<uint32_t> ones_of(const MaskReg& carry) { return lane_bits(selected_lanes<4>(carry)) & 1u; }

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U>
CANOPY_LANES void Div(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Div, is_number<E> || is_complex<E>)
    constexpr MaskMergeMode merge = merge_mode<mode>();
    if constexpr (is_complex<E>)
        write_complex<merge>(dstReg, complex_quotient(read_complex(srcReg0), read_complex(srcReg1)), mask);
    else if constexpr (is_vector_float<E>)
        apply<merge>(dstReg, mask, LaneDiv{}, srcReg0, srcReg1);
    else
        apply_elements<merge>(dstReg, mask, DivOperation{}, srcReg0, srcReg1);
}

#define CANOPY_REGISTER_FUNCTION(Name, engine, ...)                                                                 \
    template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U>                             \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg, const MaskReg& mask) {                                       \
        CANOPY_CHECK_ELEMENT(Name, canopy::kernel::registers::is_vector_float<E>)                                   \
        canopy::kernel::registers::engine<canopy::kernel::registers::merge_mode<mode>()>(dstReg, mask, __VA_ARGS__, \
                                                                                         srcReg);                   \
    }
CANOPY_REGISTER_FUNCTION(Sqrt, apply, canopy::kernel::registers::LaneSqrt{})
CANOPY_REGISTER_FUNCTION(Exp, apply_elements, canopy::kernel::registers::ExpOperation{})
CANOPY_REGISTER_FUNCTION(Ln, apply_elements, canopy::kernel::registers::LnOperation{})
CANOPY_REGISTER_FUNCTION(Log, apply_elements, canopy::kernel::registers::LnOperation{})
CANOPY_REGISTER_FUNCTION(Log2, apply_elements, canopy::kernel::registers::log_base_2)
CANOPY_REGISTER_FUNCTION(Log10, apply_elements, canopy::kernel::registers::log_base_10)
#undef CANOPY_REGISTER_FUNCTION

// exp(src0 - src1) as float. Half sources: every second element, from element 0 or 1 on.
template <typename T = DefaultType, typename U = DefaultType, RegLayout layout = RegLayout::ZERO,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V>
CANOPY_LANES void ExpSub(S& dstReg, const V& srcReg0, const V& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using E = element_type<V>;
    static_assert(names_element<T, S> && names_element<U, V>, "ExpSub: T and U are the types of dst and src");
    static_assert(is_same<element_type<S>, float> && is_any_of<E, half, float>,
                  "ExpSub: the result is float, the sources are half or float");
    const auto operation = [](float a, float b) { return math::exp(a - b); };
    if constexpr (is_same<E, float>) {
        apply_elements<mode>(dstReg, mask, operation, srcReg0, srcReg1);
    } else {
        static_assert(layout == RegLayout::ZERO || layout == RegLayout::ONE, "ExpSub: layout is ZERO or ONE");
        constexpr uint32_t place = layout_index<layout>;
        const auto own = [&](const V& r) {
            const auto& lanes = first(r).lanes;
            return widen_lanes<half>(choose_lanes<Every<place, 2>>(lanes, lanes, indices<64>{}));
        };
        write<mode>(dstReg, map_lanes<float>(operation, own(srcReg0), own(srcReg1)), mask_at<4, 2, place>(mask));
    }
}

// src * scalar as half, ties away from zero, in every second element; the others become 0.
template <typename T0 = DefaultType, typename T1 = DefaultType, typename T2, RegLayout layout = RegLayout::ZERO,
          typename T3, typename T4>
CANOPY_LANES void MulsCast(T3& dstReg, const T4& srcReg, T2 scalarValue, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    static_assert(is_same<element_type<T3>, half> && is_same<element_type<T4>, float>,
                  "MulsCast: the source is float, the result is half");
    static_assert(layout == RegLayout::ZERO || layout == RegLayout::ONE, "MulsCast: layout is ZERO or ONE");
    const auto scalar = static_cast<float>(scalarValue);
    const auto product = map_lanes<half>(
        [=](float x) { return float_to_half<RoundMode::CAST_ROUND, false>(x * scalar); }, first(srcReg).lanes);
    const auto wide = lanes_as<Lanes<uint32_t>>(spread_lanes<2, layout_index<layout>>(product));
    const auto chosen = blended<MaskMergeMode::ZEROING, 4>(wide, wide, mask);
    first(dstReg).lanes = lanes_as<Lanes<half>>(chosen);
}

// Sums and differences of 32-bit integers. The carry of a difference is set if there is no borrow.
template <typename T = DefaultType, typename U>
CANOPY_LANES void Add(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    add_with_carry(carry, dstReg, lane_bits(read(srcReg0)), lane_bits(read(srcReg1)), 0, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void AddC(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& carrySrc,
                       const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    add_with_carry(carry, dstReg, lane_bits(read(srcReg0)), lane_bits(read(srcReg1)), ones_of(carrySrc), mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void Sub(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    const auto a = lane_bits(read(srcReg0)), b = lane_bits(read(srcReg1));
    write_with_carry(carry, dstReg, a - b, a >= b, mask);
}
template <typename T = DefaultType, typename U>
CANOPY_LANES void SubC(MaskReg& carry, U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& carrySrc,
                       const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    add_with_carry(carry, dstReg, lane_bits(read(srcReg0)), ~lane_bits(read(srcReg1)), ones_of(carrySrc), mask);
}

// The lower and the upper half of a product.
template <typename T = DefaultType, typename U>
CANOPY_LANES void Mull(U& dstReg0, U& dstReg1, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    CANOPY_CHECK_ELEMENT(Mull, (is_any_of<E, int32_t, uint32_t>))
    using Double = choose<is_same<E, int32_t>, int64_t, uint64_t>;
    const auto a = read(srcReg0), b = read(srcReg1);
    const auto high = in_parts<16>(
        [](const auto& x, const auto& y) {
            const auto product =
                __builtin_convertvector(x, Lanes<Double, 16>) * __builtin_convertvector(y, Lanes<Double, 16>);
            return __builtin_convertvector(product >> 32, Lanes<E, 16>);
        },
        a, b);
    write<MaskMergeMode::ZEROING>(dstReg0, a * b, mask);
    write<MaskMergeMode::ZEROING>(dstReg1, high, mask);
}

}  // namespace AscendC::Reg

#endif
