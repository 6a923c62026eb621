// SPDX-License-Identifier: Apache-2.0
// Small helpers for kernels: divisions that round up, sizes of the core, type traits under the language's own names
// (AscendC::Std), and lists of tensors that the host passes in one block of memory.
#ifndef CANOPY_KERNEL_UTILITY_H
#define CANOPY_KERNEL_UTILITY_H

#include <type_traits>

#include "canopy_kernel/core/tensor.h"

namespace canopy::kernel {

// An integer of any type. Programs define functions with the names below; because these convert their arguments to this
// class first, overload resolution prefers any viable function of the program.
struct AnyInteger {
    int64_t value;

    template <class T, class = only_if<std::is_integral_v<T> || std::is_enum_v<T> ||
                                       (std::is_class_v<T> && std::is_convertible_v<T, int64_t>)>>
    constexpr AnyInteger(T number) : value(static_cast<int64_t>(number)) {}
};

constexpr int64_t divide_up(AnyInteger value, AnyInteger divisor) {
    return divisor.value == 0 ? value.value : (value.value + divisor.value - 1) / divisor.value;
}
constexpr int64_t align_up(AnyInteger value, AnyInteger multiple) {
    return multiple.value == 0 ? value.value : divide_up(value, multiple) * multiple.value;
}

}  // namespace canopy::kernel

namespace AscendC {

// The parentheses prevent the expansion of a program's macro of the same name.
#define CANOPY_ROUNDING(Result, Name, function)                                                 \
    constexpr Result(Name)(canopy::kernel::AnyInteger value, canopy::kernel::AnyInteger unit) { \
        return static_cast<Result>(canopy::kernel::function(value, unit));                      \
    }                                                                                           \
    template <class T>                                                                          \
    constexpr T(Name)(canopy::kernel::AnyInteger value, canopy::kernel::AnyInteger unit) {      \
        return static_cast<T>(canopy::kernel::function(value, unit));                           \
    }
CANOPY_ROUNDING(int64_t, Ceil, divide_up)
CANOPY_ROUNDING(int64_t, CeilDiv, divide_up)
CANOPY_ROUNDING(int64_t, CeilDivision, divide_up)
CANOPY_ROUNDING(int64_t, CeilAlign, align_up)
CANOPY_ROUNDING(uint32_t, DivCeil, divide_up)
CANOPY_ROUNDING(uint32_t, AlignUp, align_up)
#undef CANOPY_ROUNDING

#ifndef CACHE_LINE_SIZE
constexpr uint32_t CACHE_LINE_SIZE = 64;
#endif

constexpr uint32_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
constexpr uint32_t GetVecLen() { return VECTOR_REG_WIDTH; }
constexpr uint32_t GetUBSizeInBytes() { return TOTAL_UB_SIZE; }
// The local memory left after the dynamic memory of the launch.
inline uint32_t GetRuntimeUBSize() {
    return static_cast<uint32_t>(TMP_UB_OFFSET) - canopy::kernel::current_block().dynamic_size;
}

// Unsigned division by a constant of the launch: quotient = (high half of value * magic + value) >> shift.
inline void GetUintDivMagicAndShift(uint32_t& magic, uint32_t& shift, uint32_t divisor) {
    shift = divisor <= 1 ? 0 : 32 - static_cast<uint32_t>(__builtin_clz(divisor - 1));
    magic = static_cast<uint32_t>((((1ull << 32) * ((1ull << shift) - divisor)) / divisor) + 1);
}

// Position of the lowest bit equal to `bit`; -1 if there is none.
template <int bit>
constexpr int64_t GetSFFValue(uint64_t word) {
    const uint64_t wanted = bit == 1 ? word : ~word;
    return wanted == 0 ? -1 : __builtin_ctzll(wanted);
}
template <int bit>
constexpr int64_t ScalarGetSFFValue(uint64_t word) {
    return GetSFFValue<bit>(word);
}
// Number of bits equal to `bit`.
template <int bit>
constexpr int64_t ScalarGetCountOfValue(uint64_t word) {
    return __builtin_popcountll(bit == 1 ? word : ~word);
}
constexpr int64_t ScalarCountLeadingZero(uint64_t word) { return word == 0 ? 64 : __builtin_clzll(word); }

template <class A, class B>
struct IsSameType {
    static constexpr bool value = canopy::kernel::is_same<A, B>;
};
template <bool condition, class Yes, class No>
struct Conditional {
    using type = canopy::kernel::choose<condition, Yes, No>;
};

namespace Std {

template <class T, T number>
struct integral_constant {
    static constexpr T value = number;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return number; }
    constexpr T operator()() const { return number; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <size_t number>
using Int = integral_constant<size_t, number>;

template <class A, class B>
struct is_same : integral_constant<bool, canopy::kernel::is_same<A, B>> {};
template <class A, class B>
using IsSame = is_same<A, B>;
template <class A, class B>
inline constexpr bool is_same_v = canopy::kernel::is_same<A, B>;
template <class T, class... Choices>
inline constexpr bool is_one_of_v = canopy::kernel::is_any_of<T, Choices...>;
template <class Base, class Derived>
struct is_base_of : integral_constant<bool, __is_base_of(Base, Derived)> {};
template <class Base, class Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);
template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);

template <bool condition, class Yes, class No>
struct conditional {
    using type = canopy::kernel::choose<condition, Yes, No>;
};
template <bool condition, class Yes, class No>
using conditional_t = canopy::kernel::choose<condition, Yes, No>;
template <bool condition, class T = void>
using enable_if = canopy::kernel::OnlyIf<condition, T>;
template <bool condition, class T = void>
using enable_if_t = typename canopy::kernel::OnlyIf<condition, T>::type;

template <class T>
struct remove_const {
    using type = T;
};
template <class T>
struct remove_const<const T> {
    using type = T;
};
template <class T>
struct remove_volatile {
    using type = T;
};
template <class T>
struct remove_volatile<volatile T> {
    using type = T;
};
template <class T>
struct remove_cv {
    using type = canopy::kernel::plain<T>;
};
template <class T>
struct remove_reference {
    using type = T;
};
template <class T>
struct remove_reference<T&> {
    using type = T;
};
template <class T>
struct remove_reference<T&&> {
    using type = T;
};
template <class T>
struct remove_pointer {
    using type = T;
};
template <class T>
struct remove_pointer<T*> {
    using type = T;
};
template <class T>
struct remove_pointer<T* const> {
    using type = T;
};
template <class T>
struct add_const {
    using type = const T;
};
template <class T>
struct add_volatile {
    using type = volatile T;
};
template <class T>
struct add_cv {
    using type = const volatile T;
};
template <class T>
struct add_pointer {
    using type = typename remove_reference<T>::type*;
};
template <class T>
struct add_lvalue_reference {
    using type = T&;
};
template <class T>
struct add_rvalue_reference {
    using type = T&&;
};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = canopy::kernel::plain<remove_reference_t<T>>;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using add_const_t = const T;
template <class T>
using add_volatile_t = volatile T;
template <class T>
using add_cv_t = const volatile T;
template <class T>
using add_pointer_t = typename add_pointer<T>::type;
template <class T>
using add_lvalue_reference_t = T&;
template <class T>
using add_rvalue_reference_t = T&&;

template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;
template <class T>
struct is_const : integral_constant<bool, is_const_v<T>> {};
template <class T>
inline constexpr bool is_pointer_v = false;
template <class T>
inline constexpr bool is_pointer_v<T*> = true;
template <class T>
inline constexpr bool is_pointer_v<T* const> = true;
template <class T>
struct is_pointer : integral_constant<bool, is_pointer_v<T>> {};
template <class T>
inline constexpr bool is_reference_v = false;
template <class T>
inline constexpr bool is_reference_v<T&> = true;
template <class T>
inline constexpr bool is_reference_v<T&&> = true;
template <class T>
struct is_reference : integral_constant<bool, is_reference_v<T>> {};
template <class T>
inline constexpr bool is_array_v = false;
template <class T>
inline constexpr bool is_array_v<T[]> = true;
template <class T, size_t size>
inline constexpr bool is_array_v<T[size]> = true;
template <class T>
struct is_array : integral_constant<bool, is_array_v<T>> {};
template <class T>
inline constexpr bool is_void_v = canopy::kernel::is_same<canopy::kernel::plain<T>, void>;
template <class T>
struct is_void : integral_constant<bool, is_void_v<T>> {};
template <class T>
inline constexpr bool is_integral_v =
    canopy::kernel::is_any_of<canopy::kernel::plain<T>, bool, char, signed char, unsigned char, char16_t, char32_t,
                              wchar_t, short, unsigned short, int, unsigned, long, unsigned long, long long,
                              unsigned long long>;
template <class T>
struct is_integral : integral_constant<bool, is_integral_v<T>> {};
template <class T>
inline constexpr bool is_floating_point_v =
    canopy::kernel::is_any_of<canopy::kernel::plain<T>, half, bfloat16_t, float, double, long double>;
template <class T>
struct is_floating_point : integral_constant<bool, is_floating_point_v<T>> {};

template <class T>
constexpr T&& forward(remove_reference_t<T>& value) {
    return static_cast<T&&>(value);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>&& value) {
    return static_cast<T&&>(value);
}
template <class T>
constexpr remove_reference_t<T>&& move(T&& value) {
    return static_cast<remove_reference_t<T>&&>(value);
}
template <class T, class U>
constexpr T min(const T& a, const U& b) {
    return b < a ? static_cast<T>(b) : a;
}
template <class T, class U>
constexpr T max(const T& a, const U& b) {
    return a < b ? static_cast<T>(b) : a;
}
template <class T, class U>
constexpr T ceil_division(T value, U divisor) {
    return static_cast<T>((value + divisor - 1) / divisor);
}
template <class T, class U>
constexpr T ceil_align(T value, U multiple) {
    return static_cast<T>(ceil_division(value, multiple) * multiple);
}

// A tuple as a chain of base classes, one per element.
template <class... Elements>
struct tuple;
template <>
struct tuple<> {};
template <class First, class... Rest>
struct tuple<First, Rest...> : tuple<Rest...> {
    constexpr tuple() = default;
    constexpr tuple(const First& first, const Rest&... rest) : tuple<Rest...>(rest...), element(first) {}
    First element{};
};
template <class... Elements>
tuple(Elements...) -> tuple<Elements...>;

template <size_t index, class Tuple>
struct tuple_element;
template <class First, class... Rest>
struct tuple_element<0, tuple<First, Rest...>> {
    using type = First;
    using whole = tuple<First, Rest...>;
};
template <size_t index, class First, class... Rest>
struct tuple_element<index, tuple<First, Rest...>> : tuple_element<index - 1, tuple<Rest...>> {};
template <size_t index, class Tuple>
using tuple_element_t = typename tuple_element<index, Tuple>::type;

template <class Tuple>
struct tuple_size;
template <class... Elements>
struct tuple_size<tuple<Elements...>> : integral_constant<size_t, sizeof...(Elements)> {};
template <class Tuple>
inline constexpr size_t tuple_size_v = tuple_size<Tuple>::value;

template <class T>
inline constexpr bool is_tuple_v = false;
template <class... Elements>
inline constexpr bool is_tuple_v<tuple<Elements...>> = true;

template <size_t index, class... Elements>
constexpr auto& get(tuple<Elements...>& all) {
    return static_cast<typename tuple_element<index, tuple<Elements...>>::whole&>(all).element;
}
template <size_t index, class... Elements>
constexpr const auto& get(const tuple<Elements...>& all) {
    return static_cast<const typename tuple_element<index, tuple<Elements...>>::whole&>(all).element;
}
template <class... Elements>
constexpr tuple<remove_cvref_t<Elements>...> make_tuple(Elements&&... elements) {
    return {elements...};
}

}  // namespace Std

// One tensor of a list: its address and shape.
template <class T>
class TensorDesc {
public:
    uint64_t GetDim() const { return dimensions_; }
    uint64_t GetIndex() const { return index_; }
    uint64_t GetShape(uint32_t dimension) const { return shape_[dimension]; }
    __gm__ T* GetDataPtr() const { return data_; }
    GlobalTensor<T> GetDataObj() const {
        GlobalTensor<T> tensor;
        uint64_t size = 1;
        for (uint64_t i = 0; i < dimensions_; ++i) size *= shape_[i];
        tensor.SetGlobalBuffer(data_, size);
        return tensor;
    }
    // Sets where GetDesc copies the shape to.
    void SetShapeAddr(uint64_t* shape) { shape_ = shape; }

private:
    friend class ListTensorDesc;
    __gm__ T* data_ = nullptr;
    uint64_t* shape_ = nullptr;
    uint64_t dimensions_ = 0, index_ = 0;
};

// A list of tensors in one block of memory: the byte offset of the addresses; a description of each tensor (its number
// of dimensions and index, then its shape); the addresses.
class ListTensorDesc {
public:
    ListTensorDesc() = default;
    explicit ListTensorDesc(__gm__ void* data, uint32_t = 0xffffffff, uint32_t = 0xffffffff) { Init(data); }
    void Init(__gm__ void* data, uint32_t = 0xffffffff, uint32_t = 0xffffffff) {
        base_ = static_cast<__gm__ unsigned char*>(data);
        uint64_t offset = 0;
        __builtin_memcpy(&offset, base_, sizeof offset);
        addresses_ = reinterpret_cast<__gm__ uint64_t*>(base_ + offset);
        count_ = 0;
        for (__gm__ uint64_t* at = first(); at < addresses_; at = next(at)) ++count_;
    }
    uint32_t GetSize() const { return count_; }
    template <class T>
    __gm__ T* GetDataPtr(uint32_t index) const {
        return reinterpret_cast<__gm__ T*>(addresses_[index]);
    }
    template <class T>
    void GetDesc(TensorDesc<T>& description, uint32_t index) const {
        __gm__ uint64_t* at = first();
        for (uint32_t i = 0; i < index; ++i) at = next(at);
        description.dimensions_ = *at & 0xffffffff;
        description.index_ = index;
        description.data_ = GetDataPtr<T>(index);
        for (uint64_t i = 0; i < description.dimensions_ && description.shape_ != nullptr; ++i)
            description.shape_[i] = at[1 + i];
    }

private:
    __gm__ uint64_t* first() const { return reinterpret_cast<__gm__ uint64_t*>(base_) + 1; }
    __gm__ uint64_t* next(__gm__ uint64_t* at) const { return at + 1 + (*at & 0xffffffff); }

    __gm__ unsigned char* base_ = nullptr;
    __gm__ uint64_t* addresses_ = nullptr;
    uint32_t count_ = 0;
};

}  // namespace AscendC

// Branch hints. A function or macro of the program with the same name takes precedence.
template <class T, class... None>
constexpr bool(likely)(const T& condition, None...) {
    return __builtin_expect(static_cast<bool>(condition), true);
}
template <class T, class... None>
constexpr bool(unlikely)(const T& condition, None...) {
    return __builtin_expect(static_cast<bool>(condition), false);
}

#endif
