// SPDX-License-Identifier: Apache-2.0
#include "device/soft/services.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>

#include "device/soft/executor.h"
#include "device/soft/launch.h"

namespace canopy {
namespace {

CanopyBlock* current_block() { return Executor::existing()->block; }

void sync_all() { Launch::sync_all(); }

void trap() { __builtin_trap(); }

void print(const char* text, std::size_t length) {
    // One write per call under the stream's own lock: lines of different blocks do not mix.
    Executor* executor = Executor::existing();
    executor->enter_service();
    std::fwrite(text, 1, length, stdout);
    std::fflush(stdout);
    executor->leave_service();
}

constexpr CanopyServices services = {
    CANOPY_KERNEL_ABI_VERSION, sizeof(CanopyServices), &current_block, &sync_all, &trap, &print,
};

}  // namespace

const CanopyServices& kernel_services() noexcept { return services; }

}  // namespace canopy
