// SPDX-License-Identifier: Apache-2.0
// Per-thread state of the interface: the current context, the last error, the number of the last task.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/handles.h"

namespace canopy {

// Which unsafe calls a capture forbids: those of all threads, of its own thread, or none. Values of
// aclmdlRICaptureMode. Each thread also has a mode, for captures by other threads.
enum class CaptureMode : std::int32_t { global = 0, thread_local_ = 1, relaxed = 2 };

struct ThreadState {
    Handle context = 0;  // the current one: set explicitly, or the primary context of the device set last
    bool context_is_primary = false;
    Handle default_stream = 0;  // of `context`
    std::int32_t device = -1;   // of `context`
    int last_error = 0;
    std::uint32_t last_task = 0;
    Handle last_stream = 0;     // of the last task
    Handle recorded_graph = 0;  // graph of the task this thread recorded last; lane and position below
    std::uint32_t recorded_lane = 0;
    std::uint32_t recorded_position = 0;
    Handle recorded_stream = 0;  // of that task, and its number
    std::uint32_t recorded_task = 0;
    Handle resource_stream = 0;    // the stream whose core limits this thread uses
    const char* function = "";     // the interface function called last
    std::uint64_t call_began = 0;  // ticks, while a call is recorded
    CaptureMode capture_mode = CaptureMode::global;
    // How many calls that change devices this thread is in, plus 1; 0 before the first (gate.h). Others read it.
    std::atomic<std::uint32_t> passes{0};
    bool ignores_gate = false;  // runs a callback of a snapshot
};

// In each thread's static TLS block: reading it takes one instruction and no call.
__attribute__((tls_model("initial-exec"))) inline thread_local constinit ThreadState thread_state;

}  // namespace canopy
