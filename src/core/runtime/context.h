// SPDX-License-Identifier: Apache-2.0
// Contexts: who owns streams. Every device has one primary context, shared by all threads that set the device; more
// can be made. Lock order: DeviceRecord::mutex, Context::mutex, Stream::lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/runtime/runtime.h"

namespace canopy {

class Context {
public:
    Handle self = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    bool primary = false;
    Handle default_stream = 0;

    // Nonzero once a stream in stop-on-failure mode failed: the context accepts no new tasks.
    std::atomic<int> failure{0};

    std::mutex mutex;
    std::vector<Handle> streams;                       // all of them, the default stream first
    std::vector<std::optional<std::int64_t>> options;  // system parameters by number
    void* overflow_words = nullptr;                    // device memory, see context_memory
    void* sync_words = nullptr;

    void recycle() noexcept;
};

enum class ResetMode { counted, forced };

// A context with its default stream, current in the calling thread afterwards.
Result<Handle> create_context(std::int64_t device_id);
// Destroys an explicit context; waits for its runnable work.
Status destroy_context(Handle handle);
Status set_current_context(Handle handle);

Status set_device(std::int64_t device_id);
Status reset_device(std::int64_t device_id, ResetMode mode);

// Waits for every stream of the context; the first failure is reported. 507046 when the deadline passes.
Status synchronise_context(Context& context, Deadline deadline);

// Lets everything that can run in this context finish, without waiting for streams that stand before a wait.
void settle_context(Context& context) noexcept;

// Memory on the device that programs may ask the address of: where cores report floating-point overflow, and the words
// cores of a mixed kernel meet in. Made at the first request, freed with the context.
enum class ContextMemory { overflow, synchronisation };
Result<void*> context_memory(Context& context, ContextMemory which);

// Ends all contexts and streams of all devices; the last step of aclFinalize.
void release_all_devices() noexcept;

}  // namespace canopy
