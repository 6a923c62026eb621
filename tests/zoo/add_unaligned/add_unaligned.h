// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
// host entry of the kernel library; length in elements, any number
void LaunchAdd16(void *stream, const int16_t *x, const int16_t *y, int16_t *z, uint32_t length, uint32_t cores);
