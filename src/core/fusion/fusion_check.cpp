// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_check.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error_text.h"
#include "core/fusion/temporaries.h"

namespace canopy {

// ---- the plan ------------------------------------------------------------------------------------------------------

namespace {

// Appends a one-step part that waits for everything before it.
void append(FusionPlan& plan, FusedStep step) {
    FusedPart part;
    part.first = static_cast<std::uint32_t>(plan.steps.size());
    part.after.resize(plan.parts.size());
    std::iota(part.after.begin(), part.after.end(), 0u);
    plan.steps.push_back(std::move(step));
    plan.parts.push_back(std::move(part));
}

}  // namespace

void FusionCheck::append_call(FusionPlan& plan, FusedCall call, std::uint32_t index) {
    places_.push_back(std::make_unique<Place>(Place{this, index}));
    FusedStep step;
    step.action = FusedAction::call;
    step.number = list_.steps[index].number;
    step.kernel = list_.steps[index].kernel.kernel;
    step.call = call;
    step.call_context = places_.back().get();
    append(plan, std::move(step));
}

FusionPlan FusionCheck::around(FusionPlan plan) {
    FusionPlan checked;
    checked.name = plan.name;
    checked.arguments_size = plan.arguments_size;
    checked.profile_slot = plan.profile_slot;
    checked.preload = plan.preload;
    append_call(checked, save, 0);
    const std::uint32_t first_step = 1, first_part = 1;
    std::vector<FusedStep> resets;  // of words, run last
    for (FusedPart& part : plan.parts) {
        if (plan.steps[part.first].action == FusedAction::write_word && plan.steps[part.first].value == 0) {
            resets.push_back(plan.steps[part.first]);
            continue;
        }
        FusedPart moved = part;
        moved.first += first_step;
        for (std::uint32_t& before : moved.after) before += first_part;
        moved.after.insert(moved.after.begin(), 0);
        checked.parts.push_back(std::move(moved));
        for (std::uint32_t step = part.first; step < part.first + part.count; ++step)
            checked.steps.push_back(plan.steps[step]);
    }
    append_call(checked, restore, 0);
    for (std::uint32_t index = 0; index < list_.steps.size(); ++index) {
        for (const FusedStep& step : plan.steps) {
            if (step.action != FusedAction::kernel || step.number != list_.steps[index].number) continue;
            append(checked, step);
            checked.steps.back().timed = false;
            append_call(checked, note, index);
        }
    }
    append_call(checked, compare, static_cast<std::uint32_t>(list_.steps.size() - 1));
    for (FusedStep& reset : resets) append(checked, std::move(reset));
    return checked;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

namespace {

// Null if it cannot be read.
DeviceAddress address_in(DeviceAddress arguments, std::uint32_t slot) noexcept {
    DeviceAddress address{};
    read_device(&address, arguments + std::size_t{slot} * 8, sizeof(address)).ignore();
    return address;
}

FusedCallResult unreadable() { return {0, "the memory of the fused kernel cannot be read"}; }

}  // namespace

Status FusionCheck::read(const Area& area, std::size_t offset, std::span<std::byte> to) noexcept {
    return read_device(to.data(), area.base + offset, to.size());
}

FusionCheck::Run& FusionCheck::run_of(DeviceAddress arguments) {
    MutexLock lock(mutex_);
    return runs_[arguments];
}

FusedCallResult FusionCheck::save(void* context, DeviceAddress arguments) {
    FusionCheck& check = *static_cast<Place*>(context)->check;
    Run& run = check.run_of(arguments);
    run.areas.clear();
    for (std::uint32_t slot = 0; slot < check.list_.slots; ++slot) {
        const DeviceAddress value = address_in(arguments, slot);
        if (!check.device_.owns(value)) continue;
        const auto region = check.device_.find(value);
        if (!region) continue;
        const auto same = [&](const Area& area) { return area.base == region->base; };
        if (std::any_of(run.areas.begin(), run.areas.end(), same)) continue;
        Area& area = run.areas.emplace_back();
        area.base = region->base;
        area.before.resize(region->size);
        if (!read(area, 0, area.before).ok()) return unreadable();
        area.writer.resize(region->size);
    }
    return {};
}

// Keeps the profile times written by the fused form.
void FusionCheck::keep_profile(DeviceAddress arguments, Area& area) const {
    if (list_.profile_slot == no_slot) return;
    const std::size_t at = address_in(arguments, list_.profile_slot) - area.base;
    if (at < area.before.size()) read(area, at, std::span(area.before).subspan(at)).ignore();
}

// Event words shared with other streams are left untouched: others may wait for them, or have written them.
void FusionCheck::keep_words(DeviceAddress arguments, Area& area) const {
    const auto keep = [&](std::uint32_t slot) {
        const std::size_t at = address_in(arguments, slot) - area.base;
        if (at + sizeof(std::uint64_t) <= area.before.size() && at < area.before.size())
            read(area, at, std::span(area.before).subspan(at, sizeof(std::uint64_t))).ignore();
    };
    keep_profile(arguments, area);
    for (const ListStep& step : list_.steps) {
        for (const auto* slots : {&step.wait_slots, &step.notify_slots, &step.reset_slots})
            std::for_each(slots->begin(), slots->end(), keep);
        if (step.dynamic && step.dynamic->wait_slot != no_slot) keep(step.dynamic->wait_slot);
    }
}

FusedCallResult FusionCheck::restore(void* context, DeviceAddress arguments) {
    const FusionCheck& check = *static_cast<Place*>(context)->check;
    Run& run = static_cast<Place*>(context)->check->run_of(arguments);
    for (Area& area : run.areas) {
        area.fused.resize(area.before.size());
        if (!read(area, 0, area.fused).ok()) return unreadable();
        check.keep_words(arguments, area);
        if (!write_device(area.base, area.before.data(), area.before.size()).ok()) return unreadable();
        area.last = area.before;
    }
    return {};
}

FusedCallResult FusionCheck::note(void* context, DeviceAddress arguments) {
    const Place& place = *static_cast<Place*>(context);
    Run& run = place.check->run_of(arguments);
    for (Area& area : run.areas) {
        std::vector<std::byte> now(area.last.size());
        if (!read(area, 0, now).ok()) return unreadable();
        if (std::memcmp(area.last.data(), now.data(), now.size()) == 0) continue;
        for (std::size_t byte = 0; byte < now.size(); ++byte) {
            if (area.last[byte] == now[byte]) continue;
            area.last[byte] = now[byte];
            area.writer[byte] = static_cast<std::uint16_t>(place.index + 1);
        }
    }
    return {};
}

// Temporaries may have any contents afterwards.
bool FusionCheck::ignored(DeviceAddress arguments, DeviceAddress at) const {
    if (temporary_bytes(at) != 0) return true;
    for (const std::uint32_t slot : list_.temporaries) {
        const auto region = device_.find(address_in(arguments, slot));
        if (region && region->contains(at)) return true;
    }
    return false;
}

FusedCallResult FusionCheck::compare(void* context, DeviceAddress arguments) {
    FusionCheck& check = *static_cast<Place*>(context)->check;
    Run& run = check.run_of(arguments);
    constexpr std::uint32_t nobody = UINT32_MAX - 1;  // sorts after every step
    std::uint32_t first = UINT32_MAX;
    DeviceAddress where{};
    unsigned is = 0, was = 0;
    for (const Area& area : run.areas) {
        std::vector<std::byte> now(area.fused.size());
        if (!read(area, 0, now).ok()) return unreadable();
        if (std::memcmp(area.fused.data(), now.data(), now.size()) == 0) continue;
        for (std::size_t byte = 0; byte < area.fused.size(); ++byte) {
            const std::uint32_t writer = area.writer[byte] == 0 ? nobody : area.writer[byte] - 1u;
            if (area.fused[byte] == now[byte] || writer >= first || check.ignored(arguments, area.base + byte))
                continue;
            first = writer;
            where = area.base + byte;
            is = std::to_integer<unsigned>(area.fused[byte]);
            was = std::to_integer<unsigned>(now[byte]);
        }
    }
    {
        MutexLock lock(check.mutex_);
        check.runs_.erase(arguments);
    }
    if (!where) return {};
    const ListStep& step = check.list_.steps[std::min<std::size_t>(first, check.list_.steps.size() - 1)];
    return {
        step.number,
        fmt::format("the fused kernel differs from its steps: the byte at {} is {:#04x} instead of {:#04x}, {}", where,
                    is, was,
                    first == nobody ? std::string("which no step changes")
                                    : fmt::format("which step {} ({}) writes last", step.number, step.kernel.name))};
}

}  // namespace canopy
