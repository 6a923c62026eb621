// SPDX-License-Identifier: Apache-2.0
// HostRanges: the memory of the program that another process has mapped. Parts of a mapped range need nothing.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <map>

#include "device/driver.h"

namespace canopy {

class HostRanges {
public:
    // False: it is part of a range that is mapped already.
    bool add(const HostMemory& memory) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory.range.base);
        if (auto after = ranges_.upper_bound(address); after != ranges_.begin()) {
            --after;
            if (address - after->first < after->second.range.size) return false;
        }
        ranges_[address] = memory;
        return true;
    }
    // False: it is not a range that `add` has accepted.
    bool remove(const HostMemory& memory) noexcept {
        const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(memory.range.base));
        if (found == ranges_.end() || found->second.range.size != memory.range.size) return false;
        ranges_.erase(found);
        return true;
    }
    [[nodiscard]] auto begin() const noexcept { return ranges_.begin(); }
    [[nodiscard]] auto end() const noexcept { return ranges_.end(); }

private:
    std::map<std::uintptr_t, HostMemory> ranges_;
};

}  // namespace canopy
