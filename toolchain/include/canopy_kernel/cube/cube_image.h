// SPDX-License-Identifier: Apache-2.0
// Image to column: LoadData with LoadData3DParamsV2 reads a feature map (C1, H, W, C0 in L1) as the matrix that a
// convolution multiplies, with padding, strides and dilation. Also the registers that hold some of the parameters.
#ifndef CANOPY_KERNEL_CUBE_IMAGE_H
#define CANOPY_KERNEL_CUBE_IMAGE_H

#include "canopy_kernel/cube/cube_load.h"

namespace AscendC {

constexpr uint32_t PAD_SIZE = 4;

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };
inline constexpr FmatrixMode FMATRIX_LEFT = FmatrixMode::FMATRIX_LEFT;
inline constexpr FmatrixMode FMATRIX_RIGHT = FmatrixMode::FMATRIX_RIGHT;

// Registers that a load sets from its parameters before it starts.
struct IsResetLoad3dConfig {
    constexpr IsResetLoad3dConfig(bool fmatrix = true, bool padding = true)
        : isSetFMatrix(fmatrix), isSetPadding(padding) {}
    bool isSetFMatrix;
    bool isSetPadding;
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG{true, true};

template <class T>
struct LoadData3DParamsV2 {
    LoadData3DParamsV2() = default;
    uint8_t padList[PAD_SIZE] = {0};  // left, right, top, bottom
    uint16_t l1H = 0, l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0, mExtension = 0;
    uint16_t kStartPt = 0, mStartPt = 0;
    uint8_t strideW = 1, strideH = 1;
    uint8_t filterW = 1, filterH = 1;
    uint8_t dilationFilterW = 1, dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = T();
    bool filterSizeW = false, filterSizeH = false;
    bool fMatrixCtrl = false;
};

// The same with extents and strides packed into two words, as the instruction takes them.
struct LoadData3DParamsV2Pro {
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false, filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;     // mStartPt, kStartPt, mExtension, kExtension from the highest 16 bits down
    uint64_t filterConfig = 0;  // dilationH, dilationW, filterH, filterW, strideH, strideW from bit 40 down
};

template <class T>
inline void SetLoadDataPaddingValue(const T padValue) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &padValue, sizeof padValue);
    canopy::kernel::core_state().cube.padding = bits;
}
inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode& mode) {
    uint64_t bits = l1W | static_cast<uint64_t>(l1H) << 16;
    for (int i = 0; i < 4; ++i) bits |= static_cast<uint64_t>(padList[i]) << (32 + 8 * i);
    auto& cube = canopy::kernel::core_state().cube;
    (mode == FmatrixMode::FMATRIX_LEFT ? cube.matrix_left : cube.matrix_right) = bits;
}
// Accepts only what loads do anyway: no boundary, and one repeat.
inline void SetLoadDataBoundary(uint32_t boundary, canopy::kernel::Where where = canopy::kernel::here()) {
    if (boundary != 0) canopy::kernel::fail(where, "SetLoadDataBoundary: a boundary is not supported by Canopy yet");
}

struct LoadDataRepeatParam {
    LoadDataRepeatParam() = default;
    LoadDataRepeatParam(uint16_t stride, uint8_t time, uint8_t mode)
        : repeatStride(stride), repeatTime(time), repeatMode(mode) {}
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
};
inline void SetLoadDataRepeat(const LoadDataRepeatParam& repeat, canopy::kernel::Where where = canopy::kernel::here()) {
    if (repeat.repeatTime > 1)
        canopy::kernel::fail(where, "SetLoadDataRepeat: %u repeats are not supported by Canopy yet", repeat.repeatTime);
}

}  // namespace AscendC

namespace canopy::kernel {

// The whole feature map and filter of a load; maps an element of the matrix to its source.
template <class T>
struct ImageView {
    const T* source;
    uint32_t height, width, channels;
    uint32_t left, right, top, bottom;
    uint32_t stride_x, stride_y, filter_x, filter_y, dilation_x, dilation_y;
    T padding;

    uint32_t across() const { return (width + left + right - dilation_x * (filter_x - 1) - 1) / stride_x + 1; }

    T at(uint32_t m, uint32_t k) const {
        constexpr uint32_t c0 = row_elements<T>;
        const uint32_t wide = across();
        const uint32_t inner = k % c0, step = k / c0;
        const uint32_t filter_column = step % filter_x, filter_row = step / filter_x % filter_y,
                       c1 = step / (filter_x * filter_y);
        const int64_t x = static_cast<int64_t>(m % wide) * stride_x + filter_column * dilation_x - left;
        const int64_t y = static_cast<int64_t>(m / wide) * stride_y + filter_row * dilation_y - top;
        if (x < 0 || y < 0 || x >= width || y >= height) return padding;
        if (c1 * c0 + inner >= round_up(channels, c0)) return T();
        return source[((static_cast<int64_t>(c1) * height + y) * width + x) * c0 + inner];
    }
};

struct ImageWindow {
    uint32_t m_start, k_start, m_extent, k_extent;
    bool transpose;
};

// Loads the matrix: into L0A as it is (optionally transposed), into L0B as the right factor of a product. `stride` is
// the distance of fractals along k, in fractals; 0: they are adjacent.
template <class T>
inline void load_image(const LocalTensor<T>& destination, const ImageView<T>& view, const ImageWindow& window,
                       uint32_t stride = 0) {
    constexpr uint32_t c0 = row_elements<T>;
    T* to = destination.GetPhyAddr();
    const bool right = memory_of(destination.position()) == Hardware::L0B;
    const uint32_t rows = window.transpose && !right ? window.k_extent : window.m_extent;
    const uint32_t columns = window.transpose && !right ? window.m_extent : window.k_extent;
    const uint32_t row_fractals = stride != 0 ? stride : (rows + fractal_rows - 1) / fractal_rows;
    const uint32_t column_fractals = (columns + c0 - 1) / c0;
    const uint32_t right_columns = stride != 0 ? stride : (columns + fractal_rows - 1) / fractal_rows;
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t column = 0; column < columns; ++column) {
            const bool turned = window.transpose && !right;
            const T value = view.at(window.m_start + (turned ? column : row), window.k_start + (turned ? row : column));
            if (right) {
                // The row runs along the product's inner dimension.
                fractal(to, static_cast<int64_t>(row / c0) * right_columns +
                                column / fractal_rows)[column % fractal_rows * c0 + row % c0] = value;
            } else {
                const int64_t index = l0a_by_columns
                                          ? static_cast<int64_t>(column / c0) * row_fractals + row / fractal_rows
                                          : static_cast<int64_t>(row / fractal_rows) * column_fractals + column / c0;
                fractal(to, index)[row % fractal_rows * c0 + column % c0] = value;
            }
        }
}

// In the checking variant: the elements of the image that the window reads. For each place in the filter and each row
// of the result, these are blocks of 32 bytes.
template <class T>
inline void add_image_source(const LocalTensor<T>& src, const ImageView<T>& view, const ImageWindow& window) {
    constexpr int64_t c0 = row_elements<T>;
    const int64_t wide = view.across(), places = int64_t{view.filter_x} * view.filter_y;
    const int64_t last_m = int64_t{window.m_start} + window.m_extent,
                  last_k = int64_t{window.k_start} + window.k_extent;
    for (int64_t k = window.k_start; k < last_k; k = (k / c0 + 1) * c0) {
        const int64_t step = k / c0, c1 = step / places;
        if (c1 * c0 >= view.channels) break;
        const int64_t right = step % view.filter_x * view.dilation_x - view.left;
        const int64_t down = step / view.filter_x % view.filter_y * view.dilation_y - view.top;
        for (int64_t m = window.m_start, next; m < last_m; m = next) {
            next = smaller((m / wide + 1) * wide, last_m);
            const int64_t y = m / wide * view.stride_y + down;
            if (y < 0 || y >= view.height) continue;
            // Of the columns first .. end - 1 of the result, those inside the image.
            const int64_t stride = view.stride_x;
            int64_t first = m % wide, end = (next - 1) % wide + 1;
            if (first * stride + right < 0) first = (stride - 1 - right) / stride;
            if ((end - 1) * stride + right >= view.width) end = (view.width - 1 - right) / stride + 1;
            if (right >= view.width || first >= end) continue;
            const int64_t block = (c1 * view.height + y) * view.width + first * stride + right;
            const int64_t elements = smaller(c0 - k % c0, last_k - k);
            add_walk(CANOPY_CHECK_READ, "src", src, src.GetPhyAddr() + block * c0 + k % c0,
                     {static_cast<uint64_t>(elements) * sizeof(T), static_cast<uint64_t>(stride) * block_bytes,
                      static_cast<uint32_t>(end - first)});
        }
    }
}

// The fractals that the window fills.
template <class T>
inline void add_image_target(const LocalTensor<T>& dst, const ImageWindow& window, uint32_t stride) {
    constexpr int64_t c0 = row_elements<T>;
    const auto steps = [](int64_t size, int64_t step) { return (size + step - 1) / step; };
    const bool right = memory_of(dst.position()) == Hardware::L0B, turned = window.transpose && !right;
    const int64_t rows = turned ? window.k_extent : window.m_extent;
    const int64_t columns = turned ? window.m_extent : window.k_extent;
    if (rows == 0 || columns == 0) return;
    if (right) {
        const int64_t run = steps(columns, fractal_rows);
        add_fractals(CANOPY_CHECK_WRITE, "dst", dst, {0, run, stride != 0 ? stride : run, steps(rows, c0)});
    } else if (l0a_by_columns) {
        const int64_t run = steps(rows, fractal_rows);
        add_fractals(CANOPY_CHECK_WRITE, "dst", dst, {0, run, stride != 0 ? stride : run, steps(columns, c0)});
    } else {
        add_fractals(CANOPY_CHECK_WRITE, "dst", dst, {0, steps(rows, fractal_rows) * steps(columns, c0), 0, 1});
    }
}

template <class T>
inline void tell_image_load(const LocalTensor<T>& dst, const LocalTensor<T>& src, const ImageView<T>& view,
                            const ImageWindow& window, uint32_t stride, Where where) {
    if constexpr (is_checking_variant) {
        const Instruction instruction(PIPE_MTE1, "LoadData", where, CANOPY_CHECK_FILL);
        add_image_source(src, view, window);
        add_image_target(dst, window, stride);
    }
}

template <class T>
inline void set_matrix(ImageView<T>& view, bool right) {
    const auto& cube = core_state().cube;
    const uint64_t bits = right ? cube.matrix_right : cube.matrix_left;
    view.width = bits & 0xffff;
    view.height = bits >> 16 & 0xffff;
    view.left = bits >> 32 & 0xff;
    view.right = bits >> 40 & 0xff;
    view.top = bits >> 48 & 0xff;
    view.bottom = bits >> 56;
}

template <class T>
inline T padding_register() {
    T value;
    const uint64_t bits = core_state().cube.padding;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
}

}  // namespace canopy::kernel

namespace canopy::kernel {

template <class T, const AscendC::IsResetLoad3dConfig& config, class U>
inline void load_image_of(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const AscendC::LoadData3DParamsV2<U>& params, uint32_t stride, Where where) {
    require_memory(src, Hardware::L1, "the source of LoadData", where);
    check_load(dst, where);
    if (config.isSetFMatrix)
        AscendC::SetFmatrix(params.l1H, params.l1W, params.padList,
                            params.fMatrixCtrl ? AscendC::FMATRIX_RIGHT : AscendC::FMATRIX_LEFT);
    if (config.isSetPadding) AscendC::SetLoadDataPaddingValue(params.padValue);
    ImageView<T> view{};
    set_matrix(view, params.fMatrixCtrl);
    view.source = src.GetPhyAddr();
    view.channels = params.channelSize;
    view.stride_x = params.strideW;
    view.stride_y = params.strideH;
    view.filter_x = params.filterW + (params.filterSizeW ? 256u : 0u);
    view.filter_y = params.filterH + (params.filterSizeH ? 256u : 0u);
    view.dilation_x = params.dilationFilterW;
    view.dilation_y = params.dilationFilterH;
    view.padding = padding_register<T>();
    const ImageWindow window{params.mStartPt, params.kStartPt, params.mExtension, params.kExtension,
                             params.enTranspose};
    tell_image_load(dst, src, view, window, stride, where);
    load_image(dst, view, window, stride);
}

}  // namespace canopy::kernel

namespace AscendC {

template <class T, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG, class U>
inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::load_image_of<T, config>(dst, src, params, 0, where);
}

template <class T>
inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2Pro& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::require_memory(src, Hardware::L1, "the source of LoadData", where);
    canopy::kernel::check_load(dst, where);
    canopy::kernel::ImageView<T> view{};
    canopy::kernel::set_matrix(view, params.fMatrixCtrl);
    view.source = src.GetPhyAddr();
    view.channels = params.channelSize;
    view.stride_x = params.filterConfig & 0xff;
    view.stride_y = params.filterConfig >> 8 & 0xff;
    view.filter_x = (params.filterConfig >> 16 & 0xff) + (params.filterSizeW ? 256u : 0u);
    view.filter_y = (params.filterConfig >> 24 & 0xff) + (params.filterSizeH ? 256u : 0u);
    view.dilation_x = params.filterConfig >> 32 & 0xff;
    view.dilation_y = params.filterConfig >> 40 & 0xff;
    view.padding = canopy::kernel::padding_register<T>();
    const canopy::kernel::ImageWindow window{static_cast<uint32_t>(params.extConfig >> 48),
                                             static_cast<uint32_t>(params.extConfig >> 32 & 0xffff),
                                             static_cast<uint32_t>(params.extConfig >> 16 & 0xffff),
                                             static_cast<uint32_t>(params.extConfig & 0xffff), params.enTranspose};
    canopy::kernel::tell_image_load(dst, src, view, window, 0, where);
    canopy::kernel::load_image(dst, view, window);
}

}  // namespace AscendC

#endif
