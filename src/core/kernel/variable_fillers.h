// SPDX-License-Identifier: Apache-2.0
// Program callbacks that fill variables of kernel binaries when they are loaded on a device: one per variable name,
// applied to every binary that has a variable of that name. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"

namespace canopy {

// Gets the variable's initial bytes from the binary; returns 0 once it has filled them.
using VariableFiller = std::int32_t (*)(void* bytes, std::uint32_t size);

// Replaces an earlier filler of that name.
void set_variable_filler(std::string name, VariableFiller filler);
// 107000 if there is none.
Status remove_variable_filler(std::string_view name);

// Runs the fillers for a newly loaded module. 107000 if one of them fails.
Status fill_variables(Module& module);

}  // namespace canopy
