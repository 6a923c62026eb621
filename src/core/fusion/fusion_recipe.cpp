// SPDX-License-Identifier: Apache-2.0
// A recipe is one JSON value with a checksum, in a folder only this user can write. Everything the device cannot check
// when it makes a kernel from the plan is checked here.
#include "core/fusion/fusion_recipe.h"

#include <algorithm>
#include <numeric>

#include <canopy/chips.h>
#include "core/fusion/fingerprint.h"
#include "core/fusion/fused_loops.h"
#include "core/kernel/source_program.h"
#include "foundation/code_cache.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr CodeKind recipe_cache = CodeKind::recipes;

bool can_be_kept(const ListStep& step) {
    return !step.dynamic && step.wait_slots.empty() && step.notify_slots.empty() && step.reset_slots.empty() &&
           step.kernel.module && step.kernel.module->tracing_checksum() != 0;
}

void add_slots(Fingerprint& fingerprint, const std::vector<std::uint32_t>& slots) {
    fingerprint.add(std::as_bytes(std::span(slots)));
}

void add_step(Fingerprint& fingerprint, const ListStep& step) {
    fingerprint.add(step.kernel.kernel->info->name);
    fingerprint.add_number(step.kernel.module->tracing_checksum());
    fingerprint.add(step.kernel.module->bitcode());
    for (const std::uint64_t number : {step.number, step.blocks, step.dynamic_size, step.slot, step.slots})
        fingerprint.add_number(number);
    fingerprint.add_number(static_cast<std::uint64_t>(step.stream));
    for (const auto* slots : {&step.inputs, &step.outputs}) {
        fingerprint.add_number(slots->has_value());
        if (*slots) add_slots(fingerprint, **slots);
    }
    add_slots(fingerprint, step.after);
}

Json written(const FusedPart& part, const std::string& code) {
    Json scratches = Json::array(), pieces = Json::array(), pointers = Json::array();
    for (const FusedScratch& scratch : part.scratches)
        scratches.push_back({scratch.slots, scratch.begin, scratch.stride, scratch.size});
    if (part.loops) {
        for (const LoopPiece& piece : part.loops->pieces)
            pieces.push_back({piece.function, piece.first_pointer, piece.pointer_count, piece.count, piece.step});
        for (const LoopPointer& pointer : part.loops->pointers) pointers.push_back({pointer.slot, pointer.offset});
    }
    const std::size_t functions = part.loops ? part.loops->functions.size() : 0;
    return {part.first, part.count, part.after, code, functions, pieces, pointers, scratches};
}

// Reads the members of a list into values, in their order.
template <class... Values>
void read_row(const Json& row, Values&... values) {
    std::size_t index = 0;
    (row.at(index++).get_to(values), ...);
}

std::shared_ptr<FusedLoops> read_loops(const Json& json, Device& device) {
    std::shared_ptr<FusedLoops> loops = find_compiled_loops(device, json.at(3).text(), json.at(4).get<std::uint32_t>());
    if (!loops) return nullptr;
    for (const Json& each : json.at(5)) {
        LoopPiece& piece = loops->pieces.emplace_back();
        read_row(each, piece.function, piece.first_pointer, piece.pointer_count, piece.count, piece.step);
    }
    for (const Json& each : json.at(6)) {
        LoopPointer& pointer = loops->pointers.emplace_back();
        read_row(each, pointer.slot, pointer.offset);
    }
    return loops;
}

bool is_order_of(const std::vector<std::uint32_t>& listed, const FusedList& list) {
    std::vector<std::uint32_t> sorted = listed, all(list.steps.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0u);
    return sorted == all;
}

Json written(const PlanFigures& figures) {
    return {figures.steps,       figures.barriers_before, figures.barriers_after, figures.edges_before,
            figures.edges_after, figures.chained,         figures.traced};
}

void read_figures(const Json& json, PlanFigures& figures) {
    read_row(json, figures.steps, figures.barriers_before, figures.barriers_after, figures.edges_before,
             figures.edges_after, figures.chained, figures.traced);
}

std::optional<FusionRecipe> read_recipe(const Json& json, const FusedList& list, Device& device) {
    FusionRecipe recipe;
    FusionPlan& plan = recipe.planned.plan;
    plan.name = list.name;
    plan.arguments_size = list.slots * 8;
    plan.preload = list.preload();
    json.at("listed").get_to(recipe.planned.listed);
    read_figures(json.at("figures"), recipe.planned.figures);
    json.at("refusals").get_to(recipe.refusals);
    json.at("looped").get_to(recipe.looped);
    json.at("dropped").get_to(recipe.stores_dropped);
    for (const Json& each : json.at("parts")) {
        FusedPart& part = plan.parts.emplace_back();
        read_row(each, part.first, part.count, part.after);
        for (const Json& row : each.at(7)) {
            FusedScratch& scratch = part.scratches.emplace_back();
            read_row(row, scratch.slots, scratch.begin, scratch.stride, scratch.size);
        }
        recipe.code.push_back(each.at(3).text());
        if (recipe.code.back().empty()) continue;
        part.loops = read_loops(each, device);
        if (!part.loops) return std::nullopt;
    }
    if (!is_order_of(recipe.planned.listed, list)) return std::nullopt;
    for (const std::uint32_t index : recipe.planned.listed) plan.steps.push_back(kernel_step(list.steps[index]));
    return recipe;
}

}  // namespace

std::string recipe_name(const FusedList& list, const FusionVariant& variant, const Device& device, FusionLevel level) {
    if (!std::all_of(list.steps.begin(), list.steps.end(), can_be_kept)) return {};
    Result<std::string> compiler = find_kernel_compiler();
    if (!compiler.ok()) return {};
    Fingerprint fingerprint;
    fingerprint.add_runtime();
    fingerprint.add_number(static_cast<std::uint64_t>(level));
    fingerprint.add(device.info().chip->name);
    fingerprint.add_number(device.info().checking);
    fingerprint.add_processor();
    fingerprint.add_compiler(*compiler);
    for (const auto& [key, value] : list.options) {
        fingerprint.add(key);
        fingerprint.add(value);
    }
    add_slots(fingerprint, list.temporaries);
    for (const ListStep& step : list.steps) add_step(fingerprint, step);
    fingerprint.add(std::as_bytes(std::span(variant.signature)));
    for (const DeviceRange& region : variant.regions) fingerprint.add_number(region.size);
    for (const SlotAddress& address : variant.addresses) fingerprint.add_number(address.offset);
    return fingerprint.name();
}

std::optional<FusionRecipe> find_recipe(const std::string& name, const FusedList& list, Device& device) {
    const std::optional<std::vector<std::byte>> bytes = CodeCache(recipe_cache).find(name);
    if (!bytes) return std::nullopt;
    const std::optional<Json> json = parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!json) return std::nullopt;
    try {
        return read_recipe(*json, list, device);
    } catch (const JsonError&) {  // not in this version's format
        return std::nullopt;
    }
}

void keep_recipe(const std::string& name, const FusionRecipe& recipe) {
    Json parts = Json::array();
    for (std::size_t part = 0; part < recipe.planned.plan.parts.size(); ++part)
        parts.push_back(written(recipe.planned.plan.parts[part], recipe.code[part]));
    const Json json = {{"listed", recipe.planned.listed},  {"figures", written(recipe.planned.figures)},
                       {"refusals", recipe.refusals},      {"looped", recipe.looped},
                       {"dropped", recipe.stores_dropped}, {"parts", std::move(parts)}};
    const std::string text = json.dump();
    CodeCache(recipe_cache).keep(name, std::as_bytes(std::span(text)));
}

}  // namespace canopy
