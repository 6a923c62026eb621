// SPDX-License-Identifier: Apache-2.0
// Limits that hold for the whole process: the sizes of stacks and of the buffers behind printf (aclrtDeviceSetLimit and
// aclInit's file), and how many cores work may use (per device, per stream, per thread). All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

inline constexpr std::uint64_t stack_step = 16u << 10;
inline constexpr std::uint64_t smallest_fifo = 1u << 10;
inline constexpr std::uint64_t largest_fifo = 64u << 20;

// The numbers of aclrtDeviceLimit.
enum class DeviceLimit : std::int32_t {
    simt_stack = 0,
    simt_divergence_stack = 1,
    simd_stack = 2,
    simd_printf_fifo_per_core = 3,
    simt_printf_fifo = 4,
};

// 100000 for an unknown limit or a value out of range, 207000 for a limit the chip does not have, 107000 when a device
// is open already and its stacks cannot change any more.
Status set_device_limit(std::int32_t limit, std::size_t value);
Result<std::size_t> device_limit(std::int32_t limit);
// A value of aclInit's file, which was checked when it was read. A stack is left as it is once a device is open.
void configure_limit(DeviceLimit limit, std::uint64_t value);

// How many cores of a kind the device has for this process: the limit that was set, or what the chip has.
std::uint32_t device_cores(const DeviceRecord& record, CoreLimit kind) noexcept;
// 107000 when the number is 0 or more than the chip has.
Status check_core_limit(const Chip& chip, CoreLimit kind, std::uint32_t cores);
// 107000 for a number that names no kind of core.
Result<CoreLimit> core_limit_of(std::int32_t number);

}  // namespace canopy
