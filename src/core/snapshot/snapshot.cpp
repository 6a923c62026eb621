// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot/snapshot.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/base/gate.h"
#include "core/base/thread_state.h"
#include "core/process/runtime.h"
#include "core/snapshot/saved_memory.h"
#include "core/snapshot/saved_signals.h"
#include "core/stream/stream.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr Nanoseconds patience = 60 * second;  // for calls and for work of devices

enum class ProcessState : std::uint8_t { running, locked, backed_up };

const char* words(ProcessState state) noexcept {
    switch (state) {
        case ProcessState::running:
            return "running";
        case ProcessState::locked:
            return "locked";
        default:
            return "backed up";
    }
}

struct Callback {
    SnapshotStage stage;
    SnapshotFunction function;
    void* argument;
};

struct Snapshot {
    Mutex callbacks_mutex;
    std::vector<Callback> callbacks CANOPY_GUARDED_BY(callbacks_mutex);

    // True during a step, callbacks included; only the thread of the step uses what follows. No lock, because nobody
    // may wait for it: a callback, or a thread it waits for, may try a step.
    std::atomic<bool> under_way{false};
    ProcessState state = ProcessState::running;
    std::unique_ptr<SavedMemory> memory;
    std::unique_ptr<SavedSignals> signals;
    pid_t process = 0;  // that was locked last
};

Snapshot& snapshot() { return process_state<Snapshot>(); }

Status wrong_state(int with_code, const char* wanted, ProcessState state) {
    return fail(with_code, "the process must be {} for this step of a snapshot; it is {}", wanted, words(state));
}

// Runs body(Snapshot&) as the only step.
template <class Body>
Status take_step(int busy_code, Body&& body) {
    Snapshot& all = snapshot();
    if (all.under_way.exchange(true, std::memory_order_acquire))
        return fail(busy_code, "another step of a snapshot is under way, perhaps in a callback that made this call");
    struct End {
        std::atomic<bool>& under_way;
        ~End() { under_way.store(false, std::memory_order_release); }
    } const end{all.under_way};
    return body(all);
}

Status run_callbacks(SnapshotStage stage) {
    std::vector<Callback> callbacks;
    {
        MutexLock guard(snapshot().callbacks_mutex);
        for (const Callback& each : snapshot().callbacks)
            if (each.stage == stage) callbacks.push_back(each);
    }
    struct IgnoreGate {
        IgnoreGate() { thread_state.ignores_gate = true; }
        ~IgnoreGate() { thread_state.ignores_gate = false; }
    } ignore;
    Runtime& runtime = Runtime::instance();
    for (const Callback& each : callbacks) {
        for (std::uint32_t id = 0; id < runtime.device_count(); ++id) {
            Result<DeviceRecord*> record = runtime.device(id);
            if (!record.ok() || (*record)->primary_hint.load(std::memory_order_acquire) == 0) continue;
            if (const std::uint32_t answer = each.function(static_cast<std::int32_t>(id), each.argument); answer != 0)
                return fail(code::snapshot_callback,
                            "the callback for stage {} of a snapshot returned {} for device {}",
                            static_cast<int>(stage), answer, id);
        }
    }
    return {};
}

// Opens all streams for their threads, or closes them. Nothing creates streams meanwhile.
void admit(bool open) noexcept {
    Runtime::instance().streams.for_each([&](Pin<Stream> stream) {
        SpinGuard guard(stream->lock);
        stream->admits = open ? stream->context : 0;
    });
}

void unlock(Snapshot& all) noexcept {
    all.memory.reset();
    all.signals.reset();
    all.state = ProcessState::running;
    admit(true);
    open_gate();
}

// The first device that has not settled by the deadline; nullptr if all have.
DeviceRecord* unsettled(Deadline deadline) {
    Runtime& runtime = Runtime::instance();
    for (std::uint32_t id = 0; id < runtime.device_count(); ++id) {
        Result<DeviceRecord*> record = runtime.device(id);
        Device* const device = record.ok() ? (*record)->opened() : nullptr;
        if (device && !device->settle(deadline)) return *record;
    }
    return nullptr;
}

std::uint64_t completed_tasks() {
    std::uint64_t count = 0;
    Runtime::instance().streams.for_each([&](Pin<Stream> stream) { count += stream->queue->completed(); });
    return count;
}

// Waits for all work that can run on any device.
Status drain(int with_code) {
    const Deadline deadline = Deadline::after(patience);
    for (;;) {
        if (const DeviceRecord* record = unsettled(deadline))
            return fail(with_code, "device {} has work or host functions that did not end within a minute",
                        record->index);
        // Work that ends on one device can let streams of another go on: all must be found idle with nothing ending
        // meanwhile.
        const std::uint64_t before = completed_tasks();
        if (!unsettled(Deadline{0}) && completed_tasks() == before) return {};
    }
}

// The result of a part of a step: the step has its own code, but what cannot be saved at all stays 207000.
Status as_step(int step_code, const Status& status) {
    if (status.ok() || status.code() == code::not_supported || status.code() == step_code) return status;
    const std::string reason = newest_error_text();
    return fail(step_code, "{} (code {})", reason, status.code());
}

Status save(Snapshot& all) {
    CANOPY_TRY(drain(code::snapshot_backup));
    Result<std::unique_ptr<SavedMemory>> memory = SavedMemory::save();
    if (!memory.ok()) return as_step(code::snapshot_backup, memory.status());
    all.signals = SavedSignals::save();
    all.memory = std::move(*memory);
    return {};
}

// Exit handlers that run after this one may call anything, even if another thread is in a step. A forked process is not
// the one that was locked.
void let_go() {
    if (getpid() != snapshot().process || !gate_closed()) return;
    end_snapshot();
    admit(true);
    open_gate();
}

}  // namespace

// ---- callbacks -----------------------------------------------------------------------------------------------------

Status register_snapshot_callback(SnapshotStage stage, SnapshotFunction function, void* argument) {
    Snapshot& all = snapshot();
    MutexLock guard(all.callbacks_mutex);
    for (const Callback& each : all.callbacks)
        if (each.stage == stage && each.function == function)
            return fail(code::snapshot_registered, "the callback is already registered for stage {}",
                        static_cast<int>(stage));
    all.callbacks.push_back({stage, function, argument});
    return {};
}

Status unregister_snapshot_callback(SnapshotStage stage, SnapshotFunction function) {
    Snapshot& all = snapshot();
    MutexLock guard(all.callbacks_mutex);
    const auto removed = std::erase_if(
        all.callbacks, [&](const Callback& each) { return each.stage == stage && each.function == function; });
    if (removed == 0)
        return fail(code::param_invalid, "the callback is not registered for stage {}", static_cast<int>(stage));
    return {};
}

// ---- steps ---------------------------------------------------------------------------------------------------------

Status lock_process() {
    return take_step(code::snapshot_lock, [](Snapshot& all) -> Status {
        CANOPY_TRY(run_callbacks(SnapshotStage::lock_before));
        if (all.state != ProcessState::running) return wrong_state(code::snapshot_lock, "running", all.state);
        static const int at_exit = std::atexit(let_go);
        static_cast<void>(at_exit);
        all.process = getpid();
        CANOPY_TRY(close_gate(Deadline::after(patience)));
        admit(false);
        all.state = ProcessState::locked;
        return {};
    });
}

Status back_up_process() {
    return take_step(code::snapshot_backup, [](Snapshot& all) -> Status {
        if (all.state != ProcessState::locked) return wrong_state(code::snapshot_backup, "locked", all.state);
        CANOPY_TRY(run_callbacks(SnapshotStage::backup_before));
        Status status = save(all);
        if (status.ok()) status = run_callbacks(SnapshotStage::backup_after);
        if (status.ok()) {
            all.state = ProcessState::backed_up;
        } else {
            all.memory.reset();
            all.signals.reset();
        }
        return status;
    });
}

Status restore_process() {
    return take_step(code::snapshot_restore, [](Snapshot& all) -> Status {
        if (all.state != ProcessState::backed_up) return wrong_state(code::snapshot_restore, "backed up", all.state);
        CANOPY_TRY(run_callbacks(SnapshotStage::restore_before));
        CANOPY_TRY(drain(code::snapshot_restore));
        CANOPY_TRY(as_step(code::snapshot_restore, all.memory->restore()));
        CANOPY_TRY(as_step(code::snapshot_restore, all.signals->restore()));
        CANOPY_TRY(run_callbacks(SnapshotStage::restore_after));
        all.memory.reset();
        all.signals.reset();
        all.state = ProcessState::locked;
        return {};
    });
}

Status unlock_process() {
    return take_step(code::snapshot_unlock, [](Snapshot& all) -> Status {
        if (all.state == ProcessState::running)
            return wrong_state(code::snapshot_unlock, "locked or backed up", all.state);
        unlock(all);
        return run_callbacks(SnapshotStage::unlock_after);
    });
}

void end_snapshot() noexcept {
    take_step(code::snapshot_unlock, [](Snapshot& all) {
        if (all.state != ProcessState::running) unlock(all);
        return Status();
    }).ignore();
}

}  // namespace canopy
