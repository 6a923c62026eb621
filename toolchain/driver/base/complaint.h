// SPDX-License-Identifier: Apache-2.0
// Exit statuses and error messages of canopy-cc.
#pragma once

#include <string_view>

namespace canopy_cc {

enum ExitStatus { success = 0, bad_source = 1, bad_command_line = 2, broken_toolchain = 3 };

// Prints "canopy-cc: error: MESSAGE" and returns the status.
int complain(int status, std::string_view message);

}  // namespace canopy_cc
