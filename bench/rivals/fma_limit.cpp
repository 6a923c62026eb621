// SPDX-License-Identifier: Apache-2.0
#include "rivals/fma_limit.h"

#include "harness/measure.h"

namespace bench {
namespace {

constexpr int chains = 12;  // enough for two units with a latency of five cycles
constexpr long steps = 4'000'000;

template <int lanes>
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

template <class Vector>
[[gnu::always_inline]] inline void multiply_add() {
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

// The widest vectors of the processor that measures, not of the one that compiled this.
__attribute__((target("avx512f,fma"))) void multiply_add_512() { multiply_add<Vector<16>>(); }
__attribute__((target("avx2,fma"))) void multiply_add_256() { multiply_add<Vector<8>>(); }

}  // namespace

double fma_limit(int threads) {
    const bool wide = __builtin_cpu_supports("avx512f") != 0;
    double rate = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
    {
#pragma omp barrier
        const std::uint64_t begin = now();
        wide ? multiply_add_512() : multiply_add_256();
        rate = 2.0 * (wide ? 16 : 8) * chains * steps / static_cast<double>(now() - begin);
    }
    return rate;
}

}  // namespace bench
