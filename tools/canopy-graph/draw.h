// SPDX-License-Identifier: Apache-2.0
// The output formats of canopy-graph.
#pragma once

#include <string>

#include "trace.h"

namespace canopy_graph {

// A complete picture, including the layout.
std::string draw_svg(const Trace& trace);
// Input for Graphviz, which does the layout.
std::string draw_dot(const Trace& trace);

}  // namespace canopy_graph
