// SPDX-License-Identifier: Apache-2.0
// The names of all environment variables that parts of Canopy read, to find those that nobody reads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace canopy {

std::span<const std::string_view> known_variables() noexcept;

// A sentence for each variable in `environment` (as environ) that is named like one of Canopy's and is none, with the
// known name that comes nearest.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace canopy
