// SPDX-License-Identifier: Apache-2.0
// Calls that fail during a capture.
#include "core/graph/capture/capture.h"

#include <unistd.h>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"

namespace canopy {

std::uint64_t this_thread_number() noexcept { return static_cast<std::uint64_t>(::gettid()); }

void invalidate(Capture& capture, const Stream* stream, std::string_view why) {
    std::string text = fmt::format("{}, called by thread {}", thread_state.function, this_thread_number());
    if (stream) text += fmt::format(" on stream {}", stream->id);
    text += fmt::format(": {}", why);
    MutexLock lock(*capture.graph->mutex);
    capture.invalidate(std::move(text));
}

namespace {

const char* name_of(CaptureMode mode) noexcept {
    switch (mode) {
        case CaptureMode::global:
            return "GLOBAL";
        case CaptureMode::thread_local_:
            return "THREAD_LOCAL";
        case CaptureMode::relaxed:
            break;
    }
    return "RELAXED";
}

// True if the capture forbids unsafe calls on the calling thread.
bool forbids(const Capture& capture) noexcept {
    if (thread_state.capture_mode == CaptureMode::relaxed || capture.mode == CaptureMode::relaxed) return false;
    if (capture.thread == this_thread_number()) return true;
    return capture.mode == CaptureMode::global && thread_state.capture_mode == CaptureMode::global;
}

// The capturing thread never waits for a device; other threads do not during a global capture.
bool forbids_synchronise(const Capture& capture) noexcept {
    return capture.thread == this_thread_number() || forbids(capture);
}

struct Refusal {
    int code;
    const char* why;
};

Refusal refusal_of(UnsafeCall call) noexcept {
    switch (call) {
        case UnsafeCall::copy:
            return {code::capture_mode, "it changes memory at once instead of in a stream"};
        case UnsafeCall::blocking_copy:
            return {code::capture_blocking_copy, "it copies from or to pageable host memory and would have to wait"};
        case UnsafeCall::default_stream:
            break;
    }
    return {code::capture_implicit, "it uses a default stream, for which all other streams wait"};
}

Status refuse(Capture& capture, const Stream* stream, const Refusal& refusal) {
    invalidate(capture, stream, refusal.why);
    return fail(refusal.code, "{} is forbidden while thread {} captures stream {} in mode {}: {}",
                thread_state.function, capture.thread, capture.origin_id, name_of(capture.mode), refusal.why);
}

Capture* capture_of(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!stream.recorder || stream.recorder->kind() != RecorderKind::capture) return nullptr;
    return &static_cast<CaptureLane*>(stream.recorder)->capture();
}

}  // namespace

Status refuse_unsafe(UnsafeCall call, const Stream* stream) {
    Status first;
    for (const auto& capture : all_captures()) {
        if (!forbids(*capture)) continue;
        const Status status = refuse(*capture, stream, refusal_of(call));
        if (first.ok()) first = status;
    }
    return first;
}

Status refuse_synchronise() {
    Status first;
    for (const auto& capture : all_captures()) {
        if (!forbids_synchronise(*capture)) continue;
        const Status status =
            refuse(*capture, nullptr, {code::stream_captured, "it waits for all streams, including captured ones"});
        if (first.ok()) first = status;
    }
    return first;
}

Status refuse_stream(Stream& stream) {
    if (stream.is_default) return refuse_unsafe(UnsafeCall::default_stream, &stream);
    SpinGuard guard(stream.lock);
    return refuse_locked_stream(stream);
}

Status refuse_locked_stream(Stream& stream) {
    Capture* const capture = capture_of(stream);
    if (!capture) return {};
    return refuse(*capture, &stream, {code::stream_captured, "the stream is part of the capture"});
}

Status refuse_event(Event& event) {
    SpinGuard guard(event.lock);
    const std::shared_ptr<Capture> capture = find_capture(event.capture);
    if (!capture) {
        event.capture = 0;
        return {};
    }
    invalidate(*capture, nullptr,
               fmt::format("the last record of event {} is part of the capture", slot_of(event.self)));
    return fail(code::event_captured, "{}: the last record of event {} is part of the capture of stream {}",
                thread_state.function, slot_of(event.self), capture->origin_id);
}

Status refuse_blocking_copy(Stream& stream) {
    Capture* const capture = capture_of(stream);
    if (capture && capture->mode != CaptureMode::relaxed && thread_state.capture_mode != CaptureMode::relaxed)
        return refuse(*capture, &stream, refusal_of(UnsafeCall::blocking_copy));
    return refuse_unsafe(UnsafeCall::blocking_copy, &stream);
}

Status join_capture_of(Stream& stream, Event& event) {
    std::shared_ptr<Capture> capture;
    std::uint32_t from = 0;
    {
        SpinGuard guard(event.lock);
        if (event.capture == 0) [[likely]]
            return {};
        capture = find_capture(event.capture);
        if (!capture) event.capture = 0;
        from = event.place.lane;
    }
    if (!capture) return {};
    if (stream.is_default)
        return refuse(*capture, &stream, {code::capture_implicit, "a default stream cannot be part of a capture"});
    if (stream.context != capture->graph->context)
        return fail(code::stream_context, "stream {} belongs to another context than the capture of stream {}",
                    stream.id, capture->origin_id);
    MutexLock lock(*capture->graph->mutex);
    if (capture->status == CaptureStatus::none) return {};
    CANOPY_TRY(capture->check_active());
    CaptureMember& member = capture->add(stream);
    member.event = event.self;
    member.from_lane = from;
    return {};
}

Result<CapturedLane> captured_lane(Stream& stream) {
    Capture* const capture = capture_of(stream);
    if (!capture) return fail(code::stream_not_captured, "stream {} is not being captured", stream.id);
    MutexLock lock(*capture->graph->mutex);
    if (capture->status == CaptureStatus::none)
        return fail(code::stream_not_captured, "stream {} is not being captured", stream.id);
    CANOPY_TRY(capture->check_active());
    return CapturedLane{capture->graph.get(), static_cast<CaptureLane*>(stream.recorder)->lane()};
}

void invalidate_capture_of(const Graph& graph) noexcept {
    try {
        for (const auto& capture : all_captures())
            if (capture->graph.get() == &graph) invalidate(*capture, nullptr, "the enclosing graph was destroyed");
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace canopy
