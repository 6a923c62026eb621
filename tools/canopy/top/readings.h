// SPDX-License-Identifier: Apache-2.0
// What the programs that use Canopy do now: figures of each, and what follows from two readings of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "watch/processes.h"

namespace canopy_tool {

struct DeviceView {
    canopy::watch::Device now;
    double cube = 0, vector = 0, copy = 0, cpu = 0;  // share of the threads' time, 0 to 1
    double tasks_per_second = 0;
    bool silent =
        false;  // it works but has told nothing for a while: the process is stopped, or the machine overloaded
};

struct ProcessView {
    int id = 0;
    std::string name;
    std::vector<DeviceView> devices;
};

struct View {
    canopy::Nanoseconds time = 0;
    std::vector<ProcessView> processes;
};

class Readings {
public:
    // Only that process, if it is not 0.
    explicit Readings(std::string folder, int process) : folder_(std::move(folder)), process_(process) {}
    // Rates are those since the last call; 0 for what was not there then.
    View take();

private:
    struct Earlier {
        canopy::Nanoseconds time = 0;
        canopy::watch::DeviceFigures figures;
    };
    using Key = std::pair<int, std::uint32_t>;  // process, device
    DeviceView compare(const Earlier* earlier, canopy::watch::Device device, canopy::Nanoseconds time) const;

    const std::string folder_;
    const int process_;
    std::map<Key, Earlier> earlier_;
};

// Tasks of a stream that have not completed.
inline std::uint64_t depth_of(const canopy::watch::StreamFigures& stream) {
    return stream.submitted - stream.completed;
}
// In seconds; 0 if `since` is 0.
inline double age(canopy::Nanoseconds since, canopy::Nanoseconds time) {
    return since <= 0 || since > time ? 0 : static_cast<double>(time - since) / canopy::second;
}
// "running", "waits for an event".
const char* state_text(const canopy::watch::StreamFigures& stream);
const char* wait_text(canopy::watch::WaitsFor reason);
const char* unit_text(canopy::watch::Unit unit);

}  // namespace canopy_tool
