// SPDX-License-Identifier: Apache-2.0
// The high-level operations of random programs that layers of networks are made of: softmax, normalisations,
// quantisation, the best of each row, padding, dropout, sequences.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_LAYERS_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_LAYERS_H

#include "random_high_level.h"

namespace programs {

inline constexpr Real float_error = 0x1p-24L;

// Elements of one row of a matrix in an operand. `usable`: no sum or square of them leaves the range of float.
struct RowOfNumbers {
    std::vector<Real> x;
    bool usable = true;

    RowOfNumbers(const Interpretation& i, Type type, uint32_t operand, uint32_t row, uint32_t columns) : x(columns) {
        for (uint32_t c = 0; c < columns; ++c) {
            x[c] = i.read(type, operand, row * columns + c);
            usable &= std::fabs(x[c]) < 1e15L;  // false for NaN
        }
    }
    Real largest(uint32_t count) const { return *std::max_element(x.begin(), x.begin() + count); }
};

// A value near a result that is rounded once to the type, whose own relative error is `relative`.
inline void near_relative(Expected& state, Type type, uint32_t byte, Real value, Real relative) {
    state.near(type, byte, value, std::fabs(value) * relative + 0.501L * unit_at(type, value));
}
inline void any_elements(const Interpretation& i, Type type, uint32_t operand, uint32_t first, uint32_t count) {
    for (uint32_t k = 0; k < count; ++k) i.any(type, operand, first + k);
}

// --- Softmax ------------------------------------------------------------------------------------------------------

__aicore__ inline AscendC::SoftMaxShapeInfo softmax_shape(const Step& step) {
    return {step.shape[0], step.shape[1], step.shape[0], step.count};
}

// The operands: shape[0] rows of shape[1] floats, `values` with one block for each row, and sources.
inline void plan_softmax(Random& random, Step& step, uint32_t values, uint32_t sources) {
    plan_matrix(random, step, Type::f32, 6);
    step.count = random.chance(50) ? step.shape[1] : random.between(1, step.shape[1]);
    const uint32_t bytes = matrix_bytes(step, Type::f32);
    step.at[0] = place(random, Type::f32, bytes);
    step.at[1] = place(random, Type::f32, step.shape[0] * 32, {step.at[0]});
    step.at[2] = place(random, Type::f32, step.shape[0] * 32, {step.at[0], step.at[1]});
    if (values == 3) step.at[3] = place(random, Type::f32, step.shape[0] * 32, {step.at[0], step.at[1], step.at[2]});
    const Operand last = step.at[values];
    for (uint32_t k = values + 1; k <= values + sources; ++k)
        step.at[k] = place(random, Type::f32, bytes, {step.at[0], step.at[1], step.at[2], last});
}
inline void near_block(const Interpretation& i, uint32_t operand, uint32_t row, Real value, Real relative) {
    for (uint32_t k = 0; k < 8; ++k)
        near_relative(i.state, Type::f32, i.at(operand).byte + (row * 8 + k) * 4, value, relative);
}

// With the sums and the maxima. mode 1: then the rows with the maximum of the last row are replaced. mode 2: computed
// again from the sums and the maxima.
struct Softmax {
    static constexpr const char* names = "SoftMax AdjustSoftMaxRes SimpleSoftMax";
    RANDOM_CALL {
        const uint32_t count = step.shape[0] * step.shape[1], rows = step.shape[0];
        const auto d = tensor<float>(step.at[0], count), s = tensor<float>(step.at[3], count);
        const auto sum = tensor<float>(step.at[1], rows * 8), max = tensor<float>(step.at[2], rows * 8);
        const SoftMaxTiling tiling{};
        const auto shape = softmax_shape(step);
        AscendC::SoftMax<float>(d, sum, max, s, scratch(), tiling, shape);
        if (step.mode == 2) AscendC::SimpleSoftMax<float>(d, sum, max, s, tiling, shape);
        if (step.mode != 1) return;
        uint32_t bits;
        const float last = max.GetValue((rows - 1) * 8);
        __builtin_memcpy(&bits, &last, sizeof bits);
        set_register(memory, 0, AscendC::AdjustSoftMaxRes<float, float>(d, max, bits, 0.25f, shape) ? 1 : 0);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(3));
        plan_softmax(random, step, 2, 1);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t rows = i.step.shape[0], columns = i.step.shape[1];
        const RowOfNumbers last(i, Type::f32, 3, rows - 1, columns);
        if (i.step.mode == 1) i.state.set_bits(registers_byte, uint64_t{1});
        for (uint32_t r = 0; r < rows; ++r) {
            const RowOfNumbers row(i, Type::f32, 3, r, columns);
            if (!row.usable || !last.usable) {
                any_elements(i, Type::f32, 0, r * columns, columns);
                any_elements(i, Type::f32, 1, r * 8, 8);
                any_elements(i, Type::f32, 2, r * 8, 8);
                if (i.step.mode == 1 && r == 0) i.state.any(Type::u32, registers_byte);
                continue;
            }
            const Real max = row.largest(i.step.count);
            Real sum = 0;
            for (uint32_t c = 0; c < i.step.count; ++c) sum += std::exp(row.x[c] - max);
            const Real error = (columns + 20) * 4 * float_error;
            near_block(i, 1, r, sum, error);
            for (uint32_t k = 0; k < 8; ++k) i.near(Type::f32, 2, r * 8 + k, max, 0);
            const bool replaced = i.step.mode == 1 && max == last.largest(i.step.count);
            for (uint32_t c = 0; c < columns; ++c) {
                const Real distance = row.x[c] - max;
                const uint32_t byte = i.at(0).byte + (r * columns + c) * 4;
                if (replaced)
                    i.state.write(Type::f32, byte, 0.25L);
                else if (distance > 80)
                    i.state.any(Type::f32, byte);  // beyond the columns that count
                else
                    near_relative(i.state, Type::f32, byte, std::exp(distance) / sum,
                                  error + std::fabs(distance) * 2 * float_error);
            }
        }
    }
};

struct LogarithmOfSoftmax {
    static constexpr const char* names = "LogSoftMax";
    RANDOM_CALL {
        const uint32_t count = step.shape[0] * step.shape[1];
        const auto d = tensor<float>(step.at[0], count), s = tensor<float>(step.at[3], count);
        AscendC::LogSoftMax<float>(d, tensor<float>(step.at[1], step.shape[0] * 8),
                                   tensor<float>(step.at[2], step.shape[0] * 8), s, scratch(), LogSoftMaxTiling{},
                                   softmax_shape(step));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_softmax(random, step, 2, 1);
        step.count = step.shape[1];
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t columns = i.step.shape[1];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const RowOfNumbers row(i, Type::f32, 3, r, columns);
            if (!row.usable) {
                any_elements(i, Type::f32, 0, r * columns, columns);
                any_elements(i, Type::f32, 1, r * 8, 8);
                any_elements(i, Type::f32, 2, r * 8, 8);
                continue;
            }
            const Real max = row.largest(columns);
            Real sum = 0;
            for (const Real x : row.x) sum += std::exp(x - max);
            near_block(i, 1, r, sum, (columns + 20) * 4 * float_error);
            for (uint32_t k = 0; k < 8; ++k) i.near(Type::f32, 2, r * 8 + k, max, 0);
            for (uint32_t c = 0; c < columns; ++c) {
                const Real distance = row.x[c] - max;
                if (distance < -80)
                    i.any(Type::f32, 0, r * columns + c);  // the quotient is near the smallest number
                else
                    i.near(Type::f32, 0, r * columns + c, (distance - std::log(sum)) / std::log(10.0L),
                           (columns + 20 + std::fabs(distance)) * 4 * float_error);
            }
        }
    }
};

// Two stretches of the same rows, the second updates the result of the first.
struct SoftmaxInStretches {
    static constexpr const char* names = "SoftmaxFlashV2";
    RANDOM_CALL {
        const uint32_t count = step.shape[0] * step.shape[1], values = step.shape[0] * 8;
        const auto d = tensor<float>(step.at[0], count);
        const auto sum = tensor<float>(step.at[1], values), max = tensor<float>(step.at[2], values);
        const auto factor = tensor<float>(step.at[3], values);
        const SoftMaxTiling tiling{};
        const auto shape = softmax_shape(step);
        AscendC::SoftmaxFlashV2<float, false>(d, sum, max, tensor<float>(step.at[4], count), factor, sum, max, tiling,
                                              shape);
        AscendC::SoftmaxFlashV2<float, true>(d, sum, max, tensor<float>(step.at[5], count), factor, sum, max, scratch(),
                                             tiling, shape);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_softmax(random, step, 3, 2);
        step.count = step.shape[1];
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t columns = i.step.shape[1];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const RowOfNumbers first(i, Type::f32, 4, r, columns), second(i, Type::f32, 5, r, columns);
            if (!first.usable || !second.usable) {
                any_elements(i, Type::f32, 0, r * columns, columns);
                for (uint32_t k = 1; k < 4; ++k) any_elements(i, Type::f32, k, r * 8, 8);
                continue;
            }
            const Real old = first.largest(columns), max = std::fmax(old, second.largest(columns));
            Real old_sum = 0, sum = 0;
            for (const Real x : first.x) old_sum += std::exp(x - old);
            for (const Real x : second.x) sum += std::exp(x - max);
            const Real factor = std::exp(old - max), error = (columns + 20) * 4 * float_error;
            const Real spread = std::fabs(old - max) * 2 * float_error;
            near_block(i, 1, r, factor * old_sum + sum, error + spread);
            for (uint32_t k = 0; k < 8; ++k) i.near(Type::f32, 2, r * 8 + k, max, 0);
            near_block(i, 3, r, factor, error + spread);
            for (uint32_t c = 0; c < columns; ++c) {
                const Real distance = second.x[c] - max;
                near_relative(i.state, Type::f32, i.at(0).byte + (r * columns + c) * 4, std::exp(distance),
                              error + std::fabs(distance) * 2 * float_error);
            }
        }
    }
};

// mode 1: only the sums of the products, one block for each row.
struct GradientOfSoftmax {
    static constexpr const char* names = "SoftmaxGrad SoftmaxGradFront";
    RANDOM_CALL {
        const uint32_t count = step.shape[0] * step.shape[1];
        const auto grad = tensor<float>(step.at[1], count), s = tensor<float>(step.at[2], count);
        if (step.mode == 0)
            AscendC::SoftmaxGrad<float>(tensor<float>(step.at[0], count), grad, s, SoftMaxTiling{}, false,
                                        softmax_shape(step));
        else
            AscendC::SoftmaxGradFront<float>(tensor<float>(step.at[0], step.shape[0] * 8), grad, s, scratch(),
                                             SoftMaxTiling{}, softmax_shape(step));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(2));
        plan_matrix(random, step, Type::f32, 6);
        step.count = step.shape[1];
        step.at[0] = place(random, Type::f32, std::max(matrix_bytes(step, Type::f32), step.shape[0] * 32));
        for (uint32_t k = 1; k < 3; ++k)
            step.at[k] = place(random, Type::f32, matrix_bytes(step, Type::f32), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t columns = i.step.shape[1];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const RowOfNumbers grad(i, Type::f32, 1, r, columns), row(i, Type::f32, 2, r, columns);
            if (!grad.usable || !row.usable) {
                if (i.step.mode == 0)
                    any_elements(i, Type::f32, 0, r * columns, columns);
                else
                    any_elements(i, Type::f32, 0, r * 8, 8);
                continue;
            }
            Real sum = 0, size = 0;
            for (uint32_t c = 0; c < columns; ++c) {
                sum += grad.x[c] * row.x[c];
                size += std::fabs(grad.x[c] * row.x[c]);
            }
            const Real error = size * (columns + 4) * 2 * float_error + 0x1p-140L;
            if (i.step.mode == 1) {
                for (uint32_t k = 0; k < 8; ++k) i.near(Type::f32, 0, r * 8 + k, sum, error);
                continue;
            }
            for (uint32_t c = 0; c < columns; ++c) {
                const Real slack =
                    std::fabs(row.x[c]) * (error + (std::fabs(grad.x[c]) + std::fabs(sum)) * 4 * float_error);
                if (std::fabs(sum * row.x[c]) > 1e36L)
                    i.any(Type::f32, 0, r * columns + c);
                else
                    i.near(Type::f32, 0, r * columns + c, (grad.x[c] - sum) * row.x[c], slack + 0x1p-140L);
            }
        }
    }
};

// --- Normalisation ------------------------------------------------------------------------------------------------

template <class Tiling>
__aicore__ inline Tiling rows_as_tiling(const Step& step) {
    Tiling tiling{};
    tiling.bLength = 1;
    tiling.sLength = step.shape[0];
    tiling.hLength = tiling.originalHLength = step.shape[1];
    return tiling;
}

struct NormalisedByRoot {
    static constexpr const char* names = "RmsNorm";
    RANDOM_CALL {
        AscendC::RmsNorm(tensor<float>(step.at[0]), tensor<float>(step.at[1]), tensor<float>(step.at[2]), scratch(),
                         static_cast<float>(step.scalar), rows_as_tiling<RmsNormTiling>(step));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, Type::f32, 6);
        step.scalar = 0x1p-17;
        step.at[0] = place(random, Type::f32, matrix_bytes(step, Type::f32));
        step.at[1] = place(random, Type::f32, matrix_bytes(step, Type::f32), {step.at[0]});
        step.at[2] = place(random, Type::f32, step.shape[1] * 4, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t columns = i.step.shape[1];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const RowOfNumbers row(i, Type::f32, 1, r, columns);
            Real squares = 0;
            for (const Real x : row.x) squares += x * x;
            const Real factor = 1 / std::sqrt(squares / columns + i.step.scalar);
            for (uint32_t c = 0; c < columns; ++c) {
                const Real gamma = i.read(Type::f32, 2, c), value = row.x[c] * factor * gamma;
                const uint32_t byte = i.at(0).byte + (r * columns + c) * 4;
                if (!row.usable || !std::isfinite(gamma))
                    i.state.any(Type::f32, byte);
                else  // the product without gamma may be subnormal
                    i.state.near(Type::f32, byte, value,
                                 std::fabs(value) * (columns + 10) * 2 * float_error + unit_at(Type::f32, value) +
                                     0x1p-149L * std::fabs(gamma));
            }
        }
    }
};

struct NormalisedLayer {
    static constexpr const char* names = "LayerNorm";
    RANDOM_CALL {
        auto tiling = rows_as_tiling<LayerNormTiling>(step);
        AscendC::LayerNorm(tensor<half>(step.at[0]), tensor<half>(step.at[1]), tensor<half>(step.at[2]),
                           tensor<half>(step.at[3]), tensor<half>(step.at[4]), tensor<half>(step.at[5]), scratch(),
                           static_cast<half>(step.scalar), tiling);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, Type::f16, 6);
        step.scalar = 0x1p-13;
        step.at[0] = place(random, Type::f16, matrix_bytes(step, Type::f16));
        step.at[1] = place(random, Type::f16, 32, {step.at[0]});
        step.at[2] = place(random, Type::f16, 32, {step.at[0], step.at[1]});
        step.at[3] = place(random, Type::f16, matrix_bytes(step, Type::f16), {step.at[0], step.at[1], step.at[2]});
        for (uint32_t k = 4; k < 6; ++k)
            step.at[k] = place(random, Type::f16, step.shape[1] * 2, {step.at[0], step.at[1], step.at[2]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t columns = i.step.shape[1];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const RowOfNumbers row(i, Type::f16, 3, r, columns);
            Real mean = 0, size = 0, variance = 0, deviation = 0;
            for (const Real x : row.x) {
                mean += x / columns;
                size += std::fabs(x) / columns;
            }
            for (const Real x : row.x) {
                variance += (x - mean) * (x - mean) / columns;
                deviation += std::fabs(x - mean) / columns;
            }
            const Real mean_error = size * (columns + 4) * float_error;
            const Real variance_error =
                variance * (columns + 4) * float_error + 2 * mean_error * deviation + 4 * mean_error * mean_error;
            const Real total = variance + i.step.scalar, factor = 1 / std::sqrt(total);
            if (row.usable) {
                i.near(Type::f16, 1, r, mean, mean_error + 0.501L * unit_at(Type::f16, mean));
                i.near(Type::f16, 2, r, variance, variance_error + 0.501L * unit_at(Type::f16, variance));
            } else {
                i.any(Type::f16, 1, r);
                i.any(Type::f16, 2, r);
            }
            for (uint32_t c = 0; c < columns; ++c) {
                const Real gamma = i.read(Type::f16, 4, c), beta = i.read(Type::f16, 5, c);
                const Real centred = (row.x[c] - mean) * factor, value = centred * gamma + beta;
                if (!row.usable || !std::isfinite(gamma) || !std::isfinite(beta)) {
                    i.any(Type::f16, 0, r * columns + c);
                    continue;
                }
                const Real error =
                    std::fabs(gamma) *
                        (mean_error * factor + std::fabs(centred) * (variance_error / total + 8 * float_error)) +
                    std::fabs(beta) * 4 * float_error;
                i.near(Type::f16, 0, r * columns + c, value, error + 0.501L * unit_at(Type::f16, value));
            }
        }
    }
};

struct UpdatedMoments {
    static constexpr const char* names = "WelfordUpdate";
    RANDOM_CALL {
        const AscendC::WelfordUpdateParam para{1, step.shape[1], step.count, static_cast<float>(step.scalar)};
        AscendC::WelfordUpdate<float, float>(tensor<float>(step.at[0]), tensor<float>(step.at[1]),
                                             tensor<float>(step.at[2]), tensor<float>(step.at[3]),
                                             tensor<float>(step.at[4]), scratch(), para);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[1] = random.between(1, 20) * 8;
        step.count = random.between(1, step.shape[1]);
        step.scalar = 1.0 / 8;
        const uint32_t bytes = step.shape[1] * 4;
        step.at[0] = place(random, Type::f32, bytes);
        step.at[1] = place(random, Type::f32, bytes, {step.at[0]});
        for (uint32_t k = 2; k < 5; ++k) step.at[k] = place(random, Type::f32, bytes, {step.at[0], step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const Real mean = i.read(Type::f32, 2, k), variance = i.read(Type::f32, 3, k), x = i.read(Type::f32, 4, k);
            if (!(std::fabs(mean) < 1e15L && std::fabs(x) < 1e15L && std::fabs(variance) < 1e35L)) {
                i.any(Type::f32, 0, k);
                i.any(Type::f32, 1, k);
                continue;
            }
            const Real d = x - mean, new_mean = mean + d * i.step.scalar, rest = x - new_mean;
            const Real size = (std::fabs(x) + std::fabs(mean)) * float_error;
            i.near(Type::f32, 0, k, new_mean, 4 * size + 0x1p-149L);
            i.near(Type::f32, 1, k, variance + d * rest,
                   4 * std::fabs(variance + d * rest) * float_error + 8 * size * (std::fabs(d) + std::fabs(rest)) +
                       0x1p-149L);
        }
    }
};

// --- The best of each row -----------------------------------------------------------------------------------------

struct BestOfRows {
    static constexpr const char* names = "TopK";
    RANDOM_CALL {
        const auto unused = scratch<int32_t>();
        AscendC::TopK<float>(tensor<float>(step.at[0]), tensor<int32_t>(step.at[1]), tensor<float>(step.at[2]), unused,
                             scratch<bool>(), static_cast<int32_t>(step.count), TopkTiling{},
                             AscendC::TopKInfo{static_cast<int32_t>(step.shape[0]), static_cast<int32_t>(step.shape[1]),
                                               static_cast<int32_t>(step.shape[1])},
                             step.mode != 0);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[1] = random.between(1, 3) * 32;
        step.shape[0] = random.between(1, 4);
        step.count = random.between(1, step.shape[1]);
        step.mode = static_cast<uint8_t>(random.below(2));
        const uint32_t bytes = step.shape[0] * step.shape[1] * 4;
        step.at[0] = place(random, Type::f32, bytes);
        step.at[1] = place(random, Type::i32, bytes);
        step.at[2] = place(random, Type::f32, bytes, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t pitch = (i.step.count + 7) / 8 * 8;
        for (uint32_t r = 0; r < i.step.shape[0]; ++r) {
            const auto best = sorted_positions(i, Type::f32, 2, r * i.step.shape[1], i.step.shape[1], i.step.mode != 0);
            for (uint32_t k = 0; k < pitch; ++k) {
                if (k >= i.step.count) {  // between the rows
                    if (r + 1 == i.step.shape[0]) break;
                    i.any(Type::f32, 0, r * pitch + k);
                    i.any(Type::i32, 1, r * pitch + k);
                    continue;
                }
                i.copy_element(Type::f32, 0, r * pitch + k, 2, r * i.step.shape[1] + best[k]);
                i.write(Type::i32, 1, r * pitch + k, best[k]);
            }
        }
    }
};

// --- Quantisation -------------------------------------------------------------------------------------------------

inline Real as_half(Real x) { return rounded(Type::f16, x); }

// Chips before 3510 compute in half.
inline Real quantised(Real x, Real scale, Real offset) {
    const Real value = __NPU_ARCH__ < 3003 ? as_half(as_half(as_half(x) * as_half(scale)) + as_half(offset))
                                           : f32(f32(x * scale) + offset);
    return saturated(Type::i8, whole(value, Rounding::nearest_even));
}

inline constexpr AscendC::QuantizeConfig quantised_channels = {AscendC::QuantizePolicy::PER_CHANNEL, true};

// One scale for all (AscendQuant), or one for each column (Quantize).
template <bool channels>
struct Quantised {
    static constexpr const char* names = channels ? "Quantize" : "AscendQuant";
    static constexpr Type type = channels ? Type::f16 : Type::f32;
    using T = std::conditional_t<channels, half, float>;
    RANDOM_CALL {
        const auto d = tensor<int8_t>(step.at[0]);
        const auto s = tensor<T>(step.at[1]);
        if constexpr (channels)
            AscendC::Quantize<quantised_channels>(d, s, scratch(), tensor<T>(step.at[2]), tensor<T>(step.at[3]),
                                                  AscendC::QuantizeParams{step.shape[0], step.shape[1]});
        else
            AscendC::AscendQuant(d, s, static_cast<float>(step.scalar), 1.5f, step.shape[0] * step.shape[1]);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 6);
        step.shape[1] = random.between(1, 2) * 32;
        step.scalar = random.real() * 20;
        step.at[0] = place(random, Type::i8, step.shape[0] * step.shape[1]);
        step.at[1] = place(random, type, matrix_bytes(step, type));
        for (uint32_t k = 2; k < 4; ++k) step.at[k] = place(random, type, step.shape[1] * sizeof(T));
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.shape[0] * i.step.shape[1]; ++k) {
            const uint32_t column = k % i.step.shape[1];
            const Real scale = channels ? i.read(type, 2, column) : f32(i.step.scalar);
            i.write(Type::i8, 0, k, quantised(i.read(type, 1, k), scale, channels ? i.read(type, 3, column) : 1.5L));
        }
    }
};

struct Dequantised {
    static constexpr const char* names = "AscendDequant";
    RANDOM_CALL {
        AscendC::AscendDequant<float, float>(tensor<float>(step.at[0]), tensor<int32_t>(step.at[1]),
                                             tensor<float>(step.at[2]), scratch(),
                                             AscendC::DequantParams{step.shape[0], step.shape[1], step.count});
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_matrix(random, step, Type::f32, 6);
        step.shape[0] = random.between(2, 10);  // one row could be read as several
        step.count = random.between(1, step.shape[1]);
        step.at[0] = place(random, Type::f32, matrix_bytes(step, Type::f32));
        step.at[1] = place(random, Type::i32, matrix_bytes(step, Type::i32));
        step.at[2] = place(random, Type::f32, step.shape[1] * 4, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t r = 0; r < i.step.shape[0]; ++r)
            for (uint32_t c = 0; c < i.step.shape[1]; ++c) {
                const uint32_t k = r * i.step.shape[1] + c;
                if (c < i.step.count)
                    i.write(Type::f32, 0, k, f32(i.read(Type::i32, 1, k)) * i.read(Type::f32, 2, c));
                else
                    i.any(Type::f32, 0, k);
            }
    }
};

struct Antiquantised {
    static constexpr const char* names = "AscendAntiQuant";
    RANDOM_CALL {
        const auto s = tensor<int8_t>(step.at[1], step.shape[0] * step.shape[1]);
        AscendC::AscendAntiQuant<int8_t, half, false>(tensor<half>(step.at[0]), s, static_cast<half>(2.5f),
                                                      static_cast<half>(step.scalar), scratch(), step.shape[1]);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 8);
        step.shape[1] = random.between(1, 3) * 32;
        step.scalar = some_scalar(random, Type::f16);
        step.at[0] = place(random, Type::f16, matrix_bytes(step, Type::f16));
        step.at[1] = place(random, Type::i8, matrix_bytes(step, Type::i8));
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.shape[0] * i.step.shape[1]; ++k)
            i.write(Type::f16, 0, k, as_half(i.read(Type::i8, 1, k) + 2.5L) * i.step.scalar);
    }
};

// --- Layout, dropout, sequences -----------------------------------------------------------------------------------

struct BroadcastColumns {
    static constexpr const char* names = "Broadcast";
    RANDOM_CALL {
        const uint32_t to[2] = {step.shape[0], step.shape[1]}, from[2] = {step.shape[0], 1};
        AscendC::Broadcast<float, 2, 1>(tensor<float>(step.at[0]), tensor<float>(step.at[1]), to, from);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 2) * 8;
        step.shape[1] = random.between(1, 4) * 8;
        step.at[0] = place(random, Type::f32, matrix_bytes(step, Type::f32));
        step.at[1] = place(random, Type::f32, 64, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.shape[0] * i.step.shape[1]; ++k)
            i.copy_element(Type::f32, 0, k, 1, k / i.step.shape[1]);
    }
};

// Rows of shape[1] elements that are not whole blocks get shape[2] elements left and shape[3] right; and back.
template <bool back>
struct Padded {
    static constexpr const char* names = back ? "UnPad" : "Pad";
    RANDOM_CALL {
        const auto d = tensor<half>(step.at[0]), s = tensor<half>(step.at[1]);
        if constexpr (back) {
            UnPadTiling tiling{};
            tiling.srcHeight = step.shape[0];
            tiling.srcWidth = step.count;
            AscendC::UnPad(d, s, AscendC::UnPadParams(0, static_cast<uint16_t>(step.count - step.shape[1])), scratch(),
                           tiling);
        } else {
            PadTiling tiling{};
            tiling.srcHeight = step.shape[0];
            tiling.srcWidth = tiling.srcOriWidth = step.shape[1];
            AscendC::Pad(d, s,
                         AscendC::PadParams(static_cast<uint16_t>(step.shape[2]), static_cast<uint16_t>(step.shape[3]),
                                            static_cast<int32_t>(step.scalar)),
                         scratch(), tiling);
        }
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 10);
        step.count = random.between(1, 4) * 16;
        step.shape[1] = step.count - random.between(1, 15);
        step.shape[2] = random.below(step.count - step.shape[1] + 1);
        step.shape[3] = step.count - step.shape[1] - step.shape[2];
        step.scalar = some_scalar(random, Type::i16);
        step.at[0] = place(random, Type::f16, step.shape[0] * step.count * 2);
        step.at[1] = place(random, Type::f16, step.shape[0] * step.count * 2, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t width = i.step.shape[1], pitch = i.step.count, left = i.step.shape[2];
        for (uint32_t r = 0; r < i.step.shape[0]; ++r)
            for (uint32_t c = 0; c < pitch; ++c)
                if (back) {
                    if (c < width) i.copy_element(Type::f16, 0, r * width + c, 1, r * pitch + c);
                } else if (c >= left && c < left + width) {
                    i.copy_element(Type::f16, 0, r * pitch + c, 1, r * width + c - left);
                } else {
                    i.write(Type::f16, 0, r * pitch + c, i.step.scalar);
                }
    }
};

// mode 0: a byte for each element; mode 1: a bit.
struct DroppedOut {
    static constexpr const char* names = "DropOut";
    RANDOM_CALL {
        const auto d = tensor<float>(step.at[0]), s = tensor<float>(step.at[1]);
        const auto mask = tensor<uint8_t>(step.at[2]);
        const auto keep = static_cast<float>(step.scalar);
        const uint32_t columns = step.shape[1];
        AscendC::DropOut(d, s, mask, scratch(), keep,
                         AscendC::DropOutShapeInfo{step.shape[0], columns, step.mode == 0 ? columns : columns / 8});
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(2));
        step.shape[0] = random.between(1, 4);
        step.shape[1] = random.between(1, 4) * 32;
        step.scalar = 0.05 + 0.9 * random.real();
        step.at[0] = place(random, Type::f32, matrix_bytes(step, Type::f32));
        step.at[1] = place(random, Type::f32, matrix_bytes(step, Type::f32), {step.at[0]});
        step.at[2] = place(random, Type::u8, step.shape[0] * step.shape[1]);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const Real factor = 1 / f32(i.step.scalar);
        for (uint32_t k = 0; k < i.step.shape[0] * i.step.shape[1]; ++k) {
            const bool kept = i.step.mode == 0 ? i.read(Type::u8, 2, k) != 0 : i.state.bit(i.at(2).byte, k);
            if (kept)
                i.state.near_in_units(Type::f32, i.at(0).byte + k * 4, i.read(Type::f32, 1, k) * factor, 1.5L);
            else
                i.near(Type::f32, 0, k, 0, 0);
        }
    }
};

// A byte that is 0 keeps the element, any other takes the number.
struct SelectedByBytes {
    static constexpr const char* names = "Select";
    RANDOM_CALL {
        const uint32_t count = step.shape[0] * step.shape[1];
        AscendC::Select(tensor<half>(step.at[0], count), tensor<half>(step.at[1], count),
                        static_cast<half>(step.scalar), tensor<uint8_t>(step.at[2], step.shape[0] * step.shape[2]),
                        scratch(), AscendC::SelectWithBytesMaskShapeInfo{step.shape[0], step.shape[1], step.shape[2]});
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 6);
        step.shape[1] = random.between(1, 4) * 16;
        step.shape[2] = (step.shape[1] + 31) / 32 * 32 + random.below(2) * 32;
        step.scalar = some_scalar(random, Type::f16);
        step.at[0] = place(random, Type::f16, matrix_bytes(step, Type::f16));
        step.at[1] = place(random, Type::f16, matrix_bytes(step, Type::f16), {step.at[0]});
        step.at[2] = place(random, Type::u8, step.shape[0] * step.shape[2]);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.shape[0] * i.step.shape[1]; ++k) {
            const uint32_t row = k / i.step.shape[1], column = k % i.step.shape[1];
            if (i.read(Type::u8, 2, row * i.step.shape[2] + column) == 0)
                i.copy_element(Type::f16, 0, k, 1, k);
            else
                i.write(Type::f16, 0, k, i.step.scalar);
        }
    }
};

template <class T>
struct Progression {
    static constexpr const char* names = "Arange ArithProgression";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto first = static_cast<T>(step.scalar), difference = static_cast<T>(step.shape[0]);
        if (step.mode == 0)
            AscendC::Arange(tensor<T>(step.at[0]), first, difference, static_cast<int32_t>(step.count));
        else
            AscendC::ArithProgression(tensor<T>(step.at[0]), first, difference, static_cast<int32_t>(step.count));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(2));
        step.count = some_count(random, slot_bytes / sizeof(T));
        step.shape[0] = random.below(100);
        step.scalar = some_scalar(random, type);
        step.at[0] = place(random, type, step.count * sizeof(T));
    }
    // Numbers that are not whole are added up in an order that is not specified.
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const Real value = i.step.scalar + Real(k) * i.step.shape[0];
            if (is_floating(type))
                i.near(type, 0, k, value, unit_at(type, value));
            else
                i.write(type, 0, k, value);
        }
    }
};

}  // namespace programs

#endif
