// SPDX-License-Identifier: Apache-2.0
// The functions of the two kernel libraries. Both work in place on `count` floats of device memory, a multiple of
// 8, in stream order.
#pragma once

#include <cstdint>

#include "acl/acl.h"

void Scale(float* values, uint32_t count, float factor, aclrtStream stream);  // in the static library
void Shift(float* values, uint32_t count, float amount, aclrtStream stream);  // in the shared library
