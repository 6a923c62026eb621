// SPDX-License-Identifier: Apache-2.0
// Lines for the user on standard error, for problems that programs do not check through the interface. The caller
// checks CANOPY_QUIET. Any thread.
#pragma once

#include <string_view>

namespace canopy {

// "canopy: TEXT", as one write.
void print_notice(std::string_view text) noexcept;

}  // namespace canopy
