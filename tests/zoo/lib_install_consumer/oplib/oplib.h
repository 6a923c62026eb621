/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <cstdint>
#ifdef __cplusplus
extern "C" {
#endif
/* y[i][:] = x[index[i]][:], rows of cols floats */
int oplib_gather_rows(void *stream, const float *x, const int32_t *index, float *y, uint32_t count, uint32_t cols);
int oplib_fill(void *stream, float *y, uint32_t count, float value);
#ifdef __cplusplus
}
#endif
