// SPDX-License-Identifier: Apache-2.0
// Mutex::Lock and Unlock of 950.
#pragma once

#include <array>
#include <cstdint>

#include "check/model/core.h"

namespace canopy::check {

class Mutexes {
public:
    explicit Mutexes(Core& core) : core_(core) {}

    void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site);
    // The kernel has returned.
    void end();

private:
    static constexpr std::uint32_t id_count = 32;
    static constexpr std::uint32_t first_reserved = 28;

    struct Held {
        bool locked = false;
        CanopyCheckSite site{};
    };

    Core& core_;
    std::array<std::array<Held, CANOPY_CHECK_PIPES>, id_count> held_{};
};

}  // namespace canopy::check
