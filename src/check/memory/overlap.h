// SPDX-License-Identifier: Apache-2.0
// Operands of one vector instruction that share bytes.
#pragma once

#include <canopy/kernel_check.h>

namespace canopy::check {

// What is wrong with what is written over what is read; null: nothing. A vector instruction works in repeats of up to
// 256 bytes: operands of a repeat must be the same or apart, and no repeat may read what an earlier one has written.
const char* wrong_overlap(const CanopyCheckAccess& written, const CanopyCheckAccess& read);

}  // namespace canopy::check
