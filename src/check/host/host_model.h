// SPDX-License-Identifier: Apache-2.0
// The model behind HostOrder: streams as queues of commands, with clocks in place of work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/host/access_map.h"
#include "check/host/host_command.h"
#include "check/host/host_findings.h"
#include "check/host/stream_clock.h"
#include "check/launch_check.h"

namespace canopy::check {

class HostAgent;

using HostClock = std::shared_ptr<const StreamClock>;

// An event, a notify or a word, as the model sees it.
struct FenceModel {
    struct Pending {
        HostAgent* agent;
        std::uint64_t number;
        bool operator==(const Pending&) const = default;
    };
    std::uint64_t value = 0;
    StreamClock clock;                                         // of all signals since it was cleared
    std::deque<std::pair<std::uint64_t, StreamClock>> raised;  // and of those that raised it, by the value
    std::vector<Pending> pending;                              // signals that the model has not reached

    void clear() {
        value = 0;
        clock.clear();
        raised.clear();
    }
    // What one knows who has seen that value.
    [[nodiscard]] const StreamClock& clock_at(std::uint64_t wanted) const {
        for (const auto& [reached, then] : raised)
            if (reached >= wanted) return then;
        return clock;
    }
};
using FenceRef = std::shared_ptr<FenceModel>;

struct HostEntry {
    HostCommand command;
    std::uint64_t number = 0;  // in its stream or lane
    std::uint64_t order = 0;   // of submission
    HostClock host;            // what the host knew; null: no more than at the command before
    FenceRef fence;
    std::vector<FenceRef> bindings;
    bool told = false;      // a kernel has ended
    bool released = false;  // a wait is over, whatever the model says
    enum class Function : std::uint8_t { waits, runs, ended } function = Function::waits;
    std::vector<TouchedRange> ranges;
};

struct FreedMemory {
    std::uint64_t begin, end, order;
    HostClock host;
    MemoryUse use;
    bool told = true;  // as a free
};

struct HostReplay;

// A stream, or a lane of a graph.
class HostAgent {
public:
    std::uint32_t index = 0;   // in clocks
    std::uint32_t stream = 0;  // its number
    unsigned device = 0;
    std::uint64_t base = 0;       // its time before its first command
    std::uint64_t submitted = 0;  // commands
    std::uint64_t done = 0;       // at least so many are complete
    StreamClock clock;
    HostClock host;  // given to the last command
    std::deque<HostEntry> entries;
    HostEntry last;  // of its kernels that passed: a fused one may tell more
    std::function<std::uint64_t()> completed;
    bool busy = false;                   // listed
    std::unique_ptr<HostReplay> replay;  // that the command at the front has begun
    HostReplay* part_of = nullptr;       // of a lane

    [[nodiscard]] std::uint64_t passed() const noexcept { return submitted - entries.size(); }
    void ask() {
        if (completed) done = std::max(done, completed());
    }
};

struct HostReplay {
    std::shared_ptr<const GraphModel> graph;
    std::vector<HostAgent*> lanes;
    std::uint64_t order = 0;
    // By position: what it waits for, and what those know that wait for it.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<GraphPosition>> before;
    std::map<std::pair<std::uint32_t, std::uint64_t>, StreamClock> reached;
    std::vector<std::uint64_t> first;  // numbers of the commands before the replay, by lane
    std::vector<FenceRef> bindings;
    std::vector<std::uint64_t> values;
};

// Threads: none; HostOrder has the lock.
class HostModel {
public:
    using Agent = HostAgent;

    // What was found since the last call.
    [[nodiscard]] std::vector<UnorderedUses> take_found() { return std::exchange(found_, {}); }
    [[nodiscard]] std::string_view kept(std::string_view kernel) { return use_texts_.kept(kernel); }

    Agent* add(std::uint32_t number, unsigned device, std::function<std::uint64_t()> completed);
    void remove(Agent* agent);
    void submit(Agent& agent, std::span<HostCommand> commands);
    void ended(std::uint32_t stream, std::uint32_t task, const std::vector<TouchedRange>& ranges);
    void ended(const void* executable, GraphPosition position, const std::vector<TouchedRange>& ranges);
    void function_begins(Agent& agent, std::uint64_t number);
    void function_ends(Agent& agent, std::uint64_t number);
    void synchronised(Agent& agent, std::uint64_t number);
    void reached(FenceName fence, std::uint64_t value);
    void add_fence(FenceName fence) { fences_[fence] = std::make_shared<FenceModel>(); }
    void used_by_host(const HostCall& call, std::span<const CommandUse> uses);
    void freed(std::uint64_t begin, std::uint64_t bytes, const HostCall& call);
    void handed_over(std::uint64_t begin, std::uint64_t bytes);
    [[nodiscard]] bool known(const Agent& agent, std::uint64_t number) const {
        return host_->of(agent.index) >= agent.base + number;
    }
    [[nodiscard]] std::size_t agents() const {
        return static_cast<std::size_t>(
            std::count_if(agents_.begin(), agents_.end(), [](const auto& one) { return one != nullptr; }));
    }
    [[nodiscard]] std::size_t remembered() const {
        std::size_t count = uses_.size() + freed_.size();
        for (const Agent* agent : busy_) count += agent->entries.size();
        return count;
    }

private:
    FenceRef fence(FenceName address, std::uint64_t initial = 0) {
        FenceRef& found = fences_[address];
        if (!found) {
            found = std::make_shared<FenceModel>();
            found->value = initial;
        }
        return found;
    }
    void list(Agent& agent) {
        if (!std::exchange(agent.busy, true)) busy_.push_back(&agent);
    }
    void ask_all() {
        for (Agent* agent : busy_) agent->ask();
    }
    void forget(Agent* agent);
    // Runs every stream as far as it is known to be.
    void run();
    bool advance(Agent& agent);
    bool release_wait();
    bool pass(Agent& agent, HostEntry& entry);
    bool pass_kernel(Agent& agent, HostEntry& entry);
    void pass_signal(Agent& agent, HostEntry& entry);
    bool pass_wait(Agent& agent, HostEntry& entry);
    bool pass_function(Agent& agent, const HostEntry& entry);
    bool pass_replay(Agent& agent, HostEntry& entry);
    void begin_replay(Agent& agent, HostEntry& entry);
    void end_replay(Agent& agent);
    [[nodiscard]] bool waits_for_edges(Agent& agent, const HostEntry& entry);
    void note_edge(const Agent& agent, const HostEntry& entry);
    FenceRef fence_of(const Agent& agent, const HostEntry& entry, std::uint64_t& value) const;
    void take_ranges(Agent& agent, const HostEntry& entry, const std::vector<TouchedRange>& ranges);
    void use(const Agent& agent, const HostEntry& entry, std::uint64_t begin, std::uint64_t end, MemoryUse use);
    void use_rows(const Agent& agent, const HostEntry& entry, const CommandUse& rows, MemoryUse use);
    [[nodiscard]] MemoryUse use_of(const Agent& agent, const HostEntry& entry, UseKind kind,
                                   const CanopyCheckSite& site);
    void tell(const MemoryUse& one, const MemoryUse& other, std::uint64_t begin, std::uint64_t end, bool freed);
    void host_knows(const StreamClock& more);
    void join_host(const StreamClock& more);
    void prune();

    AccessMap uses_;
    UseTexts use_texts_;
    std::unordered_map<FenceName, FenceRef> fences_;
    std::unordered_map<std::uint32_t, Agent*> streams_;           // by number
    std::unordered_map<const void*, std::vector<Agent*>> lanes_;  // by executable
    std::unordered_map<const void*, HostReplay*> replays_;        // that run, by executable
    std::vector<std::unique_ptr<Agent>> agents_;                  // by index - 1; null: free
    std::vector<std::uint64_t> times_ = {0};                      // where the next owner of an index begins
    std::vector<Agent*> busy_;                                    // with commands
    std::vector<FreedMemory> freed_;                              // that commands before them may still use
    std::vector<UnorderedUses> found_;
    HostClock host_ = std::make_shared<const StreamClock>();
    std::uint64_t host_time_ = 0;
    std::uint64_t order_ = 0;
    std::size_t prune_at_ = 0;
};

}  // namespace canopy::check
