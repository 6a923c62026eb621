// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace canopy_tool {

using canopy::Json;
using canopy::watch::RunningFigures;
using canopy::watch::StreamFigures;

namespace {

constexpr std::size_t bar_cells = 10;
constexpr std::size_t most_streams_shown = 8;  // of one device, unless there is room for more

std::string size_text(std::uint64_t bytes) {
    double size = static_cast<double>(bytes);
    const char* unit = "B";
    for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
        if (size < 1024) break;
        size /= 1024;
        unit = next;
    }
    return size == std::floor(size) ? fmt::format("{:.0f} {}", size, unit) : fmt::format("{:.1f} {}", size, unit);
}

std::string bar(double share, std::size_t cells) {
    const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(cells)));
    return "[" + std::string(full, '#') + std::string(cells - full, '.') + "]";
}

std::string seconds_text(double seconds) {
    return seconds < 100 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string rate_text(double rate) {
    if (rate >= 1e6) return fmt::format("{:.2f} M", rate / 1e6);
    if (rate >= 1e4) return fmt::format("{:.1f} k", rate / 1e3);
    return fmt::format("{:.0f}", rate);
}

double memory_share(const DeviceView& device) {
    const auto total = static_cast<double>(device.now.figures.memory);
    return total == 0 ? 0 : std::clamp(static_cast<double>(device.now.memory_used) / total, 0.0, 1.0);
}

const char* name_of(const RunningFigures& running) {
    if (running.name[0] != 0) return running.name;
    return running.unit == canopy::watch::Unit::copy ? "(copy or fill)" : "(kernel without a name)";
}

void draw_device(std::vector<std::string>& lines, const DeviceView& device) {
    const auto& figures = device.now.figures;
    lines.push_back(fmt::format("device {}  {} ({}), {} worker{}{}", figures.index, figures.chip, figures.kind,
                                figures.workers, figures.workers == 1 ? "" : "s",
                                device.silent ? "  - tells nothing: stopped?" : ""));
    const auto part = [](const char* name, double share) {
        return fmt::format("{} {}{:4.0f} %", name, bar(share, bar_cells), share * 100);
    };
    lines.push_back(fmt::format("  {}   {}   {}   {}", part("cube  ", device.cube), part("vector", device.vector),
                                part("copy", device.copy), part("CPU", device.cpu)));
    lines.push_back(fmt::format("  memory {} {} of {}, at most {}   {} tasks/s", bar(memory_share(device), bar_cells),
                                size_text(device.now.memory_used), size_text(figures.memory),
                                size_text(device.now.memory_peak), rate_text(device.tasks_per_second)));
}

std::vector<StreamFigures> by_depth(const DeviceView& device) {
    std::vector<StreamFigures> streams = device.now.streams;
    std::erase_if(streams, [](const StreamFigures& stream) { return depth_of(stream) == 0; });
    std::stable_sort(streams.begin(), streams.end(), [](const StreamFigures& one, const StreamFigures& other) {
        return depth_of(one) > depth_of(other);
    });
    return streams;
}

const RunningFigures* running_on(const DeviceView& device, std::int32_t stream) {
    for (const RunningFigures& running : device.now.running)
        if (running.stream == stream) return &running;
    return nullptr;
}

void draw_streams(std::vector<std::string>& lines, const DeviceView& device, canopy::Nanoseconds time) {
    const std::vector<StreamFigures> streams = by_depth(device);
    if (streams.empty()) {
        lines.push_back(fmt::format("  {} stream{}, nothing to do", device.now.figures.streams,
                                    device.now.figures.streams == 1 ? "" : "s"));
        return;
    }
    lines.push_back(fmt::format("  {:>7} {:>9}  {:>8}  {}", "stream", "tasks", "since", "now"));
    for (std::size_t at = 0; at < streams.size() && at < most_streams_shown; ++at) {
        const StreamFigures& stream = streams[at];
        const RunningFigures* running = running_on(device, stream.id);
        lines.push_back(fmt::format("  {:>7} {:>9}  {:>8}  {}{}", stream.id, depth_of(stream),
                                    seconds_text(age(stream.since, time)), state_text(stream),
                                    running ? fmt::format(" {}", name_of(*running)) : std::string()));
    }
    if (streams.size() > most_streams_shown)
        lines.push_back(fmt::format("  {} more streams have work", streams.size() - most_streams_shown));
}

}  // namespace

LongestRunning longest_running(const View& view) {
    LongestRunning longest;
    for (const ProcessView& process : view.processes)
        for (const DeviceView& device : process.devices)
            for (const RunningFigures& running : device.now.running) {
                canopy::Nanoseconds since = running.since;
                // The blocks of a launch begin one after the other.
                for (const StreamFigures& stream : device.now.streams)
                    if (stream.id == running.stream && stream.since != 0) since = std::min(since, stream.since);
                const double seconds = age(since, view.time);
                if (longest.process != 0 && seconds <= longest.seconds) continue;
                longest = {process.id, device.now.figures.index, running.stream, name_of(running), seconds};
            }
    return longest;
}

std::vector<std::string> draw(const View& view, std::size_t width, std::size_t height) {
    std::vector<std::string> lines;
    if (view.processes.empty()) {
        lines.push_back("No program uses Canopy now.");
    } else {
        lines.push_back(fmt::format("{} program{} use{} Canopy now", view.processes.size(),
                                    view.processes.size() == 1 ? "" : "s", view.processes.size() == 1 ? "s" : ""));
        const LongestRunning longest = longest_running(view);
        if (longest.process != 0)
            lines.push_back(fmt::format("longest running: {} for {}, process {}, device {}", longest.name,
                                        seconds_text(longest.seconds), longest.process, longest.device));
    }
    for (const ProcessView& process : view.processes) {
        lines.push_back("");
        lines.push_back(fmt::format("process {}  {}", process.id, process.name));
        for (const DeviceView& device : process.devices) {
            draw_device(lines, device);
            draw_streams(lines, device, view.time);
        }
    }
    if (lines.size() > height && height > 0) {
        const std::size_t left_out = lines.size() - height + 1;
        lines.resize(height);
        lines.back() = fmt::format("{} more lines: make the window larger, or choose a process with -p", left_out);
    }
    for (std::string& line : lines)
        if (line.size() > width) line.resize(width);
    return lines;
}

namespace {

Json stream_json(const StreamFigures& stream, canopy::Nanoseconds time) {
    return {{"stream", stream.id},
            {"state", state_text(stream)},
            {"priority", stream.priority},
            {"submitted", stream.submitted},
            {"completed", stream.completed},
            {"depth", depth_of(stream)},
            {"seconds", age(stream.since, time)}};
}

Json device_json(const DeviceView& device, canopy::Nanoseconds time) {
    const auto& figures = device.now.figures;
    Json streams = Json::array(), running = Json::array();
    for (const StreamFigures& stream : device.now.streams) streams.push_back(stream_json(stream, time));
    for (const RunningFigures& one : device.now.running)
        running.push_back({{"thread", one.thread},
                           {"stream", one.stream},
                           {"kernel", one.name},
                           {"unit", unit_text(one.unit)},
                           {"seconds", age(one.since, time)}});
    return {
        {"device", figures.index},
        {"physical", figures.physical},
        {"kind", figures.kind},
        {"chip", figures.chip},
        {"workers", figures.workers},
        {"memory",
         {{"used", device.now.memory_used},
          {"peak", device.now.memory_peak},
          {"total", figures.memory},
          {"allocations", device.now.allocations}}},
        {"utilisation", {{"cube", device.cube}, {"vector", device.vector}, {"copy", device.copy}, {"cpu", device.cpu}}},
        {"tasks_per_second", device.tasks_per_second},
        {"submitted", figures.submitted},
        {"completed", figures.completed},
        {"silent", device.silent},
        {"stream_count", figures.streams},
        {"streams", streams},
        {"running", running}};
}

}  // namespace

Json to_json(const View& view) {
    Json processes = Json::array();
    for (const ProcessView& process : view.processes) {
        Json devices = Json::array();
        for (const DeviceView& device : process.devices) devices.push_back(device_json(device, view.time));
        processes.push_back({{"process", process.id}, {"name", process.name}, {"devices", devices}});
    }
    const LongestRunning longest = longest_running(view);
    Json longest_json;
    if (longest.process != 0)
        longest_json = {{"process", longest.process},
                        {"device", longest.device},
                        {"stream", longest.stream},
                        {"kernel", longest.name},
                        {"seconds", longest.seconds}};
    return {{"processes", processes}, {"longest_running", longest_json}};
}

}  // namespace canopy_tool
