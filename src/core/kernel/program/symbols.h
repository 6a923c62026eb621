// SPDX-License-Identifier: Apache-2.0
// Variables of kernel binaries, looked up by their name in a binary or by the address of their host counterpart in the
// program. Once found, their memory is known to copies. Any thread.
#pragma once

#include "base/result.h"
#include "device/device.h"

namespace canopy {

// Address and size on the device of the current context. 107043 if the address is not registered.
Result<SymbolInfo> find_symbol(const void* host);

// The same for a binary's variable. 107042 if the binary has no variable of that name.
Result<SymbolInfo> variable_of(const void* binary, const char* name);

}  // namespace canopy
