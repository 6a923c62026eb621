// SPDX-License-Identifier: Apache-2.0
// Flags between the pipes of a core, as a program sets and waits for them.
#pragma once

#include <array>
#include <optional>

#include "check/model/core.h"
#include "check/sync/event_ids.h"

namespace canopy::check {

class Flags {
public:
    Flags(Core& core, const EventIds& ids) : core_(core), ids_(ids) {}

    // `in_pipe`: a TPipe lives or has lived.
    void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, bool in_pipe,
              const CanopyCheckSite& site);
    // The kernel has returned: flags that are up stay up for the next one.
    void end();

private:
    static constexpr unsigned id_count = 8;
    using Up = std::array<std::optional<CanopyCheckSite>, id_count>;  // where each id was set

    void set(PipePair event, unsigned id, const CanopyCheckSite& site);
    void wait(PipePair event, unsigned id, const CanopyCheckSite& site);
    void check_reserved(PipePair event, unsigned id, bool in_pipe, const CanopyCheckSite& site);
    void check_other_targets(PipePair event, unsigned id, const CanopyCheckSite& site);

    Core& core_;
    const EventIds& ids_;
    std::array<std::array<Up, CANOPY_CHECK_PIPES>, CANOPY_CHECK_PIPES> up_{};
};

}  // namespace canopy::check
