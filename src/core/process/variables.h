// SPDX-License-Identifier: Apache-2.0
// Environment variables: their values, and the names of all that parts of Canopy read, to find those that nobody reads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace canopy {

// Empty when the variable is not set, or set to nothing.
std::optional<std::string_view> environment_variable(const char* name) noexcept;

std::span<const std::string_view> known_variables() noexcept;

// A sentence for each variable in `environment` (as environ) that is named like one of Canopy's and is none, with the
// known name that comes nearest.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace canopy
