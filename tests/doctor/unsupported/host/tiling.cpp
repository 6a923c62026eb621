// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace optiling {
static int tiling(gert::TilingContext* context) { return context->GetBlockDim(); }
}  // namespace optiling
