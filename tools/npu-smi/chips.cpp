// SPDX-License-Identifier: Apache-2.0
#include "chips.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "acl/acl_rt.h"
#include "canopy/canopy.h"
#include "foundation/clock.h"
#include "foundation/files.h"
#include "foundation/json.h"
#include "foundation/run_folder.h"
#include "watch/processes.h"

namespace npu_smi {

using canopy::Json;

namespace {

std::string bus_id_of(std::int32_t device) {
    char text[32] = {};
    if (aclrtDeviceGetPCIBusId(device, text, sizeof text) != ACL_SUCCESS) return "NA";
    std::string id = text;
    std::transform(id.begin(), id.end(), id.begin(), [](unsigned char letter) { return std::toupper(letter); });
    return id;
}

std::vector<Chip> chips_of_settings() {
    std::vector<Chip> chips;
    const std::optional<Json> facts = canopy::parse_json(canopyDescribe());
    if (!facts) return chips;
    for (const Json& device : facts->at("devices")) {
        Chip chip;
        chip.number = device.at("physical").get<std::uint32_t>();
        chip.soc = device.at("chip").get<std::string>();
        chip.bus_id = bus_id_of(device.at("id").get<std::int32_t>());
        chip.cores = device.at("cube_cores").get<std::uint32_t>();
        chip.vector_cores = device.at("vector_cores").get<std::uint32_t>();
        chip.memory = device.at("memory").get<std::uint64_t>();
        chips.push_back(std::move(chip));
    }
    return chips;
}

using canopy::watch::Unit;

// The share of the last second in percent. A device that sleeps has done nothing since it told its figures.
int share_now(const canopy::watch::DeviceFigures& figures, std::initializer_list<Unit> units) {
    const double slept = figures.asleep ? static_cast<double>(canopy::now() - figures.time) / canopy::second : 0;
    int permille = 0;
    for (const Unit unit : units) permille += figures.share[static_cast<std::size_t>(unit)];
    return static_cast<int>(std::min(permille, 1000) * std::clamp(1 - slept, 0.0, 1.0) / 10 + 0.5);
}

// A program may have been started with other settings: what it has is what the chip is.
void add(std::vector<Chip>& chips, const canopy::watch::Process& process, const canopy::watch::Device& device) {
    const auto& figures = device.figures;
    auto chip =
        std::find_if(chips.begin(), chips.end(), [&](const Chip& known) { return known.number == figures.physical; });
    if (chip == chips.end()) {
        chip = chips.insert(chips.end(), Chip());
        chip->number = figures.physical;
        chip->bus_id = "NA";
    }
    chip->soc = figures.chip;
    chip->cores = figures.cube_cores;
    chip->vector_cores = figures.vector_cores;
    chip->memory = std::max(figures.memory, chip->users.empty() ? 0 : chip->memory);
    chip->memory_used += device.memory_used;
    const auto add_share = [&](int& share, std::initializer_list<Unit> units) {
        share = std::min(100, share + share_now(figures, units));
    };
    add_share(chip->core_share, {Unit::cube, Unit::vector, Unit::mix});
    add_share(chip->cube_share, {Unit::cube, Unit::mix});
    add_share(chip->vector_share, {Unit::vector, Unit::mix});
    add_share(chip->cpu_share, {Unit::cpu});
    chip->users.push_back({process.id, process.name, device.memory_used});
}

// The number in a file of /sys.
std::optional<double> number_in(const std::filesystem::path& path) {
    std::string text;
    long long value = 0;
    if (!canopy::read_file(path.string(), text)) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return static_cast<double>(value);
}

// The highest value of a kind of sensor, like "temp*_input".
std::optional<double> highest(const char* folder, std::string_view begin, std::string_view end) {
    std::optional<double> best;
    std::error_code error;
    for (const auto& chip : std::filesystem::directory_iterator(folder, error))
        for (const auto& entry : std::filesystem::directory_iterator(chip.path(), error)) {
            const std::string name = entry.path().filename().string();
            if (!name.starts_with(begin) || !name.ends_with(end)) continue;
            if (const auto value = number_in(entry.path()); value && (!best || *value > *best)) best = value;
        }
    return best;
}

}  // namespace

std::string Chip::short_name() const {
    constexpr std::string_view maker = "Ascend";
    return soc.starts_with(maker) ? soc.substr(maker.size()) : soc;
}

int Chip::memory_share() const {
    return memory == 0 ? 0 : static_cast<int>(std::min<std::uint64_t>(100, memory_used * 100 / memory));
}

std::vector<Chip> read_chips() {
    std::vector<Chip> chips = chips_of_settings();
    for (const auto& process : canopy::watch::read_processes(canopy::run_folder_path()))
        for (const auto& device : process.devices) add(chips, process, device);
    std::sort(chips.begin(), chips.end(), [](const Chip& one, const Chip& other) { return one.number < other.number; });
    return chips;
}

Sensors read_sensors() {
    Sensors sensors;
    std::optional<double> heat = highest("/sys/class/hwmon", "temp", "_input");
    if (!heat) heat = highest("/sys/class/thermal", "temp", "temp");
    if (heat) sensors.celsius = static_cast<int>(*heat / 1000 + 0.5);
    std::optional<double> power = highest("/sys/class/hwmon", "power", "_average");
    if (!power) power = highest("/sys/class/hwmon", "power", "_input");
    if (power) sensors.watts = *power / 1e6;
    return sensors;
}

std::string watts_text(const Sensors& sensors) {
    return sensors.watts ? fmt::format("{:.1f}", *sensors.watts) : std::string("NA");
}

std::string celsius_text(const Sensors& sensors) {
    return sensors.celsius ? fmt::format("{}", *sensors.celsius) : std::string("NA");
}

}  // namespace npu_smi
