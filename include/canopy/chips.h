// SPDX-License-Identifier: Apache-2.0
// The table of chips: the properties that programs query, and the limits that the software NPU enforces. Read by the
// runtime, the host tiling library and canopy-cc (C++17). To add a chip, add a row.
#ifndef CANOPY_CHIPS_H
#define CANOPY_CHIPS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace canopy {

struct Chip {
    std::string_view name;       // as returned by aclrtGetSocName
    std::string_view family;     // its name without the variant: "Ascend910B"
    std::string_view series;     // "A2", "A3", "A5"; the number of older chips
    std::uint32_t architecture;  // the kernel language's architecture number
    std::uint32_t cube_cores;    // AI cores: the cube cores of a split chip, all cores of a coupled one
    std::uint32_t vector_cores;  // cores that only do vector work
    std::uint32_t cpu_cores;
    std::uint64_t memory;  // bytes of device memory on the real part
    std::uint64_t l2_cache;
    std::uint32_t unified_buffer;  // bytes of the local memory for vector work
    std::uint32_t l1_buffer;
    std::uint32_t l0a_buffer, l0b_buffer, l0c_buffer;
    std::uint32_t bias_buffer, scale_buffer;  // bytes for the bias and for the scales of the cube's output
    std::uint32_t max_streams;
    std::uint32_t max_events;
    std::uint32_t max_notifies;
    std::uint32_t malloc_padding;  // bytes added to every plain allocation
    std::uint32_t max_stack;       // largest configurable stack of a block, in bytes
    bool simt;
};

namespace chip_rows {
inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

// Common to all chips of an architecture.
struct Core {
    std::uint32_t unified_buffer, l1, l0a, l0b, l0c, bias, scale;
};
inline constexpr Core core_1001 = {256 * kib, 1024 * kib, 64 * kib, 64 * kib, 256 * kib, 0, 0};
inline constexpr Core core_2002 = core_1001;
inline constexpr Core core_2201 = {192 * kib, 512 * kib, 64 * kib, 64 * kib, 128 * kib, 1 * kib, 7 * kib};
inline constexpr Core core_3002 = {248 * kib, 1024 * kib, 64 * kib, 64 * kib, 128 * kib, 0, 0};
inline constexpr Core core_3510 = {256 * kib, 512 * kib, 64 * kib, 64 * kib, 256 * kib, 4 * kib, 16 * kib};

// Cores of a chip: AI cores, vector cores, CPU cores.
struct Cores {
    std::uint32_t cube, vector, cpu;
};
struct Limits {
    std::uint32_t notifies, padding;
};

constexpr Chip row(std::string_view name, std::string_view family, std::string_view series, std::uint32_t architecture,
                   Cores cores, std::uint64_t memory, std::uint64_t l2_cache, Core core, Limits limits, bool simt) {
    return {name,         family,    series,   architecture,    cores.cube,
            cores.vector, cores.cpu, memory,   l2_cache,        core.unified_buffer,
            core.l1,      core.l0a,  core.l0b, core.l0c,        core.bias,
            core.scale,   1984,      65536,    limits.notifies, limits.padding,
            192 * kib,    simt};
}

// The first row of a family also serves names of the family that have no row.
inline constexpr Chip chip_table[] = {
    row("Ascend910B1", "Ascend910B", "A2", 2201, {24, 48, 7}, 64 * gib, 192 * mib, core_2201, {8192, 32}, false),
    row("Ascend910B2", "Ascend910B", "A2", 2201, {24, 48, 7}, 64 * gib, 192 * mib, core_2201, {8192, 32}, false),
    row("Ascend910B3", "Ascend910B", "A2", 2201, {20, 40, 7}, 64 * gib, 192 * mib, core_2201, {8192, 32}, false),
    row("Ascend910B4", "Ascend910B", "A2", 2201, {20, 40, 7}, 32 * gib, 96 * mib, core_2201, {8192, 32}, false),
    row("Ascend910_9391", "Ascend910_93", "A3", 2201, {24, 48, 7}, 64 * gib, 192 * mib, core_2201, {8192, 32}, false),
    row("Ascend950PR_9599", "Ascend950", "A5", 3510, {32, 64, 8}, 128 * gib, 128 * mib, core_3510, {65535, 0}, true),
    row("Ascend910_9599", "Ascend910_95", "A5", 3510, {32, 64, 8}, 128 * gib, 128 * mib, core_3510, {65535, 0}, true),
    row("Ascend910A", "Ascend910", "910", 1001, {32, 0, 14}, 32 * gib, 32 * mib, core_1001, {8192, 32}, false),
    row("Ascend310P3", "Ascend310P", "310P", 2002, {8, 7, 7}, 24 * gib, 16 * mib, core_2002, {8192, 32}, false),
    row("Ascend310P1", "Ascend310P", "310P", 2002, {10, 8, 7}, 24 * gib, 16 * mib, core_2002, {8192, 32}, false),
    row("Ascend310B1", "Ascend310B", "310B", 3002, {1, 0, 4}, 16 * gib, 4 * mib, core_3002, {8192, 32}, false),
    row("Ascend310B4", "Ascend310B", "310B", 3002, {1, 0, 4}, 8 * gib, 4 * mib, core_3002, {8192, 32}, false),
};
}  // namespace chip_rows

using chip_rows::chip_table;

constexpr const Chip& default_chip() noexcept { return chip_table[0]; }

namespace chip_names {
constexpr char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
// Whether `text` begins with `prefix`, ignoring case.
constexpr bool begins(std::string_view text, std::string_view prefix) noexcept {
    if (text.size() < prefix.size()) return false;
    for (std::size_t at = 0; at < prefix.size(); ++at)
        if (lower(text[at]) != lower(prefix[at])) return false;
    return true;
}
}  // namespace chip_names

// By name, ignoring case. A name without a row gets the first row of its family: "Ascend910B" and "Ascend910B2C" are
// the Ascend910B1. nullptr if no family matches.
constexpr const Chip* find_chip(std::string_view name) noexcept {
    const Chip* best = nullptr;
    for (const Chip& chip : chip_table) {
        if (name.size() == chip.name.size() && chip_names::begins(name, chip.name)) return &chip;
        if (!chip_names::begins(name, chip.family)) continue;
        if (best == nullptr || chip.family.size() > best->family.size()) best = &chip;
    }
    return best;
}

// The first chip with this architecture, which is the default chip if that has it; nullptr if there is none.
constexpr const Chip* chip_of_architecture(std::uint32_t architecture) noexcept {
    for (const Chip& chip : chip_table)
        if (chip.architecture == architecture) return &chip;
    return nullptr;
}

// Whether a core of these chips has both a cube and a vector unit.
constexpr bool is_coupled(std::uint32_t architecture) noexcept {
    return architecture == 1001 || architecture == 2002 || architecture == 3002;
}

}  // namespace canopy

#endif
