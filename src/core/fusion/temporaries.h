// SPDX-License-Identifier: Apache-2.0
// Memory that programs declare temporary: only the steps that write it read it, so fused kernels may omit stores to it.
// Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace canopy {

Status declare_temporary(DeviceAddress address, std::size_t size);
Status undeclare_temporary(DeviceAddress address);
// Number of bytes from an address on that are declared temporary, or 0.
[[nodiscard]] std::uint64_t temporary_bytes(DeviceAddress address);

// Counts declarations and their removals: kernels chosen before the last change may be wrong now.
inline std::atomic<std::uint64_t> temporary_changes{0};

}  // namespace canopy
