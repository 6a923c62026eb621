// SPDX-License-Identifier: Apache-2.0
// Launch attributes as passed by programs, for launches and for changes of launches in graphs. Any thread.
#pragma once

#include "acl/acl_rt.h"
#include "base/result.h"
#include "device/command.h"

namespace canopy {

// Applies the attributes to the launch; null means none. 107000 for invalid values.
Status read_config(const aclrtLaunchKernelCfg* config, LaunchWork& work);

}  // namespace canopy
