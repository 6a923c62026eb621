// SPDX-License-Identifier: Apache-2.0
// The black boxes of this user: files "blackbox-PROCESS" in the run folder. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace canopy::profile {

inline constexpr const char* black_box_prefix = "blackbox-";

// Those of processes that have ended; the newest first.
std::vector<std::string> dead_black_boxes();
// Removes them but for so many of the newest.
void remove_old_black_boxes(std::size_t kept);

}  // namespace canopy::profile
