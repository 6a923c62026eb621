// SPDX-License-Identifier: Apache-2.0
// Lines for the person who runs the program, on the standard error. Only for what nobody asks the interface about; who
// calls it has made sure that the person wants to hear (CANOPY_QUIET). Any thread.
#pragma once

#include <string_view>

namespace canopy {

// "canopy: TEXT", as one write.
void print_notice(std::string_view text) noexcept;

}  // namespace canopy
