// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/step_times.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "device/execution/executor.h"
#include "foundation/clock.h"

namespace canopy {

static_assert(sizeof(canopyFusionProfileHeader) == 64 && sizeof(canopyFusionProfileRecord) == 32);

void StepTimes::find(const Driver& driver, const void* arguments, std::uint32_t slot,
                     std::span<const SoftStep> all) noexcept {
    header = nullptr;
    auto* const slots = static_cast<std::byte* const*>(arguments);
    std::byte* const buffer = slots[slot];
    if (!buffer || reinterpret_cast<std::uintptr_t>(buffer) % alignof(canopyFusionProfileHeader) != 0) return;
    const std::optional<DeviceRange> range = driver.find(device_address(buffer));
    if (!range) return;
    const std::size_t room = range->bytes_from(device_address(buffer));
    if (room < sizeof(canopyFusionProfileHeader)) return;
    header = reinterpret_cast<canopyFusionProfileHeader*>(buffer);
    records = reinterpret_cast<canopyFusionProfileRecord*>(buffer + sizeof(canopyFusionProfileHeader));
    capacity = (room - sizeof(canopyFusionProfileHeader)) / sizeof(canopyFusionProfileRecord);
    task = reinterpret_cast<std::uintptr_t>(slots[slot + 1]);
    steps = static_cast<std::uint64_t>(
        std::count_if(all.begin(), all.end(), [](const SoftStep& step) { return step.timed; }));
}

CANOPY_MAY_BE_LEFT void begin_times(const void* data) {
    const auto& times = *static_cast<const StepTimes*>(data);
    *times.header = {CANOPY_FUSION_PROFILE_MAGIC,
                     CANOPY_FUSION_PROFILE_VERSION,
                     sizeof(canopyFusionProfileHeader),
                     sizeof(canopyFusionProfileRecord),
                     times.capacity,
                     0,
                     times.task,
                     times.steps,
                     static_cast<std::uint64_t>(now()),
                     0};
}

CANOPY_MAY_BE_LEFT void run_timed(const void* data) {
    const auto& call = *static_cast<const TimedCall*>(data);
    const auto begin = static_cast<std::uint64_t>(now());
    call.entry(call.arguments);
    const auto end = static_cast<std::uint64_t>(now());
    const std::uint64_t index = std::atomic_ref(call.times->header->count).fetch_add(1, std::memory_order_relaxed);
    if (index < call.times->capacity) call.times->records[index] = {call.step, call.block, call.core, 0, begin, end};
}

}  // namespace canopy
