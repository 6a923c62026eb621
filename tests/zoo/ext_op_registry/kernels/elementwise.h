// SPDX-License-Identifier: Apache-2.0
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H
#include "kernel_operator.h"

namespace NpuElementwise {
using namespace AscendC;

constexpr uint32_t UB_TILE = 1024;  // elements

struct Range {
    uint32_t begin;
    uint32_t end;
};

__aicore__ inline uint32_t Align8(uint32_t n) { return (n + 7) / 8 * 8; }

__aicore__ inline Range MyRange(uint32_t total)
{
    uint32_t perCore = Align8((total + GetBlockNum() - 1) / static_cast<uint32_t>(GetBlockNum()));
    uint32_t begin = perCore * static_cast<uint32_t>(GetBlockIdx());
    if (begin > total) {
        begin = total;
    }
    uint32_t end = begin + perCore > total ? total : begin + perCore;
    return {begin, end};
}

template <typename T>
__aicore__ inline void Load(const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t n)
{
    DataCopyParams params;
    params.blockCount = 1;
    params.blockLen = n * sizeof(T);
    DataCopyPad(dst, src, params, DataCopyPadParams());
}

template <typename T>
__aicore__ inline void Store(const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t n)
{
    DataCopyParams params;
    params.blockCount = 1;
    params.blockLen = n * sizeof(T);
    DataCopyPad(dst, src, params);
}
}  // namespace NpuElementwise
#endif
