// SPDX-License-Identifier: Apache-2.0
// SoftCheckedSlot: how a strand runs kernels while they are checked. Launches that the checker wants run their checking
// code; the others run as usual.
#pragma once

#include <optional>

#include "device/soft/launch/checked_launch.h"
#include "device/soft/launch/soft_slot.h"

namespace canopy {

class SoftCheckedSlot final : public LaunchSlot {
public:
    SoftCheckedSlot(Strand& owner, CoreBudget& budget, FiberPool& fibers, const CheckedDevice& device) noexcept
        : owner_(owner), budget_(budget), device_(device), slot_(owner, budget, fibers) {}

    Step run(Worker& worker, Command& command, std::uint64_t sequence) noexcept override;
    void stop(std::uint64_t limit) noexcept override { slot_.stop(limit); }
    bool withdraw() noexcept override { return slot_.withdraw(); }
    void drop() noexcept override;

private:
    void begin(const Command& command) noexcept;
    void finish(const Command& command) noexcept;

    Strand& owner_;
    CoreBudget& budget_;
    const CheckedDevice& device_;
    SoftSlot slot_;
    bool begun_ = false;  // a command is being run
    // While the command is a checked launch.
    std::optional<SoftCheckedLaunch> launch_;
    Command command_;  // the command with the other kernel
};

}  // namespace canopy
