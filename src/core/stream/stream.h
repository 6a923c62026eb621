// SPDX-License-Identifier: Apache-2.0
// Streams: the only way work reaches a device. `Stream::submit` is the only place where a command gets its task number,
// is checked against the context's state and is passed to the queue (or, while capturing, to a graph).
//
// A Stream stays in its table slot for ever, so its lock may be taken before the handle is checked. Every hot path does
// the same: find the slot, take the lock, check that the handle is alive, submit, unlock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/base/thread_state.h"
#include "core/process/context.h"
#include "core/process/runtime.h"
#include "core/stream/capture_rules.h"
#include "device/device.h"
#include "foundation/clock.h"

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

// Launches of streams are dumped (core/dump).
inline std::atomic<bool> dumped_launches{false};
// Streams ask StreamHooks::submit_dumped for launches outside of graphs from now on, or no longer.
void watch_launches(bool wanted);

enum class FailureMode : std::uint8_t { go_on = 0, stop = 1 };

struct StreamOptions {
    std::uint32_t priority = 0;
    std::uint32_t flags = 0;
};

class Stream final : public QueueObserver, public CallRouter {
public:
    SpinLock lock;  // serialises submission; also used by the queue
    Handle self = 0;
    Handle context = 0;
    // The context whose threads may submit: `context`, or 0 while a snapshot has locked the process.
    Handle admits CANOPY_GUARDED_BY(lock) = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    std::unique_ptr<Queue> queue;
    std::int32_t id = 0;
    std::atomic<std::uint32_t> priority{0};
    std::uint32_t flags = 0;
    bool is_default = false;
    // Commands need an extra check before they go to the queue: there is a recorder, it is a default stream, or
    // launches are dumped.
    bool watched CANOPY_GUARDED_BY(lock) = false;
    Recorder* recorder CANOPY_GUARDED_BY(lock) = nullptr;  // takes commands instead of the queue
    std::atomic<FailureMode> failure_mode{FailureMode::go_on};
    std::atomic<std::uint32_t> overflow_switch{0};
    std::atomic<std::uint32_t> user_tag{0};
    std::atomic<std::uint32_t> cache_operator_info{0};
    std::atomic<std::uint32_t> core_limit[2]{};   // by CoreLimit; 0: none
    std::atomic<int> error{0};                    // first failure since the last report
    std::atomic<int>* context_failure = nullptr;  // points into its context
    std::uint32_t next_task CANOPY_GUARDED_BY(lock) = 0;
    std::uint64_t last_sequence CANOPY_GUARDED_BY(lock) = 0;
    SpinLock error_lock;
    std::string error_text CANOPY_GUARDED_BY(error_lock);  // message of `error`

    // The caller holds `lock` and has checked that the handle is alive. Numbers the commands and passes them on.
    Result<std::uint64_t> submit(std::span<Command> commands) noexcept CANOPY_REQUIRES(lock);
    // Sets or removes the recorder.
    void set_recorder(Recorder* next) noexcept CANOPY_REQUIRES(lock) {
        recorder = next;
        watched = next != nullptr || is_default || dumped_launches.load(std::memory_order_acquire);
    }
    // Tells the thread-safety analysis that the calling thread holds `lock`.
    void assert_locked() const noexcept CANOPY_ASSERT_HELD(lock) {}
    // Ends recording because the stream is being destroyed (recorder.cpp).
    void end_recording() noexcept CANOPY_REQUIRES(lock);
    // Numbers a command that is recorded without going through `submit`.
    void number(Command& command) noexcept CANOPY_REQUIRES(lock) {
        command.task = next_task++;
        thread_state.last_task = command.task;
        thread_state.last_stream = self;
    }

    AfterFailure task_failed(const TaskFailure& failure) noexcept override;
    // Sends the call to the program thread that is subscribed to the stream's host functions.
    void route(const CallWork& call, void (*done)(void*), void* token) noexcept override;

    // The host cannot wait for persistent, device-only and CPU-scheduled streams.
    [[nodiscard]] bool never_waits() const noexcept {
        return (flags & (stream_persistent | stream_device_use_only | stream_cpu_schedule)) != 0;
    }
    void recycle() noexcept;

private:
    Result<std::uint64_t> submit_watched(std::span<Command> commands) noexcept CANOPY_REQUIRES(lock);
};

// A stream the calling thread may submit to: locked, alive and in the thread's current context. NULL means the current
// context's default stream. While a snapshot has locked the process, `acquire` waits until it is unlocked.
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
    static Result<LockedStream> acquire_later(LockedStream locked, const void* stream);
    void release() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS;
    Stream* stream_;
    bool help_ = false;  // the backlog is long: help drain it after unlocking
};

// Calls body(LockedStream&) with the stream locked and returns its result. The body can declare the lock as held:
// [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status { ... }
template <class Body>
auto with_stream(const void* handle, Body&& body) -> std::invoke_result_t<Body&, LockedStream&> {
    Result<LockedStream> locked = LockedStream::acquire(handle);
    if (!locked.ok()) [[unlikely]]
        return locked.status();
    LockedStream& stream = *locked;
    stream->assert_locked();
    return body.operator()(stream);  // explicit: clang 14 mixes up the arguments of a plain call
}

// Pins the stream that an argument names: NULL is the current context's default stream. 107017 if it is not a stream,
// 107002 without a context. `same_context` also requires the thread's current context (107003).
Result<Pin<Stream>> find_stream(const void* stream, bool same_context);

// For process_hooks: all devices and streams there are.
void tell_recorded_facts();

Result<Handle> create_stream(Context& context, const StreamOptions& options, bool is_default = false);

// quiesced: like force, for a device that has already been quiesced.
enum class DestroyMode { wait, force, quiesced };
// Waits for its work (force: only for runnable work), then closes the handle.
Status destroy_stream(Handle handle, DestroyMode mode);

// Waits for all work submitted so far and reports the stream's failure, if any.
Status synchronise_stream(Stream& stream, Deadline deadline);
// Takes the failure the stream has to report: its own or its context's. 0 if there is none.
int take_stream_error(Stream& stream) noexcept;
// The next synchronisation reports `code`, unless it has a failure to report already.
void fail_stream(Stream& stream, int code, std::string_view text) noexcept;
// Drops all work; the next synchronisation reports `code`.
void abort_stream(Stream& stream, int code) noexcept;
// Ends the running task and continues with the next.
void stop_stream(Stream& stream) noexcept;

// The error code of a failure.
int failure_code(const TaskFailure& failure) noexcept;

// ---- capture checks with the stream's lock held --------------------------------------------------------------------

// check_stream_free with the lock held, for streams other than default streams.
inline Status check_locked_stream_free(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_locked_stream(stream);
}
// For an asynchronous copy that must wait for its own completion, with the stream's lock held: 107041.
inline Status check_blocking_copy(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.refuse_blocking_copy(stream);
}
// For a stream that waits for an event: if the event's last record is part of a running capture, the stream joins that
// capture; otherwise nothing happens. The caller holds the stream's lock, not the event's.
inline Status join_capture(Stream& stream, Event& event) CANOPY_REQUIRES(stream.lock) {
    if (!capturing()) [[likely]]
        return {};
    return capture_rules.join(stream, event);
}

}  // namespace canopy
