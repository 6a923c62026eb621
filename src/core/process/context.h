// SPDX-License-Identifier: Apache-2.0
// Contexts own streams. Every device has one primary context, shared by all threads that set the device; more can be
// created (core/lifecycle/contexts.h). Lock order: DeviceRecord::mutex, Context::mutex, Stream::lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "foundation/mutex.h"

namespace canopy {

class Context {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    bool primary = false;
    Handle default_stream = 0;

    // Nonzero once a stream in stop-on-failure mode has failed: the context then accepts no new tasks.
    std::atomic<int> failure{0};

    Mutex mutex;
    std::vector<Handle> streams CANOPY_GUARDED_BY(mutex);                       // the default stream first
    std::vector<std::optional<std::int64_t>> options CANOPY_GUARDED_BY(mutex);  // system parameters by number
    DeviceAddress overflow_words CANOPY_GUARDED_BY(mutex){};                    // see context_memory
    DeviceAddress sync_words CANOPY_GUARDED_BY(mutex){};

    void recycle() noexcept;
};

// The thread's current context; if it has none, the configured default device is set first. 107002 if there is none.
Result<Pin<Context>> current_context();
// The same without pinning, for calls that only compare: ensures that thread_state.context is a live context.
Status require_context();

void make_current(Context& context) noexcept;
// Clears the calling thread's current context if it is this one.
void forget_current(Handle context) noexcept;

// The device of the current context. 107002 if there is none.
Result<DeviceRecord*> current_device();

// Waits for everything that can run on the context's device, but not for streams that wait for an event. True if memory
// that was freed under running work may be gone now.
bool quiesce_context(Context& context) noexcept;
// The same for all devices, used before memory is freed.
void quiesce_devices() noexcept;

// Device memory whose address programs may ask for: where cores report floating-point overflow, and the words in which
// the cores of a mixed kernel synchronise. Allocated at the first request, freed with the context.
enum class ContextMemory { overflow, synchronisation };
Result<DeviceAddress> context_memory(Context& context, ContextMemory which);

}  // namespace canopy
