// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
struct RowSumsTiling {
    uint32_t rows;
    uint32_t cols;
};
