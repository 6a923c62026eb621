// SPDX-License-Identifier: Apache-2.0
// TaskOwner: the owner of running work, a stream or a lane of a graph, as those that run it see it.
#pragma once

#include <cstdint>

#include "device/command_place.h"
#include "device/driver.h"

namespace canopy {

class TaskOwner {
public:
    // Cancels whatever is running of its first `limit` commands, on any thread. Called by a launch whose block has
    // failed.
    virtual void cancel(std::uint64_t limit, FaultKind why) noexcept = 0;
    // Its launch has ended elsewhere: on CPU cores, or on a device that runs kernels by itself. The owner may be gone
    // when this returns.
    virtual void continue_after_launch() noexcept = 0;
    // The task that the command is, or that replays it, as records name it.
    [[nodiscard]] virtual std::uint64_t record_link(const Command&) const noexcept { return 0; }

    // For a command that it runs at present.
    [[nodiscard]] virtual CommandPlace place_of(const Command& command) const noexcept {
        return {0, command.task, nullptr, {}};
    }

protected:
    ~TaskOwner() = default;
};

}  // namespace canopy
