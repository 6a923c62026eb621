// SPDX-License-Identifier: Apache-2.0
// The allocations that a core touches: asks the launch once for each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "check/launch_facts.h"

namespace canopy::check {

class Allocations {
public:
    explicit Allocations(const LaunchFacts& facts) : facts_(facts) {}

    // Null: the address is in none. Valid until the next call.
    const AllocationFacts* find(std::uint64_t address) {
        for (const std::optional<AllocationFacts>& known : known_)
            if (known && address - known->address < known->size) return &*known;
        if (!facts_.allocation) return nullptr;
        std::optional<AllocationFacts>& slot = known_[next_];
        slot = facts_.allocation(address);
        if (!slot) return nullptr;
        next_ = (next_ + 1) % known_.size();
        return &*slot;
    }
    // Whether anything is known of allocations.
    [[nodiscard]] bool known() const { return static_cast<bool>(facts_.allocation); }

private:
    const LaunchFacts& facts_;
    std::array<std::optional<AllocationFacts>, 6> known_{};
    std::size_t next_ = 0;
};

}  // namespace canopy::check
