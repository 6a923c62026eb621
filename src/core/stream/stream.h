// SPDX-License-Identifier: Apache-2.0
// Streams: the only way work reaches a device. `Stream::submit` is the one place where a command is stamped with its
// task number, checked against the context's state and handed to the queue (and, while capturing, to a graph).
//
// A Stream lives in a table slot for ever; its lock may therefore be taken before the handle is checked. The pattern
// of every hot path is: find the slot, take the lock, ask whether the handle is alive, submit, leave.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "base/clock.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/base/thread_state.h"
#include "core/process/context.h"
#include "core/process/runtime.h"
#include "core/stream/capture_rules.h"
#include "device/backend.h"

namespace canopy {

class Recorder;

enum StreamFlags : std::uint32_t {
    stream_fast_launch = 0x1,
    stream_fast_sync = 0x2,
    stream_persistent = 0x4,
    stream_huge = 0x8,
    stream_cpu_schedule = 0x10,
    stream_device_use_only = 0x20,
};

enum class FailureMode : std::uint8_t { go_on = 0, stop = 1 };

struct StreamOptions {
    std::uint32_t priority = 0;
    std::uint32_t flags = 0;
};

class Stream final : public QueueObserver, public CallRouter {
public:
    SpinLock lock;  // submit order; also the queue's
    Handle self = 0;
    Handle context = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    std::unique_ptr<Queue> queue;
    std::int32_t id = 0;
    std::atomic<std::uint32_t> priority{0};
    std::uint32_t flags = 0;
    bool is_default = false;
    // Commands need a second look before they go to the queue: there is a recorder, or it is a default stream.
    bool watched CANOPY_GUARDED_BY(lock) = false;
    Recorder* recorder CANOPY_GUARDED_BY(lock) = nullptr;  // takes the commands instead of the queue
    std::atomic<FailureMode> failure_mode{FailureMode::go_on};
    std::atomic<std::uint32_t> overflow_switch{0};
    std::atomic<std::uint32_t> user_tag{0};
    std::atomic<std::uint32_t> cache_operator_info{0};
    std::atomic<std::uint32_t> core_limit[2]{};   // by CoreLimit; 0: none
    std::atomic<int> error{0};                    // first failure since the last report
    std::atomic<int>* context_failure = nullptr;  // its context's
    std::uint32_t next_task CANOPY_GUARDED_BY(lock) = 0;
    std::uint64_t last_sequence CANOPY_GUARDED_BY(lock) = 0;
    SpinLock error_lock;
    std::string error_text CANOPY_GUARDED_BY(error_lock);  // of `error`

    // Caller holds `lock` and has found the handle alive. Fills in task numbers and hands the commands over.
    Result<std::uint64_t> submit(std::span<Command> commands) noexcept CANOPY_REQUIRES(lock);
    // Sets or takes away the recorder.
    void set_recorder(Recorder* next) noexcept CANOPY_REQUIRES(lock) {
        recorder = next;
        watched = next != nullptr || is_default;
    }
    // Tells the analysis of locks that the calling thread holds `lock`.
    void assert_locked() const noexcept CANOPY_ASSERT_HELD(lock) {}
    // The stream ends; so does its part in what is recorded (recorder.cpp).
    void end_recording() noexcept CANOPY_REQUIRES(lock);
    // Gives a command that is recorded without passing through `submit` its number.
    void number(Command& command) noexcept CANOPY_REQUIRES(lock) {
        command.task = next_task++;
        thread_state.last_task = command.task;
    }

    AfterFailure task_failed(const TaskFailure& failure) noexcept override;
    // To the thread of the program that is subscribed for the stream's host functions.
    void route(const CallWork& call, void (*done)(void*), void* token) noexcept override;

    // Persistent and device-only streams have nothing a host could wait for.
    [[nodiscard]] bool never_waits() const noexcept {
        return (flags & (stream_persistent | stream_device_use_only | stream_cpu_schedule)) != 0;
    }
    void recycle() noexcept;

private:
    Result<std::uint64_t> submit_watched(std::span<Command> commands) noexcept CANOPY_REQUIRES(lock);
};

// A stream that the calling thread may submit to: locked, alive, of the thread's current context.
// NULL stands for the current context's default stream.
class LockedStream {
public:
    static Result<LockedStream> acquire(const void* stream);
    LockedStream(LockedStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)), help_(other.help_) {}
    LockedStream& operator=(LockedStream&&) = delete;
    ~LockedStream() {
        if (stream_) release();
    }
    Stream* operator->() const noexcept { return stream_; }
    Stream& operator*() const noexcept { return *stream_; }

    Status submit(Command& command) noexcept { return submit(std::span(&command, 1)); }
    Status submit(std::span<Command> commands) noexcept;
    // Number of the last submitted command, for Queue::wait on a pinned stream.
    [[nodiscard]] std::uint64_t sequence() const noexcept {
        stream_->assert_locked();
        return stream_->last_sequence;
    }

private:
    explicit LockedStream(Stream* stream) noexcept : stream_(stream) {}
    void release() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS;
    Stream* stream_;
    bool help_ = false;  // the backlog is long: help after unlocking
};

// Calls body(LockedStream&) with the stream locked and returns its result. The lock is held for the analysis too in a
// body that asks for it: [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status { ... }
template <class Body>
auto with_stream(const void* handle, Body&& body) -> std::invoke_result_t<Body&, LockedStream&> {
    Result<LockedStream> locked = LockedStream::acquire(handle);
    if (!locked.ok()) [[unlikely]]
        return locked.status();
    LockedStream& stream = *locked;
    stream->assert_locked();
    return body.operator()(stream);  // by name: clang 14 mixes up the arguments of a plain call
}

// Pins the stream an argument names: NULL is the current context's default stream. 107017 when it is not one,
// 107002 without a context. `same_context` additionally asks for the thread's current context (107003).
Result<Pin<Stream>> find_stream(const void* stream, bool same_context);

Result<Handle> create_stream(Context& context, const StreamOptions& options, bool is_default = false);

// quiesced: force, for a device that has been quiesced.
enum class DestroyMode { wait, force, quiesced };
// Waits for the work (force: only for what can run), then ends the handle.
Status destroy_stream(Handle handle, DestroyMode mode);

// Waits for everything submitted so far and reports the stream's failure, if any.
Status synchronise_stream(Stream& stream, Deadline deadline);
// Takes the failure the stream has to report: its own, or its context's. 0 when there is none.
int take_stream_error(Stream& stream) noexcept;
// Drops everything; the next synchronisation reports `code`.
void abort_stream(Stream& stream, int code) noexcept;
// Ends the running task and goes on with the next.
void stop_stream(Stream& stream) noexcept;

// The code of a failure.
int failure_code(const TaskFailure& failure) noexcept;

// ---- what a capture forbids, with the stream's lock held
// -------------------------------------------------------------

// check_stream_free with the lock held, for streams that are not default streams.
inline Status check_locked_stream_free(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_locked_stream(stream);
}
// An asynchronous copy that has to wait for its own end, on a stream whose lock the caller holds: 107041.
inline Status check_blocking_copy(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_blocking_copy(stream);
}
// A stream waits for an event whose last record is part of a capture: the stream becomes part of it too. Nothing
// happens when the event is not of a capture under way. The caller holds the stream's lock, not the event's.
inline Status join_capture(Stream& stream, Event& event) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.join(stream, event);
}

}  // namespace canopy
