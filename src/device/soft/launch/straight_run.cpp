// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/straight_run.h"

#include "device/engine/memory/memory_work.h"
#include "device/opaque_pointer.h"
#include "device/soft/launch/fused_steps.h"
#include "record/recorder.h"

namespace canopy {
namespace {

struct Guarded {
    Executor& executor;
    StraightRun& run;
    Command* next = nullptr;
    CanopyBlock block{};
    FusedSequence fused;  // has a kernel while one runs
};

constexpr std::size_t commands_ahead = 4;

// The body of a memory command, which cannot be cancelled; nullptr for other commands.
CANOPY_MAY_BE_LEFT Fiber::Body body_of(Opcode opcode) noexcept {
    switch (opcode) {
        case Opcode::copy:
            return &run_copy;
        case Opcode::fill:
            return &run_fill;
        case Opcode::write_value:
            return &run_write_value;
        default:
            return nullptr;
    }
}

CANOPY_MAY_BE_LEFT bool run_fused(Guarded& guarded, const Command& command) {
    const LaunchWork& work = command.launch;
    const SoftFusedKernel& kernel = SoftFusedKernel::latest(*work.kernel);
    if (!kernel.sequential()) return false;
    FusedSequence& fused = guarded.fused;
    fused.kernel = &kernel;
    fused.arguments = opaque_pointer(work.arguments());
    fused.default_timeout = work.timeout ? work.timeout : guarded.run.default_timeout;
    fused.step_began = 0;
    if (record::wants(record::tasks)) [[unlikely]]
        begin_step_records(fused, guarded.run.task_owner->record_link(command));
    guarded.executor.set_kernel(fused.kernel);
    run_sequence(guarded.executor, guarded.block, fused);
    fused.kernel = nullptr;
    return true;
}

// Runs inside the guard and, except for the kernels, inside a service, so a cancellation takes effect only in a kernel.
// The thread stays the same, because a single block never waits for another.
CANOPY_MAY_BE_LEFT bool run_commands(Guarded& guarded) {
    Executor& executor = guarded.executor;
    Command* const end = guarded.run.commands.data() + guarded.run.commands.size();
    for (Command* next = guarded.next; next != end; ++next) {
        guarded.next = next;  // to identify the command after a fault
        Command& command = *next;
        __builtin_prefetch(&next[commands_ahead]);
        if (command.opcode == Opcode::launch) [[likely]] {
            const LaunchWork& work = command.launch;
            if (work.kernel->fused) {
                if (!run_fused(guarded, command)) return false;
                continue;
            }
            const auto& kernel = *static_cast<const SoftKernel*>(work.kernel);
            if (work.blocks != 1 || kernel.group.size() != 1) return false;
            guarded.block.index = work.block_offset;
            guarded.block.core_type = kernel.core_type(kernel.group.cube != 0);
            guarded.block.dynamic_size = work.dynamic_size;
            guarded.block.core = nullptr;
            executor.set_kernel(&kernel);
            executor.begin_step(work.timeout ? work.timeout : guarded.run.default_timeout);
            executor.leave_service();
            kernel.entry(opaque_pointer(work.arguments()));
            executor.enter_service();
        } else if (command.opcode != Opcode::nothing) {
            const Fiber::Body body = body_of(command.opcode);
            if (!body || is_large(command) || is_remote(command)) return false;
            executor.set_kernel(nullptr);
            executor.begin_step(0);
            body(&command);
        }
    }
    guarded.next = end;
    return true;
}

CANOPY_MAY_BE_LEFT void run_all(void* data) {
    Guarded& guarded = *static_cast<Guarded*>(data);
    StraightRun& run = guarded.run;
    while (run_commands(guarded)) {
        if (!run.refill || !run.refill(run)) return;
        guarded.next = run.commands.data();
        guarded.executor.begin_task(run.task_owner, run.sequence, 0);
    }
}

}  // namespace

std::size_t SoftStraightRuns::run(Executor& executor, StraightRun& run, Fault& fault) noexcept {
    Guarded guarded{executor, run, run.commands.data()};
    guarded.block.count = 1;
    guarded.block.sub_count = 1;
    executor.begin_task(run.task_owner, run.sequence, 0);
    const Fiber::Exit how = executor.run_steps(nullptr, &run_all, &guarded, guarded.block, fault);
    executor.end_task();
    if (guarded.fused.kernel) [[unlikely]] {
        run.failed = guarded.fused.failed();
        run.failed_block = guarded.fused.failed_block();
    }
    if (run.commands.empty()) return 0;
    const auto done = static_cast<std::size_t>(guarded.next - run.commands.data());
    if (how != Fiber::Exit::finished && run.commands[done].opcode != Opcode::launch &&
        fault.kind == FaultKind::exception)
        fault.kind = FaultKind::memory;
    return done;
}

}  // namespace canopy
