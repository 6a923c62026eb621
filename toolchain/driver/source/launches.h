// SPDX-License-Identifier: Apache-2.0
// Finds `callee<<<configuration>>>(arguments)` in the tokens of a source.
#pragma once

#include <string>
#include <vector>

#include "source/declarations.h"
#include "source/lex.h"

namespace canopy_cc {

struct LaunchSource {
    TokenRange callee;
    TokenRange configuration;  // without <<< and >>>
    TokenRange arguments;      // with their parentheses
    std::size_t count = 0;     // of configuration arguments
    std::string_view name;     // the last name of the callee
};

// In the order of the callees. Launches that cannot be parsed are reported in `problems`.
std::vector<LaunchSource> find_launches(const Tokens& tokens, std::vector<std::string>& problems);

}  // namespace canopy_cc
