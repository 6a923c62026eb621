// SPDX-License-Identifier: Apache-2.0
// What a checker knows of a launch before it runs, and what others learn from it afterwards.
#pragma once

#include <canopy/kernel_abi.h>
#include <canopy/kernel_check.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <memory>

#include "check/classes.h"

namespace canopy::check {

class TraceFile;
class WrittenBytes;

struct CheckOptions {
    Classes classes;
    bool portable = false;                 // report what library calls order by themselves, too
    bool strict_ids = false;               // flags of one source pipe and id are one flag, whatever their target
    bool data_barrier_all = false;         // DataSyncBarrier orders other pipes as well
    std::optional<bool> autosync;          // overrides what the image says
    std::optional<std::uint64_t> without;  // take the n-th flag pair, barrier or queue event out of the clocks
    std::shared_ptr<TraceFile> trace;      // receives what kernels tell; null: nothing does
};

// One core of a launch.
struct CoreFacts {
    std::uint32_t block = 0;      // block_idx: the group in mix kernels
    std::uint32_t sub_index = 0;  // among the cores of its kind in the group
    bool cube = false;
    // Where its memories are, as CanopyCore has them; an empty one has size 0.
    struct Memory {
        std::uint64_t base = 0, size = 0;
    } memory[CANOPY_MEMORY_COUNT];
};

// An allocation of device memory, for messages and bounds.
struct AllocationFacts {
    std::uint64_t address = 0, size = 0;
    std::uint64_t serial = 0;  // distinguishes allocations at one address
    bool freed = false;
    std::string origin;  // "aclrtMalloc at main.cpp:12", or what is known
};

struct LaunchFacts {
    std::string kernel;
    unsigned device = 0;
    std::uint32_t architecture = 2201;
    std::uint32_t blocks = 1;         // groups
    std::uint32_t vector_cores = 1;   // of a group
    std::uint32_t cube_cores = 0;     // of a group
    bool mix = false;                 // has a scheduler for flags and meetings: not declared for one kind of core
    bool autosync = false;            // compiled with automatic synchronisation
    std::uint32_t cores_of_chip = 0;  // that can be resident together; 0: not known
    // The allocation that contains an address, live or freed; nullopt: none.
    std::function<std::optional<AllocationFacts>(std::uint64_t)> allocation;
    // Which bytes of global memory nobody has written, shared by the launches of the device; null: that is not known.
    WrittenBytes* written = nullptr;
    // The file and line of an instruction of the image, for raw accesses.
    std::function<CanopyCheckSite(const void*)> line;
};

// A stretch of global memory that a launch has touched, for the order of streams.
struct TouchedRange {
    std::uint64_t begin = 0, end = 0;
    bool written = false;
    std::uint8_t atomic = 0;  // a CanopyCheckAtomic
    CanopyCheckSite site{};   // of one of its accesses; texts live as long as the image
    std::uint32_t block = 0;
};

}  // namespace canopy::check
