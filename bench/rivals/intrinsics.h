// SPDX-License-Identifier: Apache-2.0
// The same work with the intrinsics of this processor, as one would write it by hand; OpenMP over rows.
#pragma once

#include <cstddef>

namespace bench {

// `columns` is a multiple of 128.
void intrinsics_layer_norm(const float* x, float* y, const float* gamma, const float* beta, std::size_t rows,
                           std::size_t columns);
// One row on the calling thread.
void intrinsics_layer_norm_row(const float* x, float* y, const float* gamma, const float* beta, std::size_t columns);

}  // namespace bench
