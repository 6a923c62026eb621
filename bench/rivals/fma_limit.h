// SPDX-License-Identifier: Apache-2.0
// The most floating-point operations the processors do: fused multiply-adds on registers, nothing else.
#pragma once

namespace bench {

// Operations in a nanosecond of all threads together, two for each multiply-add.
double fma_limit(int threads);

}  // namespace bench
