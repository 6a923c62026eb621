// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

namespace canopy {
namespace {

const char* state_name(GraphState state) {
    switch (state) {
        case GraphState::capturing:
            return "being captured";
        case GraphState::building:
            return "being built";
        case GraphState::filled:
            return "not prepared";
        case GraphState::ready:
            return "ready";
        default:
            return "not usable";
    }
}

bool same_place(GraphPlace left, GraphPlace right) {
    return left.lane == right.lane && left.position == right.position;
}

std::string when_chosen(const GraphCondition& condition, std::size_t body) {
    switch (condition.kind) {
        case ConditionKind::branch:
            return body == 0 ? "if the word is not 0" : "if the word is 0";
        case ConditionKind::loop:
            return "while the word is not 0";
        case ConditionKind::choice:
            return fmt::format("if the word is {}", body);
    }
    return {};
}

struct Body {
    Handle graph = 0;
    GraphPlace condition{};
    std::string runs_when;
};

bool exists(const GraphView& view, GraphPlace place) {
    return place.lane < view.lanes.size() && place.position < view.lanes[place.lane].tasks.size();
}

// Control flow edges of a task in a built graph.
void add_control(GraphView& view, GraphPlace from, const Command& command) {
    const auto add = [&](GraphPlace to, std::string label, bool orders) {
        view.edges.push_back({from, to, std::move(label), orders});
    };
    if (command.opcode == Opcode::start_lane) add({command.start.lane, 0}, "starts", true);
    if (command.opcode == Opcode::switch_lane) add({command.switch_lane.lane, 0}, "if it holds", true);
    if (command.opcode == Opcode::jump)
        for (std::uint32_t i = 0; i < command.jump.count; ++i)
            add(command.jump.targets[i], fmt::format("if {}", i), false);
}

// Adds the details of fusion.
void describe_fused(const Graph& graph, GraphPlace place, const GraphTask& task, TaskView& view)
    CANOPY_REQUIRES(*graph.mutex) {
    const FusedSet& set = graph.sets[task.set];
    std::size_t step = 0;
    Json steps = Json::array();
    for (std::size_t member = 0; member < set.members.size(); ++member) {
        const GraphPlace at = set.members[member];
        if (same_place(at, place)) step = member;
        const GraphTask& each = graph.lanes[at.lane].tasks[at.position];
        if (!each.disabled && each.command.opcode == Opcode::launch)
            steps.push_back({{"step", member},
                             {"kernel", each.command.launch.kernel->info->name},
                             {"blocks", each.command.launch.blocks}});
    }
    view.details["fused"] = {{"name", set.name}, {"step", step}};
    if (!same_place(place, set.place)) return;
    view.kind = "fused kernel";
    view.label = set.name;
    view.details["kind"] = view.kind;
    view.details["fused"]["steps"] = std::move(steps);
}

LaneView view_lane(const Graph& graph, const RecordedLane& lane, std::uint32_t number, ViewDetail detail,
                   GraphView& view) CANOPY_REQUIRES(*graph.mutex) {
    LaneView copy;
    copy.stream = lane.stream_id;
    copy.starts = lane.starts;
    copy.tasks.reserve(lane.tasks.size());
    for (const GraphTask& task : lane.tasks) {
        const GraphPlace place{number, static_cast<std::uint32_t>(copy.tasks.size())};
        add_control(view, place, task.command);
        copy.tasks.push_back(view_task(task, detail));
        if (task.set != no_set) describe_fused(graph, place, task, copy.tasks.back());
        Json& details = copy.tasks.back().details;
        details["lane"] = place.lane;
        details["position"] = place.position;
    }
    return copy;
}

// In a built graph, a task without an effect marks a label.
void name_labels(GraphView& view) {
    for (LaneView& lane : view.lanes)
        for (TaskView& task : lane.tasks)
            if (task.kind == "nothing") task.details["kind"] = task.kind = task.label = "label";
}

std::string label_of_edge(const RecordedLane& lane, GraphPlace before) {
    const GraphTask& task = lane.tasks[before.position];
    return task.event != 0 ? fmt::format("event {}", slot_of(task.event)) : std::string("order");
}

std::vector<Body> bodies_of(const Graph& graph, GraphView& view) CANOPY_REQUIRES(*graph.mutex) {
    std::vector<Body> bodies;
    for (const GraphCondition& condition : graph.conditions) {
        if (!condition.used || !exists(view, condition.place)) continue;
        TaskView& task = view.lanes[condition.place.lane].tasks[condition.place.position];
        describe_condition(condition, task);
        for (std::size_t i = 0; i < condition.bodies.size(); ++i)
            bodies.push_back({condition.bodies[i], condition.place, when_chosen(condition, i)});
    }
    return bodies;
}

// The caller holds the graph's mutex. Returns the sub-graphs.
std::vector<Body> copy_graph(const Graph& graph, ViewDetail detail, GraphView& view) CANOPY_REQUIRES(*graph.mutex) {
    view.id = graph.id;
    view.name = graph.name;
    view.state = state_name(graph.state);
    for (const RecordedLane& lane : graph.lanes)
        view.lanes.push_back(view_lane(graph, lane, static_cast<std::uint32_t>(view.lanes.size()), detail, view));
    if (graph.flow) name_labels(view);
    std::erase_if(view.edges, [&](const EdgeView& edge) { return !exists(view, edge.after); });
    for (const GraphEdge& edge : graph.edges)
        if (exists(view, edge.before) && exists(view, edge.after) && !same_place(edge.before, edge.after))
            view.edges.push_back({edge.before, edge.after, label_of_edge(graph.lanes[edge.before.lane], edge.before)});
    return bodies_of(graph, view);
}

void collect(Graph& graph, ViewDetail detail, GraphView view, std::vector<GraphView>& views) {
    std::vector<Body> bodies;
    {
        MutexLock lock(*graph.mutex);
        bodies = copy_graph(graph, detail, view);
    }
    const std::size_t index = views.size();
    views.push_back(std::move(view));
    for (Body& body : bodies) {
        const Pin<Graph> found = Runtime::instance().graphs.pin(body.graph);
        if (!found) continue;  // destroyed meanwhile
        GraphView inner;
        inner.parent = index;
        inner.condition = body.condition;
        inner.runs_when = std::move(body.runs_when);
        collect(*found, detail, std::move(inner), views);
    }
}

// The earliest start of each task: after its predecessor in the lane and after every task with an edge to it.
class Timetable {
public:
    explicit Timetable(GraphView& view) : view_(view) {
        for (LaneView& lane : view.lanes) {
            offsets_.push_back(tasks_.size());
            for (TaskView& task : lane.tasks) tasks_.push_back(&task);
        }
        missing_.assign(tasks_.size(), 0);
        next_.resize(tasks_.size());
        for (std::size_t lane = 0; lane < view.lanes.size(); ++lane)
            for (std::size_t i = 1; i < view.lanes[lane].tasks.size(); ++i)
                link(offsets_[lane] + i - 1, offsets_[lane] + i);
        for (const EdgeView& edge : view.edges)
            if (edge.orders) link(index_of(edge.before), index_of(edge.after));
    }

    void fill() {
        std::vector<bool> done(tasks_.size(), false);
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            if (missing_[i] == 0) ready.push_back(i);
        for (std::size_t first = 0;;) {
            // Lanes that start each other in a cycle: begin with the first remaining task.
            while (ready.empty() && first < tasks_.size() && done[first]) ++first;
            if (ready.empty() && first == tasks_.size()) break;
            if (ready.empty()) ready.push_back(first);
            const std::size_t task = ready.back();
            ready.pop_back();
            if (done[task]) continue;
            done[task] = true;
            finish(task, done, ready);
        }
    }

private:
    std::size_t index_of(GraphPlace place) const { return offsets_[place.lane] + place.position; }
    void link(std::size_t before, std::size_t after) {
        next_[before].push_back(after);
        ++missing_[after];
    }
    void finish(std::size_t task, const std::vector<bool>& done, std::vector<std::size_t>& ready) {
        const std::uint64_t end = tasks_[task]->start + tasks_[task]->slots;
        view_.slots = std::max(view_.slots, end);
        for (const std::size_t after : next_[task]) {
            if (done[after]) continue;
            tasks_[after]->start = std::max(tasks_[after]->start, end);
            if (--missing_[after] == 0) ready.push_back(after);
        }
    }

    GraphView& view_;
    std::vector<std::size_t> offsets_;
    std::vector<TaskView*> tasks_;
    std::vector<std::size_t> missing_;
    std::vector<std::vector<std::size_t>> next_;
};

TaskView& condition_of(std::vector<GraphView>& views, const GraphView& view) {
    return views[view.parent].lanes[view.condition.lane].tasks[view.condition.position];
}

// Sub-graphs follow their parents: lengths are computed back to front, starts front to back.
void set_times(std::vector<GraphView>& views) {
    for (std::size_t i = views.size(); i-- > 0;) {
        Timetable(views[i]).fill();
        if (views[i].parent == GraphView::no_parent) continue;
        TaskView& condition = condition_of(views, views[i]);
        condition.slots = std::max(condition.slots, views[i].slots);
    }
    for (GraphView& view : views) {
        if (view.parent == GraphView::no_parent) continue;
        const std::uint64_t begin = condition_of(views, view).start;
        for (LaneView& lane : view.lanes)
            for (TaskView& task : lane.tasks) task.start += begin;
    }
}

}  // namespace

std::string title_of(const GraphView& view) {
    return view.name.empty() ? fmt::format("graph {}", view.id) : fmt::format("graph {} \"{}\"", view.id, view.name);
}

std::vector<GraphView> view_graph(Graph& graph, ViewDetail detail) {
    std::vector<GraphView> views;
    collect(graph, detail, {}, views);
    set_times(views);
    return views;
}

}  // namespace canopy
