// SPDX-License-Identifier: Apache-2.0
// AscendC::Te::Layout: a shape and a stride of one structure, which map coordinates to offsets; and the functions on
// layouts.
#ifndef CANOPY_KERNEL_TENSOR_LAYOUT_H
#define CANOPY_KERNEL_TENSOR_LAYOUT_H

#include "canopy_kernel/tensor_interface/numbers.h"

namespace canopy::kernel::te {

// The offset of a coordinate. A number as coordinate of a tuple is split, the first component running fastest.
template <size_t at = 0, class C, class S, class D>
constexpr auto offset_of(const C& coordinate, const S& shape, const D& stride) {
    static_assert(is_tuple<S> == is_tuple<D>, "Crd2Idx: shape and stride must be nested in the same way");
    if constexpr (!is_tuple<S>) {
        static_assert(!is_tuple<C>, "Crd2Idx: the coordinate is nested deeper than the shape");
        return product_of(coordinate, stride);
    } else if constexpr (is_tuple<C>) {
        static_assert(Std::tuple_size_v<C> == Std::tuple_size_v<S>,
                      "Crd2Idx: coordinate and shape must have the same number of components");
        if constexpr (at == Std::tuple_size_v<S>)
            return Std::Int<0>{};
        else
            return sum_of(offset_of(Std::get<at>(coordinate), Std::get<at>(shape), Std::get<at>(stride)),
                          offset_of<at + 1>(coordinate, shape, stride));
    } else if constexpr (at + 1 >= Std::tuple_size_v<S>) {
        return offset_of(coordinate, Std::get<at>(shape), Std::get<at>(stride));
    } else {
        const auto size = product_of_all(Std::get<at>(shape));
        return sum_of(offset_of(remainder_of(coordinate, size), Std::get<at>(shape), Std::get<at>(stride)),
                      offset_of<at + 1>(quotient_of(coordinate, size), shape, stride));
    }
}

// Row-major strides of a flat shape.
template <size_t at, class S>
constexpr auto row_major_step(const S& shape) {
    if constexpr (at + 1 == Std::tuple_size_v<S>)
        return Std::Int<1>{};
    else
        return product_of(Std::get<at + 1>(shape), row_major_step<at + 1>(shape));
}

// Strides of ((x...), (y...)): x[i] and y[i] alternate, from the innermost pair outwards.
template <size_t at, class S>
constexpr auto paired_step(const S& shape) {
    if constexpr (at == 0)
        return Std::Int<1>{};
    else
        return product_of(product_of(Std::get<at - 1>(Std::get<0>(shape)), Std::get<at - 1>(Std::get<1>(shape))),
                          paired_step<at - 1>(shape));
}

template <class S>
struct IsPaired {
    static constexpr bool value = false;
};
template <class... X, class... Y>
struct IsPaired<Std::tuple<Std::tuple<X...>, Std::tuple<Y...>>> {
    static constexpr bool value = sizeof...(X) == sizeof...(Y);
};

template <class S>
constexpr auto usual_stride(const S& shape) {
    if constexpr (!is_tuple<S>) {
        return Std::Int<1>{};
    } else if constexpr (IsPaired<S>::value) {
        constexpr size_t pairs = Std::tuple_size_v<Std::tuple_element_t<0, S>>;
        return Std::make_tuple(tuple_of<pairs>([&](auto i) { return paired_step<decltype(i)::value>(shape); }),
                               tuple_of<pairs>([&](auto i) {
                                   return product_of(Std::get<decltype(i)::value>(Std::get<0>(shape)),
                                                     paired_step<decltype(i)::value>(shape));
                               }));
    } else {
        static_assert(Leaves<S>::count == Std::tuple_size_v<S>,
                      "MakeLayout: without a stride the shape is flat, or two tuples of one length");
        return tuple_of<Std::tuple_size_v<S>>([&](auto i) { return row_major_step<decltype(i)::value>(shape); });
    }
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

template <class... T>
using Shape = Std::tuple<T...>;
template <class... T>
using Stride = Std::tuple<T...>;
template <class... T>
using Tile = Std::tuple<T...>;
template <class... T>
using Coord = Std::tuple<T...>;

template <class T, class U, class Info = Std::ignore_t>
struct Layout : private Std::tuple<T, U> {
    using ShapeType = T;
    using StrideType = U;
    using InfoType = Info;
    // The number of numbers in the shape.
    static constexpr auto depth = canopy::kernel::te::Leaves<T>::count;
    static constexpr auto rank = canopy::kernel::te::rank_of<T>;

    constexpr Layout(const T& shape = {}, const U& stride = {}) : Std::tuple<T, U>(shape, stride) {}

    constexpr Layout layout() const { return *this; }
    template <size_t... I>
    constexpr auto Shape() const {
        return Get<0, I...>();
    }
    template <size_t... I>
    constexpr auto Stride() const {
        return Get<1, I...>();
    }
    // 0: of the shape; 1: of the stride.
    template <size_t... I>
    constexpr auto Get() const {
        return canopy::kernel::te::Path<I...>::of(static_cast<const Std::tuple<T, U>&>(*this));
    }
    template <size_t... I>
    constexpr auto Rank() const {
        return Std::Int<canopy::kernel::te::rank_of<decltype(Get<0, I...>())>>{};
    }
    template <size_t... I>
    constexpr auto Size() const {
        return canopy::kernel::te::product_of_all(Get<0, I...>());
    }
    // The largest shape * stride.
    template <size_t... I>
    constexpr auto Capacity() const {
        return canopy::kernel::te::fold(
            Get<0, I...>(), Get<1, I...>(), Std::Int<0>{}, [](const auto& most, const auto& size, const auto& step) {
                return canopy::kernel::te::larger_of(most, canopy::kernel::te::product_of(size, step));
            });
    }
    template <class S>
    constexpr auto operator()(const S& coord) const {
        return canopy::kernel::te::offset_of(coord, Get<0>(), Get<1>());
    }
};

template <class T>
inline constexpr bool IsLayoutV = false;
template <class T, class U, class Info>
inline constexpr bool IsLayoutV<Layout<T, U, Info>> = true;
template <class T>
inline constexpr bool IsLayoutV<const T> = IsLayoutV<T>;

}  // namespace AscendC::Te

namespace canopy::kernel::te {

template <class Info, class S, class D>
constexpr auto layout_with(const S& shape, const D& stride) {
    return AscendC::Te::Layout<S, D, Info>(shape, stride);
}

template <class T>
using only_layout = only_if<AscendC::Te::IsLayoutV<T>>;

// (batch, matrix): a number and a tuple.
template <class S>
struct IsBatched {
    static constexpr bool value = false;
};
template <class B, class... M>
struct IsBatched<Std::tuple<B, Std::tuple<M...>>> {
    static constexpr bool value = !is_tuple<B> && sizeof...(M) >= 2;
};
template <class L>
inline constexpr bool is_batched = IsBatched<typename L::ShapeType>::value;

template <size_t part, class L>
constexpr auto matrix_size(const L& layout) {
    if constexpr (is_batched<L>)
        return layout.template Size<1, part>();
    else
        return layout.template Size<part>();
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

template <class T, class... Ts>
constexpr Shape<T, Ts...> MakeShape(const T& t, const Ts&... ts) {
    static_assert(!canopy::kernel::is_same<T, _0> && (!canopy::kernel::is_same<Ts, _0> && ...),
                  "MakeShape: an axis cannot have the constant size 0");
    return {t, ts...};
}
template <class T, class... Ts>
constexpr Stride<T, Ts...> MakeStride(const T& t, const Ts&... ts) {
    return {t, ts...};
}
template <class T, class... Ts>
constexpr Tile<T, Ts...> MakeTile(const T& t, const Ts&... ts) {
    return {t, ts...};
}
template <class T, class... Ts>
constexpr Coord<T, Ts...> MakeCoord(const T& t, const Ts&... ts) {
    return {t, ts...};
}

template <class T, class U>
constexpr auto MakeLayout(const T& shape, const U& stride) {
    return canopy::kernel::te::layout_with<Std::ignore_t>(shape, stride);
}
template <class ShapeType>
constexpr auto MakeLayout(const ShapeType& shape) {
    return MakeLayout(shape, canopy::kernel::te::usual_stride(shape));
}

template <class T, class U, class S>
constexpr auto Crd2Idx(const T& coord, const U& shape, const S& stride) {
    return canopy::kernel::te::offset_of(coord, shape, stride);
}
template <class T, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Crd2Idx(const T& coord, const LayoutType& layout) {
    return layout(coord);
}

// Part of a tuple, or the layout of part of the axes.
template <size_t... Is, class Tuple,
          class = Std::enable_if_t<canopy::kernel::te::is_tuple<Tuple> || IsLayoutV<Std::remove_cvref_t<Tuple>>>>
constexpr auto Get(Tuple&& t) {
    if constexpr (canopy::kernel::te::is_tuple<Tuple>)
        return canopy::kernel::te::Path<Is...>::of(t);
    else
        return MakeLayout(t.template Shape<Is...>(), t.template Stride<Is...>());
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Select(const LayoutType& layout) {
    return MakeLayout(Std::make_tuple(layout.template Shape<Is>()...),
                      Std::make_tuple(layout.template Stride<Is>()...));
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto GetShape(const LayoutType& layout) {
    return layout.template Shape<Is...>();
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto GetStride(const LayoutType& layout) {
    return layout.template Stride<Is...>();
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Rank(const LayoutType& layout) {
    return layout.template Rank<Is...>();
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Size(const LayoutType& layout) {
    return layout.template Size<Is...>();
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Capacity(const LayoutType& layout) {
    return layout.template Capacity<Is...>();
}
// One more than the largest offset.
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Cosize(const LayoutType& layout) {
    return canopy::kernel::te::fold(
        layout.template Shape<Is...>(), layout.template Stride<Is...>(), Std::Int<1>{},
        [](const auto& sum, const auto& size, const auto& step) {
            return canopy::kernel::te::sum_of(
                sum, canopy::kernel::te::product_of(canopy::kernel::te::difference_of(size, Std::Int<1>{}), step));
        });
}
template <size_t... Is, class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto Coshape(const LayoutType& layout) {
    return Cosize<Is...>(layout);
}
template <class LayoutType, class = canopy::kernel::te::only_layout<LayoutType>>
constexpr auto RemoveBatchDim(const LayoutType& layout) {
    if constexpr (canopy::kernel::te::is_batched<LayoutType>)
        return canopy::kernel::te::layout_with<typename LayoutType::InfoType>(layout.template Shape<1>(),
                                                                              layout.template Stride<1>());
    else
        return layout;
}

template <class LayoutType>
constexpr uint32_t GetTotalRowShape(const LayoutType& layout) {
    return static_cast<uint32_t>(canopy::kernel::te::matrix_size<0>(layout));
}
template <class LayoutType>
constexpr uint32_t GetTotalColumnShape(const LayoutType& layout) {
    return static_cast<uint32_t>(canopy::kernel::te::matrix_size<1>(layout));
}

namespace AttrInfo {
struct Shape {};
struct Stride {};
struct Row {};
struct Column {};
}  // namespace AttrInfo

template <class info1, class info2, size_t... dim, class T>
constexpr auto GetElement(const T& layout) {
    using canopy::kernel::is_any_of, canopy::kernel::is_same;
    static_assert(
        is_any_of<info1, AttrInfo::Shape, AttrInfo::Stride> && is_any_of<info2, AttrInfo::Row, AttrInfo::Column>,
        "GetElement<AttrInfo::Shape or Stride, AttrInfo::Row or Column[, dim]>(layout)");
    return layout.template Get < is_same<info1, AttrInfo::Shape> ? 0 : 1, is_same<info2, AttrInfo::Row> ? 0 : 1,
           dim... > ();
}

}  // namespace AscendC::Te

#endif
