// SPDX-License-Identifier: Apache-2.0
// Variables of loaded binaries whose addresses programs were given: device memory, although no heap holds it. Copies
// ask here when an address is in no other table. Any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "base/memory_range.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"

namespace canopy {

struct DeviceVariable {
    DeviceRecord* record = nullptr;
    MemoryRange range;
};

// The program gets to know this variable of a binary. The caller checks afterwards that the binary is still loaded, and
// forgets its variables otherwise.
void note_variable(Handle binary, DeviceRecord& record, void* address, std::size_t size);
// The binary is unloaded.
void forget_variables(Handle binary) noexcept;
std::optional<DeviceVariable> find_device_variable(const void* address) noexcept;

}  // namespace canopy
