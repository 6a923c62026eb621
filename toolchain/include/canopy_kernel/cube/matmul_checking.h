// SPDX-License-Identifier: Apache-2.0
// What the calls of AscendC::Matmul tell a checker, in the checking variant.
//
// On the chip, a vector core asks the cube core of its group for a product. It sends the request by MTE3, after what
// MTE3 was given before; so the operands are read, and results in global memory are written, as if by MTE3. Results in
// the unified buffer come by MTE2. A cube core, and a core of both kinds, use their own pipes.
#ifndef CANOPY_KERNEL_MATMUL_CHECKING_H
#define CANOPY_KERNEL_MATMUL_CHECKING_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/cube/cube_checking.h"
#include "canopy_kernel/cube/matmul_tile.h"

namespace canopy::kernel {

inline bool asks_cube_core() { return !coupled && on_vector_core(); }

inline pipe_t operand_pipe(Hardware memory) {
    if (asks_cube_core() || memory == Hardware::UB) return PIPE_MTE3;
    return memory == Hardware::GM ? PIPE_MTE2 : PIPE_MTE1;
}
inline pipe_t result_pipe(Hardware memory) {
    if (asks_cube_core()) return memory == Hardware::UB ? PIPE_MTE2 : PIPE_MTE3;
    if (!coupled) return PIPE_FIX;
    return memory == Hardware::UB ? PIPE_V : PIPE_MTE3;
}

// A part of a matrix: `add(address, walk)` gets its elements.
template <class Add>
inline void add_view(const MatrixView& view, int64_t rows, int64_t columns, const Add& add) {
    if (view.data == nullptr || rows <= 0 || columns <= 0) return;
    if (view.blocks.rows != 0 || (view.blocks.columns == 0 && view.column_stride != 1 && view.row_stride == 1)) {
        MatrixView turned = view;
        turned.row_stride = view.column_stride;
        turned.column_stride = view.row_stride;
        turned.blocks = {view.blocks.columns, view.blocks.rows, view.blocks.column_stride, view.blocks.row_stride};
        return add_view(turned, columns, rows, add);
    }
    const auto bytes = [&](int64_t elements) {
        return (static_cast<uint64_t>(elements) * view.size + view.packing - 1) / view.packing;
    };
    const uint64_t row = bytes(view.row_stride);
    const auto lines = static_cast<uint32_t>(rows);
    if (view.blocks.columns == 0) {
        add(view.data, Walk{bytes(columns), row, lines});
        return;
    }
    // Columns of blocks, in which the rows are adjacent.
    const int64_t width = view.blocks.columns, whole = columns / width;
    const uint64_t block = bytes(view.blocks.column_stride);
    add(view.data, Walk{bytes(width) * lines, block, static_cast<uint32_t>(whole)});
    add(view.data + static_cast<uint64_t>(whole) * block, Walk{bytes(columns % width), row, lines});
}

// An operand of the open instruction, if its memory belongs to the pipe.
inline void add_operand_view(pipe_t pipe, const char* name, const MatrixView& view, int64_t rows, int64_t columns) {
    const Hardware memory = memory_holding(view.data);
    if (operand_pipe(memory) != pipe) return;
    const OperandPlace place{view.data, 0, memory, static_cast<uint16_t>(view.packing == 1 ? view.size : 1)};
    add_view(view, rows, columns,
             [&](const void* at, const Walk& walk) { add_access(CANOPY_CHECK_READ, name, place, at, walk); });
}
inline void add_operand_bytes(pipe_t pipe, const char* name, const void* data, const Walk& walk, uint16_t element) {
    if (data == nullptr) return;
    const Hardware memory = memory_holding(data);
    if (operand_pipe(memory) != pipe) return;
    add_access(CANOPY_CHECK_READ, name, {data, 0, memory, element}, data, walk);
}

// Part of the result, from `row` and `column` of the target on.
template <class D>
inline void add_product_result(const TileTarget& target, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    const OperandPlace place{target.data, 0, target.global ? Hardware::GM : memory_holding(target.data), sizeof(D)};
    MatrixView view = result_view<D>(target);
    const int64_t panels = view.blocks.columns == 0 ? 0 : column / view.blocks.columns;
    const int64_t first = row * view.row_stride + panels * view.blocks.column_stride +
                          (column - panels * view.blocks.columns) * view.column_stride;
    view.data += first * static_cast<int64_t>(sizeof(D));
    add_view(view, rows, columns,
             [&](const void* at, const Walk& walk) { add_result("C", place, at, walk, element_kind<D>); });
}

// The result is there, for all pipes of the core.
inline void tell_product_complete(const char* name, bool global, Where where) {
    if constexpr (is_checking_variant)
        tell_order(name, result_pipe(global ? Hardware::GM : Hardware::UB), PIPE_ALL, where);
}

inline void tell_all_complete([[maybe_unused]] bool active, [[maybe_unused]] const char* name,
                              [[maybe_unused]] Where where) {
    if constexpr (is_checking_variant) {
        if (!active) return;
        tell_product_complete(name, true, where);
        if (result_pipe(Hardware::UB) != result_pipe(Hardware::GM)) tell_product_complete(name, false, where);
    }
}

// The lines that set operands in local memory: a checker reports those for what is wrong with an operand.
template <bool checking>
struct OperandLines {
    void set_line_a(Where) {}
    void set_line_b(Where) {}
};
template <>
struct OperandLines<true> {
    void set_line_a(Where where) { line_a = where; }
    void set_line_b(Where where) { line_b = where; }
    Where line_a{}, line_b{};
};

// The part of a call that writes a result, which `add_product_result` names. With `sync`, the call returns when the
// result is there.
template <bool checking>
class ProductResult {
public:
    ProductResult(const char*, bool, bool, Where) {}
};
template <>
class ProductResult<true> {
public:
    ProductResult(const char* name, bool global, bool sync, Where where)
        : name_(name), where_(where), global_(global), sync_(sync) {
        const pipe_t pipe = result_pipe(global ? Hardware::GM : Hardware::UB);
        if (asks_cube_core()) {
            if (pipe != PIPE_MTE3) tell_order(name, PIPE_MTE3, pipe, where);
        } else {
            tell_order(name, PIPE_MTE2, pipe, where);
            if (!coupled) tell_order(name, PIPE_MTE1, pipe, where);
            if (coupled && pipe != PIPE_MTE3) tell_order(name, PIPE_MTE3, pipe, where);
        }
        open_instruction(pipe, name, where, CANOPY_CHECK_FILL);
    }
    ProductResult(const ProductResult&) = delete;
    ProductResult& operator=(const ProductResult&) = delete;
    ~ProductResult() {
        close_instruction();
        if (sync_) tell_product_complete(name_, global_, where_);
    }

private:
    const char* name_;
    Where where_;
    bool global_, sync_;
};
using WritesResult = ProductResult<is_checking_variant>;

// Reads the members of a product to tell what its calls touch. `tile` is the part of the result that is computed.
struct ProductTeller {
    // The matrices themselves. What functions of the program copy in is not known.
    template <class Product, class Tile>
    static void add_a(const Product& product, pipe_t pipe, const Tile& tile, bool local) {
        if (Product::copies_a || product.a_ == nullptr || product.a_local_ != local) return;
        add_operand_view(pipe, "A", product.left().from(tile.m, 0, here()), tile.rows, product.single_k_);
    }
    template <class Product, class Tile>
    static void add_b(const Product& product, pipe_t pipe, const Tile& tile, bool local) {
        if (Product::copies_b || product.b_ == nullptr || product.b_local_ != local) return;
        const int64_t depth = product.single_k_;
        if (Product::sparse) {
            // Two of four values are stored, with an index of two bits for each of them.
            const auto stored = static_cast<uint64_t>(depth / 2);
            const auto columns = static_cast<uint64_t>(product.columns_b());
            add_operand_bytes(pipe, "B", product.b_, {stored * columns}, 1);
            add_operand_bytes(pipe, "index", product.sparse_index_, {stored * round_up(columns, 16) / 4}, 1);
        } else {
            add_operand_view(pipe, "B", product.right().from(0, tile.n, here()), depth, tile.columns);
        }
    }
    template <class Product, class Tile>
    static void add_operands(const Product& product, pipe_t pipe, const Tile& tile) {
        const int64_t depth = product.single_k_;
        add_a(product, pipe, tile, false);
        add_b(product, pipe, tile, false);
        if (product.a_scales_ != nullptr)
            add_scales(pipe, "scaleA", product.a_scales_, !product.a_scales_turned_, {tile.m, tile.rows}, depth,
                       product.rows_a(), product.depth_a());
        if (product.b_scales_ != nullptr)
            add_scales(pipe, "scaleB", product.b_scales_, product.b_scales_turned_, {tile.n, tile.columns}, depth,
                       product.columns_b(), product.depth_b());
        using Bias = typename Product::BiasT;
        if (product.bias_ != nullptr)
            add_operand_bytes(pipe, "bias", static_cast<const Bias*>(product.bias_) + tile.n,
                              {tile.columns * sizeof(Bias)}, sizeof(Bias));
        if (product.scaled_ && product.scaling_.columns != nullptr)
            add_operand_bytes(pipe, "quantVector", product.scaling_.columns + tile.n, {tile.columns * sizeof(uint64_t)},
                              sizeof(uint64_t));
    }

    // Before the call makes the product: a barrier of the request, and the operands.
    template <class Product, class Tile>
    static void tell_operands(const Product& product, const Tile& tile, const char* name, Where where) {
        if (asks_cube_core()) tell_barrier(name, PIPE_MTE3, where);
        for (const pipe_t pipe : {PIPE_MTE2, PIPE_MTE1, PIPE_MTE3}) {
            const Instruction instruction(pipe, name, where, CANOPY_CHECK_USE);
            add_operands(product, pipe, tile);
        }
        for (const pipe_t pipe : {PIPE_MTE1, PIPE_MTE3}) {
            {
                const Instruction instruction(pipe, "SetTensorA", product.line_a, CANOPY_CHECK_USE);
                add_a(product, pipe, tile, true);
            }
            const Instruction instruction(pipe, "SetTensorB", product.line_b, CANOPY_CHECK_USE);
            add_b(product, pipe, tile, true);
        }
    }

private:
    struct Lines {
        int64_t first;
        uint64_t count;
    };
    // Pairs of scales for 64 elements, line after line or pair after pair.
    static void add_scales(pipe_t pipe, const char* name, const uint8_t* data, bool by_lines, const Lines& lines,
                           int64_t depth, int64_t all_lines, int64_t whole_depth) {
        const auto pairs = static_cast<uint64_t>((depth + 63) / 64);
        const auto all_pairs = static_cast<uint64_t>((whole_depth + 63) / 64);
        const uint64_t line = by_lines ? 2 * all_pairs : 2, pair = 2 * static_cast<uint64_t>(all_lines);
        const Walk walk = by_lines ? Walk{2 * pairs, line, static_cast<uint32_t>(lines.count)}
                                   : Walk{2 * lines.count, pair, static_cast<uint32_t>(pairs)};
        add_operand_bytes(pipe, name, data + static_cast<uint64_t>(lines.first) * line, walk, 1);
    }
};

}  // namespace canopy::kernel

#endif
