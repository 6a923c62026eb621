// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "elib/utils.h"

// Formulas on whole tiles, made of the basic instructions. `t` is scratch of n elements.
namespace elib {

using Tensor = LocalTensor<float>;

__aicore__ inline void Sigmoid(const Tensor& y, const Tensor& x, uint32_t n)
{
    Muls(y, x, -1.0f, n);
    Exp(y, y, n);
    Adds(y, y, 1.0f, n);
    Reciprocal(y, y, n);
}
__aicore__ inline void Swish(const Tensor& y, const Tensor& x, const Tensor& t, float beta, uint32_t n)
{
    Muls(t, x, beta, n);
    Sigmoid(y, t, n);
    Mul(y, y, x, n);
}
__aicore__ inline void Tanh(const Tensor& y, const Tensor& x, uint32_t n)
{
    // 2 * sigmoid(2x) - 1
    Muls(y, x, 2.0f, n);
    Sigmoid(y, y, n);
    Muls(y, y, 2.0f, n);
    Adds(y, y, -1.0f, n);
}
__aicore__ inline void Gelu(const Tensor& y, const Tensor& x, const Tensor& t, uint32_t n)
{
    // 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 x^3)))
    Mul(t, x, x, n);
    Mul(t, t, x, n);
    Muls(t, t, 0.044715f, n);
    Add(t, t, x, n);
    Muls(t, t, 0.7978845608f, n);
    Tanh(y, t, n);
    Adds(y, y, 1.0f, n);
    Mul(y, y, x, n);
    Muls(y, y, 0.5f, n);
}
__aicore__ inline void Softplus(const Tensor& y, const Tensor& x, uint32_t n)
{
    Exp(y, x, n);
    Adds(y, y, 1.0f, n);
    Ln(y, y, n);
}
template <int N>
__aicore__ inline void Power(const Tensor& y, const Tensor& x, uint32_t n)
{
    static_assert(N >= 2, "Power of 2 or more");
    Mul(y, x, x, n);
    for (int i = 2; i < N; ++i) {
        Mul(y, y, x, n);
    }
}
__aicore__ inline void Clamp(const Tensor& y, const Tensor& x, float lo, float hi, uint32_t n)
{
    Maxs(y, x, lo, n);
    Mins(y, y, hi, n);
}
__aicore__ inline void HardSwish(const Tensor& y, const Tensor& x, uint32_t n)
{
    Adds(y, x, 3.0f, n);
    Clamp(y, y, 0.0f, 6.0f, n);
    Mul(y, y, x, n);
    Muls(y, y, 1.0f / 6.0f, n);
}
__aicore__ inline void SwiGLU(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& t, uint32_t n)
{
    Swish(y, a, t, 1.0f, n);
    Mul(y, y, b, n);
}
__aicore__ inline float Sum(const Tensor& x, const Tensor& t, const Tensor& work, uint32_t n)
{
    ReduceSum(t, x, work, n);
    return t.GetValue(0);
}
__aicore__ inline float Mean(const Tensor& x, const Tensor& t, const Tensor& work, uint32_t n)
{
    return Sum(x, t, work, n) / static_cast<float>(n);
}

// ---- functors: what a policy plugs in ------------------------------------------------------------------------------------
struct SwishOp {
    static constexpr uint32_t kInputs = 1;
    float beta;
    __aicore__ inline void operator()(const Tensor& y, const Tensor& a, const Tensor&, const Tensor& t, uint32_t n) const
    {
        Swish(y, a, t, beta, n);
    }
};
struct GeluOp {
    static constexpr uint32_t kInputs = 1;
    __aicore__ inline void operator()(const Tensor& y, const Tensor& a, const Tensor&, const Tensor& t, uint32_t n) const
    {
        Gelu(y, a, t, n);
    }
};
struct HardSwishOp {
    static constexpr uint32_t kInputs = 1;
    __aicore__ inline void operator()(const Tensor& y, const Tensor& a, const Tensor&, const Tensor&, uint32_t n) const
    {
        HardSwish(y, a, n);
    }
};
struct SwiGLUOp {
    static constexpr uint32_t kInputs = 2;
    __aicore__ inline void operator()(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& t, uint32_t n) const
    {
        SwiGLU(y, a, b, t, n);
    }
};
struct CenteredCubeOp {
    static constexpr uint32_t kInputs = 1;
    __aicore__ inline void operator()(const Tensor& y, const Tensor& a, const Tensor& work, const Tensor& t,
                                      uint32_t n) const
    {
        float mean = Mean(a, t, work, n);
        Adds(t, a, -mean, n);
        Power<3>(y, t, n);
    }
};
}  // namespace elib
