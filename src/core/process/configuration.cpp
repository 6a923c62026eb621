// SPDX-License-Identifier: Apache-2.0
#include "core/process/configuration.h"

#include <array>
#include <charconv>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/device_limits.h"
#include "foundation/byte_size.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr int deepest_nesting = 10;

// Nesting depth of brackets, measured before the text is parsed.
int nesting_of(std::string_view text) noexcept {
    int depth = 0, deepest = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (quoted) {
            if (letter == '\\') ++at;
            if (letter == '"') quoted = false;
            continue;
        }
        if (letter == '"') quoted = true;
        if (letter == '{' || letter == '[') deepest = std::max(deepest, ++depth);
        if (letter == '}' || letter == ']') --depth;
    }
    return deepest;
}

// An integer, written as a number or as a string.
std::optional<std::int64_t> whole_number(const Json& value) {
    if (value.is_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > INT64_MAX) return std::nullopt;
        return static_cast<std::int64_t>(number);
    }
    if (value.is_integer()) return value.get<std::int64_t>();
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.text();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// Reads `key` of `object` into `out` if present; the number must lie in [least, most].
template <class Number>
Status read_number(const Json& object, const char* key, std::int64_t least, std::int64_t most,
                   std::optional<Number>& out, int error = code::invalid_parameter) {
    const Json* found = object.find(key);
    if (!found) return {};
    const auto number = whole_number(*found);
    if (!number || *number < least || *number > most)
        return fail(error, "{} is {}; it must be a whole number from {} to {}", key, found->dump(), least, most);
    out = static_cast<Number>(*number);
    return {};
}

// Finds a section; if present, it must be an object.
Status find_section(const Json& root, const char* key, int error, const Json*& out) {
    const Json* found = root.find(key);
    if (!found) return {};
    if (!found->is_object()) return fail(error, "{} must be an object", key);
    out = found;
    return {};
}

template <std::size_t Count>
Status check_word(const Json& section, const char* section_name, const char* key, int error,
                  const std::array<const char*, Count>& words) {
    const Json* found = section.find(key);
    if (!found) return {};
    if (found->is_string())
        for (const char* word : words)
            if (found->text() == word) return {};
    std::string list;
    for (const char* word : words) list += list.empty() ? word : std::string(", ") + word;
    return fail(error, "{}.{} is {}; it must be one of {}", section_name, key, found->dump(), list);
}

Status read_dump(const Json& root, Configuration& configuration) {
    constexpr int error = code::invalid_dump_configuration;
    const Json* section = nullptr;
    CANOPY_TRY(find_section(root, "dump", error, section));
    if (section == nullptr || section->empty()) return {};
    Result<DumpConfiguration> read = read_dump_configuration(*section);
    if (!read.ok()) return read.status();
    configuration.dump = std::move(*read);
    return {};
}

Status read_limits(const Json& root, Configuration& configuration) {
    const Json* stack = nullptr;
    CANOPY_TRY(find_section(root, "StackSize", code::invalid_parameter, stack));
    if (stack != nullptr) {
        CANOPY_TRY(read_number(*stack, "aicore_stack_size", stack_step, INT32_MAX, configuration.aicore_stack_size));
        if (configuration.aicore_stack_size && *configuration.aicore_stack_size % stack_step != 0)
            return fail(code::invalid_parameter, "StackSize.aicore_stack_size {} is not a multiple of {}",
                        *configuration.aicore_stack_size, stack_step);
        CANOPY_TRY(read_number(*stack, "simt_stack_size", 1, INT32_MAX, configuration.simt_stack_size));
        CANOPY_TRY(
            read_number(*stack, "simt_divergence_stack_size", 1, INT32_MAX, configuration.simt_divergence_stack_size));
    }
    CANOPY_TRY(
        read_number(root, "simt_printf_fifo_size", smallest_fifo, largest_fifo, configuration.simt_printf_fifo_size));
    return read_number(root, "simd_printf_fifo_size_per_core", smallest_fifo, largest_fifo,
                       configuration.simd_printf_fifo_size_per_core);
}

Status read_canopy(const Json& root, SettingsChange& change) {
    const Json* section = nullptr;
    CANOPY_TRY(find_section(root, "canopy", code::invalid_parameter, section));
    if (section == nullptr) return {};
    CANOPY_TRY(read_number(*section, "device_count", 1, max_devices, change.device_count));
    CANOPY_TRY(read_number(*section, "workers", 0, max_workers, change.workers));
    if (const Json* chip = section->find("chip")) {
        if (!chip->is_string() || find_chip(chip->text()) == nullptr)
            return fail(code::invalid_parameter, "canopy.chip {} is not the name of a chip", chip->dump());
        change.chip = chip->get<std::string>();
    }
    if (const Json* memory = section->find("device_memory")) {
        std::optional<std::uint64_t> size;
        if (memory->is_string()) size = parse_size(memory->text());
        if (memory->is_unsigned()) size = memory->get<std::uint64_t>();
        if (!size || *size < smallest_memory || *size > (1ull << 44))
            return fail(code::invalid_parameter, "canopy.device_memory {} is not a size of at least {} bytes",
                        memory->dump(), smallest_memory);
        change.memory = size;
    }
    if (const Json* check = section->find("check")) {
        if (!check->is_boolean())
            return fail(code::invalid_parameter, "canopy.check {} is neither true nor false", check->dump());
        change.checking = check->get<bool>();
    }
    return {};
}

Status read_everything(const Json& root, Configuration& configuration) {
    const Json* section = nullptr;
    CANOPY_TRY(find_section(root, "defaultDevice", code::invalid_parameter, section));
    if (section != nullptr)
        CANOPY_TRY(read_number(*section, "default_device", 0, INT32_MAX, configuration.default_device));
    std::optional<int> mode;
    CANOPY_TRY(read_number(root, "err_msg_mode", 0, 1, mode));
    configuration.process_wide_error_text = mode.value_or(0) == 1;
    CANOPY_TRY(read_number(root, "max_opqueue_num", 1, INT32_MAX, configuration.operator_queue_limit,
                           code::invalid_operator_queue_limit));
    CANOPY_TRY(read_limits(root, configuration));
    CANOPY_TRY(read_dump(root, configuration));
    return read_canopy(root, configuration.settings);
}

}  // namespace

Result<Configuration> parse_configuration(std::string_view text) {
    if (const int nesting = nesting_of(text); nesting > deepest_nesting)
        return fail(code::parse_file, "the configuration nests {} levels deep; {} are allowed", nesting,
                    deepest_nesting);
    std::optional<Json> root = parse_json(text);
    if (!root) return fail(code::parse_file, "the configuration is not valid JSON");
    if (!root->is_object()) return fail(code::parse_file, "the configuration is not a JSON object");
    Configuration configuration;
    CANOPY_TRY(read_everything(*root, configuration));
    CANOPY_TRY(read_profiler_section(*root, text.size(), configuration.profiler));
    root->sort();
    configuration.normalised = root->dump();
    return configuration;
}

}  // namespace canopy
