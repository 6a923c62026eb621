// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernel_operator.h"

__simd_vf__ inline void add_registers(__ubuf__ float* a, __ubuf__ float* b) {
    AscendC::Far::RegTensor<float> first;
    AscendC::Far::LoadAlign(first, a);
    asc_unbuilt(b, a, 64);
}

__aicore__ inline void tensors() { auto shape = AscendC::Wide::MakeShape(16, 16); }
