// SPDX-License-Identifier: Apache-2.0
// Built-in CPU kernels that need no shared object: they copy shared objects from device memory to the CPU cores, or
// remove them again. Objects loaded this way are found by name as if they were in a folder.
//
// Threads: all functions from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace canopy {

// loadOpFromBuf: {u64 bytes, u32 size, u64 name, u32 name size}, packed. batchLoadsoFrombuf and deleteCustOp: {u32
// count, u64 address of that many records}. All addresses are in device memory.
bool is_loading_kernel(std::string_view name) noexcept;

// Runs the kernel now. 107000 if an address is not in device memory or a name to delete was never loaded.
Status run_loading_kernel(std::string_view name, std::span<const std::byte> arguments);

}  // namespace canopy
