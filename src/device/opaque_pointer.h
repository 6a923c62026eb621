// SPDX-License-Identifier: Apache-2.0
// From a device address to a pointer: for the engine and drivers, which know whether this process can touch the memory,
// and for the C interface, which passes pointers to the program. Core never sees this header
// (scripts/check_dependencies.py).
#pragma once

#include "base/device_address.h"

namespace canopy {

inline void* opaque_pointer(DeviceAddress address) noexcept { return reinterpret_cast<void*>(address.value()); }

}  // namespace canopy
