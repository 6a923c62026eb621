// SPDX-License-Identifier: Apache-2.0
// Runs measurements that need a separate process: another kind of device, or memory that nothing else uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/topics.h"

namespace bench {

// Runs this program again as `--child name` with `assignments` (like "CANOPY_DEVICE=null") added to its environment
// and returns the JSON it prints. Throws if the child fails.
nlohmann::ordered_json run_child(const std::string& name, const std::string& assignments, const Options& options);

}  // namespace bench
