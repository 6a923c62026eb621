// SPDX-License-Identifier: Apache-2.0
// The pictures canopy-graph makes of a trace.
#pragma once

#include <string>

#include "trace.h"

namespace canopy_graph {

// A complete picture; no other program is needed for the layout.
std::string draw_svg(const Trace& trace);
// For Graphviz.
std::string draw_dot(const Trace& trace);

}  // namespace canopy_graph
