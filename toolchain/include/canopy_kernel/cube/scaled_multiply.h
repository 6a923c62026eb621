// SPDX-License-Identifier: Apache-2.0
// Products of small floats in which 32 neighbours along k share a power of two. The scales of the factors in L0A and
// L0B are in memories beside them (scale_memory.h), in fractals of 16 rows or columns by two scales.
#ifndef CANOPY_KERNEL_SCALED_MULTIPLY_H
#define CANOPY_KERNEL_SCALED_MULTIPLY_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/cube/cube_multiply.h"
#include "canopy_kernel/cube/scale_memory.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_scaled_factor = is_any_of<T, fp8_e4m3fn_t, fp8_e5m2_t, fp4x2_e2m1_t, fp4x2_e1m2_t>;

inline constexpr int64_t scaled_group = 64;  // two scales
inline constexpr int64_t scale_fractal = 32;

inline void require_whole_groups(const char* operation, int64_t k, Where where) {
    if constexpr (checked)
        if (k % scaled_group != 0)
            fail(where, "%s: k is %lld; a product with scales needs a multiple of 64", operation,
                 static_cast<long long>(k));
}

// Scales of `lines` rows or columns, as the device's product reads them. Fractals are stored line by line, so in
// general they are moved to `scratch` first.
inline CanopyScale scales_for_product(const unsigned char* scales, unsigned char* scratch, int64_t lines, int64_t k) {
    const int64_t pairs = (k + scaled_group - 1) / scaled_group, blocks = (lines + 15) / 16;
    if (pairs == 1 || blocks == 1) return {scales, 2, scale_fractal, 1};
    for (int64_t block = 0; block < blocks; ++block)
        for (int64_t pair = 0; pair < pairs; ++pair)
            __builtin_memcpy(scratch + (pair * blocks + block) * scale_fractal,
                             scales + (block * pairs + pair) * scale_fractal, scale_fractal);
    return {scratch, 2, blocks * scale_fractal, 1};
}

// Adds the scales of the factors in L0A and L0B to a product that reads them there.
inline void add_scales(CanopyProduct& product) {
    ProductScratch& scratch = product_scratch();
    product.a_scale = scales_for_product(scales_of(product.a, Hardware::L0A), scratch.left, product.m, product.k);
    product.b_scale = scales_for_product(scales_of(product.b, Hardware::L0B), scratch.right, product.n, product.k);
}

// A product of the fractals of L0A and L0B as they are, into L0C.
template <class C, class A, class B>
inline CanopyProduct product_of_fractals(C* c, const A* a, const B* b, const C* bias, int64_t m, int64_t n, int64_t k,
                                         bool accumulate) {
    constexpr int64_t c0_a = row_elements<A>, c0_b = row_elements<B>;
    const auto rows = static_cast<int64_t>(round_up(static_cast<uint64_t>(m), 16));
    const auto columns = static_cast<int64_t>(round_up(static_cast<uint64_t>(n), 16));
    const auto depth = static_cast<int64_t>(round_up(static_cast<uint64_t>(k), c0_a));
    CanopyProduct product{};
    product.a = a, product.b = b, product.c = c, product.bias = bias;
    product.a_type = product_element<A>();
    product.b_type = product_element<B>();
    product.c_type = product.bias_type = product_element<C>();
    product.m = m, product.n = n, product.k = k;
    product.a_row_stride = c0_a, product.a_column_stride = 1;
    product.a_blocks = l0a_by_columns ? CanopyBlocking{0, static_cast<uint32_t>(c0_a), 0, c0_a * rows}
                                      : CanopyBlocking{16, static_cast<uint32_t>(c0_a), 16 * depth, 16 * c0_a};
    product.b_row_stride = 1, product.b_column_stride = c0_b;
    product.b_blocks = {static_cast<uint32_t>(c0_b), 0, c0_b * columns, 0};
    product.c_row_stride = 16, product.c_column_stride = 1;
    product.c_blocks = {0, 16, 0, 16 * rows};
    product.accumulate = accumulate;
    return product;
}

}  // namespace canopy::kernel

#endif
