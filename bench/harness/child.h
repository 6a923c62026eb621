// SPDX-License-Identifier: Apache-2.0
// Some things can only be measured in a process of their own: another kind of device, or memory that nobody else uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/topics.h"

namespace bench {

// Runs this program again as `--child name` with `assignments` (like "CANOPY_DEVICE=null") added to its environment
// and returns the JSON it prints. Throws when the child fails.
nlohmann::ordered_json run_child(const std::string& name, const std::string& assignments, const Options& options);

}  // namespace bench
