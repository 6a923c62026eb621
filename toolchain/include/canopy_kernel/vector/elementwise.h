// SPDX-License-Identifier: Apache-2.0
// Shared by all element-wise operations: the loop, the walk with masks and strides, and the checks. An operation is a
// small object with `supports<T>` and a call operator on its widened operands.
#ifndef CANOPY_KERNEL_ELEMENTWISE_H
#define CANOPY_KERNEL_ELEMENTWISE_H

#include "canopy_kernel/copy/inlet.h"
#include "canopy_kernel/core/check.h"
#include "canopy_kernel/core/math.h"

namespace canopy::kernel {

// Chips whose vector unit supports nearly every type.
inline constexpr bool any_type_chip = __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 5102;

template <class T>
inline constexpr bool is_signed_integer = is_any_of<T, int8_t, int16_t, int32_t, int64_t>;
template <class T>
inline constexpr bool is_unsigned_integer = is_any_of<T, uint8_t, uint16_t, uint32_t, uint64_t>;
template <class T>
inline constexpr bool is_integer = is_signed_integer<T> || is_unsigned_integer<T>;
template <class T>
inline constexpr bool is_vector_float = is_any_of<T, half, bfloat16_t, float>;

// The types with arithmetic on every chip, and those that these chips add.
template <class T>
inline constexpr bool is_classic = is_any_of<T, half, float, int16_t, int32_t>;
template <class T>
inline constexpr bool is_arithmetic = is_classic<T> || (any_type_chip && (is_integer<T> || is_same<T, bfloat16_t>));
template <class T>
inline constexpr bool is_bitwise = is_any_of<T, int8_t, uint8_t, int16_t, uint16_t> || (any_type_chip && is_integer<T>);

// Integers compute modulo a power of two; this is the type used for it.
template <class T>
using Modular = choose<is_floating<T>, T, choose<sizeof(T) == 8, uint64_t, uint32_t>>;

struct OperationRule {
    template <class Operation, class A>
    static auto element(const Operation& operation, const A* a, const NoElement*, const NoElement*, uint32_t zero) {
        return operation(widen(*a, zero));
    }
    template <class Operation, class A, class B>
    static auto element(const Operation& operation, const A* a, const B* b, const NoElement*, uint32_t zero) {
        return operation(widen(*a, zero), widen(*b, zero));
    }
    template <class Operation, class A, class B, class C>
    static auto element(const Operation& operation, const A* a, const B* b, const C* c, uint32_t zero) {
        return operation(widen(*a, zero), widen(*b, zero), widen(*c, zero));
    }
};

// The same, with the result narrowed to the destination's type.
template <class D>
struct NarrowRule {
    template <class Operation, class A, class B, class C>
    static D element(const Operation& operation, const A* a, const B* b, const C* c, uint32_t zero) {
        return narrow<D>(OperationRule::element(operation, a, b, c, zero));
    }
};

// An operation on half that only changes bits has `on_bits`, which takes and returns a signed 16-bit integer.
template <class Operation, class = void>
inline constexpr bool has_bits = false;
template <class Operation>
inline constexpr bool has_bits<Operation, decltype(static_cast<void>(Operation{}.on_bits(int16_t{})))> = true;

template <class D, class Operation, class... S>
inline void compute(uint64_t count, const Operation& operation, D* d, const S*... s) {
    if constexpr (is_tracing_variant) return trace_compute<NarrowRule<D>>(count, operation, d, s...);
    ask_ahead(bytes_of<D>(count));
    if constexpr (has_bits<Operation> && is_same<D, half>) {
        return for_each_lane<false>(count, [&](uint64_t i) CANOPY_ALWAYS {
            d[i] = bits_as<half>(operation.on_bits(bits_as<int16_t>(s[i])...));
        });
    }
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    for_each_lane<is_same<D, half> || (is_same<S, half> || ...)>(
        count, [&](uint64_t i) CANOPY_ALWAYS { d[i] = narrow<D>(operation(widen(s[i], zero)...)); });
}

// The count form: all operands are contiguous, and no mask is read.
template <class Operation, class D, class... S>
inline void compute_count(const Operation& operation, int64_t count, const LocalTensor<D>& dst,
                          const LocalTensor<S>&... src) {
    if (count > 0) compute(static_cast<uint64_t>(count), operation, dst.GetPhyAddr(), src.GetPhyAddr()...);
}

// The form with mask, repeats and strides.
template <class Operation, class D, class... S>
inline void compute_strided(const Operation& operation, const Selection& selection, const Strided<D>& dst,
                            const Strided<const S>&... src) {
    write_runs(
        selection, [operation](uint64_t count, D* d, const S*... s) { compute(count, operation, d, s...); }, dst,
        src...);
}

}  // namespace canopy::kernel

// The last parameter of every public function: the user's line.
#define CANOPY_WHERE canopy::kernel::Where where = canopy::kernel::here()

#endif
