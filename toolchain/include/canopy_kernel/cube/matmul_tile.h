// SPDX-License-Identifier: Apache-2.0
// The implementation of AscendC::Matmul: operands as strided or blocked matrices for the device's product, and the
// transfer of a tile from L0C to its destination. Everything belongs to one block.
#ifndef CANOPY_KERNEL_MATMUL_TILE_H
#define CANOPY_KERNEL_MATMUL_TILE_H

#include "canopy_kernel/core/pipe.h"
#include "canopy_kernel/core/tensor.h"
#include "canopy_kernel/cube/cube_multiply.h"
#include "canopy_kernel/cube/fixpipe.h"
#include "canopy_kernel/cube/matmul_config.h"
#include "canopy_kernel/cube/sparse_multiply.h"

namespace canopy::kernel {

using AscendC::BatchMode;
using AscendC::CFG_NORM;
using AscendC::CubeFormat;
using AscendC::DataCopyOutParams;
using AscendC::GetMmDstType;
using AscendC::IterateOrder;
using AscendC::LayoutMode;
using AscendC::MatmulCallBackFunc;
using AscendC::MatmulConfig;
using AscendC::ONE_BLK_SIZE;
using AscendC::TPipe;

// A matrix in memory as the product reads it.
struct MatrixView {
    const unsigned char* data = nullptr;
    uint32_t type = 0;
    uint32_t packing = 1;  // elements in `size` bytes
    uint32_t size = 1;
    int64_t row_stride = 0, column_stride = 0;
    CanopyBlocking blocks{};

    // The part that starts at a row and a column; in a blocked matrix it must start at the edge of a block.
    MatrixView from(int64_t row, int64_t column, Where where) const {
        MatrixView part = *this;
        const int64_t at = along(row, row_stride, blocks.rows, blocks.row_stride, where) +
                           along(column, column_stride, blocks.columns, blocks.column_stride, where);
        part.data = data + at * static_cast<int64_t>(size) / packing;
        return part;
    }

private:
    static int64_t along(int64_t index, int64_t stride, uint32_t block, int64_t block_stride, Where where) {
        if (block == 0) return index * stride;
        if (index % block != 0)
            fail(where,
                 "Matmul: a tile starts at %lld of a matrix in NZ format, whose blocks hold %u; the base of the "
                 "tiling has to be a multiple of that",
                 static_cast<long long>(index), block);
        return index / block * block_stride;
    }
};

template <class T>
inline MatrixView make_view(const void* data) {
    MatrixView view;
    view.data = static_cast<const unsigned char*>(data);
    view.type = product_element<T>();
    view.packing = packing<T>;
    view.size = sizeof(T);
    return view;
}

// A view of a stored matrix with the given format; `leading` is its row length (ND) or its number of rows (NZ). A
// matrix stored transposed is described by its stored rows, then the view is transposed.
template <class T>
inline MatrixView stored_view(const void* data, AscendC::CubeFormat format, int64_t leading, bool transposed) {
    MatrixView view = make_view<T>(data);
    if (format == AscendC::CubeFormat::NZ) {
        constexpr int64_t c0 = elements_in<T>(AscendC::ONE_BLK_SIZE);
        const int64_t column = static_cast<int64_t>(round_up(static_cast<uint64_t>(leading), 16)) * c0;
        view.row_stride = c0;
        view.column_stride = 1;
        view.blocks = {0, static_cast<uint32_t>(c0), 0, column};
    } else if (format == AscendC::CubeFormat::COLUMN_MAJOR) {
        view.row_stride = 1;
        view.column_stride = leading;
    } else {
        view.row_stride = leading;
        view.column_stride = 1;
    }
    if (transposed) {
        const MatrixView stored = view;
        view.row_stride = stored.column_stride;
        view.column_stride = stored.row_stride;
        view.blocks = {stored.blocks.columns, stored.blocks.rows, stored.blocks.column_stride,
                       stored.blocks.row_stride};
    }
    return view;
}

template <class Type, class = void>
inline constexpr bool is_sparse_operand = false;
template <class Type>
inline constexpr bool is_sparse_operand<Type, std::void_t<decltype(Type::indexPos)>> = true;

inline void require_sparse(const uint8_t* index, int64_t k, Where where) {
    if (index == nullptr) fail(where, "Matmul: a sparse B needs SetSparseIndex");
    if (k % 64 != 0)
        fail(where, "Matmul: K is %lld; with a sparse B it must be a multiple of 64", static_cast<long long>(k));
}

// A sparse right operand with `stored` rows, in the format of the program.
inline SparseMatrix sparse_view(const void* values, const uint8_t* index, AscendC::CubeFormat format, int64_t stored,
                                int64_t columns, bool transposed) {
    const auto up = [](int64_t size) { return static_cast<int64_t>(round_up(static_cast<uint64_t>(size), 16)); };
    SparseMatrix matrix{static_cast<const int8_t*>(values), index, 1, 0, 1, up(columns) / 16};
    if (format != AscendC::CubeFormat::NZ) {
        (transposed ? matrix.column_step : matrix.row_step) = transposed ? stored : columns;
    } else if (transposed) {
        matrix.row_block_step = up(columns) * 32;
        matrix.column_step = 32;
    } else {
        matrix.row_step = 32;
        matrix.column_block_step = up(stored) * 32;
    }
    return matrix;
}

inline void set_left(CanopyProduct& product, const MatrixView& view) {
    product.a = view.data;
    product.a_type = view.type;
    product.a_row_stride = view.row_stride;
    product.a_column_stride = view.column_stride;
    product.a_blocks = view.blocks;
}
inline void set_right(CanopyProduct& product, const MatrixView& view) {
    product.b = view.data;
    product.b_type = view.type;
    product.b_row_stride = view.row_stride;
    product.b_column_stride = view.column_stride;
    product.b_blocks = view.blocks;
}
inline void set_result(CanopyProduct& product, const MatrixView& view) {
    product.c = const_cast<unsigned char*>(view.data);
    product.c_type = view.type;
    product.c_row_stride = view.row_stride;
    product.c_column_stride = view.column_stride;
    product.c_blocks = view.blocks;
}

// How sums of type S become elements of type D: one scale per column, one for all, or none.
struct ResultScaling {
    QuantMode_t mode = NoQuant;
    uint64_t scalar = 0;
    const uint64_t* columns = nullptr;
};

// A tile of the result: where it starts, and its size.
struct ProductTile {
    int64_t m, n;
    uint32_t rows, columns;
};

// The same as a program sees it, with the offset of the first element.
struct TileOffset {
    int32_t offset;
    int32_t row, col;
    int32_t height, width;
};

// Destination of a tile. `leading` is as for stored_view.
struct TileTarget {
    void* data;
    AscendC::CubeFormat format;
    int64_t leading;
    bool global;
};

template <class D>
inline void store_run(D* to, const D* from, uint32_t count, bool global) {
    if (global)
        store_out(to, from, count);
    else
        __builtin_memcpy(to, from, count * sizeof(D));
}

template <class D>
inline constexpr int64_t result_block = sizeof(D) == 1 ? 32 : 16;

// The whole result as the device's product writes it.
template <class D>
inline MatrixView result_view(const TileTarget& target) {
    MatrixView view = stored_view<D>(target.data, target.format, target.leading, false);
    if (target.format == CubeFormat::NZ) {
        constexpr int64_t block = result_block<D>;
        view.row_stride = block;
        view.blocks = {0, static_cast<uint32_t>(block), 0,
                       static_cast<int64_t>(round_up(static_cast<uint64_t>(target.leading), 16)) * block};
    }
    return view;
}

// Stores one row of up to 16 columns that are adjacent in L0C at row `row` and column `column` of the target.
template <class D>
inline void store_sixteen(const TileTarget& target, const D* values, int64_t row, int64_t column, uint32_t count) {
    auto* data = static_cast<D*>(target.data);
    if (target.format == AscendC::CubeFormat::NZ) {
        constexpr int64_t block = result_block<D>;
        D* to = data +
                column / block * static_cast<int64_t>(round_up(static_cast<uint64_t>(target.leading), 16)) * block +
                row * block + column % block;
        store_run(to, values, count, target.global);
    } else if (target.format == AscendC::CubeFormat::COLUMN_MAJOR) {
        for (uint32_t i = 0; i < count; ++i)
            store_run(data + (column + i) * target.leading + row, values + i, 1, target.global);
    } else {
        store_run(data + row * target.leading + column, values, count, target.global);
    }
}

// Stores the tile of `rows` x `columns` sums at `tile` (fractals of 16 x 16, column by column) in the target, starting
// at `row` and `column`. `first_column` is where its scales start.
template <class D, class S>
inline void store_tile(const TileTarget& target, const S* tile, int64_t row, int64_t column, uint32_t rows,
                       uint32_t columns, const ResultScaling& scaling, uint32_t first_column) {
    const uint64_t fractal_column = round_up(rows, 16) * 16;
    for (uint32_t n = 0; n < columns; n += 16) {
        const uint32_t count = smaller(16u, columns - n);
        const ColumnRules rules(scaling.mode, scaling.scalar,
                                scaling.columns ? scaling.columns + first_column + n : nullptr, false, count);
        for (uint32_t m = 0; m < rows; ++m) {
            const S* sums = tile + n / 16 * fractal_column + m * 16;
            D values[16];
            convert_columns(values, sums, count, scaling.mode, false, rules, 0);
            store_sixteen(target, values, row + m, column + n, count);
        }
    }
}

// Where a function of the program copies a tile of an operand to.
inline LocalTensor<int8_t> tensor_in_l1(unsigned char* place, uint64_t bytes) {
    LocalTensor<int8_t> tensor;
    tensor.place(reinterpret_cast<int8_t*>(place), static_cast<uint32_t>(bytes), TPosition::A1);
    return tensor;
}
// What a function of the program that copies a tile of sums gets: the place of the tile, the sums and their parameters.
template <class D>
inline D* place_of_tile(const TileTarget& target, int64_t row, int64_t column) {
    auto* data = static_cast<D*>(target.data);
    if (target.format == CubeFormat::NZ)
        return data + column * static_cast<int64_t>(round_up(static_cast<uint64_t>(target.leading), 16)) + row * 16;
    return data + row * target.leading + column;
}
template <class S>
inline LocalTensor<int8_t> tensor_of_sums(const S* sums, const ProductTile& tile) {
    LocalTensor<int8_t> tensor;
    const auto height = static_cast<uint16_t>(round_up(tile.rows, 16));
    tensor.place(reinterpret_cast<int8_t*>(const_cast<S*>(sums)),
                 static_cast<uint32_t>(height * round_up(tile.columns, 16) * sizeof(S)), TPosition::CO1);
    return tensor;
}
template <class S>
inline DataCopyOutParams copy_out_params(const TileTarget& target, const ProductTile& tile,
                                         const ResultScaling& scaling) {
    const auto height = static_cast<uint16_t>(round_up(tile.rows, 16));
    DataCopyOutParams params(static_cast<uint16_t>((tile.columns + 15) / 16),
                             static_cast<uint16_t>(height * 16 * sizeof(S) / ONE_BLK_SIZE), 0,
                             static_cast<uint32_t>(target.leading), static_cast<uint16_t>(tile.columns), false);
    params.quantMode = scaling.mode;
    params.quantScalar = scaling.scalar;
    return params;
}

// Sets the atomic mode of the core while a result is written, and restores it afterwards.
class AtomicOutput {
public:
    AtomicOutput(uint8_t how, ElementKind element)
        : state_(core_state()), kind_(state_.atomic), type_(state_.atomic_type) {
        constexpr AtomicKind kinds[] = {AtomicKind::none, AtomicKind::add, AtomicKind::maximum, AtomicKind::minimum};
        // The atomic mode of a cube core applies to its writes; a vector core's mode does not affect the cube.
        if (how != 0 || current_block().core_type != CANOPY_CORE_CUBE) {
            set_atomic(state_, kinds[how & 3], element);
        }
    }
    AtomicOutput(const AtomicOutput&) = delete;
    AtomicOutput& operator=(const AtomicOutput&) = delete;
    ~AtomicOutput() {
        state_.atomic = kind_;
        state_.atomic_type = type_;
    }
    bool none() const { return state_.atomic == AtomicKind::none; }

private:
    CoreState& state_;
    AtomicKind kind_;
    ElementKind type_;
};

constexpr const AscendC::MatmulConfig& product_config(const AscendC::MatmulConfig& config) { return config; }
constexpr const AscendC::MatmulConfig& product_config(const AscendC::MatmulApiStaticTiling& tiling) {
    return tiling.cfg;
}

// Values fixed at compile time override those of the run-time tiling.
inline void apply_constants(TCubeTiling& tiling, const AscendC::MatmulConfig& config) {
    if (config.singleCoreM != 0) tiling.singleCoreM = static_cast<int32_t>(config.singleCoreM);
    if (config.singleCoreN != 0) tiling.singleCoreN = static_cast<int32_t>(config.singleCoreN);
    if (config.singleCoreK != 0) tiling.singleCoreK = static_cast<int32_t>(config.singleCoreK);
    if (config.basicM != 0) tiling.baseM = static_cast<int32_t>(config.basicM);
    if (config.basicN != 0) tiling.baseN = static_cast<int32_t>(config.basicN);
    if (config.basicK != 0) tiling.baseK = static_cast<int32_t>(config.basicK);
}
inline void apply_constants(TCubeTiling& tiling, const AscendC::MatmulApiStaticTiling& constants) {
#define CANOPY_FIELD(name) \
    if (constants.name != -1) tiling.name = constants.name;
    CANOPY_CUBE_TILING_FIELDS(CANOPY_FIELD)
#undef CANOPY_FIELD
}

template <auto function>
inline constexpr bool is_function = !is_same<plain<decltype(function)>, decltype(nullptr)>;

// How the matrices of a batch are laid out in an operand.
struct BatchLayout {
    int64_t rows_apart;  // elements from row to row of one matrix; 0: as without batches
    int64_t matrices_apart;
    int64_t group;  // matrices until the next outer step; 0: all
    int64_t groups_apart;
    int64_t offset(int64_t index) const {
        return group == 0 ? index * matrices_apart : index / group * groups_apart + index % group * matrices_apart;
    }
};

// The matrices of a batch, and the elements between them (0: they are adjacent).
struct BatchSizes {
    uint32_t a, b;
    uint32_t stride_a, stride_b, stride_c;
    uint32_t count() const { return a > b ? a : b; }
};

// Sizes of the dimensions of an operand, from the tiling.
struct LayoutSizes {
    int32_t b, s, n, g, d;
};
inline LayoutSizes layout_sizes_a(const TCubeTiling& tiling) {
    return {tiling.ALayoutInfoB, tiling.ALayoutInfoS, tiling.ALayoutInfoN, tiling.ALayoutInfoG, tiling.ALayoutInfoD};
}
inline LayoutSizes layout_sizes_b(const TCubeTiling& tiling) {
    return {tiling.BLayoutInfoB, tiling.BLayoutInfoS, tiling.BLayoutInfoN, tiling.BLayoutInfoG, tiling.BLayoutInfoD};
}
inline LayoutSizes layout_sizes_c(const TCubeTiling& tiling) {
    return {tiling.CLayoutInfoB, tiling.CLayoutInfoS1, tiling.CLayoutInfoN, tiling.CLayoutInfoG, tiling.CLayoutInfoS2};
}

inline BatchLayout batch_layout(AscendC::LayoutMode mode, int64_t rows, int64_t length, uint32_t stride,
                                const LayoutSizes& sizes) {
    const int64_t b = sizes.b, s = sizes.s, ng = static_cast<int64_t>(sizes.n) * sizes.g, d = sizes.d;
    if (mode == AscendC::LayoutMode::BSNGD) return {ng * d, d, ng, s * ng * d};
    if (mode == AscendC::LayoutMode::SBNGD) return {b * ng * d, d, 0, 0};
    return {0, stride != 0 ? static_cast<int64_t>(stride) : rows * length, 0, 0};
}

// The address of a result in the unified buffer. If the program runs on both kinds of cores, the cube core computes,
// and the buffer is not its own.
template <bool both_kinds, class T>
inline T* own_buffer(const LocalTensor<T>& c, Where where) {
    if (both_kinds && on_cube_core() && current_block().vector_count != 0 && memory_of(c.position()) == Hardware::UB)
        fail(where, "Matmul: with enableMixDualMaster the cube core computes; the result goes to global memory");
    return c.GetPhyAddr();
}

}  // namespace canopy::kernel

#endif
