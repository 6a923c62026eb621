// SPDX-License-Identifier: Apache-2.0
// Messages for the user on standard error, about problems that the interface does not report. The caller checks
// CANOPY_QUIET. Any thread.
#pragma once

#include <string_view>

namespace canopy {

// "canopy: TEXT", as one write.
void print_notice(std::string_view text) noexcept;

}  // namespace canopy
