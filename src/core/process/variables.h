// SPDX-License-Identifier: Apache-2.0
// Environment variables: their values, and the names of all variables Canopy reads, to detect misspelt ones.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace canopy {

// Empty if the variable is unset or empty.
std::optional<std::string_view> environment_variable(const char* name) noexcept;

std::span<const std::string_view> known_variables() noexcept;

// A message for each variable in `environment` (like environ) that starts like Canopy's but is unknown, with the most
// similar known name.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace canopy
