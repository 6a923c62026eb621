// SPDX-License-Identifier: Apache-2.0
// Function variables in the core's local memory: `__ubuf__ float part[256];`, which all threads of a block share, and
// `extern __ubuf__ float room[];`, the dynamic memory that a launch requested.
#pragma once

#include <cstddef>
#include <vector>

#include "source/lex.h"

namespace canopy_cc {

struct LocalVariable {
    std::size_t name = 0;  // tokens
    std::size_t semicolon = 0;
    std::size_t external = 0;  // the `extern` of a variable without a size; 0: none
};

std::vector<LocalVariable> find_local_variables(const Tokens& tokens);

}  // namespace canopy_cc
