// SPDX-License-Identifier: Apache-2.0
// Human-readable form of a recorded task: a short label, and details as JSON. Used by graph_view.h. The caller holds
// the graph's mutex.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"
#include "foundation/json.h"

namespace canopy {

struct TaskView {
    std::string kind;   // "kernel", "copy", "event record", ...
    std::string label;  // one short line
    Json details;
    std::uint64_t start = 0;  // in time slots from the start of the outermost graph
    std::uint64_t slots = 1;
};

enum class ViewDetail : std::uint8_t { summary, verbose };

TaskView view_task(const GraphTask& task, ViewDetail detail);

// Adds the details of a condition that its command does not have.
void describe_condition(const GraphCondition& condition, TaskView& task);

}  // namespace canopy
