// SPDX-License-Identifier: Apache-2.0
// The description of a random-number task as passed by programs. Any thread.
#pragma once

#include "acl/acl_rt.h"
#include "base/result.h"
#include "core/memory/random_numbers.h"

namespace canopy {

// 100000 for unknown types and functions or an unsupported combination.
Result<RandomTask> read_random_task(const aclrtRandomNumTaskInfo& info);

}  // namespace canopy
