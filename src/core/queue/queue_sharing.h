// SPDX-License-Identifier: Apache-2.0
// Queues between processes. The creator of a queue answers questions about all its queues with one object, found by the
// pid in a queue's number: who may attach, the files of queues, and the pools of buffers that are in them. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "foundation/clock.h"

namespace canopy {

// Others can ask for this process's queues from now on.
Status share_directory();
// `process` may use the queue as far as `rights` say. Needs the right to manage it.
Status grant_queue(std::uint32_t number, std::int32_t process, std::uint32_t rights);
// Waits for a grant until the deadline, and returns the rights. 207006: none came.
Result<std::uint32_t> attach_queue(std::uint32_t number, Deadline deadline);
// In a process that runs CPU kernels: attaches to a queue of its parent at the first use. Nothing elsewhere.
Status reach_queue(std::uint32_t number);

}  // namespace canopy
