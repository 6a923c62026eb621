// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/soft_slot.h"

#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/strand.h"
#include "device/opaque_pointer.h"
#include "record/recorder.h"

namespace canopy {

Step SoftSlot::run(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (stage_ == Stage::shared) [[unlikely]] {  // the last of its threads has come back to it
        owner_.take_wait_result();
        complete(command);
        return Step::done;
    }
    const LaunchWork& work = command.launch;
    if (work.kernel->fused) return run_fused(worker, command, sequence);
    const auto& kernel = static_cast<const SoftKernel&>(*work.kernel);
    if (work.blocks != 1 || kernel.group.size() != 1) return run_many_blocks(worker, command, sequence);
    CanopyBlock block = {work.block_offset, 1,       0,      1, kernel.core_type(kernel.group.cube != 0),
                         work.dynamic_size, nullptr, nullptr};
    Executor& executor = worker.executor;
    Fault fault;
    executor.begin_task(&owner_, sequence, owner_.timeout_of(work), &kernel);
    const Fiber::Exit how = executor.run(nullptr, reinterpret_cast<Fiber::Body>(kernel.entry),
                                         opaque_pointer(work.arguments()), &block, fault);
    executor.end_task();
    if (how != Fiber::Exit::finished) [[unlikely]]
        owner_.report(command, fault, block.index, fault.text ? fault.text : "");
    else
        check(command);
    return Step::done;
}

void SoftSlot::check(const Command& command) noexcept {
    if (owner_.scheduler().checks()) [[unlikely]]
        owner_.check_memory(command);
}

// False: the strand waits for them.
bool SoftSlot::take_cores(CoreNeed need) noexcept {
    if (stage_ == Stage::waits_for_cores && owner_.take_wait_result() == WaitResult::satisfied) return true;
    stage_ = Stage::waits_for_cores;
    return budget_.take(cores_, need);
}

Step SoftSlot::run_many_blocks(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    const LaunchWork& work = command.launch;
    const auto& kernel = static_cast<const SoftKernel&>(*work.kernel);
    const std::uint32_t resident = budget_.cores().resident_groups(kernel, work.blocks);
    if (!take_cores(budget_.cores().cores_for(kernel, resident))) return Step::left;
    launch_.begin(kernel, work, resident * kernel.group.size(), sequence, owner_.timeout_of(work));
    if (record::wants(record::blocks)) [[unlikely]]
        launch_.set_link(owner_.record_link(command));
    return share(worker, command);
}

// Once it is published, another thread may complete the launch and continue the strand.
Step SoftSlot::share(Worker& worker, Command& command) noexcept {
    Scheduler& scheduler = owner_.scheduler();
    stage_ = Stage::shared;
    scheduler.publish(launch_);
    if (!scheduler.work_on(launch_, worker)) return Step::left;
    complete(command);
    return Step::done;
}

void SoftSlot::complete(const Command& command) noexcept {
    stage_ = Stage::idle;
    const Launch::Outcome outcome = launch_.end();
    budget_.give_back(cores_);
    if (outcome.fault.kind != FaultKind::none) [[unlikely]]
        owner_.report(command, outcome.fault, outcome.block, outcome.what, outcome.who, 0, outcome.step);
    else
        check(command);
}

void SoftSlot::drop() noexcept {
    const bool has_cores = stage_ == Stage::shared ||
                           (stage_ == Stage::waits_for_cores && owner_.take_wait_result() == WaitResult::satisfied);
    if (stage_ == Stage::shared) launch_.end();
    stage_ = Stage::idle;
    if (has_cores) budget_.give_back(cores_);
}

// ---- fused kernels -------------------------------------------------------------------------------------------------

Step SoftSlot::run_fused(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    const SoftFusedKernel& kernel = SoftFusedKernel::latest(*command.launch.kernel);
    if (stage_ == Stage::idle && kernel.sequential()) {
        run_fused_alone(worker, command, kernel, sequence);
        return Step::done;
    }
    if (!take_cores({kernel.cores[0], kernel.cores[1]})) return Step::left;
    if (!launch_.begin(kernel, command.launch, budget_.cores(), sequence, owner_.timeout_of(command.launch))) {
        stage_ = Stage::idle;
        budget_.give_back(cores_);
        owner_.report(command, {.kind = FaultKind::memory}, 0, "no memory for the parts of a fused kernel");
        return Step::done;
    }
    if (record::wants(record::tasks)) [[unlikely]]
        launch_.set_link(owner_.record_link(command));
    return share(worker, command);
}

void SoftSlot::run_fused_alone(Worker& worker, Command& command, const SoftFusedKernel& kernel,
                               std::uint64_t sequence) noexcept {
    FusedSequence run;
    run.kernel = &kernel;
    run.arguments = opaque_pointer(command.launch.arguments());
    run.default_timeout = owner_.timeout_of(command.launch);
    if (record::wants(record::tasks)) [[unlikely]]
        begin_step_records(run, owner_.record_link(command));
    Executor& executor = worker.executor;
    Fault fault;
    executor.begin_task(&owner_, sequence, run.default_timeout, &kernel);
    const Fiber::Exit how = run_sequence_guarded(executor, run, fault);
    executor.end_task();
    if (how != Fiber::Exit::finished) [[unlikely]]
        owner_.report(command, fault, run.failed_block(), fault.text ? fault.text : "", {}, 0, run.failed());
    else
        check(command);
}

}  // namespace canopy
