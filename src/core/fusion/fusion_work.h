// SPDX-License-Identifier: Apache-2.0
// The thread that improves fused kernels while they run. It starts with the first piece of work and ends with the
// runtime; work that is left then is dropped.
//
// Threads: everything from any thread.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "device/backend.h"
#include "foundation/subprocess.h"

namespace canopy {

// `fusion`: what wait_for_improvements knows the work by. `code` stays loaded until the work is done and destroyed.
void run_improvement(const void* fusion, std::function<void()> work, std::shared_ptr<Module> code);
// Waits until no work is left for a fusion, or for any when it is null. false: the deadline passed.
bool wait_for_improvements(const void* fusion, Deadline deadline);
// Drops what is left, ends a compiler that runs, and returns when the thread has ended.
void stop_improvements() noexcept;
// Set while that is going on.
ProcessStop& improvement_stop() noexcept;

}  // namespace canopy
