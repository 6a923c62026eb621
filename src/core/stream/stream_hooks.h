// SPDX-License-Identifier: Apache-2.0
// Calls from streams into the folders above. The table is defined in core/lifecycle/hooks.cpp. None of them is used in
// normal operation: submitting, waiting and finishing tasks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/device.h"

namespace canopy {

class Recorder;
class Stream;

struct StreamHooks {
    // The initial recorder of a stream with these flags; nullptr for ordinary streams.
    Recorder* (*first_recorder)(std::uint32_t stream_flags);
    // All work submitted to the stream is done. Only called while memory pools exist.
    void (*synchronised)(Handle stream) noexcept;
    // Submits to the stream's queue while launches are dumped. The stream is locked.
    Result<std::uint64_t> (*submit_dumped)(Stream& stream, std::span<Command> commands) noexcept;
    // Describes a failed task: what failed, and how.
    std::string (*describe_failure)(const TaskFailure& failure);
    // Writes a failed task to the dump and calls the exception callbacks for it.
    void (*fire_exception)(Stream& stream, const TaskFailure& failure, int code) noexcept;
};
extern const StreamHooks stream_hooks;

}  // namespace canopy
