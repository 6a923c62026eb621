// SPDX-License-Identifier: Apache-2.0
// A layout: a shape with a stride for each of its axes, which maps coordinates to indices. Axes may be tuples of axes.
#ifndef CANOPY_KERNEL_CORE_LAYOUT_H
#define CANOPY_KERNEL_CORE_LAYOUT_H

#include "canopy_kernel/core/utility.h"

namespace canopy::kernel {

namespace tuples = AscendC::Std;

// Calls body(element 0, element 1, ...).
template <class Tuple, class Body, size_t... index>
constexpr decltype(auto) with_elements(const Tuple& tuple, const Body& body, std::index_sequence<index...>) {
    return body(tuples::get<index>(tuple)...);
}

// The product of a number or of all numbers in a tuple.
template <class T>
constexpr auto elements_in_shape(const T& shape) {
    if constexpr (tuples::is_tuple_v<T>)
        return with_elements(
            shape, [](const auto&... axis) { return (size_t{1} * ... * elements_in_shape(axis)); },
            std::make_index_sequence<tuples::tuple_size_v<T>>{});
    else
        return static_cast<size_t>(shape);
}

template <class T>
inline constexpr bool is_constant_shape = false;
template <class T, T number>
inline constexpr bool is_constant_shape<tuples::integral_constant<T, number>> = true;
template <class... Axes>
inline constexpr bool is_constant_shape<tuples::tuple<Axes...>> = (is_constant_shape<Axes> && ...);

template <class Coord, class Shape, class Stride>
constexpr auto index_of(const Coord& coord, const Shape& shape, const Stride& stride);

// One number for several axes: the first axis is the fastest.
template <size_t axis, class Shape, class Stride>
constexpr size_t index_of_number(size_t number, const Shape& shape, const Stride& stride) {
    if constexpr (axis == tuples::tuple_size_v<Shape>) {
        return 0;
    } else if constexpr (axis + 1 == tuples::tuple_size_v<Shape>) {
        return static_cast<size_t>(index_of(number, tuples::get<axis>(shape), tuples::get<axis>(stride)));
    } else {
        const size_t size = elements_in_shape(tuples::get<axis>(shape));
        return static_cast<size_t>(index_of(number % size, tuples::get<axis>(shape), tuples::get<axis>(stride))) +
               index_of_number<axis + 1>(number / size, shape, stride);
    }
}

template <class Coord, class Shape, class Stride, size_t... axis>
constexpr size_t index_of_axes(const Coord& coord, const Shape& shape, const Stride& stride,
                               std::index_sequence<axis...>) {
    return (
        size_t{0} + ... +
        static_cast<size_t>(index_of(tuples::get<axis>(coord), tuples::get<axis>(shape), tuples::get<axis>(stride))));
}

template <class Coord, class Shape, class Stride>
constexpr auto index_of(const Coord& coord, [[maybe_unused]] const Shape& shape, const Stride& stride) {
    if constexpr (tuples::is_tuple_v<Coord>) {
        static_assert(tuples::is_tuple_v<Shape> && tuples::is_tuple_v<Stride>,
                      "Layout: the coordinate has more axes than the layout");
        static_assert(tuples::tuple_size_v<Coord> == tuples::tuple_size_v<Shape> &&
                          tuples::tuple_size_v<Coord> == tuples::tuple_size_v<Stride>,
                      "Layout: coordinate, shape and stride must have the same number of axes");
        return index_of_axes(coord, shape, stride, std::make_index_sequence<tuples::tuple_size_v<Coord>>{});
    } else if constexpr (tuples::is_tuple_v<Shape>) {
        static_assert(tuples::is_tuple_v<Stride>, "Layout: shape and stride must have the same number of axes");
        return index_of_number<0>(static_cast<size_t>(coord), shape, stride);
    } else {
        return coord * stride;
    }
}

// The element of nested tuples at a path of indices; the tuple itself if the path is empty.
template <class T>
constexpr const T& element_at_path(const T& tuple) {
    return tuple;
}
template <size_t first, size_t... rest, class T>
constexpr decltype(auto) element_at_path(const T& tuple) {
    return element_at_path<rest...>(tuples::get<first>(tuple));
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename... Ts>
using Shape = Std::tuple<Ts...>;
template <typename... Ts>
using Stride = Std::tuple<Ts...>;
template <typename... Ts>
using Coord = Std::tuple<Ts...>;

template <typename... Ts>
constexpr Shape<Ts...> MakeShape(const Ts&... t) {
    return {t...};
}
template <typename... Ts>
constexpr Stride<Ts...> MakeStride(const Ts&... t) {
    return {t...};
}
template <typename... Ts>
constexpr Coord<Ts...> MakeCoord(Ts const&... t) {
    return {t...};
}

template <typename T, typename U>
struct Layout : private Std::tuple<T, U> {
    // The number of elements if the shape is made of constants, otherwise 0.
    static constexpr auto size = [] {
        if constexpr (canopy::kernel::is_constant_shape<T>)
            return canopy::kernel::elements_in_shape(T{});
        else
            return size_t{0};
    }();

    constexpr Layout(const T& shape = {}, const U& stride = {}) : Std::tuple<T, U>(shape, stride) {}

    constexpr decltype(auto) layout() { return *this; }
    constexpr decltype(auto) layout() const { return *this; }
    template <size_t... I>
    constexpr decltype(auto) GetShape() const {
        return canopy::kernel::element_at_path<I...>(Std::get<0>(parts()));
    }
    template <size_t... I>
    constexpr decltype(auto) GetStride() const {
        return canopy::kernel::element_at_path<I...>(Std::get<1>(parts()));
    }
    constexpr decltype(auto) GetSize() const { return canopy::kernel::elements_in_shape(GetShape()); }
    template <typename S>
    constexpr auto operator()(const S& coord) const {
        return canopy::kernel::index_of(coord, GetShape(), GetStride());
    }

private:
    constexpr const Std::tuple<T, U>& parts() const { return *this; }
};

template <typename T, typename U>
constexpr auto MakeLayout(const T& shape, const U& stride) {
    static_assert(Std::is_tuple_v<T> && Std::is_tuple_v<U>, "MakeLayout takes a MakeShape and a MakeStride");
    return Layout<T, U>(shape, stride);
}

}  // namespace AscendC

#endif
