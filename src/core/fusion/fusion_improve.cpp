// SPDX-License-Identifier: Apache-2.0
// Improves a variant: traces of its steps, a plan with chains, compiled loops. Also reports on it.
#include "core/fusion/fusion.h"

#include <algorithm>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/fusion/fused_loops.h"
#include "core/fusion/fusion_recipe.h"
#include "core/fusion/fusion_scratch.h"
#include "core/fusion/fusion_work.h"
#include "foundation/clock.h"

namespace canopy {

// State of a variant while it is being improved.
struct Fusion::Improvement {
    std::vector<std::optional<LaunchTrace>> traces;  // one per listed step
    std::vector<StepAccess> accesses;
    PlannedFusion planned;
    std::vector<std::string> code;  // per part: name of its compiled loops; empty if it has none
    std::string recipe;             // name to cache the results under; empty: not cached
    VariantReport report;
};

namespace {

double milliseconds_since(Nanoseconds start) { return static_cast<double>(now() - start) / millisecond; }

// The message of the latest refusal on this thread.
std::string refusal() {
    const char* text = take_error_text();
    return text ? text : "no reason given";
}

}  // namespace

void Fusion::trace_steps(const FusionVariant& variant, Improvement& work) const {
    const Nanoseconds start = now();
    work.traces.resize(list_.steps.size());
    for (std::size_t index = 0; index < list_.steps.size(); ++index) {
        const ListStep& step = list_.steps[index];
        if (step.dynamic || !step.kernel.module) continue;
        TraceRequest request;
        request.kernel = step.kernel.kernel;
        request.arguments =
            std::span(variant.arguments).subspan(std::size_t{step.slot} * 8, std::size_t{step.slots} * 8);
        request.blocks = step.blocks;
        request.dynamic_size = step.dynamic_size;
        request.regions = variant.regions;
        Result<LaunchTrace> trace = step.kernel.module->trace(request);
        if (trace.ok()) {
            work.accesses[index] = access_of(*trace);
            work.traces[index] = std::move(*trace);
        } else {
            work.report.refusals.push_back(fmt::format("step {} ({}): {}", step.number, step.kernel.name, refusal()));
        }
    }
    work.report.trace_milliseconds = milliseconds_since(start);
}

// Uses the recipe left by an earlier launch of the same kind.
bool Fusion::improve_by_recipe(FusionVariant& variant, const std::string& name, Nanoseconds start) {
    std::optional<FusionRecipe> recipe = find_recipe(name, list_, device_);
    if (!recipe) return false;
    MutexLock lock(mutex_);
    if (!adopt(variant, std::move(recipe->planned), "loops").ok()) return false;
    VariantReport& report = variant.report;
    report.refusals = std::move(recipe->refusals);
    report.looped = recipe->looped;
    report.stores_dropped = recipe->stores_dropped;
    report.total_milliseconds = milliseconds_since(start);
    report.from_cache = true;
    return true;
}

void Fusion::improve(FusionVariant& variant) {
    const Nanoseconds start = now();
    Improvement work;
    if (makes_loops()) {
        work.recipe = recipe_name(list_, variant, device_, level_);
        if (!work.recipe.empty() && improve_by_recipe(variant, work.recipe, start)) return;
    }
    work.accesses = declared(variant);
    trace_steps(variant, work);
    work.planned = make_plan({&list_, work.accesses, level_});
    if (!device_.info().checking) {
        const auto unread = [&](std::int32_t region, std::span<const std::uint32_t> steps) {
            return temporary(variant, work, region, steps);
        };
        find_scratches({&list_, &variant, work.traces, unread}, work.planned);
    }
    if (work.planned.figures.traced != 0) {
        work.report.total_milliseconds = milliseconds_since(start);
        MutexLock lock(mutex_);
        if (!adopt(variant, work.planned, level_ >= FusionLevel::chains ? "chains" : "steps").ok()) return;
        VariantReport report = std::move(variant.report);
        report.refusals = work.report.refusals;
        report.trace_milliseconds = work.report.trace_milliseconds;
        report.total_milliseconds = work.report.total_milliseconds;
        variant.report = std::move(report);
    } else {
        MutexLock lock(mutex_);
        variant.report.refusals = work.report.refusals;
        variant.report.trace_milliseconds = work.report.trace_milliseconds;
        return;
    }
    if (makes_loops()) compile(variant, work);
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// True if nothing outside these steps reads what they leave in the region.
bool Fusion::temporary(const FusionVariant& variant, const Improvement& work, std::int32_t region,
                       std::span<const std::uint32_t> steps) const {
    const auto among = [&](std::uint32_t index) { return std::find(steps.begin(), steps.end(), index) != steps.end(); };
    for (std::uint32_t index = 0; index < list_.steps.size(); ++index) {
        if (among(index)) continue;
        const StepAccess& access = work.accesses[index];
        if (access.knowledge == Knowledge::nothing) return false;
        for (const Touched& each : access.touched)
            if (each.region == region && !each.write) return false;
    }
    // A temporary of the list has no size: everything else in its allocation must be temporary too.
    const auto listed = [&](const SlotAddress& address) {
        return address.region != region ||
               std::find(list_.temporaries.begin(), list_.temporaries.end(), address.slot) != list_.temporaries.end();
    };
    if (std::all_of(variant.addresses.begin(), variant.addresses.end(), listed)) return true;
    const auto covered = [&](const Touched& each) {
        return std::any_of(variant.addresses.begin(), variant.addresses.end(), [&](const SlotAddress& address) {
            return address.region == region && each.begin >= address.offset &&
                   each.end <= address.offset + address.temporary;
        });
    };
    bool written = false;
    for (const std::uint32_t index : steps) {
        for (const Touched& each : work.accesses[index].touched) {
            if (each.region != region || !each.write) continue;
            if (!covered(each)) return false;
            written = true;
        }
    }
    return written;
}

// The numbers and kernel names of steps, for messages.
std::string Fusion::names_of(std::span<const std::uint32_t> steps) const {
    constexpr std::size_t most = 8;
    std::string names;
    for (std::size_t at = 0; at < steps.size() && at < most; ++at)
        names += fmt::format("{}{} {}", at == 0 ? "" : ", ", list_.steps[steps[at]].number,
                             list_.steps[steps[at]].kernel.name);
    return steps.size() > most ? names + ", ..." : names;
}

// Merges parts first to end, all of them traced, into one with loops. Returns false if that is not possible.
bool Fusion::compile_parts(FusionVariant& variant, Improvement& work, std::size_t first, std::size_t end) {
    std::vector<FusedPart>& parts = work.planned.plan.parts;
    const std::uint32_t begin_step = parts[first].first;
    const std::uint32_t end_step = parts[end - 1].first + parts[end - 1].count;
    std::vector<LoopStep> steps;
    std::vector<std::uint32_t> listed(work.planned.listed.begin() + begin_step, work.planned.listed.begin() + end_step);
    for (const std::uint32_t index : listed)
        steps.push_back({&*work.traces[index], list_.steps[index].kernel.module->bitcode()});
    std::vector<LoopRegion> regions(variant.regions.size());
    for (const SlotAddress& address : variant.addresses)
        regions[static_cast<std::size_t>(address.region)] = {address.slot, address.offset, false};
    for (std::size_t region = 0; region < regions.size(); ++region)
        regions[region].temporary = temporary(variant, work, static_cast<std::int32_t>(region), listed);
    Result<CompiledLoops> loops = compile_loops(device_, {steps, regions, begin_step, &improvement_stop()});
    if (!loops.ok()) {
        // A compiler that failed or was terminated may succeed next time.
        if (loops.status().code() != code::not_supported) work.recipe.clear();
        work.report.refusals.push_back(
            fmt::format("steps {} to {} ({}) as loops: {}", begin_step, end_step - 1, names_of(listed), refusal()));
        return false;
    }
    work.report.compile_milliseconds += static_cast<double>(loops->compile_time) / millisecond;
    work.report.stores_dropped += loops->stores_dropped;
    work.report.looped += end_step - begin_step;
    work.report.from_cache = work.report.from_cache || loops->from_cache;
    work.code.erase(work.code.begin() + static_cast<std::ptrdiff_t>(first),
                    work.code.begin() + static_cast<std::ptrdiff_t>(end));
    work.code.insert(work.code.begin() + static_cast<std::ptrdiff_t>(first), loops->name);
    FusedPart merged;
    merged.first = begin_step;
    merged.count = end_step - begin_step;
    merged.loops = std::move(loops->loops);
    for (std::size_t part = first; part < end; ++part)
        for (const std::uint32_t before : parts[part].after)
            if (before < first) merged.after.push_back(before);
    std::sort(merged.after.begin(), merged.after.end());
    merged.after.erase(std::unique(merged.after.begin(), merged.after.end()), merged.after.end());
    const auto gone = static_cast<std::uint32_t>(end - first - 1);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t part = first; part < parts.size(); ++part) {
        std::vector<std::uint32_t>& after = parts[part].after;
        for (std::uint32_t& before : after)
            before = before >= end ? before - gone : std::min<std::uint32_t>(before, static_cast<std::uint32_t>(first));
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(first), std::move(merged));
    return true;
}

void Fusion::compile(FusionVariant& variant, Improvement& work) {
    const Nanoseconds start = now();
    const auto traced = [&](const FusedPart& part) {
        for (std::uint32_t step = part.first; step < part.first + part.count; ++step)
            if (work.planned.plan.steps[step].action != FusedAction::kernel ||
                !work.traces[work.planned.listed[step]].has_value())
                return false;
        return true;
    };
    const std::vector<FusedPart>& parts = work.planned.plan.parts;
    work.code.resize(parts.size());
    for (std::size_t first = 0; first < work.planned.plan.parts.size(); ++first) {
        std::size_t end = first;
        while (end < parts.size() && traced(parts[end])) ++end;
        if (end == first || compile_parts(variant, work, first, end)) continue;
        const bool several = end - first > 1;
        for (; first < end; ++first)
            if (parts[first].count > 1 && several) compile_parts(variant, work, first, first + 1);
        --first;
    }
    PlanFigures& figures = work.planned.figures;
    figures.barriers_after = figures.edges_after = 0;
    for (const FusedPart& part : parts) {
        figures.barriers_after += part.after.empty() ? 0 : 1;
        figures.edges_after += static_cast<std::uint32_t>(part.after.size());
    }
    if (work.report.looped != 0 && !work.recipe.empty())
        keep_recipe(work.recipe,
                    {work.planned, work.code, work.report.refusals, work.report.looped, work.report.stores_dropped});
    MutexLock lock(mutex_);
    VariantReport report = std::move(variant.report);
    report.refusals = work.report.refusals;
    report.total_milliseconds += milliseconds_since(start);
    variant.report = report;
    if (work.report.looped == 0) return;
    if (!adopt(variant, work.planned, "loops").ok()) return;
    report.level = variant.report.level;
    report.figures = variant.report.figures;
    report.parts = std::move(variant.report.parts);
    report.compile_milliseconds = work.report.compile_milliseconds;
    report.stores_dropped = work.report.stores_dropped;
    report.looped = work.report.looped;
    report.from_cache = work.report.from_cache;
    variant.report = std::move(report);
}

// ---- reports -------------------------------------------------------------------------------------------------------

namespace {

Json describe(const FusionVariant& variant) {
    const VariantReport& report = variant.report;
    const PlanFigures& figures = report.figures;
    Json parts = Json::array();
    for (const FusedPart& part : report.parts)
        parts.push_back({{"first", part.first},
                         {"steps", part.count},
                         {"after", part.after},
                         {"loops", part.loops ? part.loops->functions.size() : 0},
                         {"pieces", part.loops ? part.loops->pieces.size() : 0},
                         {"scratches", part.scratches.size()}});
    return {{"level", report.level},
            {"traced", figures.traced},
            {"chained", figures.chained},
            {"looped", report.looped},
            {"barriers_before", figures.barriers_before},
            {"barriers_after", figures.barriers_after},
            {"edges_before", figures.edges_before},
            {"edges_after", figures.edges_after},
            {"parts", std::move(parts)},
            {"stores_dropped", report.stores_dropped},
            {"trace_ms", report.trace_milliseconds},
            {"compile_ms", report.compile_milliseconds},
            {"total_ms", report.total_milliseconds},
            {"from_cache", report.from_cache},
            {"refusals", report.refusals}};
}

}  // namespace

Json Fusion::report() const {
    Json steps = Json::array();
    for (const ListStep& step : list_.steps)
        steps.push_back({{"number", step.number},
                         {"kernel", step.kernel.kernel ? step.kernel.kernel->info->name : step.kernel.name},
                         {"blocks", step.blocks},
                         {"stream", step.stream},
                         {"after", step.after}});
    Json variants = Json::array();
    MutexLock lock(mutex_);
    for (const auto& variant : variants_) variants.push_back(describe(*variant));
    if (certain_) variants.push_back(describe(*certain_));
    return {{"name", list_.name}, {"steps", std::move(steps)}, {"variants", std::move(variants)}};
}

}  // namespace canopy
