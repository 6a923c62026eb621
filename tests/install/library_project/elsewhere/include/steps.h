// SPDX-License-Identifier: Apache-2.0
// Found through ascendc_include_directories. The test changes the number and expects the kernels to be recompiled.
#pragma once

constexpr int offset = 0;
