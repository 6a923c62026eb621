// SPDX-License-Identifier: Apache-2.0
#include "check/host/host_model.h"

#include <algorithm>

namespace canopy::check {
namespace {

constexpr std::uint32_t host_agent = 0;       // its index in clocks
constexpr std::size_t most_raised = 64;       // values of a fence whose clocks are kept apart
constexpr std::uint64_t most_rows = 1 << 16;  // of a copy that are looked at
constexpr std::size_t most_found = 64;        // told for one change
constexpr std::size_t backlog_check = 256;    // commands after which streams are asked how far they are
constexpr std::size_t most_agents = 256;      // from here on, lanes do not keep their places between replays
constexpr std::size_t first_prune = 4096;     // pieces of memory

}  // namespace

// ---- agents --------------------------------------------------------------------------------------------------------

HostAgent* HostModel::add(std::uint32_t number, unsigned device, std::function<std::uint64_t()> completed) {
    std::size_t slot = 0;
    while (slot < agents_.size() && agents_[slot]) ++slot;
    if (slot == agents_.size()) {
        agents_.emplace_back();
        times_.push_back(0);
    }
    agents_[slot] = std::make_unique<Agent>();
    Agent& agent = *agents_[slot];
    agent.index = static_cast<std::uint32_t>(slot + 1);
    agent.stream = number;
    agent.device = device;
    agent.base = times_[agent.index];
    agent.clock.raise(agent.index, agent.base);
    agent.completed = std::move(completed);
    if (agent.completed) streams_[number] = &agent;
    return &agent;
}

// What it has not done will not be done.
void HostModel::remove(Agent* agent) {
    agent->done = agent->submitted;
    run();
    if (agent->replay) end_replay(*agent);
    forget(agent);
}

void HostModel::forget(Agent* agent) {
    for (auto& [address, fence] : fences_)
        std::erase_if(fence->pending, [&](const FenceModel::Pending& one) { return one.agent == agent; });
    std::erase(busy_, agent);
    times_[agent->index] = agent->base + agent->submitted;
    if (const auto found = streams_.find(agent->stream); found != streams_.end() && found->second == agent)
        streams_.erase(found);
    agents_[agent->index - 1].reset();
}

// ---- submitting ----------------------------------------------------------------------------------------------------

void HostModel::submit(Agent& agent, std::span<HostCommand> commands) {
    const bool was_idle = agent.entries.empty();
    for (HostCommand& command : commands) {
        HostEntry& entry = agent.entries.emplace_back();
        entry.command = std::move(command);
        entry.command.kernel = use_texts_.kept(entry.command.kernel);
        entry.number = ++agent.submitted;
        entry.order = ++order_;
        if (agent.host != host_) entry.host = agent.host = host_;
        if (entry.command.fence) entry.fence = fence(entry.command.fence, entry.command.initial);
        if (entry.command.kind == HostCommand::Kind::signal && entry.fence)
            entry.fence->pending.push_back({&agent, entry.number});
        for (const auto& [address, value] : entry.command.bindings) entry.bindings.push_back(fence(address));
        // Tasks of a replay are numbered as they were recorded, lane by lane.
        if (entry.command.graph)
            for (const auto& lane : entry.command.graph->lanes) order_ += lane.size();
    }
    list(agent);
    if (agent.entries.size() % backlog_check == 0) {
        ask_all();
        return run();
    }
    if (!was_idle && agent.entries.front().command.kind == HostCommand::Kind::kernel) agent.ask();
    if (busy_.size() > 1) return run();
    advance(agent);
    if (busy_.size() > 1) return run();  // it has begun a replay
    if (!agent.entries.empty()) return;
    agent.busy = false;
    busy_.clear();
}

void HostModel::run() {
    for (;;) {
        bool moved = false;
        // Streams that begin a replay add to the list.
        for (std::size_t index = 0; index < busy_.size(); ++index) moved |= advance(*busy_[index]);
        std::erase_if(busy_, [](Agent* agent) {
            if (!agent->entries.empty()) return false;
            agent->busy = false;
            return true;
        });
        if (!moved && !release_wait()) return;
    }
}

bool HostModel::advance(Agent& agent) {
    bool moved = false;
    while (!agent.entries.empty() && pass(agent, agent.entries.front())) {
        if (agent.entries.front().told) agent.last = std::move(agent.entries.front());
        agent.entries.pop_front();
        moved = true;
    }
    return moved;
}

// A wait is complete, but not in the model: a signal of a stream that the model believes to be behind, or nothing that
// it knows, has ended it. Then the waiter knows all that is known.
bool HostModel::release_wait() {
    for (Agent* agent : busy_) {
        HostEntry& entry = agent->entries.front();
        if (entry.command.kind != HostCommand::Kind::wait || entry.number > agent->done || entry.released) continue;
        if (entry.fence)
            for (const FenceModel::Pending& pending : entry.fence->pending)
                if (pending.agent->done < pending.number) {
                    pending.agent->done = pending.number;
                    return true;
                }
        entry.released = true;
        return true;
    }
    return false;
}

// ---- the commands --------------------------------------------------------------------------------------------------

bool HostModel::pass(Agent& agent, HostEntry& entry) {
    if (agent.part_of && waits_for_edges(agent, entry)) return false;
    if (entry.host) agent.clock.join(*std::exchange(entry.host, nullptr));
    agent.clock.raise(agent.index, agent.base + entry.number);
    switch (entry.command.kind) {
        case HostCommand::Kind::kernel:
            if (!pass_kernel(agent, entry)) return false;
            break;
        case HostCommand::Kind::signal:
            pass_signal(agent, entry);
            break;
        case HostCommand::Kind::wait:
            if (!pass_wait(agent, entry)) return false;
            break;
        case HostCommand::Kind::function:
            if (!pass_function(agent, entry)) return false;
            break;
        case HostCommand::Kind::replay:
            if (!pass_replay(agent, entry)) return false;
            break;
        case HostCommand::Kind::plain:
            break;
    }
    for (std::size_t index = 0; index < entry.command.use_count; ++index) {
        const CommandUse& rows = entry.command.uses[index];
        use_rows(agent, entry, rows, use_of(agent, entry, rows.kind, {}));
    }
    if (agent.part_of) note_edge(agent, entry);
    return true;
}

bool HostModel::pass_kernel(Agent& agent, HostEntry& entry) {
    if (entry.told) {
        take_ranges(agent, entry, entry.ranges);
        return true;
    }
    if (entry.number > agent.done) return false;
    const MemoryUse possible = use_of(agent, entry, UseKind::possible, {});
    for (const auto& [begin, end] : entry.command.reachable) use(agent, entry, begin, end, possible);
    return true;
}

FenceRef HostModel::fence_of(const Agent& agent, const HostEntry& entry, std::uint64_t& value) const {
    value = entry.command.value;
    if (entry.fence || !agent.part_of || value >= agent.part_of->bindings.size()) return entry.fence;
    const HostReplay& replay = *agent.part_of;
    const FenceRef bound = replay.bindings[value];
    value = replay.values[entry.command.value];
    return bound;
}

void HostModel::pass_signal(Agent& agent, HostEntry& entry) {
    std::uint64_t operand = 0;
    const FenceRef fence = fence_of(agent, entry, operand);
    if (!fence) return;
    std::erase(fence->pending, FenceModel::Pending{&agent, entry.number});
    if (entry.command.change) {
        fence->value = entry.command.change(fence->value, operand);
        if (fence->value == 0) return fence->clear();
    } else if (operand > fence->value) {
        fence->value = operand;
        fence->raised.emplace_back(operand, agent.clock);
        if (fence->raised.size() > most_raised) fence->raised.pop_front();
    }
    fence->clock.join(agent.clock);
}

bool HostModel::pass_wait(Agent& agent, HostEntry& entry) {
    std::uint64_t operand = 0;
    const FenceRef fence = fence_of(agent, entry, operand);
    if (!fence) return true;
    const auto& condition = entry.command.condition;
    if (condition ? condition(fence->value, operand) : fence->value >= operand) {
        agent.clock.join(fence->clock_at(operand));
    } else if (entry.released) {
        agent.clock.join(fence->clock);
        for (const auto& other : agents_)
            if (other) agent.clock.join(other->clock);
    } else {
        return false;
    }
    if (entry.command.clear) fence->clear();
    return true;
}

bool HostModel::pass_function(Agent& agent, const HostEntry& entry) {
    if (entry.function != HostEntry::Function::ended && entry.number > agent.done) return false;
    if (agent.part_of) join_host(agent.clock);  // nobody says when one of a graph begins
    agent.clock.join(*host_);
    return true;
}

// ---- graphs --------------------------------------------------------------------------------------------------------

void HostModel::begin_replay(Agent& agent, HostEntry& entry) {
    const GraphModel& graph = *entry.command.graph;
    agent.replay = std::make_unique<HostReplay>();
    HostReplay& replay = *agent.replay;
    replay.graph = entry.command.graph;
    replay.bindings = entry.bindings;
    for (const auto& [address, value] : entry.command.bindings) replay.values.push_back(value);
    for (const FenceName address : graph.cleared) fence(address)->clear();
    std::uint64_t order = entry.order;
    std::vector<Agent*>& lanes = lanes_[graph.executable];
    while (lanes.size() < graph.lanes.size()) lanes.push_back(add(agent.stream, agent.device, nullptr));
    for (std::size_t index = 0; index < graph.lanes.size(); ++index) {
        Agent& lane = *lanes[index];
        lane.stream = index < graph.streams.size() ? graph.streams[index] : agent.stream;
        lane.part_of = &replay;
        lane.clock.join(agent.clock);
        replay.lanes.push_back(&lane);
        replay.first.push_back(lane.submitted);
        for (const HostCommand& command : graph.lanes[index]) {
            HostEntry& task = lane.entries.emplace_back();
            task.command = command;
            if (!task.command.call.function) task.command.call = entry.command.call;
            task.number = ++lane.submitted;
            task.order = ++order;
            if (command.fence) task.fence = fence(command.fence);
            if (command.kind == HostCommand::Kind::signal && task.fence)
                task.fence->pending.push_back({&lane, task.number});
        }
        list(lane);
    }
    for (const GraphModel::Edge& edge : graph.edges) {
        if (edge.after.lane >= replay.first.size() || edge.before.lane >= replay.first.size()) continue;
        replay.before[{edge.after.lane, replay.first[edge.after.lane] + edge.after.position + 1}].push_back(
            edge.before);
        replay.reached[{edge.before.lane, replay.first[edge.before.lane] + edge.before.position + 1}];
    }
    replays_[graph.executable] = &replay;
}

bool HostModel::waits_for_edges(Agent& agent, const HostEntry& entry) {
    HostReplay& replay = *agent.part_of;
    const auto lane =
        static_cast<std::uint32_t>(std::find(replay.lanes.begin(), replay.lanes.end(), &agent) - replay.lanes.begin());
    const auto found = replay.before.find({lane, entry.number});
    if (found == replay.before.end()) return false;
    for (const GraphPosition& before : found->second)
        if (replay.lanes[before.lane]->passed() < replay.first[before.lane] + before.position + 1) return true;
    for (const GraphPosition& before : found->second)
        agent.clock.join(replay.reached[{before.lane, replay.first[before.lane] + before.position + 1}]);
    return false;
}

void HostModel::note_edge(const Agent& agent, const HostEntry& entry) {
    HostReplay& replay = *agent.part_of;
    const auto lane =
        static_cast<std::uint32_t>(std::find(replay.lanes.begin(), replay.lanes.end(), &agent) - replay.lanes.begin());
    if (const auto found = replay.reached.find({lane, entry.number}); found != replay.reached.end())
        found->second = agent.clock;
}

bool HostModel::pass_replay(Agent& agent, HostEntry& entry) {
    if (!entry.command.graph) return true;
    if (!agent.replay) {
        // Replays of one graph run one after the other.
        if (replays_.contains(entry.command.graph->executable)) return false;
        begin_replay(agent, entry);
    }
    bool over = true;
    for (Agent* lane : agent.replay->lanes) {
        if (entry.number <= agent.done) lane->done = lane->submitted;
        over = over && lane->entries.empty();
    }
    if (!over) return false;
    end_replay(agent);
    return true;
}

void HostModel::end_replay(Agent& agent) {
    for (Agent* lane : agent.replay->lanes) {
        lane->entries.clear();
        agent.clock.join(lane->clock);
        lane->part_of = nullptr;
    }
    const void* const executable = agent.replay->graph->executable;
    replays_.erase(executable);
    agent.replay.reset();
    if (agents_.size() <= most_agents) return;
    // The next agents in their places count as behind what they did.
    for (Agent* lane : lanes_[executable]) forget(lane);
    lanes_.erase(executable);
}

// ---- memory --------------------------------------------------------------------------------------------------------

MemoryUse HostModel::use_of(const Agent& agent, const HostEntry& entry, UseKind kind, const CanopyCheckSite& site) {
    const HostCommand& command = entry.command;
    return {agent.index,
            kind,
            0,
            command.copy,
            agent.base + entry.number,
            entry.order,
            use_texts_.number(command.call, command.kernel, agent.stream, agent.device, site)};
}

void HostModel::take_ranges(Agent& agent, const HostEntry& entry, const std::vector<TouchedRange>& ranges) {
    for (const TouchedRange& range : ranges) {
        const UseKind kind = !range.written ? UseKind::read : range.atomic != 0 ? UseKind::atomic : UseKind::write;
        MemoryUse touched = use_of(agent, entry, kind, range.site);
        touched.operation = range.atomic;
        use(agent, entry, range.begin, range.end, touched);
    }
}

void HostModel::use_rows(const Agent& agent, const HostEntry& entry, const CommandUse& rows, MemoryUse as) {
    if (rows.rows <= 1 || rows.pitch == rows.bytes)
        return use(agent, entry, rows.begin, rows.begin + rows.bytes * std::max<std::uint64_t>(rows.rows, 1), as);
    for (std::uint64_t row = 0; row < std::min(rows.rows, most_rows); ++row)
        use(agent, entry, rows.begin + row * rows.pitch, rows.begin + row * rows.pitch + rows.bytes, as);
}

// Memory that was freed after the command was submitted is somebody else's by now.
void HostModel::use(const Agent& agent, const HostEntry& entry, std::uint64_t begin, std::uint64_t end, MemoryUse as) {
    for (const FreedMemory& freed : freed_) {
        if (freed.order < entry.order || freed.end <= begin || end <= freed.begin) continue;
        if (freed.told && as.time > freed.host->of(agent.index))
            tell(as, freed.use, std::max(begin, freed.begin), std::min(end, freed.end), true);
        if (begin < freed.begin) use(agent, entry, begin, freed.begin, as);
        if (end > freed.end) use(agent, entry, freed.end, end, as);
        return;
    }
    uses_.add(begin, end, as, agent.clock, [&](const MemoryUse& before, std::uint64_t from, std::uint64_t to) {
        tell(before, as, from, to, false);
    });
}

// Several pieces of memory of one pair are one finding.
void HostModel::tell(const MemoryUse& one, const MemoryUse& other, std::uint64_t begin, std::uint64_t end, bool freed) {
    const bool in_order = freed || one.order <= other.order;
    const MemoryUse& first = in_order ? one : other;
    const MemoryUse& second = in_order ? other : one;
    for (UnorderedUses& known : found_)
        if (known.first == first && known.second == second && known.freed == freed) {
            known.bytes += end - begin;
            return;
        }
    if (found_.size() >= most_found) return;
    found_.push_back({first, second, use_texts_[first.what], use_texts_[second.what], freed, begin, end - begin});
}

// ---- the host ------------------------------------------------------------------------------------------------------

void HostModel::join_host(const StreamClock& more) {
    if (host_->covers(more)) return;
    auto joined = std::make_shared<StreamClock>(*host_);
    joined->join(more);
    host_ = std::move(joined);
}

void HostModel::host_knows(const StreamClock& more) {
    join_host(more);
    prune();
}

// Everything that will be added comes after what the host and all streams with commands know.
void HostModel::prune() {
    const auto complete = [&](const std::unique_ptr<Agent>& agent) {
        return !agent || host_->of(agent->index) >= agent->base + agent->submitted;
    };
    if (busy_.empty() && std::all_of(agents_.begin(), agents_.end(), complete)) {
        uses_.clear();
        freed_.clear();
        return;
    }
    if (!freed_.empty()) {
        std::uint64_t oldest = UINT64_MAX;
        for (const Agent* agent : busy_) oldest = std::min(oldest, agent->entries.front().order);
        std::erase_if(freed_, [&](const FreedMemory& freed) { return freed.order < oldest; });
    }
    if (uses_.size() < std::max(first_prune, prune_at_)) return;
    StreamClock floor = *host_;
    for (const Agent* agent : busy_) floor.meet(agent->clock);
    uses_.prune(floor);
    prune_at_ = 2 * uses_.size();
}

void HostModel::synchronised(Agent& agent, std::uint64_t number) {
    agent.done = std::max(agent.done, number);
    if (agent.passed() < number) {
        ask_all();
        run();
    }
    if (known(agent, number)) return;
    StreamClock known = agent.clock;
    known.limit(agent.index, agent.base + number);
    host_knows(known);
}

void HostModel::reached(FenceName address, std::uint64_t value) {
    const auto found = fences_.find(address);
    if (found == fences_.end()) return;
    const FenceRef fence = found->second;
    if (fence->value < value && !fence->pending.empty()) {
        ask_all();
        run();
        while (fence->value < value && !fence->pending.empty()) {
            const FenceModel::Pending next = fence->pending.front();
            const std::uint64_t before = next.agent->passed();
            next.agent->done = std::max(next.agent->done, next.number);
            run();
            if (next.agent->passed() == before) break;
        }
    }
    host_knows(fence->clock_at(value));
}

void HostModel::function_begins(Agent& agent, std::uint64_t number) {
    agent.done = std::max(agent.done, number - 1);
    run();
    host_knows(agent.clock);
    if (!agent.entries.empty() && agent.entries.front().number == number)
        agent.entries.front().function = HostEntry::Function::runs;
}

void HostModel::function_ends(Agent& agent, std::uint64_t number) {
    if (agent.entries.empty() || agent.entries.front().number != number) return;
    agent.entries.front().function = HostEntry::Function::ended;
    run();
}

void HostModel::ended(std::uint32_t stream, std::uint32_t task, const std::vector<TouchedRange>& ranges) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    Agent& agent = *found->second;
    for (HostEntry& entry : agent.entries) {
        if (entry.command.task != task || entry.command.kind != HostCommand::Kind::kernel) continue;
        entry.told = true;
        entry.ranges.insert(entry.ranges.end(), ranges.begin(), ranges.end());
        agent.done = std::max(agent.done, entry.number - 1);
        return run();
    }
    if (agent.last.told && agent.last.command.task == task) take_ranges(agent, agent.last, ranges);
}

void HostModel::ended(const void* executable, GraphPosition position, const std::vector<TouchedRange>& ranges) {
    const auto find = [&]() -> HostEntry* {
        const auto found = replays_.find(executable);
        if (found == replays_.end() || position.lane >= found->second->lanes.size()) return nullptr;
        HostReplay& replay = *found->second;
        Agent& lane = *replay.lanes[position.lane];
        const std::uint64_t number = replay.first[position.lane] + position.position + 1;
        if (number <= lane.passed() || number > lane.submitted) return nullptr;
        lane.done = std::max(lane.done, number - 1);
        return &lane.entries[number - lane.passed() - 1];
    };
    HostEntry* entry = find();
    if (!entry) {  // the streams that lead to it are complete
        ask_all();
        run();
        entry = find();
    }
    if (!entry) return;
    entry->told = true;
    entry->ranges.insert(entry->ranges.end(), ranges.begin(), ranges.end());
    run();
}

void HostModel::used_by_host(const HostCall& call, std::span<const CommandUse> uses) {
    ask_all();
    run();
    StreamClock now = *host_;
    now.raise(host_agent, ++host_time_);
    join_host(now);
    const std::uint64_t order = ++order_;
    const std::uint32_t what = use_texts_.number(call, {}, 0, 0, {});
    for (const CommandUse& rows : uses) {
        const MemoryUse as{host_agent, rows.kind, 0, true, host_time_, order, what};
        const auto tell_it = [&](const MemoryUse& before, std::uint64_t from, std::uint64_t to) {
            tell(before, as, from, to, false);
        };
        for (std::uint64_t row = 0; row < std::clamp<std::uint64_t>(rows.rows, 1, most_rows); ++row)
            uses_.add(rows.begin + row * rows.pitch, rows.begin + row * rows.pitch + rows.bytes, as, *host_, tell_it);
    }
}

void HostModel::freed(std::uint64_t begin, std::uint64_t bytes, const HostCall& call) {
    ask_all();
    run();
    const MemoryUse as{
        host_agent, UseKind::write, 0, true, host_time_, ++order_, use_texts_.number(call, {}, 0, 0, {})};
    const std::uint64_t end = begin + bytes;
    uses_.unordered(begin, end, *host_, [&](const MemoryUse& before, std::uint64_t from, std::uint64_t to) {
        tell(before, as, from, to, true);
    });
    uses_.forget(begin, end);
    if (!busy_.empty()) freed_.push_back({begin, end, as.order, host_, as});
}

void HostModel::handed_over(std::uint64_t begin, std::uint64_t bytes) {
    uses_.forget(begin, begin + bytes);
    if (!busy_.empty()) freed_.push_back({begin, begin + bytes, ++order_, host_, {}, false});
}

}  // namespace canopy::check
