// SPDX-License-Identifier: Apache-2.0
// Command lines written for other compilers of the kernel language: response files, and flags without effect here.
#pragma once

#include <string>
#include <vector>

namespace canopy_cc {

// Normalises the command line: puts the flags of CANOPY_CC_FLAGS first, replaces @FILE by the words of the response
// file, drops flags that have no effect, and gives the others a single spelling. Returns an empty string, or what is
// wrong.
std::string read_command_line(const std::vector<std::string>& arguments, std::vector<std::string>& result);

}  // namespace canopy_cc
