// SPDX-License-Identifier: Apache-2.0
#include "check/sync/meetings.h"

#include <canopy/kernel_abi.h>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace canopy::check {

namespace {

constexpr std::uint32_t ids_of_mode_4 = 16;  // of one vector core
constexpr std::uint32_t first_meeting_id = 11, last_meeting_id = 14;
constexpr std::size_t most_names = 4;

// Modes 0 to 2 share the counters of a core; mode 4 has separate ones.
std::uint64_t counter_of(std::uint32_t core, std::uint32_t mode, std::uint32_t id) {
    return std::uint64_t{core} << 8 | (mode == 4 ? 0x80U : 0U) | (id & 0x7f);
}

bool same_group(const Core& a, const Core& b) { return a.facts.block == b.facts.block; }

}  // namespace

Meetings::Member& Meetings::member(Core& core) {
    Member& found = members_[core.index];
    found.core = &core;
    return found;
}

std::string Meetings::name_of(std::uint32_t core) const {
    const std::uint32_t group = core / launch_.cores_of_group(), place = core % launch_.cores_of_group();
    const std::uint32_t cubes = launch_.facts.cube_cores;
    if (place < cubes) return fmt::format("aic({})", group * cubes + place);
    return fmt::format("aiv({})", group * launch_.facts.vector_cores + place - cubes);
}

void Meetings::check_use(Core& core, const char* what, bool hardware, bool all_blocks, const CanopyCheckSite& site) {
    const LaunchFacts& facts = launch_.facts;
    const Reports::Side here{.site = site, .core = &core};
    if (hardware && !facts.mix && launch_.reports.first(std::string("sync.kind ") + what))
        launch_.reports.add(Level::error, "sync.kind", nullptr, -1, "kernel without a scheduler for its flags",
                            fmt::format("{} needs a kernel declared with __mix__(...): in this one it hangs", what),
                            "__mix__", {here});
    if (all_blocks && facts.cores_of_chip != 0 && facts.blocks > facts.cores_of_chip &&
        launch_.reports.first("sync.blocks"))
        launch_.reports.add(Level::error, "sync.blocks", nullptr, -1, "more blocks than cores",
                            fmt::format("{} blocks wait for each other, and the chip runs {} at a time", facts.blocks,
                                        facts.cores_of_chip),
                            "", {here});
}

// ---- counters ------------------------------------------------------------------------------------------------------

void Meetings::flag(Core& core, bool set, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site) {
    check_use(core, set ? "CrossCoreSetFlag" : "CrossCoreWaitFlag", true, mode == 0 && set, site);
    const MutexLock lock(mutex_);
    member(core);
    if (mode != 4 && id >= first_meeting_id && id <= last_meeting_id) {
        own_use_ = {.site = site, .core = &core};
        check_reserved();
    }
    if (!set) {
        const auto found = counters_.find(counter_of(core.index, mode, id));
        if (found != counters_.end() && found->second.value != 0) --found->second.value;
        return;
    }
    const std::uint32_t first = core.facts.block * launch_.cores_of_group(), cubes = launch_.facts.cube_cores;
    if (mode == 4 && core.facts.cube && id / ids_of_mode_4 >= launch_.facts.vector_cores) return;
    if (mode == 4 && core.facts.cube)
        deliver(core, first + cubes + id / ids_of_mode_4, mode, id % ids_of_mode_4, site);
    else if (mode == 4)
        deliver(core, first, mode, id + ids_of_mode_4 * core.facts.sub_index, site);
    else if (mode == 2 && core.facts.cube)
        for (std::uint32_t i = 0; i < launch_.facts.vector_cores; ++i) deliver(core, first + cubes + i, mode, id, site);
    else
        gather(core, mode, id, site);
}

// The flag reaches its receivers when all senders have set it.
void Meetings::gather(Core& core, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site) {
    const std::uint32_t group_size = launch_.cores_of_group(), cubes = launch_.facts.cube_cores;
    const bool cube = mode == 0 && core.facts.cube;
    const std::uint32_t first = mode == 0 ? 0 : core.facts.block, last = mode == 0 ? launch_.facts.blocks : first + 1;
    const std::uint32_t in_group = cube ? cubes : launch_.facts.vector_cores;
    Gathering& gathering = gatherings_[std::uint64_t{first} << 16 | (cube ? 0x8000U : 0U) | mode << 8 | (id & 0xff)];
    gathering.setter = &core;
    gathering.site = site;
    ++gathering.sent[core.index];
    if (gathering.sent.size() < std::size_t{in_group} * (last - first)) return;
    for (auto sent = gathering.sent.begin(); sent != gathering.sent.end();)
        sent = --sent->second == 0 ? gathering.sent.erase(sent) : std::next(sent);
    for (std::uint32_t group = first; group < last; ++group) {
        if (mode == 2)
            deliver(core, group * group_size, mode, id, site);
        else
            for (std::uint32_t i = 0; i < in_group; ++i)
                deliver(core, group * group_size + (cube ? 0 : cubes) + i, mode, id, site);
    }
}

void Meetings::deliver(Core& core, std::uint32_t receiver, std::uint32_t mode, std::uint32_t id,
                       const CanopyCheckSite& site) {
    Counter& counter = counters_[counter_of(receiver, mode, id)];
    const Reports::Side earlier{.site = counter.site, .core = counter.setter}, here{.site = site, .core = &core};
    if (counter.value != 0 && counter.mode != mode)
        launch_.reports.add(Level::warning, "sync.mode", nullptr, -1, "one flag in two modes",
                            fmt::format("flag {} of {} is set with mode {} and with mode {} before it is waited for",
                                        id, name_of(receiver), counter.mode, mode),
                            "", {earlier, here});
    if (++counter.value == CANOPY_FLAG_LIMIT + 1)
        launch_.reports.add(Level::error, "sync.counter", nullptr, -1, "counter of a flag overflows",
                            fmt::format("flag {} of {} has been set {} times more than waited for; it counts to {}", id,
                                        name_of(receiver), counter.value, CANOPY_FLAG_LIMIT),
                            "CrossCoreWaitFlag", {here});
    counter.mode = static_cast<std::uint8_t>(mode);
    counter.setter = &core;
    counter.site = site;
}

void Meetings::check_reserved() {
    if (meeting_.core == nullptr || own_use_.core == nullptr || !launch_.reports.first("sync.reserved-id")) return;
    launch_.reports.add(Level::warning, "sync.reserved-id", nullptr, -1, "reserved flag",
                        fmt::format("SyncAll uses the flags {} to {}", first_meeting_id, last_meeting_id), "",
                        {meeting_, own_use_});
}

void Meetings::report_counters() {
    const auto report = [&](const Core* setter, const CanopyCheckSite& site, std::string text) {
        launch_.reports.add(Level::error, "sync.counter", nullptr, -1, "flag of a core left set", std::move(text),
                            "CrossCoreWaitFlag", {{.site = site, .core = setter}});
    };
    for (const auto& [key, counter] : counters_)
        if (counter.value != 0)
            report(counter.setter, counter.site,
                   fmt::format("flag {} of {} is {} when the kernel ends: the next kernel finds it so", key & 0x7f,
                               name_of(static_cast<std::uint32_t>(key >> 8)), counter.value));
    for (const auto& [key, gathering] : gatherings_)
        if (!gathering.sent.empty())
            report(gathering.setter, gathering.site,
                   fmt::format("flag {} with mode {} is set by {} of the cores that must set it", key & 0xff,
                               key >> 8 & 0x7f, gathering.sent.size()));
}

// ---- meetings ------------------------------------------------------------------------------------------------------

void Meetings::meet(Core& core, std::uint32_t kind, std::uint32_t scope, bool begin, const CanopyCheckSite& site) {
    if (kind > CANOPY_CHECK_MEET_SOFTWARE || scope >= scope_count) return;
    const bool hardware = kind == CANOPY_CHECK_MEET_HARDWARE;
    if (begin) check_use(core, "SyncAll", hardware, scope != CANOPY_SYNC_PAIR, site);
    const MutexLock lock(mutex_);
    Member::Met& met = member(core).met[kind][scope];
    met.waits = begin;
    if (!begin) return;
    ++met.times;
    met.last = site;
    if (!hardware) return;
    meeting_ = {.site = site, .core = &core};
    check_reserved();
}

void Meetings::core_ended(const Core& core, bool complete) {
    const MutexLock lock(mutex_);
    Member& found = members_[core.index];
    found.core = &core;
    found.ended = true;
    found.complete = complete;
}

void Meetings::end() {
    const MutexLock lock(mutex_);
    for (std::uint32_t kind = 0; kind <= CANOPY_CHECK_MEET_SOFTWARE; ++kind)
        for (std::uint32_t scope = 0; scope < scope_count; ++scope) report_arrivals(kind, scope);
    const bool complete =
        std::ranges::all_of(members_, [](const auto& each) { return each.second.ended && each.second.complete; });
    if (complete) report_counters();
}

void Meetings::report_arrivals(std::uint32_t kind, std::uint32_t scope) {
    // Those that ought to meet, in the order of the cores; of pairs, group by group.
    std::vector<const Member*> all;
    for (const auto& [index, member] : members_)
        if (scope == CANOPY_SYNC_ALL || member.core->facts.cube == (scope == CANOPY_SYNC_CUBE)) all.push_back(&member);
    std::ranges::sort(all, {}, [](const Member* member) { return member->core->index; });
    while (!all.empty()) {
        auto end = all.end();
        if (scope == CANOPY_SYNC_PAIR)
            end = std::find_if(all.begin(), all.end(),
                               [&](const Member* member) { return !same_group(*member->core, *all.front()->core); });
        compare({all.begin(), end}, kind, scope);
        all.erase(all.begin(), end);
    }
}

void Meetings::compare(const std::vector<const Member*>& members, std::uint32_t kind, std::uint32_t scope) {
    const auto met = [&](const Member* member) -> const Member::Met& { return member->met[kind][scope]; };
    // A core that was stopped elsewhere might have come.
    const bool all_known =
        std::ranges::all_of(members, [&](const Member* member) { return member->complete || met(member).waits; });
    const auto most = std::ranges::max_element(
        members, {}, [&](const Member* member) { return std::pair(met(member).times, met(member).waits); });
    const Member* fewest = nullptr;
    for (const Member* member : members)
        if (member->complete && (fewest == nullptr || met(member).times < met(fewest).times)) fewest = member;
    if (fewest == nullptr || met(*most).times <= met(fewest).times) return;
    if (!all_known && !met(*most).waits) return;
    std::string text;
    std::size_t named = 0;
    for (const Member* member : members)
        if (member == *most || member == fewest || named < most_names - 2) {
            ++named;
            text += fmt::format("{}{} {} {} times", text.empty() ? "" : ", ", member->core->name(),
                                met(member).waits ? "waits, having come" : "has come", met(member).times);
        }
    if (named < members.size()) text += fmt::format(", and {} more cores", members.size() - named);
    // Where a core that never came was last.
    CanopyCheckSite last = met(fewest).last;
    if (const Line* line = fewest->core->lines.at(fewest->core->order.number()); last.line == 0 && line != nullptr)
        last = line->site;
    const Reports::Side sides[] = {{.site = last, .core = fewest->core},
                                   {.site = met(*most).last, .core = (*most)->core}};
    launch_.reports.add(Level::error, "sync.arrival", nullptr, -1, "cores meet different numbers of times",
                        std::move(text), "", sides);
}

}  // namespace canopy::check
