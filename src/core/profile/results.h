// SPDX-License-Identifier: Apache-2.0
// From the file of a run to its result folder. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "foundation/problem.h"

namespace canopy {

// Makes the result folder of a profile in `folder` and removes the file, which is part of it. If that fails, the file
// stays.
Problem write_results(const std::string& file, const std::string& folder);
// Says on standard error what is wrong with a profile, for want of a call that could return it. Nothing if `problem` is
// empty, or with CANOPY_QUIET.
void tell_user(std::string_view problem);

}  // namespace canopy
