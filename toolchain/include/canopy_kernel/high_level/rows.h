// SPDX-License-Identifier: Apache-2.0
// What functions on the rows of a matrix share: where a row lies in memory, sums of a function of its elements, and the
// checks of operands. Used by the softmax functions and by the normalisations.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_ROWS_H
#define CANOPY_KERNEL_HIGH_LEVEL_ROWS_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/vector/elementwise.h"
#include "canopy_kernel/vector/reduce.h"

namespace canopy::kernel {

// A matrix in local memory: row after row, or in the NZ format, where each panel of 16 columns is contiguous.
template <bool is_nz>
struct RowLayout {
    static constexpr uint32_t panel = 16;

    uint32_t rows;
    uint32_t columns;

    // Calls body(first column, count, address in each operand...) for each contiguous piece of columns [first, last).
    template <class Body, class... T>
    void for_each_piece(uint64_t row, uint32_t first, uint32_t last, const Body& body, T*... at) const {
        if constexpr (!is_nz) {
            const uint64_t offset = row * columns + first;
            if (first < last) body(first, uint64_t{last - first}, at + offset...);
        } else {
            while (first < last) {
                const uint32_t in_panel = first % panel;
                const uint32_t count = smaller(panel - in_panel, last - first);
                const uint64_t offset = (uint64_t{first / panel} * rows + row) * panel + in_panel;
                if (count == panel)
                    body(first, uint64_t{panel}, at + offset...);
                else
                    body(first, uint64_t{count}, at + offset...);
                first += count;
            }
        }
    }
};

// Partial sums: enough to hide the latency of an addition. The order of the additions never depends on the processor.
inline constexpr uint32_t row_partial_sums = 64;
// Fewer for functions that need many registers themselves, and for pieces of 16 columns.
inline constexpr uint32_t few_partial_sums = 32, panel_partial_sums = 16;

// Adds up a function of many elements, a run of them at a time.
template <uint32_t width>
class PartialSums {
public:
    // Stores operation(s...) of each element, and adds them up before they are narrowed.
    template <class D, class Operation, class... S>
    void add_and_store(uint64_t count, const Operation& operation, D* d, const S*... s) {
        ask_ahead(bytes_of<float>(count));
        [[maybe_unused]] const uint32_t zero = opaque_zero();
        const auto element = [&](uint64_t i) {
            const float value = operation(widen(s[i], zero)...);
            if constexpr (!is_same<D, NoElement>) d[i] = narrow<D>(value);
            return value;
        };
        uint64_t i = 0;
        for (; i + width <= count; i += width) {
            if constexpr (is_same<D, half> || (is_same<S, half> || ...)) {
                CANOPY_HALF_LOOP
                for (uint64_t j = 0; j < width; ++j) lanes_[j] += element(i + j);
            } else {
                CANOPY_VECTOR_LOOP
                for (uint64_t j = 0; j < width; ++j) lanes_[j] += element(i + j);
            }
        }
        for (; i < count; ++i) rest_ += element(i);
    }
    template <class Operation, class... S>
    void add(uint64_t count, const Operation& operation, const S*... s) {
        add_and_store(count, operation, static_cast<NoElement*>(nullptr), s...);
    }

    float total() const {
        float folded[width];
        __builtin_memcpy(folded, lanes_, sizeof folded);
        for (uint32_t half = width / 2; half > 0; half /= 2)
            for (uint32_t i = 0; i < half; ++i) folded[i] += folded[i + half];
        return folded[0] + rest_;
    }

private:
    float lanes_[width] = {};
    float rest_ = 0;
};

// The sum of operation(s...).
template <class Operation, class... S>
inline float sum_of(uint64_t count, const Operation& operation, const S*... s) {
    PartialSums<row_partial_sums> sums;
    sums.add(count, operation, s...);
    return sums.total();
}

// Element-wise operations with two results. All sources of an element are read before its results are written, so each
// result may overlap a source exactly.
struct TwoResults {
    float first, second;
};
template <class Operation, class D, class E, class... S>
inline void compute_pair(uint64_t count, const Operation& operation, D* d, E* e, const S*... s) {
    ask_ahead(bytes_of<D>(count));
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    const auto element = [&](uint64_t i) {
        const TwoResults value = operation(widen(s[i], zero)...);
        d[i] = narrow<D>(value.first);
        e[i] = narrow<E>(value.second);
    };
    if constexpr (is_same<D, half> || is_same<E, half> || (is_same<S, half> || ...)) {
        CANOPY_HALF_LOOP
        for (uint64_t i = 0; i < count; ++i) element(i);
    } else {
        CANOPY_VECTOR_LOOP
        for (uint64_t i = 0; i < count; ++i) element(i);
    }
}

struct ValueItself {
    float operator()(float x) const { return x; }
};
struct SumOfTwo {
    float operator()(float x, float y) const { return x + y; }
};
struct ProductOfTwo {
    float operator()(float x, float y) const { return x * y; }
};
struct TimesFactor {
    float factor;
    float operator()(float x) const { return x * factor; }
};

// Functions that work down the columns take them in strips, whose intermediate results stay in the first cache:
// body(first column, count).
inline constexpr uint64_t column_strip = 256;
template <class Body>
inline void for_each_strip(uint64_t columns, const Body& body) {
    for (uint64_t first = 0; first < columns; first += column_strip)
        body(first, smaller(column_strip, columns - first));
}

// Whether a function on rows has nothing to do: on a cube core, and when it is traced, since its results depend on
// whole rows.
inline bool has_no_rows(const char* name) {
    if constexpr (is_tracing_variant) {
        trace_refuse(name);
        return true;
    }
    return on_cube_core();
}

// The checks of one call; they do nothing except in checked builds. In the checking variant, it is an instruction, of
// which they name the operands.
struct CheckedCall : Instruction {
    const char* name;
    Where where;

    CheckedCall(const char* operation, Where line)
        : Instruction(PIPE_V, operation, line), name(operation), where(line) {}

    // The operand is in the unified buffer and holds this many elements. `kind` is for operands whose names do not say
    // whether they are written.
    template <class T>
    void operand(const char* what, const LocalTensor<T>& tensor, uint64_t elements, uint8_t kind = 0) const {
        check_vector_operand(name, what, tensor, bytes_of<T>(elements), where, kind);
    }
    // An operand whose size is checked elsewhere.
    template <class T>
    void sized(const char* what, const LocalTensor<T>& tensor, uint64_t elements) const {
        if constexpr (is_checking_variant) operand(what, tensor, elements);
    }
    template <class T, class Q>
    void same_size(const char* what, const LocalTensor<T>& tensor, const LocalTensor<Q>& src) const {
        if constexpr (checked)
            if (tensor.GetSize() != src.GetSize())
                fail(where, "%s: %s has %u elements; it must have as many as the source (%u)", name, what,
                     tensor.GetSize(), src.GetSize());
    }
    // A length is a number of whole blocks of 32 bytes.
    template <class T>
    void whole_blocks(const char* what, uint64_t elements) const {
        if constexpr (checked)
            if (elements == 0 || bytes_of<T>(elements) % block_bytes != 0)
                fail(where, "%s: %s is %llu; it must be a positive multiple of %u", name, what,
                     static_cast<unsigned long long>(elements), static_cast<uint32_t>(elements_in<T>(block_bytes)));
    }
    void positive(const char* what, uint64_t value) const {
        if constexpr (checked)
            if (value == 0) fail(where, "%s: %s is 0", name, what);
    }
    void at_most(const char* what, uint64_t value, const char* limit_name, uint64_t limit) const {
        if constexpr (checked)
            if (value > limit)
                fail(where, "%s: %s is %llu; it must be at most %s, %llu", name, what,
                     static_cast<unsigned long long>(value), limit_name, static_cast<unsigned long long>(limit));
    }
    // The temporary buffer overlaps no operand.
    template <class... T>
    void scratch(const LocalTensor<uint8_t>& buffer, const LocalTensor<T>&... operands) const {
        if constexpr (is_checking_variant)
            if (!on_cube_core()) operand("sharedTmpBuffer", buffer, buffer.GetSize(), CANOPY_CHECK_WRITE);
        if constexpr (checked) {
            check_vector_operand(name, "sharedTmpBuffer", buffer, 1, where);
            const auto begin = reinterpret_cast<uintptr_t>(buffer.GetPhyAddr());
            const auto overlaps = [&](uintptr_t start, uint64_t bytes) {
                return start < begin + buffer.GetSize() && begin < start + bytes;
            };
            if ((overlaps(reinterpret_cast<uintptr_t>(operands.GetPhyAddr()), bytes_of<T>(operands.GetSize())) || ...))
                fail(where, "%s: sharedTmpBuffer overlaps an operand", name);
        }
    }
};

}  // namespace canopy::kernel

#endif
