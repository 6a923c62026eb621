// SPDX-License-Identifier: Apache-2.0
// Unordered accesses of the pipes of one core to local memories.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "check/model/core.h"
#include "check/race/cells.h"

namespace canopy::check {

// The local memories of a core, which other cores of its group may reach.
struct LocalCells {
    explicit LocalCells(const CoreFacts& facts) {
        for (unsigned i = 0; i < cells.size(); ++i) cells[i] = Cells(facts.memory[i].size);
    }
    std::array<Cells, CANOPY_MEMORY_COUNT> cells;
    // Of the core's instructions: what cells keep counts from here on.
    Number base = 0;
};

class Races {
public:
    explicit Races(Core& core) : core_(core), local_(core.facts) {}
    // Those of the cores of the group, by their place in it.
    using Group = std::array<Races*, 4>;
    void join_group(Group& group) {
        group_ = &group;
        group[core_.in_group % group.size()] = this;
    }

    void operation(const Told& told);
    // The block has ended.
    void end();

private:
    void local(const Told& told, const CanopyCheckAccess& access, bool write);
    void touch(const Told& told, Races& owner, unsigned memory, std::uint64_t begin, std::uint64_t end, bool write,
               CellHazards& hazards);
    void set_limits(const Told& told, bool write);
    [[nodiscard]] bool ordered_in_pipe(const CanopyCheckOperation& operation, bool write) const;
    void report(const Told& told, const CanopyCheckAccess& access, const Races& owner, bool write,
                const CellHazards::Hazard& hazard);

    void touch_unit_flags(const Told& told, Races& owner, std::uint64_t begin, std::uint64_t end, bool write,
                          CellHazards& hazards);
    void report_unit_flag(const Told& told, const char* what, std::uint64_t begin, std::uint64_t bytes);
    void clear_group();

    Core& core_;
    Group* group_ = nullptr;
    LocalCells local_;
    CellAccess access_;
    std::vector<std::uint8_t> unit_flags_;  // of each 512 bytes of L0C, when it is used
    // The last product that set one.
    CanopyCheckSite unit_site_{};
    Number unit_number_ = 0;
};

}  // namespace canopy::check
