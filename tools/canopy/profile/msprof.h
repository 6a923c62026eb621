// SPDX-License-Identifier: Apache-2.0
// `canopy msprof`, which bin/msprof starts: the command line of the field's profiler.
#pragma once

#include <string>
#include <vector>

namespace canopy_tool {

// Collects: [--output=FOLDER] [options] program arguments. Exports: --export=on --output=PROF_FOLDER. The exit status.
int run_msprof(const std::vector<std::string>& arguments);

}  // namespace canopy_tool
