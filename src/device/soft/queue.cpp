// SPDX-License-Identifier: Apache-2.0
// Ownership and waiting of queues; what commands do when they run is in queue_commands.cpp.
#include "device/soft/queue.h"

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "device/soft/scheduler.h"

namespace canopy {

SoftQueue::SoftQueue(Scheduler& scheduler, const QueueOptions& options)
    : scheduler_(scheduler),
      submit_lock_(*options.submit_lock),
      observer_(options.observer),
      priority_(options.priority & 7u) {
    waiter_.queue = this;
}

std::unique_ptr<SoftQueue> SoftQueue::create(Scheduler& scheduler, const QueueOptions& options) {
    std::unique_ptr<SoftQueue> queue(new SoftQueue(scheduler, options));
    if (!queue->ring_.create()) return nullptr;
    scheduler.add(*queue);
    return queue;
}

SoftQueue::~SoftQueue() {
    if (completed() != ring_.tail()) abort();
    // The last owner may still be on its way out: it lets go under the lock, or by leaving the list of ready queues.
    for (;;) {
        {
            SpinGuard guard(submit_lock_);
            if (state_.load(std::memory_order_acquire) == QueueState::idle) break;
            QueueState lingering = QueueState::lingering;
            if (state_.compare_exchange_strong(lingering, QueueState::idle, std::memory_order_acq_rel)) {
                scheduler_.count_runnable(-1);
                break;
            }
        }
        sched_yield();
    }
    // A worker that lingered here may not have noticed yet; the last thing it does is to leave the lock.
    while (watchers_.load(std::memory_order_acquire) != 0) sched_yield();
    { SpinGuard guard(submit_lock_); }
    scheduler_.remove(*this);
    if (waiting_for_) waiting_for_->release();
}

// ---- submitting ----------------------------------------------------------------------------------------------------

namespace {

// The bytes a command wants to carry with it.
struct Payload {
    const void* bytes = nullptr;
    std::size_t size = 0;
};

Payload payload_of(const Command& command) noexcept {
    if (command.opcode == Opcode::launch && !command.launch.arguments_in_place)
        return {command.launch.arguments, command.launch.arguments_size};
    if (command.opcode == Opcode::copy && command.snapshot) return {command.copy.source, command.copy.width};
    return {};
}

void patch(const LaunchWork& launch, char* arguments) noexcept {
    for (std::uint16_t i = 0; i < launch.placeholder_count; ++i) {
        const char* data = arguments + launch.placeholders[i].data_offset;
        std::memcpy(arguments + launch.placeholders[i].address_offset, &data, sizeof(data));
    }
}

}  // namespace

bool SoftQueue::place(const Command& command) noexcept {
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
        if (command.opcode == Opcode::launch) {
            if (command.launch.placeholder_count != 0) patch(command.launch, bytes);
            placed->launch.arguments = bytes;
        } else {
            placed->copy.source = bytes;
        }
    }
    if (command.opcode == Opcode::signal) command.signal.fence->retain();
    if (command.opcode == Opcode::wait) command.wait.fence->retain();
    return true;
}

Result<std::uint64_t> SoftQueue::submit(std::span<const Command> commands) noexcept {
    for (const Command& command : commands) {
        if (!place(command)) [[unlikely]]
            return fail(207001, "out of host memory for the stream's queue");
        ring_.publish(1);
    }
    if (state_.load(std::memory_order_relaxed) == QueueState::idle) {
        scheduler_.count_runnable(1);
        scheduler_.enqueue(*this);
    }
    return ring_.published();
}

// ---- ownership -----------------------------------------------------------------------------------------------------

bool SoftQueue::claim() noexcept {
    QueueState expected = QueueState::ready;
    return state_.compare_exchange_strong(expected, QueueState::draining, std::memory_order_acq_rel);
}

namespace {

// Commands that end at once or stop the queue: a released queue does not have to wait long behind them.
bool is_brief(Opcode opcode) noexcept {
    return opcode == Opcode::signal || opcode == Opcode::wait || opcode == Opcode::wait_value;
}

}  // namespace

// Drains this queue, then the ones its signals released and nobody else needs to be woken for. The queue itself may be
// gone when its own part is over.
void SoftQueue::drain(Executor& executor, std::uint64_t until, bool linger) noexcept {
    Scheduler& scheduler = scheduler_;
    executor.draining = true;
    drain_own(executor, until, linger);
    while (SoftQueue* next = std::exchange(executor.next_queue, nullptr)) {
        // A host thread that has what it waited for leaves the rest to the workers.
        const bool enough = !linger && completed() >= until;
        if (enough || scheduler.should_yield(next->priority(), 0))
            next->hand_over();
        else
            next->drain_own(executor, linger ? UINT64_MAX : next->ring_.popped() + tuning::help_at_a_time, linger);
    }
    executor.draining = false;
    scheduler.settle_count(executor);
}

void SoftQueue::drain_own(Executor& executor, std::uint64_t until, bool linger) noexcept {
    executor.scheduler.store(&scheduler_, std::memory_order_relaxed);
    std::uint32_t turn = 0;
    for (;;) {
        Command* command = ring_.front();
        if (!command) {
            const bool stay = linger && !executor.next_queue;
            scheduler_.settle_count(executor);
            if (!(stay ? more_after_lingering() : more_or_let_go())) return;
            continue;
        }
        if (!is_brief(command->opcode)) {
            const bool kept = executor.next_queue != nullptr;
            if (kept) [[unlikely]]
                std::exchange(executor.next_queue, nullptr)->hand_over();
            scheduler_.settle_count(executor);
            if (kept && scheduler_.should_yield(priority(), turn)) return hand_over();  // it is more urgent than this
        }
        ring_.prefetch_operand_after(*command);
        if (ring_.popped() < drop_until_.load(std::memory_order_relaxed)) [[unlikely]]
            drop(*command);
        else if (execute(executor, *command) == Step::left)
            return;
        finish(*command);
        if (ring_.popped() >= until) {
            scheduler_.settle_count(executor);  // a queue this one has released must count before this one stops to
            if (more_or_let_go()) hand_over();
            return;
        }
        if (scheduler_.should_yield(priority(), ++turn)) return hand_over();
    }
}

void SoftQueue::finish(Command& command) noexcept {
    if (command.payload_lines == CommandRing::heap_payload) [[unlikely]]
        std::free(const_cast<void*>(command.opcode == Opcode::launch ? command.launch.arguments : command.copy.source));
    if (command.opcode == Opcode::host_call || command.opcode == Opcode::inline_call)
        if (command.call.dispose) command.call.dispose(command.call.argument);
    ring_.pop(command);
    completed_.store(ring_.popped(), std::memory_order_release);
    notify_waiters();
}

void SoftQueue::notify_waiters() noexcept {
    if (completed_.load(std::memory_order_relaxed) >= wake_at_.load(std::memory_order_relaxed)) [[unlikely]]
        wake_sleepers();
}

void SoftQueue::wake_sleepers() noexcept {
    wake_at_.store(UINT64_MAX, std::memory_order_seq_cst);
    sleepers_.wake_all();
}

// More to do than this owner will: back to the ready ones.
void SoftQueue::hand_over() noexcept { scheduler_.enqueue(*this); }

// The queue looks empty. True: there is more after all. False: it has been let go.
bool SoftQueue::more_or_let_go() noexcept {
    SpinGuard guard(submit_lock_);
    if (!ring_.empty()) return true;
    notify_waiters();  // a sleeper that registered before the lock was taken is seen here at the latest
    if (watchers_.load(std::memory_order_relaxed) != 0) {  // they leave under the lock, so at least one will look
        state_.store(QueueState::lingering, std::memory_order_release);
    } else {
        state_.store(QueueState::idle, std::memory_order_release);
        scheduler_.count_runnable(-1);
    }
    return false;
}

// Watches the empty queue before letting go. While it does, a host thread that waits may take the queue over and give
// it back; then this worker goes on watching.
bool SoftQueue::more_after_lingering() noexcept {
    if (!scheduler_.may_spin()) return more_or_let_go();
    watchers_.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t seen = ring_.popped();
    // Small batches mean that every look disturbs the submitter for little: look more rarely, and the other way round.
    const std::uint64_t batch = seen - std::exchange(watched_from_, seen);
    if (batch < tuning::smallest_batch)
        watch_pauses_ = std::min(watch_pauses_ * 2, tuning::most_watch_pauses);
    else if (batch > tuning::largest_batch)
        watch_pauses_ = std::max(watch_pauses_ / 2, tuning::fewest_watch_pauses);
    const std::uint32_t pauses = watch_pauses_;
    state_.store(QueueState::lingering, std::memory_order_release);
    Nanoseconds end = 0;
    for (;;) {
        for (int poll = 0; poll < 4; ++poll) {
            // Looking rarely lets the submitter run ahead in its own cache and turns its commands into batches; a host
            // thread that wants one command done at once takes the queue over itself.
            for (std::uint32_t pause = 0; pause < pauses; ++pause) cpu_relax();
            if (const std::uint64_t tail = ring_.tail(); tail != seen) {
                QueueState lingering = QueueState::lingering;
                if (state_.compare_exchange_strong(lingering, QueueState::draining, std::memory_order_acq_rel)) {
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
        // Taking it first: a host thread or another watcher may be about to, without the lock.
        QueueState lingering = QueueState::lingering;
        if (state_.compare_exchange_strong(lingering, QueueState::draining, std::memory_order_acq_rel)) {
            more = !ring_.empty();
            if (!more) {
                notify_waiters();
                state_.store(QueueState::idle, std::memory_order_release);
                scheduler_.count_runnable(-1);
            }
        }
    }
    return more;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// A thread that drains tells the scheduler before its next real task and when it stops.
void SoftQueue::count_runnable(int change) noexcept {
    Executor* executor = Executor::existing();
    if (executor && executor->draining && executor->scheduler.load(std::memory_order_relaxed) == &scheduler_)
        executor->runnable_change += change;
    else
        scheduler_.count_runnable(change);
}

void SoftQueue::begin_wait() noexcept {
    if (reason_.load(std::memory_order_relaxed) != WaitReason::cores) count_runnable(-1);
    state_.store(QueueState::waiting, std::memory_order_release);
}

void SoftQueue::continue_after_wait(WaitResult result) noexcept {
    if (reason_.load(std::memory_order_relaxed) != WaitReason::cores) count_runnable(1);
    wait_result_ = result;
    Executor* executor = Executor::existing();
    if (executor && executor->collects && !executor->next_queue &&
        executor->scheduler.load(std::memory_order_relaxed) == &scheduler_) {
        state_.store(QueueState::draining, std::memory_order_release);
        executor->next_queue = this;
        return;
    }
    scheduler_.enqueue(*this);
}

WaitResult SoftQueue::take_wait_result() noexcept { return std::exchange(wait_result_, WaitResult::none); }

bool SoftQueue::expire_wait(std::uint64_t serial) noexcept {
    SoftFence* fence = nullptr;
    {
        SpinGuard guard(wait_lock_);
        if (wait_serial_.load(std::memory_order_relaxed) != serial) return true;
        fence = waiting_for_;
        fence->retain();
    }
    // Not among the waiters: a signal was faster, or the owner is still on its way there.
    const bool ended = fence->withdraw(waiter_);
    if (ended) continue_after_wait(WaitResult::timed_out);
    fence->release();
    return ended;
}

// Ends the present wait, whatever it is for, so that the owner that follows can drop it.
void SoftQueue::withdraw_wait(WaitResult result) noexcept {
    if (state_.load(std::memory_order_acquire) != QueueState::waiting) return;
    switch (reason_.load(std::memory_order_relaxed)) {
        case WaitReason::value:
            if (scheduler_.withdraw_value_wait(*this)) continue_after_wait(result);
            return;
        case WaitReason::cores:
            if (scheduler_.withdraw_core_wait(*this)) continue_after_wait(WaitResult::timed_out);
            return;
        default:
            break;
    }
    SoftFence* fence = nullptr;
    {
        SpinGuard guard(wait_lock_);
        fence = waiting_for_;
        if (fence) fence->retain();
    }
    if (!fence) return;
    if (fence->withdraw(waiter_)) continue_after_wait(result);
    fence->release();
}

bool SoftQueue::blocked() const noexcept {
    // Cores become free by themselves; everything else needs somebody outside the queue, a callback's thread included.
    return state_.load(std::memory_order_acquire) == QueueState::waiting &&
           reason_.load(std::memory_order_relaxed) != WaitReason::cores;
}

std::uint64_t SoftQueue::unfinished(std::uint64_t sequence) const noexcept {
    const std::uint64_t done = completed();
    return done >= sequence || blocked() ? 0 : sequence - done;
}

// Takes the queue when nobody runs it and drains it up to `sequence`.
bool SoftQueue::try_to_help(Executor* executor, std::uint64_t sequence) noexcept {
    QueueState state = state_.load(std::memory_order_acquire);
    if (state != QueueState::ready && state != QueueState::lingering) return false;
    if (!state_.compare_exchange_strong(state, QueueState::draining, std::memory_order_acq_rel)) return false;
    drain(*executor, sequence, false);
    return true;
}

WaitOutcome SoftQueue::wait(std::uint64_t sequence, Deadline deadline) noexcept {
    if (completed() >= sequence) return WaitOutcome::done;
    // A thread with a deadline cannot promise to be back in time from somebody's kernel: it does not help.
    Executor* executor = deadline.is_never() ? Executor::current() : nullptr;
    std::uint32_t pauses = 1;
    bool slept = false;
    for (Nanoseconds spin_end = 0;;) {
        for (int poll = 0; poll < 16; ++poll) {
            if (completed() >= sequence) return WaitOutcome::done;
            if (executor && try_to_help(executor, sequence)) spin_end = 0;
            // Each look takes the line away from the owner, who writes it after every command.
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
        const QueueState state = state_.load(std::memory_order_seq_cst);
        const bool can_help = executor && (state == QueueState::ready || state == QueueState::lingering);
        if (completed_.load(std::memory_order_seq_cst) >= sequence || can_help) {
            sleepers_.cancel();
            continue;
        }
        // The owner looks at wake_at_ without a fence after each command. Should it have missed this registration, it
        // sees it at the next one; the sleep after a registration is short in case that next command is a long kernel.
        // So is the first one of a thread that found another's registration: that may be the missed one.
        Deadline until = deadline;
        if (registers || !slept) until.at = std::min(until.at, Deadline::after(millisecond).at);
        slept = true;
        sleepers_.park(epoch, until);
    }
}

void SoftQueue::relieve(std::uint64_t sequence) noexcept {
    Executor* executor = Executor::current();
    while (completed() < sequence && !blocked()) {
        if (executor && try_to_help(executor, sequence)) continue;
        for (int poll = 0; poll < 64 && completed() < sequence; ++poll) cpu_relax();
        if (completed() < sequence) wait(sequence, Deadline::after(millisecond));
    }
}

void SoftQueue::stop_running() noexcept {
    const std::uint64_t running = completed();
    if (running == ring_.tail()) return;
    while (completed() == running && state_.load(std::memory_order_acquire) == QueueState::draining) {
        scheduler_.cancel_running(*this, running + 1, FaultKind::aborted);
        if (wait(running + 1, Deadline::after(millisecond)) == WaitOutcome::done) break;
    }
}

void SoftQueue::abort() noexcept {
    std::uint64_t last = 0;
    {
        SpinGuard guard(submit_lock_);
        last = ring_.published();
        if (drop_until_.load(std::memory_order_relaxed) < last) drop_until_.store(last, std::memory_order_release);
    }
    while (completed() < last) {
        withdraw_wait(WaitResult::satisfied);
        scheduler_.cancel_running(*this, last, FaultKind::aborted);
        if (wait(last, Deadline::after(millisecond)) == WaitOutcome::done) break;
    }
}

}  // namespace canopy
