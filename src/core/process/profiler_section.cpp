// SPDX-License-Identifier: Apache-2.0
#include "core/process/profiler_section.h"

#include <array>
#include <charconv>
#include <initializer_list>
#include <span>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr std::size_t largest_file = 1u << 20;
constexpr std::uint64_t least_storage = 200, most_storage = 4'294'967'295;  // megabytes

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

using Words = std::span<const std::string_view>;
constexpr std::string_view host_parts[] = {"cpu", "mem", "disk", "network", "osrt", "numa"};
constexpr std::string_view host_usage_parts[] = {"cpu", "mem"};
constexpr std::string_view cache_modes[] = {"read", "write"};

bool is_one_of(std::string_view text, Words words) noexcept {
    for (const std::string_view word : words)
        if (text == word) return true;
    return false;
}

std::string list_of(Words words) {
    std::string list;
    for (const std::string_view word : words)
        if (!word.empty()) list.append(list.empty() ? "" : ", ").append(word);
    return list;
}

// Whether the text is a list with commas whose entries are all one of `words`, or not empty if there are no words.
bool is_list_of(std::string_view text, Words words) noexcept {
    for (;;) {
        const std::size_t comma = text.find(',');
        const std::string_view entry = text.substr(0, comma);
        if (words.empty() ? entry.empty() : !is_one_of(entry, words)) return false;
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

// What values a setting takes: a number up to `most`, or words.
struct Rule {
    int type;
    const char* name;
    const char* key;  // in the file; nullptr: not there
    std::uint64_t most;
    Words words;
    bool list;
};
constexpr Rule rules[] = {
    {3, "SYS_HARDWARE_MEM_FREQ", "sys_hardware_mem_freq", 100, {}, false},
    {4, "LLC_MODE", "llc_profiling", 0, cache_modes, false},
    {5, "SYS_IO_FREQ", "sys_io_sampling_freq", 100, {}, false},
    {6, "SYS_INTERCONNECTION_FREQ", "sys_interconnection_freq", 50, {}, false},
    {7, "DVPP_FREQ", "dvpp_freq", 100, {}, false},
    {8, "HOST_SYS", "host_sys", 0, host_parts, true},
    {9, "HOST_SYS_USAGE", "host_sys_usage", 0, host_usage_parts, true},
    {10, "HOST_SYS_USAGE_FREQ", "host_sys_usage_freq", 50, {}, false},
    {11, "LOW_POWER_FREQ", "sys_lp_freq", 100, {}, false},
    {12, "SYS_MEM_SERVICEFLOW", "sys_mem_serviceflow", 0, {}, true},
    {13, "SYS_CPU_FREQ", "sys_cpu_freq", 50, {}, false},
    {14, "OPTYPE", "optype", 0, {}, true},
    {15, "NTS_METRICS", nullptr, 0, {}, true},
};

Status check_value(const Rule& rule, const char* name, std::string_view value, int error) {
    if (rule.most != 0) {
        const auto number = number_of(value);
        if (number && *number >= 1 && *number <= rule.most) return {};
        return fail(error, "{} is \"{}\"; it must be a whole number from 1 to {}", name, value, rule.most);
    }
    if (rule.list ? is_list_of(value, rule.words) : is_one_of(value, rule.words)) return {};
    if (rule.words.empty()) return fail(error, "{} is \"{}\"; it must be a list with commas", name, value);
    return fail(error, "{} is \"{}\"; it must be {} {}", name, value, rule.list ? "a list of" : "one of",
                list_of(rule.words));
}

// ---- the section of the file ----------------------------------------------------------------------------------------

constexpr int section_error = code::invalid_parameter;
constexpr std::string_view on_off[] = {"on", "off"};

// A member of the section that is one of several words; `word` is its number, unchanged if it is absent.
Status read_word(const Json& section, const char* key, Words words, std::optional<std::size_t>& word) {
    const Json* const found = section.find(key);
    if (found == nullptr) return {};
    if (found->is_string())
        for (std::size_t index = 0; index < words.size(); ++index)
            if (found->text() == words[index]) {
                word = index;
                return {};
            }
    return fail(section_error, "profiler.{} is {}; it must be one of {}", key, found->dump(), list_of(words));
}

struct Switch {
    const char* key;
    std::uint64_t bits;  // of the mask
};
constexpr Switch switches[] = {
    {"aicpu", collects::cpu_kernels},
    {"l2", collects::cache},
    {"hccl", collects::collectives},
    {"msproftx", collects::marks},
    {"ascendcl", collects::calls},
    {"runtime_api", collects::runtime_calls},
    {"task_memory", collects::task_memory},
    {"task_trace", collects::task_time},
    {"task_tsfw", 0},
    {"instr_profiling", 0},
};

Status read_switches(const Json& section, ProfilerSection& out) {
    for (const Switch& each : switches) {
        std::optional<std::size_t> word;
        CANOPY_TRY(read_word(section, each.key, on_off, word));
        if (word == 0u) out.mask |= each.bits;
        if (word == 1u) out.mask &= ~each.bits;
    }
    return {};
}

Status read_levels(const Json& section, ProfilerSection& out) {
    using namespace collects;
    constexpr std::string_view times[] = {"off", "on", "l0", "l1", "l2", "l3"};
    constexpr std::uint64_t time_bits[] = {
        0, task_time, task_time_l0, task_time, task_time | task_time_l2, task_time | task_time_l2 | task_time_l3};
    std::optional<std::size_t> word;
    CANOPY_TRY(read_word(section, "task_time", times, word));
    if (word) out.mask = (out.mask & ~(task_time | task_time_l0)) | time_bits[*word];
    constexpr std::string_view graph_calls[] = {"off", "l0", "l1"};
    word.reset();
    CANOPY_TRY(read_word(section, "ge_api", graph_calls, word));
    if (word == 1u) out.mask |= graph_calls_l0;
    if (word == 2u) out.mask |= graph_calls_l0 | graph_calls_l1;
    constexpr std::string_view blocks[] = {"on", "off", "all"};
    word.reset();
    CANOPY_TRY(read_word(section, "task_block", blocks, word));
    constexpr std::string_view metrics[] = {"ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
                                            "ResourceConflictRatio", "MemoryUB",        "L2Cache", "",
                                            "MemoryAccess"};
    const Json* const wanted = section.find("aic_metrics");
    if (wanted == nullptr || (wanted->is_string() && wanted->text().empty())) return {};
    word.reset();
    CANOPY_TRY(read_word(section, "aic_metrics", metrics, word));
    out.metrics = static_cast<std::uint32_t>(*word);
    out.mask |= core_metrics;
    return {};
}

// Frequencies are integers in the file, everything else is text.
Status read_rules(const Json& section) {
    for (const Rule& rule : rules) {
        const Json* const found = rule.key ? section.find(rule.key) : nullptr;
        if (found == nullptr) continue;
        const std::string name = std::string("profiler.") + rule.key;
        if (rule.most != 0 ? !found->is_integer() : !found->is_string())
            return fail(section_error, "{} is {}; it must be {}", name, found->dump(),
                        rule.most != 0 ? "a whole number" : "a text");
        CANOPY_TRY(check_value(rule, name.c_str(), rule.most != 0 ? found->dump() : found->text(), section_error));
    }
    const Json* const frequency = section.find("instr_profiling_freq");
    if (frequency && (!frequency->is_unsigned() || frequency->get<std::uint64_t>() == 0))
        return fail(section_error, "profiler.instr_profiling_freq is {}; it must be a whole number above 0",
                    frequency->dump());
    return {};
}

Status read_section(const Json& section, ProfilerSection& out) {
    if (const Json* output = section.find("output")) {
        if (!output->is_string()) return fail(section_error, "profiler.output must be a string");
        out.output = output->text();
    }
    CANOPY_TRY(read_switches(section, out));
    CANOPY_TRY(read_levels(section, out));
    CANOPY_TRY(read_rules(section));
    const Json* const limit = section.find("storage_limit");
    if (limit == nullptr) return {};
    if (limit->is_string()) out.storage_limit = storage_limit_of(limit->text());
    if (!out.storage_limit)
        return fail(section_error, "profiler.storage_limit is {}; it must be \"{}MB\" to \"{}MB\"", limit->dump(),
                    least_storage, most_storage);
    return {};
}

}  // namespace

std::optional<std::uint64_t> storage_limit_of(std::string_view value) noexcept {
    if (!value.ends_with("MB")) return std::nullopt;
    const auto number = number_of(value.substr(0, value.size() - 2));
    if (!number || *number < least_storage || *number > most_storage) return std::nullopt;
    return *number << 20;
}

Status check_session_setting(int type, std::string_view value) {
    constexpr int error = code::invalid_profiling_configuration;
    if (type == setting_storage_limit) {
        if (storage_limit_of(value)) return {};
        return fail(error, "STORAGE_LIMIT is \"{}\"; it must be from \"{}MB\" to \"{}MB\"", value, least_storage,
                    most_storage);
    }
    if (type == setting_path) {
        if (!value.empty()) return {};
        return fail(error, "PATH must name a folder");
    }
    for (const Rule& rule : rules) {
        if (rule.type != type) continue;
        return check_value(rule, rule.name, value, rule.key == nullptr ? code::invalid_parameter : error);
    }
    return fail(code::invalid_parameter, "configType {} is not a setting", type);
}

Status read_profiler_section(const Json& root, std::size_t file_size, std::optional<ProfilerSection>& section) {
    const Json* const found = root.find("profiler");
    if (found == nullptr) return {};
    if (!found->is_object()) return fail(section_error, "profiler must be an object");
    if (file_size > largest_file)
        return fail(section_error, "a configuration file with a section \"profiler\" has at most {} bytes; this has {}",
                    largest_file, file_size);
    std::optional<std::size_t> word;
    CANOPY_TRY(read_word(*found, "switch", on_off, word));
    ProfilerSection read;
    CANOPY_TRY(read_section(*found, read));
    if (word == 0u) section = std::move(read);
    return {};
}

}  // namespace canopy
