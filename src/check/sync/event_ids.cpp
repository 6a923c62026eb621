// SPDX-License-Identifier: Apache-2.0
#include "check/sync/event_ids.h"

#include <fmt/core.h>

#include <bit>

namespace canopy::check {

namespace {

constexpr PipePair m_mte1{CANOPY_CHECK_M, CANOPY_CHECK_MTE1};
constexpr unsigned held_by_pipe = 3;

}  // namespace

EventIds::EventIds(Core& core) : core_(core), limit_(core.launch.facts.architecture == 1001 ? 4 : 8) {}

void EventIds::report(PipePair event, const Pool& pool, const CanopyCheckSite& site) {
    const auto allocated = static_cast<unsigned>(std::popcount(pool.allocated));
    std::string text = fmt::format("{} has {} ids: queues hold {}, AllocEventID has given {} that are not released",
                                   event_name(event), limit_, pool.held, allocated);
    const Reports::Side here{.site = site, .core = &core_};
    if (allocated == 0)
        report_sync(core_, Level::error, "sync.ids", "event ids used up", std::move(text), "", {here});
    else
        report_sync(core_, Level::error, "sync.ids", "event ids used up", std::move(text), "ReleaseEventID",
                    {{.site = pool.first, .core = &core_}, here});
}

void EventIds::take(PipePair event, const CanopyCheckSite& site) {
    Pool& ids = pool(event);
    if (ids.held + static_cast<unsigned>(std::popcount(ids.allocated)) >= limit_) report(event, ids, site);
    ++ids.held;
}

void EventIds::give_back(PipePair event) {
    Pool& ids = pool(event);
    if (ids.held != 0) --ids.held;
}

void EventIds::event_id(std::uint32_t event, PipePair pair, std::int32_t id, const CanopyCheckSite& site) {
    if (pair.from >= CANOPY_CHECK_PIPES || pair.to >= CANOPY_CHECK_PIPES) return;
    Pool& ids = pool(pair);
    const auto bit = static_cast<std::uint16_t>(id >= 0 && id < 16 ? 1U << id : 0);
    if (event == CANOPY_CHECK_ID_ALLOCATE) {
        if (bit == 0 || ids.held + static_cast<unsigned>(std::popcount(ids.allocated)) >= limit_)
            report(pair, ids, site);
        if (ids.allocated == 0) ids.first = site;
        ids.allocated |= bit;
    } else if (event == CANOPY_CHECK_ID_RELEASE) {
        ids.allocated &= static_cast<std::uint16_t>(~bit);
    }
    ids.given |= bit;
}

void EventIds::reset() {
    for (auto& row : pools_)
        for (Pool& ids : row) ids.allocated = ids.held = 0;
}

void EventIds::pipe_begins() {
    if (core_.facts.cube && core_.launch.facts.architecture == 2201) pool(m_mte1).held = held_by_pipe;
}

bool EventIds::belongs_to_queue(PipePair event, unsigned id) const {
    const Pool& ids = pools_[event.from][event.to];
    if (ids.held == 0 || id >= limit_ || (ids.given >> id & 1) != 0) return false;
    // Queues hold the lowest ids that AllocEventID has not given away.
    const unsigned lower = id - static_cast<unsigned>(std::popcount(ids.allocated & ((1U << id) - 1)));
    return lower < ids.held;
}

}  // namespace canopy::check
