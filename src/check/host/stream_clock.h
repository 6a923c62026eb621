// SPDX-License-Identifier: Apache-2.0
// The clock of an agent: a host, a stream or a lane of a graph. It says how much of the work of every agent is complete
// when the agent goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace canopy::check {

class StreamClock {
public:
    [[nodiscard]] std::uint64_t of(std::uint32_t agent) const noexcept {
        return agent < times_.size() ? times_[agent] : 0;
    }
    void raise(std::uint32_t agent, std::uint64_t time) {
        if (agent >= times_.size()) times_.resize(std::size_t{agent} + 1);
        times_[agent] = std::max(times_[agent], time);
    }
    void join(const StreamClock& other) {
        if (times_.size() < other.times_.size()) times_.resize(other.times_.size());
        for (std::size_t agent = 0; agent < other.times_.size(); ++agent)
            times_[agent] = std::max(times_[agent], other.times_[agent]);
    }
    [[nodiscard]] bool covers(const StreamClock& other) const noexcept {
        for (std::uint32_t agent = 0; agent < other.times_.size(); ++agent)
            if (other.times_[agent] > of(agent)) return false;
        return true;
    }
    void limit(std::uint32_t agent, std::uint64_t time) noexcept {
        if (agent < times_.size()) times_[agent] = std::min(times_[agent], time);
    }
    // What both know.
    void meet(const StreamClock& other) {
        if (times_.size() > other.times_.size()) times_.resize(other.times_.size());
        for (std::size_t agent = 0; agent < times_.size(); ++agent)
            times_[agent] = std::min(times_[agent], other.times_[agent]);
    }
    void clear() noexcept { times_.clear(); }

private:
    std::vector<std::uint64_t> times_;
};

}  // namespace canopy::check
