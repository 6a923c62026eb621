// SPDX-License-Identifier: Apache-2.0
// What the cube core of the seeds does: a product of two small matrices at fixed addresses.
#pragma once

#include "seeds.h"

namespace seeds {

template <class T>
__aicore__ inline LocalTensor<T> tensor_at(TPosition position, uint32_t address, uint32_t count) {
    return LocalTensor<T>(position, address, count);
}

// A square of `side` rows: `steps` of them for each factor, from global memory into L1.
struct Square {
    uint32_t side, steps = 1;
    __aicore__ inline uint32_t size() const { return side * side; }
    __aicore__ inline LocalTensor<half> a1() const { return tensor_at<half>(TPosition::A1, 0, steps * size()); }
    __aicore__ inline LocalTensor<half> b1() const { return tensor_at<half>(TPosition::B1, 65536, steps * size()); }
    __aicore__ inline LocalTensor<half> a2() const { return tensor_at<half>(TPosition::A2, 0, size()); }
    __aicore__ inline LocalTensor<half> b2() const { return tensor_at<half>(TPosition::B2, 0, size()); }
    __aicore__ inline LocalTensor<float> c() const { return tensor_at<float>(TPosition::CO1, 0, size()); }
};

__aicore__ inline void copy_factors(const Square& square, GM_ADDR from) {
    GlobalTensor<half> in;
    in.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(from), 2 * floats_of_memory);
    DataCopy(square.a1(), in, square.steps * square.size());
    DataCopy(square.b1(), in, square.steps * square.size());
    pass<HardEvent::MTE2_MTE1>();
}

__aicore__ inline LoadData2DParams all_fractals(const Square& square) {
    LoadData2DParams load;
    load.repeatTimes = square.size() / 256;
    load.srcStride = 1;
    return load;
}

__aicore__ inline MmadParams product_of(const Square& square, bool first, uint8_t unit_flag = 0) {
    MmadParams params;
    params.m = params.n = params.k = square.side;
    params.cmatrixInitVal = first;
    params.unitFlag = unit_flag;
    return params;
}

__aicore__ inline FixpipeParamsV220 rows_of(const Square& square, uint8_t unit_flag = 0) {
    FixpipeParamsV220 params;
    params.nSize = params.mSize = params.srcStride = params.dstStride = square.side;
    params.unitFlag = unit_flag;
    return params;
}

}  // namespace seeds
