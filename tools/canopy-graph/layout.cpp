// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <algorithm>

namespace canopy_graph {
namespace {

constexpr double task_width = 176;
constexpr double small_width = 132;
constexpr double task_height = 40;
constexpr double plain_height = 30;  // without a second line
constexpr double small_height = 22;
constexpr double row_gap = 16;
constexpr double first_gap = 8;  // below the heading
constexpr double lane_gap = 36;
constexpr double lane_padding = 20;  // between a column's side and its boxes

Box size_of(const std::vector<GraphLayout>& layouts, const Task& task) {
    if (!task.bodies.empty()) {
        Box box{0, 0, body_margin, condition_heading};
        for (const std::size_t body : task.bodies) {
            const Box inner = place_of_body(layouts, task, body);
            box.width = std::max(box.width, inner.right() + body_margin);
            box.height = std::max(box.height, inner.bottom() + body_margin);
        }
        box.width = std::max(box.width, task_width);
        return box;
    }
    if (is_small(task)) return {0, 0, small_width, small_height};
    return {0, 0, task_width, task.note.empty() ? plain_height : task_height};
}

// Sizes the boxes and makes each column as wide as its widest box.
void place_columns(const std::vector<GraphLayout>& layouts, const Graph& graph, GraphLayout& layout) {
    double x = 0;
    for (const Lane& lane : graph.lanes) {
        LaneLayout& column = layout.lanes.emplace_back();
        double width = task_width;
        for (const Task& task : lane.tasks) {
            column.boxes.push_back(size_of(layouts, task));
            width = std::max(width, column.boxes.back().width);
        }
        column.column = {x, 0, width + 2 * lane_padding, heading_height};
        for (Box& box : column.boxes) box.x = column.column.middle_x() - box.width / 2;
        x = column.column.right() + lane_gap;
    }
    layout.width = graph.lanes.empty() ? task_width : x - lane_gap;
}

// Places each box below the one before it and below every box with an edge to it.
void place_rows(const Graph& graph, GraphLayout& layout) {
    std::vector<std::vector<std::vector<Place>>> before(graph.lanes.size());
    for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) before[lane].resize(graph.lanes[lane].tasks.size());
    for (const Edge& edge : graph.edges)
        if (!edge.control) before[edge.to.lane][edge.to.position].push_back(edge.from);
    double bottom = heading_height;
    for (const Place place : in_order(graph)) {
        std::vector<Box>& boxes = layout.lanes[place.lane].boxes;
        Box& box = boxes[place.position];
        box.y = heading_height + first_gap;
        if (place.position != 0) box.y = std::max(box.y, boxes[place.position - 1].bottom() + row_gap);
        for (const Place from : before[place.lane][place.position])
            box.y = std::max(box.y, layout.lanes[from.lane].boxes[from.position].bottom() + row_gap);
        bottom = std::max(bottom, box.bottom());
    }
    layout.height = bottom + row_gap;
    for (LaneLayout& lane : layout.lanes) lane.column.height = layout.height;
}

}  // namespace

bool is_small(const Task& task) {
    return task.kind.rfind("event", 0) == 0 || task.kind == "signal" || task.kind == "wait" || task.kind == "nothing" ||
           task.kind == "label" || task.kind == "end";
}

Box place_of_body(const std::vector<GraphLayout>& layouts, const Task& condition, std::size_t body) {
    double x = body_margin;
    for (const std::size_t other : condition.bodies) {
        if (other == body) break;
        x += layouts[other].width + 3 * body_margin;
    }
    return {x, condition_heading, layouts[body].width + 2 * body_margin,
            body_heading + layouts[body].height + body_margin};
}

std::vector<GraphLayout> lay_out(const Trace& trace) {
    std::vector<GraphLayout> layouts(trace.graphs.size());
    // Sub-graphs come after their parents, so go backwards: their size determines the parents' boxes.
    for (std::size_t i = trace.graphs.size(); i-- > 0;) {
        place_columns(layouts, trace.graphs[i], layouts[i]);
        place_rows(trace.graphs[i], layouts[i]);
    }
    return layouts;
}

}  // namespace canopy_graph
