// SPDX-License-Identifier: Apache-2.0
// Layouts of AscendC::Te by name: ND, NZ, ZN ... with the number of elements in a 32-byte row of a fractal (C0) as
// their trait. A layout made here carries pattern and trait in its type.
#ifndef CANOPY_KERNEL_TENSOR_PATTERN_H
#define CANOPY_KERNEL_TENSOR_PATTERN_H

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/tensor_interface/layout.h"

namespace AscendC::Te {

struct NDExtLayoutPtn {};
struct DNExtLayoutPtn {};
struct NDLayoutPtn {};
struct DNLayoutPtn {};
struct NZLayoutPtn {};
struct ZNLayoutPtn {};
struct ZZLayoutPtn {};
struct NNLayoutPtn {};
struct ScaleANDLayoutPtn {};
struct ScaleADNLayoutPtn {};
struct ScaleBNDLayoutPtn {};
struct ScaleBDNLayoutPtn {};
struct NCHWLayoutPtn {};
struct NHWCLayoutPtn {};
struct NC1HWC0LayoutPtn {};

constexpr size_t FRACTAL_FIXED = 16;
constexpr uint32_t BLOCK_CUBE = 16;
constexpr size_t MX_SCALE_K0 = 2;

template <class T = Std::ignore_t>
inline constexpr size_t C0_SIZE = canopy::kernel::packing<T> == 2 ? 64 : 32;
template <class T>
inline constexpr size_t C0_ELEMENT = C0_SIZE<T> / sizeof(T);

template <class T, class C0>
struct LayoutTrait {
    static constexpr auto C0_ELEMENT = C0{};
};
template <class T = uint16_t, class C0 = Std::Int<C0_ELEMENT<T>>>
struct LayoutTraitDefault : LayoutTrait<T, C0> {};
struct LayoutTraitScale : LayoutTraitDefault<fp8_e8m0_t, Std::Int<2>> {};
struct LayoutTraitFP4 : LayoutTraitDefault<fp4x2_e2m1_t, Std::Int<64>> {};

}  // namespace AscendC::Te

namespace canopy::kernel::te {

using namespace AscendC::Te;

// The trait that a layout stores for what the program named: nothing, a number, a data type, or a type with C0_ELEMENT.
template <class Trait, class = void>
struct StoredTrait {
    using type = LayoutTraitDefault<Trait>;
};
template <class Trait>
struct StoredTrait<Trait, std::void_t<decltype(Trait::C0_ELEMENT)>> {
    using type = Trait;
};
template <class T, T value>
struct StoredTrait<Std::integral_constant<T, value>, void> {
    using type = LayoutTrait<Std::ignore_t, Std::Int<static_cast<size_t>(value)>>;
};
template <>
struct StoredTrait<Std::ignore_t, void> {
    using type = LayoutTraitDefault<>;
};

template <class Pattern>
inline constexpr bool is_scale_pattern =
    is_any_of<Pattern, NNLayoutPtn, ScaleANDLayoutPtn, ScaleADNLayoutPtn, ScaleBNDLayoutPtn, ScaleBDNLayoutPtn>;

template <class Pattern, class Trait>
using stored_trait = choose<is_scale_pattern<Pattern>, LayoutTraitScale, typename StoredTrait<Trait>::type>;

template <class A, class B, class C, class D>
constexpr auto two_by_two(const A& a, const B& b, const C& c, const D& d) {
    return Std::make_tuple(Std::make_tuple(a, b), Std::make_tuple(c, d));
}

// Shape and stride of `Pattern` for a matrix of the given size.
template <class Pattern, class Trait, class R, class C>
constexpr auto frame_of_matrix(const R& row, const C& column) {
    using Info = Std::tuple<Pattern, Trait>;
    constexpr Std::Int<0> zero{};
    constexpr Std::Int<1> one{};
    constexpr Std::Int<2> two{};
    constexpr Std::Int<16> side{};
    constexpr Std::Int<static_cast<size_t>(Trait::C0_ELEMENT)> c0{};
    if constexpr (is_any_of<Pattern, NDLayoutPtn>)
        return layout_with<Info>(Std::make_tuple(row, column), Std::make_tuple(column, one));
    else if constexpr (is_any_of<Pattern, DNLayoutPtn>)
        return layout_with<Info>(Std::make_tuple(row, column), Std::make_tuple(one, row));
    else if constexpr (is_any_of<Pattern, NDExtLayoutPtn, ScaleANDLayoutPtn>)
        return layout_with<Info>(two_by_two(one, row, one, column), two_by_two(zero, column, zero, one));
    else if constexpr (is_any_of<Pattern, DNExtLayoutPtn, ScaleBDNLayoutPtn>)
        return layout_with<Info>(two_by_two(one, row, one, column), two_by_two(zero, one, zero, row));
    else if constexpr (is_any_of<Pattern, NZLayoutPtn>)
        return layout_with<Info>(two_by_two(side, quotient_up(row, side), c0, quotient_up(column, c0)),
                                 two_by_two(c0, product_of(side, c0), one, product_of(c0, aligned_up(row, side))));
    else if constexpr (is_any_of<Pattern, ZNLayoutPtn>)
        return layout_with<Info>(two_by_two(c0, quotient_up(row, c0), side, quotient_up(column, side)),
                                 two_by_two(one, product_of(c0, aligned_up(column, side)), c0, product_of(side, c0)));
    else if constexpr (is_any_of<Pattern, ZZLayoutPtn>)
        return layout_with<Info>(two_by_two(side, quotient_up(row, side), c0, quotient_up(column, c0)),
                                 two_by_two(c0, product_of(side, aligned_up(column, c0)), one, product_of(side, c0)));
    else if constexpr (is_any_of<Pattern, NNLayoutPtn>)
        return layout_with<Info>(two_by_two(two, quotient_of(row, two), side, quotient_up(column, side)),
                                 two_by_two(one, Std::Int<32>{}, two, product_of(side, row)));
    else if constexpr (is_any_of<Pattern, ScaleADNLayoutPtn>)
        return layout_with<Info>(two_by_two(one, row, two, quotient_of(column, two)),
                                 two_by_two(zero, two, one, product_of(two, row)));
    else if constexpr (is_any_of<Pattern, ScaleBNDLayoutPtn>)
        return layout_with<Info>(two_by_two(two, quotient_of(row, two), one, column),
                                 two_by_two(one, product_of(two, column), zero, two));
    else
        static_assert(always_false<Pattern>,
                      "MakeFrameLayout: no such pattern for a matrix; there are ND, DN, NDExt, DNExt, NZ, ZN, ZZ, NN, "
                      "ScaleAND, ScaleADN, ScaleBND and ScaleBDN");
}

template <class Pattern>
inline constexpr size_t image_axes = is_any_of<Pattern, NCHWLayoutPtn, NHWCLayoutPtn> ? 4
                                     : is_same<Pattern, NC1HWC0LayoutPtn>             ? 5
                                                                                      : 0;

template <class Pattern, class Trait, class... Sizes>
constexpr auto frame_of(const Sizes&... sizes) {
    using Stored = stored_trait<Pattern, Trait>;
    if constexpr (image_axes<Pattern> != 0) {
        static_assert(sizeof...(Sizes) == image_axes<Pattern>, "MakeFrameLayout: one size for each axis of the image");
        const auto shape = Std::make_tuple(sizes...);
        return layout_with<Std::tuple<Pattern, Stored>>(shape, usual_stride(shape));
    } else {
        static_assert(sizeof...(Sizes) == 2 || sizeof...(Sizes) == 3,
                      "MakeFrameLayout takes (row, column) or (batch, row, column)");
        if constexpr (sizeof...(Sizes) == 2) {
            return frame_of_matrix<Pattern, Stored>(sizes...);
        } else {
            const auto all = Std::make_tuple(sizes...);
            const auto matrix = frame_of_matrix<Pattern, Stored>(Std::get<1>(all), Std::get<2>(all));
            return layout_with<Std::tuple<Pattern, Stored>>(Std::make_tuple(Std::get<0>(all), matrix.Shape()),
                                                            Std::make_tuple(matrix.Capacity(), matrix.Stride()));
        }
    }
}

template <class Info>
struct InfoParts {
    using Pattern = Std::ignore_t;
    using Trait = Std::ignore_t;
};
template <class P, class T>
struct InfoParts<Std::tuple<P, T>> {
    using Pattern = P;
    using Trait = T;
};

}  // namespace canopy::kernel::te

namespace AscendC::Te {

template <class LayoutPattern, class TraitType = Std::ignore_t, class... Args>
constexpr auto MakeFrameLayout(const Args&... args) {
    return canopy::kernel::te::frame_of<LayoutPattern, TraitType>(args...);
}
template <class LayoutPattern, size_t C0Element, class... Args>
constexpr auto MakeFrameLayout(const Args&... args) {
    return canopy::kernel::te::frame_of<LayoutPattern, Std::Int<C0Element>>(args...);
}

template <class LayoutPattern, class TraitType = LayoutTraitDefault<>>
struct FrameLayoutFormat {
    template <class... Args>
    constexpr auto operator()(const Args&... args) const {
        return MakeFrameLayout<LayoutPattern, TraitType>(args...);
    }
};

template <class LayoutPattern, class TraitType, class ShapeType, class StrideType>
constexpr auto MakePatternLayout(const ShapeType& shape, const StrideType& stride) {
    using Stored = canopy::kernel::te::stored_trait<LayoutPattern, TraitType>;
    return canopy::kernel::te::layout_with<Std::tuple<LayoutPattern, Stored>>(shape, stride);
}

template <class LayoutType>
using GetLayoutPattern =
    typename canopy::kernel::te::InfoParts<typename Std::remove_cvref_t<LayoutType>::InfoType>::Pattern;
template <class LayoutType>
using GetLayoutTrait =
    typename canopy::kernel::te::InfoParts<typename Std::remove_cvref_t<LayoutType>::InfoType>::Trait;

}  // namespace AscendC::Te

#endif
