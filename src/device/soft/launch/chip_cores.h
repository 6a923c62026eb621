// SPDX-License-Identifier: Apache-2.0
// ChipCores: the AI cores of a chip, and how many of them a launch takes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/execution/core_flags.h"
#include "device/soft/code/kernel.h"

namespace canopy {

struct ChipCores {
    std::uint32_t cube = 1;
    std::uint32_t vector = 1;

    // How many groups of a launch may run at a time: as many as the chip has cores for, but at least one.
    [[nodiscard]] std::uint32_t resident_groups(const SoftKernel& kernel, std::uint32_t groups) const noexcept {
        if (kernel.type == CANOPY_CORE_AICORE) return std::min(groups, std::max(cube, 1u));
        if (kernel.group.cube != 0) groups = std::min(groups, cube / kernel.group.cube);
        if (kernel.group.vector != 0) groups = std::min(groups, vector / kernel.group.vector);
        return std::max(groups, 1u);
    }
    // The cores taken by that many groups.
    [[nodiscard]] CoreNeed cores_for(const SoftKernel& kernel, std::uint32_t groups) const noexcept {
        const bool coupled = kernel.type == CANOPY_CORE_AICORE;
        const std::uint32_t cubes = coupled ? groups : groups * kernel.group.cube;
        const std::uint32_t vectors = coupled ? 0 : groups * kernel.group.vector;
        return {std::min(cubes, cube), std::min(vectors, vector)};
    }
};

}  // namespace canopy
