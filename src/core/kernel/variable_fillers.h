// SPDX-License-Identifier: Apache-2.0
// Functions of the program that fill variables of kernel binaries when those are loaded on a device: one per name of a
// variable, for every binary that has one of that name. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/backend.h"

namespace canopy {

// Gets the variable's bytes as the binary has them; 0 when it has filled them.
using VariableFiller = std::int32_t (*)(void* bytes, std::uint32_t size);

// Replaces an earlier one.
void set_variable_filler(std::string name, VariableFiller filler);
// 107000 when there is none.
Status remove_variable_filler(std::string_view name);

// Runs the fillers of a module that was just loaded. 107000 when one of them fails.
Status fill_variables(Module& module);

}  // namespace canopy
