// SPDX-License-Identifier: Apache-2.0
// Variables of loaded binaries whose addresses the program has obtained: device memory that is not in any heap. Copies
// look here when an address is in no other table. Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/memory_range.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"

namespace canopy {

struct DeviceVariable {
    DeviceRecord* record = nullptr;
    DeviceRange range;
    Handle binary = 0;
};

// Registers a variable whose address the program obtains. The caller then checks that the binary is still loaded, and
// calls forget_variables if it is not.
void note_variable(Handle binary, DeviceRecord& record, DeviceAddress address, std::size_t size);
// Called when the binary is unloaded.
void forget_variables(Handle binary) noexcept;
std::vector<DeviceVariable> all_device_variables();
std::optional<DeviceVariable> find_device_variable(DeviceAddress address) noexcept;

}  // namespace canopy
