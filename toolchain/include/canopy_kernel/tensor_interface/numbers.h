// SPDX-License-Identifier: Apache-2.0
// Numbers of AscendC::Te, which are constants (Std::Int<n>) or values, and trees of them: nested Std::tuples. A result
// is a constant if its operands are; otherwise it is computed as a 64-bit integer, so that offsets do not overflow.
#ifndef CANOPY_KERNEL_TENSOR_NUMBERS_H
#define CANOPY_KERNEL_TENSOR_NUMBERS_H

#include "canopy_kernel/core/utility.h"

namespace AscendC::Std {

struct ignore_t {};

#define CANOPY_CONSTANT_OPERATOR(operation)                                                                \
    template <class T, T left, class U, U right>                                                           \
    constexpr auto operator operation(integral_constant<T, left>, integral_constant<U, right>) {           \
        return Int<static_cast<size_t>(static_cast<size_t>(left) operation static_cast<size_t>(right))>{}; \
    }
CANOPY_CONSTANT_OPERATOR(+)
CANOPY_CONSTANT_OPERATOR(-)
CANOPY_CONSTANT_OPERATOR(*)
CANOPY_CONSTANT_OPERATOR(/)
CANOPY_CONSTANT_OPERATOR(%)
#undef CANOPY_CONSTANT_OPERATOR

}  // namespace AscendC::Std

namespace AscendC::Te {

using _0 = Std::Int<0>;
using _1 = Std::Int<1>;
using _2 = Std::Int<2>;
using _3 = Std::Int<3>;
using _4 = Std::Int<4>;
using _5 = Std::Int<5>;
using _6 = Std::Int<6>;
using _7 = Std::Int<7>;
using _8 = Std::Int<8>;
using _9 = Std::Int<9>;
using _10 = Std::Int<10>;
using _16 = Std::Int<16>;
using _24 = Std::Int<24>;
using _32 = Std::Int<32>;
using _64 = Std::Int<64>;
using _128 = Std::Int<128>;
using _256 = Std::Int<256>;
using _512 = Std::Int<512>;
using _1024 = Std::Int<1024>;
using _2048 = Std::Int<2048>;
using _4096 = Std::Int<4096>;

}  // namespace AscendC::Te

namespace canopy::kernel::te {

namespace Std = AscendC::Std;

template <class T>
inline constexpr bool is_tuple = Std::is_tuple_v<Std::remove_cvref_t<T>>;

template <class T>
inline constexpr bool is_constant = false;
template <class T, T value>
inline constexpr bool is_constant<Std::integral_constant<T, value>> = true;

template <class... T>
inline constexpr bool are_constant = (is_constant<T> && ...);

// Arithmetic on numbers, by the rule above.
#define CANOPY_NUMBER_FUNCTION(name, expression)                \
    template <class A, class B>                                 \
    constexpr auto name(const A& first, const B& second) {      \
        if constexpr (are_constant<A, B>) {                     \
            constexpr int64_t a = A::value, b = B::value;       \
            return Std::Int<static_cast<size_t>(expression)>{}; \
        } else {                                                \
            const int64_t a = static_cast<int64_t>(first);      \
            const int64_t b = static_cast<int64_t>(second);     \
            return static_cast<int64_t>(expression);            \
        }                                                       \
    }
CANOPY_NUMBER_FUNCTION(sum_of, a + b)
CANOPY_NUMBER_FUNCTION(difference_of, a - b)
CANOPY_NUMBER_FUNCTION(product_of, a* b)
CANOPY_NUMBER_FUNCTION(quotient_of, a / b)
CANOPY_NUMBER_FUNCTION(remainder_of, a % b)
CANOPY_NUMBER_FUNCTION(quotient_up, (a + b - 1) / b)
CANOPY_NUMBER_FUNCTION(aligned_up, (a + b - 1) / b * b)
CANOPY_NUMBER_FUNCTION(larger_of, a < b ? b : a)
CANOPY_NUMBER_FUNCTION(smaller_of, a < b ? a : b)
#undef CANOPY_NUMBER_FUNCTION

// The part of a tree that a path of indices leads to.
template <size_t... path>
struct Path {
    template <class T>
    static constexpr T of(const T& tree) {
        return tree;
    }
};
template <size_t first, size_t... rest>
struct Path<first, rest...> {
    template <class T>
    static constexpr auto of(const T& tree) {
        static_assert(is_tuple<T>, "this index leads below a number of the tuple");
        return Path<rest...>::of(Std::get<first>(tree));
    }
};

// Combines all numbers of a tree, from left to right.
template <size_t at = 0, class T, class Result, class Function>
constexpr auto fold(const T& tree, const Result& result, const Function& function) {
    if constexpr (!is_tuple<T>)
        return function(result, tree);
    else if constexpr (at == Std::tuple_size_v<T>)
        return result;
    else
        return fold<at + 1>(tree, fold(Std::get<at>(tree), result, function), function);
}
// The same for two trees of one structure.
template <size_t at = 0, class T, class U, class Result, class Function>
constexpr auto fold(const T& left, const U& right, const Result& result, const Function& function) {
    static_assert(is_tuple<T> == is_tuple<U>, "shape and stride must be nested in the same way");
    if constexpr (!is_tuple<T>)
        return function(result, left, right);
    else if constexpr (at == Std::tuple_size_v<T>)
        return result;
    else
        return fold<at + 1>(left, right, fold(Std::get<at>(left), Std::get<at>(right), result, function), function);
}

template <class T>
constexpr auto product_of_all(const T& tree) {
    return fold(tree, Std::Int<1>{}, [](const auto& a, const auto& b) { return product_of(a, b); });
}

template <class T>
struct Leaves {
    static constexpr size_t count = 1;
};
template <class... T>
struct Leaves<Std::tuple<T...>> {
    static constexpr size_t count = (Leaves<T>::count + ... + 0);
};

template <class T>
inline constexpr size_t rank_of = 1;
template <class... T>
inline constexpr size_t rank_of<Std::tuple<T...>> = sizeof...(T);

// Builds a tuple from function(Int<0>) ... function(Int<count - 1>).
template <class Function, size_t... index>
constexpr auto tuple_of_indices(const Function& function, std::index_sequence<index...>) {
    return Std::make_tuple(function(Std::Int<index>{})...);
}
template <size_t count, class Function>
constexpr auto tuple_of(const Function& function) {
    return tuple_of_indices(function, std::make_index_sequence<count>{});
}

}  // namespace canopy::kernel::te

#endif
