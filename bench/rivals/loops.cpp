// SPDX-License-Identifier: Apache-2.0
#include "rivals/loops.h"

#include <omp.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace bench {

int loop_threads() { return omp_get_max_threads(); }

void loop_nothing(std::uint32_t blocks) {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::uint32_t i = 0; i < blocks; ++i) asm volatile("" ::"r"(i));
}

void loop_vector_add(const float* x, const float* y, float* z, std::size_t count) {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) z[i] = x[i] + y[i];
}

void loop_softmax(const float* x, float* y, std::size_t rows, std::size_t columns) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
        const float* from = x + static_cast<std::size_t>(row) * columns;
        float* to = y + static_cast<std::size_t>(row) * columns;
        float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
        for (std::size_t i = 0; i < columns; ++i) largest = from[i] > largest ? from[i] : largest;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < columns; ++i) {
            to[i] = expf(from[i] - largest);
            sum += to[i];
        }
        const float factor = 1.0f / sum;
#pragma omp simd
        for (std::size_t i = 0; i < columns; ++i) to[i] *= factor;
    }
}

void loop_layer_norm(const float* x, float* y, const float* gamma, const float* beta, std::size_t rows,
                     std::size_t columns) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
        const float* from = x + static_cast<std::size_t>(row) * columns;
        float* to = y + static_cast<std::size_t>(row) * columns;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < columns; ++i) sum += from[i];
        const float mean = sum / static_cast<float>(columns);
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (std::size_t i = 0; i < columns; ++i) squares += (from[i] - mean) * (from[i] - mean);
        const float factor = 1.0f / std::sqrt(squares / static_cast<float>(columns) + 1e-5f);
#pragma omp simd
        for (std::size_t i = 0; i < columns; ++i) to[i] = (from[i] - mean) * factor * gamma[i] + beta[i];
    }
}

}  // namespace bench
