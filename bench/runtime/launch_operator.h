// SPDX-License-Identifier: Apache-2.0
// Launches with kernel<<<...>>>(...), which only canopy-cc compiles.
#pragma once

#include <cstddef>

namespace bench {

// Launches the empty kernel on one block with five arguments, `count` times. Returns the first non-zero code, or 0.
int launch_by_operator(void* stream, void* a, void* b, void* out, std::size_t count);
// The same kernel, for calls that take the address of its host function.
const void* operator_kernel();

}  // namespace bench
