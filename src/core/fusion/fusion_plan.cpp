// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace canopy {

// ---- what steps touch ----------------------------------------------------------------------------------------------

namespace {

bool earlier(const Touched& left, const Touched& right) noexcept {
    return std::tie(left.region, left.begin, left.end) < std::tie(right.region, right.begin, right.end);
}

// Merges adjacent ranges of the same block and direction.
void join_neighbours(std::vector<Touched>& touched) {
    const auto key = [](const Touched& each) { return std::tie(each.block, each.write, each.region, each.begin); };
    std::sort(touched.begin(), touched.end(),
              [&](const Touched& left, const Touched& right) { return key(left) < key(right); });
    std::size_t kept = 0;
    for (const Touched& each : touched) {
        if (kept != 0) {
            Touched& last = touched[kept - 1];
            if (last.block == each.block && last.write == each.write && last.region == each.region &&
                each.begin <= last.end) {
                last.end = std::max(last.end, each.end);
                continue;
            }
        }
        touched[kept++] = each;
    }
    touched.resize(kept);
}

void touch(std::vector<Touched>& touched, const TraceAddress& at, std::uint64_t bytes, std::uint32_t block,
           bool write) {
    if (at.region == local_memory || bytes == 0) return;
    touched.push_back({at.region, block, write, at.offset, at.offset + bytes});
}

void touch_record(std::vector<Touched>& touched, const LaunchTrace& trace, const TraceRecord& record,
                  std::uint32_t block) {
    if (record.kind != TraceKind::compute) {
        touch(touched, record.sources[0], record.count, block, false);
        touch(touched, record.target, record.count, block, true);
        return;
    }
    const TraceOperation& operation = trace.operations[record.operation];
    for (std::size_t source = 0; source < operation.source_count; ++source)
        touch(touched, record.sources[source], record.count * operation.source_sizes[source], block, false);
    touch(touched, record.target, record.count * operation.target_size, block, true);
}

}  // namespace

void order_touched(std::vector<Touched>& touched) {
    join_neighbours(touched);
    std::sort(touched.begin(), touched.end(), earlier);
}

StepAccess access_of(const LaunchTrace& trace) {
    StepAccess access;
    access.knowledge = Knowledge::traced;
    for (std::size_t block = 0; block + 1 < trace.block_begin.size(); ++block)
        for (std::size_t at = trace.block_begin[block]; at < trace.block_begin[block + 1]; ++at)
            touch_record(access.touched, trace, trace.records[at], static_cast<std::uint32_t>(block));
    order_touched(access.touched);
    return access;
}

namespace {

// One side of the sweep: the ranges that extend past the current position.
struct Reaching {
    std::vector<const Touched*> reads, writes;

    void pass(const Touched& at) {
        const auto ended = [&](const Touched* each) { return each->region != at.region || each->end <= at.begin; };
        std::erase_if(reads, ended);
        std::erase_if(writes, ended);
    }
    void add(const Touched& at) { (at.write ? writes : reads).push_back(&at); }
    // The conflict between `at`, from the other side, and these ranges.
    [[nodiscard]] Conflict meet(const Touched& at) const {
        const auto across = [&](const Touched* each) { return each->block == every_block || each->block != at.block; };
        if (std::any_of(writes.begin(), writes.end(), across)) return Conflict::full;
        if (at.write && std::any_of(reads.begin(), reads.end(), across)) return Conflict::full;
        return writes.empty() && (!at.write || reads.empty()) ? Conflict::none : Conflict::block_local;
    }
};

}  // namespace

Conflict conflict_between(const StepAccess& first, const StepAccess& second) {
    if (first.knowledge == Knowledge::nothing || second.knowledge == Knowledge::nothing) return Conflict::full;
    Conflict found = Conflict::none;
    Reaching left, right;
    auto a = first.touched.begin();
    auto b = second.touched.begin();
    while (a != first.touched.end() || b != second.touched.end()) {
        const bool take_first = b == second.touched.end() || (a != first.touched.end() && earlier(*a, *b));
        const Touched& at = take_first ? *a++ : *b++;
        left.pass(at);
        right.pass(at);
        const Conflict met = (take_first ? right : left).meet(at);
        if (met == Conflict::full) return met;
        found = std::max(found, met);
        (take_first ? left : right).add(at);
    }
    return found;
}

// ---- order ---------------------------------------------------------------------------------------------------------

namespace {

// A set of nodes per row.
class BitRows {
public:
    explicit BitRows(std::size_t count) : words_((count + 63) / 64), bits_(count * words_) {}
    void set(std::size_t row, std::size_t bit) { bits_[row * words_ + bit / 64] |= std::uint64_t{1} << bit % 64; }
    [[nodiscard]] bool has(std::size_t row, std::size_t bit) const {
        return (bits_[row * words_ + bit / 64] >> bit % 64 & 1) != 0;
    }
    void add_row(std::size_t row, std::size_t from) {
        for (std::size_t word = 0; word < words_; ++word) bits_[row * words_ + word] |= bits_[from * words_ + word];
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

// A step of the plan before it is placed: a kernel, or a word to wait for or to write.
struct Node {
    FusedStep step;
    std::uint32_t listed = 0;
    bool word = false;
    std::vector<std::uint32_t> ordered_after;               // by streams and events
    std::vector<std::pair<std::uint32_t, Conflict>> meets;  // earlier nodes it shares memory with
};

FusedStep word_step(const ListStep& listed, FusedAction action, std::uint32_t slot, std::uint64_t value) {
    FusedStep step;
    step.action = action;
    step.number = listed.number;
    step.kernel = listed.kernel.kernel;
    step.word_slot = slot;
    step.value = value;
    return step;
}

class Planner {
public:
    explicit Planner(const PlanRequest& request) : request_(request), list_(*request.list) {}
    PlannedFusion plan();

private:
    void add_step(std::uint32_t index);
    void add_word(std::uint32_t index, FusedAction action, std::uint32_t slot, std::uint64_t value);
    void add_resets();
    void find_meetings();
    [[nodiscard]] Conflict conflict(const Node& first, const Node& second) const;
    void make_parts();
    [[nodiscard]] bool may_join(std::uint32_t node, const std::vector<std::uint32_t>& part) const;
    [[nodiscard]] bool may_chain(const Node& node) const;
    void count(PlannedFusion& made) const;

    const PlanRequest& request_;
    const FusedList& list_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> last_of_;  // last node of each listed step
    std::vector<std::vector<std::uint32_t>> parts_;
    std::vector<std::vector<std::uint32_t>> after_;
    std::uint32_t order_edges_ = 0;
};

void Planner::add_word(std::uint32_t index, FusedAction action, std::uint32_t slot, std::uint64_t value) {
    Node& node = nodes_.emplace_back();
    node.step = word_step(list_.steps[index], action, slot, value);
    node.listed = index;
    node.word = true;
}

void Planner::add_step(std::uint32_t index) {
    const ListStep& listed = list_.steps[index];
    const std::size_t first = nodes_.size();
    for (const std::uint32_t slot : listed.wait_slots) add_word(index, FusedAction::wait_word, slot, 1);
    if (listed.dynamic && listed.dynamic->wait_slot != no_slot)
        add_word(index, FusedAction::wait_word, listed.dynamic->wait_slot, 1);
    Node& kernel = nodes_.emplace_back();
    kernel.step = kernel_step(listed);
    kernel.listed = index;
    for (const std::uint32_t slot : listed.notify_slots) add_word(index, FusedAction::write_word, slot, 1);
    for (std::size_t node = first; node < nodes_.size(); ++node) {
        if (node != first) {
            nodes_[node].ordered_after.push_back(static_cast<std::uint32_t>(node - 1));
            continue;
        }
        for (const std::uint32_t before : listed.after) nodes_[node].ordered_after.push_back(last_of_[before]);
    }
    last_of_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
    order_edges_ += static_cast<std::uint32_t>(listed.after.size());
}

// Resets run after everything else.
void Planner::add_resets() {
    const auto end = static_cast<std::uint32_t>(nodes_.size());
    const auto reset = [&](std::uint32_t index, std::uint32_t slot) {
        add_word(index, FusedAction::write_word, slot, 0);
        nodes_.back().ordered_after.resize(end);
        std::iota(nodes_.back().ordered_after.begin(), nodes_.back().ordered_after.end(), 0u);
    };
    for (std::uint32_t index = 0; index < list_.steps.size(); ++index)
        for (const std::uint32_t slot : list_.steps[index].reset_slots) reset(index, slot);
}

// Words are shared with other streams, whose memory is unknown: all earlier steps must be done and no later one
// started.
Conflict Planner::conflict(const Node& first, const Node& second) const {
    if (first.word || second.word || request_.level == FusionLevel::off || list_.in_full_order()) return Conflict::full;
    return conflict_between(request_.accesses[first.listed], request_.accesses[second.listed]);
}

void Planner::find_meetings() {
    BitRows ordered(nodes_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        for (const std::uint32_t before : nodes_[node].ordered_after) {
            ordered.set(node, before);
            ordered.add_row(node, before);
        }
        for (std::uint32_t before = 0; before < node; ++before) {
            if (!ordered.has(node, before)) continue;
            const Conflict met = conflict(nodes_[before], nodes_[node]);
            if (met != Conflict::none) nodes_[node].meets.emplace_back(before, met);
        }
    }
}

bool Planner::may_chain(const Node& node) const {
    return request_.level >= FusionLevel::chains && !node.word && node.step.choices.empty() &&
           node.step.blocks_slot == no_slot && request_.accesses[node.listed].knowledge == Knowledge::traced;
}

bool Planner::may_join(std::uint32_t node, const std::vector<std::uint32_t>& part) const {
    if (!may_chain(nodes_[node]) || !may_chain(nodes_[part.front()])) return false;
    return std::all_of(nodes_[node].meets.begin(), nodes_[node].meets.end(), [&](const auto& each) {
        return each.second == Conflict::block_local || std::find(part.begin(), part.end(), each.first) == part.end();
    });
}

void Planner::make_parts() {
    std::vector<std::uint32_t> part_of(nodes_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        std::vector<std::uint32_t> needs;
        for (const auto& [before, met] : nodes_[node].meets) needs.push_back(part_of[before]);
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
        if (!needs.empty() && may_join(node, parts_[needs.back()])) {
            part_of[node] = needs.back();
            needs.pop_back();
        } else {
            part_of[node] = static_cast<std::uint32_t>(parts_.size());
            parts_.emplace_back();
            after_.emplace_back();
        }
        parts_[part_of[node]].push_back(node);
        std::vector<std::uint32_t>& after = after_[part_of[node]];
        after.insert(after.end(), needs.begin(), needs.end());
    }
    BitRows reached(parts_.size());
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
        std::vector<std::uint32_t> all;
        all.swap(after_[part]);
        std::sort(all.begin(), all.end(), std::greater<>());
        for (const std::uint32_t before : all) {
            if (reached.has(part, before)) continue;
            after_[part].push_back(before);
            reached.set(part, before);
            reached.add_row(part, before);
        }
        std::reverse(after_[part].begin(), after_[part].end());
    }
}

void Planner::count(PlannedFusion& made) const {
    PlanFigures& figures = made.figures;
    figures.steps = static_cast<std::uint32_t>(list_.steps.size());
    figures.barriers_before = figures.steps == 0 ? 0 : figures.steps - 1;
    figures.edges_before = order_edges_;
    for (const FusedPart& part : made.plan.parts) {
        figures.barriers_after += part.after.empty() ? 0 : 1;
        figures.edges_after += static_cast<std::uint32_t>(part.after.size());
        figures.chained += part.count - 1;
    }
    for (const StepAccess& access : request_.accesses) figures.traced += access.knowledge == Knowledge::traced ? 1 : 0;
}

PlannedFusion Planner::plan() {
    for (std::uint32_t index = 0; index < list_.steps.size(); ++index) add_step(index);
    add_resets();
    find_meetings();
    make_parts();
    PlannedFusion made;
    made.plan.name = list_.name;
    made.plan.arguments_size = list_.slots * 8;
    made.plan.profile_slot = list_.profile_slot;
    made.plan.preload = list_.preload();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        FusedPart& fused = made.plan.parts.emplace_back();
        fused.first = static_cast<std::uint32_t>(made.plan.steps.size());
        fused.count = static_cast<std::uint32_t>(parts_[part].size());
        fused.after = after_[part];
        for (const std::uint32_t node : parts_[part]) {
            made.plan.steps.push_back(nodes_[node].step);
            made.listed.push_back(nodes_[node].listed);
        }
    }
    count(made);
    return made;
}

}  // namespace

FusedStep kernel_step(const ListStep& listed) {
    FusedStep step;
    step.number = listed.number;
    step.kernel = listed.kernel.kernel;
    step.blocks = listed.blocks;
    step.dynamic_size = listed.dynamic_size;
    step.arguments_offset = listed.slot * 8;
    step.arguments_size = listed.slots * 8;
    step.timeout = listed.timeout;
    if (listed.dynamic) {
        step.blocks_slot = listed.dynamic->blocks_slot;
        step.key_slot = listed.dynamic->key_slot;
        for (const ListChoice& choice : listed.dynamic->choices)
            step.choices.push_back({choice.key, choice.kernel.kernel});
    }
    return step;
}

PlannedFusion make_plan(const PlanRequest& request) { return Planner(request).plan(); }

}  // namespace canopy
