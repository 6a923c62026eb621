// SPDX-License-Identifier: Apache-2.0
// The text of fused loops, in C: one function for each shape of a flow, which calls the kernels' own functions for
// every element. Used by fused_loops.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "core/fusion/loop_flow.h"

namespace canopy {

// The name of the function of a shape.
std::string loop_name(std::size_t shape);

// `past_caches`: results that nobody loads leave past the caches.
std::string loop_text(const LoopFlow& flow, bool past_caches);

}  // namespace canopy
