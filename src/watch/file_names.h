// SPDX-License-Identifier: Apache-2.0
// Names of files with figures in the run folder: figures.<process>.<time>, with an ending until they are complete.
#pragma once

namespace canopy::watch {

inline constexpr const char* file_prefix = "figures.";
inline constexpr const char* unfinished_suffix = ".new";

}  // namespace canopy::watch
