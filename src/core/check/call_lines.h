// SPDX-License-Identifier: Apache-2.0
// Source lines of calls by the program, from the line tables of the program and its libraries. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "check/finding.h"
#include "check/host/host_findings.h"
#include "foundation/mutex.h"

namespace canopy {

class CallLines {
public:
    // The file and line of a call, by the address to which it returns; without them if there is no line table.
    check::Place place(std::uintptr_t return_address);
    // "aclrtMalloc at main.cpp:12"; empty for no call.
    std::string text(const check::HostCall& call);
    // The same for the innermost of these calls that is in the program, neither in this library nor in one of the
    // system, and has a line. Nothing for code of a kernel.
    std::optional<check::Place> place(std::span<const std::uintptr_t> return_addresses);

private:
    Mutex mutex_;
    std::unordered_map<std::uintptr_t, check::Place> known_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
