// SPDX-License-Identifier: Apache-2.0
// What the parts of the checker share: a launch, a core of it, and what a core has been told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "check/launch_facts.h"
#include "check/model/lines.h"
#include "check/model/order.h"
#include "check/model/origins.h"
#include "check/model/reports.h"

namespace canopy::check {

// An instruction, as it is passed to each part.
struct Told {
    const CanopyCheckOperation& operation;
    Number number = 0;
    std::uint32_t line = 0;  // in the lines of its core
};

struct Core;
class Init;

// The cores of a group that there are, cube cores first. With chips that share memories between them, they run on one
// thread.
struct Group {
    std::array<Core*, 4> cores{};
};

struct Launch {
    Launch(LaunchFacts launch_facts, const CheckOptions& check_options, FindingSink& sink)
        : facts(std::move(launch_facts)), options(check_options), reports(sink, facts.kernel, facts.device) {}

    LaunchFacts facts;
    CheckOptions options;
    Reports reports;
    Origins origins;

    [[nodiscard]] std::uint32_t cores_of_group() const { return facts.cube_cores + facts.vector_cores; }
    [[nodiscard]] std::uint32_t core_count() const { return cores_of_group() * facts.blocks; }
    // Groups in their order, the cube cores of each before its vector cores.
    [[nodiscard]] std::uint32_t index_of(const CoreFacts& core) const {
        return core.block * cores_of_group() + (core.cube ? 0 : facts.cube_cores) + core.sub_index;
    }
    // Cores of a group reach each other's UB and L1.
    [[nodiscard]] bool shares_memories() const { return facts.architecture == 3510; }
    [[nodiscard]] bool autosync() const { return options.autosync.value_or(facts.autosync); }
};

struct Core : NamedCore {
    Core(Launch& of, const CoreFacts& core_facts, Group& core_group)
        : NamedCore{core_facts.block,
                    core_facts.block * (core_facts.cube ? of.facts.cube_cores : of.facts.vector_cores) +
                        core_facts.sub_index,
                    core_facts.cube},
          launch(of),
          facts(core_facts),
          group(core_group),
          index(of.index_of(core_facts)),
          in_group(index % of.cores_of_group()),
          order(index, of.core_count(), of.options.without) {
        if (in_group < group.cores.size()) group.cores[in_group] = this;
    }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    struct Located {
        int memory;  // a CanopyMemory
        std::uint64_t offset;
        Core* core;  // whose memory it is: this core, or one of its group
    };
    // The local memory that an address is in; nullopt: none.
    [[nodiscard]] std::optional<Located> locate(std::uint64_t address) {
        if (auto found = locate_in(*this, address)) return found;
        if (launch.shares_memories())
            for (Core* other : group.cores)
                if (other != nullptr && other != this)
                    if (auto found = locate_in(*other, address)) return found;
        return std::nullopt;
    }

    Launch& launch;
    const CoreFacts facts;
    Group& group;
    const std::uint32_t index;     // in the launch
    const std::uint32_t in_group;  // in its group
    Order order;
    Lines lines;
    Init* init = nullptr;  // its bytes that nobody has written; null: these are not checked
    // Meetings and waits for flags of other cores, which count on from those of the senders; and the instruction before
    // the last one. Cores are compared by these where nothing orders them.
    std::uint32_t phase = 0;
    Number phase_begin = 0;

private:
    static std::optional<Located> locate_in(Core& core, std::uint64_t address) {
        for (int memory = CANOPY_MEMORY_UB; memory < CANOPY_MEMORY_COUNT; ++memory) {
            const CoreFacts::Memory& place = core.facts.memory[memory];
            if (address - place.base < place.size) return Located{memory, address - place.base, &core};
        }
        return std::nullopt;
    }
};

}  // namespace canopy::check
