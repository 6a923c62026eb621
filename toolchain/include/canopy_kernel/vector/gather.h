// SPDX-License-Identifier: Apache-2.0
// Indexed access inside the unified buffer: Gather, Gatherb and Scatter by byte offsets, GatherMask by a pattern.
#ifndef CANOPY_KERNEL_GATHER_H
#define CANOPY_KERNEL_GATHER_H

#include "canopy_kernel/core/check.h"
#include "canopy_kernel/vector/permute.h"

namespace AscendC {

struct GatherRepeatParams {
    GatherRepeatParams() = default;
    GatherRepeatParams(const uint8_t dstBlkStrideIn, const uint8_t dstRepStrideIn)
        : dstBlkStride(dstBlkStrideIn), dstRepStride(dstRepStrideIn) {}

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct GatherMaskParams {
    GatherMaskParams() = default;
    GatherMaskParams(const uint8_t src0BlockStrideIn, const uint16_t repeatTimesIn, const uint16_t src0RepeatStrideIn,
                     const uint8_t src1RepeatStrideIn)
        : src0BlockStride(src0BlockStrideIn),
          repeatTimes(repeatTimesIn),
          src0RepeatStride(src0RepeatStrideIn),
          src1RepeatStride(src1RepeatStrideIn) {}

    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline constexpr bool has_gather = sizeof(T) == 2 || sizeof(T) == 4 ||
                                   (__NPU_ARCH__ >= 3003 && (sizeof(T) == 1 || sizeof(T) == 8));

// Fails if an offset leaves the tensor or splits an element.
template <class T>
inline void check_offset(const char* name, const LocalTensor<T>& tensor, uint64_t byte, uint64_t element, Where where) {
    if constexpr (checked) {
        if (byte % sizeof(T) != 0)
            fail(where, "%s: the offset of element %llu, %llu bytes, is not a multiple of the element size", name,
                 printable(element), printable(byte));
        if (byte + sizeof(T) > bytes_of<T>(tensor.GetSize()))
            fail(where, "%s: the offset of element %llu, %llu bytes, is outside a tensor of %llu bytes", name,
                 printable(element), printable(byte), printable(bytes_of<T>(tensor.GetSize())));
    }
}

// Which of eight consecutive elements a fixed pattern keeps: every second one, every fourth one, all.
constexpr uint32_t kept_of_eight(uint8_t pattern) {
    constexpr uint8_t bits[] = {0x00, 0x55, 0xaa, 0x11, 0x22, 0x44, 0x88, 0xff};
    return bits[pattern];
}

// Moves the elements selected by bits to the front of the destination; `bits_of(repeat, group)` returns the bits of
// eight elements. In counter mode a repeat has `mask` elements, otherwise 256 bytes.
template <class T, class Bits>
inline uint64_t gather_kept(const LocalTensor<T>& dst, const LocalTensor<T>& src, bool counter, uint32_t mask,
                            const AscendC::GatherMaskParams& params, const Bits& bits_of, Where where) {
    constexpr uint32_t per_block = block_bytes / sizeof(T);
    const uint64_t elements = counter ? mask : lanes<T>;
    const auto* from = reinterpret_cast<const unsigned char*>(src.GetPhyAddr());
    T* to = dst.GetPhyAddr();
    uint64_t count = 0;
    for (uint32_t r = 0; r < params.repeatTimes; ++r)
        for (uint64_t first = 0; first < elements; first += 8) {
            uint32_t bits = bits_of(r, first / 8);
            if (elements - first < 8) bits &= (1u << (elements - first)) - 1;
            for (; bits != 0; bits &= bits - 1) {
                const uint64_t i = first + static_cast<uint32_t>(__builtin_ctz(bits));
                const uint64_t block = uint64_t{r} * params.src0RepeatStride + i / per_block * params.src0BlockStride;
                const uint64_t byte = block * block_bytes + i % per_block * sizeof(T);
                if constexpr (checked) {
                    check_reach(byte + sizeof(T), bytes_of<T>(src.GetSize()), "GatherMask", "the source", where);
                    check_reach((count + 1) * sizeof(T), bytes_of<T>(dst.GetSize()), "GatherMask", "the destination",
                                where);
                }
                __builtin_memcpy(to + count++, from + byte, sizeof(T));
            }
        }
    return count;
}

// The same for a fixed pattern and a source without gaps inside a repeat: runs of every second or fourth element.
template <class T>
inline uint64_t gather_pattern(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t elements, uint8_t pattern,
                               const AscendC::GatherMaskParams& params, Where where) {
    const uint32_t step = pattern == 7 ? 1 : pattern <= 2 ? 2 : 4;
    const uint32_t first = pattern == 7 ? 0 : pattern <= 2 ? pattern - 1u : pattern - 3u;
    uint64_t repeats = params.repeatTimes;
    if (repeats > 1 && elements == lanes<T> && params.src0RepeatStride == AscendC::DEFAULT_REPEAT_STRIDE) {
        elements *= repeats;
        repeats = 1;
    }
    const uint64_t kept = elements > first ? (elements - first + step - 1) / step : 0;
    const uint64_t pitch = uint64_t{params.src0RepeatStride} * block_bytes;
    if constexpr (checked) {
        if (repeats == 0 || kept == 0) return 0;
        check_reach((repeats - 1) * pitch + (first + (kept - 1) * step + 1) * sizeof(T), bytes_of<T>(src.GetSize()),
                    "GatherMask", "the source", where);
        check_reach(repeats * kept * sizeof(T), bytes_of<T>(dst.GetSize()), "GatherMask", "the destination", where);
    }
    for (uint64_t r = 0; r < repeats; ++r) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + r * pitch;
        const T* from = reinterpret_cast<const T*>(bytes) + first;
        T* to = dst.GetPhyAddr() + r * kept;
        if (step == 1)
            __builtin_memmove(to, from, kept * sizeof(T));
        else if (step == 2)
            copy_every<2>(kept, to, from);
        else
            copy_every<4>(kept, to, from);
    }
    return repeats * kept;
}

// The operands of GatherMask, in the checking variant. The destination follows when it is known.
template <class T>
inline void name_masked_source(const LocalTensor<T>& src, uint64_t elements, const AscendC::GatherMaskParams& params) {
    if constexpr (is_checking_variant) {
        constexpr uint32_t per_block = block_bytes / sizeof(T);
        const auto* from = reinterpret_cast<const unsigned char*>(src.GetPhyAddr());
        const uint64_t block = uint64_t{params.src0BlockStride} * block_bytes;
        const uint64_t repeat = uint64_t{params.src0RepeatStride} * block_bytes;
        const bool contiguous = params.src0BlockStride == 1;
        const uint64_t whole = contiguous ? 0 : elements / per_block, rest = elements - whole * per_block;
        add_walk(CANOPY_CHECK_READ, "the source", src, from,
                 {block_bytes, block, static_cast<uint32_t>(whole), repeat, params.repeatTimes});
        add_walk(CANOPY_CHECK_READ, "the source", src, from + whole * block,
                 {rest * sizeof(T), 0, 1, repeat, params.repeatTimes});
    }
}

// The offsets of a gather or a scatter, in the checking variant: a separate operation, since what it does depends on
// all of them.
template <class T, class U>
inline void tell_offsets(const char* name, const LocalTensor<U>& offsets, const Selection& selection, Where where) {
    if constexpr (is_checking_variant) {
        const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
        const Strided<const U> all(offsets.GetPhyAddr(), 1, selection.width * sizeof(U) / block_bytes);
        strided_operand(CANOPY_CHECK_READ, "the offsets", offsets, all).add(selection);
    }
}

// Calls body(index of the offset, element of the other operand) for each selected element.
template <class T, class Q, class Body>
inline void for_each_offset(const Selection& selection, const Strided<Q>& operand, const Body& body) {
    constexpr uint32_t width = lanes<T>;
    if (!selection.sparse && selection.lanes == width && operand.contiguous(width)) {
        const uint64_t total = selection.repeats * width + selection.tail;
        for (uint64_t i = 0; i < total; ++i) body(i, operand.address + i);
        return;
    }
    constexpr uint32_t lanes_per_bit = width > 128 ? width / 128 : 1;
    const uint64_t repeats = selection.repeats + (selection.tail != 0 ? 1 : 0);
    for (uint64_t r = 0; r < repeats; ++r) {
        const uint32_t used = selection.sparse ? width : r < selection.repeats ? selection.lanes : selection.tail;
        for (uint32_t lane = 0; lane < used; ++lane) {
            const uint32_t bit = lane / lanes_per_bit;
            if (selection.sparse && (selection.bits[bit / 64] >> bit % 64 & 1) == 0) continue;
            body(r * width + lane, operand.at(r, lane));
        }
    }
}

template <class T, class U>
inline void gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& offsets, uint32_t base,
                   const Selection& selection, uint32_t repeat_stride, Where where) {
    static_assert(has_gather<T>, "Gather: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    static_assert(is_any_of<U, uint32_t, uint16_t>, "Gather: offsets are uint32_t (on 3510 also uint16_t)");
    if (selection.empty()) return;
    const auto to = target(dst, 1, repeat_stride);
    tell_offsets<T>("Gather", offsets, selection, where);
    const Instruction instruction(PIPE_V, "Gather", where, CANOPY_CHECK_FILL);
    check_strided(dst, to, selection, "Gather", "the destination", where);
    const uint64_t last = selection.repeats * selection.width + selection.tail;
    check_vector_operand("Gather", "the offsets", offsets,
                         checked && !selection.sparse && selection.lanes == selection.width ? last * sizeof(U) : 0,
                         where);
    const auto* from = reinterpret_cast<const unsigned char*>(src.GetPhyAddr()) + base;
    const U* offset = offsets.GetPhyAddr();
    if constexpr (is_checking_variant) {
        PiecesOfOperand pieces(CANOPY_CHECK_READ, "the source", src, sizeof(T));
        for_each_offset<T>(selection, to, [&](uint64_t i, T*) { pieces.add(uint64_t{base} + offset[i]); });
    }
    for_each_offset<T>(selection, to, [&](uint64_t i, T* at) {
        check_offset("Gather", src, uint64_t{base} + offset[i], i, where);
        __builtin_memcpy(at, from + offset[i], sizeof(T));
    });
}

template <class T, class U>
inline void scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& offsets, uint32_t base,
                    const Selection& selection, uint32_t repeat_stride, Where where) {
    static_assert(has_gather<T>, "Scatter: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    static_assert(is_any_of<U, uint32_t, uint16_t>, "Scatter: offsets are uint32_t (on 3510 also uint16_t)");
    if (selection.empty()) return;
    const auto from = source(src, 1, repeat_stride);
    tell_offsets<T>("Scatter", offsets, selection, where);
    const Instruction instruction(PIPE_V, "Scatter", where, CANOPY_CHECK_FILL);
    check_strided(src, from, selection, "Scatter", "the source", where);
    auto* to = reinterpret_cast<unsigned char*>(dst.GetPhyAddr()) + base;
    const U* offset = offsets.GetPhyAddr();
    if constexpr (is_checking_variant) {
        PiecesOfOperand pieces(CANOPY_CHECK_WRITE, "the destination", dst, sizeof(T));
        for_each_offset<T>(selection, from, [&](uint64_t i, const T*) { pieces.add(uint64_t{base} + offset[i]); });
    }
    for_each_offset<T>(selection, from, [&](uint64_t i, const T* at) {
        check_offset("Scatter", dst, uint64_t{base} + offset[i], i, where);
        __builtin_memcpy(to + offset[i], at, sizeof(T));
    });
}

}  // namespace canopy::kernel

namespace AscendC {

// dst[i] is the element srcBaseAddr + srcOffset[i] bytes after the start of src.
template <typename T, typename U = uint32_t>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& srcOffset,
                   const uint32_t srcBaseAddr, const uint32_t count,
                   canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    gather(dst, src, srcOffset, srcBaseAddr, select_total(lanes<T>, count), DEFAULT_REPEAT_STRIDE, where);
}

template <typename T, typename U = uint32_t>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& srcOffset,
                   const uint32_t srcBaseAddr, const uint64_t mask, const uint8_t repeatTime,
                   const uint16_t dstRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    gather(dst, src, srcOffset, srcBaseAddr, select<true>(lanes<T>, mask, repeatTime), dstRepStride, where);
}

template <typename T, typename U = uint32_t>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& srcOffset,
                   const uint32_t srcBaseAddr, const uint64_t mask[], const uint8_t repeatTime,
                   const uint16_t dstRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    gather(dst, src, srcOffset, srcBaseAddr, select<true>(lanes<T>, mask, repeatTime), dstRepStride, where);
}

// Eight blocks of 32 bytes per repeat, each from its own byte offset.
template <typename T>
inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& offset,
                    const uint8_t repeatTime, const GatherRepeatParams& repeatParams,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(has_gather<T>, "Gatherb: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    if (repeatTime == 0) return;
    const auto to = target(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride);
    if constexpr (is_checking_variant)
        Instruction(PIPE_V, "Gatherb", where, CANOPY_CHECK_USE)
            .reads("the offsets", offset, repeatTime * 8u * sizeof(uint32_t));
    const Instruction instruction(PIPE_V, "Gatherb", where, CANOPY_CHECK_FILL);
    check_strided(dst, to, select_leading(lanes<T>, lanes<T>, repeatTime), "Gatherb", "the destination", where);
    if constexpr (is_checking_variant) {
        PiecesOfOperand pieces(CANOPY_CHECK_READ, "the source", src0, block_bytes);
        for (uint32_t i = 0; i < repeatTime * 8u; ++i) pieces.add(offset.GetPhyAddr()[i]);
    } else {
        check_vector_operand("Gatherb", "the offsets", offset, repeatTime * 8u * sizeof(uint32_t), where);
    }
    const auto* from = reinterpret_cast<const unsigned char*>(src0.GetPhyAddr());
    for (uint32_t r = 0; r < repeatTime; ++r)
        for (uint32_t block = 0; block < 8; ++block) {
            const uint64_t byte = offset.GetPhyAddr()[r * 8 + block];
            if (checked && byte % block_bytes != 0)
                fail(where, "Gatherb: offset %u, %llu bytes, is not a multiple of 32", r * 8 + block, printable(byte));
            check_reach(checked ? byte + block_bytes : 0, bytes_of<T>(src0.GetSize()), "Gatherb", "the source", where);
            __builtin_memcpy(to.at(r, block * (lanes<T> / 8)), from + byte, block_bytes);
        }
}

// The element dstBaseAddr + dstOffset[i] bytes after the start of dst becomes src[i].
template <typename T, typename U = uint32_t>
inline void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& dstOffset,
                    const uint32_t dstBaseAddr, const uint32_t count,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    scatter(dst, src, dstOffset, dstBaseAddr, select_total(lanes<T>, count), DEFAULT_REPEAT_STRIDE, where);
}

template <typename T, typename U = uint32_t>
inline void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& dstOffset,
                    const uint32_t dstBaseAddr, const uint64_t mask, const uint8_t repeatTime,
                    const uint8_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    scatter(dst, src, dstOffset, dstBaseAddr, select<true>(lanes<T>, mask, repeatTime), srcRepStride, where);
}

template <typename T, typename U = uint32_t>
inline void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& dstOffset,
                    const uint32_t dstBaseAddr, const uint64_t mask[], const uint8_t repeatTime,
                    const uint8_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    scatter(dst, src, dstOffset, dstBaseAddr, select<true>(lanes<T>, mask, repeatTime), srcRepStride, where);
}

// Keeps the elements whose bit is set in src1Pattern, lowest bit first; each repeat reads its bits src1RepeatStride
// blocks after those of the previous one. rsvdCnt receives the number of elements kept.
template <typename T, typename U, GatherMaskMode mode = GatherMaskMode::VERSION_V1>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(has_gather<T>, "GatherMask: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    static_assert(sizeof(U) == sizeof(T) || sizeof(T) == 8, "GatherMask: the pattern's type is as wide as the element");
    const auto* bits = reinterpret_cast<const unsigned char*>(src1Pattern.GetPhyAddr());
    const auto bits_of_repeat = [&](uint32_t repeat) {
        return bits + uint64_t{repeat} * gatherMaskParams.src1RepeatStride * block_bytes;
    };
    const Instruction instruction(PIPE_V, "GatherMask", where, CANOPY_CHECK_FILL);
    if constexpr (is_checking_variant) {
        const uint64_t elements = reduceMode ? mask : lanes<T>;
        name_masked_source(src0, elements, gatherMaskParams);
        instruction.reads("the pattern", src1Pattern, bits,
                          {(elements + 7) / 8, 0, 1, gatherMaskParams.src1RepeatStride * uint64_t{block_bytes},
                           gatherMaskParams.repeatTimes});
    }
    if (!checked && gatherMaskParams.src0BlockStride == 1) {
        rsvdCnt = 0;
        for (uint32_t r = 0; r < gatherMaskParams.repeatTimes; ++r)
            rsvdCnt += compress_run(
                dst.GetPhyAddr() + rsvdCnt,
                src0.GetPhyAddr() + uint64_t{r} * gatherMaskParams.src0RepeatStride * (block_bytes / sizeof(T)),
                bits_of_repeat(r), reduceMode ? mask : lanes<T>);
    } else {
        rsvdCnt = gather_kept(
            dst, src0, reduceMode, mask, gatherMaskParams,
            [&](uint32_t repeat, uint64_t group) { return uint32_t{bits_of_repeat(repeat)[group]}; }, where);
    }
    instruction.writes("the destination", dst, rsvdCnt * sizeof(T));
    core_state().gathered = rsvdCnt;
}

// Keeps the elements of a fixed pattern: 1, 2: the even, the odd elements; 3 to 6: the first to fourth of every four;
// 7: all.
template <typename T, GatherMaskMode mode = GatherMaskMode::VERSION_V1>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(has_gather<T>, "GatherMask: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    if (src1Pattern < 1 || src1Pattern > 7) fail(where, "GatherMask: pattern %u is not between 1 and 7", src1Pattern);
    const Instruction instruction(PIPE_V, "GatherMask", where, CANOPY_CHECK_FILL);
    name_masked_source(src0, reduceMode ? mask : lanes<T>, gatherMaskParams);
    if (gatherMaskParams.src0BlockStride == 1)
        rsvdCnt = gather_pattern(dst, src0, reduceMode ? mask : lanes<T>, src1Pattern, gatherMaskParams, where);
    else
        rsvdCnt = gather_kept(
            dst, src0, reduceMode, mask, gatherMaskParams,
            [&](uint32_t, uint64_t) { return kept_of_eight(src1Pattern); }, where);
    instruction.writes("the destination", dst, rsvdCnt * sizeof(T));
    core_state().gathered = rsvdCnt;
}

// How many elements the last GatherMask kept.
inline int64_t GetGatherMaskRemainCount() { return static_cast<int64_t>(canopy::kernel::core_state().gathered); }

}  // namespace AscendC

#endif
