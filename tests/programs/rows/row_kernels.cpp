// SPDX-License-Identifier: Apache-2.0
// Kernels on the rows of matrices, written as kernels for the chip are: queues, tiles, one high-level call per tile.
// Each block takes one row, or one group of rows.
#include "kernel_operator.h"

using namespace AscendC;

namespace {

template <class T>
__aicore__ inline GlobalTensor<T> global(GM_ADDR address, uint64_t first, uint64_t count) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address) + first, count);
    return tensor;
}

// A queue of inputs with one buffer.
template <class T>
class Input {
public:
    __aicore__ inline void init(TPipe& pipe, uint32_t count) { pipe.InitBuffer(queue_, 1, count * sizeof(T)); }
    __aicore__ inline LocalTensor<T> read(const GlobalTensor<T>& from, uint32_t count) {
        LocalTensor<T> tensor = queue_.template AllocTensor<T>();
        DataCopy(tensor, from, count);
        queue_.EnQue(tensor);
        return queue_.template DeQue<T>();
    }
    __aicore__ inline void free(LocalTensor<T>& tensor) { queue_.FreeTensor(tensor); }

private:
    TQue<TPosition::VECIN, 1> queue_;
};

template <class T>
class Output {
public:
    __aicore__ inline void init(TPipe& pipe, uint32_t count) { pipe.InitBuffer(queue_, 1, count * sizeof(T)); }
    __aicore__ inline LocalTensor<T> allocate() { return queue_.template AllocTensor<T>(); }
    __aicore__ inline void write(const GlobalTensor<T>& to, LocalTensor<T>& tensor, uint32_t count) {
        queue_.EnQue(tensor);
        tensor = queue_.template DeQue<T>();
        DataCopy(to, tensor, count);
        queue_.FreeTensor(tensor);
    }

private:
    TQue<TPosition::VECOUT, 1> queue_;
};

}  // namespace

// softmax(scores) * values for 8 rows of scores: tiles of 128 columns, the sum of the tiles so far corrected by each.
extern "C" __global__ __aicore__ void attention(GM_ADDR scores, GM_ADDR values, GM_ADDR result, uint32_t columns) {
    constexpr uint32_t rows = 8, tile = 128, width = 16, block = 8;
    TPipe pipe;
    Input<float> score_queue, value_queue;
    Output<float> output;
    TBuf<TPosition::VECCALC> buffer;
    score_queue.init(pipe, rows * tile);
    value_queue.init(pipe, tile * width);
    output.init(pipe, rows * width);
    pipe.InitBuffer(buffer, (rows * tile + 3 * rows * block) * sizeof(float));
    LocalTensor<float> weights = buffer.Get<float>();
    LocalTensor<float> sum = weights[rows * tile], max = sum[rows * block], correction = max[rows * block];
    const uint64_t first = GetBlockIdx() * rows;
    const auto all = global<float>(scores, first * columns, rows * columns);
    const auto factors = global<float>(values, 0, columns * width);
    const SoftMaxShapeInfo shape{rows, tile, rows, tile};
    const SoftMaxTiling tiling = SoftMaxFlashV2TilingFunc(shape, sizeof(float), sizeof(float), 0, true);
    LocalTensor<float> together = output.allocate();
    Duplicate(together, 0.0f, rows * width);
    for (uint32_t at = 0; at < columns; at += tile) {
        LocalTensor<float> score = score_queue.read(all[at * rows], rows * tile);
        LocalTensor<float> value = value_queue.read(factors[at * width], tile * width);
        if (at == 0)
            SoftmaxFlashV2<float, false>(weights, sum, max, score, correction, sum, max, tiling, shape);
        else
            SoftmaxFlashV2<float, true>(weights, sum, max, score, correction, sum, max, tiling, shape);
        for (uint32_t row = 0; row < rows; ++row) {
            LocalTensor<float> line = together[row * width];
            if (at != 0) Muls(line, line, correction.GetValue(row * block), width);
            for (uint32_t i = 0; i < tile; ++i)
                Axpy(line, value[i * width], weights.GetValue(row * tile + i), static_cast<int32_t>(width));
        }
        score_queue.free(score);
        value_queue.free(value);
    }
    for (uint32_t row = 0; row < rows; ++row) {
        LocalTensor<float> line = together[row * width];
        Muls(line, line, 1.0f / sum.GetValue(row * block), width);
    }
    output.write(global<float>(result, first * width, rows * width), together, rows * width);
}

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                 GM_ADDR variance, GM_ADDR tiling_data) {
    GET_TILING_DATA_WITH_STRUCT(LayerNormTiling, tiling, tiling_data);
    const uint32_t rows = tiling.bLength * tiling.sLength, length = tiling.hLength, all = rows * length;
    TPipe pipe;
    Input<float> in, gammas, betas;
    Output<float> out, means, variances;
    in.init(pipe, all);
    out.init(pipe, all);
    gammas.init(pipe, length);
    betas.init(pipe, length);
    means.init(pipe, rows);
    variances.init(pipe, rows);
    const uint64_t first = GetBlockIdx() * rows;
    LocalTensor<float> source = in.read(global<float>(x, first * length, all), all);
    LocalTensor<float> scale = gammas.read(global<float>(gamma, 0, length), length);
    LocalTensor<float> offset = betas.read(global<float>(beta, 0, length), length);
    LocalTensor<float> result = out.allocate(), average = means.allocate(), spread = variances.allocate();
    LayerNorm<float, false>(result, average, spread, source, scale, offset, 1e-5f, tiling);
    out.write(global<float>(y, first * length, all), result, all);
    means.write(global<float>(mean, first, rows), average, rows);
    variances.write(global<float>(variance, first, rows), spread, rows);
    in.free(source);
    gammas.free(scale);
    betas.free(offset);
}

extern "C" __global__ __aicore__ void layer_norm_gradient(GM_ADDR dy, GM_ADDR x, GM_ADDR variance, GM_ADDR mean,
                                                          GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                                                          GM_ADDR tiling_data, GM_ADDR beta_tiling_data) {
    GET_TILING_DATA_WITH_STRUCT(LayerNormGradTiling, tiling, tiling_data);
    GET_TILING_DATA_WITH_STRUCT(LayerNormGradBetaTiling, beta_tiling, beta_tiling_data);
    const uint32_t rows = tiling.bLength * tiling.sLength, length = tiling.hLength, all = rows * length;
    TPipe pipe;
    Input<float> gradients, in, variances, means, gammas;
    Output<float> out, of_gamma, of_beta;
    TBuf<TPosition::VECCALC> buffer;
    gradients.init(pipe, all);
    in.init(pipe, all);
    out.init(pipe, all);
    variances.init(pipe, rows);
    means.init(pipe, rows);
    gammas.init(pipe, length);
    of_gamma.init(pipe, length);
    of_beta.init(pipe, length);
    pipe.InitBuffer(buffer, all * sizeof(float));
    LocalTensor<float> gradient = gradients.read(global<float>(dy, 0, all), all);
    LocalTensor<float> source = in.read(global<float>(x, 0, all), all);
    LocalTensor<float> spread = variances.read(global<float>(variance, 0, rows), rows);
    LocalTensor<float> average = means.read(global<float>(mean, 0, rows), rows);
    LocalTensor<float> scale = gammas.read(global<float>(gamma, 0, length), length);
    LocalTensor<float> standardised = buffer.Get<float>(), result = out.allocate();
    LayerNormGrad<float>(result, standardised, gradient, source, spread, average, scale, 1e-5f, tiling);
    out.write(global<float>(dx, 0, all), result, all);
    LocalTensor<float> first = of_gamma.allocate(), second = of_beta.allocate();
    LayerNormGradBeta<float>(first, second, standardised, gradient, beta_tiling);
    of_gamma.write(global<float>(dgamma, 0, length), first, length);
    of_beta.write(global<float>(dbeta, 0, length), second, length);
    gradients.free(gradient);
    in.free(source);
    variances.free(spread);
    means.free(average);
    gammas.free(scale);
}

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR tiling_data) {
    GET_TILING_DATA_WITH_STRUCT(RmsNormTiling, tiling, tiling_data);
    const uint32_t length = tiling.hLength, all = tiling.bLength * tiling.sLength * length;
    TPipe pipe;
    Input<half> in, gammas;
    Output<half> out;
    TBuf<TPosition::VECCALC> buffer;
    in.init(pipe, all);
    gammas.init(pipe, length);
    out.init(pipe, all);
    pipe.InitBuffer(buffer, 4096);
    const uint64_t first = GetBlockIdx() * all;
    LocalTensor<half> source = in.read(global<half>(x, first, all), all);
    LocalTensor<half> scale = gammas.read(global<half>(gamma, 0, length), length);
    LocalTensor<half> result = out.allocate();
    LocalTensor<uint8_t> temporary = buffer.Get<uint8_t>();
    RmsNorm<half>(result, source, scale, temporary, static_cast<half>(0.001f), tiling);
    out.write(global<half>(y, first, all), result, all);
    in.free(source);
    gammas.free(scale);
}

// Mean and variance of a vector that comes in tiles; each block has its own vector.
extern "C" __global__ __aicore__ void welford(GM_ADDR x, GM_ADDR statistics, uint32_t tile, uint32_t tiles) {
    TPipe pipe;
    Input<float> in;
    Output<float> out;
    TBuf<TPosition::VECCALC> buffer;
    in.init(pipe, tile);
    out.init(pipe, 16);
    pipe.InitBuffer(buffer, 2 * tile * sizeof(float));
    LocalTensor<float> mean = buffer.Get<float>(), variance = mean[tile];
    Duplicate(mean, 0.0f, 2 * tile);
    const auto all = global<float>(x, GetBlockIdx() * tile * tiles, uint64_t{tile} * tiles);
    for (uint32_t i = 0; i < tiles; ++i) {
        LocalTensor<float> source = in.read(all[i * tile], tile);
        const WelfordUpdateParam param{1, tile, tile, 1.0f / static_cast<float>(i + 1)};
        WelfordUpdate<float, float>(mean, variance, mean, variance, source, param);
        in.free(source);
    }
    WelfordFinalizePara para{};
    para.rnLength = tiles;
    para.abLength = para.headCountLength = tile;
    para.headCount = tiles;
    para.abRec = 1.0f / static_cast<float>(tile);
    para.rRec = para.abRec / static_cast<float>(tiles);
    LocalTensor<float> result = out.allocate();
    Duplicate(result, 0.0f, 16);
    LocalTensor<float> spread = result[8];
    WelfordFinalize(result, spread, mean, variance, para);
    out.write(global<float>(statistics, GetBlockIdx() * 16, 16), result, 16);
}
