// SPDX-License-Identifier: Apache-2.0
#include "core/graph/capture/capture_groups.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/capture/capture.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

// Calls body(Graph&, lane index) for the lane of a stream being captured.
template <class Body>
Status with_captured_lane(const void* handle, Body&& body) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        const Recorder* const recorder = stream->recorder;
        if (!recorder || recorder->kind() != RecorderKind::capture)
            return fail(code::task_group_status, "stream {} is not being captured: it has no task groups", stream->id);
        Result<CapturedLane> captured = captured_lane(*stream);
        if (!captured.ok()) return captured.status();
        Graph& graph = *captured->graph;
        MutexLock lock(*graph.mutex);
        return body.operator()(graph, captured->lane);
    });
}

}  // namespace

Status begin_task_group(const void* stream) {
    return with_captured_lane(stream, [](Graph& graph, std::uint32_t index) CANOPY_REQUIRES(*graph.mutex) -> Status {
        RecordedLane& lane = graph.lanes[index];
        if (lane.open_group != no_group)
            return fail(code::task_group_status, "stream {} already has an open task group", lane.stream_id);
        TaskGroup group;
        group.lane = index;
        group.first = static_cast<std::uint32_t>(lane.tasks.size());
        group.open = true;
        graph.groups.push_back(group);
        lane.open_group = static_cast<std::uint32_t>(graph.groups.size() - 1);
        return {};
    });
}

Result<Handle> end_task_group(const void* stream) {
    Handle handle = 0;
    CANOPY_TRY(
        with_captured_lane(stream, [&](Graph& graph, std::uint32_t index) CANOPY_REQUIRES(*graph.mutex) -> Status {
            RecordedLane& lane = graph.lanes[index];
            if (lane.open_group == no_group)
                return fail(code::task_group_status, "stream {} has no open task group", lane.stream_id);
            const std::uint32_t number = lane.open_group;
            handle = Runtime::instance().task_groups.open([&](GraphPart& part, Handle self) {
                part.self = self;
                part.graph = graph.self;
                part.index = number;
            });
            if (handle == 0) return fail(code::resource_alloc, "too many task groups are alive");
            graph.groups[number].handle = handle;
            graph.groups[number].open = false;
            lane.open_group = no_group;
            return {};
        }));
    return handle;
}

}  // namespace canopy
