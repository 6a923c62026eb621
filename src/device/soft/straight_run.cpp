// SPDX-License-Identifier: Apache-2.0
#include "device/soft/straight_run.h"

#include "device/soft/memory_work.h"

namespace canopy {
namespace {

struct Run {
    Executor* executor;
    Command* first;
    Command* next;
    Command* end;
    std::uint64_t default_timeout;
    CanopyBlock block;
};

constexpr std::size_t commands_ahead = 4;

// Work on memory that cannot be cancelled; nullptr: something else.
CANOPY_MAY_BE_LEFT Fiber::Body body_of(Opcode opcode) noexcept {
    switch (opcode) {
        case Opcode::copy:
            return &run_copy;
        case Opcode::fill:
            return &run_fill;
        case Opcode::reduce:
            return &run_reduce;
        case Opcode::write_value:
            return &run_write_value;
        default:
            return nullptr;
    }
}

// Inside the guard and, but for the kernels, inside a service: a cancellation takes effect in a kernel only. The thread
// stays the same: a block that is alone never waits for another.
CANOPY_MAY_BE_LEFT void run_commands(void* data) {
    Run& run = *static_cast<Run*>(data);
    Executor& executor = *run.executor;
    for (Command* next = run.next; next != run.end; ++next) {
        run.next = next;  // who asks after a fault finds it here
        Command& command = *next;
        __builtin_prefetch(&next[commands_ahead]);
        if (command.opcode == Opcode::launch) [[likely]] {
            const LaunchWork& work = command.launch;
            const auto& kernel = *static_cast<const SoftKernel*>(work.kernel);
            if (work.blocks != 1 || kernel.group.size() != 1) return;
            run.block.index = work.block_offset;
            run.block.core_type = kernel.core_type(kernel.group.cube != 0);
            run.block.dynamic_size = work.dynamic_size;
            run.block.core = nullptr;
            executor.begin_step(work.timeout ? work.timeout : run.default_timeout);
            executor.leave_service();
            kernel.entry(work.arguments);
            executor.enter_service();
        } else if (command.opcode != Opcode::nothing) {
            const Fiber::Body body = body_of(command.opcode);
            if (!body) return;
            executor.begin_step(0);
            body(&command);
        }
    }
    run.next = run.end;
}

}  // namespace

std::size_t run_straight(Executor& executor, Strand& strand, std::span<Command> commands, std::uint64_t sequence,
                         std::uint64_t default_timeout, Fault& fault) noexcept {
    Run run = {&executor, commands.data(), commands.data(), commands.data() + commands.size(), default_timeout, {}};
    run.block.count = 1;
    run.block.sub_count = 1;
    executor.begin_task(&strand, sequence, 0);
    const Fiber::Exit how = executor.run_steps(&run_commands, &run, run.block, fault);
    executor.end_task();
    const auto done = static_cast<std::size_t>(run.next - run.first);
    if (how != Fiber::Exit::finished && commands[done].opcode != Opcode::launch && fault.kind == FaultKind::exception)
        fault.kind = FaultKind::memory;
    return done;
}

}  // namespace canopy
