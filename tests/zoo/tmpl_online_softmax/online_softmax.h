// SPDX-License-Identifier: Apache-2.0
#ifndef ONLINE_SOFTMAX_H
#define ONLINE_SOFTMAX_H
#include "primitives.h"

// First pass: running maximum m and running sum l of every row, rescaled whenever m grows.
// Second pass: exp(x - m) / l. UB holds one tile, so that rows of any length do.
template <uint32_t ROWS>
class SoftMax {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t cols, TPipe* pipe)
    {
        rows_ = rows;
        cols_ = cols;
        xGm_.SetGlobalBuffer((__gm__ float*)x, rows * cols);
        yGm_.SetGlobalBuffer((__gm__ float*)y, rows * cols);
        pipe->InitBuffer(in_, 1, ROWS * FP32_PER_REPEAT * sizeof(float));
        pipe->InitBuffer(out_, 1, ROWS * FP32_PER_REPEAT * sizeof(float));
        pipe->InitBuffer(state_, 5 * VEC * sizeof(float));
        pipe->InitBuffer(blocks_, VEC * FP32_PER_BLK * sizeof(float));
        LocalTensor<float> all = state_.Get<float>();
        m_ = all;
        l_ = all[VEC];
        mNew_ = all[2 * VEC];
        scale_ = all[3 * VEC];
        part_ = all[4 * VEC];
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = GetBlockIdx() * ROWS; row < rows_; row += GetBlockNum() * ROWS) {
            uint32_t n = Min(ROWS, rows_ - row);
            Duplicate(m_, NEG_INF, VEC);
            Zeros(l_, VEC, part_, mNew_);
            for (uint32_t col = 0; col < cols_; col += FP32_PER_REPEAT) {
                Accumulate(row, col, {n, Min(FP32_PER_REPEAT, cols_ - col)});
            }
            for (uint32_t col = 0; col < cols_; col += FP32_PER_REPEAT) {
                Normalize(row, col, {n, Min(FP32_PER_REPEAT, cols_ - col)});
            }
        }
    }

private:
    static constexpr uint32_t VEC = (ROWS + 63) / 64 * 64;

    __aicore__ inline LocalTensor<float> Load(uint32_t row, uint32_t col, const TileShape& shape)
    {
        LocalTensor<float> t = in_.AllocTensor<float>();
        const uint32_t bytes = shape.cols * sizeof(float);
        const uint32_t unused = (FP32_PER_REPEAT * sizeof(float) - (bytes + 31) / 32 * 32) / 32;
        DataCopyPad(t, xGm_[row * cols_ + col],
                    DataCopyExtParams{static_cast<uint16_t>(shape.rows), bytes,
                                      static_cast<uint32_t>(cols_ * sizeof(float) - bytes), unused, 0},
                    DataCopyPadExtParams<float>{false, 0, 0, 0});
        in_.EnQue(t);
        t = in_.DeQue<float>();
        MaskTail(t, shape);
        return t;
    }
    __aicore__ inline void Accumulate(uint32_t row, uint32_t col, const TileShape& shape)
    {
        LocalTensor<float> t = Load(row, col, shape);
        LocalTensor<float> blk = blocks_.Get<float>();
        RowMax(mNew_, t, shape.rows);
        Max(mNew_, mNew_, m_, VEC);
        VBar();
        Sub(scale_, m_, mNew_, VEC);
        VBar();
        Exp(scale_, scale_, VEC);
        VBar();
        Spread(blk, mNew_, shape.rows);
        RowSub(t, t, blk, shape.rows);
        Exp(t, t, ROWS * FP32_PER_REPEAT);
        VBar();
        RowSum(part_, t, shape.rows);
        Mul(l_, l_, scale_, VEC);
        VBar();
        Add(l_, l_, part_, VEC);
        DataCopy(m_, mNew_, VEC);
        VBar();
        in_.FreeTensor(t);
    }
    __aicore__ inline void Normalize(uint32_t row, uint32_t col, const TileShape& shape)
    {
        LocalTensor<float> t = Load(row, col, shape);
        LocalTensor<float> y = out_.AllocTensor<float>();
        LocalTensor<float> blk = blocks_.Get<float>();
        Spread(blk, m_, shape.rows);
        RowSub(y, t, blk, shape.rows);
        Exp(y, y, ROWS * FP32_PER_REPEAT);
        Spread(blk, l_, shape.rows);
        RowDiv(y, y, blk, shape.rows);
        in_.FreeTensor(t);
        out_.EnQue(y);
        y = out_.DeQue<float>();
        const uint32_t bytes = shape.cols * sizeof(float);
        const uint32_t unused = (FP32_PER_REPEAT * sizeof(float) - (bytes + 31) / 32 * 32) / 32;
        DataCopyPad(yGm_[row * cols_ + col], y,
                    DataCopyExtParams{static_cast<uint16_t>(shape.rows), bytes, unused,
                                      static_cast<uint32_t>(cols_ * sizeof(float) - bytes), 0});
        out_.FreeTensor(y);
    }

    uint32_t rows_, cols_;
    GlobalTensor<float> xGm_, yGm_;
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    TBuf<TPosition::VECCALC> state_, blocks_;
    LocalTensor<float> m_, l_, mNew_, scale_, part_;
};
#endif
