// SPDX-License-Identifier: Apache-2.0
#include "core/stream/event.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/check/host_commands.h"
#include "core/process/context.h"
#include "core/stream/capture_rules.h"
#include "core/stream/recorder.h"
#include "core/stream/shared_event.h"
#include "core/stream/stream.h"

namespace canopy {

void Event::recycle() noexcept {
    Fence *old = nullptr, *old_flag = nullptr;
    {
        SpinGuard guard(lock);
        old = std::exchange(fence, nullptr);
        old_flag = std::exchange(flag, nullptr);
        capture = 0;
        records = sequence = 0;
        recorded = false;
        stream = 0;
    }
    shared.reset();
    if (old) old->release();
    if (old_flag) old_flag->release();
    if (record && kind == EventKind::plain) record->events.fetch_sub(1, std::memory_order_acq_rel);
    record = nullptr;
    self = 0;
}

namespace {

Status check_flags(EventKind kind, std::uint32_t flags) {
    const std::uint32_t known = kind == EventKind::plain
                                    ? event_sync | event_progress | event_timeline | event_device_only | event_external
                                    : event_sync | event_progress | event_timeline | event_interprocess;
    if (flags == 0 || (flags & ~known) != 0)
        return fail(code::param_invalid, "flag {:#x} is not a combination this kind of event can have", flags);
    constexpr std::uint32_t exclusive = event_device_only | event_external | event_interprocess;
    if ((flags & exclusive) != 0 && (flags & (flags - 1)) != 0)
        return fail(code::param_invalid,
                    "flag {:#x}: device-only, external and inter-process events have no other flag", flags);
    return {};
}

Status outside_flag(std::uint32_t flag) {
    if (flag == 0) return {};
    return fail(code::param_invalid, "the external flag is for streams that are being captured");
}

}  // namespace

namespace {
Result<Handle> open_slot(Context& context, EventKind kind, std::uint32_t flags, std::shared_ptr<SharedEvent> shared,
                         bool counted);
}  // namespace

Result<Handle> create_event(EventKind kind, std::uint32_t flags) {
    CANOPY_TRY(check_flags(kind, flags));
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    DeviceRecord& record = *(*context)->record;
    const bool counted = kind == EventKind::plain;
    if (counted && record.events.fetch_add(1, std::memory_order_acq_rel) >= record.chip->max_events) {
        record.events.fetch_sub(1, std::memory_order_acq_rel);
        return fail(code::no_event, "device {} already has {} events, the maximum of {}", record.index,
                    record.chip->max_events, record.chip->name);
    }
    std::shared_ptr<SharedEvent> shared;
    if ((flags & event_interprocess) != 0) {
        Result<std::shared_ptr<SharedEvent>> made = SharedEvent::create(record);
        if (!made.ok()) return made.status();
        shared = std::move(*made);
    }
    return open_slot(**context, kind, flags, std::move(shared), counted);
}

Result<Handle> open_event(std::shared_ptr<SharedEvent> shared) {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    return open_slot(**context, EventKind::extended, event_interprocess, std::move(shared), false);
}

namespace {

Result<Handle> open_slot(Context& context, EventKind kind, std::uint32_t flags, std::shared_ptr<SharedEvent> shared,
                         bool counted) {
    DeviceRecord& record = *context.record;
    Result<Fence*> fence = context.device->create_fence();
    if (!fence.ok()) {
        if (counted) record.events.fetch_sub(1, std::memory_order_acq_rel);
        return fence.status();
    }
    const Handle handle = Runtime::instance().events.open([&](Event& event, Handle self) {
        event.self = self;
        event.record = &record;
        event.kind = kind;
        event.flags = flags;
        event.shared = std::move(shared);
        SpinGuard guard(event.lock);
        event.fence = *fence;
    });
    if (handle == 0) {
        (*fence)->release();
        if (counted) record.events.fetch_sub(1, std::memory_order_acq_rel);
        return fail(code::no_event, "too many events are alive");
    }
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->created("event", handle);
    return handle;
}

}  // namespace

Result<Pin<Event>> find_event(const void* opaque) {
    Pin<Event> event = Runtime::instance().events.pin(handle_of(opaque));
    if (!event)
        return fail(code::invalid_handle,
                    "event {} is not a live event: never created, destroyed, or another kind of "
                    "handle",
                    as_address(opaque));
    return event;
}

Status destroy_event(Handle handle) {
    if (const Pin<Event> event = Runtime::instance().events.pin(handle); event && event->shared) [[unlikely]]
        event->shared->end();
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->destroyed(handle);
    if (!Runtime::instance().events.close(handle))
        return fail(code::invalid_handle, "event {} is not a live event", as_address(opaque_of(handle)));
    return {};
}

Result<Fence*> event_flag(Event& event, Device& device) {
    SpinGuard guard(event.lock);
    if (event.flag) return event.flag;
    Result<Fence*> fresh = device.create_fence();
    if (!fresh.ok()) return fresh.status();
    if (event.recorded) (*fresh)->signal(SignalMode::set, 1);
    event.flag = *fresh;
    return event.flag;
}

Result<Command> flag_command(const EventCall& call, Device& device) {
    Result<Fence*> flag = event_flag(call.event, device);
    if (!flag.ok()) return flag.status();
    if (call.action == EventAction::wait) {
        Command command(Opcode::wait);
        command.wait = {*flag, 1, static_cast<std::uint64_t>(call.timeout), WaitMode::at_least, false};
        return command;
    }
    Command command(Opcode::signal);
    command.signal = {*flag, call.action == EventAction::record ? 1u : 0u, SignalMode::set};
    return command;
}

namespace {

// All calls that put an event into a stream come through here: either the stream's recorder takes the call, or
// run(LockedStream&) submits its commands.
template <class Run>
Status submit_event(const EventCall& call, const void* handle, Run&& run) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        if (call.action == EventAction::record && call.event.record != stream->record)
            return fail(code::stream_context, "event of device {} cannot be recorded on a stream of device {}",
                        call.event.record->index, stream->record->index);
        if (call.action == EventAction::wait && capturing() && !stream->recorder) [[unlikely]]
            CANOPY_TRY(join_capture(*stream, call.event));
        if (stream->recorder) [[unlikely]]
            return stream->recorder->record_event(*stream, call);
        CANOPY_TRY(outside_flag(call.flag));
        // External events always use their flag, inside graphs and outside.
        if ((call.event.flags & event_external) != 0) [[unlikely]]
            CANOPY_TRY(event_flag(call.event, *stream->device).status());
        return run.operator()(stream);
    });
}

}  // namespace

// A fence counts in the order of one stream. If the last record is still pending on another stream, this record gets a
// new fence; waiters of the old one keep it.
Status begin_record(Event& event, Stream& stream) {
    if (!event.recorded || event.stream == stream.self || event.fence->value() >= event.records) return {};
    Result<Fence*> fresh = stream.device->create_fence();
    if (!fresh.ok()) return fresh.status();
    std::exchange(event.fence, *fresh)->release();
    event.records = 0;
    return {};
}

// A pending record must not be confused with the next one: its waiters keep its fence.
Status forget_record(Event& event, Device& device) {
    if (event.recorded && event.fence->value() < event.records) {
        Result<Fence*> fresh = device.create_fence();
        if (!fresh.ok()) return fresh.status();
        std::exchange(event.fence, *fresh)->release();
        event.records = 0;
    }
    event.recorded = false;
    return {};
}

Status record_event(Event& event, const void* handle, std::uint32_t flag) {
    if (event.shared) [[unlikely]] {
        CANOPY_TRY(outside_flag(flag));
        return record_shared(event, handle);
    }
    return submit_event({EventAction::record, event, flag}, handle,
                        [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
                            SpinGuard guard(event.lock);
                            CANOPY_TRY(begin_record(event, *stream));
                            Command commands[2] = {Command(Opcode::signal), Command(Opcode::signal)};
                            commands[0].signal = {event.fence, event.records + 1, SignalMode::raise};
                            commands[1].signal = {event.flag, 1, SignalMode::set};
                            CANOPY_TRY(stream.submit(std::span(commands, event.flag ? 2 : 1)));
                            ++event.records;
                            event.recorded = true;
                            event.capture = 0;
                            event.stream = stream->self;
                            event.sequence = stream.sequence();
                            return {};
                        });
}

Status wait_for_event(Event& event, const void* handle, Nanoseconds timeout, std::uint32_t flag) {
    if ((event.flags & event_sync) == 0 && (event.flags & (event_external | event_interprocess)) == 0)
        return fail(code::not_supported, "a stream can only wait for an event created with the SYNC flag");
    const auto limit = timeout != 0 ? static_cast<std::uint64_t>(timeout)
                                    : Runtime::instance().wait_timeout.load(std::memory_order_relaxed);
    if (event.shared) [[unlikely]] {
        CANOPY_TRY(outside_flag(flag));
        return wait_for_shared(event, handle, limit);
    }
    return submit_event({EventAction::wait, event, flag, static_cast<Nanoseconds>(limit)}, handle,
                        [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
                            SpinGuard guard(event.lock);
                            Command command(Opcode::wait);
                            // A record inside a graph only sets the flag.
                            if (event.flag && (!event.recorded || (event.flags & event_external) != 0)) {
                                command.wait = {event.flag, 1, limit, WaitMode::at_least, false};
                                return stream.submit(command);
                            }
                            if (!event.recorded && event.kind == EventKind::extended) return {};
                            command.wait = {event.fence, event.recorded ? event.records : event.records + 1, limit,
                                            WaitMode::at_least, false};
                            return stream.submit(command);
                        });
}

Status reset_event(Event& event, const void* handle) {
    if (event.kind == EventKind::extended)
        return fail(code::not_supported, "events created with aclrtCreateEventExWithFlag cannot be reset");
    return submit_event({EventAction::reset, event}, handle,
                        [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
                            SpinGuard guard(event.lock);
                            // Waits bind when they are called, so the event can count as not recorded from now on;
                            // the stream gets a task as a placeholder. A flag is cleared when the stream gets there.
                            Command command(Opcode::inline_call);
                            command.call.function = [](void*) {};
                            if (event.flag) {
                                command = Command(Opcode::signal);
                                command.signal = {event.flag, 0, SignalMode::set};
                            }
                            CANOPY_TRY(stream.submit(command));
                            CANOPY_TRY(forget_record(event, *stream->device));
                            event.capture = 0;
                            return {};
                        });
}

namespace {

bool complete(const Event& event) noexcept CANOPY_REQUIRES(event.lock) {
    if (event.flag && (!event.recorded || (event.flags & event_external) != 0)) return event.flag->value() != 0;
    if (!event.recorded) return event.kind == EventKind::extended;
    return event.fence->value() >= event.records;
}

}  // namespace

bool event_complete(Event& event) noexcept {
    if (event.shared) [[unlikely]]
        return event.shared->complete();
    Fence* seen = nullptr;
    std::uint64_t value = 0;
    {
        SpinGuard guard(event.lock);
        if (!complete(event)) return false;
        const bool by_flag = event.flag && (!event.recorded || (event.flags & event_external) != 0);
        seen = by_flag ? event.flag : event.fence;
        value = by_flag ? 1 : event.records;
    }
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->order().reached(fence_name(seen), value);
    return true;
}

Status synchronise_event(Event& event, Deadline deadline) {
    if (event.shared) [[unlikely]]
        return synchronise_shared(event, deadline);
    Handle handle = 0;
    std::uint64_t sequence = 0;
    {
        SpinGuard guard(event.lock);
        // The last record, even if the event has been reset since: a reset is a task that comes after it.
        handle = event.stream;
        sequence = event.sequence;
    }
    Pin<Stream> stream = Runtime::instance().streams.pin(handle);
    if (!stream) return {};  // never recorded, or the stream is gone and has passed all its records
    if (stream->queue->wait(sequence, deadline) == WaitOutcome::timed_out)
        return fail(code::event_sync_timeout, "the event was not reached in time");
    return {};
}

Result<Nanoseconds> event_time(Event& event) {
    SpinGuard guard(event.lock);
    if (!event.recorded || event.fence->value() < event.records)
        return fail(code::event_timestamp,
                    "the event has no time yet: it is not recorded or its record has not been "
                    "reached");
    return event.fence->signalled_at();
}

}  // namespace canopy
