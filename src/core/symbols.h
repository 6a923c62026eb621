// SPDX-License-Identifier: Apache-2.0
// Variables of kernel binaries as host code names them: by the address of a shadow variable that was registered
// together with a binary. Used by the copies to and from symbols. Any thread.
#pragma once

#include "base/result.h"
#include "device/backend.h"

namespace canopy {

// Address and size on the device of the current context. 107043 when the address is not registered.
Result<SymbolInfo> find_symbol(const void* symbol);

}  // namespace canopy
