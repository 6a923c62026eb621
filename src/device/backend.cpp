// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"

#include "base/error_text.h"

namespace canopy {

Result<LaunchTrace> Module::trace(const TraceRequest& request) {
    return fail(207000, "kernels like {} cannot be traced", request.kernel ? request.kernel->info->name : "none");
}

}  // namespace canopy
