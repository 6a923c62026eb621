// SPDX-License-Identifier: Apache-2.0
// The amount the kernels add. The test changes this number and expects the kernels to be recompiled.
#pragma once

constexpr int extra = 0;
