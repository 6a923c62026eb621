// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernel_operator.h"

namespace elib {
using namespace AscendC;

// ---- integers -------------------------------------------------------------------------------------------------------
template <typename T>
__aicore__ inline constexpr T CeilDiv(T a, T b) { return b == 0 ? a : (a + b - 1) / b; }
template <typename T>
__aicore__ inline constexpr T CeilAlign(T a, T b) { return CeilDiv(a, b) * b; }
template <typename T>
__aicore__ inline constexpr T FloorAlign(T a, T b) { return b == 0 ? a : a / b * b; }
template <typename T>
__aicore__ inline constexpr T MinOf(T a, T b) { return a < b ? a : b; }
template <typename T>
__aicore__ inline constexpr T MaxOf(T a, T b) { return a > b ? a : b; }
__aicore__ inline constexpr bool IsPow2(uint32_t x) { return x != 0 && (x & (x - 1)) == 0; }

// log2 of the sizes of types
constexpr uint32_t kShiftOfSize[9] = {0, 0, 1, 0, 2, 0, 0, 0, 3};
template <typename T>
__aicore__ inline constexpr uint32_t BytesToElems(uint32_t bytes) { return bytes >> kShiftOfSize[sizeof(T)]; }
template <typename T>
__aicore__ inline constexpr uint32_t BlockElems() { return BytesToElems<T>(ONE_BLK_SIZE); }

// ---- layout ---------------------------------------------------------------------------------------------------------
struct Shape {
    uint32_t rows;
    uint32_t cols;
};
struct Stride {
    uint32_t row;
};
struct Layout {
    Shape shape;
    Stride stride;
    __aicore__ inline uint32_t operator()(uint32_t r, uint32_t c) const { return r * stride.row + c; }
};
__aicore__ inline Shape MakeShape(uint32_t r, uint32_t c) { return {r, c}; }
__aicore__ inline Layout MakeLayout(Shape shape) { return {shape, {shape.cols}}; }
__aicore__ inline uint32_t Size(const Layout& l) { return l.shape.rows * l.shape.cols; }

// ---- copies ---------------------------------------------------------------------------------------------------------
template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t n)
{
    if (n % BlockElems<T>() == 0) {
        DataCopy(dst, src, n);
        return;
    }
    DataCopyPad(dst, src, DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0},
                DataCopyPadExtParams<T>{false, 0, 0, 0});
}
template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t n)
{
    if (n % BlockElems<T>() == 0) {
        DataCopy(dst, src, n);
        return;
    }
    DataCopyPad(dst, src, DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0});
}
}  // namespace elib
