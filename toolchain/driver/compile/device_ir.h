// SPDX-License-Identifier: Apache-2.0
// Device code between clang's two halves: a source is parsed once, and its LLVM text is compiled for every target.
#pragma once

#include <string>

#include "options/options.h"

namespace canopy_cc {

// Whether all targets can be made from one text: a flag that describes a processor or a sanitizer speaks against it.
bool shares_device_ir(const Options& options);

// The target the text is made for: the highest one, so that vectors stay values in calls.
std::string ir_target(const Options& options);

// Makes code that no kernel reaches internal and removes constructors, so that the compiler drops host code first.
std::string without_host_code(const std::string& ir);

// The text made for the target `from`, for the target `to`.
std::string retargeted(const std::string& ir, const std::string& from, const std::string& to);

}  // namespace canopy_cc
