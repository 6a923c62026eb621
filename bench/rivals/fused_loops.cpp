// SPDX-License-Identifier: Apache-2.0
#include "rivals/fused_loops.h"

#include <immintrin.h>

#include <cstdint>

namespace bench {
namespace {

constexpr std::size_t worth_threads = 32768;

}  // namespace

void fused_affine(const float* x, float* y, float a, std::size_t count) {
#pragma omp parallel for simd schedule(static) if (count > worth_threads)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
        float value = x[i];
        for (int step = 0; step < 8; ++step) value = value * a + 1.0f;
        y[i] = value;
    }
}

void fused_affine_streaming(const float* x, float* y, float a, std::size_t count) {
#if defined(__AVX512F__)
    const __m512 factor = _mm512_set1_ps(a), one = _mm512_set1_ps(1.0f);
#pragma omp parallel for schedule(static) if (count > worth_threads)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count / 16); ++i) {
        __m512 value = _mm512_loadu_ps(x + i * 16);
        for (int step = 0; step < 8; ++step) value = _mm512_add_ps(_mm512_mul_ps(value, factor), one);
        _mm512_stream_ps(y + i * 16, value);
    }
    _mm_sfence();
#else
    fused_affine(x, y, a, count);
#endif
}

}  // namespace bench
