// SPDX-License-Identifier: Apache-2.0
// Capture: calls on a stream, and on streams joined to it by events, become tasks of a graph instead of running. This
// file has the captures in progress and the rules for calls that are forbidden meanwhile.
//
// A call that breaks a rule fails and invalidates the captures it affects: they stop recording, and ending them fails
// with a message that names the call and its thread.
//
// Threads: everything from any thread. A capture's state is guarded by its graph's mutex. Lock order: Stream::lock,
// Event::lock, Graph::mutex; the lock of the list of captures is taken last and protects only that list.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/base/thread_state.h"
#include "core/graph/graph.h"
#include "core/graph/graph_end.h"
#include "core/stream/capture_rules.h"
#include "core/stream/event.h"
#include "core/stream/recorder.h"
#include "core/stream/stream.h"

namespace canopy {

// Values of aclmdlRICaptureStatus.
enum class CaptureStatus : std::uint8_t { none = 0, active = 1, invalidated = 2 };

// ---- the calls -----------------------------------------------------------------------------------------------------

// Captures into a new graph, or appends to an existing one.
Status begin_capture(const void* stream, CaptureMode mode);
Status begin_capture_into(const void* stream, const void* graph, CaptureMode mode);
// Returns the prepared graph (bodies of conditions are prepared with the enclosing graph). The capture is over in any
// case; 107029, 107036: there was no capture to end here.
Result<Handle> end_capture(const void* stream);

struct CaptureInfo {
    CaptureStatus status = CaptureStatus::none;
    Handle graph = 0;
};
Result<CaptureInfo> capture_info(const void* stream);

// ---- rules ---------------------------------------------------------------------------------------------------------

// Implementation of the checks in core/stream: a call that breaks a rule fails and invalidates the captures it affects.
Status refuse_unsafe(UnsafeCall call, const Stream* stream);
Status refuse_synchronise();
Status refuse_stream(Stream& stream);
Status refuse_locked_stream(Stream& stream) CANOPY_REQUIRES(stream.lock);
Status refuse_event(Event& event);
Status refuse_blocking_copy(Stream& stream) CANOPY_REQUIRES(stream.lock);
Status join_capture_of(Stream& stream, Event& event) CANOPY_REQUIRES(stream.lock);
void free_ownerless_captures() noexcept;
void invalidate_capture_of(const Graph& graph) noexcept;

// Where the stream records to. 107029 if it is not captured, 507903 if its capture is invalidated. The caller holds the
// stream's lock.
struct CapturedLane {
    Graph* graph;
    std::uint32_t lane;
};
Result<CapturedLane> captured_lane(Stream& stream) CANOPY_REQUIRES(stream.lock);

// ---- internals -----------------------------------------------------------------------------------------------------

class Capture;

// The recorder of one stream of a capture.
class CaptureLane final : public Recorder {
public:
    CaptureLane(Capture& capture, std::uint32_t lane) noexcept : capture_(capture), lane_(lane) {}
    [[nodiscard]] RecorderKind kind() const noexcept override { return RecorderKind::capture; }
    [[nodiscard]] RecorderTarget target() const noexcept override;
    Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept override
        CANOPY_REQUIRES(stream.lock);
    Status record_event(Stream& stream, const EventCall& call) noexcept override CANOPY_REQUIRES(stream.lock);
    void launch_refused(Stream& stream, int code, const std::string& text) noexcept override
        CANOPY_REQUIRES(stream.lock);
    void stream_ended(Stream& stream) noexcept override CANOPY_REQUIRES(stream.lock);

    [[nodiscard]] Capture& capture() const noexcept { return capture_; }
    [[nodiscard]] std::uint32_t lane() const noexcept { return lane_; }

private:
    Status add_event(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);
    Status add_flagged(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);
    Status add_bound(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);
    Status add_record(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);
    Status add_wait(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);
    Status add_reset(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);

    Capture& capture_;
    const std::uint32_t lane_;
};

// The number of tasks of each lane that are known to be done.
using LaneClock = std::vector<std::uint32_t>;

// One stream of a capture.
struct CaptureMember {
    CaptureMember(Capture& capture, std::uint32_t lane, const Stream& which) noexcept
        : recorder(capture, lane), stream(which.self), stream_id(which.id) {}
    CaptureLane recorder;
    Handle stream;
    std::int32_t stream_id;
    Handle event = 0;             // that joined it to the capture
    std::uint32_t from_lane = 0;  // where that event was recorded
    LaneClock clock;              // tasks done before its next one
};

class Capture : public std::enable_shared_from_this<Capture> {
public:
    std::uint64_t id = 0;
    CaptureMode mode = CaptureMode::global;
    std::uint64_t thread = 0;  // OS thread that began it
    Handle origin = 0;         // the stream it began on
    std::int32_t origin_id = 0;
    Pin<Graph> graph;
    bool appends = false;                // to a complete graph
    bool body = false;                   // captures the body of a condition
    Executable* earlier = nullptr;       // executable of the graph it appends to, restored on failure
    GraphExtent before;                  // size of that graph before the capture
    std::uint32_t first_lane = 0;        // lane of the origin
    std::atomic<bool> ownerless{false};  // the origin stream has ended

    CaptureStatus status CANOPY_GUARDED_BY(*graph->mutex) = CaptureStatus::active;  // none: it is over
    std::string invalidated_by CANOPY_GUARDED_BY(*graph->mutex);                    // a call
    // The origin first; member n has lane first_lane + n.
    std::deque<CaptureMember> members CANOPY_GUARDED_BY(*graph->mutex);
    // By place of an event record: the tasks done before it.
    std::map<std::pair<std::uint32_t, std::uint32_t>, LaneClock> records CANOPY_GUARDED_BY(*graph->mutex);

    [[nodiscard]] CaptureMember& member(std::uint32_t lane) CANOPY_REQUIRES(*graph->mutex) {
        return members[lane - first_lane];
    }
    Status check_active() const CANOPY_REQUIRES(*graph->mutex);
    // Adds a lane for the stream and installs its recorder.
    CaptureMember& add(Stream& stream) CANOPY_REQUIRES(stream.lock, *graph->mutex);
    void invalidate(std::string why) CANOPY_REQUIRES(*graph->mutex);
};

// All captures in progress, and one by id (nullptr if the id is 0 or the capture is over).
std::vector<std::shared_ptr<Capture>> all_captures();
std::shared_ptr<Capture> find_capture(std::uint64_t id);
// Invalidates it with a message about the current call.
void invalidate(Capture& capture, const Stream* stream, std::string_view why);
[[nodiscard]] std::uint64_t this_thread_number() noexcept;

}  // namespace canopy
