// SPDX-License-Identifier: Apache-2.0
// What the interface keeps per thread: the current context, the last error, the number of the last task.
#pragma once

#include <cstdint>

#include "core/base/handles.h"

namespace canopy {

// What a capture forbids: unsafe calls of all threads, those of its own thread, or none. The numbers of
// aclmdlRICaptureMode. A thread has one too, for captures of others.
enum class CaptureMode : std::int32_t { global = 0, thread_local_ = 1, relaxed = 2 };

struct ThreadState {
    Handle context = 0;  // the current one: set explicitly, or the primary one of the device set last
    bool context_is_primary = false;
    Handle default_stream = 0;  // of `context`
    std::int32_t device = -1;   // of `context`
    int last_error = 0;
    std::uint32_t last_task = 0;
    Handle recorded_graph = 0;  // of the task that this thread recorded last, and its place there
    std::uint32_t recorded_lane = 0;
    std::uint32_t recorded_position = 0;
    Handle resource_stream = 0;  // whose core limits this thread uses
    const char* function = "";   // of the interface, that was called last
    CaptureMode capture_mode = CaptureMode::global;
};

// In the static block of every thread: reading it costs one instruction, no call.
__attribute__((tls_model("initial-exec"))) inline thread_local constinit ThreadState thread_state;

}  // namespace canopy
