// SPDX-License-Identifier: Apache-2.0
// Calls from streams to folders above this one. The table is a constant of core/lifecycle/hooks.cpp. None of them is
// made while a stream works as usual: submitting, waiting and finishing tasks.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/handles.h"
#include "device/backend.h"

namespace canopy {

class Recorder;
class Stream;

struct StreamHooks {
    // The recorder a stream with these flags starts with; nullptr for ordinary ones.
    Recorder* (*first_recorder)(std::uint32_t stream_flags);
    // Everything submitted to the stream is done. Only called while there are memory pools.
    void (*synchronised)(Handle stream) noexcept;
    // A failed task in words: who failed, and how.
    std::string (*describe_failure)(const TaskFailure& failure);
    // Exception callbacks hear about a failed task.
    void (*fire_exception)(Stream& stream, const TaskFailure& failure, int code) noexcept;
};
extern const StreamHooks stream_hooks;

}  // namespace canopy
