// SPDX-License-Identifier: Apache-2.0
// The pictures canopy-graph makes of a trace.
#pragma once

#include <string>

#include "trace.h"

namespace canopy_graph {

// A picture of its own; no other program is needed to lay it out.
std::string draw_svg(const Trace& trace);
// For Graphviz.
std::string draw_dot(const Trace& trace);

}  // namespace canopy_graph
