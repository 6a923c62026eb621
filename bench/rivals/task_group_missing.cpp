// SPDX-License-Identifier: Apache-2.0
// Stands in for task_group.cpp where oneTBB is missing.
#include "rivals/task_group.h"

namespace bench {

std::unique_ptr<TaskGroup> TaskGroup::open() { return nullptr; }
std::string TaskGroup::version() { return "oneTBB not installed"; }

}  // namespace bench
