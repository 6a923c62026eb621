// SPDX-License-Identifier: Apache-2.0
// Creating and destroying contexts: aclrtSetDevice, aclrtCreateContext and their counterparts. Destroying a context
// also destroys its streams and graphs. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/context.h"
#include "foundation/clock.h"

namespace canopy {

// A context with its default stream; becomes current in the calling thread.
Result<Handle> create_context(std::int64_t device_id);
// Destroys an explicit context; waits for its runnable work.
Status destroy_context(Handle handle);
Status set_current_context(Handle handle);

Status set_device(std::int64_t device_id);
enum class ResetMode { counted, forced };
Status reset_device(std::int64_t device_id, ResetMode mode);

// Waits for all streams of the context and reports the first failure. 507046 if the deadline passes.
Status synchronise_context(Context& context, Deadline deadline);

// Destroys all contexts and streams of all devices, then graphs and binaries; the last step of aclFinalize.
void release_all_devices() noexcept;

}  // namespace canopy
