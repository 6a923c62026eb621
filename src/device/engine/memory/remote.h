// SPDX-License-Identifier: Apache-2.0
// Memory that this process cannot address: the drivers that own such memory, and the word access that works for any
// memory. While no such device is open, everything here costs one load.
//
// Threads: any. A driver is removed only when nothing uses its memory any more.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/driver.h"

namespace canopy {

namespace remote {
inline std::atomic<std::uint32_t> count{0};  // places of the table that are or were in use
}  // namespace remote

// Called for every device whose memory is not addressable, and when it ends.
void add_remote(Driver& driver) noexcept;
void remove_remote(Driver& driver) noexcept;
[[nodiscard]] inline bool any_remote() noexcept { return remote::count.load(std::memory_order_acquire) != 0; }
// The driver that owns the address; nullptr if this process can address it.
[[nodiscard]] Driver* remote_owner(DeviceAddress address) noexcept;

// A 64-bit word in memory of any device; 0 if a device cannot read it.
[[nodiscard]] std::uint64_t load_word(DeviceAddress address) noexcept;
void store_word(DeviceAddress address, std::uint64_t value) noexcept;

}  // namespace canopy
