// SPDX-License-Identifier: Apache-2.0
// Builds a graph from persistent streams. Such a stream never runs anything: commands submitted to it become tasks,
// first of a private graph and, once the stream is bound, of a lane of the graph being built. Lanes start each other
// and jump to labels; one task ends the replay. Ending the build resolves the labels and prepares the graph.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "core/graph/graph.h"
#include "core/graph/label.h"
#include "core/stream/recorder.h"

namespace canopy {

// The recorder of a persistent stream; lives as long as the stream.
class BuildRecorder final : public Recorder {
public:
    [[nodiscard]] RecorderKind kind() const noexcept override { return RecorderKind::build; }
    [[nodiscard]] RecorderTarget target() const noexcept override { return target_; }
    Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept override
        CANOPY_REQUIRES(stream.lock);
    Status record_event(Stream& stream, const EventCall& call) noexcept override CANOPY_REQUIRES(stream.lock);
    void launch_refused(Stream& stream, int code, const std::string& text) noexcept override
        CANOPY_REQUIRES(stream.lock);
    void stream_ended(Stream& stream) noexcept override CANOPY_REQUIRES(stream.lock);

    // True if its tasks go into a graph of the program.
    [[nodiscard]] bool bound() const noexcept { return bound_; }
    [[nodiscard]] bool bound_to(const Graph& graph) const noexcept { return bound_ && target_.graph == graph.self; }
    void bind(Handle graph, std::uint32_t lane) noexcept;
    // Detaches from the target; returns the stream's private graph if that was the target, else 0.
    Handle release() noexcept;

    // Appends one task, numbered, and calls `finish(Graph&, GraphPlace)` with the graph's mutex held.
    template <class Finish>
    Status append(Stream& stream, Command command, Finish&& finish) CANOPY_REQUIRES(stream.lock);

private:
    Result<Pin<Graph>> graph_for_tasks(Stream& stream);
    Status append_event(Stream& stream, const EventCall& call) CANOPY_REQUIRES(stream.lock);

    RecorderTarget target_;
    bool bound_ = false;
};

// The initial recorder of a stream with these flags; nullptr for ordinary streams.
Recorder* first_recorder(std::uint32_t stream_flags);

Result<Handle> begin_build();
// `starts`: with each replay; otherwise another lane starts it. Tasks the stream recorded earlier are moved to the
// graph.
Status bind_stream(Graph& graph, const void* stream, bool starts);
// Removes the stream's tasks from a graph being built; a complete graph keeps them.
Status unbind_stream(Graph& graph, const void* stream);
// A stream that represents a lane of a complete graph. Nothing can be recorded on it; it ends with the graph.
Result<Handle> create_lane_stream(const Graph& graph, std::uint32_t lane);
// The task that ends a replay; a graph has exactly one.
Status record_end(Graph& graph, const void* stream);
Status end_build(Graph& graph);
// Removes everything a persistent stream recorded.
Status clear_recorded(const void* stream);

// Control flow between the lanes of one graph. 107005 if a stream is not bound to a graph being built.
Status record_start(const void* target, const void* stream);
Status record_switch(const SwitchWork& work, const void* target, const void* stream);
Status place_label(Label& label, const void* stream);
// Jumps to one of the first `count` labels of the list; the index is read from memory.
Status record_jump(DeviceAddress index, std::uint32_t count, const LabelList& list, const void* stream);

}  // namespace canopy
