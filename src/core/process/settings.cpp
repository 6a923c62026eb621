// SPDX-License-Identifier: Apache-2.0
#include "core/process/settings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>

#include "check/classes.h"
#include "core/process/variables.h"
#include "device/device.h"
#include "foundation/byte_size.h"
#include "foundation/code_cache.h"
#include "foundation/json.h"
#include "record/process_recording.h"
#include "record/recorder.h"

namespace canopy {
namespace {

constexpr std::uint64_t gib = 1ull << 30;
constexpr std::uint64_t memory_step = 2ull << 20;

std::optional<std::uint32_t> parse_number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<bool> parse_switch(std::string_view text) {
    if (text == "1" || text == "on" || text == "true" || text == "yes") return true;
    if (text == "0" || text == "off" || text == "false" || text == "no") return false;
    return std::nullopt;
}

constexpr std::array fusion_names = {"off", "steps", "chains", "loops"};

std::optional<FusionLevel> parse_fusion(std::string_view text) {
    for (std::size_t index = 0; index < fusion_names.size(); ++index)
        if (text == fusion_names[index]) return static_cast<FusionLevel>(index);
    return std::nullopt;
}

// Half of the machine's memory, in whole GiB, up to the chip's memory. It is only reserved.
std::uint64_t default_memory(const Chip& chip) {
    const auto machine =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t half = machine / 2 / gib * gib;
    return std::clamp(half, gib, std::max(chip.memory, gib));
}

std::uint32_t processors() noexcept { return std::max(1u, std::thread::hardware_concurrency()); }

// A human-readable size: "64G", "1536M".
std::string size_text(std::uint64_t bytes) {
    const char* unit = "";
    for (const char* next : {"K", "M", "G"}) {
        if (bytes % 1024 != 0 || bytes == 0) break;
        bytes /= 1024;
        unit = next;
    }
    return fmt::format("{}{}", bytes, unit);
}

// Reads one variable: parses and stores it and notes its origin, or reports why it is ignored and what is used instead.
template <class Parse, class Keep>
void read_variable(Settings& settings, const char* name, const char* key, const char* expected, std::string_view used,
                   Parse parse, Keep keep) {
    const auto text = environment_variable(name);
    if (!text) return;
    if (auto value = parse(*text)) {
        keep(*value);
        settings.origins[key] = name;
    } else {
        settings.problems.push_back(fmt::format("{}=\"{}\" is not {}; using {}", name, *text, expected, used));
    }
}

// Numbers from `least` to `most`.
auto number_in(std::uint32_t least, std::uint32_t most) {
    return [=](std::string_view text) {
        const auto number = parse_number(text);
        return number && *number >= least && *number <= most ? number : std::nullopt;
    };
}

// The visible list: ascending physical numbers, read up to the first invalid entry.
void apply_visible_devices(Settings& settings) {
    settings.visible.clear();
    const auto list = environment_variable("ASCEND_RT_VISIBLE_DEVICES");
    if (!list) {
        for (std::uint32_t device = 0; device < settings.device_count; ++device) settings.visible.push_back(device);
        return;
    }
    settings.origins["visible"] = "ASCEND_RT_VISIBLE_DEVICES";
    std::string_view rest = *list;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view entry = rest.substr(0, comma);
        while (entry.starts_with(' ')) entry.remove_prefix(1);
        while (entry.ends_with(' ')) entry.remove_suffix(1);
        const auto device = parse_number(entry);
        if (!device || *device >= settings.device_count ||
            (!settings.visible.empty() && *device <= settings.visible.back())) {
            settings.problems.push_back(
                fmt::format("ASCEND_RT_VISIBLE_DEVICES=\"{}\": reading stops at \"{}\", which is not an ascending "
                            "device number below {}",
                            *list, entry, settings.device_count));
            return;
        }
        settings.visible.push_back(*device);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t comma = text.find(',');
        parts.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        text.remove_prefix(comma + 1);
    }
}

std::string kinds_text(const Settings& settings) {
    std::string text;
    for (const std::string& kind : settings.kinds) text += (text.empty() ? "" : ",") + kind;
    return text;
}

void read_device_variables(Settings& settings) {
    read_variable(
        settings, "CANOPY_DEVICE", "device", "a kind of device, or a list of kinds", kinds_text(settings),
        [](std::string_view text) { return std::optional(split(text)); },
        [&](const std::vector<std::string>& value) { settings.kinds = value; });
    read_variable(settings, "CANOPY_DEVICE_COUNT", "device_count", "a number from 1 to 64",
                  std::to_string(settings.device_count), number_in(1, max_devices),
                  [&](std::uint32_t value) { settings.device_count = value; });
    read_variable(
        settings, "CANOPY_CHIP", "chip", "the name of a chip",
        fmt::format("the chip of the program's kernels, else {}", settings.chip->name),
        [](std::string_view text) {
            const Chip* chip = find_chip(text);
            return chip ? std::optional(chip) : std::nullopt;
        },
        [&](const Chip* value) { settings.chip = value; });
    settings.memory = default_memory(*settings.chip);
    read_variable(
        settings, "CANOPY_DEVICE_MEMORY", "device_memory", "a size of at least 64M, like 512M or 8G",
        size_text(settings.memory),
        [](std::string_view text) {
            auto size = parse_size(text);
            return size && *size >= smallest_memory && *size <= (1ull << 44) ? size : std::nullopt;
        },
        [&](std::uint64_t value) { settings.memory = value / memory_step * memory_step; });
    read_variable(settings, "CANOPY_WORKERS", "workers", "a number from 0 to 1024", std::to_string(processors()),
                  number_in(0, max_workers), [&](std::uint32_t value) { settings.workers = value; });
}

void read_cpu_core_variables(Settings& settings) {
    read_variable(settings, "CANOPY_CPU_CORES", "cpu_cores", "a number from 0 to 256",
                  std::to_string(settings.chip->cpu_cores), number_in(0, max_cpu_cores),
                  [&](std::uint32_t value) { settings.cpu_cores = value; });
    read_variable(settings, "CANOPY_CPU_PINNING", "cpu_pinning", "0 or 1", "0", parse_switch,
                  [&](bool value) { settings.cpu_pinned = value; });
    read_variable(
        settings, "CANOPY_CPU_KERNELS", "cpu_kernels", "thread or process", "thread",
        [](std::string_view text) {
            return text == "thread" || text == "process" ? std::optional(text == "process") : std::nullopt;
        },
        [&](bool value) { settings.cpu_isolated = value; });
}

void read_profile_variables(Settings& settings) {
    read_variable(
        settings, "CANOPY_PROFILE", "profile", "a file", "none",
        [](std::string_view text) { return std::optional(std::string(text)); },
        [&](const std::string& value) { settings.profile = value; });
    settings.profile_wanted = record::everything;
    read_variable(settings, "CANOPY_PROFILE_WANT", "profile_want",
                  "a list of calls, tasks, nodes, blocks, memory, marks, idle, steps", "everything", record::wanted_of,
                  [&](std::uint32_t value) { settings.profile_wanted = value; });
    read_variable(settings, "CANOPY_BLACKBOX", "blackbox", "0 or 1", "0", parse_switch,
                  [&](bool value) { settings.black_box = value; });
}

// A switch is for memory alone; everything else is a list of what to find.
void read_check_variables(Settings& settings) {
    const auto words = environment_variable("CANOPY_CHECK");
    std::string problem;
    if (words && parse_switch(*words))
        settings.checking = *parse_switch(*words);
    else if (words && check::parse_classes(*words, problem))
        settings.checked = *words;
    else if (words)
        settings.problems.push_back(fmt::format("CANOPY_CHECK=\"{}\" is not 0 or 1, and {}; using 0", *words, problem));
    if (words && problem.empty()) settings.origins["check"] = "CANOPY_CHECK";
    if (const auto options = environment_variable("CANOPY_CHECK_OPTIONS"); options && !settings.checked.empty()) {
        settings.check_options = *options;
        settings.origins["check_options"] = "CANOPY_CHECK_OPTIONS";
    } else if (options) {
        settings.problems.emplace_back("CANOPY_CHECK_OPTIONS has no effect without a list in CANOPY_CHECK, like all");
    }
}

}  // namespace

bool Settings::all_addressable() const noexcept {
    return std::all_of(kinds.begin(), kinds.end(), [](const std::string& name) {
        const DeviceKind* kind = find_kind(name);
        return !kind || kind->addressable();
    });
}

Settings read_settings() {
    Settings settings;
    settings.chip = &default_chip();
    read_device_variables(settings);
    read_cpu_core_variables(settings);
    read_check_variables(settings);
    read_variable(settings, "CANOPY_FUSION", "fusion", "off, steps, chains or loops", "loops", parse_fusion,
                  [&](FusionLevel value) { settings.fusion = value; });
    read_variable(settings, "CANOPY_FUSION_CHECK", "fusion_check", "0 or 1", "0", parse_switch,
                  [&](bool value) { settings.fusion_checked = value; });
    read_variable(settings, "CANOPY_QUIET", "quiet", "0 or 1", "0", parse_switch,
                  [&](bool value) { settings.quiet = value; });
    settings.cache_size = default_cache_size;
    read_variable(settings, "CANOPY_CACHE_SIZE", "cache_size", "a size like 512M or 2G", size_text(settings.cache_size),
                  parse_size, [&](std::uint64_t value) { settings.cache_size = value; });
    read_profile_variables(settings);
    for (const std::string& kind : settings.kinds)
        if (find_kind(kind) == nullptr)
            settings.problems.push_back(
                fmt::format("CANOPY_DEVICE: \"{}\" is not a kind of device: no such device can be set", kind));
    for (std::string& sentence : unknown_variables(environ)) settings.problems.push_back(std::move(sentence));
    apply_visible_devices(settings);
    return settings;
}

Settings choose_chip(Settings settings, const Chip* chip) {
    const auto origin = settings.origins.find("chip");
    if (origin != settings.origins.end() && origin->second != chosen_by_kernels) return settings;
    if (chip && chip != &default_chip())
        settings.origins["chip"] = chosen_by_kernels;
    else
        settings.origins.erase("chip");
    settings.chip = chip ? chip : &default_chip();
    if (settings.origins.count("device_memory") == 0) settings.memory = default_memory(*settings.chip);
    return settings;
}

Settings change_settings(Settings settings, const SettingsChange& change) {
    const auto chosen = [&](const char* key) { settings.origins[key] = "aclInit"; };
    if (change.chip) {
        if (const Chip* chip = find_chip(*change.chip)) settings.chip = chip;
        chosen("chip");
        if (settings.origins.count("device_memory") == 0) settings.memory = default_memory(*settings.chip);
    }
    if (change.memory) {
        settings.memory = *change.memory / memory_step * memory_step;
        chosen("device_memory");
    }
    if (change.workers) {
        settings.workers = *change.workers;
        chosen("workers");
    }
    if (change.checking) {
        settings.checking = *change.checking;
        chosen("check");
    }
    if (change.place) settings.place = *change.place;
    if (change.device_count) {
        settings.device_count = *change.device_count;
        chosen("device_count");
        std::erase_if(settings.problems,
                      [](const std::string& text) { return text.starts_with("ASCEND_RT_VISIBLE_DEVICES"); });
        apply_visible_devices(settings);
    }
    return settings;
}

std::string describe_settings(const Settings& settings) {
    const Chip& chip = *settings.chip;
    Json devices = Json::array();
    for (std::size_t index = 0; index < settings.visible.size(); ++index) {
        devices.push_back({{"id", index},
                           {"physical", settings.visible[index]},
                           {"kind", settings.kind_of(settings.visible[index])},
                           {"chip", chip.name},
                           {"series", chip.series},
                           {"architecture", chip.architecture},
                           {"cube_cores", chip.cube_cores},
                           {"vector_cores", chip.vector_cores},
                           {"cpu_cores", settings.cpu_cores ? settings.cpu_cores : chip.cpu_cores},
                           {"memory", settings.memory},
                           {"workers", settings.workers ? settings.workers : processors()}});
    }
    Json entries = Json::array();
    const auto entry = [&](const char* key, const char* name, Json value, const char* meaning) {
        const auto origin = settings.origins.find(key);
        entries.push_back({{"key", key},
                           {"variable", name},
                           {"value", std::move(value)},
                           {"set_by", origin == settings.origins.end() ? "default" : origin->second},
                           {"meaning", meaning}});
    };
    entry("device", "CANOPY_DEVICE", kinds_text(settings),
          "kind of device: soft, null, apart; or a list with the kind of each device, the last one repeated");
    entry("device_count", "CANOPY_DEVICE_COUNT", settings.device_count, "number of devices, 1 to 64");
    entry("visible", "ASCEND_RT_VISIBLE_DEVICES", settings.visible,
          "devices visible to the program, in ascending order");
    entry("chip", "CANOPY_CHIP", chip.name, "the chip that devices model");
    entry("device_memory", "CANOPY_DEVICE_MEMORY", settings.memory,
          "memory of each device in bytes; suffix K, M, G or T");
    entry("workers", "CANOPY_WORKERS", settings.workers, "worker threads of each device; 0: one per processor");
    entry("check", "CANOPY_CHECK", settings.checked.empty() ? Json(settings.checking) : Json(settings.checked),
          "1: checking mode for device memory; a list of race, cache, memory, init, sync, host, or all: what a chip "
          "would do wrong");
    entry("check_options", "CANOPY_CHECK_OPTIONS", settings.check_options.empty() ? "none" : settings.check_options,
          "options of canopy check for such a list");
    entry("cpu_cores", "CANOPY_CPU_CORES", settings.cpu_cores, "CPU cores of each device; 0: as many as the chip has");
    entry("cpu_pinning", "CANOPY_CPU_PINNING", settings.cpu_pinned, "1: pin each CPU core to one processor");
    entry("cpu_kernels", "CANOPY_CPU_KERNELS", settings.cpu_isolated ? "process" : "thread",
          "where CPU kernels run: thread (in the program) or process (a separate one)");
    entry("fusion", "CANOPY_FUSION", fusion_names.at(static_cast<std::size_t>(settings.fusion)),
          "level of kernel fusion: off, steps, chains, loops");
    entry("fusion_check", "CANOPY_FUSION_CHECK", settings.fusion_checked,
          "1: compare every fused launch with its steps run one by one");
    entry("cache_size", "CANOPY_CACHE_SIZE", settings.cache_size,
          "bytes of compiled code kept on disk; 0: nothing is kept");
    entry("profile", "CANOPY_PROFILE", settings.profile.empty() ? "none" : settings.profile,
          "file for the profile of the process; %p: the number of the process");
    entry("profile_want", "CANOPY_PROFILE_WANT", record::wanted_text(settings.profile_wanted),
          "what that profile holds: calls, tasks, nodes, blocks, memory, marks, idle, steps");
    entry("blackbox", "CANOPY_BLACKBOX", settings.black_box,
          "1: a process that is killed leaves its last records for canopy stats --last");
    entry("quiet", "CANOPY_QUIET", settings.quiet, "1: print nothing on standard error");
    // Read on each use.
    const std::string cache = cache_settings().folder;
    entries.push_back({{"key", "cache_dir"},
                       {"variable", "CANOPY_CACHE_DIR"},
                       {"value", cache.empty() ? "none" : cache},
                       {"set_by", environment_variable("CANOPY_CACHE_DIR") ? "CANOPY_CACHE_DIR" : "default"},
                       {"meaning", "folder of the cache of compiled code"}});
    Json chips = Json::array();
    for (const Chip& known : chip_table) chips.push_back(known.name);
    const Json document = {{"version", CANOPY_VERSION}, {"processors", processors()},    {"devices", devices},
                           {"settings", entries},       {"problems", settings.problems}, {"chips", chips}};
    return document.dump(2);
}

}  // namespace canopy
