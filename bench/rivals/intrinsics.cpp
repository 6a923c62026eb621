// SPDX-License-Identifier: Apache-2.0
#include "rivals/intrinsics.h"

#include <cmath>
#include <cstdint>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

#if defined(__AVX512F__)
struct Vector {
    static constexpr std::size_t width = 16;
    __m512 v;
    static Vector load(const float* from) { return {_mm512_loadu_ps(from)}; }
    static Vector all(float value) { return {_mm512_set1_ps(value)}; }
    void store(float* to) const { _mm512_storeu_ps(to, v); }
    float sum() const { return _mm512_reduce_add_ps(v); }
    friend Vector operator+(Vector a, Vector b) { return {_mm512_add_ps(a.v, b.v)}; }
    friend Vector operator-(Vector a, Vector b) { return {_mm512_sub_ps(a.v, b.v)}; }
    friend Vector operator*(Vector a, Vector b) { return {_mm512_mul_ps(a.v, b.v)}; }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
};
#elif defined(__AVX2__)
struct Vector {
    static constexpr std::size_t width = 8;
    __m256 v;
    static Vector load(const float* from) { return {_mm256_loadu_ps(from)}; }
    static Vector all(float value) { return {_mm256_set1_ps(value)}; }
    void store(float* to) const { _mm256_storeu_ps(to, v); }
    float sum() const {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    friend Vector operator+(Vector a, Vector b) { return {_mm256_add_ps(a.v, b.v)}; }
    friend Vector operator-(Vector a, Vector b) { return {_mm256_sub_ps(a.v, b.v)}; }
    friend Vector operator*(Vector a, Vector b) { return {_mm256_mul_ps(a.v, b.v)}; }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
};
#else
struct Vector {
    static constexpr std::size_t width = 1;
    float v;
    static Vector load(const float* from) { return {*from}; }
    static Vector all(float value) { return {value}; }
    void store(float* to) const { *to = v; }
    float sum() const { return v; }
    friend Vector operator+(Vector a, Vector b) { return {a.v + b.v}; }
    friend Vector operator-(Vector a, Vector b) { return {a.v - b.v}; }
    friend Vector operator*(Vector a, Vector b) { return {a.v * b.v}; }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return {a.v * b.v + c.v}; }
};
#endif

constexpr std::size_t chains = 8;  // additions in flight, which hide their latency

Vector total(const Vector (&part)[chains]) {
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

}  // namespace

void intrinsics_layer_norm_row(const float* x, float* y, const float* gamma, const float* beta, std::size_t columns) {
    constexpr std::size_t step = Vector::width;
    Vector sum[chains];
    for (Vector& part : sum) part = Vector::all(0);
    for (std::size_t i = 0; i < columns; i += chains * step)
        for (std::size_t k = 0; k < chains; ++k) sum[k] = sum[k] + Vector::load(x + i + k * step);
    const float share = 1.0f / static_cast<float>(columns);
    const Vector mean = Vector::all(total(sum).sum() * share);
    Vector squares[chains];
    for (Vector& part : squares) part = Vector::all(0);
    for (std::size_t i = 0; i < columns; i += chains * step)
        for (std::size_t k = 0; k < chains; ++k) {
            const Vector distance = Vector::load(x + i + k * step) - mean;
            squares[k] = Vector::multiply_add(distance, distance, squares[k]);
        }
    const float variance = total(squares).sum() * share;
    const Vector factor = Vector::all(1.0f / std::sqrt(variance + 1e-5f));
    for (std::size_t i = 0; i < columns; i += step) {
        const Vector normal = (Vector::load(x + i) - mean) * factor;
        Vector::multiply_add(normal, Vector::load(gamma + i), Vector::load(beta + i)).store(y + i);
    }
}

void intrinsics_layer_norm(const float* x, float* y, const float* gamma, const float* beta, std::size_t rows,
                           std::size_t columns) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
        const std::size_t first = static_cast<std::size_t>(row) * columns;
        intrinsics_layer_norm_row(x + first, y + first, gamma, beta, columns);
    }
}

}  // namespace bench
