// SPDX-License-Identifier: Apache-2.0
// The interface call that a thread is in, while somebody wants to know where calls come from (record::call_sites).
#pragma once

#include "check/host/host_findings.h"

namespace canopy {

__attribute__((tls_model("initial-exec"))) inline thread_local constinit check::HostCall calling;

}  // namespace canopy
