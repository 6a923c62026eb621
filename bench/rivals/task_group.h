// SPDX-License-Identifier: Apache-2.0
// oneTBB's task_group: unordered tasks on a thread pool, each holding five values like a launch.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

class TaskGroup {
public:
    // nullptr if oneTBB is not installed.
    static std::unique_ptr<TaskGroup> open();
    // Its version, or a note that it is not installed.
    static std::string version();
    virtual ~TaskGroup() = default;
    // Runs `count` tasks, then waits for all.
    virtual void run_then_wait(std::size_t count) = 0;
    // Runs a task and waits for it, `count` times.
    virtual void run_and_wait_each(std::size_t count) = 0;
};

}  // namespace bench
