// SPDX-License-Identifier: Apache-2.0
// Replays, each one command of a stream. No allocation and no mutex unless external events are used.
#include "core/graph/graph_execute.h"

#include <algorithm>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/graph/replay_notes.h"
#include "core/process/context.h"
#include "core/stream/event.h"
#include "core/stream/recorder.h"
#include "core/stream/stream.h"
#include "profile/record.h"

namespace canopy {
namespace {

Status refuse_body(const Graph& graph) {
    return fail(code::param_invalid, "graph {} is the body of a condition and runs with the enclosing graph", graph.id);
}

Status not_ready(Graph& graph) {
    MutexLock lock(*graph.mutex);
    switch (graph.state) {
        case GraphState::capturing:
            return fail(code::model_captured, "{} is still being captured", label_of(graph));
        case GraphState::building:
            return fail(code::param_invalid, "{} is still being built: aclmdlRIBuildEnd has not been called",
                        label_of(graph));
        case GraphState::empty:
        case GraphState::filled:
            return refuse_body(graph);
        case GraphState::ended:
            return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
        default:
            return fail(code::param_invalid, "{} cannot run: it was not completed, or its context has ended",
                        label_of(graph));
    }
}

Status refuse_recorder(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    CANOPY_TRY(check_locked_stream_free(stream));
    if (stream.recorder->kind() == RecorderKind::build)
        return fail(code::stream_model, "stream {} is persistent: a graph is executed on an ordinary stream",
                    stream.id);
    return fail(code::task_group_status, "stream {} collects an update of a task group", stream.id);
}

// Submits the replay as the stream's next command.
Status submit_replay(Graph& graph, LockedStream& stream, std::span<const FenceBinding> bindings)
    CANOPY_REQUIRES(stream->lock) {
    {
        SpinGuard guard(graph.replay_lock);
        if (graph.executable) [[likely]] {
            Command command(Opcode::replay);
            command.replay = {graph.executable, bindings.data(), static_cast<std::uint32_t>(bindings.size()), 0};
            if (replays_are_noted.load(std::memory_order_relaxed)) [[unlikely]]
                note_replay(profile::link_of(static_cast<std::uint32_t>(stream->id), stream->next_task), graph.id);
            return stream.submit(command);
        }
    }
    return not_ready(graph);
}

// The events a replay is bound to, all locked. No other code holds more than one event's lock.
class BoundEvents {
public:
    static Result<std::unique_ptr<BoundEvents>> lock(const std::vector<BoundEvent>& wanted) {
        auto bound = std::make_unique<BoundEvents>();
        for (const BoundEvent& one : wanted) {
            Result<Pin<Event>> event = find_event(opaque_of(one.event));
            if (!event.ok()) return event.status();
            bound->order_.push_back(event->get());
            bound->pins_.push_back(std::move(*event));
        }
        bound->lock_all();
        return bound;
    }
    BoundEvents() = default;
    ~BoundEvents() { unlock_all(); }
    BoundEvents(const BoundEvents&) = delete;
    BoundEvents& operator=(const BoundEvents&) = delete;

    // The fence and value of each task in the list, in order.
    Result<std::vector<FenceBinding>> bind(const std::vector<BoundEvent>& wanted, Stream& stream);
    // The replay was not submitted: its records count as reached, so that nobody waits for them.
    void give_up(const std::vector<BoundEvent>& wanted) noexcept;
    // The replay was submitted.
    void commit(const std::vector<BoundEvent>& wanted, const Stream& stream, std::uint64_t sequence) noexcept;

private:
    // The analysis cannot name a set of locks; the functions above assert each lock where they use its event.
    void lock_all() CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        locked_ = order_;
        std::sort(locked_.begin(), locked_.end());
        locked_.erase(std::unique(locked_.begin(), locked_.end()), locked_.end());
        for (Event* event : locked_) event->lock.lock();
    }
    void unlock_all() noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
        for (Event* event : locked_) event->lock.unlock();
    }
    std::vector<Pin<Event>> pins_;
    std::vector<Event*> order_;   // one per task
    std::vector<Event*> locked_;  // without duplicates
};

Result<std::vector<FenceBinding>> BoundEvents::bind(const std::vector<BoundEvent>& wanted, Stream& stream) {
    std::vector<FenceBinding> bindings;
    bindings.reserve(wanted.size());
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        Event& event = *order_[index];
        event.assert_locked();
        if (wanted[index].disabled) {
            bindings.push_back({event.fence, 0});
            continue;
        }
        if (!wanted[index].record) {
            const bool passes = !event.recorded && event.kind == EventKind::extended;
            const std::uint64_t value = event.recorded ? event.records : event.records + 1;
            bindings.push_back({event.fence, passes ? 0 : value});
            continue;
        }
        CANOPY_TRY(begin_record(event, stream));
        bindings.push_back({event.fence, ++event.records});
        event.recorded = true;
        event.stream = stream.self;
    }
    return bindings;
}

void BoundEvents::give_up(const std::vector<BoundEvent>& wanted) noexcept {
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        if (!wanted[index].record) continue;
        Event& event = *order_[index];
        event.assert_locked();
        event.fence->signal(SignalMode::raise, event.records);
    }
}

void BoundEvents::commit(const std::vector<BoundEvent>& wanted, const Stream& stream, std::uint64_t sequence) noexcept {
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        Event& event = *order_[index];
        event.assert_locked();
        if (wanted[index].record && event.stream == stream.self) event.sequence = sequence;
    }
}

Status submit_bound_replay(Graph& graph, LockedStream& stream) CANOPY_REQUIRES(stream->lock) {
    std::vector<BoundEvent> wanted;
    {
        MutexLock lock(*graph.mutex);
        wanted = graph.bindings;
        if (graph.state != GraphState::ready) wanted.clear();
    }
    Result<std::unique_ptr<BoundEvents>> events = BoundEvents::lock(wanted);
    if (!events.ok()) return events.status();
    Result<std::vector<FenceBinding>> bindings = (*events)->bind(wanted, *stream);
    if (!bindings.ok()) return bindings.status();
    if (const Status status = submit_replay(graph, stream, *bindings); !status.ok()) {
        (*events)->give_up(wanted);
        return status;
    }
    (*events)->commit(wanted, *stream, stream.sequence());
    return {};
}

}  // namespace

Status execute_graph(Graph& graph, const void* handle) {
    if (graph.parent != 0) [[unlikely]]
        return refuse_body(graph);
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        if (stream->recorder) [[unlikely]]
            return refuse_recorder(*stream);
        if (graph.bound.load(std::memory_order_acquire)) [[unlikely]]
            return submit_bound_replay(graph, stream);
        return submit_replay(graph, stream, {});
    });
}

namespace {

// The stream for synchronous execution.
Result<Handle> own_stream(Graph& graph) {
    {
        MutexLock lock(*graph.mutex);
        if (graph.own_stream != 0) return graph.own_stream;
    }
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    Result<Handle> fresh = create_stream(**context, {});
    if (!fresh.ok()) return fresh.status();
    Handle kept = 0;
    {
        MutexLock lock(*graph.mutex);
        if (graph.own_stream == 0 && graph.state != GraphState::ended) graph.own_stream = *fresh;
        kept = graph.own_stream;
    }
    if (kept != *fresh) destroy_stream(*fresh, DestroyMode::force).ignore();
    if (kept == 0) return not_ready(graph);
    return kept;
}

}  // namespace

Status execute_graph_now(Graph& graph, Deadline deadline) {
    Result<Handle> handle = own_stream(graph);
    if (!handle.ok()) return handle.status();
    CANOPY_TRY(execute_graph(graph, opaque_of(*handle)));
    Result<Pin<Stream>> stream = find_stream(opaque_of(*handle), false);
    if (!stream.ok()) return stream.status();
    return synchronise_stream(**stream, deadline);
}

Status abort_graph(Graph& graph) {
    Executable* const executable = retain_executable(graph);
    if (!executable) return not_ready(graph);
    executable->abort();
    executable->release();
    return {};
}

}  // namespace canopy
