// SPDX-License-Identifier: Apache-2.0
// Loops for fused kernels: from the traces of steps that follow each other to code that does their work in one pass
// over memory, with everything they hand on in registers. The element functions are those of the kernels themselves, so
// the results are the same bits. Used by fusion (src/core/fusion/fusion.h) on its background thread.
//
// Threads: any; nothing is shared but the cache of compiled code (core/fusion/code_cache.h), which other processes use
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "device/backend.h"
#include "foundation/subprocess.h"

namespace canopy {

// A step whose launch has a trace.
struct LoopStep {
    const LaunchTrace* trace = nullptr;
    std::span<const std::byte> bitcode;  // Module::bitcode of its kernel
};

// Memory the steps touch; in the order of TraceRequest::regions, which was the same for all of them.
struct LoopRegion {
    std::uint32_t slot = 0;         // an 8-byte word of the fused argument block that holds an address in the region
    std::uint64_t slot_offset = 0;  // how far behind the begin of the region that address is
    bool temporary = false;         // nobody but these steps reads what they store there
};

struct LoopRequest {
    std::span<const LoopStep> steps;  // in the order in which they would run
    std::span<const LoopRegion> regions;
    std::uint32_t first_step = 0;  // what the pieces say of their step, for failures
    ProcessStop* stop = nullptr;   // ends the compiler
};

struct CompiledLoops {
    std::shared_ptr<const FusedLoops> loops;
    std::string name;  // of the code in the cache
    bool from_cache = false;
    std::uint64_t compile_time = 0;    // nanoseconds in the compiler; 0: nothing was compiled
    std::uint64_t total_time = 0;      // nanoseconds of the whole call
    std::uint32_t stores_dropped = 0;  // to temporaries
};

// Refuses, with the reason as text, steps whose data does not flow element by element. May run the compiler.
Result<CompiledLoops> compile_loops(Device& device, const LoopRequest& request);

// The functions of loops that were compiled before, without pieces. nullptr: the cache has them no more.
std::shared_ptr<FusedLoops> find_compiled_loops(Device& device, const std::string& name, std::size_t functions);

}  // namespace canopy
