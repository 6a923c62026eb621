// SPDX-License-Identifier: Apache-2.0
// Kernels whose work on a row of 4,096 floats is one call of a high-level function.
#include "kernel_rows.h"

namespace {

constexpr uint32_t best = 64;

template <class Tiling>
__aicore__ inline Tiling tiling_of_row() {
    Tiling tiling;
    tiling.bLength = tiling.sLength = 1;
    tiling.hLength = tiling.originalHLength = row;
    return tiling;
}

class TemporaryBuffer {
public:
    __aicore__ inline void init(TPipe& pipe) { pipe.InitBuffer(buffer_, 3 * row * sizeof(float)); }
    __aicore__ inline LocalTensor<uint8_t> get() { return buffer_.Get<uint8_t>(); }

private:
    TBuf<TPosition::VECCALC> buffer_;
};

class SoftmaxCall {
public:
    __aicore__ inline void init(TPipe& pipe) { temporary_.init(pipe); }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        SoftMax<float>(y, x, temporary_.get(), SoftMaxTiling{}, {1, row, 1, row});
    }

private:
    TemporaryBuffer temporary_;
};

// Vectors that are the same for all rows.
class RowVector {
public:
    __aicore__ inline explicit RowVector(GM_ADDR address) : address_(address) {}
    __aicore__ inline void init(TPipe& pipe) {
        GlobalTensor<float> from;
        from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(address_), row);
        pipe.InitBuffer(buffer_, row * sizeof(float));
        DataCopy(buffer_.Get<float>(), from, row);
    }
    __aicore__ inline LocalTensor<float> get() { return buffer_.Get<float>(); }

private:
    GM_ADDR address_;
    TBuf<TPosition::VECCALC> buffer_;
};

class LayerNormCall {
public:
    __aicore__ inline LayerNormCall(GM_ADDR gamma, GM_ADDR beta) : gamma_(gamma), beta_(beta) {}
    __aicore__ inline void init(TPipe& pipe) {
        gamma_.init(pipe);
        beta_.init(pipe);
        temporary_.init(pipe);
        pipe.InitBuffer(statistics_, 64);
    }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        LocalTensor<float> mean = statistics_.Get<float>(), variance = mean[8];
        LayerNorm<float>(y, mean, variance, x, gamma_.get(), beta_.get(), temporary_.get(), 1e-5f, tiling_);
    }

private:
    RowVector gamma_, beta_;
    TemporaryBuffer temporary_;
    TBuf<TPosition::VECCALC> statistics_;
    LayerNormTiling tiling_ = tiling_of_row<LayerNormTiling>();
};

class RmsNormCall {
public:
    __aicore__ inline explicit RmsNormCall(GM_ADDR gamma) : gamma_(gamma) {}
    __aicore__ inline void init(TPipe& pipe) {
        gamma_.init(pipe);
        temporary_.init(pipe);
    }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        RmsNorm<float>(y, x, gamma_.get(), temporary_.get(), 1e-5f, tiling_);
    }

private:
    RowVector gamma_;
    TemporaryBuffer temporary_;
    RmsNormTiling tiling_ = tiling_of_row<RmsNormTiling>();
};

class GeluCall {
public:
    __aicore__ inline void init(TPipe& pipe) { temporary_.init(pipe); }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        Gelu<float>(y, x, temporary_.get(), row);
    }

private:
    TemporaryBuffer temporary_;
};

// 64 values, then their 64 indices.
class TopKCall {
public:
    __aicore__ inline void init(TPipe& pipe) {
        temporary_.init(pipe);
        pipe.InitBuffer(unused_, 32);
    }
    __aicore__ inline void apply(const LocalTensor<float>& y, const LocalTensor<float>& x) {
        const TopKInfo info{1, static_cast<int32_t>(row), static_cast<int32_t>(row)};
        TopK<float>(y, y[best].ReinterpretCast<int32_t>(), x, unused_.Get<int32_t>(), unused_.Get<bool>(),
                    temporary_.get(), static_cast<int32_t>(best), TopkTiling{}, info);
    }

private:
    TemporaryBuffer temporary_;
    TBuf<TPosition::VECCALC> unused_;
};

template <uint32_t results = row, class Work>
__aicore__ inline void run_rows(GM_ADDR x, GM_ADDR y, uint64_t rows, Work& work) {
    Rows<Work, results> all;
    all.run(x, y, rows, work);
}

}  // namespace

extern "C" __global__ __aicore__ void softmax_call(GM_ADDR x, GM_ADDR y, uint64_t rows) {
    SoftmaxCall work;
    run_rows(x, y, rows, work);
}

extern "C" __global__ __aicore__ void layer_norm_call(GM_ADDR x, GM_ADDR y, GM_ADDR gamma, GM_ADDR beta,
                                                      uint64_t rows) {
    LayerNormCall work(gamma, beta);
    run_rows(x, y, rows, work);
}

extern "C" __global__ __aicore__ void rms_norm_call(GM_ADDR x, GM_ADDR y, GM_ADDR gamma, uint64_t rows) {
    RmsNormCall work(gamma);
    run_rows(x, y, rows, work);
}

extern "C" __global__ __aicore__ void gelu_call(GM_ADDR x, GM_ADDR y, uint64_t rows) {
    GeluCall work;
    run_rows(x, y, rows, work);
}

extern "C" __global__ __aicore__ void top_k_call(GM_ADDR x, GM_ADDR y, uint64_t rows) {
    TopKCall work;
    run_rows<2 * best>(x, y, rows, work);
}
