// SPDX-License-Identifier: Apache-2.0
#include "rivals/loops.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

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

void loop_rms_norm(const float* x, float* y, const float* gamma, std::size_t rows, std::size_t columns) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
        const float* from = x + static_cast<std::size_t>(row) * columns;
        float* to = y + static_cast<std::size_t>(row) * columns;
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (std::size_t i = 0; i < columns; ++i) squares += from[i] * from[i];
        const float factor = 1.0f / std::sqrt(squares / static_cast<float>(columns) + 1e-5f);
#pragma omp simd
        for (std::size_t i = 0; i < columns; ++i) to[i] = from[i] * factor * gamma[i];
    }
}

void loop_gelu(const float* x, float* y, std::size_t count) {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
        y[i] = x[i] / (1.0f + expf(-1.595769122f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

// A heap of the best so far, whose smallest element most others cannot beat: they are passed 16 at a time.
void loop_top_k(const float* x, float* y, std::size_t k, std::size_t rows, std::size_t columns) {
    struct Entry {
        float value;
        std::int32_t index;
    };
    const auto better = [](const Entry& a, const Entry& b) {
        return a.value > b.value || (a.value == b.value && a.index < b.index);
    };
    constexpr std::size_t group = 16;
#pragma omp parallel
    {
        std::vector<Entry> heap(k);
#pragma omp for schedule(static)
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
            const float* from = x + static_cast<std::size_t>(row) * columns;
            for (std::size_t i = 0; i < k; ++i) heap[i] = {from[i], static_cast<std::int32_t>(i)};
            std::make_heap(heap.begin(), heap.end(), better);
            for (std::size_t first = k; first < columns; first += group) {
                const std::size_t last = std::min(first + group, columns);
                bool any = false;
#pragma omp simd reduction(| : any)
                for (std::size_t i = first; i < last; ++i) any |= from[i] > heap.front().value;
                if (!any) continue;
                for (std::size_t i = first; i < last; ++i) {
                    if (!(from[i] > heap.front().value)) continue;
                    std::pop_heap(heap.begin(), heap.end(), better);
                    heap.back() = {from[i], static_cast<std::int32_t>(i)};
                    std::push_heap(heap.begin(), heap.end(), better);
                }
            }
            std::sort_heap(heap.begin(), heap.end(), better);
            float* to = y + static_cast<std::size_t>(row) * 2 * k;
            for (std::size_t i = 0; i < k; ++i) {
                to[i] = heap[i].value;
                std::memcpy(to + k + i, &heap[i].index, sizeof heap[i].index);
            }
        }
    }
}

}  // namespace bench
