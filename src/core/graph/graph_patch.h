// SPDX-License-Identifier: Apache-2.0
// Patches: changes to single tasks of built graphs, applied in stream order with values that are in device memory by
// then.
//
// Threads: everything from any thread; a patch is applied by the thread that drains its stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/memory/random_numbers.h"

namespace canopy {

// Replaces the kernel with another one of a binary: the 64-bit number its name ends with and the 32-bit block count are
// both in memory.
struct KernelPatch {
    Handle binary = 0;
    DeviceAddress entry{};
    DeviceAddress blocks{};
};

// Replaces a random-number task: its description in memory, and the function that reads it.
struct RandomPatch {
    DeviceAddress source{};
    std::size_t size = 0;
    Result<RandomTask> (*read)(const void* bytes) = nullptr;
};

// `task` is the number of a task of `task_stream`, which is bound to a graph (107005 otherwise; 107000 if it has no
// such task of that kind). The patch is applied when `stream` reaches it.
Status patch_kernel(const void* task_stream, std::uint32_t task, const KernelPatch& patch, const void* stream);
Status patch_random(const void* task_stream, std::uint32_t task, const RandomPatch& patch, const void* stream);

}  // namespace canopy
