// SPDX-License-Identifier: Apache-2.0
// Shared by quantisation and its reverse: which elements of a matrix share a scale and an offset, and the loop over
// stretches of a row that use one pair of numbers, or a pair for each column.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_QUANTIZATION_ROWS_H
#define CANOPY_KERNEL_HIGH_LEVEL_QUANTIZATION_ROWS_H

#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/convert.h"

namespace canopy::kernel {

// What one scale is for. The order is that of the policies in the interface.
enum class Sharing : int32_t { tensor, channel, token, group, group_of_rows, group_of_columns };

// Groups run along the axis `k_dim`: 0 for rows, 1 for columns.
constexpr Sharing sharing_of(int32_t policy, int32_t k_dim) {
    const auto sharing = static_cast<Sharing>(policy);
    if (sharing != Sharing::group) return sharing;
    return k_dim == 0 ? Sharing::group_of_rows : Sharing::group_of_columns;
}

struct QuantizedShape {
    uint64_t count;  // of all elements; the last row may be incomplete
    uint64_t columns;
    uint64_t group = 0;

    uint64_t rows() const { return columns == 0 ? 0 : (count + columns - 1) / columns; }
};

constexpr uint64_t groups_in(uint64_t length, uint64_t group) { return group == 0 ? 1 : (length + group - 1) / group; }

constexpr uint64_t parameters_needed(Sharing sharing, uint64_t rows, uint64_t columns, uint64_t group) {
    switch (sharing) {
        case Sharing::channel:
            return columns;
        case Sharing::token:
            return rows;
        case Sharing::group_of_rows:
            return groups_in(rows, group) * columns;
        case Sharing::group_of_columns:
            return rows * groups_in(columns, group);
        default:
            return 1;
    }
}

// body(row, column, count, index of the first scale); the scales of a stretch are one number unless
// `varies_along_row`.
template <Sharing sharing>
inline constexpr bool varies_along_row = sharing == Sharing::channel || sharing == Sharing::group_of_rows;

template <Sharing sharing, class Body>
inline void for_each_stretch(const QuantizedShape& shape, const Body& body) {
    if constexpr (sharing == Sharing::tensor) {
        if (shape.count != 0) body(uint64_t{0}, uint64_t{0}, shape.count, uint64_t{0});
        return;
    }
    const uint64_t rows = shape.rows(), group = shape.group == 0 ? shape.columns : shape.group;
    for (uint64_t row = 0; row < rows; ++row) {
        const uint64_t length = smaller(shape.columns, shape.count - row * shape.columns);
        if constexpr (sharing == Sharing::channel) body(row, uint64_t{0}, length, uint64_t{0});
        if constexpr (sharing == Sharing::token) body(row, uint64_t{0}, length, row);
        if constexpr (sharing == Sharing::group_of_rows)
            body(row, uint64_t{0}, length, (shape.group == 0 ? 0 : row / group) * shape.columns);
        if constexpr (sharing == Sharing::group_of_columns)
            for (uint64_t column = 0; column < length; column += group)
                body(row, column, smaller(group, length - column),
                     row * groups_in(shape.columns, group) + column / group);
    }
}

// The number that a scale or an offset stands for. A scale of 64 bits is a float in the lower half.
template <class P, class Stored>
inline float parameter_value(Stored stored) {
    if constexpr (is_same<P, uint64_t>)
        return bits_as<float>(static_cast<uint32_t>(stored));
    else if constexpr (is_small_float<P>)
        return P::Format::decode(stored.storage);
    else if constexpr (is_same<Stored, bfloat16_t> || is_same<Stored, half>)
        return widen(stored);
    else
        return static_cast<float>(stored);
}

// A scale or offset argument: the elements of a tensor, one number, or nothing.
template <class P>
struct ParameterElements {
    static constexpr bool varies = true;
    using Element = P;
    const P* elements;
    float at(uint64_t index) const { return parameter_value<P>(elements[index]); }
};
struct ParameterNumber {
    static constexpr bool varies = false;
    float number;
    float at(uint64_t) const { return number; }
};

template <class P>
inline ParameterElements<P> parameter_of(const LocalTensor<P>& tensor) {
    return {tensor.GetPhyAddr()};
}
template <class S>
inline ParameterNumber parameter_of(const S& number) {
    return {parameter_value<S>(number)};
}

template <class P>
inline void check_parameter(const char* operation, const char* operand, const LocalTensor<P>& tensor, uint64_t count,
                            Where where) {
    check_vector_operand(operation, operand, tensor, bytes_of<P>(count), where);
}
template <class S>
inline void check_parameter(const char*, const char*, const S&, uint64_t, Where) {}

template <class>
inline constexpr bool is_local_tensor = false;
template <class T>
inline constexpr bool is_local_tensor<LocalTensor<T>> = true;

// `zero` is an opaque_zero() from before the loop.
inline float rounded_to_half(float value, uint32_t zero) { return widen(static_cast<half>(value), zero); }

// The exact value of an element of S, which arrives widened or as four bits.
template <class S, class Stored>
inline float element_number(Stored stored) {
    if constexpr (is_vector_float<S> || is_same<S, int32_t>)
        return static_cast<float>(stored);
    else
        return exact_value<S>(stored, 0);
}

// d[i] = element(s[i], p[i]...), also for types that share a byte.
template <class D, class S, class Element, class... P>
inline void map_run(uint64_t count, const Element& element, Run<D> d, Run<const S> s, const P*... p) {
    if constexpr (packing<D> == 1 && packing<S> == 1) {
        compute(count, element, d, s, p...);
    } else {
        const uint32_t zero = opaque_zero();
        for (uint64_t i = 0; i < count; ++i) {
            if constexpr (packing<S> == 1)
                d.set(i, element(widen(s[i], zero), widen(p[i], zero)...));
            else
                d[i] = narrow<D>(element(s.get(i), widen(p[i], zero)...));
        }
    }
}

// One stretch: Formula::element(x, scale, offset, opaque zero) for each element. With `varies`, parameters that are
// tensors advance with the elements.
template <class Formula, bool varies, class D, class S, class Scale, class Offset>
inline void map_stretch(uint64_t count, Run<D> d, Run<const S> s, const Scale& scale, const Offset& offset,
                        uint64_t index) {
    const uint32_t zero = opaque_zero();
    if constexpr (!varies || !Scale::varies) {
        const float factor = scale.at(index), term = offset.at(index);
        map_run<D, S>(
            count, [factor, term, zero](auto x) { return Formula::element(x, factor, term, zero); }, d, s);
    } else if constexpr (!Offset::varies) {
        const float term = offset.at(index);
        map_run<D, S>(
            count,
            [term, zero](auto x, auto factor) {
                return Formula::element(x, parameter_value<typename Scale::Element>(factor), term, zero);
            },
            d, s, scale.elements + index);
    } else {
        map_run<D, S>(
            count,
            [zero](auto x, auto factor, auto term) {
                return Formula::element(x, parameter_value<typename Scale::Element>(factor),
                                        parameter_value<typename Offset::Element>(term), zero);
            },
            d, s, scale.elements + index, offset.elements + index);
    }
}

// A dense matrix. Offset tensors have the shape of the scale tensor.
template <class Formula, Sharing sharing, class D, class S, class Scale, class Offset>
inline void map_matrix(const LocalTensor<D>& dst, const LocalTensor<S>& src, const Scale& scale, const Offset& offset,
                       const QuantizedShape& shape) {
    for_each_stretch<sharing>(shape, [&](uint64_t row, uint64_t column, uint64_t count, uint64_t index) {
        const uint64_t first = row * shape.columns + column;
        map_stretch<Formula, varies_along_row<sharing>, D, S>(count, run_at(dst.GetPhyAddr(), first),
                                                              run_at(static_cast<const S*>(src.GetPhyAddr()), first),
                                                              scale, offset, index);
    });
}

// The whole operation with a policy; `hasOffset` false ignores the offset argument.
template <class Formula, Sharing sharing, bool has_offset, class D, class S, class Scale, class Offset>
inline void quantize_matrix(const char* name, const LocalTensor<D>& dst, const LocalTensor<S>& src, const Scale& scale,
                            const Offset& offset, const QuantizedShape& shape, Where where) {
    static_assert(sharing == Sharing::tensor || is_local_tensor<Scale>,
                  "Quantisation: the scale is a tensor unless the policy is PER_TENSOR");
    if (on_cube_core()) return;
    if constexpr (checked) {
        if (shape.count == 0) fail(where, "%s: the shape has no elements", name);
        if ((sharing == Sharing::group_of_rows || sharing == Sharing::group_of_columns) &&
            (shape.group == 0 || shape.group % 32 != 0))
            fail(where, "%s: groupSize is %llu; it must be a multiple of 32", name, printable(shape.group));
    }
    const Instruction instruction(PIPE_V, name, where);
    check_count(dst, static_cast<int64_t>(shape.count), name, "the destination", where);
    check_count(src, static_cast<int64_t>(shape.count), name, "the source", where);
    const uint64_t needed = parameters_needed(sharing, shape.rows(), shape.columns, shape.group);
    check_parameter(name, "the scale", scale, needed, where);
    if constexpr (has_offset) {
        check_parameter(name, "the offset", offset, needed, where);
        map_matrix<Formula, sharing>(dst, src, parameter_of(scale), parameter_of(offset), shape);
    } else {
        map_matrix<Formula, sharing>(dst, src, parameter_of(scale), ParameterNumber{0.0f}, shape);
    }
}

}  // namespace canopy::kernel

#endif
