// SPDX-License-Identifier: Apache-2.0
// The tracing variant of an image (canopy/kernel_trace.h): the device text with one constant flipped, compiled again
// into bitcode and a shared object. Fusion uses both; an image without them still runs but is fused less.
#pragma once

#include <string>

#include "compile/job.h"

namespace canopy_cc {

// The device text as tracing code. Empty if the options rule it out, or if the source does not use the kernel
// language's operations and so has nothing to trace.
std::string tracing_text(const Options& options, const Texts& texts);

struct TracingPass {
    int status = 0;  // not 0: there is no tracing variant; compilation continues without it
    std::string object;
    std::string bitcode;
};

// Compiles <directory>/trace.ii with these language flags.
TracingPass compile_tracing(const CompileJob& job, const std::vector<std::string>& flags);

}  // namespace canopy_cc
