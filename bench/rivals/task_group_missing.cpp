// SPDX-License-Identifier: Apache-2.0
// Replaces task_group.cpp if oneTBB is missing.
#include "rivals/task_group.h"

namespace bench {

std::unique_ptr<TaskGroup> TaskGroup::open() { return nullptr; }
std::string TaskGroup::version() { return "oneTBB not installed"; }

}  // namespace bench
