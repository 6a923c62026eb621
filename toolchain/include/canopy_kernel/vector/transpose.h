// SPDX-License-Identifier: Apache-2.0
// Transposes inside the unified buffer: squares of 16 x 16, images between channel orders, and the 16 address lists of
// TransDataTo5HD.
#ifndef CANOPY_KERNEL_TRANSPOSE_H
#define CANOPY_KERNEL_TRANSPOSE_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/vector/permute.h"

namespace AscendC {

enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE,
    TRANSPOSE_NZ2ND_0213,
    TRANSPOSE_NZ2NZ_0213,
    TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITHOUT_N,
    TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY,
    TRANSPOSE_ND_UB_GM,
    TRANSPOSE_GRAD_ND_UB_GM,
    TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC,
    TRANSPOSE_NHWC2NCHW
};

struct TransposeParamsExt {
    TransposeParamsExt() = default;
    TransposeParamsExt(const uint16_t nSizeIn, const uint16_t cSizeIn, const uint16_t hSizeIn, const uint16_t wSizeIn,
                       const TransposeType transposeTypeIn)
        : nSize(nSizeIn), cSize(cSizeIn), hSize(hSizeIn), wSize(wSizeIn), transposeType(transposeTypeIn) {}

    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

// Strides between repeats count blocks of 32 bytes. The halves only matter for elements of one byte.
struct TransDataTo5HDParams {
    TransDataTo5HDParams() = default;
    TransDataTo5HDParams(const bool dstHighHalfIn, const bool srcHighHalfIn, const uint8_t repeatTimesIn,
                         const uint16_t dstRepStrideIn, const uint16_t srcRepStrideIn)
        : dstHighHalf(dstHighHalfIn),
          srcHighHalf(srcHighHalfIn),
          repeatTimes(repeatTimesIn),
          dstRepStride(dstRepStrideIn),
          srcRepStride(srcRepStrideIn) {}

    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
};

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::TransDataTo5HDParams;

// One repeat over 16 rows of 32 bytes. Everything is read before anything is written.
//   16 bits: 16 x 16, dst[i][j] = src[j][i]
//   32 bits: 16 x 8 becomes 8 x 16, a row of it in two blocks: dst[2i], dst[2i + 1]
//    8 bits: 16 x 16 between one half of the source blocks and one half of the destination blocks
template <class T>
inline void transpose_blocks(const uint64_t* to, const uint64_t* from, const TransDataTo5HDParams& params,
                             uint64_t repeat) {
    const auto address = [repeat](uint64_t start, uint32_t stride) {
        return reinterpret_cast<unsigned char*>(start) + repeat * stride * block_bytes;
    };
    constexpr uint32_t half_block = 16;
    const uint32_t to_half = sizeof(T) == 1 && params.dstHighHalf ? half_block : 0;
    const uint32_t from_half = sizeof(T) == 1 && params.srcHighHalf ? half_block : 0;
    Tile<sizeof(T)> tile;
    for (uint32_t i = 0; i < 16; ++i) tile.load(i, address(from[i], params.srcRepStride) + from_half);
    tile.transpose();
    for (uint32_t i = 0; i < 16; ++i) tile.store(i, address(to[i], params.dstRepStride) + to_half);
}

template <class T>
inline void transpose_lists(const uint64_t* to, const uint64_t* from, const TransDataTo5HDParams& params, Where where) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4, "TransDataTo5HD: elements have 8, 16 or 32 bits");
    for (uint32_t i = 0; i < 16; ++i)
        if (__builtin_expect(to[i] % block_bytes != 0 || from[i] % block_bytes != 0 || to[i] == 0 || from[i] == 0, 0))
            fail(where, "TransDataTo5HD: address %u is null or not a multiple of 32 bytes", i);
    const Instruction instruction(PIPE_V, "TransDataTo5HD", where, CANOPY_CHECK_FILL);
    if constexpr (is_checking_variant) {
        const uint64_t half = sizeof(T) == 1 ? 16 : 0;
        const auto name = [&](uint8_t kind, const char* operand, uint64_t address, bool high, uint32_t stride) {
            add_memory(kind, operand, Hardware::UB, reinterpret_cast<const void*>(address + (high ? half : 0)),
                       {block_bytes - half, 0, 1, uint64_t{stride} * block_bytes, params.repeatTimes}, sizeof(T));
        };
        for (uint32_t i = 0; i < 16; ++i) {
            name(CANOPY_CHECK_WRITE, "dst", to[i], params.dstHighHalf, params.dstRepStride);
            name(CANOPY_CHECK_READ, "src", from[i], params.srcHighHalf, params.srcRepStride);
        }
    }
    for (uint32_t r = 0; r < params.repeatTimes; ++r) transpose_blocks<T>(to, from, params, r);
}

template <class T>
inline uint64_t address_of(const LocalTensor<T>& tensor) {
    return reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
}

}  // namespace canopy::kernel

namespace AscendC {

// A square of 16 x 16 elements of 16 bits.
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(sizeof(T) == 2, "Transpose: without parameters it takes elements of 16 bits");
    const Instruction instruction(PIPE_V, "Transpose", where, CANOPY_CHECK_FILL);
    check_vector_operand("Transpose", "the destination", dst, 512, where);
    check_vector_operand("Transpose", "the source", src, 512, where);
    Tile<2> tile;  // the destination may be the source
    for (uint32_t i = 0; i < 16; ++i) tile.load(i, src.GetPhyAddr() + i * 16);
    tile.transpose();
    for (uint32_t i = 0; i < 16; ++i) tile.store(i, dst.GetPhyAddr() + i * 16);
}

// Images: channels first or last. The work space is not used here.
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& transposeParams, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1 && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4),
                  "Transpose: elements have 8, 16 or 32 bits");
    static_cast<void>(sharedTmpBuffer);
    const auto& p = transposeParams;
    if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        if constexpr (sizeof(T) == 2)
            Transpose(dst, src, where);
        else
            fail(where, "Transpose: TRANSPOSE_ND2ND_B16 takes elements of 16 bits");
        return;
    }
    const bool last = p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
    if (!last && p.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW)
        fail(where, "Transpose: transposeType %u is not supported", static_cast<unsigned>(p.transposeType));
    const uint64_t pixels = uint64_t{p.hSize} * p.wSize, image = pixels * p.cSize;
    const Instruction instruction(PIPE_V, "Transpose", where, CANOPY_CHECK_FILL);
    check_vector_operand("Transpose", "the destination", dst, p.nSize * image * sizeof(T), where);
    check_vector_operand("Transpose", "the source", src, p.nSize * image * sizeof(T), where);
    for (uint64_t n = 0; n < p.nSize; ++n)
        transpose_matrix(dst.GetPhyAddr() + n * image, src.GetPhyAddr() + n * image, last ? p.cSize : pixels,
                         last ? pixels : p.cSize);
}

template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    uint64_t to[16], from[16];
    for (int i = 0; i < 16; ++i) {
        to[i] = canopy::kernel::address_of(dstList[i]);
        from[i] = canopy::kernel::address_of(srcList[i]);
    }
    canopy::kernel::transpose_lists<T>(to, from, nchwconvParams, where);
}

// Lists of addresses.
template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::transpose_lists<T>(dstList, srcList, nchwconvParams, where);
}

// Lists of addresses in the unified buffer.
template <typename T>
inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    {
        const canopy::kernel::Instruction lists(PIPE_V, "TransDataTo5HD", where, CANOPY_CHECK_USE);
        canopy::kernel::check_vector_operand("TransDataTo5HD", "the destination's list", dst, 16 * sizeof(uint64_t),
                                             where, CANOPY_CHECK_READ);
        canopy::kernel::check_vector_operand("TransDataTo5HD", "the source's list", src, 16 * sizeof(uint64_t), where);
    }
    canopy::kernel::transpose_lists<T>(dst.GetPhyAddr(), src.GetPhyAddr(), nchwconvParams, where);
}

}  // namespace AscendC

#endif
