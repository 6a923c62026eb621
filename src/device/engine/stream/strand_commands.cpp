// SPDX-License-Identifier: Apache-2.0
// Execution of the commands. Everything that touches memory of the program runs guarded.
#include <signal.h>

#include <algorithm>
#include <new>
#include <string>

#include "base/error_text.h"
#include "device/engine/cpu/cpu_cores.h"
#include "device/engine/memory/memory_work.h"
#include "device/engine/memory/pieces.h"
#include "device/engine/stream/payload.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/shared_copy.h"
#include "device/engine/stream/stepwise.h"
#include "device/engine/stream/strand.h"
#include "device/execution/source_line.h"
#include "device/opaque_pointer.h"
#include "device/outside_signals.h"

namespace canopy {

Step Strand::execute(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    switch (command.opcode) {
        case Opcode::launch:
            return run_launch(worker, command, sequence);
        case Opcode::cpu_kernel:
            return run_cpu_kernel(worker, command, sequence);
        case Opcode::copy:
        case Opcode::fill:
            if (is_large(command)) [[unlikely]]
                return run_large(worker, command, sequence);
            [[fallthrough]];
        case Opcode::write_value:
            run_memory_work(worker, command, sequence);
            return Step::done;
        case Opcode::signal:
            run_signal(worker, command);
            return Step::done;
        case Opcode::wait:
            return run_wait(worker, command);
        case Opcode::wait_value:
            return run_wait_value(worker, command);
        case Opcode::host_call:
            return run_host_call(command);
        case Opcode::inline_call:
        case Opcode::brief_call:
            command.call.function(command.call.argument);
            return Step::done;
        case Opcode::replay:
            return run_replay(worker, command);
        case Opcode::nothing:
            return Step::done;
        default:
            break;
    }
    report(command, {.kind = FaultKind::exception}, 0, "a stream cannot run this kind of task");
    return Step::done;
}

// A dropped command has no effect, but it must release everything that waits for it.
void Strand::drop(Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::signal:
            note_signal(command);
            command.signal.fence->signal(command.signal.mode, command.signal.value);
            command.signal.fence->release();
            break;
        case Opcode::wait:
            if (take_wait_result() != WaitResult::none)
                wait_serial_.store(wait_serial_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            if (command.wait.fence) command.wait.fence->release();
            break;
        case Opcode::wait_value:
        case Opcode::cpu_kernel:
        case Opcode::copy:
        case Opcode::fill:
            take_wait_result();
            break;
        case Opcode::host_call:
            // If the call has already been made, only its result has to be taken.
            if (take_wait_result() == WaitResult::none && command.call.dropped)
                command.call.dropped(command.call.argument);
            break;
        case Opcode::inline_call:
        case Opcode::brief_call:
            (command.call.dropped ? command.call.dropped : command.call.function)(command.call.argument);
            break;
        case Opcode::launch:
            if (has_wait_result() && stepwise_ && stepwise_->active())
                stepwise_->drop();
            else if (has_wait_result())
                slot()->drop();
            take_wait_result();
            break;
        case Opcode::replay:
            drop_replay(command.replay);
            break;
        default:
            break;
    }
}

namespace {

Fiber::Body body_of(Opcode opcode) noexcept {
    switch (opcode) {
        case Opcode::copy:
            return &run_copy;
        case Opcode::fill:
            return &run_fill;
        default:
            return &run_write_value;
    }
}

}  // namespace

void Strand::run_memory_work(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (is_remote(command)) [[unlikely]] {
        if (!run_by_transfer(command).ok()) report(command, {.kind = FaultKind::memory}, 0, newest_error_text());
        return;
    }
    Executor& executor = worker.executor;
    Fault fault;
    executor.begin_task(this, sequence, 0);
    const Fiber::Exit how = executor.run(nullptr, body_of(command.opcode), &command, nullptr, fault);
    executor.end_task();
    if (how != Fiber::Exit::finished) [[unlikely]] {
        if (fault.kind == FaultKind::exception) fault.kind = FaultKind::memory;
        report(command, fault, 0, {});
    }
}

// Other threads take part, and the last one to leave continues the strand.
Step Strand::run_large(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (take_wait_result() != WaitResult::none) {  // made by others
        complete_large(command);
        return Step::done;
    }
    StrandCopy* copy = copy_.load(std::memory_order_relaxed);
    if (!copy) {
        copy = new (std::nothrow) StrandCopy(scheduler_, *this);
        copy_.store(copy, std::memory_order_release);
    }
    if (!copy || is_remote(command) || !MemoryPieces::divides(command)) {
        run_memory_work(worker, command, sequence);
        return Step::done;
    }
    scheduler_.share_kept(worker);  // they must not wait for so long
    copy->begin(command, sequence);
    Scheduler& scheduler = scheduler_;
    scheduler.publish(*copy);
    if (!scheduler.work_on(*copy, worker)) return Step::left;
    complete_large(command);
    return Step::done;
}

void Strand::complete_large(const Command& command) noexcept {
    Fault fault;
    if (!copy_.load(std::memory_order_relaxed)->end(fault)) report(command, fault, 0, {});
}

Step Strand::run_launch(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (command.launch.kernel->fused && !scheduler_.abilities().fusing) [[unlikely]]
        return run_stepwise(worker, command, sequence);
    return run_kernel(worker, command, sequence);
}

Step Strand::run_stepwise(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (!stepwise_) stepwise_.reset(new (std::nothrow) StepwiseRun(*this));
    if (stepwise_) return stepwise_->run(worker, command, sequence);
    report(command, {.kind = FaultKind::memory}, 0, "no memory for a fused launch");
    return Step::done;
}

Step Strand::run_kernel(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    LaunchSlot* slot = slot_.load(std::memory_order_relaxed);
    if (!slot) [[unlikely]] {
        slot = scheduler_.driver().make_slot(*this).release();
        slot_.store(slot, std::memory_order_release);
        if (!slot) {
            report(command, {.kind = FaultKind::memory}, 0, "no memory for a launch");
            return Step::done;
        }
    }
    return slot->run(worker, command, sequence);
}

void Strand::check_memory(const Command& command) noexcept {
    std::string what;
    if (scheduler_.checker()->damaged(what)) report(command, {.kind = FaultKind::exception}, 0, what);
}

std::uint64_t Strand::timeout_of(const LaunchWork& work) const noexcept {
    return work.timeout ? work.timeout : scheduler_.kernel_timeout();
}

// ---- CPU cores -----------------------------------------------------------------------------------------------------

Step Strand::run_cpu_kernel(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    Executor& executor = worker.executor;
    const LaunchWork& work = command.launch;
    const auto& kernel = static_cast<const CpuKernel&>(*work.kernel);
    if (take_wait_result() != WaitResult::none) {  // it has run
        complete_cpu_kernel(command, cpu_launch()->outcome);
        return Step::done;
    }
    if (work.blocks == 0) return Step::done;
    const std::uint64_t timeout = work.timeout ? work.timeout : std::uint64_t{tuning::cpu_kernel_timeout};
    void* arguments = opaque_pointer(work.arguments());
    const bool takes_part = scheduler_.cpu_cores().may_take_part(worker.awaited == this, kernel);
    if (work.blocks == 1 && takes_part) {
        CpuOutcome outcome;
        LaunchEnd end;
        const bool measured = kernel.is_measured_now();
        const Nanoseconds began = measured ? now() : 0;
        executor.begin_task(this, sequence, timeout, &kernel);
        const bool ended_well = CpuCores::run_block(executor, kernel, arguments, {1, work.block_offset}, end, outcome);
        executor.end_task();
        end.run();
        if (measured) kernel.block_time.store(now() - began, std::memory_order_relaxed);
        if (!ended_well || scheduler_.checks()) [[unlikely]]
            complete_cpu_kernel(command, outcome);
        return Step::done;
    }
    CpuLaunch* launch = cpu_launch();
    if (!launch) {
        launch = new (std::nothrow) CpuLaunch;
        cpu_launch_.store(launch, std::memory_order_release);
    }
    if (!launch) {
        report(command, {.kind = FaultKind::memory}, 0, "no memory for a launch on CPU cores");
        return Step::done;
    }
    launch->owner = this;
    launch->kernel = &kernel;
    launch->arguments = arguments;
    launch->arguments_size = work.arguments_in_place() ? 0 : work.arguments_size;
    launch->blocks = work.blocks;
    launch->offset = work.block_offset;
    launch->sequence = sequence;
    launch->timeout = timeout;
    launch->link = recorded_link();
    // From here on another thread may own the strand.
    if (scheduler_.cpu_cores().start(*launch, takes_part ? &executor : nullptr) == CpuCores::Started::elsewhere)
        return Step::left;
    complete_cpu_kernel(command, launch->outcome);
    return Step::done;
}

void Strand::complete_cpu_kernel(const Command& command, const CpuOutcome& outcome) noexcept {
    if (outcome.fault.kind != FaultKind::none)
        report(command, outcome.fault, outcome.block, outcome.text, {}, outcome.result);
    else if (scheduler_.checks())
        check_memory(command);
}

// ---- waits ---------------------------------------------------------------------------------------------------------

// True if the fence holds already, or holds while this thread watches it. Otherwise the strand has the reference to the
// fence, and the command has none any more.
bool Strand::pass_wait(Worker& worker, Command& command) noexcept {
    auto* fence = static_cast<EngineFence*>(command.wait.fence);
    if (!fence) return false;  // watched before
    if (notes_.began != 0) [[unlikely]]
        notes_.waits_for = fence->number();
    if (fence->holds(command.wait) || (command.wait.outside && command.wait.outside->look())) {
        fence->release();
        return true;
    }
    about_to_wait();
    if (notes_.began != 0) [[unlikely]]
        notes_.met = fence;
    waiter_.wait = command.wait;
    command.wait.fence = nullptr;
    // Released with the next wait: the thread that signals still uses the fence's cache line when this one ends.
    set_waiting_for(fence);
    return scheduler_.may_watch(worker, waiter_.wait) && scheduler_.watch(*fence, waiter_.wait);
}

Step Strand::run_wait(Worker& worker, Command& command) noexcept {
    const WaitResult result = take_wait_result();
    if (result == WaitResult::none) {
        if (pass_wait(worker, command)) return Step::done;
        reason_.store(WaitReason::fence, std::memory_order_relaxed);
        if (command.wait.outside) command.wait.outside->stop();
        if (const std::uint64_t timeout = command.wait.timeout; timeout != 0)
            scheduler_.start_timer(*this, wait_serial_.load(std::memory_order_relaxed),
                                   Deadline::after(static_cast<Nanoseconds>(timeout)).at);
        if (!static_cast<EngineFence*>(waiter_.wait.fence)->wait(waiter_)) return Step::left;
    } else if (result == WaitResult::timed_out) {
        report(command, {.kind = FaultKind::wait_timeout}, 0, "the wait was not satisfied in time");
    }
    wait_serial_.store(wait_serial_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return Step::done;
}

bool Strand::pass_brief(Worker& worker, Command& command) noexcept {
    if (command.opcode == Opcode::signal) {
        run_signal(worker, command);
        return true;
    }
    if (command.opcode == Opcode::brief_call) {
        command.call.function(command.call.argument);
        return true;
    }
    return command.opcode == Opcode::wait && !has_wait_result() && pass_wait(worker, command);
}

void Strand::note_signal(const Command& command) noexcept {
    if (record::wants(recorded_by_strands)) [[unlikely]]
        static_cast<EngineFence*>(command.signal.fence)->set_released_by(record_link(command));
}

void Strand::run_signal(Worker& worker, const Command& command) noexcept {
    note_signal(command);
    {
        const HandOver::Collecting collecting(worker.hand_over);
        static_cast<EngineFence*>(command.signal.fence)->signal(command.signal.mode, command.signal.value);
    }
    command.signal.fence->release();
}

// Keeps a reference to the fence for threads that end the wait from outside; releases that of the previous wait.
void Strand::set_waiting_for(EngineFence* fence) noexcept {
    EngineFence* before = nullptr;
    {
        SpinGuard guard(wait_lock_);
        before = std::exchange(waiting_for_, fence);
        wait_serial_.store(wait_serial_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    if (before) before->release();
}

Step Strand::run_wait_value(Worker& worker, Command& command) noexcept {
    switch (take_wait_result()) {
        case WaitResult::none:
            break;
        case WaitResult::faulted:
            report(command, {.kind = FaultKind::memory}, 0, "the word waited for is not readable memory");
            return Step::done;
        default:
            return Step::done;
    }
    value_waiter.wait = command.value;
    switch (check_value(worker.executor, this, value_waiter.wait)) {
        case ValueCheck::satisfied:
            return Step::done;
        case ValueCheck::unreadable:
            report(command, {.kind = FaultKind::memory}, 0, "the word waited for is not readable memory");
            return Step::done;
        case ValueCheck::not_yet:
            break;
    }
    wait_for_word(command.value);
    return Step::left;
}

void Strand::wait_for_word(const ValueWork& wait) noexcept {
    value_waiter.wait = wait;
    reason_.store(WaitReason::value, std::memory_order_relaxed);
    scheduler_.wait_for_value(*this);
}

Step Strand::run_host_call(Command& command) noexcept {
    if (take_wait_result() != WaitResult::none) return Step::done;
    const CallWork call = command.call;
    reason_.store(WaitReason::host_call, std::memory_order_relaxed);
    constexpr auto done = [](void* token) {
        Scheduler& scheduler = static_cast<Strand*>(token)->scheduler_;
        static_cast<Strand*>(token)->continue_after_wait(WaitResult::satisfied);
        scheduler.count_host_call(-1);
    };
    CallRouter* to = router();
    scheduler_.count_host_call(1);
    begin_wait();  // from here on another thread may own the strand
    if (to) {
        to->route(call, done, this);
    } else if (!scheduler_.host_calls().run(call, done, this)) {
        call.function(call.argument);
        done(this);
    }
    return Step::left;
}

namespace {

std::string explain(const Fault& fault, Scheduler& scheduler) {
    if (fault.stack_overflow) return "the kernel overflowed its stack";
    switch (fault.kind) {
        case FaultKind::trap:
            return "the kernel executed a trap or an illegal instruction";
        case FaultKind::timeout:
            return "the kernel did not finish in time";
        case FaultKind::aborted:
            return "the task was aborted";
        default:
            break;
    }
    if (fault.signal == SIGFPE) return "the kernel divided by zero";
    if (fault.signal == SIGABRT) return "the kernel called abort";
    if (fault.address == 0 && fault.signal == 0) return "the task failed";
    if (std::string beside = describe_core_address(fault.address); !beside.empty()) return beside;
    return fmt::format("access to address {:#x}: {}", fault.address,
                       scheduler.checker() ? scheduler.checker()->describe(fault.address) : "not device memory");
}

}  // namespace

void Strand::report(const Command& failed, const Fault& fault, std::uint32_t block, std::string_view what,
                    std::string_view who, std::uint32_t result, const FailedStep& failed_step) noexcept {
    const bool in_steps = stepwise_ && stepwise_->active();
    const FailedStep step = in_steps ? stepwise_->note_failure() : failed_step;
    const Command& command = in_steps ? stepwise_->command() : failed;
    if (fault.kind == FaultKind::aborted && dropping()) return;  // the caller of abort knows
    TaskFailure failure;
    failure.kind = fault.kind;
    failure.opcode = command.opcode;
    failure.task = command.task;
    failure.block = block;
    failure.address = fault.address ? fault.address : fault.instruction;
    if (const Executor* executor = Executor::existing()) failure.thread = static_cast<std::uint64_t>(executor->thread);
    failure.result = result;
    if (is_kernel(command.opcode)) {
        failure.kernel = command.launch.kernel;
        failure.launch = &command.launch;
        failure.core = command.launch.kernel->info->core;
        failure.arguments = command.launch.arguments();
        failure.arguments_size = command.launch.arguments_size;
    }
    if (step.fused) {
        failure.step = static_cast<std::int32_t>(step.number);
        failure.fused = command.launch.kernel;
        if (step.kernel) failure.kernel = step.kernel;
        failure.core = failure.kernel->info->core;
    }
    std::string text;
    try {
        text = what.empty() ? explain(fault, scheduler_) : std::string(what);
        if (const std::string line = what.empty() ? source_line(fault.instruction) : ""; !line.empty())
            text = fmt::format("{}, {}", text, line);
        if (!who.empty()) text = fmt::format("{}: {}", who, text);
    } catch (...) {
    }
    failure.what = text;
    failure.code = &notes_.code;
    notes_.flags |= profile::task_failed;
    task_failed(failure);
}

}  // namespace canopy
