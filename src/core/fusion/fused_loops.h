// SPDX-License-Identifier: Apache-2.0
// Loops for fused kernels: turns the traces of consecutive steps into code that does their work in one pass over memory
// and keeps all intermediate values in registers. It uses the kernels' own element functions, so the results are
// bit-identical. Used by fusion (src/core/fusion/fusion.h) on its background thread.
//
// Threads: any; the only shared state is the cache of compiled code (foundation/code_cache.h), which other processes
// use too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "core/fusion/loop_flow.h"
#include "device/device.h"
#include "foundation/subprocess.h"

namespace canopy {

struct CompiledLoops {
    std::shared_ptr<const FusedLoops> loops;
    std::string name;  // of the code in the cache
    bool from_cache = false;
    std::uint64_t compile_time = 0;    // nanoseconds in the compiler; 0 if nothing was compiled
    std::uint64_t total_time = 0;      // nanoseconds of the whole call
    std::uint32_t stores_dropped = 0;  // to temporaries
};

// Fails with a message if the data of the steps does not flow element by element. May run the compiler.
Result<CompiledLoops> compile_loops(Device& device, const LoopRequest& request);

// The functions of loops compiled earlier, without pieces. nullptr if they are no longer in the cache.
std::shared_ptr<FusedLoops> find_compiled_loops(Device& device, const std::string& name, std::size_t functions);

}  // namespace canopy
