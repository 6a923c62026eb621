// SPDX-License-Identifier: Apache-2.0
#include "readings.h"

#include <algorithm>

namespace canopy_tool {

using canopy::Nanoseconds;
using canopy::watch::Device;
using canopy::watch::DeviceFigures;
using canopy::watch::Process;
using canopy::watch::StreamState;
using canopy::watch::Unit;
using canopy::watch::WaitsFor;

namespace {

constexpr Nanoseconds silence = 2 * canopy::second;

double busy(const DeviceFigures& figures, Unit unit) {
    return static_cast<double>(figures.busy[static_cast<std::size_t>(unit)]);
}

}  // namespace

DeviceView Readings::compare(const Earlier* earlier, Device device, Nanoseconds time) const {
    DeviceView view;
    const DeviceFigures& figures = device.figures;
    view.silent = figures.asleep == 0 && time - figures.time > silence;
    // A device that sleeps tells nothing, so its figures hold until now.
    const auto until = [&](const DeviceFigures& told, Nanoseconds read) { return told.asleep ? read : told.time; };
    const Nanoseconds passed = earlier ? until(figures, time) - until(earlier->figures, earlier->time) : Nanoseconds{0};
    if (passed > 0) {
        const auto share = [&](std::initializer_list<Unit> units, std::uint32_t threads) {
            double sum = 0;
            for (const Unit unit : units) sum += busy(figures, unit) - busy(earlier->figures, unit);
            return std::clamp(sum / (static_cast<double>(passed) * std::max(threads, 1u)), 0.0, 1.0);
        };
        view.cube = share({Unit::cube, Unit::mix}, figures.workers);
        view.vector = share({Unit::vector, Unit::mix}, figures.workers);
        view.copy = share({Unit::copy}, figures.workers);
        view.cpu = share({Unit::cpu}, figures.cpu_cores);
        const std::uint64_t before = earlier->figures.completed;
        const std::uint64_t tasks = figures.completed > before ? figures.completed - before : 0;
        view.tasks_per_second = static_cast<double>(tasks) * canopy::second / static_cast<double>(passed);
    }
    view.now = std::move(device);
    return view;
}

View Readings::take() {
    View view;
    std::map<Key, Earlier> next;
    std::vector<Process> processes = canopy::watch::read_processes(folder_);
    view.time = canopy::now();
    for (Process& process : processes) {
        if (process_ != 0 && process.id != process_) continue;
        ProcessView seen{process.id, std::move(process.name), {}};
        for (Device& device : process.devices) {
            const Key key{process.id, device.figures.index};
            const auto earlier = earlier_.find(key);
            next[key] = {view.time, device.figures};
            seen.devices.push_back(
                compare(earlier == earlier_.end() ? nullptr : &earlier->second, std::move(device), view.time));
        }
        view.processes.push_back(std::move(seen));
    }
    earlier_ = std::move(next);
    return view;
}

const char* state_text(const canopy::watch::StreamFigures& stream) {
    switch (stream.state) {
        case StreamState::idle:
            return "idle";
        case StreamState::ready:
            return "ready";
        case StreamState::running:
            return "running";
        case StreamState::waiting:
            return wait_text(stream.waits_for);
    }
    return "";
}

const char* wait_text(WaitsFor reason) {
    switch (reason) {
        case WaitsFor::nothing:
            return "waits";
        case WaitsFor::event:
            return "waits for an event";
        case WaitsFor::word:
            return "waits for a word in memory";
        case WaitsFor::host_call:
            return "waits for a host function";
        case WaitsFor::cores:
            return "waits for cores";
        case WaitsFor::turn:
            return "waits for another replay";
        case WaitsFor::graph:
            return "replays a graph";
    }
    return "";
}

const char* unit_text(Unit unit) {
    switch (unit) {
        case Unit::cube:
            return "cube";
        case Unit::vector:
            return "vector";
        case Unit::mix:
            return "mix";
        case Unit::copy:
            return "copy";
        case Unit::cpu:
            return "cpu";
    }
    return "";
}

}  // namespace canopy_tool
