// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
// y = x / (1 + exp(-x))
void swish_f32(uint32_t cores, void *stream, float *x, float *y, uint32_t n);
// y = min(max(x, lo), hi)
void clip_f32(uint32_t cores, void *stream, float *x, float *y, uint32_t n, float lo, float hi);
