// SPDX-License-Identifier: Apache-2.0
// Scopes: marks on streams being captured that say which kernels belong together (graph_fusion.h). Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace canopy {

inline constexpr std::size_t longest_scope_name = 255;
inline constexpr std::size_t most_scope_names = 256;
inline constexpr std::uint32_t most_scopes = 1024;

// On a stream being captured (107029 otherwise). A null name: kernels in the scope are not fused.
Status begin_scope(const char* name, const void* stream);
Status end_scope(const char* name, const void* stream);

}  // namespace canopy
