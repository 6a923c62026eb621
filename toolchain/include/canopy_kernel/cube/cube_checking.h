// SPDX-License-Identifier: Apache-2.0
// What operations of the cube touch, for the checking variant: fractals of 512 bytes, and matrices stored in them.
#ifndef CANOPY_KERNEL_CUBE_CHECKING_H
#define CANOPY_KERNEL_CUBE_CHECKING_H

#include "canopy_kernel/core/check.h"

namespace canopy::kernel {

inline constexpr int64_t told_fractal = 512;

// Where fractals are: runs of `run` adjacent ones, `step` fractals apart from run to run, the first run at `first`.
struct FractalRuns {
    int64_t first, run, step, runs;
};

template <class Tensor>
inline void add_fractals(uint8_t kind, const char* operand, const Tensor& tensor, FractalRuns where) {
    if (where.step < 0) {
        where.first += where.step * (where.runs - 1);
        where.step = -where.step;
    }
    if (where.step == where.run) {
        where.run *= where.runs;
        where.runs = 1;
    } else if (where.step == 0 && where.runs > 1) {
        where.runs = 1;
    }
    const auto* at = reinterpret_cast<const unsigned char*>(tensor.GetPhyAddr()) + where.first * told_fractal;
    add_walk(kind, operand, tensor, at,
             {static_cast<uint64_t>(where.run * told_fractal), static_cast<uint64_t>(where.step * told_fractal),
              static_cast<uint32_t>(where.runs)});
}

// A matrix of `lines` lines with `length` elements of T each, in fractals of 16 lines by 32 bytes. Distances from one
// group of 16 lines to the next, and from one step of 32 bytes to the next, are in fractals; one of them is 1.
template <class T>
struct FractalMatrix {
    uint64_t lines, length;
    uint64_t group_step, length_step;
};

// The elements of the matrix, without those that fill up its last fractals.
template <class T, class Tensor>
inline void add_fractal_matrix(uint8_t kind, const char* operand, const Tensor& tensor,
                               const FractalMatrix<T>& matrix) {
    constexpr uint64_t row = 32, c0 = elements_in<T>(row), fractal = 512;
    const auto* first = reinterpret_cast<const unsigned char*>(tensor.GetPhyAddr());
    const uint64_t groups = matrix.lines / 16, rest = matrix.lines % 16;
    const uint64_t steps = matrix.length / c0, end = bytes_of<T>(matrix.length % c0);
    const uint64_t group = matrix.group_step * fractal, step = matrix.length_step * fractal;
    const auto count = [](uint64_t value) { return static_cast<uint32_t>(value); };
    // Whole rows of fractals.
    if (matrix.group_step == 1) {
        if (matrix.lines % 16 == 0 && matrix.length_step == groups)
            add_walk(kind, operand, tensor, first, {steps * step});
        else
            add_walk(kind, operand, tensor, first, {matrix.lines * row, step, count(steps)});
        add_walk(kind, operand, tensor, first + steps * step, {end, row, count(matrix.lines)});
        return;
    }
    if (matrix.length_step == 1 && matrix.group_step == steps)
        add_walk(kind, operand, tensor, first, {groups * group});
    else
        add_walk(kind, operand, tensor, first, {fractal, step, count(steps), group, count(groups)});
    add_walk(kind, operand, tensor, first + groups * group, {rest * row, step, count(steps)});
    add_walk(kind, operand, tensor, first + steps * step, {end, row, 16, group, count(groups)});
    add_walk(kind, operand, tensor, first + groups * group + steps * step, {end, row, count(rest)});
}

// Adds an operand that may be in global memory; a write there combines as the core is set to.
inline void add_result(const char* operand, const OperandPlace& place, const void* address, const Walk& walk,
                       ElementKind element) {
    CanopyCheckAccess* access = add_access(CANOPY_CHECK_WRITE, operand, place, address, walk);
    if (access == nullptr || place.memory != Hardware::GM) return;
    const CoreState& state = core_state();
    if (state.atomic == AtomicKind::none) return;
    access->atomic = static_cast<uint8_t>(state.atomic);
    access->element_type =
        static_cast<uint8_t>(state.atomic_type != ElementKind::as_copied ? state.atomic_type : element);
}

}  // namespace canopy::kernel

#endif
