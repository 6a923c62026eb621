// SPDX-License-Identifier: Apache-2.0
#ifndef BROADCAST_BASE_H
#define BROADCAST_BASE_H
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t BLOCK_BYTES = 32;
constexpr uint32_t REPEAT_BYTES = 256;

template <typename T>
__aicore__ inline T CeilDiv(T a, T b) { return b == 0 ? 0 : (a + b - 1) / b; }
template <typename T>
__aicore__ inline T RoundUp(T a, T b) { return CeilDiv(a, b) * b; }
template <typename T>
__aicore__ inline T Min(T a, T b) { return a < b ? a : b; }

// rows are dealt out to cores, the first ones get one more
struct RowRange {
    uint32_t begin, end;
    __aicore__ inline explicit RowRange(uint32_t rows)
    {
        uint32_t cores = GetBlockNum(), me = GetBlockIdx();
        uint32_t each = CeilDiv(rows, cores);
        begin = Min(me * each, rows);
        end = Min(begin + each, rows);
    }
};

// one queue in, one out, BODY does the work on a row
template <typename T, typename BODY>
__aicore__ inline void ForEachRow(TPipe &pipe, GlobalTensor<T> &src, GlobalTensor<T> &dst, uint32_t rows, uint32_t cols, BODY body)
{
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, RoundUp<uint32_t>(cols * sizeof(T), BLOCK_BYTES));
    pipe.InitBuffer(out, 2, RoundUp<uint32_t>(cols * sizeof(T), BLOCK_BYTES));
    RowRange range(rows);
    for (uint32_t r = range.begin; r < range.end; ++r) {
        LocalTensor<T> x = in.AllocTensor<T>();
        DataCopy(x, src[r * cols], cols);
        in.EnQue(x);
        x = in.DeQue<T>();
        LocalTensor<T> y = out.AllocTensor<T>();
        body(y, x, r);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<T>();
        DataCopy(dst[r * cols], y, cols);
        out.FreeTensor(y);
    }
}
#endif
