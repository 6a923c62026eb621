// SPDX-License-Identifier: Apache-2.0
// Dumps of launches: a task before the launch keeps what its arguments point at, a task behind it writes the file. Both
// run in the stream's order, on the thread that drains it. Any thread submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/stream/stream.h"
#include "device/device.h"

namespace canopy {

// Submits the commands to the stream's queue, with the tasks that dump their launches.
Result<std::uint64_t> submit_dumped(Stream& stream, std::span<Command> commands) noexcept CANOPY_REQUIRES(stream.lock);

// Memory as it was before a launch that runs now and whose kernel CANOPY_DUMP_EXCEPTION_BEFORE names.
struct KeptMemory {
    DeviceRange allocation;
    std::vector<std::byte> bytes;
};
using KeptMemories = std::vector<KeptMemory>;
// nullptr if nothing was kept for that task.
std::shared_ptr<const KeptMemories> kept_before(const Stream& stream, std::uint32_t task);

}  // namespace canopy
