// SPDX-License-Identifier: Apache-2.0
#include "core/symbols.h"

#include "base/error_text.h"
#include "core/error_codes.h"

namespace canopy {

Result<SymbolInfo> find_symbol(const void* symbol) {
    return fail(code::invalid_symbol,
                "symbol {} is not registered: no loaded binary has registered a variable under it", fmt::ptr(symbol));
}

}  // namespace canopy
