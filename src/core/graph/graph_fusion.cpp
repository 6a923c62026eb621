// SPDX-License-Identifier: Apache-2.0
// Finds sets of kernels to fuse and makes their launches.
#include "core/graph/graph_fusion.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/fusion/fusion.h"
#include "core/graph/graph_prepare.h"
#include "core/kernel/kernel.h"
#include "core/process/builtin_kernels.h"

namespace canopy {

// ---- sets ----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t largest_alignment = 64;

const GraphTask& task_at(const Graph& graph, GraphPlace place) CANOPY_REQUIRES(*graph.mutex) {
    return graph.lanes[place.lane].tasks[place.position];
}

std::uint32_t alignment_of(const KernelInfo& info) {
    std::uint32_t alignment = 8;
    for (const ParameterInfo& parameter : info.parameters) alignment = std::max(alignment, parameter.alignment);
    return alignment;
}

// True if a command can be a step: a plain launch whose arguments the graph holds.
bool can_be_step(const Command& command) {
    if (command.opcode != Opcode::launch || builtin_of(command) != Builtin::none) return false;
    const LaunchWork& work = command.launch;
    const KernelInfo& info = *work.kernel->info;
    return !work.arguments_in_place() && !work.batch && !info.batch && work.block_offset == 0 && !info.simt &&
           !info.list && alignment_of(info) <= largest_alignment && !work.kernel->fused;
}

bool fusible(const GraphTask& task) { return !task.disabled && task.group == no_group && can_be_step(task.command); }

// Tasks without an effect that only have a place and edges. Disabled tasks do not count: they may be enabled again.
bool passes(const GraphTask& task) {
    if (task.role == EventRole::edge) return true;
    return task.command.opcode == Opcode::nothing && task.role == EventRole::none && task.type == TaskType::other &&
           !task.disabled;
}

// The tasks of a graph in recording order, with the direct predecessors of each.
class TaskOrder {
public:
    explicit TaskOrder(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
        for (std::uint32_t lane = 0; lane < graph.lanes.size(); ++lane) {
            offsets_.push_back(static_cast<std::uint32_t>(places_.size()));
            for (const GraphTask& task : graph.lanes[lane].tasks) {
                places_.push_back({lane, static_cast<std::uint32_t>(places_.size() - offsets_.back())});
                tasks_.push_back(&task);
            }
        }
        before_.resize(places_.size());
        for (std::uint32_t node = 0; node < places_.size(); ++node)
            if (places_[node].position != 0) before_[node].push_back(node - 1);
        for (const GraphEdge& edge : graph.edges) before_[node_of(edge.after)].push_back(node_of(edge.before));
        for (std::uint32_t node = 0; node < places_.size(); ++node) sequence_.push_back(node);
        std::sort(sequence_.begin(), sequence_.end(), [&](std::uint32_t left, std::uint32_t right) {
            return tasks_[left]->sequence < tasks_[right]->sequence;
        });
    }
    [[nodiscard]] std::uint32_t node_of(GraphPlace place) const { return offsets_[place.lane] + place.position; }
    [[nodiscard]] GraphPlace place(std::uint32_t node) const { return places_[node]; }
    [[nodiscard]] const GraphTask& task(std::uint32_t node) const { return *tasks_[node]; }
    [[nodiscard]] const std::vector<std::uint32_t>& before(std::uint32_t node) const { return before_[node]; }
    [[nodiscard]] const std::vector<std::uint32_t>& in_sequence() const { return sequence_; }
    [[nodiscard]] std::size_t size() const { return places_.size(); }

private:
    std::vector<const GraphTask*> tasks_;
    std::vector<std::uint32_t> offsets_;
    std::vector<GraphPlace> places_;
    std::vector<std::vector<std::uint32_t>> before_;
    std::vector<std::uint32_t> sequence_;
};

// Tasks that may be fused with each other: those of one scope and, without STREAM_FUSION, of one lane.
struct Family {
    std::uint32_t scope = no_scope;
    std::uint32_t lane = 0;
    bool any_lane = false;
    [[nodiscard]] bool has(const GraphTask& task, GraphPlace place) const {
        return task.scope == scope && task.set == no_set && (any_lane || place.lane == lane) && fusible(task);
    }
};

using NodeSet = std::vector<std::uint32_t>;

// Finds the sets of a family in one pass over the graph. A task joins the open set unless a task outside the set is
// ordered in between; it then starts the next set.
std::vector<NodeSet> find_sets(const TaskOrder& order, const Family& family) {
    std::vector<NodeSet> sets(1);
    std::vector<bool> member(order.size()), reached(order.size()), barred(order.size());
    const auto close = [&] {
        if (sets.back().empty()) return;
        sets.emplace_back();
        std::fill(member.begin(), member.end(), false);
        std::fill(reached.begin(), reached.end(), false);
        std::fill(barred.begin(), barred.end(), false);
    };
    for (const std::uint32_t node : order.in_sequence()) {
        const GraphTask& task = order.task(node);
        const GraphPlace place = order.place(node);
        bool after_set = false, after_barred = false, joined = false;
        for (const std::uint32_t before : order.before(node)) {
            after_set = after_set || member[before] || reached[before];
            after_barred = after_barred || barred[before];
            joined = joined || order.place(before).lane != place.lane;
        }
        if (family.has(task, place)) {
            if (after_barred || sets.back().size() == most_fused_tasks) close();
            sets.back().push_back(node);
            member[node] = true;
            continue;
        }
        reached[node] = after_set;
        barred[node] = after_barred || (after_set && !passes(task));
        // A wait for another stream in the middle of the set would delay the start of the whole set.
        if (!family.any_lane && place.lane == family.lane && joined) close();
    }
    std::erase_if(sets, [](const NodeSet& set) { return set.size() < 2; });
    return sets;
}

// Predecessors of the members of a set, looking through tasks that do nothing: other members, and tasks outside.
struct SetOrder {
    std::vector<std::vector<std::uint32_t>> after;  // per member: which members
    std::vector<std::uint32_t> outside;
};

SetOrder order_of(const TaskOrder& order, const NodeSet& set) {
    SetOrder found;
    found.after.resize(set.size());
    for (std::size_t index = 0; index < set.size(); ++index) {
        std::vector<std::uint32_t> waiting = order.before(set[index]);
        std::vector<bool> seen(order.size());
        while (!waiting.empty()) {
            const std::uint32_t node = waiting.back();
            waiting.pop_back();
            if (seen[node]) continue;
            seen[node] = true;
            if (const auto known = std::find(set.begin(), set.end(), node); known != set.end())
                found.after[index].push_back(static_cast<std::uint32_t>(known - set.begin()));
            else if (passes(order.task(node)))
                waiting.insert(waiting.end(), order.before(node).begin(), order.before(node).end());
            else
                found.outside.push_back(node);
        }
        std::sort(found.after[index].begin(), found.after[index].end());
    }
    std::sort(found.outside.begin(), found.outside.end());
    found.outside.erase(std::unique(found.outside.begin(), found.outside.end()), found.outside.end());
    return found;
}

// True if the graph is still acyclic when every set is one task.
bool has_order(const TaskOrder& order, const std::vector<NodeSet>& sets) {
    std::vector<std::uint32_t> head(order.size());
    for (std::uint32_t node = 0; node < order.size(); ++node) head[node] = node;
    for (const NodeSet& set : sets)
        for (const std::uint32_t node : set) head[node] = set.front();
    std::vector<std::uint32_t> missing(order.size());
    std::vector<std::vector<std::uint32_t>> next(order.size());
    const auto link = [&](std::uint32_t before, std::uint32_t after) {
        if (head[before] == after) return;
        next[head[before]].push_back(after);
        ++missing[after];
    };
    std::vector<bool> member(order.size());
    for (const NodeSet& set : sets) {
        for (const std::uint32_t node : set) member[node] = true;
        for (const std::uint32_t before : order_of(order, set).outside) link(before, set.front());
    }
    for (std::uint32_t node = 0; node < order.size(); ++node)
        if (!member[node])
            for (const std::uint32_t before : order.before(node)) link(before, node);
    std::vector<std::uint32_t> ready;
    std::size_t done = 0;
    for (std::uint32_t node = 0; node < order.size(); ++node) {
        if (head[node] != node) ++done;
        if (head[node] == node && missing[node] == 0) ready.push_back(node);
    }
    while (!ready.empty()) {
        const std::uint32_t node = ready.back();
        ready.pop_back();
        ++done;
        for (const std::uint32_t after : next[node])
            if (--missing[after] == 0) ready.push_back(after);
    }
    return done == order.size();
}

// ---- launches ------------------------------------------------------------------------------------------------------

// The module of a member's kernel: from its binary, or kept by the graph if the binary was unloaded.
std::shared_ptr<Module> module_of(const Graph& graph, const GraphTask& task) CANOPY_REQUIRES(*graph.mutex) {
    const std::string& name = task.command.launch.kernel->info->name;
    const auto holds = [&](const std::shared_ptr<Module>& module) {
        return module && module->kernel(name) == task.command.launch.kernel;
    };
    Runtime& runtime = Runtime::instance();
    if (const Pin<Function> function = runtime.functions.pin(task.function))
        if (const Pin<Binary> binary = runtime.binaries.pin(function->binary)) {
            MutexLock guard(binary->mutex);
            if (holds(binary->modules[graph.record->index])) return binary->modules[graph.record->index];
        }
    for (const auto& module : graph.modules)
        if (holds(module)) return module;
    return nullptr;
}

// Appends a member's argument block to the set's; returns its first slot.
std::uint32_t append_arguments(FusedSet& set, const LaunchWork& work) {
    const std::size_t alignment = alignment_of(*work.kernel->info);
    const std::size_t begin = (set.arguments.size() + alignment - 1) / alignment * alignment;
    set.arguments.resize(begin + (work.arguments_size + 7) / 8 * 8);
    if (work.arguments_size != 0) std::memcpy(set.arguments.data() + begin, work.host_arguments(), work.arguments_size);
    for (std::uint16_t index = 0; index < work.placeholder_count; ++index)
        set.placeholders.push_back({work.placeholders[index].address_offset + static_cast<std::uint32_t>(begin),
                                    work.placeholders[index].data_offset + static_cast<std::uint32_t>(begin)});
    return static_cast<std::uint32_t>(begin / 8);
}

// Returns the slot of the address; the slot of the number, 0, follows it.
std::uint32_t append_profile(FusedSet& set) {
    const std::size_t begin = set.arguments.size();
    set.arguments.resize(begin + 16);
    std::memcpy(set.arguments.data() + begin, &set.profile, sizeof(set.profile));
    return static_cast<std::uint32_t>(begin / 8);
}

ListStep step_of(const Graph& graph, GraphPlace place, FusedSet& set, std::shared_ptr<Module>& module)
    CANOPY_REQUIRES(*graph.mutex) {
    const GraphTask& task = task_at(graph, place);
    const LaunchWork& work = task.command.launch;
    module = module_of(graph, task);
    ListStep step;
    step.kernel = {0, work.kernel->info->name, work.kernel, module.get()};
    step.blocks = work.blocks;
    step.dynamic_size = work.dynamic_size;
    step.timeout = work.timeout;
    step.stream = graph.lanes[place.lane].stream_id;
    step.slot = append_arguments(set, work);
    step.slots = (work.arguments_size + 7) / 8;
    return step;
}

// Disabled members get no step; their successors inherit their predecessors.
void set_after(std::vector<ListStep>& steps, const std::vector<std::vector<std::uint32_t>>& after,
               const std::vector<std::uint32_t>& step_of_member) {
    std::vector<std::vector<std::uint32_t>> resolved(after.size());
    for (std::size_t member = 0; member < after.size(); ++member) {
        for (const std::uint32_t before : after[member]) {
            if (step_of_member[before] != no_set)
                resolved[member].push_back(step_of_member[before]);
            else
                resolved[member].insert(resolved[member].end(), resolved[before].begin(), resolved[before].end());
        }
        std::sort(resolved[member].begin(), resolved[member].end());
        resolved[member].erase(std::unique(resolved[member].begin(), resolved[member].end()), resolved[member].end());
        if (step_of_member[member] != no_set) steps[step_of_member[member]].after = resolved[member];
    }
}

KernelInfo info_of(const FusedList& list) {
    KernelInfo info;
    info.name = list.name;
    info.arguments_size = list.slots * 8;
    bool cube = false, vector = false;
    for (const ListStep& step : list.steps) {
        const CoreType core = step.kernel.kernel->info->core;
        cube = cube || core == CoreType::cube || core == CoreType::mix;
        vector = vector || core != CoreType::cube;
    }
    info.core = cube ? (vector ? CoreType::mix : CoreType::cube) : CoreType::vector;
    info.cube_ratio = cube ? 1 : 0;
    info.vector_ratio = vector ? 1 : 0;
    return info;
}

// Makes the launch of a set from its current members.
Status make_launch(Graph& graph, const TaskOrder& order, FusedSet& set) CANOPY_REQUIRES(*graph.mutex) {
    NodeSet nodes;
    for (const GraphPlace place : set.members) nodes.push_back(order.node_of(place));
    FusedList list;
    list.name = set.name;
    if (set.sync_all) list.options.emplace("debug-sync-all", "1");
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<std::uint32_t> step_of_member(set.members.size(), no_set);
    set.arguments.clear();
    set.placeholders.clear();
    for (std::size_t member = 0; member < set.members.size(); ++member) {
        if (task_at(graph, set.members[member]).disabled) continue;
        step_of_member[member] = static_cast<std::uint32_t>(list.steps.size());
        list.steps.push_back(step_of(graph, set.members[member], set, modules.emplace_back()));
        list.steps.back().number = static_cast<std::uint32_t>(member);
        list.blocks = std::max(list.blocks, list.steps.back().blocks);
    }
    set.launch = Command(Opcode::nothing);
    set.launch.task = task_at(graph, set.place).command.task;
    set.fusion.reset();
    if (list.steps.empty()) return {};
    set_after(list.steps, order_of(order, nodes).after, step_of_member);
    if (set.arguments.empty()) set.arguments.resize(8);
    if (set.profile) list.profile_slot = append_profile(set);
    list.slots = static_cast<std::uint32_t>(set.arguments.size() / 8);
    KernelInfo info = info_of(list);
    const std::uint32_t blocks = list.blocks;
    auto fusion = std::make_shared<Fusion>(std::move(list), *graph.device, std::move(info), nullptr);
    fusion->modules = std::move(modules);
    Result<const Kernel*> kernel = fusion->choose_now(set.arguments, !set.placeholders.empty());
    if (!kernel.ok()) return kernel.status();
    set.launch.opcode = Opcode::launch;
    set.launch.launch = {};
    LaunchWork& work = set.launch.launch;
    work.kernel = *kernel;
    work.set_arguments(set.arguments.data());
    work.arguments_size = static_cast<std::uint32_t>(set.arguments.size());
    work.placeholders = set.placeholders.data();
    work.placeholder_count = static_cast<std::uint16_t>(set.placeholders.size());
    work.blocks = blocks;
    if (!graph.fusions) graph.fusions = std::make_shared<std::vector<std::shared_ptr<Fusion>>>();
    graph.fusions->push_back(fusion);
    set.fusion = std::move(fusion);
    return {};
}

// Extra edges for replays: the launch waits for everything any member waits for, and members in other lanes, which now
// do nothing, come after the launch.
void set_edges(const TaskOrder& order, const NodeSet& nodes, FusedSet& set) {
    for (const std::uint32_t before : order_of(order, nodes).outside) {
        const GraphPlace place = order.place(before);
        if (place.lane != set.place.lane) set.edges.push_back({place, set.place});
    }
    std::vector<std::uint32_t> lanes = {set.place.lane};
    for (const GraphPlace member : set.members) {
        if (std::find(lanes.begin(), lanes.end(), member.lane) != lanes.end()) continue;
        lanes.push_back(member.lane);
        set.edges.push_back({set.place, member});
    }
}

Status check_graph(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.state != GraphState::ready)
        return fail(code::model_update, "{} cannot be optimised: it is not complete", label_of(graph));
    if (graph.flow)
        return fail(code::param_invalid, "{} was built from streams; only captured graphs can be optimised",
                    label_of(graph));
    for (const RecordedLane& lane : graph.lanes)
        if (lane.open_scope != no_scope)
            return fail(code::param_invalid, "a scope of stream {} in {} was opened and not closed", lane.stream_id,
                        label_of(graph));
    return {};
}

std::vector<Family> families_of(const Graph& graph, const FuseOptions& options, bool scoped)
    CANOPY_REQUIRES(*graph.mutex) {
    std::vector<std::uint32_t> scopes;
    if (!scoped) scopes.push_back(no_scope);
    for (std::uint32_t scope = 0; scope < graph.scopes.size(); ++scope) scopes.push_back(scope);
    std::vector<Family> families;
    for (const std::uint32_t scope : scopes) {
        if (options.streams) {
            families.push_back({scope, 0, true});
            continue;
        }
        for (std::uint32_t lane = 0; lane < graph.lanes.size(); ++lane) families.push_back({scope, lane, false});
    }
    return families;
}

std::string name_of_set(const Graph& graph, std::uint32_t scope) CANOPY_REQUIRES(*graph.mutex) {
    const std::string name = scope < graph.scopes.size() ? graph.scopes[scope] : fmt::format("graph_{}", graph.id);
    const std::string numbered = fmt::format("{}_", name);
    std::size_t same = 0;
    for (const FusedSet& set : graph.sets) same += set.name == name || set.name.starts_with(numbered) ? 1 : 0;
    return same == 0 ? name : fmt::format("{}_{}", name, same);
}

// Keeps the old executable if a new one cannot be made.
Status prepare_again(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    Executable* earlier = nullptr;
    {
        SpinGuard guard(graph.replay_lock);
        earlier = std::exchange(graph.executable, nullptr);
    }
    const Status status = prepare_graph(graph);
    if (status.ok()) {
        if (earlier) graph.earlier.push_back(earlier);
        return status;
    }
    SpinGuard guard(graph.replay_lock);
    graph.executable = earlier;
    return status;
}

// Removes sets that were not completed.
void drop_sets(Graph& graph, std::size_t keep) CANOPY_REQUIRES(*graph.mutex) {
    while (graph.sets.size() > keep) {
        for (const GraphPlace place : graph.sets.back().members)
            graph.lanes[place.lane].tasks[place.position].set = no_set;
        graph.sets.pop_back();
    }
}

Status add_sets(Graph& graph, const TaskOrder& order, const std::vector<std::pair<std::uint32_t, NodeSet>>& found,
                bool sync_all) CANOPY_REQUIRES(*graph.mutex) {
    for (const auto& [scope, nodes] : found) {
        FusedSet set;
        set.name = name_of_set(graph, scope);
        set.sync_all = sync_all;
        set.place = order.place(nodes.front());
        for (const std::uint32_t node : nodes) set.members.push_back(order.place(node));
        set_edges(order, nodes, set);
        CANOPY_TRY(make_launch(graph, order, set));
        for (const GraphPlace place : set.members)
            graph.lanes[place.lane].tasks[place.position].set = static_cast<std::uint32_t>(graph.sets.size());
        graph.sets.push_back(std::move(set));
    }
    return {};
}

}  // namespace

namespace {

// Calls body(Graph&) for each sub-graph of the graph's conditions, locked, until one call fails.
template <class Body>
Status for_each_body(const Graph& graph, Body&& body) CANOPY_REQUIRES(*graph.mutex) {
    for (const GraphCondition& condition : graph.conditions) {
        for (const Handle handle : condition.bodies) {
            const Pin<Graph> found = Runtime::instance().graphs.pin(handle);
            if (!found) continue;
            Graph& inner = *found;
            MutexLock lock(*inner.mutex);
            CANOPY_TRY(body.operator()(inner));
        }
    }
    return {};
}

Status check_whole(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    CANOPY_TRY(check_graph(graph));
    if (!graph.staged.empty())
        return fail(code::model_update, "{} has pending changes: call aclmdlRIUpdate first", label_of(graph));
    return for_each_body(graph, [](Graph& body) CANOPY_REQUIRES(*body.mutex) { return check_whole(body); });
}

bool has_scopes(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    bool found = graph.scope_count != 0;
    for_each_body(graph, [&](Graph& body) CANOPY_REQUIRES(*body.mutex) -> Status {
        found = found || has_scopes(body);
        return {};
    }).ignore();
    return found;
}

// Sub-graphs first: preparing a graph uses them as they are then. Returns true if something was fused.
Result<bool> optimise(Graph& graph, const FuseOptions& options, bool scoped) CANOPY_REQUIRES(*graph.mutex) {
    bool changed = false;
    CANOPY_TRY(for_each_body(graph, [&](Graph& body) CANOPY_REQUIRES(*body.mutex) -> Status {
        Result<bool> inside = optimise(body, options, scoped);
        changed = changed || (inside.ok() && *inside);
        return inside.status();
    }));
    const TaskOrder order(graph);
    std::vector<NodeSet> all;
    for (const FusedSet& set : graph.sets) {
        NodeSet& nodes = all.emplace_back();
        for (const GraphPlace place : set.members) nodes.push_back(order.node_of(place));
    }
    std::vector<std::pair<std::uint32_t, NodeSet>> found;
    for (const Family& family : families_of(graph, options, scoped)) {
        for (NodeSet& set : find_sets(order, family)) {
            all.push_back(set);
            if (has_order(order, all))
                found.emplace_back(family.scope, std::move(set));
            else
                all.pop_back();
        }
    }
    if (found.empty() && !changed) return false;
    const std::size_t before = graph.sets.size();
    Status status = add_sets(graph, order, found, options.sync_all);
    if (status.ok()) status = prepare_again(graph);
    if (status.ok()) return true;
    drop_sets(graph, before);
    return status;
}

}  // namespace

Status optimise_graph(Graph& graph, const FuseOptions& options) {
    MutexLock lock(*graph.mutex);
    CANOPY_TRY(check_whole(graph));
    if (Runtime::instance().settings().fusion == FusionLevel::off) return {};
    return optimise(graph, options, has_scopes(graph)).status();
}

// ---- replays -------------------------------------------------------------------------------------------------------

Status check_fused_change(const GraphTask& task, const Command& command) {
    if (task.set == no_set || can_be_step(command)) return {};
    return fail(code::not_supported,
                "task {} is part of a fused launch: a launch with arguments in device memory, with threads, of a fused "
                "kernel or on all cores at once cannot replace it",
                task.sequence);
}

Result<GraphChange> remake_set(Graph& graph, std::uint32_t number) CANOPY_REQUIRES(*graph.mutex) {
    FusedSet& set = graph.sets[number];
    const TaskOrder order(graph);
    CANOPY_TRY(make_launch(graph, order, set));
    return GraphChange{set.place, set.launch};
}

namespace {

// Visits the fused sets with a launch, those of the graph before those of its sub-graphs. Calls use(Graph&, index)
// until it returns true. The caller holds the graph's mutex.
template <class Use>
bool for_each_set(Graph& graph, Use&& use) CANOPY_REQUIRES(*graph.mutex) {
    for (std::uint32_t set = 0; set < graph.sets.size(); ++set)
        if (graph.sets[set].fusion && use.operator()(graph, set)) return true;
    bool done = false;
    for_each_body(graph, [&](Graph& body) CANOPY_REQUIRES(*body.mutex) -> Status {
        done = done || for_each_set(body, use);
        return {};
    }).ignore();
    return done;
}

// Sets or clears the profiling buffer of a set's launch.
Status profile_set(Graph& graph, std::uint32_t number, DeviceAddress buffer) CANOPY_REQUIRES(*graph.mutex) {
    FusedSet& set = graph.sets[number];
    const DeviceAddress earlier = std::exchange(set.profile, buffer);
    Result<GraphChange> change = remake_set(graph, number);
    Status status = change.status();
    if (status.ok()) {
        Executable* const executable = retain_executable(graph);
        if (!executable) return fail(code::model_update, "{} is not complete", label_of(graph));
        status = change_commands(*executable, std::span(&*change, 1), ChangeTime::next_replay);
        executable->release();
    }
    if (status.ok()) return {};
    set.profile = earlier;
    Result<GraphChange> back = remake_set(graph, number);
    return back.ok() ? status : back.status();
}

}  // namespace

Status profile_fused(Graph& graph, std::uint32_t number, DeviceAddress buffer) {
    MutexLock lock(*graph.mutex);
    std::uint32_t count = 0;
    Status status;
    const bool found = for_each_set(graph, [&](Graph& owner, std::uint32_t set) CANOPY_REQUIRES(*owner.mutex) {
        if (count++ != number) return false;
        status = profile_set(owner, set, buffer);
        return true;
    });
    if (found) return status;
    return fail(code::param_invalid, "{} has {} fused launches: index {} is out of range", label_of(graph), count,
                number);
}

std::vector<std::shared_ptr<Fusion>> fusions_of(Graph& graph) {
    MutexLock lock(*graph.mutex);
    std::vector<std::shared_ptr<Fusion>> fusions;
    for_each_set(graph, [&](Graph& owner, std::uint32_t set) CANOPY_REQUIRES(*owner.mutex) {
        fusions.push_back(owner.sets[set].fusion);
        return false;
    });
    return fusions;
}

}  // namespace canopy
