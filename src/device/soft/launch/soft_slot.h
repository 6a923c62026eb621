// SPDX-License-Identifier: Apache-2.0
// SoftSlot: how a strand runs kernels on the software NPU. A kernel of one block runs on the thread that drains the
// strand; one of many blocks is shared with other workers.
#pragma once

#include "device/soft/launch/core_budget.h"
#include "device/soft/launch/launch.h"

namespace canopy {

class SoftSlot final : public LaunchSlot {
public:
    SoftSlot(Strand& owner, CoreBudget& budget, FiberPool& fibers) noexcept
        : owner_(owner), budget_(budget), cores_(owner), launch_(owner, fibers) {}

    Step run(Worker& worker, Command& command, std::uint64_t sequence) noexcept override;
    void stop(std::uint64_t limit) noexcept override { launch_.stop_below(limit); }
    bool withdraw() noexcept override { return budget_.withdraw(cores_); }
    void drop() noexcept override;

private:
    enum class Stage : std::uint8_t { idle, waits_for_cores, shared };

    Step run_many_blocks(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    Step run_fused(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    void run_fused_alone(Worker& worker, Command& command, const SoftFusedKernel& kernel,
                         std::uint64_t sequence) noexcept;
    bool take_cores(CoreNeed need) noexcept;
    Step share(Worker& worker, Command& command) noexcept;
    void complete(const Command& command) noexcept;
    void check(const Command& command) noexcept;

    Strand& owner_;
    CoreBudget& budget_;
    Stage stage_ = Stage::idle;
    CoreBudget::Place cores_;
    Launch launch_;
};

}  // namespace canopy
