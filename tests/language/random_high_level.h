// SPDX-License-Identifier: Apache-2.0
// The high-level operations of random programs that are not element-wise with one result: running sums, reductions of
// matrices, functions with several results or tensor bounds.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_HIGH_LEVEL_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_HIGH_LEVEL_H

#include "random_operations.h"

namespace programs {

// A matrix of a random shape whose rows are whole blocks: shape[0] rows of shape[1] elements.
inline void plan_matrix(Random& random, Step& step, Type type, uint32_t most_blocks = 5) {
    step.shape[0] = random.between(1, 10);
    step.shape[1] = random.between(1, most_blocks) * 32 / size_of(type);
}
inline uint32_t matrix_bytes(const Step& step, Type type) { return step.shape[0] * step.shape[1] * size_of(type); }

// --- Running sums -------------------------------------------------------------------------------------------------

inline constexpr AscendC::CumSumConfig sums_down_columns = {false, false, true};

template <class T, bool along_rows>
struct RunningSums {
    static constexpr const char* names = "CumSum";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), last = tensor<T>(step.at[1]), s = tensor<T>(step.at[2]);
        const AscendC::CumSumInfo shape{step.shape[0], step.shape[1]};
        if constexpr (along_rows)
            AscendC::CumSum(d, last, s, scratch(), shape);
        else
            AscendC::CumSum<T, sums_down_columns>(d, last, s, shape);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, type);
        step.at[0] = place(random, type, matrix_bytes(step, type));
        step.at[1] = place(random, type, step.shape[1] * sizeof(T), {step.at[0]});
        step.at[2] = place(random, type, matrix_bytes(step, type), {step.at[0], step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t rows = i.step.shape[0], columns = i.step.shape[1];
        std::vector<SumOfNumbers> sums(along_rows ? rows : columns);
        for (uint32_t r = 0; r < rows; ++r)
            for (uint32_t c = 0; c < columns; ++c) {
                SumOfNumbers& sum = sums[along_rows ? r : c];
                sum.add(i.read(type, 2, r * columns + c));
                sum.expect(i.state, type, i.at(0).byte + (r * columns + c) * sizeof(T));
                if (r + 1 == rows) sum.expect(i.state, type, i.at(1).byte + c * sizeof(T));
            }
    }
};

// --- Reductions of matrices ---------------------------------------------------------------------------------------

enum Reduction { sum_, max_, min_, mean_, prod_, any_, all_ };
constexpr const char* name_of_reduction(int kind) {
    switch (kind) {
        case sum_:
            return "ReduceSum";
        case max_:
            return "ReduceMax";
        case min_:
            return "ReduceMin";
        case mean_:
            return "ReduceMean";
        case prod_:
            return "ReduceProd";
        case any_:
            return "ReduceAny";
        default:
            return "ReduceAll";
    }
}

// Sums of n elements of each row.
template <class T, bool mean>
struct SumsOfRows {
    static constexpr const char* names = mean ? "Mean" : "Sum";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        if constexpr (mean)
            AscendC::Mean(d, s, AscendC::MeanParams{step.shape[0], step.shape[1], step.count});
        else
            AscendC::Sum(d, s, scratch(), AscendC::SumParams{step.shape[0], step.shape[1], step.count});
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, type, 6);
        step.count = random.between(1, step.shape[1]);
        step.at[1] = place(random, type, matrix_bytes(step, type));
        step.at[0] = place(random, type, 64, {step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            SumOfNumbers sum;
            for (uint32_t c = 0; c < i.step.count; ++c) sum.add(i.read(type, 1, r * i.step.shape[1] + c));
            sum.expect(i.state, type, i.at(0).byte + r * sizeof(T), mean ? 1 / Real(i.step.count) : 1);
        }
    }
};

#define REDUCE_WITH(Name) AscendC::Name<T, Pattern>(d, s, scratch(), shape, true)

// Rows (AR) or columns (RA) of a matrix.
template <class T, int kind, bool of_rows>
struct ReducedMatrix {
    static constexpr const char* names = name_of_reduction(kind);
    static constexpr Type type = type_of<T>;
    static constexpr bool whole_blocks = kind >= mean_;
    RANDOM_CALL {
        using Pattern = std::conditional_t<of_rows, AscendC::Pattern::Reduce::AR, AscendC::Pattern::Reduce::RA>;
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const uint32_t shape[2] = {step.shape[0], step.shape[1]};
        if constexpr (kind == sum_) REDUCE_WITH(ReduceSum);
        if constexpr (kind == max_) REDUCE_WITH(ReduceMax);
        if constexpr (kind == min_) REDUCE_WITH(ReduceMin);
        if constexpr (kind == mean_) REDUCE_WITH(ReduceMean);
        if constexpr (kind == prod_) REDUCE_WITH(ReduceProd);
        if constexpr (kind == any_) REDUCE_WITH(ReduceAny);
        if constexpr (kind == all_) REDUCE_WITH(ReduceAll);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, type, 6);
        const uint32_t bytes = matrix_bytes(step, type), results = of_rows ? step.shape[0] : step.shape[1];
        if (!whole_blocks) step.shape[1] -= random.below(32 / sizeof(T));
        step.at[1] = place(random, type, bytes);
        step.at[0] = place(random, type, results * sizeof(T), {step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t rows = i.step.shape[0], columns = i.step.shape[1];
        const uint32_t pitch = (columns * static_cast<uint32_t>(sizeof(T)) + 31) / 32 * 32 / sizeof(T);
        const uint32_t results = of_rows ? rows : columns, reduced = of_rows ? columns : rows;
        for (uint32_t k = 0; k < results; ++k) {
            SumOfNumbers sum;
            Extreme extreme{kind == max_};
            Real product = 1, largest = 1, least = 1;
            bool some = false, every = true;
            for (uint32_t j = 0; j < reduced; ++j) {
                const Real x = i.read(type, 1, of_rows ? k * pitch + j : j * pitch + k);
                sum.add(x);
                extreme.offer(x, j, 0);
                product *= x;
                if (x != 0 && std::isfinite(x)) (std::fabs(x) > 1 ? largest : least) *= std::fabs(x);
                some |= x != 0;
                every &= x != 0;
            }
            const uint32_t byte = i.at(0).byte + k * sizeof(T);
            if (kind == sum_ || kind == mean_)
                sum.expect(i.state, type, byte, kind == mean_ ? 1 / Real(reduced) : 1);
            else if (kind == max_ || kind == min_)
                extreme.expect(i.state, type, byte, false);
            else if (kind == any_ || kind == all_)
                i.state.write(type, byte, truth(kind == any_ ? some : every));
            else if (largest > 1e37L || least < 1e-37L)
                i.state.any(type, byte);  // a partial product may leave the range of float
            else
                i.state.near(type, byte, product,
                             std::fabs(product) * reduced * std::ldexp(1.0L, -24) + 0.501L * unit_at(type, product));
        }
    }
};

template <class T>
struct SumOfDifferentBits {
    static constexpr const char* names = "ReduceXorSum";
    RANDOM_CALL {
        AscendC::ReduceXorSum(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<T>(step.at[2]), scratch(),
                              step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.count = some_count(random, 1000);
        step.at[0] = place(random, Type::i16, 32);
        for (uint32_t k = 1; k < 3; ++k) step.at[k] = place(random, Type::i16, step.count * 2, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        Whole sum = 0;
        for (uint32_t k = 0; k < i.step.count; ++k)
            sum += static_cast<Whole>(i.read(Type::i16, 1, k)) ^ static_cast<Whole>(i.read(Type::i16, 2, k));
        i.state.write_whole(Type::i16, i.at(0).byte, clamped(Type::i16, sum));
    }
};

// --- Functions with several results or operands -------------------------------------------------------------------

template <class T>
struct SineAndCosine {
    static constexpr const char* names = "SinCos";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        AscendC::SinCos(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<T>(step.at[2]), scratch(), step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.count = some_count(random, slot_bytes / sizeof(T));
        step.at[0] = place(random, type, step.count * sizeof(T));
        step.at[1] = place(random, type, step.count * sizeof(T), {step.at[0]});
        step.at[2] = place(random, type, step.count * sizeof(T), {step.at[0], step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const Real x = i.read(type, 2, k);
            if (std::fabs(x) > 65504) {  // the functions of the host are not exact for large angles
                i.any(type, 0, k);
                i.any(type, 1, k);
                continue;
            }
            i.near(type, 0, k, std::sin(x), 0.51L * unit_at(type, std::sin(x)));
            i.near(type, 1, k, std::cos(x), 0.51L * unit_at(type, std::cos(x)));
        }
    }
};

// The lower bound is a tensor, or 2.
template <class T>
struct ClampedBetween {
    static constexpr const char* names = "Clamp";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]), low = tensor<T>(step.at[2]);
        if (step.mode == 0)
            AscendC::Clamp(d, s, low, static_cast<T>(step.scalar), step.count);
        else
            AscendC::Clamp(d, s, static_cast<T>(2), static_cast<T>(step.scalar), step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(2));
        step.count = some_count(random, slot_bytes / sizeof(T));
        step.scalar = some_scalar(random, type);
        step.at[0] = place(random, type, step.count * sizeof(T));
        for (uint32_t k = 1; k < 3; ++k) step.at[k] = place(random, type, step.count * sizeof(T), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const Real x = i.read(type, 1, k), low = i.step.mode == 0 ? i.read(type, 2, k) : 2;
            const Real high = i.step.scalar;
            if (std::isnan(low))
                i.any(type, 0, k);
            else
                i.near(type, 0, k, std::isnan(x) ? x : std::fmin(std::fmax(x, low), high), 0);
        }
    }
};

template <class T>
struct ChosenByCondition {
    static constexpr const char* names = "Where";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto condition = tensor<uint8_t>(step.at[1]);
        const auto d = tensor<T>(step.at[0]), a = tensor<T>(step.at[2]), b = tensor<T>(step.at[3]);
        if (step.mode == 0)
            AscendC::Where(d, a, b, condition, step.count);
        else
            AscendC::Where(d, a, static_cast<T>(step.scalar), condition, step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(2));
        step.scalar = some_scalar(random, type);
        step.count = some_count(random, slot_bytes / sizeof(T));
        step.at[0] = place(random, type, step.count * sizeof(T));
        step.at[1] = place(random, Type::u8, step.count, {step.at[0]});
        for (uint32_t k = 2; k < 4; ++k) step.at[k] = place(random, type, step.count * sizeof(T), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k)
            if (i.read(Type::u8, 1, k) != 0)
                i.copy_element(type, 0, k, 2, k);
            else if (i.step.mode == 0)
                i.copy_element(type, 0, k, 3, k);
            else
                i.write(type, 0, k, i.step.scalar);
    }
};

}  // namespace programs

#endif
