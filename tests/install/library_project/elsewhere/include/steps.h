// SPDX-License-Identifier: Apache-2.0
// Found through ascendc_include_directories; the test changes the number and expects the kernels to be compiled again.
#pragma once

constexpr int offset = 0;
