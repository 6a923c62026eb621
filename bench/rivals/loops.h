// SPDX-License-Identifier: Apache-2.0
// The same work as plain loops: OpenMP over all processors, compiled with -O3 -march=native.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

int loop_threads();
// An iteration for each block, without work.
void loop_nothing(std::uint32_t blocks);
void loop_vector_add(const float* x, const float* y, float* z, std::size_t count);
void loop_softmax(const float* x, float* y, std::size_t rows, std::size_t columns);
void loop_layer_norm(const float* x, float* y, const float* gamma, const float* beta, std::size_t rows,
                     std::size_t columns);
void loop_rms_norm(const float* x, float* y, const float* gamma, std::size_t rows, std::size_t columns);
void loop_gelu(const float* x, float* y, std::size_t count);
// The `k` largest of each row in descending order: k values, then their k indices as int32_t.
void loop_top_k(const float* x, float* y, std::size_t k, std::size_t rows, std::size_t columns);

}  // namespace bench
