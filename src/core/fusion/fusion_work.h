// SPDX-License-Identifier: Apache-2.0
// The thread that improves fused kernels while they run. It starts with the first work item and ends with the runtime;
// remaining work is dropped then.
//
// Threads: everything from any thread.
#pragma once

#include <functional>
#include <memory>

#include "device/device.h"
#include "foundation/clock.h"
#include "foundation/subprocess.h"

namespace canopy {

// `fusion` identifies the work for wait_for_improvements. `code` stays loaded until the work is done and destroyed.
void run_improvement(const void* fusion, std::function<void()> work, std::shared_ptr<Module> code);
// Waits until no work is left for a fusion, or for any if null. Returns false if the deadline passed.
bool wait_for_improvements(const void* fusion, Deadline deadline);
// Drops the remaining work, terminates a running compiler, and returns once the thread has ended.
void stop_improvements() noexcept;
// Set while stop_improvements is running.
ProcessStop& improvement_stop() noexcept;

}  // namespace canopy
