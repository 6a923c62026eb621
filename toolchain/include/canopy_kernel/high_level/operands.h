// SPDX-License-Identifier: Apache-2.0
// What the high-level operations on elements share: the checks of their operands and of the temporary buffer, operands
// that are a tensor or one number, and the loop.
#ifndef CANOPY_KERNEL_OPERANDS_H
#define CANOPY_KERNEL_OPERANDS_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/check.h"
#include "canopy_kernel/vector/vector_scalar.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_half_or_float = is_any_of<T, half, float>;
template <class T>
inline constexpr bool is_real = is_half_or_float<T> || (any_type_chip && is_same<T, bfloat16_t>);

// An operand with its name in messages.
template <class T>
struct Named {
    const char* name;
    const LocalTensor<T>& tensor;
};
template <class T>
inline Named<T> named(const char* name, const LocalTensor<T>& tensor) {
    return {name, tensor};
}

// The buffer a caller provides for intermediate values. Nothing is stored in it here.
using Scratch = const LocalTensor<uint8_t>*;

template <class T>
inline void check_filled(const char* operation, const char* name, const LocalTensor<T>& tensor, Where where) {
    if constexpr (checked)
        if (tensor.GetSize() == 0) fail(where, "%s: %s has no elements", operation, name);
}

// Every operand contains `count` elements.
template <class... T>
inline void check_operands(const char* operation, uint64_t count, Where where, const Named<T>&... operands) {
    if constexpr (tests_parameters) {
        (check_filled(operation, operands.name, operands.tensor, where), ...);
        (check_count(operands.tensor, static_cast<int64_t>(count), operation, operands.name, where), ...);
    }
}

template <class T>
inline bool overlaps(const LocalTensor<uint8_t>& scratch, const LocalTensor<T>& tensor) {
    const auto first = reinterpret_cast<uintptr_t>(scratch.GetPhyAddr());
    const auto other = reinterpret_cast<uintptr_t>(tensor.GetPhyAddr());
    return first < other + bytes_of<T>(tensor.GetSize()) && other < first + scratch.GetSize();
}

// The temporary buffer, if there is one, is in UB and apart from the operands.
template <class... T>
inline void check_scratch(const char* operation, Scratch scratch, Where where, const Named<T>&... operands) {
    if constexpr (is_checking_variant)
        if (scratch != nullptr)
            check_vector_operand(operation, "sharedTmpBuffer", *scratch, scratch->GetSize(), where, CANOPY_CHECK_WRITE);
    if constexpr (checked) {
        if (scratch == nullptr) return;
        check_filled(operation, "sharedTmpBuffer", *scratch, where);
        check_place(*scratch, operation, "sharedTmpBuffer", where);
        const auto check = [&](const auto& operand) {
            if (overlaps(*scratch, operand.tensor))
                fail(where, "%s: sharedTmpBuffer overlaps %s", operation, operand.name);
        };
        (check(operands), ...);
    }
}

template <class T>
inline void check_same_size(const char* name, const LocalTensor<T>& src0, const LocalTensor<T>& src1, Where where) {
    if constexpr (checked)
        if (!on_cube_core() && src0.GetSize() != src1.GetSize())
            fail(where, "%s: src0 has %u elements and src1 %u; they must have the same number", name, src0.GetSize(),
                 src1.GetSize());
}
template <class T>
inline void check_nothing(const char*, const LocalTensor<T>&, const LocalTensor<T>&, Where) {}

// Truth values are bytes; an element of type bool would be a bit to the tracer.
template <class T>
using Stored = choose<is_same<T, bool>, uint8_t, T>;

template <class T>
inline Stored<T>* elements_of(const LocalTensor<T>& tensor) {
    return reinterpret_cast<Stored<T>*>(tensor.GetPhyAddr());
}

// dst[i] = operation(src[i]...) for the first `count` elements; nothing on a cube core.
template <class Operation, class D, class... S>
inline void apply(const char* name, const Operation& operation, uint32_t count, Scratch scratch, Where where,
                  const Named<D>& dst, const Named<S>&... src) {
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, name, where);
    check_operands(name, count, where, dst, src...);
    check_scratch(name, scratch, where, dst, src...);
    if (count != 0) compute(uint64_t{count}, operation, elements_of(dst.tensor), elements_of(src.tensor)...);
}

// An operand that is a tensor, or one number for all elements.
template <class T>
struct One {
    Wide<Stored<T>> value;
};
template <class T, class Operand>
inline auto mixed([[maybe_unused]] const char* name, const Operand& operand) {
    if constexpr (is_tensor<Operand>) {
        static_assert(is_same<Operand, LocalTensor<T>>, "tensors of an operation have the same element type");
        return named(name, operand);
    } else {
        return One<T>{scalar_of<Stored<T>>(operand)};
    }
}
template <class T>
inline constexpr bool is_one = false;
template <class T>
inline constexpr bool is_one<One<T>> = true;

// apply() for three sources, of which the last two are tensors or numbers.
template <class Operation, class D, class S, class A, class B>
inline void apply_mixed(const char* name, const Operation& operation, uint32_t count, Where where, const Named<D>& dst,
                        const Named<S>& src, const A& a, const B& b) {
    if constexpr (is_one<A> && is_one<B>)
        apply(
            name, [operation, a, b](auto x) { return operation(x, a.value, b.value); }, count, nullptr, where, dst,
            src);
    else if constexpr (is_one<A>)
        apply(
            name, [operation, a](auto x, auto y) { return operation(x, a.value, y); }, count, nullptr, where, dst, src,
            b);
    else if constexpr (is_one<B>)
        apply(
            name, [operation, b](auto x, auto y) { return operation(x, y, b.value); }, count, nullptr, where, dst, src,
            a);
    else
        apply(name, operation, count, nullptr, where, dst, src, a, b);
}

}  // namespace canopy::kernel

// The forms of an operation with one source: with and without a temporary buffer, for `calCount` elements or all of the
// source. `operation` is an expression; further arguments are template parameters.
#define CANOPY_UNARY_FORMS(Name, operation, ...)                                                                      \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                      \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount, CANOPY_WHERE) {            \
        using namespace canopy::kernel;                                                                               \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");       \
        apply(#Name, operation, calCount, &sharedTmpBuffer, where, named("dst", dstTensor), named("src", srcTensor)); \
    }                                                                                                                 \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                      \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, CANOPY_WHERE) {                                     \
        using namespace canopy::kernel;                                                                               \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");       \
        apply(#Name, operation, srcTensor.GetSize(), &sharedTmpBuffer, where, named("dst", dstTensor),                \
              named("src", srcTensor));                                                                               \
    }                                                                                                                 \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                      \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t calCount,       \
                     CANOPY_WHERE) {                                                                                  \
        using namespace canopy::kernel;                                                                               \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");       \
        apply(#Name, operation, calCount, nullptr, where, named("dst", dstTensor), named("src", srcTensor));          \
    }                                                                                                                 \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                      \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, CANOPY_WHERE) {                \
        using namespace canopy::kernel;                                                                               \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");       \
        apply(#Name, operation, srcTensor.GetSize(), nullptr, where, named("dst", dstTensor),                         \
              named("src", srcTensor));                                                                               \
    }

// The same with two sources. `check` is a function of the name, the sources and the line.
#define CANOPY_BINARY_FORMS(Name, operation, check, ...)                                                               \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                       \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                                \
                     const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer,                    \
                     const uint32_t calCount, CANOPY_WHERE) {                                                          \
        using namespace canopy::kernel;                                                                                \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");        \
        check(#Name, src0Tensor, src1Tensor, where);                                                                   \
        apply(#Name, operation, calCount, &sharedTmpBuffer, where, named("dst", dstTensor), named("src0", src0Tensor), \
              named("src1", src1Tensor));                                                                              \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                       \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                                \
                     const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer, CANOPY_WHERE) {    \
        using namespace canopy::kernel;                                                                                \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");        \
        check(#Name, src0Tensor, src1Tensor, where);                                                                   \
        apply(#Name, operation, src0Tensor.GetSize(), &sharedTmpBuffer, where, named("dst", dstTensor),                \
              named("src0", src0Tensor), named("src1", src1Tensor));                                                   \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                       \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                                \
                     const LocalTensor<T>& src1Tensor, const uint32_t calCount, CANOPY_WHERE) {                        \
        using namespace canopy::kernel;                                                                                \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");        \
        check(#Name, src0Tensor, src1Tensor, where);                                                                   \
        apply(#Name, operation, calCount, nullptr, where, named("dst", dstTensor), named("src0", src0Tensor),          \
              named("src1", src1Tensor));                                                                              \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false __VA_OPT__(, ) __VA_ARGS__>                                       \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                                \
                     const LocalTensor<T>& src1Tensor, CANOPY_WHERE) {                                                 \
        using namespace canopy::kernel;                                                                                \
        static_assert(decltype(operation)::template supports<T>, #Name ": this element type is not supported");        \
        check(#Name, src0Tensor, src1Tensor, where);                                                                   \
        apply(#Name, operation, src0Tensor.GetSize(), nullptr, where, named("dst", dstTensor),                         \
              named("src0", src0Tensor), named("src1", src1Tensor));                                                   \
    }

#endif
