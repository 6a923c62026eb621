// SPDX-License-Identifier: Apache-2.0
// Reads lists of steps from untrusted JSON. Every number is checked against the limits of the format before it is used.
#include "device/fused_list.h"

#include <canopy/kernel_image.h>

#include <algorithm>
#include <unordered_set>

#include "base/error_text.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;
constexpr std::uint64_t most_blocks = 65535;
constexpr std::size_t most_listed = 4096;  // members of any list inside a step
constexpr std::uint64_t most_slots = CANOPY_IMAGE_MAX_ARGUMENTS / 8;

template <class... Arguments>
Status damaged(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fail(bad_image, "the fusion note of the image is damaged: {}",
                fmt::format(format, std::forward<Arguments>(arguments)...));
}

// A whole number from 0 to `most`. If absent: `otherwise`, or an error if that is not given.
Status read_number(const Json& object, const char* key, std::uint64_t most, std::uint64_t& value,
                   std::optional<std::uint64_t> otherwise = std::nullopt) {
    const Json* found = object.find(key);
    if (!found) {
        if (!otherwise) return damaged("\"{}\" is missing", key);
        value = *otherwise;
        return {};
    }
    if (!found->is_unsigned() || found->get<std::uint64_t>() > most)
        return damaged("\"{}\" is not a number from 0 to {}", key, most);
    value = found->get<std::uint64_t>();
    return {};
}

Status read_number(const Json& object, const char* key, std::uint64_t most, std::uint32_t& value,
                   std::optional<std::uint64_t> otherwise = std::nullopt) {
    std::uint64_t wide = 0;
    CANOPY_TRY(read_number(object, key, std::min<std::uint64_t>(most, UINT32_MAX), wide, otherwise));
    value = static_cast<std::uint32_t>(wide);
    return {};
}

Status read_name(const Json& object, const char* key, std::string& value) {
    const Json* found = object.find(key);
    if (!found || !found->is_string()) return damaged("\"{}\" is not a string", key);
    value = found->get<std::string>();
    if (value.empty() || value.size() > CANOPY_IMAGE_MAX_TEXT || value.find('\0') != std::string::npos)
        return damaged("\"{}\" is not a name", key);
    return {};
}

// Reads a list of numbers below `limit`; false if the key is absent.
Result<bool> read_numbers(const Json& object, const char* key, std::uint64_t limit,
                          std::vector<std::uint32_t>& values) {
    const Json* found = object.find(key);
    if (!found) return false;
    if (!found->is_array() || found->size() > most_listed) return damaged("\"{}\" is not a short list", key);
    for (const Json& each : *found) {
        if (!each.is_unsigned() || each.get<std::uint64_t>() >= limit)
            return damaged("\"{}\" contains something other than a number below {}", key, limit);
        values.push_back(each.get<std::uint32_t>());
    }
    return true;
}

Status read_listed(const Json& object, const char* key, std::uint64_t limit, std::vector<std::uint32_t>& values) {
    return read_numbers(object, key, limit, values).status();
}

Status read_kernel(const Json& object, std::size_t parts, ListedKernelName& kernel) {
    CANOPY_TRY(read_number(object, "part", parts - 1, kernel.part));
    return read_name(object, "kernel", kernel.name);
}

Status read_dynamic(const Json& object, std::size_t parts, std::uint32_t slots, DynamicStep& dynamic) {
    if (!object.is_object()) return damaged("\"dynamic\" is not an object");
    CANOPY_TRY(read_number(object, "key_slot", slots - 1, dynamic.key_slot, no_slot));
    CANOPY_TRY(read_number(object, "blocks_slot", slots - 1, dynamic.blocks_slot, no_slot));
    CANOPY_TRY(read_number(object, "wait_slot", slots - 1, dynamic.wait_slot, no_slot));
    const Json* choices = object.find("choices");
    const bool chooses = choices != nullptr;
    if (chooses != (dynamic.key_slot != no_slot))
        return damaged("a step has choices and no key, or a key and no choices");
    if (!chooses) return {};
    if (!choices->is_array() || choices->size() > most_listed) return damaged("\"choices\" is not a short list");
    for (const Json& each : *choices) {
        if (!each.is_object()) return damaged("a choice is not an object");
        ListChoice& choice = dynamic.choices.emplace_back();
        CANOPY_TRY(read_number(each, "key", UINT64_MAX, choice.key));
        CANOPY_TRY(read_kernel(each, parts, choice.kernel));
    }
    const auto by_key = [](const ListChoice& left, const ListChoice& right) { return left.key < right.key; };
    std::sort(dynamic.choices.begin(), dynamic.choices.end(), by_key);
    const auto same_key = [](const ListChoice& left, const ListChoice& right) { return left.key == right.key; };
    if (std::adjacent_find(dynamic.choices.begin(), dynamic.choices.end(), same_key) != dynamic.choices.end())
        return damaged("a step has two choices with one key");
    if (dynamic.choices.empty()) return damaged("a step chooses among no kernels");
    return {};
}

Status read_order(const Json& object, std::uint32_t index, ListStep& step) {
    Result<bool> given = read_numbers(object, "after", index, step.after);
    if (!given.ok()) return given.status();
    if (!*given)
        for (std::uint32_t earlier = 0; earlier < index; ++earlier) step.after.push_back(earlier);
    return {};
}

Status read_directions(const Json& object, std::uint32_t slots, ListStep& step) {
    std::vector<std::uint32_t> inputs, outputs;
    Result<bool> reads = read_numbers(object, "inputs", slots, inputs);
    if (!reads.ok()) return reads.status();
    Result<bool> writes = read_numbers(object, "outputs", slots, outputs);
    if (!writes.ok()) return writes.status();
    if (!*reads && !*writes) return {};
    step.inputs = std::move(inputs);
    step.outputs = std::move(outputs);
    return {};
}

Status read_step(const Json& object, std::size_t parts, std::uint32_t slots, std::uint32_t index, ListStep& step) {
    if (!object.is_object()) return damaged("step {} is not an object", index);
    CANOPY_TRY(read_number(object, "number", UINT32_MAX, step.number, index));
    CANOPY_TRY(read_kernel(object, parts, step.kernel));
    CANOPY_TRY(read_number(object, "blocks", most_blocks, step.blocks));
    if (step.blocks == 0) return damaged("step {} has no blocks", index);
    CANOPY_TRY(read_number(object, "slot", slots, step.slot));
    CANOPY_TRY(read_number(object, "slots", slots - step.slot, step.slots));
    if (const Json* stream = object.find("stream")) {
        if (!stream->is_integer()) return damaged("the stream of step {} is not a number", index);
        step.stream = static_cast<std::int32_t>(stream->get<std::int64_t>());
    }
    CANOPY_TRY(read_order(object, index, step));
    CANOPY_TRY(read_directions(object, slots, step));
    CANOPY_TRY(read_listed(object, "wait_slots", slots, step.wait_slots));
    CANOPY_TRY(read_listed(object, "notify_slots", slots, step.notify_slots));
    CANOPY_TRY(read_listed(object, "reset_slots", slots, step.reset_slots));
    if (const Json* dynamic = object.find("dynamic"); dynamic && !dynamic->is_null())
        return read_dynamic(*dynamic, parts, slots, step.dynamic.emplace());
    return {};
}

Status read_options(const Json& object, FusedList& list) {
    const Json* options = object.find("options");
    if (!options) return {};
    if (!options->is_object() || options->size() > most_listed) return damaged("\"options\" is not a short object");
    for (const auto& [key, value] : options->members()) {
        if (value.is_structured()) return damaged("option \"{}\" is not a text, a number or a switch", key);
        list.options[key] = value.is_string() ? value.text() : value.dump();
    }
    return {};
}

// With profiling, the last two slots do not belong to any step.
Status find_profile_slot(FusedList& list) {
    if (!list.option("profiling")) return {};
    const auto reaches = [&](const ListStep& step) { return step.slot + step.slots + 2 > list.slots; };
    if (list.slots < 2 || std::any_of(list.steps.begin(), list.steps.end(), reaches))
        return damaged("kernel {} has no slots for profiling after those of its steps", list.name);
    list.profile_slot = list.slots - 2;
    return {};
}

Status read_list(const Json& object, std::size_t parts, FusedList& list) {
    if (!object.is_object()) return damaged("a kernel is not an object");
    CANOPY_TRY(read_name(object, "name", list.name));
    CANOPY_TRY(read_number(object, "blocks", most_blocks, list.blocks, 1));
    CANOPY_TRY(read_number(object, "slots", most_slots, list.slots));
    if (list.slots == 0) return damaged("kernel {} has no arguments", list.name);
    CANOPY_TRY(read_options(object, list));
    CANOPY_TRY(read_listed(object, "temporaries", list.slots, list.temporaries));
    const Json* steps = object.find("steps");
    if (!steps || !steps->is_array() || steps->empty() || steps->size() > CANOPY_IMAGE_MAX_STEPS)
        return damaged("kernel {} does not have 1 to {} steps", list.name, static_cast<int>(CANOPY_IMAGE_MAX_STEPS));
    for (std::uint32_t index = 0; index < steps->size(); ++index)
        CANOPY_TRY(read_step(steps->at(index), parts, list.slots, index, list.steps.emplace_back()));
    return find_profile_slot(list);
}

}  // namespace

Result<std::vector<FusedList>> read_fused_lists(std::string_view text, std::size_t parts) {
    if (parts == 0) return damaged("the image has no parts");
    const std::optional<Json> json = parse_json(text);
    if (!json || !json->is_object()) return damaged("it is not a JSON object");
    const Json* kernels = json->find("kernels");
    if (!kernels || !kernels->is_array() || kernels->empty() || kernels->size() > CANOPY_IMAGE_MAX_KERNELS)
        return damaged("\"kernels\" is not a list with members");
    std::vector<FusedList> lists;
    std::unordered_set<std::string> names;
    for (const Json& each : *kernels) {
        CANOPY_TRY(read_list(each, parts, lists.emplace_back()));
        if (!names.insert(lists.back().name).second) return damaged("two kernels are named {}", lists.back().name);
    }
    return lists;
}

}  // namespace canopy
