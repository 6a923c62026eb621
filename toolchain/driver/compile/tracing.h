// SPDX-License-Identifier: Apache-2.0
// The tracing variant of an image (canopy/kernel_trace.h): the device text with one constant turned, compiled once more
// into bitcode and a shared object. Fusion uses both; an image without them runs as well, it is just not fused as far.
#pragma once

#include <string>

#include "compile/job.h"

namespace canopy_cc {

// The device text as tracing code; empty if the options or the source rule it out: a source that does not use the
// kernel language's operations has nothing to tell.
std::string tracing_text(const Options& options, const Texts& texts);

struct TracingPass {
    int status = 0;  // not 0: there is no tracing variant; the compilation goes on without it
    std::string object;
    std::string bitcode;
};

// Compiles <directory>/trace.ii with these flags of the language.
TracingPass compile_tracing(const CompileJob& job, const std::vector<std::string>& flags);

}  // namespace canopy_cc
