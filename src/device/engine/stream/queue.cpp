// SPDX-License-Identifier: Apache-2.0
// Submitting to queues, draining them and waiting for them.
#include "device/engine/stream/queue.h"

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "device/engine/stream/payload.h"
#include "device/engine/stream/replayable.h"
#include "device/engine/stream/straight_run.h"
#include "device/opaque_pointer.h"
#include "device/outside_signals.h"

namespace canopy {

EngineQueue::EngineQueue(Scheduler& scheduler, const QueueOptions& options)
    : Strand(scheduler, options.priority, true),
      submit_lock_(*options.submit_lock),
      observer_(options.observer),
      native_(scheduler.abilities().native_order != nullptr),
      straight_runs_(scheduler.checks() ? nullptr : scheduler.abilities().straight_runs),
      number_(options.number) {}

std::unique_ptr<EngineQueue> EngineQueue::create(Scheduler& scheduler, const QueueOptions& options) {
    std::unique_ptr<EngineQueue> queue(new EngineQueue(scheduler, options));
    if (!queue->ring_.create()) return nullptr;
    scheduler.add(*queue);
    return queue;
}

EngineQueue::~EngineQueue() {
    if (completed() != ring_.tail()) abort();
    // The last owner may still be on its way out: it releases the queue under the lock, or through the ready list.
    for (;;) {
        {
            SpinGuard guard(submit_lock_);
            if (state_.load(std::memory_order_acquire) == RunState::idle) break;
            RunState lingering = RunState::lingering;
            if (state_.compare_exchange_strong(lingering, RunState::idle, std::memory_order_acq_rel)) {
                scheduler_.count_runnable(-1);
                break;
            }
        }
        sched_yield();
    }
    // A worker that lingered here may not have noticed yet; the last thing it does is release the lock.
    while (watchers_.load(std::memory_order_acquire) != 0) sched_yield();
    { SpinGuard guard(submit_lock_); }
    scheduler_.remove(*this);
    scheduler_.forget(*this);
}

// ---- submitting ----------------------------------------------------------------------------------------------------

namespace {

// The bytes that are copied along with a command.
struct Payload {
    const void* bytes = nullptr;
    std::size_t size = 0;
};

Payload payload_of(const Command& command) noexcept {
    if (is_kernel(command.opcode) && !command.launch.arguments_in_place())
        return {opaque_pointer(command.launch.arguments()), command.launch.arguments_size};
    if (command.opcode == Opcode::copy && command.snapshot)
        return {opaque_pointer(command.copy.source), command.copy.width};
    if (command.opcode == Opcode::replay)
        return {command.replay.bindings, command.replay.binding_count * sizeof(FenceBinding)};
    return {};
}

// The address of a placed command's payload.
const void* payload_address(const Command& command) noexcept {
    if (is_kernel(command.opcode)) return opaque_pointer(command.launch.arguments());
    return command.opcode == Opcode::copy ? opaque_pointer(command.copy.source) : command.replay.bindings;
}

void set_payload_address(Command& command, void* bytes) noexcept {
    if (is_kernel(command.opcode))
        command.launch.move_arguments(device_address(bytes));
    else if (command.opcode == Opcode::copy)
        command.copy.source = device_address(bytes);
    else
        command.replay.bindings = static_cast<const FenceBinding*>(bytes);
}

void begin_replay(ReplayWork& replay) noexcept {
    auto* graph = static_cast<Replayable*>(replay.executable);
    graph->retain();
    replay.ticket = graph->take_ticket();
    for (std::uint32_t i = 0; i < replay.binding_count; ++i) replay.bindings[i].fence->retain();
}

void end_replay(const ReplayWork& replay) noexcept {
    for (std::uint32_t i = 0; i < replay.binding_count; ++i) replay.bindings[i].fence->release();
    replay.executable->release();
}

}  // namespace

bool EngineQueue::place(const Command& command) noexcept {
    const Payload payload = payload_of(command);
    const bool apart = payload.size > tuning::ring_payload_limit;
    const std::size_t lines = apart ? 0 : (payload.size + CommandRing::line - 1) / CommandRing::line;
    char* bytes = nullptr;
    if (apart) {
        bytes = static_cast<char*>(std::malloc(payload.size));
        if (!bytes) return false;
    }
    Command* placed = ring_.reserve(lines);
    if (!placed) {
        std::free(bytes);
        return false;
    }
    *placed = command;
    placed->payload_lines = apart ? CommandRing::heap_payload : static_cast<std::uint16_t>(lines);
    if (payload.size != 0) {
        if (!apart) bytes = reinterpret_cast<char*>(placed + 1);
        std::memcpy(bytes, payload.bytes, payload.size);
        if (is_kernel(command.opcode) && command.launch.placeholder_count != 0)
            fill_placeholders(command.launch, bytes);
        set_payload_address(*placed, bytes);
    }
    if (command.opcode == Opcode::signal) command.signal.fence->retain();
    if (command.opcode == Opcode::wait) command.wait.fence->retain();
    if (command.opcode == Opcode::replay) begin_replay(placed->replay);
    return true;
}

// Hands commands straight to a device that orders them itself, while nothing else of the queue is unfinished. The
// submit lock keeps the queue idle meanwhile.
std::size_t EngineQueue::submit_natively(std::span<const Command> commands) noexcept {
    if (state_.load(std::memory_order_relaxed) != RunState::idle || !ring_.empty()) return 0;
    const std::size_t taken = scheduler_.abilities().native_order->submit(commands);
    if (taken == 0) return 0;
    ring_.skip(taken);
    completed_.store(ring_.popped(), std::memory_order_release);
    return taken;
}

Result<std::uint64_t> EngineQueue::submit(std::span<const Command> commands) noexcept {
    if (native_) commands = commands.subspan(submit_natively(commands));
    if (commands.empty()) return ring_.published();
    for (const Command& command : commands) {
        if (command.opcode == Opcode::replay &&
            !static_cast<Replayable*>(command.replay.executable)->made_for(scheduler_))
            return fail(107000, "the graph was prepared for another kind of device");
        if (!place(command)) [[unlikely]]
            return fail(207001, "out of host memory for the stream's queue");
        ring_.publish(1);
    }
    if (state_.load(std::memory_order_relaxed) == RunState::idle) {
        scheduler_.count_runnable(1);
        scheduler_.enqueue(*this);
    }
    return ring_.published();
}

// ---- ownership -----------------------------------------------------------------------------------------------------

namespace {

// Commands that end at once or park the queue, so a released queue does not wait long behind them.
bool is_brief(Opcode opcode) noexcept {
    return opcode == Opcode::signal || opcode == Opcode::wait || opcode == Opcode::wait_value ||
           opcode == Opcode::brief_call;
}

// Commands that a thread can run between two launches without leaving their guard.
bool stays_in_guard(Opcode opcode) noexcept {
    return opcode == Opcode::launch || opcode == Opcode::signal || opcode == Opcode::wait ||
           opcode == Opcode::brief_call;
}

}  // namespace

// This queue may be gone once its own part is over.
void EngineQueue::drain(Worker& worker, std::uint64_t until, bool linger) noexcept {
    Scheduler& scheduler = scheduler_;
    worker.hand_over.begin_draining();
    drain_part(worker, until, linger);
    while (Runnable* next = worker.hand_over.take()) {
        // A host thread that has what it waited for leaves the rest to the workers.
        const bool enough = !linger && completed() >= until;
        if (enough || scheduler.should_yield(next->priority(), 0))
            scheduler.enqueue(*next);
        else
            next->drain_part(worker, linger);
    }
    worker.hand_over.end_draining();
    scheduler.flush_count(worker);
}

void EngineQueue::drain_part(Worker& worker, bool linger) noexcept {
    drain_part(worker, linger ? UINT64_MAX : ring_.popped() + tuning::help_at_a_time, linger);
}

void EngineQueue::drain_part(Worker& worker, std::uint64_t until, bool linger) noexcept {
    worker.executor.works_for.store(&scheduler_, std::memory_order_relaxed);
    std::uint32_t turn = 0;
    for (;;) {
        Command* command = ring_.front();
        if (!command) {
            const bool stay = linger && worker.hand_over.empty();
            scheduler_.flush_count(worker);
            if (!(stay ? more_after_lingering() : more_or_let_go())) return;
            continue;
        }
        if (!is_brief(command->opcode)) {
            Runnable* released = worker.hand_over.take();
            if (released) [[unlikely]]
                scheduler_.enqueue(*released);
            scheduler_.flush_count(worker);
            // The released queue may be more urgent.
            if (released && scheduler_.should_yield(priority(), turn)) return hand_back();
        }
        ring_.prefetch_operand_after(*command);
        if (record::wants(recorded_by_strands)) [[unlikely]]
            begin_record(*command);
        if (ring_.popped() < drop_until_.load(std::memory_order_relaxed)) [[unlikely]] {
            notes_.flags |= profile::task_dropped;
            drop(*command);
        } else if (until - ring_.popped() > 1 && is_straight(*command) &&
                   stays_in_guard(ring_.opcode_after(*command))) {
            run_launches(worker, *command, until, turn);
            command = nullptr;
        } else if (execute(worker, *command, ring_.popped()) == Step::left)
            return;
        if (command) finish(*command);
        if (ring_.popped() >= until) {
            scheduler_.flush_count(worker);  // count queues released here before uncounting this one
            if (more_or_let_go()) hand_back();
            return;
        }
        if (scheduler_.should_yield(priority(), ++turn)) return hand_back();
    }
}

// Launches that one guard runs, one command at a time: commands of a ring are not next to each other.
struct EngineQueue::Launches : StraightRun {
    EngineQueue& queue;
    Worker& worker;
    const std::uint64_t until;
    std::uint32_t& turn;
    Launches(EngineQueue& own, Worker& here, std::uint64_t limit, std::uint32_t& count) noexcept
        : queue(own), worker(here), until(limit), turn(count) {}
    void aim(Command& command) noexcept {
        commands = {&command, 1};
        sequence = queue.ring_.popped();
        queue.ring_.prefetch_operand_after(command);
    }
};

// Finishes a command. The one behind it, unless the run must end here.
Command* EngineQueue::next_of(Launches& launches, Command& done) noexcept {
    finish(done, true);
    const std::uint64_t popped = ring_.popped();
    if (popped >= launches.until || popped < drop_until_.load(std::memory_order_relaxed) ||
        scheduler_.should_yield(priority(), ++launches.turn))
        return nullptr;
    return ring_.front();
}

// The driver leaves a launch that is not one for a straight run.
bool EngineQueue::next_launch(StraightRun& straight) noexcept {
    auto& launches = static_cast<Launches&>(straight);
    EngineQueue& queue = launches.queue;
    Command* next = queue.next_of(launches, std::exchange(launches.commands, {}).front());
    if (!next) return false;
    if (next->opcode != Opcode::launch) return queue.next_launch_after(launches, next);
    launches.aim(*next);
    return true;
}

// Runs the signals, waits and brief calls that lie between two launches.
bool EngineQueue::next_launch_after(Launches& launches, Command* next) noexcept {
    while (next && next->opcode != Opcode::launch) {
        ring_.prefetch_operand_after(*next);
        if (!pass_brief(launches.worker, *next)) return false;
        next = next_of(launches, *next);
    }
    // A stream that a signal has released must not wait behind a launch.
    if (!next || !launches.worker.hand_over.empty()) return false;
    scheduler_.flush_count(launches.worker);
    launches.aim(*next);
    return true;
}

void EngineQueue::run_launches(Worker& worker, Command& first, std::uint64_t until, std::uint32_t& turn) noexcept {
    Launches launches(*this, worker, until, turn);
    launches.task_owner = this;
    launches.default_timeout = scheduler_.kernel_timeout();
    launches.refill = &next_launch;
    launches.aim(first);
    Fault fault;
    straight_runs_->run(worker.executor, launches, fault);
    // Without a fault, what is left has become a launch for several threads meanwhile.
    if (launches.commands.empty() || fault.kind == FaultKind::none) [[likely]] {
        // Nothing says when the next command begins, unless it is a wait that has looked at its fence.
        if (notes_.began != 0 && !notes_.met) [[unlikely]]
            notes_ = {};
        return;
    }
    Command& failed = launches.commands.front();
    const std::uint32_t block = failed.launch.kernel->fused ? launches.failed_block : failed.launch.block_offset;
    report(failed, fault, block, fault.text ? fault.text : "", {}, 0, launches.failed);
    finish(failed);
}

void EngineQueue::drain_after_launch(Worker& worker) noexcept {
    note_launch_end();
    drain(worker, UINT64_MAX, true);
}

// A CPU core completes the command whose last block it has run, so that no other thread has to be woken for that. The
// commands after it are left to workers.
void EngineQueue::continue_after_launch() noexcept {
    const Executor* executor = Executor::existing();
    const bool on_cpu_core = executor && executor->is_cpu_core.load(std::memory_order_relaxed);
    Worker* worker = on_cpu_core ? Worker::current() : nullptr;
    if (!worker) return Strand::continue_after_launch();
    note_launch_end();
    drain(*worker, ring_.popped() + 1, false);
}

void EngineQueue::task_failed(TaskFailure& failure) noexcept {
    if (!observer_ || observer_->task_failed(failure) != AfterFailure::drop_the_rest) return;
    const std::uint64_t last = ring_.tail();
    std::uint64_t old = drop_until_.load(std::memory_order_relaxed);
    while (old < last && !drop_until_.compare_exchange_weak(old, last, std::memory_order_acq_rel)) {
    }
}

namespace {

// Releases what a command other than a launch holds.
void release(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::host_call:
        case Opcode::inline_call:
        case Opcode::brief_call:
            if (command.call.dispose) command.call.dispose(command.call.argument);
            break;
        case Opcode::wait:
            if (command.wait.outside) command.wait.outside->end();
            break;
        case Opcode::replay:
            end_replay(command.replay);
            break;
        default:
            break;
    }
}

}  // namespace

void EngineQueue::end_record(const Command& command, bool in_guard) noexcept {
    const Ticks end = ticks();
    const bool wanted = record::wants(record::tasks);
    if (wanted) {
        notes_.link = record_link(command);
        write_task(command, notes_, end, scheduler_.device());
    }
    notes_ = {};
    if (wanted && in_guard) notes_.began = end;
}

void EngineQueue::finish(Command& command, bool in_guard) noexcept {
    if (notes_.began != 0) [[unlikely]]
        end_record(command, in_guard);
    if (command.opcode != Opcode::launch) release(command);
    if (command.payload_lines == CommandRing::heap_payload) [[unlikely]]
        std::free(const_cast<void*>(payload_address(command)));
    ring_.pop(command);
    completed_.store(ring_.popped(), std::memory_order_release);
    notify_waiters();
}

void EngineQueue::notify_waiters() noexcept {
    if (completed_.load(std::memory_order_relaxed) >= wake_at_.load(std::memory_order_relaxed)) [[unlikely]]
        wake_sleepers();
}

void EngineQueue::wake_sleepers() noexcept {
    wake_at_.store(UINT64_MAX, std::memory_order_seq_cst);
    sleepers_.wake_all();
}

// This owner stops with work left: makes the queue ready again.
void EngineQueue::hand_back() noexcept { scheduler_.enqueue(*this); }

// The queue looks empty. True: there is more after all. False: it has been released.
bool EngineQueue::more_or_let_go() noexcept {
    SpinGuard guard(submit_lock_);
    if (!ring_.empty()) return true;
    notify_waiters();  // sees every sleeper that registered before the lock was taken
    if (watchers_.load(std::memory_order_relaxed) != 0) {  // they leave under the lock, so at least one will check
        state_.store(RunState::lingering, std::memory_order_release);
    } else {
        state_.store(RunState::idle, std::memory_order_release);
        scheduler_.count_runnable(-1);
    }
    return false;
}

// Watches the empty queue before releasing it. Meanwhile a waiting host thread may take the queue over and give it
// back; this worker then continues to watch.
bool EngineQueue::more_after_lingering() noexcept {
    if (!scheduler_.may_spin()) return more_or_let_go();
    watchers_.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t seen = ring_.popped();
    // With small batches every poll disturbs the submitter for little work: poll less often. With large batches poll
    // more often.
    const std::uint64_t batch = seen - std::exchange(watched_from_, seen);
    if (batch < tuning::smallest_batch)
        watch_pauses_ = std::min(watch_pauses_ * 2, tuning::most_watch_pauses);
    else if (batch > tuning::largest_batch)
        watch_pauses_ = std::max(watch_pauses_ / 2, tuning::fewest_watch_pauses);
    const std::uint32_t pauses = watch_pauses_;
    state_.store(RunState::lingering, std::memory_order_release);
    Nanoseconds end = 0;
    for (;;) {
        for (int poll = 0; poll < 4; ++poll) {
            // Polling rarely lets the submitter run ahead in its own cache and batches its commands; a host thread that
            // needs a command done at once takes the queue over itself.
            for (std::uint32_t pause = 0; pause < pauses; ++pause) cpu_relax();
            if (const std::uint64_t tail = ring_.tail(); tail != seen) {
                RunState lingering = RunState::lingering;
                if (state_.compare_exchange_strong(lingering, RunState::draining, std::memory_order_acq_rel)) {
                    watchers_.fetch_sub(1, std::memory_order_release);
                    return true;
                }
                seen = tail;
            }
        }
        const Nanoseconds time = now();
        if (end == 0) end = time + tuning::linger_time;
        if (time > end || scheduler_.has_other_work()) break;
    }
    bool more = false;
    {
        SpinGuard guard(submit_lock_);
        watchers_.fetch_sub(1, std::memory_order_release);
        // Claim it first: a host thread or another watcher may be about to, without the lock.
        RunState lingering = RunState::lingering;
        if (state_.compare_exchange_strong(lingering, RunState::draining, std::memory_order_acq_rel)) {
            more = !ring_.empty();
            if (!more) {
                notify_waiters();
                state_.store(RunState::idle, std::memory_order_release);
                scheduler_.count_runnable(-1);
            }
        }
    }
    return more;
}

// ---- for programs that watch this one ------------------------------------------------------------------------------

watch::StreamFigures EngineQueue::figures() const noexcept {
    constexpr watch::WaitsFor reasons[] = {watch::WaitsFor::nothing,   watch::WaitsFor::event, watch::WaitsFor::word,
                                           watch::WaitsFor::host_call, watch::WaitsFor::cores, watch::WaitsFor::turn,
                                           watch::WaitsFor::graph};
    watch::StreamFigures figures;
    figures.id = static_cast<std::int32_t>(number_);
    figures.priority = static_cast<std::uint8_t>(priority());
    figures.completed = completed();
    figures.submitted = std::max(submitted(), figures.completed);
    const RunState state = state_.load(std::memory_order_acquire);
    if (state == RunState::waiting) {
        const auto reason = static_cast<std::size_t>(reason_.load(std::memory_order_relaxed));
        figures.waits_for = reasons[std::min(reason, std::size(reasons) - 1)];
        const bool runs = figures.waits_for == watch::WaitsFor::graph || figures.waits_for == watch::WaitsFor::nothing;
        figures.state = runs ? watch::StreamState::running : watch::StreamState::waiting;
    } else if (figures.submitted != figures.completed) {
        figures.state = state == RunState::draining ? watch::StreamState::running : watch::StreamState::ready;
    }
    return figures;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

std::uint64_t EngineQueue::unfinished(std::uint64_t sequence) const noexcept {
    const std::uint64_t done = completed();
    return done >= sequence || blocked() ? 0 : sequence - done;
}

// Claims the queue if no thread runs it, and drains it up to `sequence`.
bool EngineQueue::try_help_drain(Worker* worker, std::uint64_t sequence) noexcept {
    RunState state = state_.load(std::memory_order_acquire);
    if (state != RunState::ready && state != RunState::lingering) return false;
    if (!state_.compare_exchange_strong(state, RunState::draining, std::memory_order_acq_rel)) return false;
    worker->awaited = this;
    drain(*worker, sequence, false);
    worker->awaited = nullptr;
    return true;
}

WaitOutcome EngineQueue::wait(std::uint64_t sequence, Deadline deadline) noexcept {
    if (completed() >= sequence) return WaitOutcome::done;
    // A thread with a deadline does not help: it might not be back from a kernel in time.
    Worker* worker = deadline.is_never() ? Worker::current() : nullptr;
    std::uint32_t pauses = 1;
    bool slept = false;
    for (Nanoseconds spin_end = 0;;) {
        for (int poll = 0; poll < 16; ++poll) {
            if (completed() >= sequence) return WaitOutcome::done;
            if (worker && try_help_drain(worker, sequence)) spin_end = 0;
            // Each poll takes the cache line away from the owner, which writes it after every command.
            for (std::uint32_t pause = 0; pause < pauses; ++pause) cpu_relax();
            pauses = std::min(pauses * 2, tuning::most_host_pauses);
        }
        const Nanoseconds time = canopy::now();
        if (deadline.at <= time) return completed() >= sequence ? WaitOutcome::done : WaitOutcome::timed_out;
        if (spin_end == 0) spin_end = time + (scheduler_.may_spin() ? tuning::host_spin_time : 0);
        if (time < spin_end) continue;

        const ParkingLot::Epoch epoch = sleepers_.prepare();
        std::uint64_t wanted = wake_at_.load(std::memory_order_relaxed);
        const bool registers = sequence < wanted;
        while (sequence < wanted && !wake_at_.compare_exchange_weak(wanted, sequence, std::memory_order_seq_cst)) {
        }
        const RunState state = state_.load(std::memory_order_seq_cst);
        const bool can_help = worker && (state == RunState::ready || state == RunState::lingering);
        if (completed_.load(std::memory_order_seq_cst) >= sequence || can_help) {
            sleepers_.cancel();
            continue;
        }
        // The owner reads wake_at_ without a fence after each command. If it misses this registration, it sees it after
        // the next command; the sleep after a registration is short in case that command is a long kernel. A waiter
        // relying on another thread's registration also sleeps briefly once, in case the owner missed that one.
        Deadline until = deadline;
        if (registers || !slept) until.at = std::min(until.at, Deadline::after(millisecond).at);
        if (slept) scheduler_.tell_figures();  // this may last
        slept = true;
        sleepers_.park(epoch, until);
    }
}

void EngineQueue::help_drain(std::uint64_t sequence) noexcept {
    Worker* worker = Worker::current();
    while (completed() < sequence && !blocked()) {
        if (worker && try_help_drain(worker, sequence)) continue;
        for (int poll = 0; poll < 64 && completed() < sequence; ++poll) cpu_relax();
        if (completed() < sequence) wait(sequence, Deadline::after(millisecond));
    }
}

void EngineQueue::stop_running() noexcept {
    const std::uint64_t running = completed();
    if (running == ring_.tail()) return;
    while (completed() == running && (state_.load(std::memory_order_acquire) == RunState::draining || replays_now())) {
        stop_graph();
        scheduler_.cancel_running(*this, running + 1, FaultKind::aborted);
        if (wait(running + 1, Deadline::after(millisecond)) == WaitOutcome::done) break;
    }
}

void EngineQueue::abort() noexcept {
    std::uint64_t last = 0;
    {
        SpinGuard guard(submit_lock_);
        last = ring_.published();
        if (drop_until_.load(std::memory_order_relaxed) < last) drop_until_.store(last, std::memory_order_release);
    }
    while (completed() < last) {
        withdraw_wait();
        scheduler_.cancel_running(*this, last, FaultKind::aborted);
        if (wait(last, Deadline::after(millisecond)) == WaitOutcome::done) break;
    }
}

}  // namespace canopy
