// SPDX-License-Identifier: Apache-2.0
#include "device/engine/cpu/cpu_cores.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

#include "base/ticks.h"
#include "device/engine/cpu/cpu_process.h"
#include "device/execution/cpu_tuning.h"
#include "device/execution/tuning.h"
#include "foundation/clock.h"
#include "record/recorder.h"

namespace canopy {

// ---- one block -----------------------------------------------------------------------------------------------------

// Runs inside the guard. An exception must not leave the fiber.
CANOPY_MAY_BE_LEFT void CpuCores::call_kernel(void* data) {
    Call& call = *static_cast<Call*>(data);
    try {
        if (call.kernel->with_block)
            call.result = reinterpret_cast<std::uint32_t (*)(void*, CpuBlock*)>(call.kernel->function)(call.arguments,
                                                                                                       &call.block);
        else
            call.result = reinterpret_cast<std::uint32_t (*)(void*)>(call.kernel->function)(call.arguments);
    } catch (const std::exception& exception) {
        call.threw = true;
        std::snprintf(call.outcome->text, sizeof call.outcome->text, "the kernel threw an exception: %s",
                      exception.what());
    } catch (...) {
        call.threw = true;
        std::snprintf(call.outcome->text, sizeof call.outcome->text,
                      "the kernel threw an exception that is not a std::exception");
    }
}

void CpuCores::explain(const Call& call, Fiber::Exit how) noexcept {
    CpuOutcome& outcome = *call.outcome;
    outcome.block = call.block.index;
    if (how != Fiber::Exit::finished) {
        if (outcome.fault.text) std::snprintf(outcome.text, sizeof outcome.text, "%s", outcome.fault.text);
        outcome.fault.text = nullptr;
        return;
    }
    outcome.fault.kind = call.threw ? FaultKind::exception : FaultKind::returned;
    outcome.result = call.result;
    if (!call.threw) std::snprintf(outcome.text, sizeof outcome.text, "the kernel returned %u", unsigned{call.result});
}

// ---- launches ------------------------------------------------------------------------------------------------------

CpuCores::~CpuCores() {
    ending_.store(true, std::memory_order_seq_cst);
    for (;;) {
        parked_.wake_all();
        {
            SpinGuard guard(lock_);
            if (threads_ == 0) return;
        }
        sched_yield();
    }
}

namespace {

bool refuse(CpuLaunch& launch, FaultKind kind, const char* why) noexcept {
    launch.outcome.fault.kind = kind;
    std::snprintf(launch.outcome.text, sizeof launch.outcome.text, "%s", why);
    return false;
}

}  // namespace

void CpuCores::List::append(CpuLaunch& launch) noexcept {
    launch.next = nullptr;
    launch.previous = last;
    (last ? last->next : first) = &launch;
    last = &launch;
}

void CpuCores::List::remove(CpuLaunch& launch) noexcept {
    (launch.previous ? launch.previous->next : first) = launch.next;
    (launch.next ? launch.next->previous : last) = launch.previous;
    launch.next = launch.previous = nullptr;
}

CpuCores::Started CpuCores::start(CpuLaunch& launch, Executor* helper) noexcept {
    launch.outcome.fault = {};
    launch.outcome.result = 0;
    launch.outcome.block = launch.offset;
    launch.outcome.text[0] = '\0';
    launch.finished.store(0, std::memory_order_relaxed);
    launch.longest.store(0, std::memory_order_relaxed);
    launch.stopping.store(false, std::memory_order_relaxed);
    if (launch.blocks > tuning::most_cpu_threads) {
        char text[128];
        std::snprintf(text, sizeof text, "a launch of %u blocks: at most %u can be alive at once on CPU cores",
                      unsigned{launch.blocks}, unsigned{tuning::most_cpu_threads});
        refuse(launch, FaultKind::exception, text);
        return Started::done;
    }
    if (options_.process) return options_.process->start(launch) ? Started::elsewhere : Started::done;
    if (options_.pinned) helper = nullptr;  // only CPU core threads are pinned
    launch.measured = launch.kernel->is_measured_now();
    // The helper claims the first block, which keeps the launch alive.
    launch.begun.store(helper ? 1 : 0, std::memory_order_relaxed);
    pending_blocks_.fetch_add(launch.blocks, std::memory_order_seq_cst);  // pairs with the check after a block
    add_threads();
    bool refused_itself = false;
    CpuLaunch* others = nullptr;
    {
        SpinGuard guard(lock_);
        launch.state = CpuLaunch::State::pending;
        pending_.append(launch);
        for (CpuLaunch* refused = admit(); refused;) {
            CpuLaunch* one = std::exchange(refused, refused->next);
            one->next = nullptr;
            if (one == &launch)
                refused_itself = true;
            else
                one->next = std::exchange(others, one);
        }
        if (helper && !refused_itself && launch.state == CpuLaunch::State::pending) {
            launch.begun.store(0, std::memory_order_relaxed);
            helper = nullptr;
        }
    }
    give_back(others);
    if (refused_itself) return Started::done;
    if (open_launches_.load(std::memory_order_seq_cst) != 0) wake_thread();
    return helper && work_on({&launch, 0}, helper) ? Started::done : Started::elsewhere;
}

CpuLaunch* CpuCores::admit() noexcept {
    CpuLaunch* refused = nullptr;
    while (CpuLaunch* launch = pending_.first) {
        const std::uint32_t busy = busy_.load(std::memory_order_seq_cst), wanted = busy + launch->blocks;
        const bool possible = wanted <= threads_ && wanted <= tuning::most_cpu_threads;
        if (!possible && busy != 0) break;
        pending_.remove(*launch);
        pending_blocks_.fetch_sub(launch->blocks, std::memory_order_relaxed);
        if (possible) {
            begin(*launch);
            continue;
        }
        launch->state = CpuLaunch::State::idle;
        refuse(*launch, FaultKind::memory, "the system cannot create threads for the blocks of the launch");
        launch->next = refused;
        refused = launch;
    }
    return refused;
}

void CpuCores::begin(CpuLaunch& launch) noexcept {
    launch.state = CpuLaunch::State::running;
    busy_.fetch_add(launch.blocks, std::memory_order_relaxed);
    running_.append(launch);
    if (launch.begun.load(std::memory_order_relaxed) >= launch.blocks) return;
    launch.open = true;
    launches_opened_.store(launches_opened_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    open_launches_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the check before parking
}

void CpuCores::close(CpuLaunch& launch) noexcept {
    if (!std::exchange(launch.open, false)) return;
    open_launches_.fetch_sub(1, std::memory_order_relaxed);
}

void CpuCores::give_back(CpuLaunch* refused) noexcept {
    while (refused) {
        CpuLaunch* launch = std::exchange(refused, refused->next);
        launch->owner->continue_after_launch();
    }
}

// Called when blocks have ended and pending launches may begin.
void CpuCores::admit_more() noexcept {
    CpuLaunch* refused = nullptr;
    {
        SpinGuard guard(lock_);
        refused = admit();
    }
    give_back(refused);
    if (open_launches_.load(std::memory_order_seq_cst) != 0) wake_thread();
}

void CpuCores::stop(CpuLaunch& launch, std::uint64_t limit) noexcept {
    if (options_.process) return options_.process->stop(launch, limit);
    {
        SpinGuard guard(lock_);
        if (launch.state == CpuLaunch::State::idle || launch.sequence >= limit) return;
        if (launch.state == CpuLaunch::State::running) {
            if (!launch.stopping.exchange(true, std::memory_order_seq_cst))
                stopping_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        pending_.remove(launch);
        pending_blocks_.fetch_sub(launch.blocks, std::memory_order_relaxed);
        launch.state = CpuLaunch::State::idle;
        launch.outcome.fault.kind = FaultKind::aborted;
    }
    launch.owner->continue_after_launch();
    admit_more();  // launches behind it may need fewer threads
}

bool CpuCores::asleep(const TaskOwner& owner, const CpuLaunch* launch) const noexcept {
    if (options_.process) return launch && options_.process->asleep(*launch);
    if (!KernelThread::any_asleep()) return false;
    bool found = false;
    for_each_executor([&](const Executor& executor) {
        if (executor.asleep() && executor.runs(&owner, UINT64_MAX)) found = true;
    });
    return found;
}

void CpuCores::end_stopped() noexcept {
    if (options_.process) return options_.process->end_late();
    if (stopping_.load(std::memory_order_relaxed) == 0) return;
    SpinGuard guard(lock_);
    for (CpuLaunch* launch = running_.first; launch; launch = launch->next) {
        if (!launch->stopping.load(std::memory_order_relaxed)) continue;
        for_each_executor([&](Executor& executor) {
            const std::uint64_t step = executor.step();
            if (Executor::inside(step) && executor.runs(launch->owner, launch->sequence + 1))
                executor.cancel(step, FaultKind::aborted);
        });
    }
}

// ---- blocks --------------------------------------------------------------------------------------------------------

CpuCores::Claim CpuCores::claim() noexcept {
    for (CpuLaunch* launch = running_.first; launch; launch = launch->next) {
        if (!launch->open) continue;
        const std::uint32_t index = launch->begun.fetch_add(1, std::memory_order_relaxed);
        if (index + 1 >= launch->blocks) close(*launch);
        if (index < launch->blocks) return {launch, index};
    }
    return {};
}

bool CpuCores::work_on(Claim claim, Executor* executor) noexcept {
    CpuLaunch& launch = *claim.launch;
    const std::uint32_t blocks = launch.blocks;
    while (claim.index < blocks) {
        CpuOutcome outcome;
        if (!run_claimed(claim, executor, outcome)) note_failure(launch, outcome);
        claim.index = launch.begun.fetch_add(1, std::memory_order_relaxed);  // before ending the block that keeps it
        if (end_block(launch)) return true;
    }
    return false;
}

namespace {

[[gnu::cold]] void write_block(const CpuLaunch& launch, std::uint32_t index, Ticks began) noexcept {
    profile::Record record{};
    record.begin = began;
    record.duration = record::duration_between(began, ticks());
    record.kind = static_cast<std::uint64_t>(profile::Kind::block);
    record.name = record::kept_name_number(launch.kernel->record_name, launch.kernel->info->name);
    record.object = launch.offset + index;
    record.link = launch.link;
    record::write(record);
}

void note_time(CpuLaunch& launch, Nanoseconds time) noexcept {
    Nanoseconds longest = launch.longest.load(std::memory_order_relaxed);
    while (time > longest && !launch.longest.compare_exchange_weak(longest, time, std::memory_order_relaxed)) {
    }
}

}  // namespace

bool CpuCores::run_claimed(const Claim& claim, Executor* executor, CpuOutcome& outcome) noexcept {
    CpuLaunch& launch = *claim.launch;
    if (!executor) {
        outcome.fault.kind = FaultKind::memory;
        return false;
    }
    executor->begin_task(launch.owner, launch.sequence, launch.timeout, launch.kernel);
    bool ended_well = false;
    if (launch.stopping.load(std::memory_order_seq_cst)) {
        outcome.fault.kind = FaultKind::aborted;
    } else {
        const Nanoseconds began = launch.measured ? now() : 0;
        const Ticks recorded_from = record::wants(record::blocks) ? ticks() : 0;
        ended_well = run_block(*executor, *launch.kernel, launch.arguments,
                               {launch.blocks, launch.offset + claim.index}, launch.end, outcome);
        if (launch.measured) note_time(launch, now() - began);
        if (recorded_from != 0) [[unlikely]]
            write_block(launch, claim.index, recorded_from);
    }
    executor->end_task();
    return ended_well;
}

void CpuCores::note_failure(CpuLaunch& launch, const CpuOutcome& outcome) noexcept {
    SpinGuard guard(lock_);
    if (launch.outcome.fault.kind != FaultKind::none) return;
    launch.outcome = outcome;
    // The other blocks may be waiting for this one, so they are ended. If it returned, they continue.
    if (outcome.fault.kind != FaultKind::returned && !launch.stopping.exchange(true, std::memory_order_seq_cst))
        stopping_.fetch_add(1, std::memory_order_relaxed);
}

// True if it was the last block.
bool CpuCores::end_block(CpuLaunch& launch) noexcept {
    const std::uint32_t blocks = launch.blocks;
    busy_.fetch_sub(1, std::memory_order_seq_cst);
    const bool last = launch.finished.fetch_add(1, std::memory_order_acq_rel) + 1 == blocks;
    if (last) {
        launch.end.run();
        if (launch.measured)
            launch.kernel->block_time.store(launch.longest.load(std::memory_order_relaxed), std::memory_order_relaxed);
        SpinGuard guard(lock_);
        launch.state = CpuLaunch::State::idle;
        if (launch.stopping.load(std::memory_order_relaxed)) stopping_.fetch_sub(1, std::memory_order_relaxed);
        running_.remove(launch);
        close(launch);
    }
    if (pending_blocks_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
        admit_more();
    return last;
}

// ---- threads -------------------------------------------------------------------------------------------------------

// One for each running or pending block.
void CpuCores::add_threads() noexcept {
    for (;;) {
        std::uint32_t number = 0;
        {
            SpinGuard guard(lock_);
            const std::uint32_t wanted =
                busy_.load(std::memory_order_relaxed) + pending_blocks_.load(std::memory_order_relaxed);
            if (threads_ >= std::min(wanted, tuning::most_cpu_threads)) return;
            ++threads_;
            number = threads_made_++;
        }
        try {
            std::thread([this, number] { thread_main(number); }).detach();
        } catch (...) {
            SpinGuard guard(lock_);
            --threads_;
            return;
        }
    }
}

void CpuCores::wake_thread() noexcept {
    if (watching_.load(std::memory_order_seq_cst) == 0) parked_.wake_one();
}

void CpuCores::prepare_thread(std::uint32_t number) const noexcept {
    pthread_setname_np(pthread_self(), "canopy-cpu");
    char name[48];
    const int size = std::snprintf(name, sizeof name, "CPU core %u of device %u", number, options_.device);
    record::name_thread(profile::ThreadRole::cpu_core, number, {name, static_cast<std::size_t>(std::max(size, 0))});
    cpu_set_t allowed;
    if (!options_.pinned || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int count = CPU_COUNT(&allowed);
    if (count == 0) return;
    int wanted = static_cast<int>(number % static_cast<std::uint32_t>(count));
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed) || wanted-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

// One thread at a time polls for a while instead of sleeping, so that launches in quick succession need no wake-up. It
// polls rarely, so that short blocks stay with the thread that began the launch, and yields its processor now and then;
// during a yield, launches wake another thread.
bool CpuCores::watch_for_blocks() noexcept {
    std::uint32_t none = 0;
    if (!options_.may_spin || !watching_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return false;
    std::uint32_t opened = launches_opened_.load(std::memory_order_relaxed);
    Nanoseconds time = now(), end = time + tuning::linger_time, yield_at = time + tuning::cpu_core_watch_time;
    bool found = false;
    while (!found && time < end && !ending_.load(std::memory_order_relaxed)) {
        for (std::uint32_t pause = 0; pause < tuning::cpu_core_watch_pauses; ++pause) cpu_relax();
        found = open_launches_.load(std::memory_order_relaxed) != 0;
        time = now();
        // Launches that ended between two checks count as well: they would have had to wake a thread.
        if (const std::uint32_t now_opened = launches_opened_.load(std::memory_order_relaxed); now_opened != opened) {
            opened = now_opened;
            end = time + tuning::linger_time;
        }
        if (found || time < yield_at) continue;
        watching_.store(0, std::memory_order_seq_cst);
        sched_yield();
        none = 0;
        if (!watching_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return false;
        yield_at = now() + tuning::cpu_core_watch_time;
    }
    watching_.store(0, std::memory_order_seq_cst);
    return found;
}

bool CpuCores::may_leave(bool idle_for_long) noexcept {
    SpinGuard guard(lock_);
    if (open_launches_.load(std::memory_order_relaxed) != 0) return false;
    const std::uint32_t needed =
        busy_.load(std::memory_order_relaxed) + pending_blocks_.load(std::memory_order_relaxed);
    if (!ending_.load(std::memory_order_relaxed) && !(idle_for_long && threads_ > std::max(options_.cores, needed)))
        return false;
    --threads_;
    return true;
}

void CpuCores::thread_main(std::uint32_t number) noexcept {
    prepare_thread(number);
    Executor* executor = Executor::current();
    if (executor) {
        executor->is_cpu_core.store(true, std::memory_order_relaxed);
        executor->works_for.store(works_for_, std::memory_order_relaxed);
    }
    for (bool idle_for_long = false;;) {
        Claim claimed;
        if (open_launches_.load(std::memory_order_relaxed) != 0) {
            SpinGuard guard(lock_);
            claimed = claim();
        }
        if (claimed.launch) {
            if (open_launches_.load(std::memory_order_seq_cst) != 0) wake_thread();
            TaskOwner& owner = *claimed.launch->owner;
            if (work_on(claimed, executor)) owner.continue_after_launch();
            idle_for_long = false;
            continue;
        }
        if ((idle_for_long || ending_.load(std::memory_order_relaxed)) && may_leave(idle_for_long)) return;
        if (!idle_for_long && watch_for_blocks()) continue;
        const ParkingLot::Epoch epoch = parked_.prepare();
        idle_for_long = false;
        if (open_launches_.load(std::memory_order_seq_cst) != 0 || ending_.load(std::memory_order_seq_cst))
            parked_.cancel();
        else
            idle_for_long = !parked_.park(epoch, Deadline::after(tuning::extra_worker_idle));
    }
}

}  // namespace canopy
