// SPDX-License-Identifier: Apache-2.0
// Row primitives on tiles [ROWS, 64] of float: a row is exactly one repeat.
#ifndef PRIMITIVES_H
#define PRIMITIVES_H
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t FP32_PER_BLK = 8;
constexpr uint32_t FP32_PER_REPEAT = 64;
constexpr float NEG_INF = -3.0e38f;

// {dst, src0, src1} strides: src1 is one block for a whole row
__aicore__ inline BinaryRepeatParams RowByBlock() { return BinaryRepeatParams(1, 1, 0, 8, 8, 1); }

__aicore__ inline uint32_t CeilDiv(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
__aicore__ inline uint32_t Min(uint32_t a, uint32_t b) { return a < b ? a : b; }
__aicore__ inline uint32_t RoundUp8(uint32_t a) { return CeilDiv(a, 8) * 8; }

template <HardEvent EVENT>
__aicore__ inline void SyncPipes()
{
    event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(EVENT));
    SetFlag<EVENT>(id);
    WaitFlag<EVENT>(id);
}
__aicore__ inline void VBar() { PipeBarrier<PIPE_V>(); }

__aicore__ inline void RowMax(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t rows)
{
    WholeReduceMax(dst, src, FP32_PER_REPEAT, rows, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    VBar();
}
__aicore__ inline void RowSum(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t rows)
{
    WholeReduceSum(dst, src, FP32_PER_REPEAT, rows, 1, 1, 8);
    VBar();
}
// one value per row -> one block per row
__aicore__ inline void Spread(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t rows)
{
    Brcb(dst, src, static_cast<uint8_t>(CeilDiv(rows, 8)), {1, 8});
    VBar();
}
__aicore__ inline void RowSub(const LocalTensor<float>& dst, const LocalTensor<float>& src, const LocalTensor<float>& blk,
                              uint32_t rows)
{
    Sub(dst, src, blk, FP32_PER_REPEAT, rows, RowByBlock());
    VBar();
}
__aicore__ inline void RowDiv(const LocalTensor<float>& dst, const LocalTensor<float>& src, const LocalTensor<float>& blk,
                              uint32_t rows)
{
    Div(dst, src, blk, FP32_PER_REPEAT, rows, RowByBlock());
    VBar();
}
template <typename... Rest>
__aicore__ inline void Zeros(const LocalTensor<float>& t, uint32_t n, Rest&... rest)
{
    Duplicate(t, 0.0f, n);
    (Duplicate(rest, 0.0f, n), ...);
    VBar();
}

struct TileShape {
    uint32_t rows;
    uint32_t cols;  // valid ones of 64
};

// Columns behind the last valid one get -inf, so that they vanish in max and in exp.
__aicore__ inline void MaskTail(const LocalTensor<float>& t, const TileShape& shape)
{
    if (shape.cols == FP32_PER_REPEAT) {
        return;
    }
    uint64_t mask[2] = {~((1ull << shape.cols) - 1), 0};
    Duplicate(t, NEG_INF, mask, shape.rows, 1, 8);
    VBar();
}
#endif
