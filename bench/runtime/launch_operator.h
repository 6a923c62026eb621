// SPDX-License-Identifier: Apache-2.0
// Launches by kernel<<<...>>>(...), which only canopy-cc compiles.
#pragma once

#include <cstddef>

namespace bench {

// The empty kernel on one block with five arguments, `count` times; the first code that is not 0, or 0.
int launch_by_operator(void* stream, void* a, void* b, void* out, std::size_t count);
// The same kernel for functions that take the address of its host function.
const void* operator_kernel();

}  // namespace bench
