// SPDX-License-Identifier: Apache-2.0
// Tensors of AscendC::Te: a pointer and a layout. They are specialisations of GlobalTensor and LocalTensor.
#ifndef CANOPY_KERNEL_TENSOR_TENSOR_H
#define CANOPY_KERNEL_TENSOR_TENSOR_H

#include "canopy_kernel/tensor_interface/pointer.h"
#include "canopy_kernel/tensor_interface/squeeze.h"

namespace AscendC {

template <class EngineType, class LayoutType>
struct TensorAttribute {};

namespace Te {

enum class CacheMode : uint8_t {
    CACHE_MODE_NORMAL = 0,
    CACHE_MODE_DISABLE = 4,
    CACHE_MODE_LAST = 5,
    CACHE_MODE_PERSISTENT = 6
};

template <class Iterator>
struct ViewEngine {
    using iterator = Iterator;
    using reference = typename Iterator::reference;
    using elementType = typename Iterator::elementType;
    using valueType = typename Iterator::valueType;

    constexpr ViewEngine(iterator storage = {}) : storage_(storage) {}
    constexpr const iterator& Begin() const { return storage_; }
    constexpr iterator& Begin() { return storage_; }

private:
    iterator storage_;
};

}  // namespace Te
}  // namespace AscendC

namespace canopy::kernel::te {

// The tensor class of a pointer: global memory, or memory of the core.
template <class Pointer, class L>
using tensor_of = choose<is_any_of<typename Pointer::location, Location::GM, FoundByAddress>,
                         AscendC::GlobalTensor<AscendC::TensorAttribute<ViewEngine<Pointer>, L>>,
                         AscendC::LocalTensor<AscendC::TensorAttribute<ViewEngine<Pointer>, L>>>;

template <class Pointer, class L>
constexpr auto tensor_at(const Pointer& pointer, const L& layout) {
    return tensor_of<Pointer, L>(pointer, layout);
}

// The number of a coordinate inside one axis.
template <class C, class S>
constexpr auto linear_in(const C& coordinate, const S& shape) {
    if constexpr (!is_tuple<C>)
        return coordinate;
    else if constexpr (!is_tuple<S>)
        return Std::get<0>(coordinate);
    else
        return offset_of(coordinate, shape, tuple_of<Std::tuple_size_v<S>>([&](auto i) {
                             constexpr size_t at = decltype(i)::value;
                             if constexpr (at == 0)
                                 return Std::Int<1>{};
                             else
                                 return Std::get<0>(shape);
                         }));
}

// What a slice of `wanted` leaves of one axis behind a coordinate. An axis of blocks keeps whole blocks. `wanted` is a
// number of elements, a tuple like the axis, or Everything.
struct Everything {};

template <class C, class S, class W>
constexpr auto rest_of_axis(const C& coordinate, const S& shape, const W& wanted) {
    if constexpr (!is_tuple<S>) {
        const auto rest = difference_of(shape, linear_in(coordinate, shape));
        if constexpr (is_same<W, Everything>)
            return rest;
        else if constexpr (is_tuple<W>)
            return smaller_of(rest, Std::get<0>(wanted));
        else
            return smaller_of(rest, wanted);
    } else if constexpr (Std::tuple_size_v<S> == 1) {
        return Std::make_tuple(rest_of_axis(linear_in(coordinate, Std::get<0>(shape)), Std::get<0>(shape), wanted));
    } else {
        static_assert(Std::tuple_size_v<S> == 2, "Slice: an axis is a number or (size of a block, number of blocks)");
        const auto inner = Std::get<0>(shape);
        const auto rest = quotient_up(difference_of(product_of_all(shape), linear_in(coordinate, shape)), inner);
        if constexpr (is_same<W, Everything>)
            return Std::make_tuple(inner, rest);
        else if constexpr (is_tuple<W>)
            return Std::make_tuple(smaller_of(inner, Std::get<0>(wanted)), smaller_of(rest, Std::get<1>(wanted)));
        else
            return Std::make_tuple(inner, smaller_of(rest, quotient_up(wanted, inner)));
    }
}

template <size_t at, class W>
constexpr auto wanted_at(const W& wanted) {
    if constexpr (is_same<W, Everything>)
        return wanted;
    else
        return Std::get<at>(wanted);
}

template <class C, class S, class W>
constexpr auto rest_of_shape(const C& coordinate, const S& shape, const W& wanted) {
    static_assert(Std::tuple_size_v<C> == Std::tuple_size_v<S>, "Slice: one coordinate for each axis");
    if constexpr (!is_same<W, Everything>)
        static_assert(Std::tuple_size_v<W> == Std::tuple_size_v<S>, "Slice: one size for each axis");
    if constexpr (IsBatched<S>::value)
        return Std::make_tuple(rest_of_axis(Std::get<0>(coordinate), Std::get<0>(shape), wanted_at<0>(wanted)),
                               rest_of_shape(Std::get<1>(coordinate), Std::get<1>(shape), wanted_at<1>(wanted)));
    else
        return tuple_of<Std::tuple_size_v<S>>([&](auto i) {
            constexpr size_t at = decltype(i)::value;
            return rest_of_axis(Std::get<at>(coordinate), Std::get<at>(shape), wanted_at<at>(wanted));
        });
}

template <class Pointer, class L, class C, class W>
constexpr auto slice_of(const Pointer& pointer, const L& layout, const C& coordinate, const W& wanted) {
    if constexpr (IsLayoutV<W>)
        return slice_of(pointer, layout, coordinate, wanted.Shape());
    else
        return tensor_at(
            pointer + layout(coordinate),
            layout_with<typename L::InfoType>(rest_of_shape(coordinate, layout.Shape(), wanted), layout.Stride()));
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

template <class EngineType, class LayoutType>
struct BaseTensor {
    using engineType = EngineType;
    using layoutType = LayoutType;
    using iterator = typename EngineType::iterator;
    using elementType = typename EngineType::elementType;
    using valueType = typename EngineType::valueType;
    using reference = typename EngineType::reference;
    using location = typename iterator::location;
    static constexpr int rank = static_cast<int>(LayoutType::rank);

    constexpr BaseTensor() = default;
    constexpr BaseTensor(const iterator& data, const LayoutType& layout) : engine_(data), layout_(layout) {}

    constexpr const BaseTensor& Tensor() const { return *this; }
    constexpr const EngineType& Engine() const { return engine_; }
    constexpr const LayoutType& Layout() const { return layout_; }
    constexpr const iterator& Data() const { return engine_.Begin(); }
    constexpr auto Shape() const { return layout_.Shape(); }
    constexpr auto Stride() const { return layout_.Stride(); }
    constexpr auto Size() const { return layout_.Size(); }
    constexpr auto Capacity() const { return layout_.Capacity(); }

    template <class Coord>
    constexpr reference operator[](const Coord& coord) const {
        static_assert(
            canopy::kernel::is_any_of<location, Location::GM, Location::UB, canopy::kernel::te::FoundByAddress>,
            "tensor[coord]: the scalar unit accesses GM and UB only");
        static_assert(canopy::kernel::packing<valueType> == 1, "tensor[coord]: four bits are not addressable");
        return Data()[layout_(coord)];
    }
    // The rest of the tensor from a coordinate on.
    template <class Coord>
    constexpr auto operator()(const Coord& coord) const {
        return canopy::kernel::te::slice_of(Data(), layout_, coord, canopy::kernel::te::Everything{});
    }
    template <class Coord0, class Coord1, class... Coords>
    constexpr auto operator()(const Coord0& c0, const Coord1& c1, const Coords&... cs) const {
        return (*this)(MakeCoord(c0, c1, cs...));
    }
    template <class Coord, class Info>
    constexpr auto Slice(const Coord& coord, const Info& info) const {
        return canopy::kernel::te::slice_of(Data(), layout_, coord, info);
    }

private:
    EngineType engine_;
    LayoutType layout_;
};

}  // namespace AscendC::Te

namespace AscendC {

template <class EngineType, class LayoutType>
class GlobalTensor<TensorAttribute<EngineType, LayoutType>> : public Te::BaseTensor<EngineType, LayoutType> {
public:
    using Te::BaseTensor<EngineType, LayoutType>::BaseTensor;
    // A hint; here the processor manages the cache.
    void SetL2CacheHint(Te::CacheMode) {}
};

template <class EngineType, class LayoutType>
class LocalTensor<TensorAttribute<EngineType, LayoutType>> : public Te::BaseTensor<EngineType, LayoutType> {
public:
    using Te::BaseTensor<EngineType, LayoutType>::BaseTensor;
};

namespace Te {

template <class T>
inline constexpr bool IsAttrTensorV = false;
template <class E, class L>
inline constexpr bool IsAttrTensorV<GlobalTensor<TensorAttribute<E, L>>> = true;
template <class E, class L>
inline constexpr bool IsAttrTensorV<LocalTensor<TensorAttribute<E, L>>> = true;
template <class T>
inline constexpr bool IsAttrTensorV<const T> = IsAttrTensorV<T>;

}  // namespace Te
}  // namespace AscendC

namespace canopy::kernel::te {

// The layout of a tensor or of a layout.
template <class T, bool tensor = IsAttrTensorV<T>>
struct LayoutOf {
    using type = T;
};
template <class T>
struct LayoutOf<T, true> {
    using type = typename T::layoutType;
};

template <class T, class Pattern>
constexpr auto squeeze(const T& x, const Pattern& pattern) {
    if constexpr (IsAttrTensorV<T>)
        return tensor_at(x.Data(), squeezed_layout(x.Layout(), pattern));
    else
        return squeezed_layout(x, pattern);
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

template <class TensorType, class TargetLayoutPtn>
inline constexpr bool IsSatisfiedPtnFormatV = canopy::kernel::is_same<
    GetLayoutPattern<typename canopy::kernel::te::LayoutOf<Std::remove_cvref_t<TensorType>>::type>, TargetLayoutPtn>;

template <class Iterator, class... Args>
constexpr auto MakeTensor(const Iterator& iter, const Args&... args) {
    static_assert(canopy::kernel::te::is_memory_pointer<Iterator>, "MakeTensor takes a pointer made by MakeMemPtr");
    if constexpr (sizeof...(Args) == 1 && (IsLayoutV<Args> && ...))
        return canopy::kernel::te::tensor_at(iter, args...);
    else
        return canopy::kernel::te::tensor_at(iter, MakeLayout(args...));
}

template <class Tensor, class Coord, class Info>
constexpr auto Slice(Tensor&& tensor, const Coord& coord, const Info& info) {
    return tensor.Slice(coord, info);
}

template <size_t... SqueezeDims, class T,
          class = Std::enable_if_t<(IsLayoutV<T> || IsAttrTensorV<T>)&&(sizeof...(SqueezeDims) > 0)>>
constexpr auto Squeeze(const T& x) {
    constexpr size_t rank = canopy::kernel::te::LayoutOf<T>::type::rank;
    return canopy::kernel::te::squeeze(x, canopy::kernel::te::dropping<rank, SqueezeDims...>());
}
template <class Pattern, class T,
          class = Std::enable_if_t<(IsLayoutV<T> || IsAttrTensorV<T>)&&canopy::kernel::te::is_tuple<Pattern>>>
constexpr auto Squeeze(const T& x, const Pattern& pattern) {
    return canopy::kernel::te::squeeze(x, pattern);
}

// The matrix `batchIdx` of a batch; a tensor without batches is its own matrix.
template <class Tensor>
constexpr auto MakeSingleBatchSubTensor(const Tensor& t, uint32_t batchIdx) {
    if constexpr (canopy::kernel::te::is_batched<typename Tensor::layoutType>)
        return canopy::kernel::te::tensor_at(
            t.Data() + canopy::kernel::te::product_of(batchIdx, t.Layout().template Stride<0>()),
            RemoveBatchDim(t.Layout()));
    else
        return t;
}

}  // namespace AscendC::Te

#endif
