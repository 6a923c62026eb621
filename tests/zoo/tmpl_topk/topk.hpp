// SPDX-License-Identifier: Apache-2.0
/**
 * Header-only top-k of rows of float.
 *
 *   sort32 of groups  ->  merge 4 lists at a time  ->  split (score, index) pairs
 *
 * Works for rows of 32 * 4^n elements and every k that is a multiple of 8.
 */
#pragma once
#include "kernel_operator.h"

namespace topk {

using AscendC::LocalTensor;
using AscendC::GlobalTensor;

constexpr uint32_t GROUP = 32;
constexpr uint32_t WAYS = 4;
constexpr uint32_t WORDS_OF_PAIR = 2;
// 4^i
constexpr uint32_t POWERS_OF_WAYS[] = {1, 4, 16, 64};

template <typename T> __aicore__ constexpr T div_up(T a, T b) { return (a + b - 1) / b; }
template <typename T> __aicore__ constexpr T align_up(T a, T b) { return div_up(a, b) * b; }
template <typename T> __aicore__ constexpr T smaller(T a, T b) { return a < b ? a : b; }

// number of merge rounds for n elements
__aicore__ constexpr int rounds_of(uint32_t n)
{
    int r = 0;
    for (uint32_t lists = n / GROUP; lists > 1; lists /= WAYS) ++r;
    return r;
}
__aicore__ constexpr bool is_supported(uint32_t n)
{
    return n >= GROUP && n == GROUP * POWERS_OF_WAYS[rounds_of(n)];
}
static_assert(is_supported(32) && is_supported(128) && is_supported(512) && !is_supported(256), "table of sizes");

template <uint32_t N, uint32_t K>
struct Traits {
    static_assert(is_supported(N), "N must be 32 * 4^n");
    static_assert(K <= N && K % 8 == 0, "K must be a multiple of 8");
    static constexpr int ROUNDS = rounds_of(N);
    static constexpr uint32_t PAIR_WORDS = N * WORDS_OF_PAIR;
};

template <uint32_t N>
__aicore__ inline void make_indices(const LocalTensor<int32_t>& index)
{
    AscendC::CreateVecIndex(index, static_cast<int32_t>(0), N);
    AscendC::PipeBarrier<PIPE_V>();
}

template <uint32_t N>
__aicore__ inline void sort_groups(const LocalTensor<float>& pairs, const LocalTensor<float>& score,
                                   const LocalTensor<uint32_t>& index)
{
    AscendC::Sort32(pairs, score, index, N / GROUP);
    AscendC::PipeBarrier<PIPE_V>();
}

// Merges lists of `length` pairs, four at a time, from src into dst.
template <uint32_t N>
__aicore__ inline void merge_round(const LocalTensor<float>& dst, const LocalTensor<float>& src, uint32_t length)
{
    AscendC::MrgSort4Info info;
    for (uint32_t i = 0; i < WAYS; ++i) info.elementLengths[i] = static_cast<uint16_t>(length);
    info.ifExhaustedSuspension = false;
    info.validBit = 0b1111;
    info.repeatTimes = 1;
    const uint32_t words = length * WORDS_OF_PAIR;
    for (uint32_t at = 0; at < N * WORDS_OF_PAIR; at += WAYS * words) {
        AscendC::MrgSortSrcList<float> lists(src[at], src[at + words], src[at + 2 * words], src[at + 3 * words]);
        AscendC::MrgSort<float>(dst[at], lists, info);
    }
    AscendC::PipeBarrier<PIPE_V>();
}

// even words are scores, odd words are indices
template <uint32_t K>
__aicore__ inline void split(const LocalTensor<float>& score, const LocalTensor<uint32_t>& index,
                             const LocalTensor<float>& pairs)
{
    uint64_t kept = 0;
    AscendC::GatherMask(score, pairs, static_cast<uint8_t>(1), true, K * WORDS_OF_PAIR,
                        {1, 1, 8, 0}, kept);
    AscendC::GatherMask(index, pairs.template ReinterpretCast<uint32_t>(), static_cast<uint8_t>(2), true,
                        K * WORDS_OF_PAIR, {1, 1, 8, 0}, kept);
    AscendC::PipeBarrier<PIPE_V>();
}

template <uint32_t N, uint32_t K>
class TopKKernel {
    using T = Traits<N, K>;

public:
    __aicore__ inline void init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, uint32_t rows)
    {
        rows_ = rows;
        x_.SetGlobalBuffer((__gm__ float*)x);
        values_.SetGlobalBuffer((__gm__ float*)values);
        indices_.SetGlobalBuffer((__gm__ uint32_t*)indices);
        pipe_.InitBuffer(in_, 2, N * sizeof(float));
        pipe_.InitBuffer(out_values_, 2, align_up<uint32_t>(K * sizeof(float), 32));
        pipe_.InitBuffer(out_indices_, 2, align_up<uint32_t>(K * sizeof(uint32_t), 32));
        pipe_.InitBuffer(pairs_[0], T::PAIR_WORDS * sizeof(float));
        pipe_.InitBuffer(pairs_[1], T::PAIR_WORDS * sizeof(float));
        pipe_.InitBuffer(order_, N * sizeof(int32_t));
    }
    __aicore__ inline void process()
    {
        LocalTensor<int32_t> order = order_.Get<int32_t>();
        make_indices<N>(order);
        for (uint32_t row = AscendC::GetBlockIdx(); row < rows_; row += AscendC::GetBlockNum()) {
            load(row);
            compute(order.ReinterpretCast<uint32_t>());
            store(row);
        }
    }

private:
    __aicore__ inline void load(uint32_t row)
    {
        LocalTensor<float> in = in_.AllocTensor<float>();
        AscendC::DataCopy(in, x_[row * N], N);
        in_.EnQue(in);
    }
    __aicore__ inline void compute(const LocalTensor<uint32_t>& order)
    {
        LocalTensor<float> in = in_.DeQue<float>();
        sort_groups<N>(pairs_[0].Get<float>(), in, order);
        in_.FreeTensor(in);
        uint32_t length = GROUP;
        for (int round = 0; round < T::ROUNDS; ++round, length *= WAYS) {
            merge_round<N>(pairs_[(round + 1) % 2].Get<float>(), pairs_[round % 2].Get<float>(), length);
        }
        LocalTensor<float> values = out_values_.AllocTensor<float>();
        LocalTensor<uint32_t> indices = out_indices_.AllocTensor<uint32_t>();
        split<K>(values, indices, pairs_[T::ROUNDS % 2].template Get<float>());
        out_values_.EnQue(values);
        out_indices_.EnQue(indices);
    }
    __aicore__ inline void store(uint32_t row)
    {
        LocalTensor<float> values = out_values_.DeQue<float>();
        LocalTensor<uint32_t> indices = out_indices_.DeQue<uint32_t>();
        AscendC::DataCopy(values_[row * K], values, K);
        AscendC::DataCopy(indices_[row * K], indices, K);
        out_values_.FreeTensor(values);
        out_indices_.FreeTensor(indices);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_values_, out_indices_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pairs_[2], order_;
    GlobalTensor<float> x_, values_;
    GlobalTensor<uint32_t> indices_;
    uint32_t rows_ = 0;
};

}  // namespace topk
