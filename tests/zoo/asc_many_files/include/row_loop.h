// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernel_operator.h"

namespace norm {
constexpr uint32_t MAX_COLS = 4096;

// device code that the kernel files share
class RowLoop {
public:
    __aicore__ inline RowLoop(uint32_t rows) : next_(AscendC::GetBlockIdx()), rows_(rows) {}
    __aicore__ inline bool Next(uint32_t& row)
    {
        if (next_ >= rows_) return false;
        row = next_;
        next_ += AscendC::GetBlockNum();
        return true;
    }

private:
    uint32_t next_, rows_;
};
} // namespace norm
