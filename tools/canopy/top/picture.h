// SPDX-License-Identifier: Apache-2.0
// A view as text for people and as JSON for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "foundation/json.h"
#include "readings.h"

namespace canopy_tool {

// The work that has run longest of all.
struct LongestRunning {
    int process = 0;
    std::uint32_t device = 0;
    std::int32_t stream = -1;
    std::string name;
    double seconds = 0;
};
// `process` is 0 if nothing runs.
LongestRunning longest_running(const View& view);

// Lines of at most `width` letters, without line ends; what does not fit into `height` lines is left out, and the last
// line says so. Only ASCII.
std::vector<std::string> draw(const View& view, std::size_t width, std::size_t height);

canopy::Json to_json(const View& view);

}  // namespace canopy_tool
