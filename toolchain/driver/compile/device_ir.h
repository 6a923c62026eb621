// SPDX-License-Identifier: Apache-2.0
// Device code as LLVM IR: a source is parsed once, and the part of its IR that kernels reach is compiled for every
// target.
#pragma once

#include <string>

#include "options/options.h"

namespace canopy_cc {

// True if device code is compiled from IR that all targets share. Flags for a specific processor or a sanitizer rule it
// out.
bool goes_through_ir(const Options& options);

// The target the IR is generated for: the highest one, so that vectors are passed by value in calls.
std::string ir_target(const Options& options);

// Leaves out everything that no kernel and no device variable mentions, which is the host code of the source: it would
// be optimised like the kernels and then dropped by the linker. Also removes constructors.
std::string without_host_code(const std::string& ir);

// Makes functions that are not marked as used internal, so that the optimiser may inline and drop them.
std::string with_internal_functions(const std::string& ir);

// Converts IR generated for the target `from` to the target `to`.
std::string retargeted(const std::string& ir, const std::string& from, const std::string& to);

}  // namespace canopy_cc
