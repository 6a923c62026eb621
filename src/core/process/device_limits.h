// SPDX-License-Identifier: Apache-2.0
// Process-wide limits: the sizes of stacks and printf buffers (aclrtDeviceSetLimit and aclInit's file), and how many
// cores work may use (per device, per stream, per thread). Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

inline constexpr std::uint64_t stack_step = 16u << 10;
inline constexpr std::uint64_t smallest_fifo = 1u << 10;
inline constexpr std::uint64_t largest_fifo = 64u << 20;

// Values of aclrtDeviceLimit.
enum class DeviceLimit : std::int32_t {
    simt_stack = 0,
    simt_divergence_stack = 1,
    simd_stack = 2,
    simd_printf_fifo_per_core = 3,
    simt_printf_fifo = 4,
};

// 100000 for an unknown limit or a value out of range, 207000 for a limit the chip does not have, 107000 if a device is
// already open and its stacks can no longer change.
Status set_device_limit(std::int32_t limit, std::size_t value);
Result<std::size_t> device_limit(std::int32_t limit);
// For values from aclInit's file, which are already checked. The stack size does not change once a device is open.
void configure_limit(DeviceLimit limit, std::uint64_t value);

// The number of cores of a kind that this process may use: the limit if one is set, else the chip's count.
std::uint32_t device_cores(const DeviceRecord& record, CoreLimit kind) noexcept;
// 107000 if the number is 0 or exceeds the chip's count.
Status check_core_limit(const Chip& chip, CoreLimit kind, std::uint32_t cores);
// 107000 for a number that is not a kind of core.
Result<CoreLimit> core_limit_of(std::int32_t number);

}  // namespace canopy
