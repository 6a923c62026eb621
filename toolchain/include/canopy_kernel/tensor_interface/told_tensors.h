// SPDX-License-Identifier: Apache-2.0
// What operations on tensors of AscendC::Te touch, for the checking variant.
#ifndef CANOPY_KERNEL_TENSOR_TOLD_TENSORS_H
#define CANOPY_KERNEL_TENSOR_TOLD_TENSORS_H

#include "canopy_kernel/cube/cube_checking.h"
#include "canopy_kernel/tensor_interface/copy_check.h"

namespace canopy::kernel::te {

// One of the nested loops of a walk: distances in elements.
struct Level {
    int64_t count, step;
};

// The elements of a walk with up to five nested levels, in any order.
class NestedWalk {
public:
    void add(const Level& level) {
        if (level.count == 1) return;
        uint32_t at = size_++;
        for (; at > 0 && levels_[at - 1].step > level.step; --at) levels_[at] = levels_[at - 1];
        levels_[at] = level;
    }
    // visit(first element, walk) for each part that one walk describes. Elements have `bits` bits.
    template <class Visit>
    void each(int64_t first, int64_t bits, const Visit& visit) const {
        int64_t run = 1;
        uint32_t next = 0;
        while (next < size_ && levels_[next].step == run) run *= levels_[next++].count;
        const auto level = [&](uint32_t i) { return next + i < size_ ? levels_[next + i] : Level{1, 0}; };
        const Level piece = level(0), repeat = level(1), outer = level(2), last = level(3);
        const Walk walk{static_cast<uint64_t>((run * bits + 7) / 8), static_cast<uint64_t>(piece.step * bits / 8),
                        static_cast<uint32_t>(piece.count), static_cast<uint64_t>(repeat.step * bits / 8),
                        static_cast<uint32_t>(repeat.count)};
        for (int64_t i = 0; i < last.count; ++i)
            for (int64_t j = 0; j < outer.count; ++j) visit(first + i * last.step + j * outer.step, walk);
    }

private:
    Level levels_[6] = {};
    uint32_t size_ = 0;
};

// The first `count` places of an axis: whole blocks, then what is left.
struct AxisPart {
    int64_t first, inner, blocks;
};
inline AxisPart part_of_axis(const Axis& axis, int64_t count, bool rest) {
    if (axis.blocks == 1) return rest ? AxisPart{0, 0, 0} : AxisPart{0, count, 1};
    const int64_t whole = count / axis.inner;
    return rest ? AxisPart{whole * axis.block_step, count % axis.inner, 1} : AxisPart{0, axis.inner, whole};
}

// Calls visit(first element, walk) for the first rows and columns of the first `count` matrices.
template <class Visit>
inline void each_walk(const Matrices& view, int64_t rows, int64_t columns, int64_t count, int64_t bits,
                      const Visit& visit) {
    for (const bool row_rest : {false, true})
        for (const bool column_rest : {false, true}) {
            const AxisPart row = part_of_axis(view.row, rows, row_rest);
            const AxisPart column = part_of_axis(view.column, columns, column_rest);
            if (row.inner <= 0 || row.blocks <= 0 || column.inner <= 0 || column.blocks <= 0 || count <= 0) continue;
            NestedWalk walk;
            walk.add({column.inner, view.column.step});
            walk.add({column.blocks, view.column.block_step});
            walk.add({row.inner, view.row.step});
            walk.add({row.blocks, view.row.block_step});
            walk.add({count, view.apart});
            walk.each(row.first + column.first, bits, visit);
        }
}

struct Extents {
    int64_t rows, columns, count;
};

// Products and what stores their sums take whole fractals of 16 x 16, as far as the tensor has them.
inline Extents whole_fractals(const Matrices& view, int64_t rows, int64_t columns) {
    const auto up = [](int64_t size, int64_t most) { return smaller((size + 15) / 16 * 16, most); };
    return {up(rows, view.row.size()), up(columns, view.column.size()), 1};
}

// An operand of the open instruction: the first rows and columns of a tensor whose elements are at `address`. The
// scales beside L0A and L0B have no place in the model.
template <class Tensor>
inline void add_tensor(uint8_t kind, const char* operand, const void* address, const Matrices& view,
                       const Extents& extents) {
    using T = typename Tensor::valueType;
    if constexpr (!is_any_of<typename Tensor::location, Location::L0ScaleA, Location::L0ScaleB>) {
        const Hardware memory = is_same<typename Tensor::location, FoundByAddress>
                                    ? memory_holding(address)
                                    : hardware_of<typename Tensor::location>;
        const OperandPlace place{address, 0, memory, checked_element<T>};
        constexpr int64_t bits = sizeof(T) * 8 / packing<T>;
        each_walk(view, extents.rows, extents.columns, extents.count, bits, [&](int64_t first, const Walk& walk) {
            const void* at = static_cast<const unsigned char*>(address) + first * bits / 8;
            if (kind == CANOPY_CHECK_WRITE)
                add_result(operand, place, at, walk, element_kind<T>);
            else
                add_access(kind, operand, place, at, walk);
        });
    }
}

// Both tensors of a copy; with `pad`, the last blocks of the destination are filled.
template <class D, class S>
inline void add_copy(const void* to, const Matrices& target, const void* from, const Matrices& source, bool pad) {
    const Extents common{common_rows(target, source), common_columns(target, source),
                         smaller(target.count, source.count)};
    add_tensor<S>(CANOPY_CHECK_READ, "src", from, source.joined(), common);
    Extents filled = common;
    if (pad) {
        const bool along_rows = target.row.step == 1 && target.row.inner != 1;
        int64_t& size = along_rows ? filled.rows : filled.columns;
        const Axis& axis = along_rows ? target.row : target.column;
        if (axis.step == 1) size = (size + axis.inner - 1) / axis.inner * axis.inner;
    }
    add_tensor<D>(CANOPY_CHECK_WRITE, "dst", to, target.joined(), filled);
}

template <class From, class To>
constexpr pipe_t copy_pipe() {
    if constexpr (is_same<From, Location::GM>)
        return PIPE_MTE2;
    else if constexpr (is_same<From, Location::UB>)
        return is_same<To, Location::UB> ? PIPE_V : PIPE_MTE3;
    else
        return is_same<To, Location::FIXBUF> ? PIPE_FIX : PIPE_MTE1;
}

// Copies between different patterns exchange elements, which the flow of unwritten bytes does not follow.
template <class D, class S>
inline constexpr CanopyCheckFlow copy_flow =
    is_same<pattern_of<D>, pattern_of<S>> ? CANOPY_CHECK_CARRY : CANOPY_CHECK_FILL;

}  // namespace canopy::kernel::te

#endif
