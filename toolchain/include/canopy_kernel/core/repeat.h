// SPDX-License-Identifier: Apache-2.0
// How a vector operation walks over its operands: repeats of 256 bytes, made of blocks of 32 bytes, with strides
// between blocks and between repeats, cut into runs that are contiguous in every operand.
//
// An operation names its operands and gives the code for one run:
//
//     const Selection chosen = select<isSetMask>(lanes<D, S>, mask, repeatTime);
//     for_each_run(chosen, [](uint64_t count, D* d, const S* s) { ... },
//                  Strided<D>(dst, blocks, repeats), Strided<const S>(src, blocks, repeats));
//
// Runs come in ascending order, one repeat after the other. If everything is contiguous, there is one run. The loop
// over a run is for_each_lane. Types that share a byte arrive as `Packed` instead of a pointer.
//
// An operation that writes each selected element of its first operand uses write_runs instead: for a mask with gaps,
// the body gets whole blocks and a place for the results, and only the selected ones are stored.
#ifndef CANOPY_KERNEL_REPEAT_H
#define CANOPY_KERNEL_REPEAT_H

#include "canopy_kernel/core/lanes.h"
#include "canopy_kernel/core/mask.h"
#include "canopy_kernel/core/tensor.h"
#include "canopy_kernel/target/trace.h"

namespace AscendC {

// Strides count blocks of 32 bytes from start to start.
struct UnaryRepeatParams {
    UnaryRepeatParams() = default;
    UnaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t srcBlkStrideIn, const uint16_t dstRepStrideIn,
                      const uint16_t srcRepStrideIn)
        : dstBlkStride(dstBlkStrideIn),
          srcBlkStride(srcBlkStrideIn),
          dstRepStride(dstRepStrideIn),
          srcRepStride(srcRepStrideIn) {}
    UnaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t srcBlkStrideIn, const uint16_t dstRepStrideIn,
                      const uint16_t srcRepStrideIn, const bool halfBlockIn)
        : UnaryRepeatParams(dstBlkStrideIn, srcBlkStrideIn, dstRepStrideIn, srcRepStrideIn) {
        halfBlock = halfBlockIn;
    }

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct BinaryRepeatParams {
    BinaryRepeatParams() = default;
    BinaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t src0BlkStrideIn, const uint16_t src1BlkStrideIn,
                       const uint16_t dstRepStrideIn, const uint16_t src0RepStrideIn, const uint16_t src1RepStrideIn)
        : dstBlkStride(dstBlkStrideIn),
          src0BlkStride(src0BlkStrideIn),
          src1BlkStride(src1BlkStrideIn),
          dstRepStride(dstRepStrideIn),
          src0RepStride(src0RepStrideIn),
          src1RepStride(src1RepStrideIn) {}

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint16_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::BinaryRepeatParams;
using AscendC::UnaryRepeatParams;

template <class T>
constexpr uint32_t lanes_of() {
    return static_cast<uint32_t>(elements_in<T>(repeat_bytes));
}

// Lanes per repeat of an operation on these types; the widest type decides.
template <class T, class... Rest>
constexpr uint32_t narrowest_lanes() {
    if constexpr (sizeof...(Rest) == 0)
        return lanes_of<T>();
    else
        return smaller(lanes_of<T>(), narrowest_lanes<Rest...>());
}
template <class... T>
inline constexpr uint32_t lanes = narrowest_lanes<T...>();

// Elements smaller than a byte: element i of a run is element `first + i` after `address`.
template <class T>
struct Packed {
    T* address;
    uint32_t first;

    uint32_t get(uint64_t i) const {
        const uint64_t at = first + i;
        return (address[at / 2].storage >> (at % 2 * 4)) & 15u;
    }
    void set(uint64_t i, uint32_t nibble) const {
        const uint64_t at = first + i;
        const uint32_t shift = at % 2 * 4;
        auto& byte = address[at / 2].storage;
        byte = static_cast<uint8_t>((byte & ~(15u << shift)) | ((nibble & 15u) << shift));
    }
};

template <class T>
using Run = choose<packing<plain<T>> == 1, T*, Packed<T>>;

template <class T>
constexpr Run<T> run_at(T* address, uint64_t element) {
    if constexpr (packing<plain<T>> == 1)
        return address + element;
    else
        return {address + element / packing<plain<T>>, static_cast<uint32_t>(element % packing<plain<T>>)};
}

// One operand: its start, and the distances in bytes between its blocks and between its repeats.
template <class T>
struct Strided {
    using Element = plain<T>;
    static constexpr uint32_t per_block = static_cast<uint32_t>(elements_in<Element>(block_bytes));
    static constexpr uint32_t most_lanes = lanes_of<Element>();

    T* address;
    uint64_t block;
    uint64_t repeat;

    Strided(const LocalTensor<Element>& tensor, uint32_t block_stride, uint32_t repeat_stride)
        : address(tensor.GetPhyAddr()),
          block(uint64_t{block_bytes} * block_stride),
          repeat(uint64_t{block_bytes} * repeat_stride) {}
    Strided(T* at, uint32_t block_stride, uint32_t repeat_stride)
        : address(at), block(uint64_t{block_bytes} * block_stride), repeat(uint64_t{block_bytes} * repeat_stride) {}

    Run<T> at(uint64_t repeat_index, uint32_t lane) const {
        const uint64_t byte = repeat_index * repeat + lane / per_block * block;
        auto* moved = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address) + byte);
        return run_at(moved, lane % per_block);
    }
    bool contiguous_in_repeat() const { return block == block_bytes; }
    bool contiguous(uint32_t width) const { return contiguous_in_repeat() && repeat == bytes_of<Element>(width); }
};

// A destination: its blocks never overlap, so a stride of 0 means 1.
template <class T>
inline Strided<T> target(const LocalTensor<T>& tensor, uint32_t block_stride, uint32_t repeat_stride) {
    return {tensor, block_stride == 0 ? 1 : block_stride, repeat_stride};
}
// A source: with a block stride of 0, all blocks of a repeat are the same one.
template <class T>
inline Strided<const T> source(const LocalTensor<T>& tensor, uint32_t block_stride, uint32_t repeat_stride) {
    return {tensor, block_stride, repeat_stride};
}

// Passed as an operand if a run needs its position: the number of its first lane, counted from the start of the first
// repeat.
struct LaneIndex {
    static constexpr uint32_t most_lanes = ~0u;
    uint32_t width;

    uint64_t at(uint64_t repeat_index, uint32_t lane) const { return repeat_index * width + lane; }
    bool contiguous_in_repeat() const { return true; }
    bool contiguous(uint32_t) const { return true; }
};

// Lanes up to the last selected one of a repeat.
inline uint32_t used_lanes(const Selection& selection) {
    if (!selection.sparse) return selection.lanes;
    const uint32_t lanes_per_bit = selection.width > 128 ? selection.width / 128 : 1;
    const uint32_t top = selection.bits[1] != 0 ? 128u - static_cast<uint32_t>(__builtin_clzll(selection.bits[1]))
                                                : 64u - static_cast<uint32_t>(__builtin_clzll(selection.bits[0]));
    return top * lanes_per_bit;
}

template <uint32_t first, uint32_t... rest>
constexpr uint32_t smallest_of() {
    uint32_t least = first;
    ((least = rest < least ? rest : least), ...);
    return least;
}
template <uint32_t... values>
inline constexpr uint32_t smallest = smallest_of<values...>();

template <class Body, class... Operands>
__attribute__((noinline)) void for_each_sparse_run(const Selection& selection, const Body& body,
                                                   const Operands&... operands) {
    const uint32_t lanes_per_bit = selection.width > 128 ? selection.width / 128 : 1;
    const uint32_t width = selection.width / lanes_per_bit;
    const uint32_t block = width / 8;
    for (uint64_t r = 0; r < selection.repeats; ++r)
        for (uint32_t first = 0; first < width; first += block) {
            uint64_t bits = (selection.bits[first / 64] >> first % 64) & leading_ones(block);
            while (bits != 0) {
                const auto start = static_cast<uint32_t>(__builtin_ctzll(bits));
                const auto count = static_cast<uint32_t>(__builtin_ctzll(~(bits >> start)));
                bits &= ~(leading_ones(count) << start);
                body(uint64_t{count} * lanes_per_bit, operands.at(r, (first + start) * lanes_per_bit)...);
            }
        }
}

// The walk without gaps in the mask. Whole blocks get a separate call, in which the length is a constant.
template <class Body, class... Operands>
inline void for_each_leading_run(const Selection& selection, const Body& body, const Operands&... operands) {
    constexpr uint32_t width = smallest<Operands::most_lanes...>;
    constexpr uint32_t block = width / 8;
    uint64_t repeats = selection.repeats + (selection.tail != 0 ? 1 : 0);
    uint64_t last = selection.tail != 0 ? selection.tail : selection.lanes;
    const bool contiguous_in_repeat = (operands.contiguous_in_repeat() && ...);
    if (selection.lanes == width && repeats > 1 && (operands.contiguous(width) && ...)) {
        last += (repeats - 1) * width;
        repeats = 1;
    }
    for (uint64_t r = 0; r < repeats; ++r) {
        const uint64_t length = r + 1 == repeats ? last : selection.lanes;
        uint32_t first = 0;
        if (!contiguous_in_repeat)
            for (; first + block <= length; first += block) body(uint64_t{block}, operands.at(r, first)...);
        if (first < length) body(length - first, operands.at(r, first)...);
    }
}

// Calls body(count, run of each operand...) until every selected element has been visited once.
template <class Body, class... Operands>
inline void for_each_run(const Selection& selection, const Body& body, const Operands&... operands) {
    if (__builtin_expect(selection.sparse, 0)) return for_each_sparse_run(selection, body, operands...);
    for_each_leading_run(selection, body, operands...);
}

// The bits of a mask with gaps as lanes of all ones, for results of the size of `Integer`.
template <class Integer, uint32_t width>
inline void expand_bits(const Selection& selection, Integer* lanes) {
    constexpr uint32_t lanes_per_bit = width > 128 ? width / 128 : 1;
    for (uint32_t i = 0; i < width; ++i) {
        const uint32_t bit = i / lanes_per_bit;
        lanes[i] = static_cast<Integer>(0 - (selection.bits[bit / 64] >> bit % 64 & 1));
    }
}

// Blocks up to the last one that has a selected lane, of each repeat.
template <class Body, class D, class... Operands>
__attribute__((noinline)) void write_sparse_runs(const Selection& selection, const Body& body, const Strided<D>& to,
                                                 const Operands&... operands) {
    using Integer = unsigned_like<sizeof(D)>;
    constexpr uint32_t width = smallest<Strided<D>::most_lanes, Operands::most_lanes...>;
    constexpr uint32_t block = width / 8;
    Integer chosen[width], kept[width];
    D result[width];
    expand_bits<Integer, width>(selection, chosen);
    const uint32_t used = static_cast<uint32_t>(round_up(used_lanes(selection), block));
    const bool whole = to.contiguous_in_repeat() && (operands.contiguous_in_repeat() && ...);
    const auto write = [&](uint64_t repeat, uint32_t first, uint32_t count) CANOPY_ALWAYS {
        D* d = to.at(repeat, first);
        body(uint64_t{count}, &result[0], operands.at(repeat, first)...);
        __builtin_memcpy(kept, d, count * sizeof(D));
        for_each_lane<false>(count, [&](uint64_t i) CANOPY_ALWAYS {
            const auto made = __builtin_bit_cast(Integer, result[i]);
            kept[i] = static_cast<Integer>((made & chosen[first + i]) | (kept[i] & ~chosen[first + i]));
        });
        __builtin_memcpy(d, kept, count * sizeof(D));
    };
    for (uint64_t r = 0; r < selection.repeats; ++r) {
        if (whole)
            write(r, 0, used);
        else
            for (uint32_t first = 0; first < used; first += block) write(r, first, block);
    }
}

// Like for_each_run, for a body that writes every element of the run of its first operand.
template <class Body, class D, class... Operands>
inline void write_runs(const Selection& selection, const Body& body, const Strided<D>& to,
                       const Operands&... operands) {
    if constexpr (!is_tracing_variant && packing<plain<D>> == 1) {
        if (__builtin_expect(selection.sparse, 0)) return write_sparse_runs(selection, body, to, operands...);
        for_each_leading_run(selection, body, to, operands...);
    } else {
        for_each_run(selection, body, to, operands...);
    }
}

// Bytes from the start of an operand to the end of the last element accessed.
inline uint64_t reach(const Selection& selection, uint64_t block, uint64_t repeat, uint32_t per_block,
                      uint64_t element_bits) {
    const auto end_in_repeat = [&](uint32_t count) {
        const uint64_t whole = count / per_block, rest = count % per_block;
        const uint64_t partial = rest == 0 ? 0 : whole * block + (rest * element_bits + 7) / 8;
        const uint64_t full = whole == 0 ? 0 : (whole - 1) * block + block_bytes;
        return partial > full ? partial : full;
    };
    const uint32_t used = used_lanes(selection);
    uint64_t end = selection.repeats == 0 ? 0 : (selection.repeats - 1) * repeat + end_in_repeat(used);
    if (selection.tail != 0) {
        const uint64_t tail_end = selection.repeats * repeat + end_in_repeat(selection.tail);
        if (tail_end > end) end = tail_end;
    }
    return end;
}

// Every operand of a vector operation must be in the unified buffer, at a multiple of 32 bytes.
template <class T>
inline void check_place(const LocalTensor<T>& tensor, const char* operation, const char* operand, Where where) {
    if (tensor.GetPhyAddr() == nullptr)
        refuse("memory.limit", where, "%s: %s is a tensor without memory", operation, operand);
    if (memory_of(tensor.position()) != Hardware::UB)
        refuse("memory.limit", where, "%s: %s is at position %s; it must be in UB", operation, operand,
               name_of(tensor.position()));
    if (reinterpret_cast<uintptr_t>(tensor.GetPhyAddr()) % block_bytes != 0)
        refuse("memory.align", where, "%s: %s does not start at a multiple of 32 bytes", operation, operand);
}

inline void check_reach(uint64_t bytes, uint64_t have, const char* operation, const char* operand, Where where) {
    if (bytes > have)
        fail(where, "%s: %s is used up to byte %llu, its tensor has %llu", operation, operand,
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(have));
}

// In checked builds: the operand contains `count` elements. In the checking variant: it is one of the open instruction,
// written if its name says so (access_kind); `kind` is for those whose names do not.
template <class T>
inline void check_count(const LocalTensor<T>& tensor, int64_t count, const char* operation, const char* operand,
                        Where where, uint8_t kind = 0) {
    if constexpr (tests_parameters) {
        if (count < 0)
            return refuse("memory.limit", where, "%s: the count is negative (%lld)", operation,
                          static_cast<long long>(count));
        check_place(tensor, operation, operand, where);
        if constexpr (is_checking_variant)
            add_operand(kind == 0 ? access_kind(operand) : kind, operand, tensor,
                        bytes_of<T>(static_cast<uint64_t>(count)));
        else
            check_reach(bytes_of<T>(static_cast<uint64_t>(count)), bytes_of<T>(tensor.GetSize()), operation, operand,
                        where);
    }
}

// What an operand touches with these distances between blocks and repeats, in the checking variant.
struct StridedOperand {
    uint8_t kind;
    const char* name;
    OperandPlace place;
    const unsigned char* address;
    uint64_t block, repeat;
    uint32_t per_block, element_bits;

    uint64_t bytes(uint64_t count) const { return (count * element_bits + 7) / 8; }
    // The first `count` lanes of each of `repeats` repeats.
    void add_leading(uint64_t first, uint32_t repeats, uint32_t count) const {
        const unsigned char* at = address + first * repeat;
        const uint32_t whole = block == block_bytes ? 0 : count / per_block, rest = count - whole * per_block;
        add_access(kind, name, place, at, {block_bytes, block, whole, repeat, repeats});
        add_access(kind, name, place, at + whole * block, {bytes(rest), 0, 1, repeat, repeats});
    }
    void add(const Selection& selection) const {
        const auto repeats = static_cast<uint32_t>(selection.repeats);
        if (selection.sparse) {
            const bool contiguous = block == block_bytes;
            const Walk walk{contiguous ? bytes(selection.width) : block_bytes, block,
                            contiguous ? 1 : selection.width / per_block, repeat, repeats};
            if (element_bits < 8)
                add_access(kind, name, place, address, walk);
            else
                add_selected(kind, name, place, address, walk, selection.bits,
                             selection.width > 128 ? selection.width / 128 : 1);
        } else if (block == block_bytes && repeat == bytes(selection.width) && selection.lanes == selection.width) {
            add_access(kind, name, place, address, {bytes(selection.repeats * selection.width + selection.tail)});
        } else {
            add_leading(0, repeats, selection.lanes);
            if (selection.tail != 0) add_leading(repeats, 1, selection.tail);
        }
    }
};

template <class T, class Q>
inline StridedOperand strided_operand(uint8_t kind, const char* name, const LocalTensor<T>& tensor,
                                      const Strided<Q>& operand) {
    return {
        kind,          name,           place_of(tensor),      reinterpret_cast<const unsigned char*>(operand.address),
        operand.block, operand.repeat, Strided<Q>::per_block, sizeof(T) * 8 / packing<T>};
}

// In checked builds: the operand contains everything the selection accesses with these strides. In the checking
// variant: as check_count.
template <class T, class Q>
inline void check_strided(const LocalTensor<T>& tensor, const Strided<Q>& operand, const Selection& selection,
                          const char* operation, const char* name, Where where, uint8_t kind = 0) {
    if constexpr (tests_parameters) {
        if (selection.empty()) return;
        check_place(tensor, operation, name, where);
        if constexpr (is_checking_variant)
            strided_operand(kind == 0 ? access_kind(name) : kind, name, tensor, operand).add(selection);
        else
            check_reach(
                reach(selection, operand.block, operand.repeat, Strided<Q>::per_block, sizeof(T) * 8 / packing<T>),
                bytes_of<T>(tensor.GetSize()), operation, name, where);
    }
}

}  // namespace canopy::kernel

#endif
