// SPDX-License-Identifier: Apache-2.0
// Kernels for chips whose core combines a cube and a vector unit, and their tests, compiled once for each such chip. A
// program is compiled for one chip, so its kernels determine the chip.
#ifndef CANOPY_TESTS_LANGUAGE_COUPLED_H
#define CANOPY_TESTS_LANGUAGE_COUPLED_H

#include <cmath>
#include <random>

#include "kernel_operator.h"
#include "language.h"

namespace {

using namespace AscendC;

// ---- identity of a core ---------------------------------------------------------------------------------------------

__global__ __aicore__ void identify(__gm__ int32_t* out) {
    GlobalTensor<int32_t> answers;
    answers.SetGlobalBuffer(out + GetBlockIdx() * 8);
    answers.SetValue(0, static_cast<int32_t>(GetBlockNum()));
    answers.SetValue(1, static_cast<int32_t>(GetTaskRatio()));
    answers.SetValue(2, static_cast<int32_t>(GetSubBlockNum()));
    answers.SetValue(3, static_cast<int32_t>(GetSubBlockIdx()));
    answers.SetValue(4, static_cast<int32_t>(g_coreType));
    int32_t kinds = 0;
    if ASCEND_IS_AIC {
        kinds += 1;
    }
    if ASCEND_IS_AIV {
        kinds += 2;
    }
    if ASCEND_IS_NOT_AIC {
        kinds += 4;
    }
    if ASCEND_IS_NOT_AIV {
        kinds += 8;
    }
    answers.SetValue(5, kinds);
    answers.SetValue(6, __NPU_ARCH__);
    answers.SetValue(7, static_cast<int32_t>(GetBlockIdx()));
}

// ---- vector work ---------------------------------------------------------------------------------------------------

constexpr uint32_t tile = 512;

__global__ __vector__ void add(__gm__ float* x, __gm__ float* y, __gm__ float* z, uint32_t count) {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in_x, in_y;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in_x, 2, tile * sizeof(float));
    pipe.InitBuffer(in_y, 2, tile * sizeof(float));
    pipe.InitBuffer(out, 2, tile * sizeof(float));
    GlobalTensor<float> from_x, from_y, to;
    from_x.SetGlobalBuffer(x);
    from_y.SetGlobalBuffer(y);
    to.SetGlobalBuffer(z);
    for (uint32_t at = GetBlockIdx() * tile; at < count; at += GetBlockNum() * tile) {
        LocalTensor<float> a = in_x.AllocTensor<float>(), b = in_y.AllocTensor<float>();
        DataCopy(a, from_x[at], tile);
        DataCopy(b, from_y[at], tile);
        in_x.EnQue(a);
        in_y.EnQue(b);
        a = in_x.DeQue<float>();
        b = in_y.DeQue<float>();
        LocalTensor<float> sum = out.AllocTensor<float>();
        Add(sum, a, b, tile);
        out.EnQue(sum);
        in_x.FreeTensor(a);
        in_y.FreeTensor(b);
        sum = out.DeQue<float>();
        DataCopy(to[at], sum, tile);
        out.FreeTensor(sum);
    }
}

// The whole unified buffer of the chip is usable, but nothing past its end.
__global__ __aicore__ void last_block(__gm__ int32_t* out, uint32_t past) {
    LocalTensor<int32_t> last(TPosition::VECCALC, TOTAL_UB_SIZE - 32 + past, 8);
    Duplicate(last, 7, 8);
    GlobalTensor<int32_t> to;
    to.SetGlobalBuffer(out);
    DataCopy(to, last, 8);
}

// ---- cube and vector work in one core ------------------------------------------------------------------------------

struct ProductShape {
    uint32_t m, n, k;    // multiples of 16
    bool bias, prepare;  // prepare: the left factor is doubled in the unified buffer on its way to L1
};

// The data path of older chips: factors are loaded row by row, fractals are assembled in L1, and the sum goes from L0C
// to the unified buffer, where vector operations can use it, and from there to global memory.
template <class Out>
class CoupledProduct {
public:
    __aicore__ inline void run(__gm__ half* a, __gm__ half* b, __gm__ float* bias, __gm__ Out* c,
                               const ProductShape& shape) {
        shape_ = shape;
        a_.SetGlobalBuffer(a);
        b_.SetGlobalBuffer(b);
        bias_.SetGlobalBuffer(bias);
        c_.SetGlobalBuffer(c);
        pipe_.InitBuffer(a1_, 1, shape.m * shape.k * sizeof(half));
        pipe_.InitBuffer(b1_, 1, shape.k * shape.n * sizeof(half));
        pipe_.InitBuffer(a2_, 1, shape.m * shape.k * sizeof(half));
        pipe_.InitBuffer(b2_, 1, shape.k * shape.n * sizeof(half));
        pipe_.InitBuffer(co1_, 1, shape.m * shape.n * sizeof(float));
        pipe_.InitBuffer(co2_, 1, shape.m * shape.n * sizeof(Out));
        pipe_.InitBuffer(vector_, shape.m * shape.k * sizeof(half));
        pipe_.InitBuffer(bias_ub_, shape.n * sizeof(float));
        copy_in();
        split();
        multiply();
        aggregate();
        copy_out();
    }

private:
    // Turns rows of `width` elements into columns of fractals: 16 elements of each row are contiguous.
    template <class Tensor>
    __aicore__ inline void to_fractals(const Tensor& to, const GlobalTensor<half>& from, uint32_t height,
                                       uint32_t width) {
        for (uint32_t column = 0; column < width / 16; ++column)
            DataCopy(to[column * 16 * height], from[column * 16],
                     {static_cast<uint16_t>(height), 1, static_cast<uint16_t>(width / 16 - 1), 0});
    }
    __aicore__ inline void copy_in() {
        LocalTensor<half> a1 = a1_.AllocTensor<half>(), b1 = b1_.AllocTensor<half>();
        if (shape_.prepare) {
            LocalTensor<half> doubled = vector_.Get<half>();
            to_fractals(doubled, a_, shape_.m, shape_.k);
            Muls(doubled, doubled, static_cast<half>(2.0f), static_cast<int32_t>(shape_.m * shape_.k));
            DataCopy(a1, doubled, shape_.m * shape_.k);
        } else {
            to_fractals(a1, a_, shape_.m, shape_.k);
        }
        to_fractals(b1, b_, shape_.k, shape_.n);
        a1_.EnQue(a1);
        b1_.EnQue(b1);
    }
    __aicore__ inline void split() {
        LocalTensor<half> a1 = a1_.DeQue<half>(), b1 = b1_.DeQue<half>();
        LocalTensor<half> a2 = a2_.AllocTensor<half>(), b2 = b2_.AllocTensor<half>();
        const auto rows = static_cast<uint16_t>(shape_.m / 16), steps = static_cast<uint16_t>(shape_.k / 16);
        const auto columns = static_cast<uint16_t>(shape_.n / 16);
        for (uint16_t row = 0; row < rows; ++row) {
            LoadData2DParams load;
            load.startIndex = row;
            load.repeatTimes = steps;
            load.srcStride = rows;
            LoadData(a2[row * steps * 256], a1, load);
        }
        for (uint16_t step = 0; step < steps; ++step) {
            LoadData2DParams load;
            load.startIndex = step;
            load.repeatTimes = columns;
            load.srcStride = steps;
            load.ifTranspose = true;
            LoadData(b2[step * columns * 256], b1, load);
        }
        a2_.EnQue(a2);
        b2_.EnQue(b2);
        a1_.FreeTensor(a1);
        b1_.FreeTensor(b1);
    }
    __aicore__ inline void multiply() {
        LocalTensor<half> a2 = a2_.DeQue<half>(), b2 = b2_.DeQue<half>();
        LocalTensor<float> sum = co1_.AllocTensor<float>();
        MmadParams params;
        params.m = static_cast<uint16_t>(shape_.m);
        params.n = static_cast<uint16_t>(shape_.n);
        params.k = static_cast<uint16_t>(shape_.k);
        if (shape_.bias) {
            // Every fractal of the sum starts as sixteen copies of the bias row.
            LocalTensor<float> bias = bias_ub_.Get<float>();
            DataCopy(bias, bias_, shape_.n);
            for (uint32_t row = 0; row < shape_.m / 16; ++row)
                BroadCastVecToMM(sum[row * 256], bias, static_cast<int32_t>(shape_.n / 16), 1, 0,
                                 static_cast<uint8_t>(shape_.m / 16 - 1));
            params.isBias = true;
        }
        Mmad(sum, a2, b2, params);
        co1_.EnQue(sum);
        a2_.FreeTensor(a2);
        b2_.FreeTensor(b2);
    }
    __aicore__ inline void aggregate() {
        LocalTensor<float> sum = co1_.DeQue<float>();
        LocalTensor<Out> result = co2_.AllocTensor<Out>();
        DataCopyParams whole;
        whole.blockCount = 1;
        whole.blockLen = static_cast<uint16_t>(shape_.m * shape_.n / 256);
        DataCopyEnhancedParams by_fractals;
        by_fractals.blockMode = BlockMode::BLOCK_MODE_MATRIX;
        DataCopy(result, sum, whole, by_fractals);
        Relu(result, result, static_cast<int32_t>(shape_.m * shape_.n));
        Adds(result, result, static_cast<Out>(1.0f), static_cast<int32_t>(shape_.m * shape_.n));
        co2_.EnQue(result);
        co1_.FreeTensor(sum);
    }
    __aicore__ inline void copy_out() {
        LocalTensor<Out> result = co2_.DeQue<Out>();
        const auto blocks = static_cast<uint16_t>(16 * sizeof(Out) / 32);
        const auto gap = static_cast<uint16_t>((shape_.n - 16) * sizeof(Out) / 32);
        for (uint32_t column = 0; column < shape_.n / 16; ++column)
            DataCopy(c_[column * 16], result[column * 16 * shape_.m],
                     {static_cast<uint16_t>(shape_.m), blocks, 0, gap});
        co2_.FreeTensor(result);
    }

    TPipe pipe_;
    TQue<TPosition::A1, 1> a1_;
    TQue<TPosition::B1, 1> b1_;
    TQue<TPosition::A2, 1> a2_;
    TQue<TPosition::B2, 1> b2_;
    TQue<TPosition::CO1, 1> co1_;
    TQue<TPosition::CO2, 1> co2_;
    TBuf<TPosition::VECCALC> vector_, bias_ub_;
    GlobalTensor<half> a_, b_;
    GlobalTensor<float> bias_;
    GlobalTensor<Out> c_;
    ProductShape shape_{};
};

template <class Out>
__global__ __aicore__ void product(__gm__ half* a, __gm__ half* b, __gm__ float* bias, __gm__ Out* c,
                                   ProductShape shape) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AICORE);
    CoupledProduct<Out> work;
    work.run(a, b, bias, c, shape);
}

// Loads fractals from global memory straight into the cube's buffers; the bias is a row in L0C.
__global__ __aicore__ void straight_product(__gm__ half* a, __gm__ half* b, __gm__ float* bias, __gm__ float* c) {
    LocalTensor<half> left(TPosition::A2, 0, 256), right(TPosition::B2, 0, 256);
    LocalTensor<float> row(TPosition::C1, 0, 16), bias2(TPosition::C2, 4096, 16), sum(TPosition::CO1, 0, 256),
        result(TPosition::CO2, 1024, 256);
    GlobalTensor<half> from_a, from_b;
    GlobalTensor<float> from_bias, to;
    from_a.SetGlobalBuffer(a);
    from_b.SetGlobalBuffer(b);
    from_bias.SetGlobalBuffer(bias);
    to.SetGlobalBuffer(c);
    LoadData2DParams load;
    load.repeatTimes = 1;
    LoadData(left, from_a, load);
    LoadData(right, from_b, load);
    DataCopy(row, from_bias, 16);
    DataCopy(bias2, row, 16);
    Mmad(sum, left, right, bias2, MmadParams(16, 16, 16));
    SetFlag<HardEvent::M_V>(EVENT_ID0);
    WaitFlag<HardEvent::M_V>(EVENT_ID0);
    DataCopy(result, sum, 256);
    DataCopy(to, result, 256);
}

// ---- only available on split chips ----------------------------------------------------------------------------------

__global__ __aicore__ void signals() { CrossCoreSetFlag<2, PIPE_MTE3>(0); }
__global__ __aicore__ void waits() { CrossCoreWaitFlag(0); }
__global__ __aicore__ void meets() { SyncAll(); }

// ---- the tests -----------------------------------------------------------------------------------------------------

class Coupled : public language::Test {
protected:
    static std::vector<half> random_halves(std::size_t count, uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<half> values(count);
        for (half& value : values) value = static_cast<half>(static_cast<float>(random() % 17) / 4.0f - 2.0f);
        return values;
    }

    template <class Out>
    void check_product(const ProductShape& shape, float tolerance) {
        const std::vector<half> a = random_halves(shape.m * shape.k, 1), b = random_halves(shape.k * shape.n, 2);
        std::vector<float> bias(shape.n);
        for (uint32_t i = 0; i < shape.n; ++i) bias[i] = static_cast<float>(i) - 8.0f;
        Out* c = device_buffer<Out>(shape.m * shape.n);
        product<Out><<<1, nullptr, stream()>>>(to_device(a), to_device(b), to_device(bias), c, shape);
        synchronise();
        const std::vector<Out> result = to_host(c, shape.m * shape.n);
        for (uint32_t i = 0; i < shape.m; ++i)
            for (uint32_t j = 0; j < shape.n; ++j) {
                float expected = shape.bias ? bias[j] : 0;
                for (uint32_t l = 0; l < shape.k; ++l)
                    expected += (shape.prepare ? 2.0f : 1.0f) * static_cast<float>(a[i * shape.k + l]) *
                                static_cast<float>(b[l * shape.n + j]);
                expected = (expected < 0 ? 0 : expected) + 1;
                ASSERT_NEAR(static_cast<float>(result[i * shape.n + j]), expected, tolerance * (1 + expected))
                    << i << "," << j;
            }
    }
};

TEST_F(Coupled, CoresAreNeitherCubeNorVectorCores) {
    constexpr uint32_t blocks = 20;
    int32_t* out = device_buffer<int32_t>(blocks * 8);
    identify<<<blocks, nullptr, stream()>>>(out);
    synchronise();
    const std::vector<int32_t> answers = to_host(out, blocks * 8);
    for (int32_t block = 0; block < static_cast<int32_t>(blocks); ++block) {
        const std::vector<int32_t> expected = {blocks, 1, 1, 0, AscendC::MIX, 4 + 8, canopy_test_architecture, block};
        EXPECT_EQ(std::vector<int32_t>(answers.begin() + block * 8, answers.begin() + block * 8 + 8), expected);
    }
}

TEST_F(Coupled, AddsVectorsThroughQueues) {
    constexpr uint32_t count = tile * 37;
    std::vector<float> x(count), y(count);
    for (uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = 0.5f * static_cast<float>(i % 100);
    }
    float* z = device_buffer<float>(count);
    add<<<8, nullptr, stream()>>>(to_device(x), to_device(y), z, count);
    synchronise();
    const std::vector<float> sums = to_host(z, count);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], x[i] + y[i]) << i;
}

TEST_F(Coupled, UnifiedBufferHasItsSize) {
    int32_t* out = device_buffer<int32_t>(8);
    last_block<<<1, nullptr, stream()>>>(out, 0);
    synchronise();
    EXPECT_EQ(to_host(out, 8), std::vector<int32_t>(8, 7));
    last_block<<<1, nullptr, stream()>>>(out, 32);
    expect_failure("UB");
}

TEST_F(Coupled, TheSumOfAProductIsVectorWork) {
    check_product<float>({32, 32, 32, false, false}, 1e-5f);
    check_product<float>({64, 48, 80, false, false}, 1e-5f);
    check_product<half>({32, 64, 32, false, false}, 2e-3f);
}

TEST_F(Coupled, AFactorComesFromTheUnifiedBuffer) { check_product<float>({48, 32, 64, false, true}, 1e-5f); }

TEST_F(Coupled, ABiasIsSpreadOverTheSum) { check_product<float>({48, 64, 32, true, false}, 1e-5f); }

TEST_F(Coupled, FractalsGoStraightToTheCube) {
    const std::vector<half> a = random_halves(256, 3), b = random_halves(256, 4);
    std::vector<float> bias(16);
    for (uint32_t i = 0; i < 16; ++i) bias[i] = static_cast<float>(i);
    float* c = device_buffer<float>(256);
    straight_product<<<1, nullptr, stream()>>>(to_device(a), to_device(b), to_device(bias), c);
    synchronise();
    const std::vector<float> result = to_host(c, 256);
    for (uint32_t i = 0; i < 16; ++i)
        for (uint32_t j = 0; j < 16; ++j) {
            float expected = bias[j];  // the right fractal is transposed: n rows of k elements
            for (uint32_t l = 0; l < 16; ++l)
                expected += static_cast<float>(a[i * 16 + l]) * static_cast<float>(b[j * 16 + l]);
            ASSERT_NEAR(result[i * 16 + j], expected, 1e-4f) << i << "," << j;
        }
}

TEST_F(Coupled, WhatOnlySplitChipsHaveIsRefused) {
    signals<<<1, nullptr, stream()>>>();
    expect_failure("CrossCoreSetFlag: a core of this chip holds the cube and the vector unit");
    waits<<<1, nullptr, stream()>>>();
    expect_failure("CrossCoreWaitFlag: a core of this chip holds the cube and the vector unit");
    meets<<<1, nullptr, stream()>>>();
    expect_failure("SyncAll(gmWorkspace, ubWorkspace)");
}

}  // namespace

#endif
