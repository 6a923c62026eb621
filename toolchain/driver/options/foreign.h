// SPDX-License-Identifier: Apache-2.0
// Command lines written for other compilers of the kernel language: response files, and flags that mean nothing here.
#pragma once

#include <string>
#include <vector>

namespace canopy_cc {

// The command line as the driver reads it: the flags in CANOPY_CC_FLAGS first, words of response files in place of
// @FILE, without flags that have no effect, and flags that have one in a single spelling. Returns an empty text, or
// what is wrong.
std::string read_command_line(const std::vector<std::string>& arguments, std::vector<std::string>& result);

}  // namespace canopy_cc
