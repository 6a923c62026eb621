// SPDX-License-Identifier: Apache-2.0
// A recipe is one CBOR value with a checksum, in a folder only this user can write. Everything the device cannot check
// when it makes a kernel from the plan is checked here.
#include "core/fusion/fusion_recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include <canopy/chips.h>
#include "core/fusion/code_cache.h"
#include "core/fusion/fingerprint.h"
#include "core/fusion/fused_loops.h"
#include "core/kernel/source_program.h"

namespace canopy {
namespace {

using Json = nlohmann::json;

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
    Json json = {part.first, part.count, part.after, code, 0, Json::array(), Json::array(), Json::array()};
    for (const FusedScratch& scratch : part.scratches)
        json[7].push_back({scratch.slots, scratch.begin, scratch.stride, scratch.size});
    if (!part.loops) return json;
    json[4] = part.loops->functions.size();
    for (const LoopPiece& piece : part.loops->pieces)
        json[5].push_back({piece.function, piece.first_pointer, piece.pointer_count, piece.count, piece.step});
    for (const LoopPointer& pointer : part.loops->pointers) json[6].push_back({pointer.slot, pointer.offset});
    return json;
}

std::shared_ptr<FusedLoops> read_loops(const Json& json, Device& device) {
    std::shared_ptr<FusedLoops> loops = find_compiled_loops(device, json.at(3), json.at(4));
    if (!loops) return nullptr;
    for (const Json& each : json.at(5))
        loops->pieces.push_back({each.at(0), each.at(1), each.at(2), each.at(3), each.at(4)});
    for (const Json& each : json.at(6)) loops->pointers.push_back({each.at(0), each.at(1)});
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

PlanFigures read_figures(const Json& json) {
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5), json.at(6)};
}

std::optional<FusionRecipe> read_recipe(const Json& json, const FusedList& list, Device& device) {
    FusionRecipe recipe;
    FusionPlan& plan = recipe.planned.plan;
    plan.name = list.name;
    plan.arguments_size = list.slots * 8;
    plan.preload = list.preload();
    json.at("listed").get_to(recipe.planned.listed);
    recipe.planned.figures = read_figures(json.at("figures"));
    json.at("refusals").get_to(recipe.refusals);
    json.at("looped").get_to(recipe.looped);
    json.at("dropped").get_to(recipe.stores_dropped);
    for (const Json& each : json.at("parts")) {
        FusedPart& part = plan.parts.emplace_back();
        part.first = each.at(0);
        part.count = each.at(1);
        each.at(2).get_to(part.after);
        for (const Json& scratch : each.at(7))
            part.scratches.push_back({scratch.at(0), scratch.at(1), scratch.at(2), scratch.at(3)});
        recipe.code.push_back(each.at(3));
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
    try {
        const auto* first = reinterpret_cast<const std::uint8_t*>(bytes->data());
        return read_recipe(Json::from_cbor(first, first + bytes->size()), list, device);
    } catch (const Json::exception&) {  // not in this version's format
        return std::nullopt;
    }
}

void keep_recipe(const std::string& name, const FusionRecipe& recipe) {
    Json json = {{"listed", recipe.planned.listed},  {"figures", written(recipe.planned.figures)},
                 {"refusals", recipe.refusals},      {"looped", recipe.looped},
                 {"dropped", recipe.stores_dropped}, {"parts", Json::array()}};
    for (std::size_t part = 0; part < recipe.planned.plan.parts.size(); ++part)
        json["parts"].push_back(written(recipe.planned.plan.parts[part], recipe.code[part]));
    const std::vector<std::uint8_t> bytes = Json::to_cbor(json);
    CodeCache(recipe_cache).keep(name, std::as_bytes(std::span(bytes)));
}

}  // namespace canopy
