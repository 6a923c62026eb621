// SPDX-License-Identifier: Apache-2.0
// Device code as LLVM IR: a source is parsed once, and its IR is compiled for every target.
#pragma once

#include <string>

#include "options/options.h"

namespace canopy_cc {

// True if all targets can be compiled from the same IR. Flags for a specific processor or a sanitizer rule it out.
bool shares_device_ir(const Options& options);

// The target the IR is generated for: the highest one, so that vectors are passed by value in calls.
std::string ir_target(const Options& options);

// Makes functions that are not marked as used internal and removes constructors, so that the compiler drops host code
// early.
std::string without_host_code(const std::string& ir);

// Converts IR generated for the target `from` to the target `to`.
std::string retargeted(const std::string& ir, const std::string& from, const std::string& to);

}  // namespace canopy_cc
