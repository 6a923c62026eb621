// SPDX-License-Identifier: Apache-2.0
// Mmad: the product of L0A and L0B, into L0C. The fractals are converted to plain matrices and passed to the device's
// product; fp16, bf16 and 8-bit floats are accumulated as float, integers as int32.
#ifndef CANOPY_KERNEL_CUBE_MULTIPLY_H
#define CANOPY_KERNEL_CUBE_MULTIPLY_H

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/cube/cube_load.h"

namespace AscendC {

struct MmadParams {
    MmadParams() = default;
    MmadParams(uint16_t mIn, uint16_t nIn, uint16_t kIn) : m(mIn), n(nIn), k(kIn) {}
    MmadParams(uint16_t mIn, uint16_t nIn, uint16_t kIn, bool bias, int32_t offset, bool sparse, bool winogradA,
               bool winogradB)
        : m(mIn),
          n(nIn),
          k(kIn),
          isBias(bias),
          fmOffset(offset),
          enSsparse(sparse),
          enWinogradA(winogradA),
          enWinogradB(winogradB) {}
    MmadParams(uint16_t mIn, uint16_t nIn, uint16_t kIn, uint8_t flag, bool source, bool initVal)
        : m(mIn), n(nIn), k(kIn), unitFlag(flag), cmatrixSource(source), cmatrixInitVal(initVal) {}

    uint16_t m = 0, n = 0, k = 0;
    bool isBias = false;  // older form of: add to the destination
    int32_t fmOffset = 0;
    bool enSsparse = false, enWinogradA = false, enWinogradB = false;
    uint8_t unitFlag = 0;
    bool gemvCtrl = false;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;  // the initial value comes from the bias buffer
    bool cmatrixInitVal = true;  // the initial value is zero
    bool disableGemv = false;
};

// Precision of fp32 factors; ignored, since this device multiplies them as they are.
inline void SetHF32Mode(bool enable) { canopy::kernel::core_state().cube.hf32 = enable; }
inline void SetHF32TransMode(bool toZero) { canopy::kernel::core_state().cube.hf32_round_to_zero = toZero; }
// Whether the cube walks M or N first; the result is the same.
inline void SetMMLayoutTransform(bool enable) { canopy::kernel::core_state().cube.layout_transform = enable; }

}  // namespace AscendC

namespace canopy::kernel {

// The element type of a matrix in the device's product.
template <class T>
constexpr uint32_t product_element() {
    if constexpr (is_same<T, float>)
        return CANOPY_ELEMENT_FLOAT;
    else if constexpr (is_same<T, half>)
        return CANOPY_ELEMENT_HALF;
    else if constexpr (is_same<T, bfloat16_t>)
        return CANOPY_ELEMENT_BFLOAT16;
    else if constexpr (is_same<T, int8_t>)
        return CANOPY_ELEMENT_INT8;
    else if constexpr (is_same<T, uint8_t>)
        return CANOPY_ELEMENT_UINT8;
    else if constexpr (is_same<T, int32_t>)
        return CANOPY_ELEMENT_INT32;
    else if constexpr (is_same<T, int4b_t>)
        return CANOPY_ELEMENT_INT4;
    else if constexpr (is_same<T, fp8_e4m3fn_t>)
        return CANOPY_ELEMENT_FLOAT8_E4M3;
    else if constexpr (is_same<T, fp8_e5m2_t>)
        return CANOPY_ELEMENT_FLOAT8_E5M2;
    else if constexpr (is_same<T, hifloat8_t>)
        return CANOPY_ELEMENT_HIFLOAT8;
    else if constexpr (is_same<T, fp4x2_e2m1_t>)
        return CANOPY_ELEMENT_FLOAT4_E2M1;
    else if constexpr (is_same<T, fp4x2_e1m2_t>)
        return CANOPY_ELEMENT_FLOAT4_E1M2;
    else
        static_assert(always_false<T>, "the device does not multiply elements of this type");
}

// Scratch memory for the two factors and the result of one product, as plain matrices. It is thread-local, so a block
// must not wait between filling and using it.
struct ProductScratch {
    alignas(64) unsigned char left[2 * AscendC::TOTAL_L0A_SIZE];
    alignas(64) unsigned char right[2 * AscendC::TOTAL_L0B_SIZE];
    alignas(64) unsigned char result[AscendC::TOTAL_L0C_SIZE];
};

inline ProductScratch& product_scratch() {
    static thread_local ProductScratch scratch;
    return scratch;
}

// The element type of a factor of type T in the device's product.
template <class T>
struct Factor {
    using type = float;
    static constexpr uint32_t element = CANOPY_ELEMENT_FLOAT;
    static float convert(T value) { return static_cast<float>(value); }
};
template <class T, uint32_t kind>
struct PlainFactor {
    using type = T;
    static constexpr uint32_t element = kind;
    static T convert(T value) { return value; }
};
template <>
struct Factor<half> : PlainFactor<half, CANOPY_ELEMENT_HALF> {};
template <>
struct Factor<bfloat16_t> : PlainFactor<bfloat16_t, CANOPY_ELEMENT_BFLOAT16> {};
template <>
struct Factor<int8_t> : PlainFactor<int8_t, CANOPY_ELEMENT_INT8> {};
template <>
struct Factor<uint8_t> : PlainFactor<uint8_t, CANOPY_ELEMENT_UINT8> {};
template <>
struct Factor<int4b_t> {
    using type = int8_t;
    static constexpr uint32_t element = CANOPY_ELEMENT_INT8;
};

// Element `index` of a row of a fractal.
template <class T>
inline typename Factor<T>::type factor_at(const T* row, uint32_t index) {
    if constexpr (packing<T> == 2) {
        const int bits = row[index / 2].storage >> (index % 2 * 4) & 15;
        return static_cast<int8_t>(bits >= 8 ? bits - 16 : bits);
    } else {
        return Factor<T>::convert(row[index]);
    }
}

// Flattens `lines` lines of `length` elements each: line l is in fractals first(l / 16, step), row l % 16.
template <class T, class FractalIndex>
inline void flatten(typename Factor<T>::type* to, const T* from, uint32_t lines, uint32_t length,
                    FractalIndex index_of) {
    constexpr uint32_t c0 = row_elements<T>;
    for (uint32_t step = 0; step * c0 < length; ++step) {
        const uint32_t run = smaller(c0, length - step * c0);
        for (uint32_t line = 0; line < lines; ++line) {
            const T* row = advance(fractal(from, index_of(line / fractal_rows, step)), line % fractal_rows * c0);
            auto* target = to + static_cast<uint64_t>(line) * length + step * c0;
            for (uint32_t i = 0; i < run; ++i) target[i] = factor_at(row, i);
        }
    }
}

struct ProductShape {
    uint32_t m, n, k;
    bool accumulate, vector_left, align_k;
};

template <class A, class B>
inline void lay_out_factors(ProductScratch& scratch, const A* a, const B* b, const ProductShape& shape) {
    auto steps = [&](uint32_t c0) {
        const uint32_t steps = (shape.k + c0 - 1) / c0;
        return shape.align_k && c0 == 8 ? (steps + 1) / 2 * 2 : steps;
    };
    const uint32_t left_steps = steps(row_elements<A>);
    const uint32_t row_fractals = (shape.m + 15) / 16, column_fractals = (shape.n + 15) / 16;
    auto* left = reinterpret_cast<typename Factor<A>::type*>(scratch.left);
    if (shape.vector_left) {
        for (uint32_t i = 0; i < shape.k; ++i) left[i] = factor_at(a, i);
    } else {
        flatten(left, a, shape.m, shape.k, [&](uint32_t block, uint32_t step) {
            return l0a_by_columns ? static_cast<int64_t>(step) * row_fractals + block
                                  : static_cast<int64_t>(block) * left_steps + step;
        });
    }
    flatten(reinterpret_cast<typename Factor<B>::type*>(scratch.right), b, shape.n, shape.k,
            [&](uint32_t block, uint32_t step) { return static_cast<int64_t>(step) * column_fractals + block; });
}

// The result is stored in fractals of 16 x 16, column by column.
template <class C>
inline void move_result(C* c, C* flat, const ProductShape& shape, bool out) {
    const uint64_t column = round_up(shape.m, 16) * 16;
    for (uint32_t n = 0; n < shape.n; n += 16) {
        const uint32_t run = smaller(16u, shape.n - n);
        for (uint32_t m = 0; m < shape.m; ++m) {
            C* inside = c + n / 16 * column + m * 16;
            C* outside = flat + static_cast<uint64_t>(m) * shape.n + n;
            __builtin_memcpy(out ? inside : outside, out ? outside : inside, run * sizeof(C));
        }
    }
}

template <class C, class A, class B>
inline void multiply_fractals(C* c, const A* a, const B* b, const C* bias, const ProductShape& shape) {
    ProductScratch& scratch = product_scratch();
    lay_out_factors(scratch, a, b, shape);
    auto* flat = reinterpret_cast<C*>(scratch.result);
    if (shape.accumulate) move_result(c, flat, shape, false);
    CanopyProduct product{};
    product.a = scratch.left;
    product.b = scratch.right;
    product.c = flat;
    product.bias = bias;
    product.a_type = Factor<A>::element;
    product.b_type = Factor<B>::element;
    product.c_type = is_same<C, float>  ? CANOPY_ELEMENT_FLOAT
                     : is_same<C, half> ? CANOPY_ELEMENT_HALF
                                        : CANOPY_ELEMENT_INT32;
    product.bias_type = product.c_type;
    product.m = shape.m;
    product.n = shape.n;
    product.k = shape.k;
    product.a_row_stride = shape.k;
    product.a_column_stride = 1;
    product.b_row_stride = 1;
    product.b_column_stride = shape.k;
    product.c_row_stride = shape.n;
    product.c_column_stride = 1;
    product.accumulate = shape.accumulate;
    multiply(product);
    move_result(c, flat, shape, true);
}

template <class C, class A, class B>
inline void check_product(const LocalTensor<C>& c, const LocalTensor<A>& a, const LocalTensor<B>& b,
                          const AscendC::MmadParams& params, Where where) {
    constexpr bool integers = is_any_of<A, int8_t, uint8_t, int4b_t>;
    static_assert(integers ? is_same<C, int32_t> : is_any_of<C, float, half>,
                  "Mmad: integer factors give int32_t, floating ones float");
    static_assert(integers == is_any_of<B, int8_t, uint8_t, int4b_t>, "Mmad: both factors are integers, or none is");
    require_memory(c, Hardware::L0C, "the result of Mmad", where);
    require_memory(a, Hardware::L0A, "the left factor of Mmad", where);
    require_memory(b, Hardware::L0B, "the right factor of Mmad", where);
    const uint64_t m = round_up(params.m, 16), n = round_up(params.n, 16);
    const uint64_t left = bytes_of<A>(m * round_up(params.k, row_elements<A>)),
                   right = bytes_of<B>(n * round_up(params.k, row_elements<B>));
    if (left > memory_size(Hardware::L0A) || right > memory_size(Hardware::L0B) ||
        m * n * sizeof(C) > memory_size(Hardware::L0C))
        fail(where, "Mmad: %u x %u times %u x %u does not fit into L0A, L0B and L0C", params.m, params.k, params.k,
             params.n);
}

// In the checking variant: the operands of a product, as those of the open instruction. The left factor may be one row
// of elements.
template <class C, class A, class B>
inline void add_product(const Instruction& instruction, const LocalTensor<C>& c, const LocalTensor<A>& a,
                        const LocalTensor<B>& b, uint64_t b_rows, const ProductShape& shape, uint8_t unit_flag) {
    if constexpr (is_checking_variant) {
        if (shape.m == 0 || shape.n == 0 || shape.k == 0) return;
        const uint64_t row_groups = round_up(shape.m, 16) / 16, column_groups = round_up(shape.n, 16) / 16;
        uint64_t steps = round_up(shape.k, row_elements<A>) / row_elements<A>;
        if (shape.align_k && row_elements<A> == 8) steps = round_up(steps, 2);
        instruction.product(shape.m, shape.n, shape.k, unit_flag);
        if (shape.vector_left)
            instruction.reads("fm", a, bytes_of<A>(shape.k));
        else if (l0a_by_columns)
            add_fractal_matrix<A>(CANOPY_CHECK_READ, "fm", a, {shape.m, shape.k, 1, row_groups});
        else
            add_fractal_matrix<A>(CANOPY_CHECK_READ, "fm", a, {shape.m, shape.k, steps, 1});
        add_fractal_matrix<B>(CANOPY_CHECK_READ, "filter", b, {shape.n, b_rows, 1, column_groups});
        const uint64_t sums = row_groups * column_groups * 256 * sizeof(C);
        if (shape.accumulate) {
            instruction.set(CANOPY_CHECK_ACCUMULATES);
            instruction.reads("dst", c, sums);
        }
        instruction.writes("dst", c, sums);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

template <class C, class A, class B>
inline void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter,
                 const MmadParams& params, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::check_product(dst, fm, filter, params, where);
    const canopy::kernel::ProductShape shape{params.m,
                                             params.n,
                                             params.k,
                                             params.isBias || !params.cmatrixInitVal,
                                             params.m == 1 && !params.disableGemv,
                                             params.kDirectionAlign};
    const canopy::kernel::Instruction instruction(PIPE_M, "Mmad", where, CANOPY_CHECK_USE);
    canopy::kernel::add_product(instruction, dst, fm, filter, params.k, shape, params.unitFlag);
    canopy::kernel::multiply_fractals<C, A, B>(dst.GetPhyAddr(), fm.GetPhyAddr(), filter.GetPhyAddr(), nullptr, shape);
}

// With a bias of n values, from the bias buffer or from L0C.
template <class C, class A, class B, class Bias>
inline void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter,
                 const LocalTensor<Bias>& bias, const MmadParams& params,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    static_assert(canopy::kernel::is_same<C, Bias>, "Mmad: the bias has the type of the result");
    canopy::kernel::check_product(dst, fm, filter, params, where);
    const canopy::kernel::ProductShape shape{
        params.m, params.n, params.k, false, params.m == 1 && !params.disableGemv, params.kDirectionAlign};
    const canopy::kernel::Instruction instruction(PIPE_M, "Mmad", where, CANOPY_CHECK_USE);
    canopy::kernel::add_product(instruction, dst, fm, filter, params.k, shape, params.unitFlag);
    instruction.reads("bias", bias, params.n * sizeof(Bias));
    canopy::kernel::multiply_fractals<C, A, B>(dst.GetPhyAddr(), fm.GetPhyAddr(), filter.GetPhyAddr(),
                                               bias.GetPhyAddr(), shape);
}

}  // namespace AscendC

#endif
