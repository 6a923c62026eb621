// SPDX-License-Identifier: Apache-2.0
// The table of chips. A new part is a new row.
#include "device/chip.h"

namespace canopy {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

// name, series, arch, cube, vector, cpu, copy, memory, L2, UB, L1, L0A, L0B, L0C, streams, events, notifies, padding,
// stack, simt
constexpr Chip chips[] = {
    {"Ascend910B4", "A2",     2201,     20,        40,   7,     4,    32 * gib, 96 * mib,  192 * kib,
     512 * kib,     64 * kib, 64 * kib, 128 * kib, 1984, 65536, 8192, 32,       192 * kib, false},
    {"Ascend910B1", "A2",     2201,     24,        48,   7,     4,    64 * gib, 192 * mib, 192 * kib,
     512 * kib,     64 * kib, 64 * kib, 128 * kib, 1984, 65536, 8192, 32,       192 * kib, false},
    {"Ascend910B2", "A2",     2201,     24,        48,   7,     4,    64 * gib, 192 * mib, 192 * kib,
     512 * kib,     64 * kib, 64 * kib, 128 * kib, 1984, 65536, 8192, 32,       192 * kib, false},
    {"Ascend910B3", "A2",     2201,     20,        40,   7,     4,    64 * gib, 192 * mib, 192 * kib,
     512 * kib,     64 * kib, 64 * kib, 128 * kib, 1984, 65536, 8192, 32,       192 * kib, false},
    {"Ascend910_9391", "A3",     2201,     24,        48,   7,     4,    64 * gib, 192 * mib, 192 * kib,
     512 * kib,        64 * kib, 64 * kib, 128 * kib, 1984, 65536, 8192, 32,       192 * kib, false},
    {"Ascend950PR_9599", "A5",     3510,     32,        64,   8,     4,     128 * gib, 128 * mib, 256 * kib,
     512 * kib,          64 * kib, 64 * kib, 256 * kib, 1984, 65536, 65535, 0,         192 * kib, true},
};

}  // namespace

std::span<const Chip> all_chips() noexcept { return chips; }

const Chip& default_chip() noexcept { return *find_chip("Ascend910B1"); }

const Chip* find_chip(std::string_view name) noexcept {
    for (const Chip& chip : chips)
        if (chip.name == name) return &chip;
    if (name.empty()) return nullptr;
    for (const Chip& chip : chips)
        if (chip.name.starts_with(name)) return &chip;
    return nullptr;
}

}  // namespace canopy
