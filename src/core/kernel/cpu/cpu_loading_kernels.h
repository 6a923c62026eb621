// SPDX-License-Identifier: Apache-2.0
// The kernels of the CPU cores that have no shared object: by name they bring shared objects from device memory to the
// CPU cores, and take them away again. What they bring is found by its name as if it lay in a folder.
//
// Threads: all functions from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace canopy {

// loadOpFromBuf: {u64 bytes, u32 size, u64 name, u32 size of the name}, packed; batchLoadsoFrombuf and deleteCustOp:
// {u32 count, u64 address of so many of them}. Addresses are those of device memory.
bool is_loading_kernel(std::string_view name) noexcept;

// Does now what the kernel does. 107000 when an address is none of device memory, or nothing of a name was loaded.
Status run_loading_kernel(std::string_view name, std::span<const std::byte> arguments);

}  // namespace canopy
