// SPDX-License-Identifier: Apache-2.0
// Te::Mmad: the product of a tensor in L0A (NZ) and one in L0B (ZN), into L0C (NZ). The device's product reads the
// fractals where they are.
#ifndef CANOPY_KERNEL_TENSOR_MULTIPLY_H
#define CANOPY_KERNEL_TENSOR_MULTIPLY_H

#include "canopy_kernel/cube/scaled_multiply.h"
#include "canopy_kernel/tensor_interface/copy_check.h"
#include "canopy_kernel/tensor_interface/told_tensors.h"

namespace AscendC::Te {

enum class MmadType : uint8_t { NORMAL = 0, MX = 1 };

struct MmadTrait {
    constexpr MmadTrait() = default;
    constexpr MmadTrait(int32_t fmOffsetIn, bool kDirectionAlignIn, bool cmatrixSourceIn, bool disableGemvIn,
                        MmadType mmadTypeIn)
        : fmOffset(fmOffsetIn),
          kDirectionAlign(kDirectionAlignIn),
          cmatrixSource(cmatrixSourceIn),
          disableGemv(disableGemvIn),
          mmadType(mmadTypeIn) {}
    int32_t fmOffset = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;  // the initial value comes from the bias table
    bool disableGemv = true;
    MmadType mmadType = MmadType::NORMAL;
};
inline constexpr MmadTrait DEFAULT_MMAD_TRAIT{};
struct MmadTraitDefault {
    using TraitType = MmadTrait;
    static constexpr const TraitType value = DEFAULT_MMAD_TRAIT;
};

struct MmadParams {
    constexpr MmadParams() = default;
    constexpr MmadParams(uint16_t mIn, uint16_t nIn, uint16_t kIn, uint8_t unitFlagIn, bool cmatrixInitValIn)
        : m(mIn), n(nIn), k(kIn), unitFlag(unitFlagIn), cmatrixInitVal(cmatrixInitValIn) {}
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    uint8_t unitFlag = 0;
    bool cmatrixInitVal = false;
};

}  // namespace AscendC::Te

namespace canopy::kernel::te {

struct ProductSize {
    int64_t m, n, k;
};

template <class T>
inline constexpr bool is_whole_number = is_any_of<T, int8_t, uint8_t, int4b_t>;

template <bool scaled, class C, class A, class B>
constexpr bool multiplies() {
    if constexpr (scaled)
        return is_same<C, float> && is_scaled_factor<A> && is_scaled_factor<B> && packing<A> == packing<B>;
    else if constexpr (is_whole_number<A> || is_whole_number<B>)
        return is_same<C, int32_t> && is_whole_number<A> && is_whole_number<B>;
    else
        return is_same<C, float> && is_any_of<A, float, half, bfloat16_t, fp8_e4m3fn_t, fp8_e5m2_t, hifloat8_t> &&
               sizeof(A) == sizeof(B);
}

// `step` of an axis that is not divided into blocks; the other form has blocks of `inner`.
inline CanopyBlocking blocking_of(const Matrices& view) {
    const auto size = [](const Axis& axis) { return axis.blocks == 1 ? 0u : static_cast<uint32_t>(axis.inner); };
    return {size(view.row), size(view.column), view.row.block_step, view.column.block_step};
}

// `flow` is for a checker: without sizes of the program, rows that fill up the last fractals take part.
template <const auto& trait, CanopyCheckFlow flow, class C, class A, class B>
inline void multiply_tensors(const C& dst, const A& fm, const B& filter, const void* bias, const ProductSize& size,
                             bool accumulate, Where where) {
    using T = typename C::valueType;
    using U = typename A::valueType;
    using V = typename B::valueType;
    constexpr bool scaled = trait.mmadType == MmadType::MX;
    static_assert(is_in<C, Location::L0C> && is_in<A, Location::L0A> && is_in<B, Location::L0B>,
                  "Mmad: the result is in L0C, the left factor in L0A, the right one in L0B");
    static_assert(has_pattern<C, NZLayoutPtn> && has_pattern<A, NZLayoutPtn> && has_pattern<B, ZNLayoutPtn>,
                  "Mmad: the result and the left factor are NZ, the right factor is ZN");
    static_assert(multiplies<scaled, T, U, V>(),
                  "Mmad: int8_t factors give int32_t; float, half, bfloat16_t and 8-bit floats give float; with "
                  "MmadType::MX the factors are fp8_e4m3fn_t and fp8_e5m2_t, or fp4x2_e2m1_t and fp4x2_e1m2_t");
    const Matrices left = view_of(fm).joined(), right = view_of(filter).joined(), result = view_of(dst).joined();
    check_operand<Location::L0C>("Mmad", "result", dst, result, where);
    check_operand<Location::L0A>("Mmad", "left factor", fm, left, where);
    check_operand<Location::L0B>("Mmad", "right factor", filter, right, where);
    if constexpr (checked)
        if (size.m > left.row.size() || size.k > left.column.size() || size.k > right.row.size() ||
            size.n > right.column.size() || size.m > result.row.size() || size.n > result.column.size())
            fail(where,
                 "Mmad: m %lld, n %lld, k %lld exceed the tensors: %lld x %lld times %lld x %lld into %lld x %lld",
                 static_cast<long long>(size.m), static_cast<long long>(size.n), static_cast<long long>(size.k),
                 static_cast<long long>(left.row.size()), static_cast<long long>(left.column.size()),
                 static_cast<long long>(right.row.size()), static_cast<long long>(right.column.size()),
                 static_cast<long long>(result.row.size()), static_cast<long long>(result.column.size()));
    const Instruction instruction(PIPE_M, "Mmad", where, flow);
    if constexpr (is_checking_variant) {
        const bool is_vector = !trait.disableGemv && size.m == 1;
        instruction.product(static_cast<uint32_t>(size.m), static_cast<uint32_t>(size.n), static_cast<uint32_t>(size.k),
                            0);
        const Matrices vector{{1, 0, 1, 0}, {size.k, 1, 1, 0}, 1, 0};
        add_tensor<A>(CANOPY_CHECK_READ, "fm", address_of(fm), is_vector ? vector : left, {size.m, size.k, 1});
        add_tensor<B>(CANOPY_CHECK_READ, "filter", address_of(filter), right, {size.k, size.n, 1});
        if (bias != nullptr)
            add_memory(CANOPY_CHECK_READ, "bias", memory_holding(bias), bias,
                       {static_cast<uint64_t>(size.n) * sizeof(T)}, sizeof(T));
        const Extents sums = whole_fractals(result, size.m, size.n);
        if (accumulate) {
            instruction.set(CANOPY_CHECK_ACCUMULATES);
            add_tensor<C>(CANOPY_CHECK_READ, "dst", address_of(dst), result, sums);
        }
        add_tensor<C>(CANOPY_CHECK_WRITE, "dst", address_of(dst), result, sums);
    }
    CanopyProduct product{};
    product.a = address_of(fm);
    product.b = address_of(filter);
    product.c = address_of(dst);
    product.bias = bias;
    product.a_type = product_element<U>();
    product.b_type = product_element<V>();
    product.c_type = product.bias_type = product_element<T>();
    product.m = size.m, product.n = size.n, product.k = size.k;
    product.a_row_stride = left.row.step, product.a_column_stride = left.column.step;
    product.b_row_stride = right.row.step, product.b_column_stride = right.column.step;
    product.c_row_stride = result.row.step, product.c_column_stride = result.column.step;
    product.a_blocks = blocking_of(left);
    product.b_blocks = blocking_of(right);
    product.c_blocks = blocking_of(result);
    product.accumulate = accumulate;
    if (!trait.disableGemv && size.m == 1) {  // a vector is read as it is
        product.a_row_stride = size.k, product.a_column_stride = 1;
        product.a_blocks = {};
    }
    if constexpr (scaled) {
        require_whole_groups("Mmad", size.k, where);
        add_scales(product);
    }
    multiply(product);
}

struct NoBias {};

template <const auto& trait, CanopyCheckFlow flow, class C, class A, class B, class Bias>
inline void multiply_add(const C& dst, const A& fm, const B& filter, const Bias& bias, const ProductSize& size,
                         bool from_zero, Where where) {
    if (on_vector_core() || size.m == 0 || size.n == 0 || size.k == 0) return;
    if constexpr (is_same<Bias, NoBias>) {
        const bool from_table = trait.cmatrixSource && !from_zero;
        multiply_tensors<trait, flow>(dst, fm, filter, from_table ? memory_base(Hardware::BIAS) : nullptr, size,
                                      !from_zero && !from_table, where);
    } else {
        static_assert(is_in<Bias, Location::BIAS, Location::L0C>, "Mmad: the bias is in BIAS or L0C");
        static_assert(has_pattern<Bias, NDLayoutPtn, NZLayoutPtn>, "Mmad: the bias is ND");
        static_assert(same_type<Bias, C>, "Mmad: the bias has the type of the result");
        multiply_tensors<trait, flow>(dst, fm, filter, address_of(bias), size, false, where);
    }
}

// Without MmadParams the tensors give the sizes.
template <class A, class B>
inline ProductSize size_of(const A& fm, const B& filter) {
    const Matrices left = view_of(fm), right = view_of(filter);
    return {left.row.size(), right.column.size(), smaller(left.column.size(), right.row.size())};
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

struct MmadOperation {
    using Default = MmadTraitDefault;
    template <const auto& trait, class C, class A, class B, class Bias = canopy::kernel::te::NoBias>
    static void Mmad(canopy::kernel::Where where, const C& dst, const A& fm, const B& filter, const Bias& bias = {}) {
        canopy::kernel::te::multiply_add<trait, CANOPY_CHECK_FILL>(
            dst, fm, filter, bias, canopy::kernel::te::size_of(fm, filter), true, where);
    }
};

struct MmadOpWith : MmadOperation {
    template <const auto& trait, class C, class A, class B, class Bias = canopy::kernel::te::NoBias>
    static void Mmad(canopy::kernel::Where where, const MmadParams& params, const C& dst, const A& fm, const B& filter,
                     const Bias& bias = {}) {
        const canopy::kernel::JoinedInstruction instruction(PIPE_M, "Mmad", where);
        instruction.product(0, 0, 0, params.unitFlag);
        canopy::kernel::te::multiply_add<trait, CANOPY_CHECK_USE>(dst, fm, filter, bias, {params.m, params.n, params.k},
                                                                  params.cmatrixInitVal, where);
    }
};

}  // namespace AscendC::Te

#endif
