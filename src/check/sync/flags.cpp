// SPDX-License-Identifier: Apache-2.0
#include "check/sync/flags.h"

#include <fmt/core.h>

#include "check/sync/keys.h"

namespace canopy::check {

void Flags::flag(bool set_it, std::uint32_t from, std::uint32_t to, std::int32_t id, bool in_pipe,
                 const CanopyCheckSite& site) {
    if (from >= CANOPY_CHECK_PIPES || to >= CANOPY_CHECK_PIPES) return;
    // A flag of a pipe for itself is the barrier of that pipe; its wait does nothing.
    if (from == to) {
        if (set_it) core_.order.barrier(from, site);
        return;
    }
    const PipePair event{static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to)};
    if (id < 0 || static_cast<unsigned>(id) >= ids_.limit()) {
        report_sync(core_, Level::error, "sync.ids", "event id out of range",
                    fmt::format("{} has the ids 0 to {}, not {}", event_name(event), ids_.limit() - 1, id), "",
                    {{.site = site, .core = &core_}});
        return;
    }
    if (!set_it) return wait(event, static_cast<unsigned>(id), site);
    check_reserved(event, static_cast<unsigned>(id), in_pipe, site);
    set(event, static_cast<unsigned>(id), site);
}

void Flags::set(PipePair event, unsigned id, const CanopyCheckSite& site) {
    std::optional<CanopyCheckSite>& up = up_[event.from][event.to][id];
    if (up)
        report_sync(
            core_, Level::error, "sync.double", "set_flag twice",
            fmt::format("{}, id {}, is set again before anything has waited for it", event_name(event), id),
            fmt::format("WaitFlag<HardEvent::{}>({}) between them", event_name(event), id),
            {{.site = *up, .pipe = event.from, .core = &core_}, {.site = site, .pipe = event.from, .core = &core_}});
    if (core_.launch.options.strict_ids) check_other_targets(event, id, site);
    up = site;
    core_.order.put(flag_key(event, id), event.from, site);
}

void Flags::wait(PipePair event, unsigned id, const CanopyCheckSite& site) {
    std::optional<CanopyCheckSite>& up = up_[event.from][event.to][id];
    if (up) {
        up.reset();
        core_.order.take(flag_key(event, id), event.to, site);
        return;
    }
    std::string text = fmt::format("{}, id {}, is not set: a chip waits for ever", event_name(event), id);
    for (unsigned other = 0; other < id_count; ++other)
        if (up_[event.from][event.to][other]) text += fmt::format("; id {} is set", other);
    report_sync(core_, Level::error, "sync.wait", "wait_flag without set_flag", std::move(text),
                fmt::format("SetFlag<HardEvent::{}>({}) before it", event_name(event), id),
                {{.site = site, .pipe = event.to, .core = &core_}});
}

void Flags::check_reserved(PipePair event, unsigned id, bool in_pipe, const CanopyCheckSite& site) {
    std::string text;
    if (!in_pipe && id >= 6)
        text = fmt::format("{}, id {}: without a TPipe the ids 6 and 7 are the system's", event_name(event), id);
    else if (ids_.belongs_to_queue(event, id))
        text = fmt::format("{}, id {}: TPipe or a queue holds this id here; AllocEventID gives one that is free",
                           event_name(event), id);
    else
        return;
    report_sync(core_, Level::warning, "sync.reserved-id", "reserved event id", std::move(text), "",
                {{.site = site, .pipe = event.from, .core = &core_}});
}

void Flags::check_other_targets(PipePair event, unsigned id, const CanopyCheckSite& site) {
    for (unsigned to = 0; to < CANOPY_CHECK_PIPES; ++to) {
        const std::optional<CanopyCheckSite>& other = up_[event.from][to][id];
        if (to == event.to || !other) continue;
        report_sync(
            core_, Level::warning, "sync.double", "set_flag twice",
            fmt::format("{} and {} are both set with id {}: they may be one flag", event_name(event.from, to),
                        event_name(event), id),
            "",
            {{.site = *other, .pipe = event.from, .core = &core_}, {.site = site, .pipe = event.from, .core = &core_}});
    }
}

void Flags::end() {
    for (unsigned from = 0; from < CANOPY_CHECK_PIPES; ++from)
        for (unsigned to = 0; to < CANOPY_CHECK_PIPES; ++to)
            for (unsigned id = 0; id < id_count; ++id)
                if (const auto& up = up_[from][to][id])
                    report_sync(core_, Level::error, "sync.set", "Unpaired set_flag",
                                fmt::format("{}, id {}, is set when the kernel ends: the next kernel finds it so",
                                            event_name(from, to), id),
                                fmt::format("WaitFlag<HardEvent::{}>({})", event_name(from, to), id),
                                {{.site = *up, .pipe = static_cast<int>(from), .core = &core_}});
}

}  // namespace canopy::check
