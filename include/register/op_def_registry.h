// SPDX-License-Identifier: Apache-2.0
// The operators that a library defines. OP_ADD(AddCustom) adds the class AddCustom, which derives from ops::OpDef.
#ifndef CANOPY_REGISTER_OP_DEF_REGISTRY_H
#define CANOPY_REGISTER_OP_DEF_REGISTRY_H

#include <memory>

#include "../kernel_tiling/template_argument.h"
#include "../platform/platform_ascendc.h"
#include "op_def.h"
#include "tilingdata_base.h"

namespace ops {

// Of one library or program, in the order of their registration. Filled before main, by one thread.
inline std::vector<std::unique_ptr<OpDef>>& added_operators() {
    static std::vector<std::unique_ptr<OpDef>> operators;
    return operators;
}

template <class T>
bool add_operator(const char* type) {
    added_operators().push_back(std::make_unique<T>(type));
    return true;
}

}  // namespace ops

#define OP_ADD(op) [[maybe_unused]] static const bool canopy_added_##op = ::ops::add_operator<op>(#op)

#endif
