// SPDX-License-Identifier: Apache-2.0
// The chips that npu-smi shows: the devices of the settings, with the figures of all programs of this user that use
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npu_smi {

struct ChipUser {
    int process = 0;
    std::string name;
    std::uint64_t memory = 0;  // bytes
};

struct Chip {
    std::uint32_t number = 0;
    std::string soc;     // "Ascend910B1"
    std::string bus_id;  // "0000:C1:00.0"
    std::uint32_t cores = 0, vector_cores = 0;
    std::uint64_t memory = 0, memory_used = 0;  // bytes
    // Percent of about the last second: all cores, cube cores, vector cores, CPU cores.
    int core_share = 0, cube_share = 0, vector_share = 0, cpu_share = 0;
    std::vector<ChipUser> users;

    [[nodiscard]] std::string short_name() const;  // "910B1"
    [[nodiscard]] int memory_share() const;        // percent
    [[nodiscard]] std::uint64_t memory_mib() const { return memory >> 20; }
    [[nodiscard]] std::uint64_t memory_used_mib() const { return memory_used >> 20; }
};

// By number.
std::vector<Chip> read_chips();

// What the sensors of this computer say; empty where there is none.
struct Sensors {
    std::optional<double> watts;
    std::optional<int> celsius;
};
Sensors read_sensors();
// "NA" without a value.
std::string watts_text(const Sensors& sensors);
std::string celsius_text(const Sensors& sensors);

}  // namespace npu_smi
