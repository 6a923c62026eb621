// SPDX-License-Identifier: Apache-2.0
// Sorting records by a score, largest first: Sort32 and MrgSort on pairs of 8 bytes (score, index), the older RpSort16
// and MrgSort4 on proposals of eight fields with the score in the fifth. Records with equal scores keep their order;
// NaN is larger than every number.
#ifndef CANOPY_KERNEL_MERGE_SORT_H
#define CANOPY_KERNEL_MERGE_SORT_H

#include "canopy_kernel/core/check.h"

namespace AscendC {

template <typename T>
struct MrgSortSrcList {
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T>& src1In, const LocalTensor<T>& src2In, const LocalTensor<T>& src3In,
                   const LocalTensor<T>& src4In)
        : src1(src1In), src2(src2In), src3(src3In), src4(src4In) {}

    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

struct MrgSort4Info {
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t elementLengthsIn[4], const bool ifExhaustedSuspensionIn, const uint16_t validBitIn,
                 const uint16_t repeatTimesIn)
        : ifExhaustedSuspension(ifExhaustedSuspensionIn), validBit(validBitIn), repeatTimes(repeatTimesIn) {
        for (int i = 0; i < 4; ++i) elementLengths[i] = elementLengthsIn[i];
    }

    uint16_t elementLengths[4] = {};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::MrgSort4Info;
using AscendC::MrgSortSrcList;

inline constexpr uint32_t pair_bytes = 8;

// Maps scores to integers with the same order.
template <class T>
inline int32_t score_key(T score) {
    const float value = static_cast<float>(score);
    if (value != value) return 0x7fffffff;
    int32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (value == 0) bits = 0;
    return bits >= 0 ? bits : static_cast<int32_t>(static_cast<uint32_t>(bits) ^ 0x7fffffffu);
}

// The layout of records in memory.
template <class T>
struct PairRecord {
    static constexpr uint32_t bytes = pair_bytes;
    static constexpr uint32_t score = 0;
};
template <class T>
struct ProposalRecord {
    static constexpr uint32_t bytes = 8 * sizeof(T);
    static constexpr uint32_t score = 4 * sizeof(T);
};

template <class Record, class T>
inline int32_t key_at(const unsigned char* record) {
    T score;
    __builtin_memcpy(&score, record + Record::score, sizeof score);
    return score_key(score);
}

// The rank of each of `count` keys in descending order; equal keys keep their order.
template <uint32_t count>
inline void rank_keys(const int32_t* keys, uint8_t* rank) {
    using Lanes = lane_vector<int32_t, 8>;
    const Lanes number = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma clang loop unroll(full)
    for (uint32_t first = 0; first < count; first += 8) {
        const Lanes own = load_lanes<8>(keys + first);
        Lanes ahead = static_cast<int32_t>(first);  // comparisons give -1 or 0
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < count; ++j) {
            const Lanes other = keys[j];
            if (j < first)
                ahead += own > other;  // those before, unless they are smaller
            else if (j >= first + 8)
                ahead -= other > own;
            else
                ahead -= (other > own) | ((other == own) & (number > static_cast<int32_t>(j - first)));
        }
        store_lanes(rank + first, __builtin_convertvector(ahead, lane_vector<uint8_t, 8>));
    }
}

struct MergeQueue {
    const unsigned char* at;
    uint32_t left;
    int32_t key;
};

// Merges queues of records until all of them, or any one, are empty. `taken` counts the records taken from each queue.
template <class Record, class T>
inline uint64_t merge_queues(unsigned char* to, MergeQueue (&queues)[4], bool stop_when_one_is_empty,
                             uint32_t (&taken)[4]) {
    uint64_t written = 0;
    for (auto& queue : queues)
        if (queue.left != 0) queue.key = key_at<Record, T>(queue.at);
    for (;;) {
        int best = -1;
        for (int i = 0; i < 4; ++i)
            if (queues[i].left != 0 && (best < 0 || queues[i].key > queues[best].key)) best = i;
        if (best < 0) return written;
        MergeQueue& queue = queues[best];
        __builtin_memcpy(to + written++ * Record::bytes, queue.at, Record::bytes);
        ++taken[best];
        queue.at += Record::bytes;
        if (--queue.left != 0)
            queue.key = key_at<Record, T>(queue.at);
        else if (stop_when_one_is_empty)
            return written;
    }
}

template <template <class> class Record, class T>
inline void merge_sort(const char* name, const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                       const MrgSort4Info& info, Where where) {
    static_assert(is_any_of<T, half, float>, "MrgSort: scores are half or float");
    const LocalTensor<T>* tensors[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
    if (info.validBit != 3 && info.validBit != 7 && info.validBit != 15)
        fail(where, "%s: validBit is %u; two, three or four queues are 3, 7 or 15", name, info.validBit);
    uint64_t total = 0;
    for (int i = 0; i < 4; ++i) total += (info.validBit >> i & 1) != 0 ? info.elementLengths[i] : 0;
    for (int i = 0; i < 4; ++i) check_limit(name, "elementLengths", info.elementLengths[i], 0, 4095, where);
    if (info.repeatTimes > 1 && (info.validBit != 15 || info.ifExhaustedSuspension))
        fail(where, "%s: repeats need four queues that are merged to the end", name);
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_FILL);
    if constexpr (!is_checking_variant)
        check_vector_operand(name, "the destination", dst, total * Record<T>::bytes * info.repeatTimes, where);
    auto& state = core_state();
    auto* to = reinterpret_cast<unsigned char*>(dst.GetPhyAddr());
    for (uint32_t r = 0; r < info.repeatTimes; ++r) {
        MergeQueue queues[4] = {};
        uint32_t taken[4] = {};
        for (int i = 0; i < 4; ++i) {
            if ((info.validBit >> i & 1) == 0) continue;
            const uint64_t skipped = r * total * Record<T>::bytes;
            const uint64_t bytes = uint64_t{info.elementLengths[i]} * Record<T>::bytes;
            if constexpr (!is_checking_variant)
                check_vector_operand(name, "a source", *tensors[i], skipped + bytes, where);
            queues[i].at = reinterpret_cast<const unsigned char*>(tensors[i]->GetPhyAddr()) + skipped;
            instruction.reads("a source", *tensors[i], queues[i].at, {bytes});
            queues[i].left = info.elementLengths[i];
        }
        to += merge_queues<Record<T>, T>(to, queues, info.ifExhaustedSuspension, taken) * Record<T>::bytes;
        for (int i = 0; i < 4; ++i) state.merged[i] = static_cast<uint16_t>(taken[i]);
    }
    instruction.writes("the destination", dst,
                       static_cast<uint64_t>(to - reinterpret_cast<unsigned char*>(dst.GetPhyAddr())));
}

}  // namespace canopy::kernel

namespace AscendC {

// 32 scores and their indices per repeat; the destination holds pairs of 8 bytes, the score in the lower bytes.
template <typename T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
                   const int32_t repeatTime, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_any_of<T, half, float>, "Sort32: scores are half or float");
    if (repeatTime <= 0) return;
    check_limit("Sort32", "repeatTime", repeatTime, 0, 255, where);
    const auto repeats = static_cast<uint64_t>(repeatTime);
    const Instruction instruction(PIPE_V, "Sort32", where, CANOPY_CHECK_FILL);
    check_vector_operand("Sort32", "the destination", dst, repeats * 32 * pair_bytes, where);
    check_vector_operand("Sort32", "the scores", src0, repeats * 32 * sizeof(T), where);
    check_vector_operand("Sort32", "the indices", src1, repeats * 32 * sizeof(uint32_t), where);
    for (uint64_t r = 0; r < repeats; ++r) {
        const T* scores = src0.GetPhyAddr() + r * 32;
        const uint32_t* indices = src1.GetPhyAddr() + r * 32;
        int32_t keys[32];
        uint8_t rank[32];
        uint64_t sorted[32];
        for (uint32_t i = 0; i < 32; ++i) keys[i] = score_key(scores[i]);
        rank_keys<32>(keys, rank);
        for (uint32_t i = 0; i < 32; ++i) {
            uint64_t pair = 0;
            __builtin_memcpy(&pair, scores + i, sizeof(T));
            sorted[rank[i]] = pair | uint64_t{indices[i]} << 32;
        }
        __builtin_memcpy(reinterpret_cast<unsigned char*>(dst.GetPhyAddr()) + r * sizeof sorted, sorted, sizeof sorted);
    }
}

// Merges two to four sorted queues of pairs.
template <typename T>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::merge_sort<canopy::kernel::PairRecord>("MrgSort", dst, src, params, where);
}

// The same, and returns the number of merged elements of each queue.
template <typename T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
                    uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    const MrgSort4Info info(elementCountList, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeatTime));
    canopy::kernel::merge_sort<canopy::kernel::PairRecord>("MrgSort", dst, sortList, info, where);
    for (int i = 0; i < 4; ++i) sortedNum[i] = canopy::kernel::core_state().merged[i];
}

// How many elements the last MrgSort or MrgSort4 took from each queue.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3,
                             uint16_t& mrgSortList4) {
    const auto& merged = canopy::kernel::core_state().merged;
    mrgSortList1 = merged[0];
    mrgSortList2 = merged[1];
    mrgSortList3 = merged[2];
    mrgSortList4 = merged[3];
}

// Merges two to four sorted queues of proposals.
template <typename T>
inline void MrgSort4(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::merge_sort<canopy::kernel::ProposalRecord>("MrgSort4", dst, src, params, where);
}

// 16 proposals per repeat.
template <typename T>
inline void RpSort16(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_any_of<T, half, float>, "RpSort16: proposals are made of half or float");
    using Record = ProposalRecord<T>;
    if (repeatTime <= 0) return;
    const auto repeats = static_cast<uint64_t>(repeatTime);
    const Instruction instruction(PIPE_V, "RpSort16", where, CANOPY_CHECK_FILL);
    check_vector_operand("RpSort16", "the destination", dst, repeats * 16 * Record::bytes, where);
    check_vector_operand("RpSort16", "the source", src, repeats * 16 * Record::bytes, where);
    for (uint64_t r = 0; r < repeats; ++r) {
        unsigned char records[16 * Record::bytes];
        __builtin_memcpy(records, src.GetPhyAddr() + r * 128, sizeof records);
        int32_t keys[16];
        uint8_t rank[16];
        for (uint32_t i = 0; i < 16; ++i) keys[i] = key_at<Record, T>(records + i * Record::bytes);
        rank_keys<16>(keys, rank);
        for (uint32_t i = 0; i < 16; ++i)
            __builtin_memcpy(dst.GetPhyAddr() + r * 128 + rank[i] * 8u, records + i * Record::bytes, Record::bytes);
    }
}

// 16 elements per repeat become field `modeNumber` of 16 proposals.
template <typename T>
inline void ProposalConcat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const int32_t modeNumber, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_any_of<T, half, float>, "ProposalConcat: proposals are made of half or float");
    if (modeNumber < 0 || modeNumber > 5) fail(where, "ProposalConcat: field %d is not between 0 and 5", modeNumber);
    const int64_t count = int64_t{repeatTime} * 16;
    const Instruction instruction(PIPE_V, "ProposalConcat", where, CANOPY_CHECK_FILL);
    if constexpr (is_checking_variant)
        instruction.writes("the destination", dst, dst.GetPhyAddr() + modeNumber,
                           {sizeof(T), 8 * sizeof(T), static_cast<uint32_t>(count)});
    else
        check_count(dst, count * 8, "ProposalConcat", "the destination", where);
    check_count(src, count, "ProposalConcat", "the source", where);
    for (int64_t i = 0; i < count; ++i) dst.GetPhyAddr()[i * 8 + modeNumber] = src.GetPhyAddr()[i];
}

// The inverse.
template <typename T>
inline void ProposalExtract(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t modeNumber, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(is_any_of<T, half, float>, "ProposalExtract: proposals are made of half or float");
    if (modeNumber < 0 || modeNumber > 5) fail(where, "ProposalExtract: field %d is not between 0 and 5", modeNumber);
    const int64_t count = int64_t{repeatTime} * 16;
    const Instruction instruction(PIPE_V, "ProposalExtract", where, CANOPY_CHECK_FILL);
    check_count(dst, count, "ProposalExtract", "the destination", where);
    if constexpr (is_checking_variant)
        instruction.reads("the source", src, src.GetPhyAddr() + modeNumber,
                          {sizeof(T), 8 * sizeof(T), static_cast<uint32_t>(count)});
    else
        check_count(src, count * 8, "ProposalExtract", "the source", where);
    for (int64_t i = 0; i < count; ++i) dst.GetPhyAddr()[i] = src.GetPhyAddr()[i * 8 + modeNumber];
}

}  // namespace AscendC

#endif
