// SPDX-License-Identifier: Apache-2.0
#include "rivals/task_group.h"

#include <fmt/core.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include "harness/session.h"

namespace bench {
namespace {

class OpenedTaskGroup final : public TaskGroup {
public:
    ~OpenedTaskGroup() noexcept override { group_.wait(); }
    void run_then_wait(std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i) run();
        group_.wait();
    }
    void run_and_wait_each(std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i) {
            run();
            group_.wait();
        }
    }

private:
    void run() {
        group_.run([arguments = arguments_] { asm volatile("" : : "r"(&arguments) : "memory"); });
    }
    // The base destructor may throw if nobody has waited; this class always waits.
    struct Group : tbb::task_group {
        ~Group() noexcept = default;
    };
    Group group_;
    FiveArguments arguments_;
};

}  // namespace

std::unique_ptr<TaskGroup> TaskGroup::open() { return std::make_unique<OpenedTaskGroup>(); }
std::string TaskGroup::version() {
    return fmt::format("oneTBB {}.{}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR, TBB_VERSION_PATCH);
}

}  // namespace bench
