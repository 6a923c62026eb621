// SPDX-License-Identifier: Apache-2.0
// The layout of a drawing: streams are columns, tasks are boxes placed as high as their dependencies allow, conditions
// are boxes with the drawings of their sub-graphs inside. All numbers are pixels.
#pragma once

#include <vector>

#include "trace.h"

namespace canopy_graph {

struct Box {
    double x = 0, y = 0, width = 0, height = 0;

    [[nodiscard]] double middle_x() const { return x + width / 2; }
    [[nodiscard]] double middle_y() const { return y + height / 2; }
    [[nodiscard]] double right() const { return x + width; }
    [[nodiscard]] double bottom() const { return y + height; }
};

struct LaneLayout {
    Box column;              // including its heading
    std::vector<Box> boxes;  // of the tasks
};

// The drawing of one graph; positions are relative to its top left corner.
struct GraphLayout {
    double width = 0, height = 0;
    std::vector<LaneLayout> lanes;
};

inline constexpr double heading_height = 30;  // of a stream
inline constexpr double condition_heading = 30;
inline constexpr double body_heading = 26;  // of a sub-graph
inline constexpr double body_margin = 10;

// One for each graph of the trace.
std::vector<GraphLayout> lay_out(const Trace& trace);

// The corner of a sub-graph's drawing, relative to the box of its condition.
Box place_of_body(const std::vector<GraphLayout>& layouts, const Task& condition, std::size_t body);

// True for tasks that are drawn as small marks.
bool is_small(const Task& task);

}  // namespace canopy_graph
