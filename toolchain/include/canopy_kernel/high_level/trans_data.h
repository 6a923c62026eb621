// SPDX-License-Identifier: Apache-2.0
// TransData: five-dimensional images between NCDHW and the layouts of convolutions, which keep 16 channels together.
//
//     NCDHW          [n][c][d][h w], planes padded to whole blocks
//     NDC1HWC0       [n][d][c / 16][h][w][16]
//     FRACTAL_Z_3D   [d][c / 16][h][w][n / 16][16][16], the last axis is that of channels
#ifndef CANOPY_KERNEL_HIGH_LEVEL_TRANS_DATA_H
#define CANOPY_KERNEL_HIGH_LEVEL_TRANS_DATA_H

#include <kernel_tiling/vector_configs.h>

#include "canopy_kernel/core/layout.h"
#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/elementwise.h"

namespace AscendC {

template <typename T, typename U>
struct TransDataParams {
    T srcLayout;
    U dstLayout;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::DataFormat;

struct ImageShape {
    uint64_t n, c, d, h, w;
};

struct BlockedShape {
    uint64_t n, c1, d, h, w, c0, n1, n0;
};

template <DataFormat format, class Layout>
inline auto image_shape(const Layout& layout) {
    using Shape = tuples::remove_cvref_t<decltype(layout.GetShape())>;
    const auto axis = [&layout](auto index) {
        return static_cast<uint64_t>(layout.template GetShape<decltype(index)::value>());
    };
    constexpr size_t rank = tuples::tuple_size_v<Shape>;
    using tuples::Int;
    if constexpr (format == DataFormat::NCDHW) {
        static_assert(rank == 5, "TransData: a shape in NCDHW has five axes");
        return ImageShape{axis(Int<0>{}), axis(Int<1>{}), axis(Int<2>{}), axis(Int<3>{}), axis(Int<4>{})};
    } else if constexpr (format == DataFormat::NDC1HWC0) {
        static_assert(rank == 6, "TransData: a shape in NDC1HWC0 has six axes");
        return BlockedShape{
            axis(Int<0>{}), axis(Int<2>{}), axis(Int<1>{}), axis(Int<3>{}), axis(Int<4>{}), axis(Int<5>{}), 0, 0};
    } else {
        static_assert(rank == 7, "TransData: a shape in FRACTAL_Z_3D has seven axes");
        return BlockedShape{0,
                            axis(Int<1>{}),
                            axis(Int<0>{}),
                            axis(Int<2>{}),
                            axis(Int<3>{}),
                            axis(Int<6>{}),
                            axis(Int<4>{}),
                            axis(Int<5>{})};
    }
}

inline void check_image_shapes(const ImageShape& image, const BlockedShape& blocked, bool fractal, Where where) {
    constexpr uint64_t side = 16;
    if (blocked.c0 != side || (fractal && blocked.n0 != side))
        fail(where, "TransData: fractals have 16 channels and 16 images, not %llu and %llu", printable(blocked.c0),
             printable(blocked.n0));
    if (image.d != blocked.d || image.h != blocked.h || image.w != blocked.w || (!fractal && image.n != blocked.n))
        fail(where, "TransData: n, d, h and w of the two layouts differ");
    if (blocked.c1 != (image.c + side - 1) / side || (fractal && blocked.n1 != (image.n + side - 1) / side))
        fail(where, "TransData: c1 and n1 must be c / 16 and n / 16, rounded up; they are %llu and %llu",
             printable(blocked.c1), printable(blocked.n1));
}

// Copies between an image and its blocked form; channels and images that only the blocked form has become 0.
template <bool to_blocked, bool fractal, class T>
inline void move_image(T* blocked, T* image, const ImageShape& shape, uint64_t plane) {
    constexpr uint64_t side = 16;
    const uint64_t pixels = shape.h * shape.w, c1 = (shape.c + side - 1) / side;
    const uint64_t n_end = fractal && to_blocked ? round_up(shape.n, side) : shape.n;
    const uint64_t c_end = to_blocked ? c1 * side : shape.c;
    const uint64_t step = fractal ? round_up(shape.n, side) * side : side;  // from pixel to pixel
    for (uint64_t n = 0; n < n_end; ++n)
        for (uint64_t c = 0; c < c_end; ++c)
            for (uint64_t d = 0; d < shape.d; ++d) {
                const uint64_t first = fractal ? (d * c1 + c / side) * pixels * step + n * side
                                               : ((n * shape.d + d) * c1 + c / side) * pixels * step;
                T* to = blocked + first + c % side;
                if (n >= shape.n || c >= shape.c) {
                    for (uint64_t p = 0; p < pixels; ++p) to[p * step] = T{};
                    continue;
                }
                T* from = image + ((n * shape.c + c) * shape.d + d) * plane;
                for (uint64_t p = 0; p < pixels; ++p)
                    if constexpr (to_blocked)
                        to[p * step] = from[p];
                    else
                        from[p] = to[p * step];
            }
}

template <DataFormat from, DataFormat to, class T, class Source, class Target>
inline void trans_data(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Source& src_layout,
                       const Target& dst_layout, Where where) {
    static_assert(packing<T> == 1 && sizeof(T) == 2, "TransData: elements have 16 bits");
    constexpr bool to_blocked = from == DataFormat::NCDHW;
    constexpr DataFormat blocked_format = to_blocked ? to : from;
    static_assert((to_blocked || to == DataFormat::NCDHW) &&
                      (blocked_format == DataFormat::NDC1HWC0 || blocked_format == DataFormat::FRACTAL_Z_3D),
                  "TransData: between NCDHW and NDC1HWC0 or FRACTAL_Z_3D");
    if (on_cube_core()) return;
    constexpr bool fractal = blocked_format == DataFormat::FRACTAL_Z_3D;
    const auto source = image_shape<from>(src_layout);
    const auto target = image_shape<to>(dst_layout);
    const ImageShape* image;
    const BlockedShape* blocked;
    if constexpr (to_blocked)
        image = &source, blocked = &target;
    else
        image = &target, blocked = &source;
    check_image_shapes(*image, *blocked, fractal, where);
    const uint64_t plane = round_up(image->h * image->w, elements_in<T>(block_bytes));
    const uint64_t image_size = image->n * image->c * image->d * plane;
    const uint64_t blocked_size =
        (fractal ? round_up(image->n, 16) : image->n) * image->d * blocked->c1 * image->h * image->w * 16;
    const Instruction instruction(PIPE_V, "TransData", where, CANOPY_CHECK_FILL);
    check_vector_operand("TransData", "the destination", dst, (to_blocked ? blocked_size : image_size) * sizeof(T),
                         where);
    check_vector_operand("TransData", "the source", src, (to_blocked ? image_size : blocked_size) * sizeof(T), where);
    move_image<to_blocked, fractal>(to_blocked ? dst.GetPhyAddr() : src.GetPhyAddr(),
                                    to_blocked ? src.GetPhyAddr() : dst.GetPhyAddr(), *image, plane);
}

}  // namespace canopy::kernel

namespace AscendC {

template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                      const TransDataParams<U, S>& params, CANOPY_WHERE) {
    canopy::kernel::trans_data<config.srcFormat, config.dstFormat>(dstTensor, srcTensor, params.srcLayout,
                                                                   params.dstLayout, where);
}
template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                      const LocalTensor<uint8_t>& sharedTmpBuffer, const TransDataParams<U, S>& params, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("TransData", sharedTmpBuffer, where, dstTensor, srcTensor);
    TransData<config>(dstTensor, srcTensor, params, where);
}

}  // namespace AscendC

#endif
