// SPDX-License-Identifier: Apache-2.0
// Every core sums its rows into the workspace, then core 0 adds what the cores left there.
#include "kernel_operator.h"
#include "row_sums_tiling.h"
using namespace AscendC;

#ifdef NO_SYNC_ALL
#error "row_sums needs SyncAll"
#endif

namespace op {
class RowSums {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
    {
        auto t = (__gm__ RowSumsTiling *)tiling;
        rows_ = t->rows;
        cols_ = t->cols;
        usr_.SetGlobalBuffer((__gm__ float *)workspace);   // the system's part is cut off already
        x_.SetGlobalBuffer((__gm__ float *)x, rows_ * cols_);
        y_.SetGlobalBuffer((__gm__ float *)y, cols_);
        pipe_.InitBuffer(buf_, 2 * cols_ * sizeof(float));
        acc_ = buf_.Get<float>();
        row_ = acc_[cols_];
    }
    __aicore__ inline void Process()
    {
        Duplicate(acc_, 0.0f, cols_);
        for (uint32_t r = GetBlockIdx(); r < rows_; r += GetBlockNum()) {
            PipeBarrier<PIPE_ALL>();
            DataCopy(row_, x_[r * cols_], cols_);
            PipeBarrier<PIPE_ALL>();
            Add(acc_, acc_, row_, cols_);
        }
        PipeBarrier<PIPE_ALL>();
        DataCopy(usr_[GetBlockIdx() * cols_], acc_, cols_);
        PipeBarrier<PIPE_ALL>();
        SyncAll();
        if (GetBlockIdx() != 0) {
            return;
        }
        for (int64_t core = 1; core < GetBlockNum(); ++core) {
            DataCopy(row_, usr_[core * cols_], cols_);
            PipeBarrier<PIPE_ALL>();
            Add(acc_, acc_, row_, cols_);
            PipeBarrier<PIPE_ALL>();
        }
        DataCopy(y_, acc_, cols_);
    }

private:
    TPipe pipe_;
    TBuf<QuePosition::VECCALC> buf_;
    LocalTensor<float> acc_, row_;
    GlobalTensor<float> x_, y_, usr_;
    uint32_t rows_, cols_;
};
} // namespace op

extern "C" __global__ __aicore__ void row_sums(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    op::RowSums sums;
    sums.Init(x, y, workspace, tiling);
    sums.Process();
}
