// SPDX-License-Identifier: Apache-2.0
// The blocked matrix product. Operands are packed into panels as wide as a register tile and widened to float (or to
// 16-bit integers) on the way; a tile runs along k through one panel of A and one of B. Meanwhile the panels of A for
// `block_rows` rows and of B for `block_columns` columns stay in the caches. Each kernel block is one caller: nothing
// here is shared between threads.
#include "device/soft/product/product.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/mapping.h"
#include "base/thread_object.h"
#include "canopy/kernel_image.h"
#include "device/soft/product/product_tiles.h"
#include "foundation/half.h"

namespace canopy {
namespace {

constexpr std::int64_t block_rows = 960;
constexpr std::int64_t block_columns = 192;
// Lines of memory that are packed together; even, since integers are packed in pairs.
constexpr std::int64_t lines_together = 16;
// A 16-bit result is accumulated in a scratch matrix when k needs more than one panel.
constexpr std::int64_t scratch_rows = 240;
constexpr std::int64_t scratch_columns = 576;

constexpr float largest_half = 65504.0f;
constexpr float infinity = std::numeric_limits<float>::infinity();

// A thread's buffers for products; mapped at its first product.
struct Workspace {
    float a[block_rows * largest_panel_depth];
    float b[block_columns * largest_panel_depth];
    float scratch[scratch_rows * scratch_columns];
    float bias[block_columns + largest_tile_columns];
    float tile[largest_tile_rows * largest_tile_columns];
    std::int64_t a_along[largest_panel_depth];
    std::int64_t b_along[largest_panel_depth];
};

struct ThreadWorkspace {
    Mapping memory;
};

// Null if the system is out of memory: the product then faults, and so does the block that called it.
Workspace* thread_workspace() noexcept {
    ThreadWorkspace* own = ThreadObject<ThreadWorkspace>::get();
    if (!own) return nullptr;
    if (!own->memory.base()) {
        auto made = Mapping::sparse(sizeof(Workspace));
        if (made.ok()) own->memory = std::move(*made);
    }
    return reinterpret_cast<Workspace*>(own->memory.base());
}

bool is_integer(std::uint32_t type) noexcept {
    return type == CANOPY_ELEMENT_INT8 || type == CANOPY_ELEMENT_UINT8 || type == CANOPY_ELEMENT_INT4;
}

// Maps the index of a row (or column) of a matrix to its offset.
struct Axis {
    std::int64_t stride;
    std::int64_t block;  // 0: none
    std::int64_t block_stride;
    [[nodiscard]] std::int64_t at(std::int64_t index) const noexcept {
        return block == 0 ? index * stride : index / block * block_stride + index % block * stride;
    }
};

struct Matrix {
    Axis rows;
    Axis columns;
};

Matrix matrix(std::int64_t row_stride, std::int64_t column_stride, const CanopyBlocking& blocks) noexcept {
    return {{row_stride, blocks.rows, blocks.row_stride}, {column_stride, blocks.columns, blocks.column_stride}};
}

// --- packing --------------------------------------------------------------------------------------------------------

// Fills in the offsets of `depth` steps of k. True if they form runs that can be read together.
bool fill_along(const Axis& axis, std::int64_t begin, std::int64_t depth, std::int64_t run,
                std::int64_t* along) noexcept {
    bool runs = axis.stride == 1;
    for (std::int64_t k = 0; k < depth; ++k) along[k] = axis.at(begin + k);
    for (std::int64_t k = 0; runs && axis.block != 0 && k + run <= depth; k += run)
        runs = along[k + run - 1] - along[k] == run - 1;
    return runs;
}

template <class Value>
void scale_panel(const CanopyScale& scale, std::int64_t first, std::int64_t count, std::int64_t k_begin,
                 std::int64_t depth, int width, Value* panel) noexcept {
    for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t step = k_begin + k;
            const std::uint8_t byte = scale.data[(first + i) * scale.stride + step / 64 * scale.pair_stride +
                                                 step / 32 % 2 * scale.group_stride];
            const std::uint32_t bits = byte == 0 ? 0x00400000u : byte == 255 ? 0x7FC00000u : std::uint32_t{byte} << 23;
            panel[k * width + i] *= std::bit_cast<float>(bits);
        }
}

struct Operand {
    const void* data;
    std::uint32_t type;
    const CanopyScale* scale;
    Axis across;  // rows of A, columns of B
    Axis along;
};

template <class Value>
using PackPanel = void (*)(const PanelSource&, Value*);

// Packs `count` rows (columns) from `first` on. A panel of integers has an even depth. Lines of memory that run across
// the panels are read a few at a time from one end to the other: lines that are a power of two apart evict each other,
// so they must be used up soon after they were read.
template <class Value>
void pack_block(const Operand& operand, std::int64_t first, std::int64_t count, std::int64_t k_begin,
                std::int64_t depth, int width, PackPanel<Value> pack, std::int64_t* along, Value* out) noexcept {
    constexpr bool integers = std::is_same_v<Value, std::int16_t>;
    std::int64_t across[std::max(largest_tile_rows, largest_tile_columns)];
    const bool runs = fill_along(operand.along, k_begin, depth, integers ? 8 : 4, along);
    const std::int64_t packed_depth = integers ? (depth + 1) & ~std::int64_t{1} : depth;
    const bool lines = !runs && operand.across.stride == 1;
    const std::int64_t step = lines ? lines_together : depth;
    const std::int64_t next = lines ? step * operand.along.stride : width * operand.across.stride;
    for (std::int64_t k = 0; k < depth; k += step) {
        const PanelSource source{operand.data, operand.type, runs, across, along + k, std::min(step, depth - k), next};
        for (std::int64_t panel = 0; panel < count; panel += width) {
            for (int i = 0; i < width; ++i) across[i] = operand.across.at(first + std::min(panel + i, count - 1));
            pack(source, out + panel * packed_depth + k * width);
        }
    }
    if constexpr (!integers) {
        if (!operand.scale->data) return;
        for (std::int64_t panel = 0; panel < count; panel += width)
            scale_panel(*operand.scale, first + panel, std::min<std::int64_t>(width, count - panel), k_begin, depth,
                        width, out + panel * depth);
    }
}

// --- results --------------------------------------------------------------------------------------------------------

struct Destination {
    void* data;
    std::uint32_t type;
    Matrix matrix;
    float limit;  // largest magnitude of a half result
    [[nodiscard]] bool plain() const noexcept {
        return matrix.columns.stride == 1 && matrix.columns.block == 0 && matrix.rows.block == 0 &&
               (type == CANOPY_ELEMENT_FLOAT || type == CANOPY_ELEMENT_INT32);
    }
};

template <class Sum>
Sum read_value(const void* data, std::uint32_t type, std::int64_t at) noexcept {
    switch (type) {
        case CANOPY_ELEMENT_HALF:
            return static_cast<Sum>(half_to_float(static_cast<const std::uint16_t*>(data)[at]));
        case CANOPY_ELEMENT_BFLOAT16:
            return static_cast<Sum>(bfloat16_to_float(static_cast<const std::uint16_t*>(data)[at]));
        case CANOPY_ELEMENT_INT32:
            return static_cast<Sum>(static_cast<const std::int32_t*>(data)[at]);
        default:
            return static_cast<Sum>(static_cast<const float*>(data)[at]);
    }
}

// Writes adjacent values.
template <class Sum>
void write_run(const ProductTiles& tiles, const Sum* values, const Destination& result, std::int64_t at,
               std::int64_t count) noexcept {
    if constexpr (std::is_same_v<Sum, float>) {
        if (result.type == CANOPY_ELEMENT_HALF)
            return tiles.to_half(values, static_cast<std::uint16_t*>(result.data) + at, count, result.limit);
        if (result.type == CANOPY_ELEMENT_BFLOAT16)
            return tiles.to_bfloat16(values, static_cast<std::uint16_t*>(result.data) + at, count);
    }
    std::memcpy(static_cast<Sum*>(result.data) + at, values, static_cast<std::size_t>(count) * sizeof(Sum));
}

template <class Sum>
void write_area(const ProductTiles& tiles, const Sum* values, std::int64_t stride, const Destination& result,
                std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) noexcept {
    const Axis& axis = result.matrix.columns;
    for (std::int64_t i = 0; i < rows; ++i, values += stride) {
        const std::int64_t base = result.matrix.rows.at(row + i);
        for (std::int64_t j = 0; j < columns;) {
            std::int64_t run = 1;
            if (axis.stride == 1 && axis.block == 0)
                run = columns;
            else if (axis.stride == 1)
                run = std::min(columns - j, axis.block - (column + j) % axis.block);
            write_run(tiles, values + j, result, base + axis.at(column + j), run);
            j += run;
        }
    }
}

template <class Sum>
void read_area(Sum* values, std::int64_t stride, const Destination& result, std::int64_t row, std::int64_t column,
               std::int64_t rows, std::int64_t columns) noexcept {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            values[i * stride + j] = read_value<Sum>(
                result.data, result.type, result.matrix.rows.at(row + i) + result.matrix.columns.at(column + j));
}

// --- the blocked loops ----------------------------------------------------------------------------------------------

template <class Sum>
class Blocked {
public:
    using Value = std::conditional_t<std::is_same_v<Sum, float>, float, std::int16_t>;

    Blocked(const CanopyProduct& product, const ProductTiles& tiles, Workspace& workspace) noexcept
        : product_(product), tiles_(tiles), workspace_(workspace) {
        const Matrix a = matrix(product.a_row_stride, product.a_column_stride, product.a_blocks);
        const Matrix b = matrix(product.b_row_stride, product.b_column_stride, product.b_blocks);
        a_ = {product.a, product.a_type, &product.a_scale, a.rows, a.columns};
        b_ = {product.b, product.b_type, &product.b_scale, b.columns, b.rows};
    }

    void run(const Destination& result) noexcept {
        const bool narrow = result.type == CANOPY_ELEMENT_HALF || result.type == CANOPY_ELEMENT_BFLOAT16;
        if (narrow && product_.k > tiles_.depth) return run_through_scratch(result);
        area(result, 0, 0, product_.m, product_.n, product_.accumulate != 0);
    }

private:
    // Accumulates in full width and rounds once at the end.
    void run_through_scratch(const Destination& result) noexcept {
        Sum* scratch = reinterpret_cast<Sum*>(workspace_.scratch);
        for (std::int64_t row = 0; row < product_.m; row += scratch_rows)
            for (std::int64_t column = 0; column < product_.n; column += scratch_columns) {
                const std::int64_t rows = std::min(scratch_rows, product_.m - row);
                const std::int64_t columns = std::min(scratch_columns, product_.n - column);
                // Offset so that element (row, column) is the first one of the scratch matrix.
                const Destination sums{scratch - row * scratch_columns - column,
                                       wide_type,
                                       {{scratch_columns, 0, 0}, {1, 0, 0}},
                                       infinity};
                if (product_.accumulate != 0) read_area(scratch, scratch_columns, result, row, column, rows, columns);
                area(sums, row, column, rows, columns, product_.accumulate != 0);
                write_area(tiles_, scratch, scratch_columns, result, row, column, rows, columns);
            }
    }

    void area(const Destination& result, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
              bool accumulate) noexcept {
        for (std::int64_t i = 0; i < rows; i += block_rows)
            for (std::int64_t k = 0; k == 0 || k < product_.k; k += tiles_.depth)
                one_depth(result, row + i, column, std::min(block_rows, rows - i), columns, k, accumulate || k != 0);
    }

    // All products of `rows` rows over one panel's steps of k, starting at `k`.
    void one_depth(const Destination& result, std::int64_t row, std::int64_t column, std::int64_t rows,
                   std::int64_t columns, std::int64_t k, bool accumulate) noexcept {
        const std::int64_t depth = std::min<std::int64_t>(tiles_.depth, product_.k - k);
        pack_block<Value>(a_, row, rows, k, depth, tiles_.rows, rows_packer(), workspace_.a_along, packed_a());
        for (std::int64_t j = 0; j < columns; j += block_columns) {
            const std::int64_t count = std::min(block_columns, columns - j);
            pack_block<Value>(b_, column + j, count, k, depth, tiles_.columns, columns_packer(), workspace_.b_along,
                              packed_b());
            fill_bias(column + j, count, k == 0);
            all_tiles(result, row, column + j, rows, count, depth, accumulate);
        }
    }

    void all_tiles(const Destination& result, std::int64_t row, std::int64_t column, std::int64_t rows,
                   std::int64_t columns, std::int64_t depth, bool accumulate) noexcept {
        if (tiles_.rows_stay) {
            for (std::int64_t i = 0; i < rows; i += tiles_.rows)
                for (std::int64_t j = 0; j < columns; j += tiles_.columns)
                    one_tile(result, row, column, i, j, rows, columns, depth, accumulate);
        } else {
            for (std::int64_t j = 0; j < columns; j += tiles_.columns)
                for (std::int64_t i = 0; i < rows; i += tiles_.rows)
                    one_tile(result, row, column, i, j, rows, columns, depth, accumulate);
        }
    }

    void one_tile(const Destination& result, std::int64_t row, std::int64_t column, std::int64_t i, std::int64_t j,
                  std::int64_t rows, std::int64_t columns, std::int64_t depth, bool accumulate) noexcept {
        const std::int64_t packed_depth = std::is_same_v<Sum, float> ? depth : (depth + 1) & ~std::int64_t{1};
        const Value* a = packed_a() + i * packed_depth;
        const Value* b = packed_b() + j * packed_depth;
        const std::int64_t tile_rows = std::min<std::int64_t>(tiles_.rows, rows - i);
        const std::int64_t tile_columns = std::min<std::int64_t>(tiles_.columns, columns - j);
        const std::int64_t vectors = (tile_columns + tiles_.lanes - 1) / tiles_.lanes;
        const Sum* bias = reinterpret_cast<const Sum*>(workspace_.bias) + j;
        if (result.plain() && tile_rows == tiles_.rows && tile_columns == vectors * tiles_.lanes) {
            const std::int64_t stride = result.matrix.rows.stride;
            Sum* c = static_cast<Sum*>(result.data) + (row + i) * stride + column + j;
            return accumulate && !has_bias_ ? compute(vectors, packed_depth, a, b, c, stride, c, stride)
                                            : start_tile(vectors, accumulate, packed_depth, a, b, bias, c, stride);
        }
        // Edges and other layouts go through a one-tile buffer.
        Sum* tile = reinterpret_cast<Sum*>(workspace_.tile);
        const std::int64_t stride = tiles_.columns;
        if (accumulate) {
            read_area(tile, stride, result, row + i, column + j, tile_rows, tile_columns);
            add_bias(bias, tile, stride, tile_rows, tile_columns);
            compute(vectors, packed_depth, a, b, tile, stride, tile, stride);
        } else {
            compute(vectors, packed_depth, a, b, bias, 0, tile, stride);
        }
        write_area(tiles_, tile, stride, result, row + i, column + j, tile_rows, tile_columns);
    }

    void start_tile(std::int64_t vectors, bool accumulate, std::int64_t depth, const Value* a, const Value* b,
                    const Sum* bias, Sum* c, std::int64_t stride) noexcept {
        if (!accumulate) return compute(vectors, depth, a, b, bias, 0, c, stride);
        add_bias(bias, c, stride, tiles_.rows, vectors * tiles_.lanes);
        compute(vectors, depth, a, b, c, stride, c, stride);
    }

    void add_bias(const Sum* bias, Sum* c, std::int64_t stride, std::int64_t rows, std::int64_t columns) noexcept {
        if (!has_bias_) return;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) c[i * stride + j] = wrapping_sum(c[i * stride + j], bias[j]);
    }

    static Sum wrapping_sum(Sum left, Sum right) noexcept {
        if constexpr (std::is_same_v<Sum, float>)
            return left + right;
        else
            return static_cast<Sum>(static_cast<std::uint32_t>(left) + static_cast<std::uint32_t>(right));
    }

    // Initial values of the sums of these columns; zeros after the first panel of k.
    void fill_bias(std::int64_t column, std::int64_t count, bool first) noexcept {
        Sum* bias = reinterpret_cast<Sum*>(workspace_.bias);
        has_bias_ = first && product_.bias;
        for (std::int64_t j = 0; j < count + largest_tile_columns && j < block_columns + largest_tile_columns; ++j)
            bias[j] = has_bias_ && j < count ? read_value<Sum>(product_.bias, product_.bias_type, column + j) : Sum{};
    }

    // The first `vectors` vectors of a tile's columns.
    void compute(std::int64_t vectors, std::int64_t depth, const Value* a, const Value* b, const Sum* initial,
                 std::int64_t initial_stride, Sum* c, std::int64_t c_stride) noexcept {
        if constexpr (std::is_same_v<Sum, float>)
            tiles_.tile[vectors - 1](depth, a, b, initial, initial_stride, c, c_stride);
        else
            tiles_.integer_tile[vectors - 1](depth / 2, a, b, initial, initial_stride, c, c_stride);
    }

    [[nodiscard]] PackPanel<Value> rows_packer() const noexcept {
        if constexpr (std::is_same_v<Sum, float>)
            return tiles_.pack_rows;
        else
            return tiles_.pack_integer_rows;
    }
    [[nodiscard]] PackPanel<Value> columns_packer() const noexcept {
        if constexpr (std::is_same_v<Sum, float>)
            return tiles_.pack_columns;
        else
            return tiles_.pack_integer_columns;
    }
    [[nodiscard]] Value* packed_a() const noexcept { return reinterpret_cast<Value*>(workspace_.a); }
    [[nodiscard]] Value* packed_b() const noexcept { return reinterpret_cast<Value*>(workspace_.b); }

    static constexpr std::uint32_t wide_type = std::is_same_v<Sum, float> ? CANOPY_ELEMENT_FLOAT : CANOPY_ELEMENT_INT32;
    const CanopyProduct& product_;
    const ProductTiles& tiles_;
    Workspace& workspace_;
    Operand a_;
    Operand b_;
    bool has_bias_ = false;
};

const ProductTiles& tiles_of(int level) noexcept {
    if (level >= 5) return product_tiles_vnni;
    return level == 4 ? product_tiles_avx512 : level == 3 ? product_tiles_avx2 : product_tiles_baseline;
}

}  // namespace

int highest_product_level() noexcept {
    const int level = canopy_machine_level();
    return level == 4 && __builtin_cpu_supports("avx512vnni") != 0 ? 5 : level;
}

void multiply_at_level(const CanopyProduct& product, int level) noexcept {
    if (product.m <= 0 || product.n <= 0) return;
    Workspace& workspace = *thread_workspace();
    const Destination result{product.c, product.c_type,
                             matrix(product.c_row_stride, product.c_column_stride, product.c_blocks),
                             product.saturate != 0 ? largest_half : infinity};
    if (is_integer(product.a_type) && is_integer(product.b_type))
        Blocked<std::int32_t>(product, tiles_of(level), workspace).run(result);
    else
        Blocked<float>(product, tiles_of(level), workspace).run(result);
}

void multiply(const CanopyProduct& product) noexcept {
    static const int level = highest_product_level();
    multiply_at_level(product, level);
}

}  // namespace canopy
