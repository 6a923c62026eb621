// SPDX-License-Identifier: Apache-2.0
// Kernels that process rows of 4,096 floats: queues with two buffers, and a contiguous share of the rows for each
// block.
#pragma once

#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t row = 4096;

// What this block takes of `count` tiles or rows.
struct Share {
    __aicore__ inline explicit Share(uint64_t count)
        : first(count * GetBlockIdx() / GetBlockNum()), count(count * (GetBlockIdx() + 1) / GetBlockNum() - first) {}
    uint64_t first, count;
};

// Processes rows of 4,096 numbers one after the other; `Work` is the operation on a row, which gives `results` numbers.
template <class Work, uint32_t results = row>
class Rows {
public:
    __aicore__ inline void run(GM_ADDR x, GM_ADDR y, uint64_t rows, Work& work) {
        GlobalTensor<float> from, to;
        const Share share(rows);
        from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + share.first * row, share.count * row);
        to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y) + share.first * results, share.count * results);
        pipe_.InitBuffer(in_, 2, row * sizeof(float));
        pipe_.InitBuffer(out_, 2, results * sizeof(float));
        work.init(pipe_);
        for (uint64_t i = 0; i < share.count; ++i) {
            LocalTensor<float> source = in_.AllocTensor<float>();
            DataCopy(source, from[i * row], row);
            in_.EnQue(source);
            source = in_.DeQue<float>();
            LocalTensor<float> result = out_.AllocTensor<float>();
            work.apply(result, source);
            out_.EnQue(result);
            in_.FreeTensor(source);
            result = out_.DeQue<float>();
            DataCopy(to[i * results], result, results);
            out_.FreeTensor(result);
        }
    }

private:
    TPipe pipe_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
};
