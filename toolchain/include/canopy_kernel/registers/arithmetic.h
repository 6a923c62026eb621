// SPDX-License-Identifier: Apache-2.0
// Element-wise arithmetic on registers: `dst = operation(src...)` in the lanes of the mask. Integers wrap; 16-bit
// floating-point numbers are computed in float and rounded once.
#ifndef CANOPY_KERNEL_REGISTER_ARITHMETIC_H
#define CANOPY_KERNEL_REGISTER_ARITHMETIC_H

#include "canopy_kernel/registers/masks.h"
#include "canopy_kernel/vector/vector_scalar.h"

namespace canopy::kernel::registers {

// The bits of numbers as unsigned integers.
template <class V>
using BitsLike = Lanes<unsigned_of<sizeof(lane_of<V>)>, count_of<V>>;
template <class V>
CANOPY_LANES BitsLike<V> lane_bits(const V& value) {
    return lanes_as<BitsLike<V>>(value);
}

// One number in all lanes, in the arithmetic type of T.
template <class T, class V, class S>
CANOPY_LANES V all_of(const S& scalar) {
    const V result = static_cast<lane_of<V>>(scalar_of<T>(scalar));
    return result;
}

// Whether T is a type that the operation works on.
template <class T>
inline constexpr bool is_number = is_vector_float<T> || is_integer<T>;
template <class T>
inline constexpr bool is_signed_number = is_vector_float<T> || is_signed_integer<T>;

struct LaneAdd {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return a + b;
    }
};
struct LaneSub {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return a - b;
    }
};
struct LaneMul {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return a * b;
    }
};

// A NaN on either side gives NaN; +0 is larger than -0. Where both orders of the comparison agree, they give the same
// bits; zeros of both signs differ in the sign only.
struct LaneMax {
    template <class V>
    V operator()(const V& a, const V& b) const {
        if constexpr (is_same<lane_of<V>, float>) {
            const V x = a > b ? a : b, y = b > a ? b : a;
            const auto invalid = lanes_as<BitsLike<V>>((a != a) | (b != b));
            return lanes_as<V>((lane_bits(x) & lane_bits(y)) | invalid);
        } else {
            return a > b ? a : b;
        }
    }
};
struct LaneMin {
    template <class V>
    V operator()(const V& a, const V& b) const {
        if constexpr (is_same<lane_of<V>, float>) {
            const V x = a < b ? a : b, y = b < a ? b : a;
            return lanes_as<V>(lane_bits(x) | lane_bits(y));
        } else {
            return a < b ? a : b;
        }
    }
};

struct LaneAnd {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return lanes_as<V>(lane_bits(a) & lane_bits(b));
    }
};
struct LaneOr {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return lanes_as<V>(lane_bits(a) | lane_bits(b));
    }
};
struct LaneXor {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return lanes_as<V>(lane_bits(a) ^ lane_bits(b));
    }
};
struct LaneNot {
    template <class V>
    V operator()(const V& a) const {
        return lanes_as<V>(~lane_bits(a));
    }
};

struct LaneAbs {
    template <class V>
    V operator()(const V& a) const {
        if constexpr (is_same<lane_of<V>, float>)
            return lanes_as<V>(lane_bits(a) & 0x7fffffffu);
        else
            return a < 0 ? -a : a;
    }
};
struct LaneNeg {
    template <class V>
    V operator()(const V& a) const {
        return -a;
    }
};
// A NaN stays NaN.
struct LaneRelu {
    template <class V>
    V operator()(const V& a) const {
        const V zero = 0;
        return a <= zero ? zero : a;
    }
};
struct LanePrelu {
    template <class V>
    V operator()(const V& a, const V& slope) const {
        const V zero = 0;
        return a <= zero ? a * slope : a;
    }
};
struct LaneAbsSub {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return LaneAbs{}(a - b);
    }
};
struct LaneSqrt {
    template <class V>
    V operator()(const V& a) const {
        return __builtin_elementwise_sqrt(a);
    }
};
// Products and sums with one rounding.
struct LaneMulAdd {
    template <class V>
    V operator()(const V& a, const V& b, const V& c) const {
        if constexpr (is_same<lane_of<V>, float>)
            return __builtin_elementwise_fma(a, b, c);
        else
            return a * b + c;
    }
};

// By the width of the type or more: 0, or the sign for right shifts of signed types. Left shifts of signed types leave
// the sign bit in place.
struct LaneShiftLeft {
    template <class V, class B>
    V operator()(const V& a, const B& amount) const {
        constexpr uint32_t width = sizeof(lane_of<V>) * 8;
        const auto by = lanes_as<BitsLike<V>>(amount);
        const BitsLike<V> moved = lane_bits(a) << (by & (width - 1));
        const BitsLike<V> shifted = by < width ? moved : BitsLike<V>(0);
        if constexpr (is_signed_integer<lane_of<V>>) {
            constexpr auto sign = static_cast<unsigned_of<sizeof(lane_of<V>)>>(1ull << (width - 1));
            return lanes_as<V>((shifted & static_cast<decltype(sign)>(~sign)) | (lane_bits(a) & sign));
        }
        return lanes_as<V>(shifted);
    }
};
struct LaneShiftRight {
    template <class V, class B>
    V operator()(const V& a, const B& amount) const {
        constexpr uint32_t last = sizeof(lane_of<V>) * 8 - 1;
        const auto by = lanes_as<BitsLike<V>>(amount);
        const BitsLike<V> limited = by < last ? by : BitsLike<V>(last);
        const V shifted = a >> lanes_as<V>(limited);
        if constexpr (is_signed_integer<lane_of<V>>) return shifted;
        return by > last ? V(0) : shifted;
    }
};

// Amounts beyond the width of a byte are all the same.
template <class T, class A>
constexpr unsigned_of<sizeof(T)> shift_amount(A amount) {
    return static_cast<unsigned_of<sizeof(T)>>(amount < 0 || amount > 127 ? 127 : amount);
}

// dst = operation(src...) for registers of one type.
template <MaskMergeMode mode, class Operation, class U, class... S>
CANOPY_LANES void apply(U& dst, const MaskReg& mask, const Operation& operation, const S&... src) {
    write<mode>(dst, compute_lanes<element_type<U>>(operation, read(src)...), mask);
}
template <MaskMergeMode mode, class Operation, class U, class... S>
CANOPY_LANES void apply_in_parts(U& dst, const MaskReg& mask, const Operation& operation, const S&... src) {
    write<mode>(dst, compute_in_parts<element_type<U>>(operation, read(src)...), mask);
}
template <MaskMergeMode mode, class Operation, class U, class... S>
CANOPY_LANES void apply_elements(U& dst, const MaskReg& mask, const Operation& operation, const S&... src) {
    write<mode>(dst, compute_elements<element_type<U>>(operation, read(src)...), mask);
}
// The second operand is one number.
template <MaskMergeMode mode, class Operation, class U, class S>
CANOPY_LANES void apply_one_with_scalar(U& dst, const U& src, const S& scalar, const MaskReg& mask,
                                        const Operation& operation) {
    using T = element_type<U>;
    write<mode>(dst,
                compute_lanes<T>(
                    [&](const auto& part) { return operation(part, all_of<T, plain_type<decltype(part)>>(scalar)); },
                    read(src)),
                mask);
}
template <MaskMergeMode mode, class Operation, class U, class S>
CANOPY_LANES void apply_scalar(U& dst, const U& src, const S& scalar, const MaskReg& mask, const Operation& operation) {
    using T = element_type<U>;
    apply_in_parts<mode>(
        dst, mask, [&](const auto& part) { return operation(part, all_of<T, plain_type<decltype(part)>>(scalar)); },
        src);
}

template <uint32_t n>
CANOPY_LANES ComplexLanes<n> complex_sum(const ComplexLanes<n>& a, const ComplexLanes<n>& b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
}
template <uint32_t n>
CANOPY_LANES ComplexLanes<n> complex_difference(const ComplexLanes<n>& a, const ComplexLanes<n>& b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
}
template <uint32_t n>
CANOPY_LANES ComplexLanes<n> complex_product(const ComplexLanes<n>& a, const ComplexLanes<n>& b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
// Divided by the larger part of the divisor first, so that squares do not overflow.
template <uint32_t n>
CANOPY_LANES ComplexLanes<n> complex_quotient(const ComplexLanes<n>& a, const ComplexLanes<n>& b) {
    using V = Lanes<float, n>;
    const auto real_larger = LaneAbs{}(b.real) >= LaneAbs{}(b.imaginary);
    const V large = real_larger ? b.real : b.imaginary, small = real_larger ? b.imaginary : b.real;
    const V ratio = small / large, divisor = large + small * ratio;
    const V ac = real_larger ? a.real : a.imaginary, bd = real_larger ? a.imaginary : a.real;
    const V imaginary = bd - ac * ratio;
    return {(ac + bd * ratio) / divisor, (real_larger ? imaginary : -imaginary) / divisor};
}
template <class T, uint32_t n, class S>
CANOPY_LANES ComplexLanes<n> complex_all(const S& scalar) {
    if constexpr (is_complex<S>)
        return {Lanes<float, n>(static_cast<float>(scalar.real)), Lanes<float, n>(static_cast<float>(scalar.imag))};
    else
        return {Lanes<float, n>(static_cast<float>(scalar)), Lanes<float, n>(0.0f)};
}

}  // namespace canopy::kernel::registers

namespace AscendC::Reg {

#define CANOPY_CHECK_ELEMENT(Name, condition)                            \
    using E = canopy::kernel::registers::element_type<U>;                \
    static_assert(canopy::kernel::registers::names_element<T, U>,        \
                  #Name ": T is not the element type of the registers"); \
    static_assert(condition, #Name ": this element type is not supported");

// Names with complex numbers.
#define CANOPY_REGISTER_COMPLEX(Name, Operation, complex_operation)                                               \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,                  \
              CANOPY_IF_REGISTER(U)>                                                                              \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {                  \
        CANOPY_CHECK_ELEMENT(Name,                                                                                \
                             canopy::kernel::registers::is_number<E> || canopy::kernel::registers::is_complex<E>) \
        if constexpr (canopy::kernel::registers::is_complex<E>)                                                   \
            canopy::kernel::registers::write_complex<mode>(                                                       \
                dstReg,                                                                                           \
                canopy::kernel::registers::complex_operation(canopy::kernel::registers::read_complex(srcReg0),    \
                                                             canopy::kernel::registers::read_complex(srcReg1)),   \
                mask);                                                                                            \
        else                                                                                                      \
            canopy::kernel::registers::apply<mode>(dstReg, mask, canopy::kernel::registers::Operation{}, srcReg0, \
                                                   srcReg1);                                                      \
    }
#define CANOPY_REGISTER_SCALAR_COMPLEX(Name, Operation, complex_operation)                                             \
    template <typename T = DefaultType, typename S, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>           \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg, S scalarValue, const MaskReg& mask) {                           \
        CANOPY_CHECK_ELEMENT(Name,                                                                                     \
                             canopy::kernel::registers::is_number<E> || canopy::kernel::registers::is_complex<E>)      \
        if constexpr (canopy::kernel::registers::is_complex<E>)                                                        \
            canopy::kernel::registers::write_complex<mode>(                                                            \
                dstReg,                                                                                                \
                canopy::kernel::registers::complex_operation(                                                          \
                    canopy::kernel::registers::read_complex(srcReg),                                                   \
                    canopy::kernel::registers::complex_all<E, canopy::kernel::registers::lane_count<U>>(scalarValue)), \
                mask);                                                                                                 \
        else                                                                                                           \
            canopy::kernel::registers::apply_one_with_scalar<mode>(dstReg, srcReg, scalarValue, mask,                  \
                                                                   canopy::kernel::registers::Operation{});            \
    }
CANOPY_REGISTER_COMPLEX(Add, LaneAdd, complex_sum)
CANOPY_REGISTER_COMPLEX(Sub, LaneSub, complex_difference)
CANOPY_REGISTER_COMPLEX(Mul, LaneMul, complex_product)
CANOPY_REGISTER_SCALAR_COMPLEX(Adds, LaneAdd, complex_sum)
CANOPY_REGISTER_SCALAR_COMPLEX(Muls, LaneMul, complex_product)
#undef CANOPY_REGISTER_COMPLEX
#undef CANOPY_REGISTER_SCALAR_COMPLEX

#define CANOPY_REGISTER_BINARY(Name, engine, Operation, condition)                                             \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,               \
              CANOPY_IF_REGISTER(U)>                                                                           \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {               \
        CANOPY_CHECK_ELEMENT(Name, canopy::kernel::registers::condition<E>)                                    \
        canopy::kernel::registers::engine<mode>(dstReg, mask, canopy::kernel::registers::Operation{}, srcReg0, \
                                                srcReg1);                                                      \
    }
#define CANOPY_REGISTER_UNARY(Name, engine, Operation, condition)                                              \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,               \
              CANOPY_IF_REGISTER(U)>                                                                           \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg, const MaskReg& mask) {                                  \
        CANOPY_CHECK_ELEMENT(Name, canopy::kernel::registers::condition<E>)                                    \
        canopy::kernel::registers::engine<mode>(dstReg, mask, canopy::kernel::registers::Operation{}, srcReg); \
    }
#define CANOPY_REGISTER_SCALAR(Name, Operation, condition)                                                   \
    template <typename T = DefaultType, typename S, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U> \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg, S scalarValue, const MaskReg& mask) {                 \
        CANOPY_CHECK_ELEMENT(Name, canopy::kernel::registers::condition<E>)                                  \
        canopy::kernel::registers::apply_scalar<mode>(dstReg, srcReg, scalarValue, mask,                     \
                                                      canopy::kernel::registers::Operation{});               \
    }

CANOPY_REGISTER_BINARY(Max, apply_in_parts, LaneMax, is_number)
CANOPY_REGISTER_BINARY(Min, apply_in_parts, LaneMin, is_number)
CANOPY_REGISTER_BINARY(Prelu, apply_in_parts, LanePrelu, is_vector_float)
CANOPY_REGISTER_BINARY(AbsSub, apply_in_parts, LaneAbsSub, is_signed_number)
CANOPY_REGISTER_UNARY(Neg, apply, LaneNeg, is_signed_number)
CANOPY_REGISTER_UNARY(Relu, apply_in_parts, LaneRelu, is_signed_number)
CANOPY_REGISTER_SCALAR(Maxs, LaneMax, is_number)
CANOPY_REGISTER_SCALAR(Mins, LaneMin, is_number)
CANOPY_REGISTER_SCALAR(LeakyRelu, LanePrelu, is_vector_float)

// On the bits of any type.
#define CANOPY_REGISTER_BITS(Name, Operation)                                                    \
    template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, \
              CANOPY_IF_REGISTER(U)>                                                             \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) { \
        CANOPY_CHECK_ELEMENT(Name, sizeof(E) != 0)                                               \
        canopy::kernel::registers::write<mode>(                                                  \
            dstReg,                                                                              \
            canopy::kernel::registers::Operation{}(canopy::kernel::registers::read(srcReg0),     \
                                                   canopy::kernel::registers::read(srcReg1)),    \
            mask);                                                                               \
    }
CANOPY_REGISTER_BITS(And, LaneAnd)
CANOPY_REGISTER_BITS(Or, LaneOr)
CANOPY_REGISTER_BITS(Xor, LaneXor)
#undef CANOPY_REGISTER_BITS
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Not(U& dstReg, const U& srcReg, const MaskReg& mask) {
    CANOPY_CHECK_ELEMENT(Not, sizeof(E) != 0)
    canopy::kernel::registers::write<mode>(
        dstReg, canopy::kernel::registers::LaneNot{}(canopy::kernel::registers::read(srcReg)), mask);
}

template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, CANOPY_IF_REGISTER(U)>
CANOPY_LANES void Abs(U& dstReg, const U& srcReg, const MaskReg& mask) {
    CANOPY_CHECK_ELEMENT(Abs, canopy::kernel::registers::is_signed_number<E>)
    canopy::kernel::registers::apply_in_parts<mode>(dstReg, mask, canopy::kernel::registers::LaneAbs{}, srcReg);
}
// The modulus of complex numbers, as the type of their parts.
template <typename T = DefaultType, typename U = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename S,
          typename V,
          class = canopy::kernel::registers::only_if<
              canopy::kernel::registers::is_complex<canopy::kernel::registers::element_type<V>>>>
CANOPY_LANES void Abs(S& dstReg, const V& srcReg, const MaskReg& mask) {
    using namespace canopy::kernel::registers;
    using Part = part_type<element_type<V>>;
    static_assert(is_same<element_type<S>, Part>, "Abs: the modulus of complex32 is half, that of complex64 is float");
    constexpr uint32_t n = lane_count<V>;
    const auto value = read_complex(srcReg);
    const auto size = narrow_lanes<Part>(map_lanes<float>(
        [](float real, float imaginary) {
            const double a = real, b = imaginary;
            return static_cast<float>(math::square_root(a * a + b * b));
        },
        value.real, value.imaginary));
    Lanes<LaneElement<Part>> result = 0;
    if constexpr (n == lane_count<S>)
        result = size;
    else
        result = joined(size, Lanes<LaneElement<Part>, n>(0));
    write<mode>(dstReg, result, mask);
}

// dst = src0 * src1 + dst; dst = dst * src0 + src1; dst = src * scalar + dst.
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>
CANOPY_LANES void MulAddDst(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    CANOPY_CHECK_ELEMENT(MulAddDst, canopy::kernel::registers::is_number<E>)
    canopy::kernel::registers::apply<mode>(dstReg, mask, canopy::kernel::registers::LaneMulAdd{}, srcReg0, srcReg1,
                                           dstReg);
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>
CANOPY_LANES void MulDstAdd(U& dstReg, const U& srcReg0, const U& srcReg1, const MaskReg& mask) {
    CANOPY_CHECK_ELEMENT(MulDstAdd, canopy::kernel::registers::is_number<E>)
    canopy::kernel::registers::apply<mode>(dstReg, mask, canopy::kernel::registers::LaneMulAdd{}, dstReg, srcReg0,
                                           srcReg1);
}
template <typename T = DefaultType, typename S, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>
CANOPY_LANES void Axpy(U& dstReg, const U& srcReg, const S scalarValue, const MaskReg& mask) {
    CANOPY_CHECK_ELEMENT(Axpy, canopy::kernel::registers::is_number<E>)
    canopy::kernel::registers::apply_in_parts<mode>(
        dstReg, mask,
        [&](const auto& x, const auto& old) {
            using V = canopy::kernel::registers::plain_type<decltype(x)>;
            return canopy::kernel::registers::LaneMulAdd{}(x, canopy::kernel::registers::all_of<E, V>(scalarValue),
                                                           old);
        },
        srcReg, dstReg);
}

// The amounts are integers of the same width.
#define CANOPY_REGISTER_SHIFT(Name, Operation)                                                                         \
    template <typename T = DefaultType, typename A = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING,         \
              typename U, typename V, CANOPY_IF_REGISTER(V)>                                                           \
    CANOPY_LANES void Name(U& dstReg, const U& srcReg0, const V& srcReg1, const MaskReg& mask) {                       \
        CANOPY_CHECK_ELEMENT(Name, canopy::kernel::registers::is_integer<E>)                                           \
        static_assert(sizeof(canopy::kernel::registers::element_type<V>) == sizeof(E),                                 \
                      #Name ": amounts have the width of values");                                                     \
        canopy::kernel::registers::apply_in_parts<mode>(dstReg, mask, canopy::kernel::registers::Operation{}, srcReg0, \
                                                        srcReg1);                                                      \
    }                                                                                                                  \
    template <typename T = DefaultType, typename A, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U>           \
    CANOPY_LANES void Name##s(U& dstReg, const U& srcReg, A scalarValue, const MaskReg& mask) {                        \
        CANOPY_CHECK_ELEMENT(Name##s, canopy::kernel::registers::is_integer<E>)                                        \
        canopy::kernel::registers::apply_in_parts<mode>(                                                               \
            dstReg, mask,                                                                                              \
            [&](const auto& part) {                                                                                    \
                using Amounts =                                                                                        \
                    canopy::kernel::registers::BitsLike<canopy::kernel::registers::plain_type<decltype(part)>>;        \
                return canopy::kernel::registers::Operation{}(                                                         \
                    part, Amounts(canopy::kernel::registers::shift_amount<E>(scalarValue)));                           \
            },                                                                                                         \
            srcReg);                                                                                                   \
    }
CANOPY_REGISTER_SHIFT(ShiftLeft, LaneShiftLeft)
CANOPY_REGISTER_SHIFT(ShiftRight, LaneShiftRight)
#undef CANOPY_REGISTER_SHIFT

#undef CANOPY_REGISTER_BINARY
#undef CANOPY_REGISTER_SCALAR

}  // namespace AscendC::Reg

#endif
