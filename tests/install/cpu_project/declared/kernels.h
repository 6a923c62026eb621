// SPDX-License-Identifier: Apache-2.0
#pragma once
extern "C" __global__ __aicore__ void key_custom(GM_ADDR z);
