// SPDX-License-Identifier: Apache-2.0
// What the kernels add: the test changes this number and expects the kernels to be compiled again.
#pragma once

constexpr int extra = 0;
