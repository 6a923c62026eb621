// SPDX-License-Identifier: Apache-2.0
// What one recorded task is, in words and as JSON; for graph_view.h. The caller holds the graph's mutex.
#pragma once

#include "core/graph/graph_view.h"

namespace canopy {

TaskView view_task(const GraphTask& task, ViewDetail detail);

// Adds what a condition knows and its command does not.
void describe_condition(const GraphCondition& condition, TaskView& task);

}  // namespace canopy
