// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

struct ScaleBiasArgs {
    uint32_t count;
    float scale;
    float bias;
};

void scale_bias(void* stream, float* x, const ScaleBiasArgs& args);
