// SPDX-License-Identifier: Apache-2.0
// Te::Squeeze on layouts: drops axes of size 1.
#ifndef CANOPY_KERNEL_TENSOR_SQUEEZE_H
#define CANOPY_KERNEL_TENSOR_SQUEEZE_H

#include "canopy_kernel/tensor_interface/layout.h"

namespace AscendC::Te {

// Marks the axes to keep in a pattern of Squeeze; everything else marks axes to drop.
struct KeepMark {};
inline constexpr KeepMark _{};

}  // namespace AscendC::Te

namespace canopy::kernel::te {

using AscendC::Te::KeepMark;

template <class... A, class... B>
constexpr Std::tuple<A..., B...> joined(const Std::tuple<A...>& left, const Std::tuple<B...>& right) {
    if constexpr (sizeof...(A) == 0)
        return right;
    else
        return tuple_of<sizeof...(A) + sizeof...(B)>([&](auto i) {
            constexpr size_t at = decltype(i)::value;
            if constexpr (at < sizeof...(A))
                return Std::get<at>(left);
            else
                return Std::get<at - sizeof...(A)>(right);
        });
}

// Constant axes of another size than 1 stay; sizes known only at run time are trusted.
template <class Size>
constexpr bool may_be_dropped() {
    if constexpr (is_constant<Size>)
        return Size::value == 1;
    else
        return true;
}

// What remains of one axis, or of all axes from `at` on. `values` has the structure of `shape`: it is the shape itself
// or the stride.
template <size_t at = 0, class Pattern, class S, class V>
constexpr auto squeezed(const Pattern& pattern, const S& shape, const V& values) {
    if constexpr (at == Std::tuple_size_v<S>) {
        return Std::tuple<>{};
    } else {
        using Mark = Std::tuple_element_t<at, Pattern>;
        using Part = Std::tuple_element_t<at, S>;
        const auto rest = squeezed<at + 1>(pattern, shape, values);
        if constexpr (is_same<Mark, KeepMark> || (!is_tuple<Mark> && !may_be_dropped<Part>()))
            return joined(Std::make_tuple(Std::get<at>(values)), rest);
        else if constexpr (is_tuple<Mark> && is_tuple<Part>)
            return joined(Std::make_tuple(squeezed(Std::get<at>(pattern), Std::get<at>(shape), Std::get<at>(values))),
                          rest);
        else if constexpr (is_tuple<Part>)
            static_assert(always_false<Part>, "Squeeze: an axis that is a tuple cannot be dropped as a whole");
        else
            return rest;
    }
}

template <class T>
constexpr auto unwrapped(const T& tree) {
    if constexpr (Std::tuple_size_v<T> == 1) {
        if constexpr (is_tuple<Std::tuple_element_t<0, T>>)
            return Std::get<0>(tree);
        else
            return tree;
    } else {
        return tree;
    }
}

template <class L, class Pattern>
constexpr auto squeezed_layout(const L& layout, const Pattern& pattern) {
    static_assert(Std::tuple_size_v<Pattern> == L::rank, "Squeeze: the pattern has one mark for each axis");
    const auto shape = layout.Shape();
    return layout_with<typename L::InfoType>(unwrapped(squeezed(pattern, shape, shape)),
                                             unwrapped(squeezed(pattern, shape, layout.Stride())));
}

struct DropMark {};

// The pattern that drops the axes `dims`.
template <size_t rank, size_t... dims>
constexpr auto dropping() {
    static_assert(((dims < rank) && ...), "Squeeze: there is no such axis");
    return tuple_of<rank>([](auto i) {
        constexpr size_t at = decltype(i)::value;
        if constexpr (((dims == at) || ...))
            return DropMark{};
        else
            return KeepMark{};
    });
}

}  // namespace canopy::kernel::te

#endif
