// SPDX-License-Identifier: Apache-2.0
// Preparation: turns lanes and edges into segments. Redundant edges are removed before the lanes are cut, so that they
// neither shorten a straight run nor count at a join.
#include <algorithm>
#include <numeric>

#include "base/error_text.h"
#include "device/engine/graph/graph.h"
#include "device/engine/stream/scheduler.h"

namespace canopy {
namespace {

// Where lanes are cut: for every lane the positions at which a segment begins.
class Cuts {
public:
    explicit Cuts(std::span<const GraphLane> lanes) : begins_(lanes.size()) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            if (!lanes[lane].commands.empty()) begins_[lane].push_back(0);
    }
    void before(std::span<const GraphLane> lanes, std::uint32_t lane, std::size_t position) {
        if (position != 0 && position < lanes[lane].commands.size())
            begins_[lane].push_back(static_cast<std::uint32_t>(position));
    }
    void around(std::span<const GraphLane> lanes, const GraphEdge& edge) {
        before(lanes, edge.before.lane, std::size_t{edge.before.position} + 1);
        before(lanes, edge.after.lane, edge.after.position);
    }
    void finish() {
        std::uint32_t count = 0;
        for (auto& begins : begins_) {
            std::sort(begins.begin(), begins.end());
            begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
            first_.push_back(count);
            count += static_cast<std::uint32_t>(begins.size());
        }
        first_.push_back(count);
    }
    [[nodiscard]] std::uint32_t count() const { return first_.back(); }
    [[nodiscard]] std::uint32_t first_of(std::size_t lane) const { return first_[lane]; }
    [[nodiscard]] std::span<const std::uint32_t> begins(std::size_t lane) const { return begins_[lane]; }
    [[nodiscard]] std::uint32_t at(GraphPlace place) const {
        const auto& begins = begins_[place.lane];
        const auto after = std::upper_bound(begins.begin(), begins.end(), place.position);
        return first_[place.lane] + static_cast<std::uint32_t>(after - begins.begin()) - 1;
    }

private:
    std::vector<std::vector<std::uint32_t>> begins_;
    std::vector<std::uint32_t> first_;
};

using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // segment, segment after it

// Segments in topological order; some are missing if the edges form a cycle.
std::vector<std::uint32_t> in_order(std::uint32_t count, const Links& links) {
    std::vector<std::uint32_t> missing(count), begin(count + 1), next(links.size()), order;
    for (const auto& [from, to] : links) {
        ++missing[to];
        ++begin[from + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> fill(begin.begin(), begin.end());
    for (const auto& [from, to] : links) next[fill[from]++] = to;
    order.reserve(count);
    for (std::uint32_t segment = 0; segment < count; ++segment)
        if (missing[segment] == 0) order.push_back(segment);
    for (std::size_t done = 0; done < order.size(); ++done)
        for (std::uint32_t i = begin[order[done]]; i < begin[order[done] + 1]; ++i)
            if (--missing[next[i]] == 0) order.push_back(next[i]);
    return order;
}

void add_lane_links(const Cuts& cuts, std::size_t lanes, Links& links) {
    for (std::size_t lane = 0; lane < lanes; ++lane)
        for (std::uint32_t segment = cuts.first_of(lane) + 1; segment < cuts.first_of(lane + 1); ++segment)
            links.emplace_back(segment - 1, segment);
}

// Above this many (segment, lane) pairs edges are kept as they are: the table would cost more than it saves.
constexpr std::size_t largest_table = std::size_t{1} << 23;

// The edges that are not implied by the order of lanes and by other edges. For every segment, records how far each lane
// has come when it begins; an edge from an earlier command is redundant. Later sources are checked first, so that they
// cover those before them.
Result<std::vector<GraphEdge>> necessary_edges(const GraphPlan& plan) {
    Cuts cuts(plan.lanes);
    for (const GraphEdge& edge : plan.edges) cuts.around(plan.lanes, edge);
    cuts.finish();
    const std::uint32_t count = cuts.count();
    const std::size_t lanes = plan.lanes.size();

    Links links;
    std::vector<std::uint32_t> lane_of(count);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        std::fill(lane_of.begin() + cuts.first_of(lane), lane_of.begin() + cuts.first_of(lane + 1), lane);
    std::vector<std::pair<std::uint32_t, const GraphEdge*>> incoming;  // by the segment the edge leads to
    for (const GraphEdge& edge : plan.edges) {
        links.emplace_back(cuts.at(edge.before), cuts.at(edge.after));
        incoming.emplace_back(cuts.at(edge.after), &edge);
    }
    add_lane_links(cuts, lanes, links);
    const std::vector<std::uint32_t> order = in_order(count, links);
    if (order.size() != count) return fail(107000, "the tasks of the graph form a cycle");
    if (count * lanes > largest_table) return std::vector<GraphEdge>(plan.edges.begin(), plan.edges.end());

    std::vector<std::uint32_t> rank(count);
    for (std::uint32_t i = 0; i < count; ++i) rank[order[i]] = i;
    std::sort(incoming.begin(), incoming.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return rank[cuts.at(a.second->before)] > rank[cuts.at(b.second->before)];
    });
    std::vector<std::uint32_t> first_incoming(count + 1);
    for (const auto& [segment, edge] : incoming) ++first_incoming[segment + 1];
    std::partial_sum(first_incoming.begin(), first_incoming.end(), first_incoming.begin());

    // reached[segment * lanes + lane]: commands of the lane that are done when the segment is.
    std::vector<std::uint32_t> reached(count * lanes);
    std::vector<GraphEdge> kept;
    for (const std::uint32_t segment : order) {
        std::uint32_t* known = &reached[segment * lanes];
        const std::uint32_t lane = lane_of[segment];
        const bool first = segment == cuts.first_of(lane);
        if (!first) std::copy_n(&reached[(segment - 1) * lanes], lanes, known);
        for (std::uint32_t i = first_incoming[segment]; i < first_incoming[segment + 1]; ++i) {
            const GraphEdge& edge = *incoming[i].second;
            if (known[edge.before.lane] > edge.before.position) continue;
            kept.push_back(edge);
            const std::uint32_t* source = &reached[cuts.at(edge.before) * lanes];
            for (std::size_t other = 0; other < lanes; ++other) known[other] = std::max(known[other], source[other]);
        }
        const auto begins = cuts.begins(lane);
        const std::uint32_t index = segment - cuts.first_of(lane);
        known[lane] = index + 1 < begins.size() ? begins[index + 1]
                                                : static_cast<std::uint32_t>(plan.lanes[lane].commands.size());
    }
    return kept;
}

}  // namespace

Status EngineGraph::check_command(const Command& command) const {
    if (is_kernel(command.opcode) && command.launch.kernel->driver &&
        command.launch.kernel->driver->info().kind != scheduler_.driver().info().kind)
        return fail(107000, "kernel {} was loaded by a device of kind {}", command.launch.kernel->info->name,
                    command.launch.kernel->driver->info().kind);
    if (command.opcode != Opcode::condition) return {};
    for (const Executable* body : std::span(command.condition.bodies, command.condition.count))
        if (!static_cast<const Replayable*>(body)->made_for(scheduler_))
            return fail(107000, "a body of the graph was prepared for another kind of device");
    return {};
}

Status EngineGraph::check(const GraphPlan& plan) const {
    const auto exists = [&](GraphPlace place) {
        return place.lane < plan.lanes.size() && place.position < plan.lanes[place.lane].commands.size();
    };
    for (const GraphEdge& edge : plan.edges)
        if (!exists(edge.before) || !exists(edge.after) || edge.before.lane == edge.after.lane)
            return fail(107000, "an edge of the graph leads from or to a missing task");
    for (const GraphGroup& group : plan.groups)
        if (group.count != 0 && !exists({group.first.lane, group.first.position + group.count - 1}))
            return fail(107000, "a group of the graph has missing tasks");
    for (const GraphLane& lane : plan.lanes)
        for (const Command& command : lane.commands) CANOPY_TRY(check_command(command));
    return {};
}

Status EngineGraph::prepare(const GraphPlan& plan) {
    CANOPY_TRY(check(plan));
    for (const GraphLane& lane : plan.lanes) CANOPY_TRY(commands_.add_lane(lane.commands));
    make_lanes(plan);
    if (flow_) {
        for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
            if (plan.lanes[lane].starts) roots_.push_back(lane);
            begun_.emplace_back(plan.lanes[lane].commands.size());
        }
        return {};
    }
    Result<std::vector<GraphEdge>> edges = necessary_edges(plan);
    if (!edges.ok()) return edges.status();

    Cuts cuts(plan.lanes);
    for (const GraphEdge& edge : *edges) cuts.around(plan.lanes, edge);
    for (const GraphGroup& group : plan.groups) {
        cuts.before(plan.lanes, group.first.lane, group.first.position);
        cuts.before(plan.lanes, group.first.lane, std::size_t{group.first.position} + group.count);
    }
    cuts.finish();
    segment_count_ = cuts.count();
    segments_.reset(new Segment[segment_count_]);
    for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
        first_segment_.push_back(cuts.first_of(lane));
        const auto begins = cuts.begins(lane);
        for (std::uint32_t i = 0; i < begins.size(); ++i) {
            Segment& segment = segments_[cuts.first_of(lane) + i];
            const bool last = i + 1 == begins.size();
            segment.lane = lane;
            segment.first = begins[i];
            segment.end = last ? static_cast<std::uint32_t>(plan.lanes[lane].commands.size()) : begins[i + 1];
            segment.before = i == 0 ? 0 : 1;
            segment.following = last ? no_segment : cuts.first_of(lane) + i + 1;
        }
    }
    first_segment_.push_back(segment_count_);
    for (const GraphGroup& group : plan.groups)
        for (std::uint32_t i = 0; i < group.count;) {
            Segment& segment = segments_[cuts.at({group.first.lane, group.first.position + i})];
            segment.guarded = true;
            i = segment.end - group.first.position;
        }

    Links links;
    for (const GraphEdge& edge : *edges) links.emplace_back(cuts.at(edge.before), cuts.at(edge.after));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (const auto& [from, to] : links) {
        Segment& segment = segments_[from];
        if (segment.successor_count++ == 0) segment.successors = static_cast<std::uint32_t>(successors_.size());
        successors_.push_back(to);
        ++segments_[to].before;
    }
    for (std::uint32_t i = 0; i < segment_count_; ++i) {
        Segment& segment = segments_[i];
        segment.missing.store(segment.before, std::memory_order_relaxed);
        if (segment.before == 0) roots_.push_back(i);
        if (segment.successor_count == 0 && segment.following == no_segment) ++ends_;
    }
    return {};
}

}  // namespace canopy
