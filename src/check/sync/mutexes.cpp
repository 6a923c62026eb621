// SPDX-License-Identifier: Apache-2.0
#include "check/sync/mutexes.h"

#include <fmt/core.h>

#include "check/sync/event_ids.h"

namespace canopy::check {

void Mutexes::mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) {
    if (pipe >= CANOPY_CHECK_PIPES) return;
    const Reports::Side here{.site = site, .pipe = static_cast<int>(pipe), .core = &core_};
    if (id >= first_reserved)
        report_sync(core_, Level::error, "sync.mutex", "misused mutex",
                    fmt::format("id {}: a program has the ids 0 to {}", id, first_reserved - 1), "", {here});
    if (id >= id_count) return;
    Held& held = held_[id][pipe];
    if (lock == held.locked) {
        std::string text = lock ? fmt::format("{} locks id {} again before Unlock", pipe_name(pipe), id)
                                : fmt::format("{} unlocks id {}, which it has not locked", pipe_name(pipe), id);
        if (lock)
            report_sync(core_, Level::error, "sync.mutex", "misused mutex", std::move(text), "Unlock between them",
                        {{.site = held.site, .pipe = static_cast<int>(pipe), .core = &core_}, here});
        else
            report_sync(core_, Level::error, "sync.mutex", "misused mutex", std::move(text), "Lock before it", {here});
    }
    held = {lock, site};
    if (lock)
        core_.order.lock(pipe, id, site);
    else
        core_.order.unlock(pipe, id, site);
}

void Mutexes::end() {
    for (std::uint32_t id = 0; id < id_count; ++id)
        for (std::uint32_t pipe = 0; pipe < CANOPY_CHECK_PIPES; ++pipe)
            if (const Held& held = held_[id][pipe]; held.locked)
                report_sync(core_, Level::error, "sync.mutex", "mutex left locked",
                            fmt::format("{} holds id {} when the kernel ends", pipe_name(pipe), id), "Unlock",
                            {{.site = held.site, .pipe = static_cast<int>(pipe), .core = &core_}});
}

}  // namespace canopy::check
