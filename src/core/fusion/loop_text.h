// SPDX-License-Identifier: Apache-2.0
// C source of fused loops: one function per shape of a flow, which calls the kernels' own functions for every element.
// Used by fused_loops.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "core/fusion/loop_flow.h"

namespace canopy {

// The function name of a shape.
std::string loop_name(std::size_t shape);

// `past_caches`: results that are not loaded again bypass the caches.
std::string loop_text(const LoopFlow& flow, bool past_caches);

}  // namespace canopy
