// SPDX-License-Identifier: Apache-2.0
// Variables of kernel binaries: by their name in a binary, or as host code names them, by the address of the variable
// of the same name in the program. Their memory is known to copies from then on. Any thread.
#pragma once

#include "base/result.h"
#include "device/backend.h"

namespace canopy {

// Address and size on the device of the current context. 107043 when the address is not registered.
Result<SymbolInfo> find_symbol(const void* host);

// The same for a binary's variable. 107042 when the binary has none of that name.
Result<SymbolInfo> variable_of(const void* binary, const char* name);

}  // namespace canopy
