// SPDX-License-Identifier: Apache-2.0
// ModuleTracer: the tracing code of one image. It runs the blocks of a launch one after the other on the calling thread
// with inaccessible addresses: global memory and the memories of the core are replaced by reserved ranges without
// access. The operations the code reports are recorded; anything else it does ends in a fault or in a service that
// refuses, and then there is no trace.
//
// Threads: any; traces of one module are made one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "device/execution/core.h"
#include "device/trace.h"
#include "foundation/code_file.h"
#include "foundation/kernel_info.h"
#include "foundation/mutex.h"

namespace canopy {

class ModuleTracer {
public:
    // `object`: the bytes of the image's target "trace"; not needed after the call. `name` is for messages.
    static Result<std::unique_ptr<ModuleTracer>> open(const std::string& name, std::uint32_t architecture,
                                                      std::span<const std::byte> object);
    ~ModuleTracer();

    // `entry` is the symbol of the kernel's entry.
    Result<LaunchTrace> trace(const TraceRequest& request, const KernelInfo& kernel, const std::string& entry);

private:
    ModuleTracer() = default;
    Status load(const std::string& name, std::span<const std::byte> object);
    Status read_symbols(std::span<const std::byte> object);

    std::uint32_t architecture_ = 0;
    CodeFile file_;
    std::uintptr_t load_address_ = 0;
    std::unordered_map<std::string, std::uintptr_t> functions_;       // by name
    std::unordered_map<std::uintptr_t, std::string> function_names_;  // by address
    std::string variable_;  // a mutable variable that could change traces; empty: none
    Mutex mutex_;
    std::unique_ptr<SoftCore> core_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
