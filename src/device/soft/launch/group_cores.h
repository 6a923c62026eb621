// SPDX-License-Identifier: Apache-2.0
// The cores of the groups of a launch whose cores write into each other's memories. A core that another one has
// reached stays with its group until all blocks of the group have ended, even if its own block ends earlier or begins
// later. Each part of a launch has one such table, made when a core of a group is first opened.
//
// Threads: guarded by the owner's lock. The cores themselves are used outside it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/execution/core.h"
#include "device/execution/core_flags.h"

namespace canopy {

// Cores that belong to no block.
using SpareCores = std::vector<std::unique_ptr<SoftCore>>;

class GroupCores {
public:
    // False: no memory.
    bool begin(CoreGroup group, std::uint32_t groups) noexcept;
    [[nodiscard]] bool in_use() const noexcept { return !members_.empty(); }
    // Hands over the cores it still keeps; no block runs.
    void end(SpareCores& spare) noexcept;

    // The block on core `number` has opened `own`. If others have reached that core before, `own` is exchanged for it:
    // then true, and `replaced` is what `own` was.
    bool open(std::uint32_t number, std::unique_ptr<SoftCore>& own, std::unique_ptr<SoftCore>& replaced) noexcept;
    // The core `number`, which stays valid until its group has ended. If it has none, it gets `fresh`; nullptr if that
    // is null, too.
    SoftCore* reach(std::uint32_t number, std::unique_ptr<SoftCore>& fresh) noexcept;
    // The block on core `number` has ended. Keeps its core if others may still write into it, and hands over those of
    // the group after its last block.
    void leave(std::uint32_t number, std::unique_ptr<SoftCore>& own, SpareCores& spare) noexcept;

private:
    struct Member {
        SoftCore* open = nullptr;  // the core of the running block
        std::unique_ptr<SoftCore> kept;
        bool reached = false;
        bool ended = false;
    };
    [[nodiscard]] std::uint32_t first_of(std::uint32_t number) const noexcept { return number - number % size_; }

    std::uint32_t size_ = 1;
    std::vector<Member> members_;
};

}  // namespace canopy
