// SPDX-License-Identifier: Apache-2.0
// From the file of a run to its result folder. Any thread.
#pragma once

#include <string>

#include "foundation/problem.h"

namespace canopy {

// Makes the result folder of a profile in `folder` and removes the file, which is part of it. If that fails, the file
// stays.
Problem write_results(const std::string& file, const std::string& folder);

}  // namespace canopy
