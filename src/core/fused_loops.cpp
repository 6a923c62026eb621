// SPDX-License-Identifier: Apache-2.0
#include "core/fused_loops.h"

#include "base/error_text.h"

namespace canopy {

Result<CompiledLoops> compile_loops(Device& device, const LoopRequest& request) {
    (void)device;
    return fail(207000, "{} steps cannot become loops", request.steps.size());
}

}  // namespace canopy
