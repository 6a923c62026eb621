// SPDX-License-Identifier: Apache-2.0
// TaskOwner: the owner of running work, a stream or a lane of a graph, as launches and CPU cores see it.
#pragma once

#include <cstdint>

#include "device/backend.h"

namespace canopy {

class TaskOwner {
public:
    // Cancels whatever is running of its first `limit` commands, on any thread. Called by a launch whose block has
    // failed.
    virtual void cancel(std::uint64_t limit, FaultKind why) noexcept = 0;
    // Blocks of its launch have become runnable: another thread may join.
    virtual void invite() noexcept = 0;
    // The same for items that have not begun; `hands` sleeping threads are worth waking.
    virtual void invite(std::uint32_t hands) noexcept = 0;
    // The last block of its launch on CPU cores has ended on this thread. The owner may be gone when this returns.
    virtual void continue_after_cpu_kernel() noexcept = 0;

protected:
    ~TaskOwner() = default;
};

}  // namespace canopy
