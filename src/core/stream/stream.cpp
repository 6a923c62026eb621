// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream.h"

#include <algorithm>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/gate.h"
#include "core/base/thread_state.h"
#include "core/check/host_check.h"
#include "core/process/builtin_kernels.h"
#include "core/process/context.h"
#include "core/process/process_log.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream_hooks.h"
#include "core/stream/stream_state.h"
#include "core/stream/subscriptions.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

// A submitter checks its backlog at this interval and helps drain it above the limit. Checking transfers the cache line
// that the queue's owner writes after every command.
constexpr std::uint64_t backlog_check_interval = 256;
constexpr std::uint64_t backlog_limit = 4096;

void tell_stream(const Stream& stream) {
    record::tell_stream({.number = static_cast<std::uint32_t>(stream.id),
                         .device = stream.record->index,
                         .priority = stream.priority.load(std::memory_order_relaxed)});
}

Status no_such_stream(const void* stream) {
    return fail(code::invalid_handle,
                "stream {} is not a live stream: never created, destroyed, or another kind of handle",
                as_address(stream));
}

}  // namespace

// ---- submitting ----------------------------------------------------------------------------------------------------

Result<std::uint64_t> Stream::submit(std::span<Command> commands) noexcept {
    if (const int stopped = context_failure->load(std::memory_order_relaxed); stopped != 0) [[unlikely]]
        return fail(stopped, "the context was stopped by a failure on a stream in stop-on-failure mode");
    for (Command& command : commands) command.task = next_task++;
    thread_state.last_task = next_task - 1;
    thread_state.last_stream = self;
    if (watched) [[unlikely]]
        return submit_watched(commands);
    Result<std::uint64_t> sequence = queue->submit(commands);
    if (sequence.ok()) [[likely]]
        last_sequence = *sequence;
    return sequence;
}

Result<LockedStream> LockedStream::acquire(const void* opaque) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    CANOPY_TRY(require_context());
    HandleTable<Stream>& table = Runtime::instance().streams;
    const Handle handle = opaque ? handle_of(opaque) : thread_state.default_stream;
    Stream* stream = table.peek(handle);
    if (!stream) [[unlikely]]
        return no_such_stream(opaque);
    stream->lock.lock();
    LockedStream locked(stream);
    if (!table.alive(handle)) [[unlikely]]
        return no_such_stream(opaque);
    if (stream->admits != thread_state.context) [[unlikely]]
        return acquire_later(std::move(locked), opaque);
    return locked;
}

// The stream does not admit the thread.
Result<LockedStream> LockedStream::acquire_later(LockedStream locked, const void* opaque) {
    if (locked->context != thread_state.context)
        return fail(code::stream_context, "stream {} belongs to another context, not the thread's current one",
                    locked->id);
    if (thread_state.ignores_gate) return locked;
    { const LockedStream unlocked = std::move(locked); }
    wait_for_gate();
    return acquire(opaque);
}

Status LockedStream::submit(std::span<Command> commands) noexcept {
    stream_->assert_locked();
    const Result<std::uint64_t> sequence = stream_->submit(commands);
    if (!sequence.ok()) return sequence.status();
    if (sequence.value() % backlog_check_interval < commands.size()) [[unlikely]]
        help_ = sequence.value() - stream_->queue->completed() > backlog_limit;
    return {};
}

void LockedStream::release() noexcept {
    if (!help_) [[likely]]
        return stream_->lock.unlock();
    const Handle handle = stream_->self;
    const std::uint64_t target = stream_->last_sequence - backlog_limit / 2;
    stream_->lock.unlock();
    if (Pin<Stream> pinned = Runtime::instance().streams.pin(handle)) pinned->queue->help_drain(target);
}

Result<Pin<Stream>> find_stream(const void* opaque, bool same_context) {
    if (!opaque || same_context) CANOPY_TRY(require_context());
    const Handle handle = opaque ? handle_of(opaque) : thread_state.default_stream;
    Pin<Stream> stream = Runtime::instance().streams.pin(handle);
    if (!stream) return no_such_stream(opaque);
    if (same_context && stream->context != thread_state.context)
        return fail(code::stream_context, "stream {} belongs to another context, not the thread's current one",
                    stream->id);
    return stream;
}

// ---- lifetime ------------------------------------------------------------------------------------------------------

namespace {

Status check_flags(std::uint32_t flags) {
    const std::uint32_t special = flags & (stream_persistent | stream_cpu_schedule | stream_device_use_only);
    if ((special & (special - 1)) != 0)
        return fail(code::param_invalid,
                    "flags {:#x}: persistent, CPU-scheduled and device-only streams exclude each other", flags);
    return {};
}

}  // namespace

void tell_recorded_facts() {
    Runtime* runtime = Runtime::existing();
    if (!runtime) return;
    for (std::uint32_t index = 0; index < runtime->device_count(); ++index)
        if (auto record = runtime->device(index); record.ok()) (*record)->tell_facts();
    runtime->streams.for_each([](const Pin<Stream>& stream) { tell_stream(*stream); });
}

Result<Handle> create_stream(Context& context, const StreamOptions& options, bool is_default) {
    static std::atomic<std::int32_t> next_id{1};  // not 0: link 0 of a record is no task (profile/record.h)
    CANOPY_TRY(check_flags(options.flags));
    DeviceRecord& record = *context.record;
    if (record.streams.fetch_add(1, std::memory_order_acq_rel) >= record.chip->max_streams) {
        record.streams.fetch_sub(1, std::memory_order_acq_rel);
        return fail(code::no_stream, "device {} already has {} streams, the maximum of {}", record.index,
                    record.chip->max_streams, record.chip->name);
    }
    Status failure;
    std::int32_t id = 0;
    const Handle handle = Runtime::instance().streams.open([&](Stream& stream, Handle self) {
        stream.record = &record;
        stream.device = context.device;
        stream.self = self;
        stream.context = context.self;
        stream.context_failure = &context.failure;
        stream.id = id = next_id.fetch_add(1, std::memory_order_relaxed) & 0x7FFFFFFF;
        stream.priority = std::min(options.priority, 7u);
        stream.flags = options.flags;
        stream.is_default = is_default;
        {
            SpinGuard guard(stream.lock);
            stream.set_recorder(stream_hooks.first_recorder(options.flags));
            stream.admits = gate_closed() ? 0 : context.self;
        }
        QueueOptions queue_options;
        queue_options.priority = stream.priority;
        queue_options.submit_lock = &stream.lock;
        queue_options.observer = &stream;
        queue_options.number = static_cast<std::uint32_t>(stream.id);
        Result<std::unique_ptr<Queue>> queue = context.device->create_queue(queue_options);
        if (queue.ok())
            stream.queue = std::move(*queue);
        else
            failure = queue.status();
    });
    if (handle == 0) {
        record.streams.fetch_sub(1, std::memory_order_acq_rel);
        return fail(code::no_stream, "too many streams are alive");
    }
    if (!failure.ok()) {
        Runtime::instance().streams.close(handle);
        return failure;
    }
    log_line(LogModule::runtime, LogLevel::information, "stream", "device {}: stream {} is created, priority {}",
             record.index, id, options.priority);
    bool listed = false;
    {
        // Ending a context closes its handle first and then takes its streams from this list.
        MutexLock guard(context.mutex);
        listed = Runtime::instance().contexts.alive(context.self);
        if (listed) context.streams.push_back(handle);
    }
    if (!listed) {
        Runtime::instance().streams.close(handle);
        return fail(code::context_null, "the context was destroyed in the meantime");
    }
    if (record::wants(record::everything)) [[unlikely]]
        if (const Pin<Stream> stream = Runtime::instance().streams.pin(handle)) tell_stream(*stream);
    if (HostCheck* const check = HostCheck::present(); check && !is_default) [[unlikely]]
        check->created("stream", handle);
    notify_stream_state(handle, StreamStage::created);
    return handle;
}

void Stream::recycle() noexcept {
    queue.reset();
    if (record) record->streams.fetch_sub(1, std::memory_order_acq_rel);
    record = nullptr;
    device = nullptr;
    self = context = 0;
    is_default = false;
    flags = 0;
    priority.store(0, std::memory_order_relaxed);
    failure_mode.store(FailureMode::go_on, std::memory_order_relaxed);
    overflow_switch.store(0, std::memory_order_relaxed);
    user_tag.store(0, std::memory_order_relaxed);
    cache_operator_info.store(0, std::memory_order_relaxed);
    for (auto& limit : core_limit) limit.store(0, std::memory_order_relaxed);
    error.store(0, std::memory_order_relaxed);
    {
        SpinGuard guard(error_lock);
        error_text.clear();
    }
    SpinGuard guard(lock);
    end_recording();  // for a stream whose creation failed
    admits = 0;
    set_recorder(nullptr);
    next_task = 0;
    last_sequence = 0;
}

Status destroy_stream(Handle handle, DestroyMode mode) {
    Runtime& runtime = Runtime::instance();
    Pin<Stream> stream = runtime.streams.pin(handle);
    if (!stream) return no_such_stream(opaque_of(handle));
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->destroyed(handle);
    notify_stream_state(handle, StreamStage::destroying);
    log_line(LogModule::runtime, LogLevel::information, "stream", "device {}: stream {} is destroyed",
             stream->record->index, stream->id);
    if (mode == DestroyMode::wait) {
        synchronise_stream(*stream, Deadline::never()).ignore();
    } else {
        // Runnable work runs; work behind a wait that no running work will satisfy is dropped.
        if (mode == DestroyMode::force) stream->device->quiesce();
        std::uint64_t last = 0;
        {
            SpinGuard guard(stream->lock);
            last = stream->last_sequence;
        }
        stream->queue->help_drain(last);
    }
    {
        SpinGuard guard(stream->lock);
        if (!runtime.streams.close(handle)) return no_such_stream(opaque_of(handle));
        stream->end_recording();
    }
    drop_ownerless_captures();
    forget_stream(handle);  // drops calls that wait for a program thread, so that the queue can end
    stream->queue->abort();
    if (Pin<Context> context = runtime.contexts.pin(stream->context)) {
        MutexLock guard(context->mutex);
        std::erase(context->streams, handle);
    }
    return {};
}

// ---- waiting and failing -------------------------------------------------------------------------------------------

Status synchronise_stream(Stream& stream, Deadline deadline) {
    if (stream.never_waits()) return {};
    std::uint64_t last = 0;
    {
        SpinGuard guard(stream.lock);
        last = stream.last_sequence;
    }
    if (stream.queue->wait(last, deadline) == WaitOutcome::timed_out)
        return fail(code::stream_sync_timeout, "stream {} did not finish its work in time", stream.id);
    if (Runtime::instance().memory_pools.live() != 0) [[unlikely]]
        stream_hooks.synchronised(stream.self);
    if (stream.error.load(std::memory_order_acquire) == 0 &&
        stream.context_failure->load(std::memory_order_acquire) == 0) [[likely]]
        return {};
    std::string text;
    {
        SpinGuard guard(stream.error_lock);
        text.swap(stream.error_text);
    }
    const int failed = take_stream_error(stream);
    if (failed == 0) return {};
    if (text.empty()) text = "the context was stopped by an earlier failure";
    return fail(failed, "stream {}: {}", stream.id, text);
}

int take_stream_error(Stream& stream) noexcept {
    const int own = stream.error.exchange(0, std::memory_order_acq_rel);
    const int stopped = stream.context_failure->load(std::memory_order_acquire);
    return stopped != 0 ? stopped : own;  // the failure that stopped the context takes precedence
}

namespace {

int cpu_failure_code(const TaskFailure& failure) noexcept {
    constexpr std::uint32_t end_of_sequence = 201;
    if (failure.kind == FaultKind::timeout) return code::cpu_timeout;
    if (failure.kind == FaultKind::returned && failure.result == end_of_sequence) return code::end_of_sequence;
    return code::cpu_exception;
}

}  // namespace

int failure_code(const TaskFailure& failure) noexcept {
    const bool ended = failure.kind == FaultKind::aborted || failure.kind == FaultKind::wait_timeout;
    if (failure.opcode == Opcode::cpu_kernel && !ended) return cpu_failure_code(failure);
    const bool on_vector = failure.core == CoreType::vector;
    switch (failure.kind) {
        case FaultKind::timeout:
            return on_vector ? code::vector_timeout : code::aicore_timeout;
        case FaultKind::wait_timeout:
            return code::wait_timeout;
        case FaultKind::aborted:
            return code::stream_abort;
        default:
            break;
    }
    if (failure.kind == FaultKind::lost) return code::lost_heartbeat;
    if (const Builtin builtin = builtin_of(failure); builtin != Builtin::none) return fault_code_of(builtin);
    if (failure.opcode == Opcode::replay) return code::model_execute;
    if (failure.opcode != Opcode::launch) return code::driver_internal;
    return on_vector ? code::vector_exception : code::aicore_exception;
}

AfterFailure Stream::task_failed(const TaskFailure& failure) noexcept {
    const int failed = failure_code(failure);
    if (failure.code) *failure.code = failed;
    try {
        std::string text = stream_hooks.describe_failure(failure);
        log_line(LogModule::runtime, failure.kind == FaultKind::aborted ? LogLevel::information : LogLevel::error,
                 "stream", "device {}, stream {}: {} (code {})", record->index, id, text, failed);
        SpinGuard guard(error_lock);
        if (error.load(std::memory_order_relaxed) == 0) error_text = std::move(text);
    } catch (...) {
    }
    if (failure.kind != FaultKind::aborted && failure.kind != FaultKind::wait_timeout)
        stream_hooks.fire_exception(*this, failure, failed);
    int none = 0;
    error.compare_exchange_strong(none, failed, std::memory_order_acq_rel);
    if (failure_mode.load(std::memory_order_acquire) == FailureMode::go_on) return AfterFailure::go_on;
    none = 0;
    context_failure->compare_exchange_strong(none, failed, std::memory_order_acq_rel);
    return AfterFailure::drop_the_rest;
}

void Stream::route(const CallWork& call, void (*done)(void*), void* token) noexcept {
    deliver(ReportKind::host_function, {self, std::nullopt, call, done, token});
}

void fail_stream(Stream& stream, int with_code, std::string_view text) noexcept {
    SpinGuard guard(stream.error_lock);
    int none = 0;
    if (stream.error.compare_exchange_strong(none, with_code, std::memory_order_acq_rel)) stream.error_text = text;
}

void abort_stream(Stream& stream, int with_code) noexcept {
    // Set before the queue ends: threads that wait for it must find the reason.
    fail_stream(stream, with_code, "its tasks were aborted");
    stream.queue->abort();
}

void stop_stream(Stream& stream) noexcept { stream.queue->stop_running(); }

}  // namespace canopy
