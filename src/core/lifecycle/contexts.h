// SPDX-License-Identifier: Apache-2.0
// Making and ending contexts: aclrtSetDevice, aclrtCreateContext and their opposites. A context that ends takes its
// streams and graphs with it. All functions from any thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/context.h"

namespace canopy {

// A context with its default stream, current in the calling thread afterwards.
Result<Handle> create_context(std::int64_t device_id);
// Destroys an explicit context; waits for its runnable work.
Status destroy_context(Handle handle);
Status set_current_context(Handle handle);

Status set_device(std::int64_t device_id);
enum class ResetMode { counted, forced };
Status reset_device(std::int64_t device_id, ResetMode mode);

// Waits for every stream of the context; the first failure is reported. 507046 when the deadline passes.
Status synchronise_context(Context& context, Deadline deadline);

// Ends all contexts and streams of all devices, then graphs and binaries; the last step of aclFinalize.
void release_all_devices() noexcept;

}  // namespace canopy
