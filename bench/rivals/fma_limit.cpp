// SPDX-License-Identifier: Apache-2.0
#include "rivals/fma_limit.h"

#include "harness/measure.h"

namespace bench {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

constexpr int chains = 12;  // enough for two units with a latency of five cycles
constexpr long steps = 4'000'000;

void multiply_add() {
    Vector sum[chains] = {};
    Vector factor = Vector{} + 0.5f, term = Vector{} + 1.0f;
    for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i) {
            sum[i] = sum[i] * factor + term;
            asm volatile("" : "+v"(sum[i]));
        }
    }
}

}  // namespace

double fma_limit(int threads) {
    double rate = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
    {
#pragma omp barrier
        const std::uint64_t begin = now();
        multiply_add();
        rate = 2.0 * lanes * chains * steps / static_cast<double>(now() - begin);
    }
    return rate;
}

}  // namespace bench
