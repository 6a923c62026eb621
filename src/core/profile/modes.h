// SPDX-License-Identifier: Apache-2.0
// Which of the ways of profiling this process uses; they exclude each other. Any thread.
#pragma once

#include "base/result.h"

namespace canopy {

enum class ProfilingMode {
    none,
    session,        // aclprofInit to aclprofFinalize
    configuration,  // switched on in aclInit's file
    subscription,   // at least one model is subscribed
};

// Begins `wanted` if no other mode is on: 148047 for the other calls, 100042 if it is the file's. True if the mode was
// not on before. In a forked process, nothing is on.
Result<bool> enter_profiling(ProfilingMode wanted);
void leave_profiling() noexcept;
[[nodiscard]] ProfilingMode profiling_mode() noexcept;

}  // namespace canopy
