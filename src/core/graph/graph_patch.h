// SPDX-License-Identifier: Apache-2.0
// Patches: changes of single tasks of built graphs, made in the order of a stream from values that lie in device memory
// by then.
//
// Threads: everything from any thread; a patch is made by the thread that drains its stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/memory/random_numbers.h"

namespace canopy {

// Another kernel of a binary: the 64-bit number its name ends with, and the 32-bit number of blocks, both in memory.
struct KernelPatch {
    Handle binary = 0;
    const void* entry = nullptr;
    const void* blocks = nullptr;
};

// Another random-number task: its description in memory, and who can read that.
struct RandomPatch {
    const void* source = nullptr;
    std::size_t size = 0;
    Result<RandomTask> (*read)(const void* bytes) = nullptr;
};

// `task` is the number of a task of `task_stream`, which is bound to a graph (107005 otherwise, 107000 when it has no
// such task of that kind); the patch is made when `stream` comes to it.
Status patch_kernel(const void* task_stream, std::uint32_t task, const KernelPatch& patch, const void* stream);
Status patch_random(const void* task_stream, std::uint32_t task, const RandomPatch& patch, const void* stream);

}  // namespace canopy
