// SPDX-License-Identifier: Apache-2.0
// What the matrix product takes from a vector width: how operands are packed into panels and how one register tile is
// computed. One table per width, each compiled in a file of its own for that width; product.cpp chooses at run time.
//
// Threads: any; the functions keep nothing.
#pragma once

#include <cstdint>

namespace canopy {

// A panel of one operand: `width` rows of A (or columns of B), `depth` steps of k. Element (i, k) lies
// `across[i] + along[k]` elements behind `data`. Offsets behind the operand's last row repeat that row.
struct PanelSource {
    const void* data;
    std::uint32_t type;  // a CanopyElement
    bool along_runs;     // each four (integers: eight) offsets of `along`, from a multiple of it, are consecutive
    const std::int64_t* across;
    const std::int64_t* along;
    std::int64_t depth;
};

// Panels of floats hold `width` values for each k; panels of integers hold, for each two of k, `width` pairs of 16-bit
// values, the last pair filled with zero.
struct ProductTiles {
    int rows;        // of a register tile: the width of a panel of A
    int columns;     // the width of a panel of B
    int depth;       // steps of k in a panel
    bool rows_stay;  // the panel of A, not that of B, is meant to stay in the first cache
    void (*pack_rows)(const PanelSource& source, float* panel);
    void (*pack_columns)(const PanelSource& source, float* panel);
    void (*pack_integer_rows)(const PanelSource& source, std::int16_t* panel);
    void (*pack_integer_columns)(const PanelSource& source, std::int16_t* panel);
    // The whole tile: sums over `depth` added to `initial`, stored to `c`; strides count elements from row to row.
    void (*tile)(std::int64_t depth, const float* a, const float* b, const float* initial, std::int64_t initial_stride,
                 float* c, std::int64_t c_stride);
    // `pairs` of k.
    void (*integer_tile)(std::int64_t pairs, const std::int16_t* a, const std::int16_t* b, const std::int32_t* initial,
                         std::int64_t initial_stride, std::int32_t* c, std::int64_t c_stride);
    // Rounded to the nearest, ties to even; magnitudes above `limit` are taken for it.
    void (*to_half)(const float* values, std::uint16_t* out, std::int64_t count, float limit);
    void (*to_bfloat16)(const float* values, std::uint16_t* out, std::int64_t count);
};

extern const ProductTiles product_tiles_baseline;
extern const ProductTiles product_tiles_avx2;
extern const ProductTiles product_tiles_avx512;

constexpr int largest_panel_depth = 384;
constexpr int largest_tile_rows = 12;
constexpr int largest_tile_columns = 32;

}  // namespace canopy
