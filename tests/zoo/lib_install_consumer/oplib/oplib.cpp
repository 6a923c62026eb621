// SPDX-License-Identifier: Apache-2.0
#include "oplib.h"
#include "aclrtlaunch_gather_rows.h"
#include "aclrtlaunch_fill.h"

static uint32_t CoresFor(uint32_t work) { return work < 16 ? (work == 0 ? 1 : work) : 16; }

int oplib_gather_rows(void *stream, const float *x, const int32_t *index, float *y, uint32_t count, uint32_t cols)
{
    if (cols % 8 != 0) return -1;
    return ACLRT_LAUNCH_KERNEL(gather_rows)(CoresFor(count), stream, (void *)x, (void *)index, y, count, cols);
}

int oplib_fill(void *stream, float *y, uint32_t count, float value)
{
    return ACLRT_LAUNCH_KERNEL(fill)(CoresFor(count / 64), stream, y, count, value);
}
