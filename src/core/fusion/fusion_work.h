// SPDX-License-Identifier: Apache-2.0
// The thread that makes fused kernels better while they run. It starts with the first piece of work and ends with the
// runtime; work that is left then is dropped.
//
// Threads: everything from any thread.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "core/fusion/fusion.h"
#include "foundation/subprocess.h"

namespace canopy {

// `code`: kept loaded until the work is done.
void improve_later(std::shared_ptr<Fusion> fusion, FusionVariant& variant, std::shared_ptr<Module> code);
// Waits until no work is left for a fusion, or for any when it is null. false: the deadline passed.
bool wait_for_improvements(const Fusion* fusion, Deadline deadline);
// Drops what is left, ends a compiler that runs, and returns when the thread has ended.
void stop_improvements() noexcept;
// Set while that is going on.
ProcessStop& improvement_stop() noexcept;

}  // namespace canopy
