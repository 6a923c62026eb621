// SPDX-License-Identifier: Apache-2.0
// The inner runtime: runs on the device's CPU cores. Both versions export the same two names; the dispatcher keeps them
// apart. Several blocks of several streams may be in here at once.
#include "control.h"

#include <atomic>

namespace {
std::atomic<std::uint32_t> scale{0};
}

// Called once, before the first task.
extern "C" std::uint32_t DynTileFwkBackendKernelServerInit(void* arguments) {
    scale = static_cast<const Settings*>(arguments)->scale;
    return 0;
}

// Called for every block of every launch.
extern "C" std::uint32_t DynTileFwkBackendKernelServer(void* arguments) {
    const Task& task = *static_cast<const Task*>(arguments);
    if (scale == 0) return 1;  // never initialised
    *task.result += scale * task.value * 10 + CONTROL_VERSION;
    return 0;
}
