// SPDX-License-Identifier: Apache-2.0
// Recorder: takes the commands of a stream instead of its queue. A capture has one for each of its streams (capture.h),
// a persistent stream has one for the graph it is built for (graph_build.h), and an update of a task group has one
// while its new tasks are collected (group_update.h). A stream has at most one at a time.
//
// Threads: every function is called with the stream's lock held and its handle found alive. Memory that a command
// points at is copied before the call returns. A recorder is taken away from its stream under the same lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/stream/stream.h"
#include "device/command.h"

namespace canopy {

class Event;

enum class RecorderKind : std::uint8_t { capture, build, update };

// Where a recorder puts tasks: the graph and the lane in it.
struct RecorderTarget {
    Handle graph = 0;  // 0: there is none yet, or the recorder keeps no tasks
    std::uint32_t lane = 0;
};

// The first launch that was refused while tasks were recorded; code 0: none was.
struct RefusedLaunch {
    int code = 0;
    std::string text;

    void note(int with, const std::string& why) noexcept {
        if (code != 0) return;
        code = with;
        try {
            text = why;
        } catch (...) {  // the code alone must do
        }
    }
};

enum class EventAction : std::uint8_t { record, wait, reset };

// One of the calls of event.h, on a stream that is recorded.
struct EventCall {
    EventAction action;
    Event& event;             // pinned and not locked
    std::uint32_t flag = 0;   // that the call was given; 1: an event of the world outside
    Nanoseconds timeout = 0;  // of a wait
};

class Recorder {
public:
    [[nodiscard]] virtual RecorderKind kind() const noexcept = 0;
    [[nodiscard]] virtual RecorderTarget target() const noexcept { return {}; }
    // Takes commands that have their task numbers. Returns what the stream's submit returns: the number of the last
    // command its queue has got. Arguments of calls belong to the recorder afterwards, unless it fails.
    virtual Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept
        CANOPY_REQUIRES(stream.lock) = 0;

    // Events do not become commands before the recorder knows what they are for: a record or a wait of a capture is an
    // edge of its graph, not a task that runs. The recorder numbers the task with Stream::number.
    virtual Status record_event(Stream& stream, const EventCall& call) noexcept CANOPY_REQUIRES(stream.lock) = 0;

    // A launch on the stream was refused, which the program may not have noticed: a task is missing in the recording.
    virtual void launch_refused(Stream& stream, int code, const std::string& text) noexcept
        CANOPY_REQUIRES(stream.lock) = 0;

    // The stream's handle ends now; the recorder is taken away right after.
    virtual void stream_ended(Stream& stream) noexcept CANOPY_REQUIRES(stream.lock) = 0;

protected:
    ~Recorder() = default;
};

}  // namespace canopy
