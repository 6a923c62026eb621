// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#ifdef __cplusplus
namespace norm {
// sums of each row go to out
void LaunchMean(void* stream, const float* x, float* out, uint32_t rows, uint32_t cols);
// x -= mean of its row
void LaunchCenter(void* stream, float* x, const float* mean, uint32_t rows, uint32_t cols);
// x *= factor
void LaunchScale(void* stream, float* x, uint32_t count, float factor);
}
extern "C"
#endif
void report(const char* name, double worst, int ok);
