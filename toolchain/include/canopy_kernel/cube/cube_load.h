// SPDX-License-Identifier: Apache-2.0
// Loads from L1 (or global memory) into the memories the cube multiplies from. Data moves in fractals of 512 bytes: 16
// rows of 32 bytes (C0 elements). L0A stores fractals row by row up to architecture 2201 and column by column from 3510
// on; L0B stores them row by row, each transposed; L1 usually stores them column by column.
#ifndef CANOPY_KERNEL_CUBE_LOAD_H
#define CANOPY_KERNEL_CUBE_LOAD_H

#include "canopy_kernel/core/tensor.h"
#include "canopy_kernel/cube/cube_checking.h"
#include "canopy_kernel/vector/permute.h"

namespace canopy::kernel {

inline constexpr uint32_t fractal_bytes = 512;
inline constexpr uint32_t fractal_rows = 16;

// Elements in a 32-byte row of a fractal.
template <class T>
inline constexpr uint32_t row_elements = 32 / sizeof(T) * packing<T>;
template <class T>
inline constexpr uint32_t fractal_elements = fractal_rows* row_elements<T>;

inline constexpr bool l0a_by_columns = __NPU_ARCH__ >= 3003;

template <class T>
inline T* fractal(T* first, int64_t index) {
    return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(first) + index * static_cast<int64_t>(fractal_bytes));
}
template <class T>
inline const T* fractal(const T* first, int64_t index) {
    return reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(first) +
                                      index * static_cast<int64_t>(fractal_bytes));
}

inline void copy_fractal(void* destination, const void* source) {
    __builtin_memcpy(destination, source, fractal_bytes);
}

// Transposes 16 x 16 elements of two bytes.
template <class T>
inline void turn_fractal(T* destination, const T* source) {
    static_assert(sizeof(T) == 2, "ifTranspose needs elements of two bytes");
    Tile<2> tile;
    for (uint32_t row = 0; row < 16; ++row) tile.load(row, source + row * 16);
    tile.transpose();
    for (uint32_t row = 0; row < 16; ++row) tile.store(row, destination + row * 16);
}

// Copies element `j` of a fractal to place `i` of another; two elements of four bits share a byte.
template <class T>
inline void move_element(T* to, uint64_t i, const T* from, uint64_t j) {
    if constexpr (packing<T> == 1) {
        to[i] = from[j];
    } else {
        const uint32_t bits = from[j / 2].storage >> (j % 2 * 4) & 15u;
        uint8_t& byte = to[i / 2].storage;
        byte = static_cast<uint8_t>(i % 2 == 0 ? (byte & 0xf0u) | bits : (byte & 0x0fu) | bits << 4);
    }
}

template <class T>
inline void check_load(const LocalTensor<T>& destination, Where where) {
    const Hardware memory = memory_of(destination.position());
    if (memory != Hardware::L0A && memory != Hardware::L0B)
        fail(where, "LoadData to position %s; it loads into A2 or B2", name_of(destination.position()));
}

}  // namespace canopy::kernel

namespace AscendC {

struct LoadData2DParams {
    LoadData2DParams() = default;
    LoadData2DParams(uint16_t start, uint8_t repeat, uint16_t stride, uint8_t sidIn, uint16_t gap, bool transpose,
                     uint8_t mode)
        : startIndex(start),
          dstGap(gap),
          srcStride(stride),
          ifTranspose(transpose),
          repeatTimes(repeat),
          sid(sidIn),
          addrMode(mode) {}
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};

using LoadData2dParams = LoadData2DParams;

struct LoadData2DParamsV2 {
    LoadData2DParamsV2() = default;
    LoadData2DParamsV2(uint32_t mStart, uint32_t kStart, uint16_t mSteps, uint16_t kSteps, int32_t source,
                       uint16_t destination, bool transpose, uint8_t sidIn)
        : mStartPosition(mStart),
          kStartPosition(kStart),
          mStep(mSteps),
          kStep(kSteps),
          srcStride(source),
          dstStride(destination),
          ifTranspose(transpose),
          sid(sidIn) {}
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};

struct LoadData2dTransposeParams {
    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(uint16_t start, uint8_t repeat, uint16_t stride, uint16_t gap, uint16_t fractalGap,
                              uint8_t mode = 0)
        : startIndex(start),
          repeatTimes(repeat),
          srcStride(stride),
          dstGap(gap),
          dstFracGap(fractalGap),
          addrMode(mode) {}
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};
using LoadData2DTransposeParams = LoadData2dTransposeParams;

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline void load_fractals(T* destination, const T* source, const AscendC::LoadData2DParams& params) {
    for (int64_t i = 0; i < params.repeatTimes; ++i) {
        const int64_t step = params.addrMode == 0 ? i : -i;
        const T* from = fractal(source, params.startIndex + step * params.srcStride);
        T* to = fractal(destination, i * (1 + params.dstGap));
        if (!params.ifTranspose) {
            copy_fractal(to, from);
        } else if constexpr (sizeof(T) == 2) {
            turn_fractal(to, from);
        } else {
            fail(here(), "LoadData: ifTranspose needs elements of two bytes");
        }
    }
}

// Loads a rectangle of a matrix whose fractals are stored column by column; writes it in the same order, or transposed.
template <class T>
inline void load_rectangle(T* destination, const T* source, const AscendC::LoadData2DParamsV2& params, Where where) {
    constexpr uint32_t columns = row_elements<T>;
    if (!params.ifTranspose) {
        for (int64_t k = 0; k < params.kStep; ++k)
            for (int64_t m = 0; m < params.mStep; ++m)
                copy_fractal(
                    fractal(destination, k * params.dstStride + m),
                    fractal(source, (params.kStartPosition + k) * params.srcStride + params.mStartPosition + m));
        return;
    }
    const uint32_t rows = params.mStep * fractal_rows, width = params.kStep * columns;
    if (rows % columns != 0 || width % fractal_rows != 0)
        fail(where, "LoadData: %u x %u elements cannot be transposed in whole fractals of 16 x %u", rows, width,
             columns);
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t column = 0; column < width; ++column) {
            const T* from =
                fractal(source, static_cast<int64_t>(params.kStartPosition + column / columns) * params.srcStride +
                                    params.mStartPosition + row / fractal_rows);
            T* to =
                fractal(destination, static_cast<int64_t>(row / columns) * params.dstStride + column / fractal_rows);
            move_element(to, column % fractal_rows * columns + row % columns, from,
                         row % fractal_rows * columns + column % columns);
        }
}

// Loads squares of 16 (two and four bytes), 32 (one byte) or 64 (four bits) elements per side, each transposed.
template <class T>
inline void load_turned(T* destination, const T* source, const AscendC::LoadData2dTransposeParams& params) {
    constexpr uint32_t columns = row_elements<T>;
    constexpr uint32_t side = columns > fractal_rows ? columns : fractal_rows;
    constexpr uint32_t fractals = side * side / fractal_elements<T>;
    constexpr bool side_by_side = columns < fractal_rows;
    for (int64_t i = 0; i < params.repeatTimes; ++i) {
        const int64_t step = params.addrMode == 0 ? i : -i;
        const int64_t first = (params.startIndex + step * params.srcStride) * static_cast<int64_t>(fractals);
        const int64_t start = i * (1 + params.dstGap);
        if constexpr (sizeof(T) == 2 && packing<T> == 1) {
            turn_fractal(fractal(destination, start), fractal(source, first));
            continue;
        }
        for (uint32_t row = 0; row < side; ++row)
            for (uint32_t column = 0; column < side; ++column) {
                const uint32_t from = side_by_side ? column / columns : row / fractal_rows;
                const uint32_t to = side_by_side ? row / columns : column / fractal_rows;
                move_element(fractal(destination, start + to * (1 + params.dstFracGap)),
                             column % fractal_rows * columns + row % columns, fractal(source, first + from),
                             row % fractal_rows * columns + column % columns);
            }
    }
}

// In the checking variant: what these loads touch, as operands of the open instruction.
template <class T, class Source>
inline void add_load(const LocalTensor<T>& dst, const Source& src, const AscendC::LoadData2DParams& params) {
    if constexpr (is_checking_variant) {
        const int64_t step = params.addrMode == 0 ? params.srcStride : -int64_t{params.srcStride};
        add_fractals(CANOPY_CHECK_READ, "src", src, {params.startIndex, 1, step, params.repeatTimes});
        add_fractals(CANOPY_CHECK_WRITE, "dst", dst, {0, 1, 1 + params.dstGap, params.repeatTimes});
    }
}
template <class T, class Source>
inline void add_load(const LocalTensor<T>& dst, const Source& src, const AscendC::LoadData2DParamsV2& params) {
    if constexpr (is_checking_variant) {
        const int64_t first = int64_t{params.kStartPosition} * params.srcStride + params.mStartPosition;
        add_fractals(CANOPY_CHECK_READ, "src", src, {first, params.mStep, params.srcStride, params.kStep});
        constexpr int64_t columns = row_elements<T>;
        const int64_t along = params.ifTranspose ? params.kStep * columns / fractal_rows : params.mStep;
        const int64_t runs = params.ifTranspose ? params.mStep * int64_t{fractal_rows} / columns : params.kStep;
        add_fractals(CANOPY_CHECK_WRITE, "dst", dst, {0, along, params.dstStride, runs});
    }
}
template <class T>
inline void add_load(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const AscendC::LoadData2dTransposeParams& params) {
    if constexpr (is_checking_variant) {
        constexpr int64_t side = row_elements < T >> fractal_rows ? row_elements<T> : fractal_rows;
        constexpr int64_t fractals = side * side / fractal_elements<T>;
        const int64_t step = (params.addrMode == 0 ? 1 : -1) * params.srcStride * fractals;
        add_fractals(CANOPY_CHECK_READ, "src", src, {params.startIndex * fractals, fractals, step, params.repeatTimes});
        add_walk(CANOPY_CHECK_WRITE, "dst", dst, dst.GetPhyAddr(),
                 {fractal_bytes, uint64_t{fractal_bytes} * (1u + params.dstFracGap), static_cast<uint32_t>(fractals),
                  uint64_t{fractal_bytes} * (1u + params.dstGap), params.repeatTimes});
    }
}

// Loads that transpose exchange elements, which the flow of unwritten bytes does not follow.
constexpr CanopyCheckFlow load_flow(bool transposes) { return transposes ? CANOPY_CHECK_FILL : CANOPY_CHECK_CARRY; }

}  // namespace canopy::kernel

namespace AscendC {

template <class T>
inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::require_memory(src, Hardware::L1, "the source of LoadData", where);
    canopy::kernel::check_load(dst, where);
    const canopy::kernel::Instruction instruction(PIPE_MTE1, "LoadData", where,
                                                  canopy::kernel::load_flow(params.ifTranspose));
    canopy::kernel::add_load(dst, src, params);
    canopy::kernel::load_fractals(dst.GetPhyAddr(), src.GetPhyAddr(), params);
}
template <class T>
inline void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& params,
                     [[maybe_unused]] canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_MTE2, "LoadData", where,
                                                  canopy::kernel::load_flow(params.ifTranspose));
    canopy::kernel::add_load(dst, src, params);
    canopy::kernel::load_fractals(dst.GetPhyAddr(), src.GetPhyAddr(), params);
}
template <class T>
inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParamsV2& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::require_memory(src, Hardware::L1, "the source of LoadData", where);
    canopy::kernel::check_load(dst, where);
    const canopy::kernel::Instruction instruction(PIPE_MTE1, "LoadData", where,
                                                  canopy::kernel::load_flow(params.ifTranspose));
    canopy::kernel::add_load(dst, src, params);
    canopy::kernel::load_rectangle(dst.GetPhyAddr(), src.GetPhyAddr(), params, where);
}
template <class T>
inline void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParamsV2& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    const canopy::kernel::Instruction instruction(PIPE_MTE2, "LoadData", where,
                                                  canopy::kernel::load_flow(params.ifTranspose));
    canopy::kernel::add_load(dst, src, params);
    canopy::kernel::load_rectangle(dst.GetPhyAddr(), src.GetPhyAddr(), params, where);
}

template <class T>
inline void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const LoadData2dTransposeParams& params,
                                  canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::require_memory(src, Hardware::L1, "the source of LoadDataWithTranspose", where);
    const canopy::kernel::Instruction instruction(PIPE_MTE1, "LoadDataWithTranspose", where,
                                                  canopy::kernel::load_flow(true));
    canopy::kernel::add_load(dst, src, params);
    canopy::kernel::load_turned(dst.GetPhyAddr(), src.GetPhyAddr(), params);
}

// Blocks filled with one value; sizes count 32 bytes in L1 and fractals elsewhere.
template <class T>
struct InitConstValueParams {
    InitConstValueParams() = default;
    InitConstValueParams(uint16_t repeat, uint16_t blocks, uint16_t gap, T value)
        : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = T();
};

template <class T, class U = T>
inline void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<U>& params,
                           [[maybe_unused]] canopy::kernel::Where where = canopy::kernel::here()) {
    const bool in_l1 = canopy::kernel::memory_of(dst.position()) == Hardware::L1;
    const uint64_t unit = in_l1 ? 32 : canopy::kernel::fractal_bytes;
    const uint64_t blocks = params.blockNum == 0 ? 1 : params.blockNum;
    T* to = dst.GetPhyAddr();
    const uint64_t run = unit * blocks / sizeof(T), step = unit * (blocks + params.dstGap) / sizeof(T);
    const canopy::kernel::Instruction instruction(in_l1 ? PIPE_MTE2 : PIPE_MTE1, "InitConstValue", where,
                                                  CANOPY_CHECK_FILL);
    instruction.writes("dst", dst, to, {unit * blocks, unit * (blocks + params.dstGap), params.repeatTimes});
    for (uint64_t repeat = 0; repeat < params.repeatTimes; ++repeat)
        for (uint64_t i = 0; i < run; ++i) to[repeat * step + i] = static_cast<T>(params.initValue);
}

}  // namespace AscendC

#endif
