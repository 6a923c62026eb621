// SPDX-License-Identifier: Apache-2.0
// Vector operations between a tensor and one number. The number is a scalar of the program or the first element of a
// tensor; for operations that take a BinaryConfig it may be on either side.
#ifndef CANOPY_KERNEL_VECTOR_SCALAR_H
#define CANOPY_KERNEL_VECTOR_SCALAR_H

#include "canopy_kernel/vector/vector_binary.h"
#include "canopy_kernel/vector/vector_unary.h"

namespace AscendC {

// Which of two tensors is used as one number: 0 the left one, 1 the right one.
struct BinaryConfig {
    int8_t scalarTensorIndex = 1;
};
inline constexpr BinaryConfig DEFAULT_BINARY_CONFIG = {1};

struct BinaryDefaultType {};

}  // namespace AscendC

namespace canopy::kernel {

// The number for element type T: a scalar as it is, or the first element of a tensor.
template <class T, class Value>
inline Wide<T> number_of(const Value& value) {
    [[maybe_unused]] const Untold untold;
    if constexpr (is_tensor<Value>)
        return scalar_of<T>(value.GetValue(0));
    else
        return scalar_of<T>(value);
}

template <class Operation, class W>
struct WithRight {
    W number;
    W operator()(W x) const { return Operation{}(x, number); }
};

template <class Operation, class W>
struct WithLeft {
    W number;
    W operator()(W x) const { return Operation{}(number, x); }
};

// Passes the tensor, the operation of (src0, src1) and the operand with its number to `act`.
template <class Operation, class T, class A, class B, class Act>
inline void split_operands(const A& src0, const B& src1, int8_t scalar_index, const Act& act) {
    static_assert(is_tensor<A> || is_tensor<B>, "one operand must be a tensor");
    if constexpr (!is_tensor<B>) {
        act(src0, WithRight<Operation, Wide<T>>{number_of<T>(src1)}, src1);
    } else if constexpr (!is_tensor<A>) {
        act(src1, WithLeft<Operation, Wide<T>>{number_of<T>(src0)}, src0);
    } else {
        if (scalar_index == 0)
            act(src1, WithLeft<Operation, Wide<T>>{number_of<T>(src0)}, src0);
        else
            act(src0, WithRight<Operation, Wide<T>>{number_of<T>(src1)}, src1);
    }
}

struct LeakyReluOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, half, float> || (any_type_chip && is_same<T, bfloat16_t>);
    template <class T>
    T operator()(T x, T slope) const {
        return x <= T(0) ? x * slope : x;
    }
};

template <class T>
inline constexpr bool is_shiftable = is_any_of<T, int16_t, uint16_t, int32_t, uint32_t> ||
                                     (any_type_chip && is_integer<T>);

// Shifts by the width of the type or more give 0; right shifts of signed types give the sign.
struct ShiftLeftOperation {
    template <class T>
    static constexpr bool supports = is_shiftable<T>;
    template <class T, class U>
    T operator()(T x, U distance) const {
        constexpr auto width = static_cast<uint64_t>(sizeof(T) * 8);
        const auto by = static_cast<uint64_t>(distance);
        const auto shifted = static_cast<T>(static_cast<Modular<T>>(x) << (by & (width - 1)));
        return by >= width ? T(0) : shifted;
    }
};

struct ShiftRightOperation {
    bool round = false;

    template <class T>
    static constexpr bool supports = is_shiftable<T>;
    template <class T, class U>
    T operator()(T x, U distance) const {
        constexpr auto last = static_cast<uint64_t>(sizeof(T) * 8 - 1);
        const auto asked = static_cast<uint64_t>(distance);
        const bool beyond = asked > last;
        const auto by = beyond ? last : asked;
        T shifted = static_cast<T>(x >> by);
        if (is_unsigned_integer<T> && beyond) shifted = T(0);
        if (!round) return shifted;
        const bool carry = asked != 0 && asked <= last + 1 && ((x >> ((asked - 1) & last)) & 1) != 0;
        return static_cast<T>(shifted + (carry ? 1 : 0));
    }
};

template <class Operation, class T>
struct ShiftBy {
    Operation operation;
    uint64_t distance;
    T operator()(T x) const { return operation(x, distance); }
};

template <class Value>
inline uint64_t distance_of(const Value& value) {
    if constexpr (is_tensor<Value>)
        return static_cast<uint64_t>(value.GetValue(0));
    else
        return static_cast<uint64_t>(value);
}

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_SCALAR_FORM(Name, Operation_, MaskType)                                                                 \
    template <class T0 = BinaryDefaultType, bool isSetMask = true, const BinaryConfig& config = DEFAULT_BINARY_CONFIG, \
              class T, class A, class B>                                                                               \
    inline void Name(const LocalTensor<T>& dst, const A& src0, const B& src1, MaskType mask, const uint8_t repeatTime, \
                     const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {                                            \
        using Operation = canopy::kernel::Operation_;                                                                  \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");              \
        canopy::kernel::split_operands<Operation, T>(                                                                  \
            src0, src1, config.scalarTensorIndex,                                                                      \
            [&](const LocalTensor<T>& src, const auto& operation, const auto& number) {                                \
                canopy::kernel::unary_masked<isSetMask>(#Name, dst, src, mask, repeatTime, repeatParams, operation,    \
                                                        where, number);                                                \
            });                                                                                                        \
    }

#define CANOPY_SCALAR(Name, Operation_)                                                                                \
    template <class T0 = BinaryDefaultType, bool isSetMask = true, const BinaryConfig& config = DEFAULT_BINARY_CONFIG, \
              class T, class A, class B>                                                                               \
    inline void Name(const LocalTensor<T>& dst, const A& src0, const B& src1, const int32_t& count, CANOPY_WHERE) {    \
        using Operation = canopy::kernel::Operation_;                                                                  \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");              \
        canopy::kernel::split_operands<Operation, T>(                                                                  \
            src0, src1, config.scalarTensorIndex,                                                                      \
            [&](const LocalTensor<T>& src, const auto& operation, const auto& number) {                                \
                canopy::kernel::unary_counted(#Name, dst, src, count, operation, where, number);                       \
            });                                                                                                        \
    }                                                                                                                  \
    CANOPY_SCALAR_FORM(Name, Operation_, const uint64_t*)                                                              \
    CANOPY_SCALAR_FORM(Name, Operation_, uint64_t)

CANOPY_SCALAR(Adds, AddOperation)
CANOPY_SCALAR(Subs, SubOperation)
CANOPY_SCALAR(Muls, MulOperation)
CANOPY_SCALAR(Divs, DivOperation)
CANOPY_SCALAR(Maxs, MaxOperation)
CANOPY_SCALAR(Mins, MinOperation)
CANOPY_SCALAR(Ands, AndOperation)
CANOPY_SCALAR(Ors, OrOperation)
CANOPY_SCALAR(LeakyRelu, LeakyReluOperation)

#undef CANOPY_SCALAR
#undef CANOPY_SCALAR_FORM

// Shifts. The distance is a number, or, for the forms with a second tensor, one per element.
#define CANOPY_SHIFT(Name)                                                                                          \
    template <class T, bool isSetMask = true, class Distance,                                                       \
              class = canopy::kernel::only_if<!canopy::kernel::is_tensor<Distance>>>                                \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Distance& scalarValue,             \
                     const int32_t& count, CANOPY_WHERE) {                                                          \
        using Operation = canopy::kernel::Name##Operation;                                                          \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");           \
        const canopy::kernel::ShiftBy<Operation, T> shift{{}, canopy::kernel::distance_of(scalarValue)};            \
        canopy::kernel::unary_counted(#Name, dst, src, count, shift, where);                                        \
    }                                                                                                               \
    template <class T, bool isSetMask = true, class U>                                                              \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1,             \
                     const int32_t& count, CANOPY_WHERE) {                                                          \
        using Operation = canopy::kernel::Name##Operation;                                                          \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");           \
        static_assert(sizeof(U) == sizeof(T), #Name ": distances have the width of the elements");                  \
        canopy::kernel::binary_counted(#Name, dst, src0, src1, count, Operation{}, where);                          \
    }                                                                                                               \
    template <class T, bool isSetMask = true, class U, class Mask>                                                  \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1, Mask mask,  \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {              \
        using Operation = canopy::kernel::Name##Operation;                                                          \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");           \
        static_assert(sizeof(U) == sizeof(T), #Name ": distances have the width of the elements");                  \
        canopy::kernel::binary_masked<isSetMask>(#Name, dst, src0, src1, canopy::kernel::mask_of(mask), repeatTime, \
                                                 repeatParams, Operation{}, where);                                 \
    }

CANOPY_SHIFT(ShiftLeft)
CANOPY_SHIFT(ShiftRight)

#undef CANOPY_SHIFT

template <class T, bool isSetMask = true, class Distance, class Mask,
          class = canopy::kernel::only_if<!canopy::kernel::is_tensor<Distance>>>
inline void ShiftLeft(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Distance& scalarValue, Mask mask,
                      const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {
    using Operation = canopy::kernel::ShiftLeftOperation;
    static_assert(Operation::supports<T>, "ShiftLeft: this element type is not supported on this chip");
    const canopy::kernel::ShiftBy<Operation, T> shift{{}, canopy::kernel::distance_of(scalarValue)};
    canopy::kernel::unary_masked<isSetMask>("ShiftLeft", dst, src, canopy::kernel::mask_of(mask), repeatTime,
                                            repeatParams, shift, where);
}

// roundEn adds the last bit that is shifted out.
template <class T, bool isSetMask = true, class Distance, class Mask,
          class = canopy::kernel::only_if<!canopy::kernel::is_tensor<Distance>>>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Distance& scalarValue, Mask mask,
                       const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                       CANOPY_WHERE) {
    using Operation = canopy::kernel::ShiftRightOperation;
    static_assert(Operation::supports<T>, "ShiftRight: this element type is not supported on this chip");
    const canopy::kernel::ShiftBy<Operation, T> shift{{roundEn}, canopy::kernel::distance_of(scalarValue)};
    canopy::kernel::unary_masked<isSetMask>("ShiftRight", dst, src, canopy::kernel::mask_of(mask), repeatTime,
                                            repeatParams, shift, where);
}

}  // namespace AscendC

#endif
