// SPDX-License-Identifier: Apache-2.0
// Events.
#include "core/stream/event.h"

#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/graph/capture/capture.h"
#include "core/process/context.h"
#include "core/stream/capture_rules.h"
#include "core/stream/shared_event.h"

using namespace canopy;

namespace {

Status create(aclrtEvent* event, EventKind kind, std::uint32_t flags) {
    CANOPY_TRY(required(event, "event"));
    Result<Handle> handle = create_event(kind, flags);
    if (!handle.ok()) return handle.status();
    *event = opaque_of(*handle);
    return {};
}

// The body of most functions here: a required event, pinned.
template <class Body>
int with_event(aclrtEvent event, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(event, "event"));
            Result<Pin<Event>> pinned = find_event(event);
            if (!pinned.ok()) return pinned.status();
            return body(**pinned);
        },
        function);
}

Status plain_only(const Event& event, const char* function) {
    if (event.kind == EventKind::extended)
        return fail(code::not_supported, "{} does not work on events created with aclrtCreateEventExWithFlag",
                    function);
    return {};
}

Status timeline_only(const Event& event) {
    if ((event.flags & event_timeline) == 0)
        return fail(code::event_timestamp, "the event was created without the TIME_LINE flag and has no time");
    return {};
}

// Flags of a record or a wait: 0, or 1 (external), which only matters inside a capture.
Status check_flag(std::uint32_t flag) {
    if (flag > 1) return fail(code::invalid_parameter, "flag {} is neither 0 (default) nor 1 (external)", flag);
    return {};
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
    return changing_api(
        [&]() -> Status { return create(event, EventKind::plain, event_sync | event_progress | event_timeline); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
    return changing_api([&]() -> Status { return create(event, EventKind::plain, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
    return changing_api([&]() -> Status { return create(event, EventKind::extended, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(event, "event"));
        return destroy_event(handle_of(event));
    });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return with_event(event, [&](Event& target) { return record_event(target, stream); });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(check_flag(flag));
        return record_event(target, stream, flag);
    });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return with_event(event, [&](Event& target) { return wait_for_event(target, stream, 0); });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    return with_event(event, [&](Event& target) -> Status {
        if (timeout < 0) return fail(code::param_invalid, "timeout {} is not 0 or a number of seconds", timeout);
        return wait_for_event(target, stream, timeout * second);
    });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(check_flag(flag));
        return wait_for_event(target, stream, timeout * second, flag);
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return with_event(event, [&](Event& target) { return reset_event(target, stream); });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(check_event_free(target));
        return synchronise_event(target, Deadline::never());
    });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return with_event(event, [&](Event& target) -> Status {
        if (timeout == 0 || timeout < -1)
            return fail(code::param_invalid, "timeout {} is neither -1 nor a positive number of milliseconds", timeout);
        CANOPY_TRY(check_event_free(target));
        return synchronise_event(target, timeout < 0 ? Deadline::never() : Deadline::after(timeout * millisecond));
    });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(status, "status"));
        CANOPY_TRY(check_event_free(target));
        *status = event_complete(target) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(status, "status"));
        CANOPY_TRY(plain_only(target, "aclrtQueryEvent"));
        CANOPY_TRY(check_event_free(target));
        *status = event_complete(target) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(status, "status"));
        CANOPY_TRY(plain_only(target, "aclrtQueryEventWaitStatus"));
        CANOPY_TRY(check_event_free(target));
        *status = event_complete(target) ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    return api([&]() -> Status {
        CANOPY_TRY(required(ms, "ms"));
        CANOPY_TRY(required(startEvent, "startEvent"));
        CANOPY_TRY(required(endEvent, "endEvent"));
        Result<Pin<Event>> start = find_event(startEvent);
        if (!start.ok()) return start.status();
        Result<Pin<Event>> end = find_event(endEvent);
        if (!end.ok()) return end.status();
        CANOPY_TRY(check_event_free(**start));
        CANOPY_TRY(check_event_free(**end));
        CANOPY_TRY(timeline_only(**start));
        CANOPY_TRY(timeline_only(**end));
        Result<Nanoseconds> from = event_time(**start);
        if (!from.ok()) return from.status();
        Result<Nanoseconds> to = event_time(**end);
        if (!to.ok()) return to.status();
        if (*to < *from) return fail(code::timestamp_reversal, "endEvent was reached before startEvent");
        *ms = static_cast<float>(static_cast<double>(*to - *from) / 1e6);
        return {};
    });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(timestamp, "timestamp"));
        CANOPY_TRY(check_event_free(target));
        CANOPY_TRY(timeline_only(target));
        Result<Nanoseconds> time = event_time(target);
        if (!time.ok()) return time.status();
        *timestamp = static_cast<std::uint64_t>(*time / microsecond);
        return {};
    });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(eventId, "eventId"));
        *eventId = slot_of(target.self);
        return {};
    });
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
    return with_event(event, [&](Event& target) -> Status {
        CANOPY_TRY(required(handle, "handle"));
        if (!target.shared) return fail(code::param_invalid, "the event was created without the flag ACL_EVENT_IPC");
        Result<SharedKey::Bytes> bytes = target.shared->handle();
        if (!bytes.ok()) return bytes.status();
        static_assert(sizeof handle->reserved == sizeof(SharedKey::Bytes));
        std::memcpy(handle->reserved, bytes->data(), bytes->size());
        return {};
    });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(event, "event"));
        SharedKey::Bytes bytes;
        std::memcpy(bytes.data(), handle.reserved, bytes.size());
        Result<Handle> opened = open_shared_event(bytes);
        if (!opened.ok()) return opened.status();
        *event = opaque_of(*opened);
        return {};
    });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
    return api([&]() -> Status {
        CANOPY_TRY(required(eventCount, "eventCount"));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        const DeviceRecord& record = *(*context)->record;
        *eventCount = record.chip->max_events - record.events.load(std::memory_order_relaxed);
        return {};
    });
}
