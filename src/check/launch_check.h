// SPDX-License-Identifier: Apache-2.0
// The check of one launch: what its cores do, compared with the order that a chip keeps. Knows nothing of how kernels
// run: the device passes on what the checking code of an image reports (canopy/kernel_check.h), and tests make it up.
//
// Threads: a CoreCheck is used by one thread at a time; those of one launch share only what meetings and flags between
// cores need. `end` is called when all cores have ended.
#pragma once

#include <canopy/kernel_abi.h>
#include <canopy/kernel_check.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/classes.h"
#include "check/finding.h"

namespace canopy::check {

struct CheckOptions {
    Classes classes;
    bool portable = false;                 // report what library calls order by themselves, too
    bool strict_ids = false;               // flags of one source pipe and id are one flag, whatever their target
    bool data_barrier_all = false;         // DataSyncBarrier orders other pipes as well
    std::optional<bool> autosync;          // overrides what the image says
    std::optional<std::uint64_t> without;  // take the n-th flag pair, barrier or queue event out of the clocks
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
    bool mix = false;                 // declared for cube and vector cores: has a scheduler for flags and meetings
    bool autosync = false;            // compiled with automatic synchronisation
    std::uint32_t cores_of_chip = 0;  // that can be resident together; 0: not known
    // The allocation that contains an address, live or freed; nullopt: none.
    std::function<std::optional<AllocationFacts>(std::uint64_t)> allocation;
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

class LaunchCheck;

class CoreCheck {
public:
    virtual ~CoreCheck() = default;
    virtual void operation(const CanopyCheckOperation& operation) = 0;
    virtual void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, const CanopyCheckSite& site) = 0;
    virtual void barrier(std::uint32_t pipe, const CanopyCheckSite& site) = 0;
    virtual void data_barrier(std::uint32_t kind, const CanopyCheckSite& site) = 0;
    virtual void buffer(const CanopyCheckBuffer& buffer) = 0;
    virtual void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                          const CanopyCheckSite& site) = 0;
    virtual void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) = 0;
    virtual void core_flag(bool set, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id,
                           const CanopyCheckSite& site) = 0;
    virtual void meet(std::uint32_t kind, std::uint32_t scope, bool begin, std::uint32_t trigger, std::uint32_t wait,
                      const CanopyCheckSite& site) = 0;
    virtual void word(std::uint32_t event, const void* address, const CanopyCheckSite& site) = 0;
    virtual void cache(std::uint32_t event, const void* address, const CanopyCheckSite& site) = 0;
    virtual void region(std::uint32_t kind, bool begin, const CanopyCheckOperation* operation) = 0;
    virtual void not_modelled(const char* what, const CanopyCheckSite& site) = 0;
    virtual void misuse(const char* id, const char* text, const CanopyCheckSite& site) = 0;
    virtual void raw(const void* address, std::uint32_t bytes, std::uint32_t kind, const void* instruction) = 0;
    virtual void order(std::uint32_t from, std::uint32_t to, const CanopyCheckSite& site) = 0;
    // The block has returned, or was ended: `complete` is false after a fault, an abort or a time-out. The last call.
    virtual void end(bool complete) = 0;
};

class LaunchCheck {
public:
    virtual ~LaunchCheck() = default;
    // Called once for each core, from any thread.
    virtual CoreCheck& core(const CoreFacts& facts) = 0;
    // All cores have ended. Compares their accesses and reports what is left; the ranges touched are sorted and joined.
    virtual std::vector<TouchedRange> end() = 0;
};

std::unique_ptr<LaunchCheck> make_launch_check(LaunchFacts facts, const CheckOptions& options, FindingSink& sink);

}  // namespace canopy::check
