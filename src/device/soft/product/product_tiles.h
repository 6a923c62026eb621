// SPDX-License-Identifier: Apache-2.0
// The parts of the matrix product that depend on the vector width: packing operands into panels and computing one
// register tile. There is one table per instruction set, each compiled in its own file for it; product.cpp chooses at
// run time.
//
// Threads: any; the functions keep no state.
#pragma once

#include <cstdint>

namespace canopy {

// A panel of one operand: `width` rows of A (or columns of B), `depth` steps of k. Element (i, k) is `across[i] +
// along[k]` elements after `data`. Offsets past the operand's last row repeat that row.
struct PanelSource {
    const void* data;
    std::uint32_t type;  // a CanopyElement
    bool along_runs;     // each aligned group of four (integers: eight) offsets in `along` is consecutive
    const std::int64_t* across;
    const std::int64_t* along;
    std::int64_t depth;
    std::int64_t next;  // elements from here to what is packed next, to be prefetched
};

constexpr int largest_panel_depth = 384;
constexpr int largest_tile_rows = 8;
constexpr int largest_tile_columns = 48;
constexpr int most_tile_vectors = 3;

// A float panel holds `width` values for each k. An integer panel holds `width` pairs of 16-bit values for every two
// steps of k; the last pair is padded with zero.
struct ProductTiles {
    int rows;        // of a register tile: the width of a panel of A
    int columns;     // the width of a panel of B
    int lanes;       // columns of a vector
    int depth;       // steps of k in a panel
    bool rows_stay;  // the panel of A, not that of B, should stay in the L1 cache
    void (*pack_rows)(const PanelSource& source, float* panel);
    void (*pack_columns)(const PanelSource& source, float* panel);
    void (*pack_integer_rows)(const PanelSource& source, std::int16_t* panel);
    void (*pack_integer_columns)(const PanelSource& source, std::int16_t* panel);
    // Computes a tile that is one, two or three vectors wide: sums over `depth`, added to `initial`, stored to `c`.
    // Strides are elements between rows. Panels are as wide as the widest tile.
    void (*tile[most_tile_vectors])(std::int64_t depth, const float* a, const float* b, const float* initial,
                                    std::int64_t initial_stride, float* c, std::int64_t c_stride);
    // The same over `pairs` pairs of k.
    void (*integer_tile[most_tile_vectors])(std::int64_t pairs, const std::int16_t* a, const std::int16_t* b,
                                            const std::int32_t* initial, std::int64_t initial_stride, std::int32_t* c,
                                            std::int64_t c_stride);
    // Round to nearest, ties to even; magnitudes above `limit` are clamped to it.
    void (*to_half)(const float* values, std::uint16_t* out, std::int64_t count, float limit);
    void (*to_bfloat16)(const float* values, std::uint16_t* out, std::int64_t count);
};

extern const ProductTiles product_tiles_baseline;
extern const ProductTiles product_tiles_avx2;
extern const ProductTiles product_tiles_avx512;
extern const ProductTiles product_tiles_vnni;  // AVX-512 with instructions for products of integers

}  // namespace canopy
