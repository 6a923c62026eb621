// SPDX-License-Identifier: Apache-2.0
// Recorder: takes a stream's commands instead of its queue. A capture has one for each of its streams (capture.h), a
// persistent stream has one for the graph it builds (graph_build.h), and an update of a task group has one while its
// new tasks are collected (group_update.h). A stream has at most one at a time.
//
// Threads: every function is called with the stream's lock held and its handle alive. Memory that a command points to
// is copied before the call returns. A recorder is removed from its stream under the same lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/stream/stream.h"
#include "device/command.h"
#include "foundation/clock.h"

namespace canopy {

class Event;

enum class RecorderKind : std::uint8_t { capture, build, update };

// Where a recorder puts tasks: the graph and its lane.
struct RecorderTarget {
    Handle graph = 0;  // 0: none yet, or the recorder keeps no tasks
    std::uint32_t lane = 0;
};

// The first launch that was refused during recording; code 0: none.
struct RefusedLaunch {
    int code = 0;
    std::string text;

    void note(int with, const std::string& why) noexcept {
        if (code != 0) return;
        code = with;
        try {
            text = why;
        } catch (...) {  // return the code alone
        }
    }
};

enum class EventAction : std::uint8_t { record, wait, reset };

// A call from event.h on a stream that is being recorded.
struct EventCall {
    EventAction action;
    Event& event;             // pinned and not locked
    std::uint32_t flag = 0;   // passed by the caller; 1: an external event
    Nanoseconds timeout = 0;  // of a wait
};

class Recorder {
public:
    [[nodiscard]] virtual RecorderKind kind() const noexcept = 0;
    [[nodiscard]] virtual RecorderTarget target() const noexcept { return {}; }
    // Takes commands that already have their task numbers. Returns what the stream's submit returns: the number of the
    // last command in its queue. On success the recorder owns the arguments of calls.
    virtual Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept
        CANOPY_REQUIRES(stream.lock) = 0;

    // Events become commands only when the recorder knows their purpose: a record or a wait in a capture is an edge of
    // its graph, not a task that runs. The recorder numbers the task with Stream::number.
    virtual Status record_event(Stream& stream, const EventCall& call) noexcept CANOPY_REQUIRES(stream.lock) = 0;

    // A launch on the stream was refused, which the program may not have noticed: the recording lacks a task.
    virtual void launch_refused(Stream& stream, int code, const std::string& text) noexcept
        CANOPY_REQUIRES(stream.lock) = 0;

    // The stream's handle is being closed; the recorder is removed right after.
    virtual void stream_ended(Stream& stream) noexcept CANOPY_REQUIRES(stream.lock) = 0;

protected:
    ~Recorder() = default;
};

}  // namespace canopy
