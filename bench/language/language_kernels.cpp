// SPDX-License-Identifier: Apache-2.0
// Typical kernels for vector cores: queues with two buffers, whole-tile operations, nothing tuned for this device.
// Blocks take contiguous shares of the tiles or rows, which differ by at most one. And kernels that repeat one
// operation.
#include "kernel_rows.h"

namespace {

template <uint32_t tile>
class VectorAdd {
public:
    __aicore__ inline void init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t count) {
        const Share tiles(count / tile);
        const uint64_t first = tiles.first * tile, share = tiles.count * tile;
        tiles_ = tiles.count;
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + first, share);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y) + first, share);
        z_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z) + first, share);
        pipe_.InitBuffer(in_x_, 2, tile * sizeof(float));
        pipe_.InitBuffer(in_y_, 2, tile * sizeof(float));
        pipe_.InitBuffer(out_, 2, tile * sizeof(float));
    }
    __aicore__ inline void process() {
        for (uint64_t i = 0; i < tiles_; ++i) {
            copy_in(i);
            compute();
            copy_out(i);
        }
    }

private:
    __aicore__ inline void copy_in(uint64_t index) {
        LocalTensor<float> x = in_x_.AllocTensor<float>(), y = in_y_.AllocTensor<float>();
        DataCopy(x, x_[index * tile], tile);
        DataCopy(y, y_[index * tile], tile);
        in_x_.EnQue(x);
        in_y_.EnQue(y);
    }
    __aicore__ inline void compute() {
        LocalTensor<float> x = in_x_.DeQue<float>(), y = in_y_.DeQue<float>();
        LocalTensor<float> z = out_.AllocTensor<float>();
        Add(z, x, y, tile);
        out_.EnQue(z);
        in_x_.FreeTensor(x);
        in_y_.FreeTensor(y);
    }
    __aicore__ inline void copy_out(uint64_t index) {
        LocalTensor<float> z = out_.DeQue<float>();
        DataCopy(z_[index * tile], z, tile);
        out_.FreeTensor(z);
    }

    TPipe pipe_;
    TQue<TPosition::VECIN, 2> in_x_, in_y_;
    TQue<TPosition::VECOUT, 2> out_;
    GlobalTensor<float> x_, y_, z_;
    uint64_t tiles_ = 0;
};

class Softmax {
public:
    __aicore__ inline void init(TPipe& pipe) {
        pipe.InitBuffer(work_, row * sizeof(float));
        pipe.InitBuffer(result_, 32);
    }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        LocalTensor<float> work = work_.Get<float>(), result = result_.Get<float>();
        ReduceMax(result, x, work, row);
        Adds(y, x, -result.GetValue(0), row);
        Exp(y, y, row);
        ReduceSum(result, y, work, row);
        Muls(y, y, 1.0f / result.GetValue(0), row);
    }

private:
    TBuf<TPosition::VECCALC> work_, result_;
};

class NormaliseRow {
public:
    __aicore__ inline NormaliseRow(GM_ADDR gamma, GM_ADDR beta) : gamma_address_(gamma), beta_address_(beta) {}
    __aicore__ inline void init(TPipe& pipe) {
        pipe.InitBuffer(gamma_, row * sizeof(float));
        pipe.InitBuffer(beta_, row * sizeof(float));
        pipe.InitBuffer(work_, row * sizeof(float));
        pipe.InitBuffer(result_, 32);
        GlobalTensor<float> gamma, beta;
        gamma.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma_address_), row);
        beta.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(beta_address_), row);
        DataCopy(gamma_.Get<float>(), gamma, row);
        DataCopy(beta_.Get<float>(), beta, row);
    }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        LocalTensor<float> work = work_.Get<float>(), result = result_.Get<float>();
        ReduceSum(result, x, work, row);
        const float mean = result.GetValue(0) / row;
        Adds(x, x, -mean, row);
        Mul(y, x, x, row);
        ReduceSum(result, y, work, row);
        const float variance = result.GetValue(0) / row;
        Muls(y, x, 1.0f / __builtin_sqrtf(variance + 1e-5f), row);
        Mul(y, y, gamma_.Get<float>(), row);
        Add(y, y, beta_.Get<float>(), row);
    }

private:
    GM_ADDR gamma_address_;
    GM_ADDR beta_address_;
    TBuf<TPosition::VECCALC> gamma_, beta_, work_, result_;
};

// Barriers with a store before each; the compiler would drop barriers that order nothing.
template <pipe_t pipe>
__aicore__ inline void repeat_barrier(uint64_t count) {
    TPipe memory;
    TBuf<TPosition::VECCALC> buffer;
    memory.InitBuffer(buffer, 32);
    LocalTensor<uint32_t> word = buffer.Get<uint32_t>();
    for (uint64_t i = 0; i < count; ++i) {
        word.SetValue(0, static_cast<uint32_t>(i));
        PipeBarrier<pipe>();
    }
}

}  // namespace

extern "C" __global__ __aicore__ void vector_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t count) {
    VectorAdd<4096> work;
    work.init(x, y, z, count);
    work.process();
}

extern "C" __global__ __aicore__ void vector_add_short_tiles(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t count) {
    VectorAdd<128> work;
    work.init(x, y, z, count);
    work.process();
}

extern "C" __global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y, uint64_t rows) {
    Rows<Softmax> all;
    Softmax work;
    all.run(x, y, rows, work);
}

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR y, GM_ADDR gamma, GM_ADDR beta, uint64_t rows) {
    Rows<NormaliseRow> all;
    NormaliseRow work(gamma, beta);
    all.run(x, y, rows, work);
}

extern "C" __global__ __aicore__ void barriers_of_vector_pipe(uint64_t count) { repeat_barrier<PIPE_V>(count); }

extern "C" __global__ __aicore__ void barriers_of_all_pipes(uint64_t count) { repeat_barrier<PIPE_ALL>(count); }
