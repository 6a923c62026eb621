// SPDX-License-Identifier: Apache-2.0
// Helpers for the kernels of programs that have them in one source with their host code.
#pragma once

#include "kernel_operator.h"

namespace programs {

__aicore__ inline uint32_t up(uint32_t value, uint32_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
__aicore__ inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

template <class T>
__aicore__ inline AscendC::GlobalTensor<T> global(GM_ADDR address) {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address));
    return tensor;
}

}  // namespace programs
