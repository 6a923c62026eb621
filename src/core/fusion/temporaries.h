// SPDX-License-Identifier: Apache-2.0
// Memory that programs declared temporary: only the steps that write it read it, so fused kernels may leave out the
// stores to it. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace canopy {

Status declare_temporary(const void* address, std::size_t size);
Status undeclare_temporary(const void* address);
// How many bytes from an address on are declared; 0: none.
[[nodiscard]] std::uint64_t temporary_bytes(const void* address);

// Counts the declarations: a kernel that was chosen before the last one may be wrong now. 0: there was none.
inline std::atomic<std::uint64_t> temporary_changes{0};

}  // namespace canopy
