// SPDX-License-Identifier: Apache-2.0
// Sizes as users write them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace canopy {

// "512M", "2G", "4096": bytes. Empty if it is not a size.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

}  // namespace canopy
