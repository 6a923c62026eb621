// SPDX-License-Identifier: Apache-2.0
// Recorder: takes the commands of a stream instead of its queue. A capture has one for each of its streams (capture.h),
// a persistent stream has one for the graph it is built for (graph_build.h), and an update of a task group has one
// while its new tasks are collected (graph_edit.h). A stream has at most one at a time.
//
// Threads: every function is called with the stream's lock held and its handle found alive. What a command points at is
// copied before the call returns. A recorder is taken away from its stream under the same lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "device/command.h"

namespace canopy {

class Event;
class Stream;

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

class Recorder {
public:
    [[nodiscard]] virtual RecorderKind kind() const noexcept = 0;
    [[nodiscard]] virtual RecorderTarget target() const noexcept { return {}; }
    // Takes commands that have their task numbers. Returns what the stream's submit returns: the number of the last
    // command its queue has got. Arguments of calls belong to the recorder afterwards, unless it fails.
    virtual Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept = 0;

    // What the functions of event.h do on a stream that is recorded. The event is pinned and not locked. `flag` is the
    // one the call was given: 0, or 1 for an event of the world outside. Commands are numbered with Stream::number.
    virtual Status record_event(Stream& stream, Event& event, std::uint32_t flag) noexcept = 0;
    virtual Status wait_for_event(Stream& stream, Event& event, std::uint32_t flag, Nanoseconds timeout) noexcept = 0;
    virtual Status reset_event(Stream& stream, Event& event) noexcept = 0;

    // A launch on the stream was refused, which the program may not have noticed: what is recorded lacks a task.
    virtual void launch_refused(Stream& stream, int code, const std::string& text) noexcept = 0;

    // The stream's handle ends now; the recorder is taken away right after.
    virtual void stream_ended(Stream& stream) noexcept = 0;

protected:
    ~Recorder() = default;
};

}  // namespace canopy
