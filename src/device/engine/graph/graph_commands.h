// SPDX-License-Identifier: Apache-2.0
// GraphCommands: the commands of a graph, stored with everything they point at.
//
// Threads: the graph's lock guards changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/device.h"

namespace canopy {

class GraphCommands {
public:
    ~GraphCommands();
    Status add_lane(std::span<const Command> commands);
    [[nodiscard]] std::span<Command> lane(std::uint32_t index) noexcept { return lanes_[index].commands; }
    [[nodiscard]] std::uint32_t lane_count() const noexcept { return static_cast<std::uint32_t>(lanes_.size()); }
    [[nodiscard]] bool contains(GraphPlace place) const noexcept {
        return place.lane < lanes_.size() && place.position < lanes_[place.lane].commands.size();
    }
    // Replaces a command. `own`: memory with the new command's payload, which is kept if it is needed.
    void replace(GraphPlace place, const Command& command, std::unique_ptr<char[]> own) noexcept;
    // Size in bytes of a command's payload.
    static std::size_t payload_size(const Command& command) noexcept;

private:
    struct Stored {
        std::vector<Command> commands;
        std::vector<std::uint32_t> room;  // bytes of each command's payload memory
        std::unique_ptr<char[]> memory;
        std::vector<std::pair<std::uint32_t, std::unique_ptr<char[]>>> grown;  // of commands whose payload got larger
    };
    static void store_payload(Command& command, char* to) noexcept;
    static void keep(Stored& lane, std::uint32_t position, std::unique_ptr<char[]> memory) noexcept;
    static void retain(const Command& command) noexcept;
    static void release(const Command& command) noexcept;
    std::vector<Stored> lanes_;
};

}  // namespace canopy
