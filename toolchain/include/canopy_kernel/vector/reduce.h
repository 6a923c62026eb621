// SPDX-License-Identifier: Apache-2.0
// Sums and extremes: of a whole tensor, of each repeat, of each block of 32 bytes and of neighbours. A sum uses 64
// partial sums that are folded in halves; of equal extremes the one with the smallest index wins.
#ifndef CANOPY_KERNEL_REDUCE_H
#define CANOPY_KERNEL_REDUCE_H

#include "canopy_kernel/copy/inlet.h"
#include "canopy_kernel/core/check.h"
#include "canopy_kernel/vector/fold.h"

namespace AscendC {

// The results of WholeReduceMax and related functions: value and index in either order, or one of them.
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::ReduceOrder;
using AscendC::ReduceType;

template <class T>
inline constexpr bool is_reducible = is_any_of<T, half, float> ||
                                     (__NPU_ARCH__ != 2201 && is_any_of<T, int16_t, int32_t>) ||
                                     (__NPU_ARCH__ >= 3003 &&
                                      is_any_of<T, int8_t, uint8_t, uint16_t, uint32_t, int64_t, uint64_t, bfloat16_t>);

// The type of a sum: float for narrow floats, modular arithmetic for integers.
template <class T>
using Sum = choose<is_any_of<T, half, bfloat16_t>, float,
                   choose<is_floating<T>, T,
                          choose<sizeof(T) == 8, uint64_t,
                                 choose<sizeof(T) == 4, uint32_t, choose<sizeof(T) == 2, uint16_t, uint8_t>>>>>;

// An unsigned integer of an element's size, used to store an index next to a value.
template <class T>
using Bits = unsigned_like<sizeof(T)>;

template <class T>
constexpr T lowest_of() {
    if constexpr (is_same<T, half>)
        return static_cast<T>(-65504.0f);
    else if constexpr (is_any_of<T, float, bfloat16_t>)
        return static_cast<T>(-__FLT_MAX__);
    else if constexpr (static_cast<T>(-1) > static_cast<T>(0))
        return 0;
    else
        return static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1));
}
template <class T>
constexpr T highest_of() {
    if constexpr (is_same<T, half>)
        return static_cast<T>(65504.0f);
    else if constexpr (is_any_of<T, float, bfloat16_t>)
        return static_cast<T>(__FLT_MAX__);
    else
        return static_cast<T>(~lowest_of<T>());
}

inline constexpr uint32_t partial_results = 64;

// Sums the lanes by folding one half onto the other.
template <uint32_t count, class S, class V>
inline S fold_sum(const V& lanes) {
    if constexpr (count == 2)
        return static_cast<S>(lanes.x + lanes.y);
    else
        return fold_sum<count / 2, S>(lane_vector<S, count / 2>(lanes.lo + lanes.hi));
}

template <uint32_t count, class T>
inline void widen(const T* from, lane_vector<Sum<T>, count>& to) {
    if constexpr (is_same<T, bfloat16_t>) {
        for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    } else {
        lane_vector<choose<is_same<T, half>, half, Sum<T>>, count> loaded;
        __builtin_memcpy(&loaded, from, sizeof loaded);
        to = __builtin_convertvector(loaded, lane_vector<Sum<T>, count>);
    }
}

template <class T>
inline Sum<T> sum_run(const T* from, uint64_t count) {
    ask_ahead(bytes_of<T>(count));
    if (count < partial_results) {
        Sum<T> sum{};
        for (uint64_t i = 0; i < count; ++i) sum = static_cast<Sum<T>>(sum + static_cast<Sum<T>>(from[i]));
        return sum;
    }
    lane_vector<Sum<T>, partial_results> partial, more;
    widen<partial_results>(from, partial);
    uint64_t i = partial_results;
    for (; i + partial_results <= count; i += partial_results) {
        widen<partial_results>(from + i, more);
        partial += more;
    }
    Sum<T> sum = fold_sum<partial_results, Sum<T>>(partial);
    for (; i < count; ++i) sum = static_cast<Sum<T>>(sum + static_cast<Sum<T>>(from[i]));
    return sum;
}

template <bool largest, class T>
constexpr bool beats(T challenger, T champion) {
    return largest ? challenger > champion : challenger < champion;
}

template <class T>
inline constexpr bool compares_as_float = is_any_of<T, half, bfloat16_t>;
template <class T>
using Comparable = choose<compares_as_float<T>, float, T>;

template <bool largest, uint32_t count, class C, class V>
inline C best_lane(const V& lanes) {
    if constexpr (count == 1) {
        return lanes;
    } else if constexpr (count == 2) {
        return beats<largest>(static_cast<C>(lanes.y), static_cast<C>(lanes.x)) ? lanes.y : lanes.x;
    } else {
        lane_vector<C, count / 2> half = lanes.lo;
        keep_better<largest>(half, lane_vector<C, count / 2>(lanes.hi));
        return best_lane<largest, count / 2, C>(half);
    }
}

// Loads elements in the form in which they are compared.
template <uint32_t count, class T>
inline void load_comparable(const T* from, lane_vector<Comparable<T>, count>& to) {
    if constexpr (is_same<T, half>)
        widen<count>(from, to);
    else if constexpr (is_same<T, bfloat16_t>)
        for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    else
        __builtin_memcpy(&to, from, sizeof to);
}

// What loses to every number; also the extreme of a run of NaN only.
template <bool largest, class T>
constexpr Comparable<T> loser() {
    if constexpr (is_floating<T>)
        return largest ? -__builtin_inff() : __builtin_inff();
    else
        return largest ? lowest_of<T>() : highest_of<T>();
}

// The extreme of a run, without its place and its sign if it is zero.
template <bool largest, class T>
inline Comparable<T> extreme_value(const T* from, uint64_t count) {
    using C = Comparable<T>;
    constexpr uint32_t few = 8;
    C best = loser<largest, T>();
    uint64_t i = 0;
    if (count >= partial_results) {
        lane_vector<C, partial_results> champions = best, challengers;
        for (; i + partial_results <= count; i += partial_results) {
            load_comparable<partial_results>(from + i, challengers);
            keep_better<largest>(champions, challengers);
        }
        best = best_lane<largest, partial_results, C>(champions);
    }
    if (i + few <= count) {
        lane_vector<C, few> champions = best, challengers;
        for (; i + few <= count; i += few) {
            load_comparable<few>(from + i, challengers);
            keep_better<largest>(champions, challengers);
        }
        best = best_lane<largest, few, C>(champions);
    }
    for (; i < count; ++i)
        if (beats<largest>(static_cast<C>(from[i]), best)) best = static_cast<C>(from[i]);
    return best;
}

// One bit for each of 64 elements that equals `wanted`.
template <class T>
inline uint64_t equal_in_group(const T* from, Comparable<T> wanted) {
    typedef bool Flags __attribute__((ext_vector_type(8)));
    uint64_t bits = 0;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < partial_results; i += 8) {
        lane_vector<Comparable<T>, 8> lanes;
        load_comparable<8>(from + i, lanes);
        bits |= uint64_t{__builtin_bit_cast(uint8_t, __builtin_convertvector(lanes == wanted, Flags))} << i;
    }
    return bits;
}

// The first element that equals `wanted`; 0 if there is none.
template <class T>
inline uint64_t place_of(const T* from, uint64_t count, Comparable<T> wanted) {
    uint64_t i = 0;
    for (; i + partial_results <= count; i += partial_results) {
        if (i + 2 * partial_results <= count) {  // look at a whole group before looking for the place in it
            bool found = false;
            for (uint32_t j = 0; j < partial_results; ++j) found |= static_cast<Comparable<T>>(from[i + j]) == wanted;
            if (!found) continue;
        }
        const uint64_t bits = equal_in_group(from + i, wanted);
        if (bits != 0) return i + static_cast<uint64_t>(__builtin_ctzll(bits));
    }
    for (; i < count; ++i)
        if (static_cast<Comparable<T>>(from[i]) == wanted) return i;
    return 0;
}

// 64 lanes folded to eight, each of which is the best of eight.
template <bool largest, uint32_t count, class C, class V>
inline lane_vector<C, 8> best_eight(const V& lanes) {
    if constexpr (count == 8) {
        return lanes;
    } else {
        lane_vector<C, count / 2> half = lanes.lo;
        keep_better<largest>(half, lane_vector<C, count / 2>(lanes.hi));
        return best_eight<largest, count / 2, C>(half);
    }
}

// The position of the first extreme of a run. NaN loses. A long run is divided into stretches, and only the first one
// with the extreme is searched for its place.
template <bool largest, class T>
inline uint64_t extreme_in_run(const T* from, uint64_t count) {
    using C = Comparable<T>;
    constexpr uint64_t shortest = 512, most = 64;
    ask_ahead(bytes_of<T>(count));
    if (count <= shortest) return place_of(from, count, extreme_value<largest>(from, count));
    const uint64_t longer = round_up(count / most + 1, partial_results);
    const uint64_t stretch = longer > shortest ? longer : shortest;
    const uint64_t whole = count / partial_results * partial_results;
    lane_vector<C, 8> best_of[most], best_of_all = loser<largest, T>();
    for (uint64_t first = 0; first < whole; first += stretch) {
        lane_vector<C, partial_results> champions = loser<largest, T>(), challengers;
        const uint64_t end = smaller(first + stretch, whole);
        for (uint64_t i = first; i < end; i += partial_results) {
            load_comparable<partial_results>(from + i, challengers);
            keep_better<largest>(champions, challengers);
        }
        best_of[first / stretch] = best_eight<largest, partial_results, C>(champions);
        keep_better<largest>(best_of_all, best_of[first / stretch]);
    }
    C best = best_lane<largest, 8, C>(best_of_all);
    const C last = extreme_value<largest>(from + whole, count - whole);
    if (beats<largest>(last, best)) best = last;
    // A stretch of NaN only has the value of the loser, and elements with that value may come later.
    if (best == loser<largest, T>()) return place_of(from, count, best);
    for (uint64_t first = 0; first < whole; first += stretch)
        if (__builtin_reduce_or(best_of[first / stretch] == best) != 0)
            return first + place_of(from + first, smaller(stretch, whole - first), best);
    return whole + place_of(from + whole, count - whole, best);
}

template <class T>
struct Extreme {
    T value{};
    uint64_t index = 0;
    bool found = false;

    template <bool largest>
    void offer(const T* from, uint64_t count, uint64_t first_index) {
        const uint64_t at = extreme_in_run<largest>(from, count);
        if (found && !beats<largest>(static_cast<Comparable<T>>(from[at]), static_cast<Comparable<T>>(value)) &&
            value == value)
            return;
        value = from[at];
        index = first_index + at;
        found = true;
    }
};

// The selected lanes of one repeat in ascending order: body(first lane, count, address) for each contiguous piece.
template <class T, class Body>
inline void for_each_segment(const Selection& selection, uint32_t selected, const Strided<const T>& from,
                             uint64_t repeat, const Body& body) {
    constexpr uint32_t width = lanes<T>;
    if (selection.sparse) {
        constexpr uint32_t lanes_per_bit = width > 128 ? width / 128 : 1;
        for (uint32_t lane = 0; lane < width; ++lane) {
            const uint32_t bit = lane / lanes_per_bit;
            if ((selection.bits[bit / 64] >> bit % 64 & 1) != 0) body(lane, uint32_t{1}, from.at(repeat, lane));
        }
        return;
    }
    const uint32_t step = from.contiguous_in_repeat() ? width : width / 8;
    for (uint32_t lane = 0; lane < selected; lane += step)
        body(lane, smaller(step, selected - lane), from.at(repeat, lane));
}

// body(repeat, selected lanes of it) for each repeat.
template <class Body>
inline void for_each_repeat(const Selection& selection, const Body& body) {
    for (uint64_t r = 0; r < selection.repeats; ++r) body(r, selection.lanes);
    if (selection.tail != 0) body(selection.repeats, selection.tail);
}

template <class T>
inline Sum<T> sum_of_repeat(const Selection& selection, uint32_t selected, const Strided<const T>& from,
                            uint64_t repeat) {
    Sum<T> sum{};
    for_each_segment(selection, selected, from, repeat, [&](uint32_t, uint32_t count, const T* at) {
        sum = static_cast<Sum<T>>(sum + sum_run(at, count));
    });
    return sum;
}

// Whether the extreme of a run is that value to the last bit: not a zero, whose sign is that of the first one, and not
// what a run of NaN only gives.
template <bool largest, class T>
inline bool is_certain(Comparable<T> value) {
    return value != 0 && value != loser<largest, T>();
}

template <bool largest, class T>
inline Extreme<T> extreme_of_repeat(const Selection& selection, uint32_t selected, const Strided<const T>& from,
                                    uint64_t repeat) {
    Extreme<T> extreme;
    for_each_segment(selection, selected, from, repeat, [&](uint32_t lane, uint32_t count, const T* at) {
        extreme.template offer<largest>(at, count, lane);
    });
    return extreme;
}

template <class T>
inline void store_bits(T* to, uint64_t number) {
    const auto bits = static_cast<Bits<T>>(number);
    __builtin_memcpy(to, &bits, sizeof bits);
}

template <class T>
inline int64_t bits_of(T value) {
    int64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
inline void remember(const Extreme<T>& extreme) {
    auto& state = core_state();
    state.reduced_value[0] = static_cast<uint32_t>(bits_of(extreme.value));
    state.reduced_value[1] = static_cast<uint32_t>(extreme.index);
}

// The sum of everything selected.
template <class T>
inline void reduce_sum(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                       const Selection& selection, int32_t repeat_stride, Where where) {
    static_assert(is_reducible<T>, "ReduceSum: this chip sums half and float only (3510: integers too)");
    if (selection.empty()) return;
    const auto from = source(src, 1, static_cast<uint32_t>(repeat_stride));
    check_strided(src, from, selection, name, "the source", where);
    check_vector_operand(name, "the destination", dst, sizeof(T), where);
    Sum<T> sum{};
    if (!selection.sparse && selection.lanes == selection.width && from.contiguous(selection.width))
        sum = sum_run(from.address, selection.repeats * selection.width + selection.tail);
    else
        for_each_repeat(selection, [&](uint64_t r, uint32_t selected) {
            sum = static_cast<Sum<T>>(sum + sum_of_repeat(selection, selected, from, r));
        });
    const T result = static_cast<T>(sum);
    *dst.GetPhyAddr() = result;
    core_state().reduced_sum = bits_of(result);
}

// The extreme of everything selected, and its index if requested.
template <bool largest, class T>
inline void reduce_extreme(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const Selection& selection, int32_t repeat_stride, bool with_index, Where where) {
    static_assert(is_reducible<T>, "ReduceMax, ReduceMin: this chip compares half and float only (3510: integers too)");
    if (selection.empty()) return;
    const auto from = source(src, 1, static_cast<uint32_t>(repeat_stride));
    check_strided(src, from, selection, name, "the source", where);
    check_vector_operand(name, "the destination", dst, (with_index ? 2 : 1) * sizeof(T), where);
    Extreme<T> extreme;
    if (!selection.sparse && selection.lanes == selection.width && from.contiguous(selection.width))
        extreme.template offer<largest>(from.address, selection.repeats * selection.width + selection.tail, 0);
    else
        for_each_repeat(selection, [&](uint64_t r, uint32_t selected) {
            for_each_segment(selection, selected, from, r, [&](uint32_t lane, uint32_t count, const T* at) {
                extreme.template offer<largest>(at, count, r * selection.width + lane);
            });
        });
    dst.GetPhyAddr()[0] = extreme.value;
    if (with_index) store_bits(dst.GetPhyAddr() + 1, extreme.index);
    remember(extreme);
}

// The sum, or the extreme without NaN, of each of eight blocks: v[i] has eight lanes of block i.
template <ReduceType type, class V>
inline V reduce_eight(const V (&v)[8]) {
    if constexpr (type == ReduceType::SUM)
        return fold_eight(v, [](const V& a, const V& b) { return a + b; });
    else
        return fold_eight_in_order(v, better_number<type == ReduceType::MAX, V>);
}

// The sums of eight whole repeats of float or half, `step` bytes apart, each in the order of sum_run.
template <class T>
inline lane_vector<float, 8> sums_of_eight_repeats(const T* from, uint64_t step) {
    using V = lane_vector<float, 8>;
    V v[8];
    for (uint32_t i = 0; i < 8; ++i) {
        const auto* at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(from) + i * step);
        V part[8], more;
        for (uint32_t j = 0; j < 8; ++j) {
            widen<8>(at + 8 * j, part[j]);
            if constexpr (lanes<T> == 2 * partial_results) {
                widen<8>(at + partial_results + 8 * j, more);
                part[j] += more;
            }
        }
        v[i] = ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    }
    return V{} + fold_eight(v, [](const V& a, const V& b) { return a + b; });
}

// The extremes of eight whole repeats; NaN loses.
template <bool largest, class T>
inline lane_vector<float, 8> extremes_of_eight_repeats(const T* from, uint64_t step) {
    using V = lane_vector<float, 8>;
    V v[8];
    for (uint32_t i = 0; i < 8; ++i) {
        const auto* at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(from) + i * step);
        V champions[2] = {loser<largest, T>(), loser<largest, T>()};
        for (uint32_t j = 0; j < lanes<T> / 8; ++j) {
            V challengers;
            widen<8>(at + 8 * j, challengers);
            keep_better<largest>(champions[j % 2], challengers);
        }
        v[i] = better_number<largest>(champions[0], champions[1]);
    }
    return fold_eight(v, better_number<largest, V>);
}

// Whether every repeat is whole and without gaps, so that eight repeats can be reduced at once.
template <class T>
inline bool reduces_eight_repeats(const Selection& selection, const Strided<const T>& from) {
    return is_any_of<T, half, float> && !selection.sparse && selection.lanes == lanes<T> && from.contiguous_in_repeat();
}

// One sum for each repeat; the destination's stride counts elements.
template <class T>
inline void sum_repeats(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const Selection& selection, int32_t to_stride, int32_t block_stride, int32_t repeat_stride,
                        Where where) {
    static_assert(is_reducible<T>, "WholeReduceSum: this chip sums half and float only (3510: integers too)");
    const auto from = source(src, static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride));
    const uint64_t repeats = selection.repeats + (selection.tail != 0);
    if (repeats == 0) return;
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    check_strided(src, from, selection, name, "the source", where);
    check_results(name, dst, sizeof(T), static_cast<uint64_t>(to_stride) * sizeof(T), repeats, where);
    instruction.tell();
    T* to = dst.GetPhyAddr();
    const auto pitch = static_cast<uint64_t>(to_stride);
    uint64_t done = 0;
    if constexpr (is_any_of<T, half, float>)
        if (reduces_eight_repeats(selection, from))
            for (; done + 8 <= selection.repeats; done += 8) {
                const auto sums = sums_of_eight_repeats(from.at(done, 0), from.repeat);
                const auto results = __builtin_convertvector(sums, lane_vector<T, 8>);
                if (to_stride == 1)
                    store_lanes(to + done, results);
                else
                    for (uint32_t i = 0; i < 8; ++i) to[(done + i) * pitch] = results[i];
            }
    for (; done < repeats; ++done)
        to[done * pitch] = static_cast<T>(
            sum_of_repeat(selection, done < selection.repeats ? selection.lanes : selection.tail, from, done));
}

// One extreme for each repeat. The destination's stride counts pairs, or values, or 32-bit indices.
template <bool largest, class T>
inline void extremes_of_repeats(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const Selection& selection, int32_t to_stride, int32_t block_stride,
                                int32_t repeat_stride, ReduceOrder order, Where where) {
    static_assert(is_reducible<T>,
                  "WholeReduceMax, WholeReduceMin: this chip compares half and float only (3510: integers too)");
    const auto from = source(src, static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride));
    const uint64_t repeats = selection.repeats + (selection.tail != 0);
    if (repeats == 0) return;
    const uint64_t unit = order == ReduceOrder::ORDER_ONLY_VALUE   ? sizeof(T)
                          : order == ReduceOrder::ORDER_ONLY_INDEX ? sizeof(uint32_t)
                                                                   : 2 * sizeof(T);
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    check_strided(src, from, selection, name, "the source", where);
    check_results(name, dst, unit, static_cast<uint64_t>(to_stride) * unit, repeats, where);
    instruction.tell();
    auto* bytes = reinterpret_cast<unsigned char*>(dst.GetPhyAddr());
    Extreme<T> best;
    uint64_t best_repeat = 0;
    const bool plain = !selection.sparse && from.contiguous_in_repeat();
    const bool by_eight = reduces_eight_repeats(selection, from);
    float values[8];  // of the repeats from r - r % 8 on
    for_each_repeat(selection, [&](uint64_t r, uint32_t selected) {
        Extreme<T> extreme;
        if constexpr (is_any_of<T, half, float>) {
            if (by_eight && r / 8 * 8 + 8 <= selection.repeats) {
                const T* repeat = from.at(r, 0);
                if (r % 8 == 0) store_lanes(values, extremes_of_eight_repeats<largest>(repeat, from.repeat));
                const float value = values[r % 8];
                if (order == ReduceOrder::ORDER_ONLY_VALUE && is_certain<largest, T>(value)) {
                    extreme = {static_cast<T>(value), selection.width, true};
                } else {
                    const uint64_t at = place_of(repeat, lanes<T>, value);
                    extreme = {repeat[at], at, true};
                }
            }
        }
        if (!extreme.found && order == ReduceOrder::ORDER_ONLY_VALUE && plain) {
            const auto value = extreme_value<largest>(from.at(r, 0), selected);
            if (is_certain<largest, T>(value)) extreme = {static_cast<T>(value), selection.width, true};
        }
        if (!extreme.found) extreme = extreme_of_repeat<largest>(selection, selected, from, r);
        unsigned char* at = bytes + r * static_cast<uint64_t>(to_stride) * unit;
        if (order == ReduceOrder::ORDER_ONLY_INDEX) {
            const auto index = static_cast<uint32_t>(extreme.index);
            __builtin_memcpy(at, &index, sizeof index);
        } else {
            T* pair = reinterpret_cast<T*>(at);
            const int value_at = order == ReduceOrder::ORDER_INDEX_VALUE ? 1 : 0;
            pair[value_at] = extreme.value;
            if (order != ReduceOrder::ORDER_ONLY_VALUE) store_bits(pair + 1 - value_at, extreme.index);
        }
        if (!best.found ||
            beats<largest>(static_cast<Comparable<T>>(extreme.value), static_cast<Comparable<T>>(best.value))) {
            best = extreme;
            best_repeat = r;
        }
    });
    // The register has the place too, which has not been looked for if only values are stored.
    if (best.index == selection.width)
        best.index =
            place_of(from.at(best_repeat, 0), best_repeat < selection.repeats ? selection.lanes : selection.tail,
                     static_cast<Comparable<T>>(best.value));
    best.index += best_repeat * selection.width;
    remember(best);
}

// Collects the selected elements of one block; returns how many there are.
template <class T>
inline uint32_t collect_block(const Selection& selection, uint32_t selected, uint32_t block, const T* from, T* to) {
    constexpr uint32_t per_block = lanes<T> / 8;
    constexpr uint32_t lanes_per_bit = lanes < T >> 128 ? lanes<T> / 128 : 1;
    const uint32_t first = block * per_block;
    uint32_t count = 0;
    for (uint32_t i = 0; i < per_block; ++i) {
        const uint32_t bit = (first + i) / lanes_per_bit;
        const bool taken = selection.sparse ? (selection.bits[bit / 64] >> bit % 64 & 1) != 0 : first + i < selected;
        if (taken) to[count++] = from[i];
    }
    return count;
}

// Eight whole blocks of float or half, `step` bytes apart. Does nothing and returns false if extremes meet NaN.
template <ReduceType type, class T>
inline bool reduce_eight_blocks(const T* from, uint64_t step, T* to) {
    using V = lane_vector<float, 8>;
    V low[8];
    const auto at = [&](uint32_t i) {
        return reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(from) + i * step);
    };
    if constexpr (sizeof(T) == 4) {
        for (uint32_t i = 0; i < 8; ++i) low[i] = load_lanes<8>(at(i));
        if (type != ReduceType::SUM && __builtin_expect(any_nan(low), 0)) return false;
        store_lanes(to, reduce_eight<type>(low));
    } else {
        V high[8];
        for (uint32_t i = 0; i < 8; ++i) {
            low[i] = __builtin_convertvector(load_lanes<8>(at(i)), V);
            high[i] = __builtin_convertvector(load_lanes<8>(at(i) + 8), V);
            if constexpr (type == ReduceType::SUM) low[i] += high[i];
        }
        V result;
        if constexpr (type == ReduceType::SUM)
            result = reduce_eight<type>(low);
        else  // the compiler has better code for this than for a look at NaN first
            result =
                better_of<type == ReduceType::MAX>(fold_eight_in_order(low, better_of<type == ReduceType::MAX, V>),
                                                   fold_eight_in_order(high, better_of<type == ReduceType::MAX, V>));
        store_lanes(to, __builtin_convertvector(result, lane_vector<T, 8>));
    }
    return true;
}

template <ReduceType type, class T>
inline T reduce_block(const T* values, uint32_t count) {
    constexpr uint32_t per_block = lanes<T> / 8;
    if constexpr (type == ReduceType::SUM) {
        if (count == per_block) {
            lane_vector<Sum<T>, per_block> all;
            widen<per_block>(values, all);
            return static_cast<T>(fold_sum<per_block, Sum<T>>(all));
        }
        Sum<T> sum{};
        for (uint32_t i = 0; i < count; ++i) sum = static_cast<Sum<T>>(sum + static_cast<Sum<T>>(values[i]));
        return static_cast<T>(sum);
    } else {
        constexpr bool largest = type == ReduceType::MAX;
        T best = largest ? lowest_of<T>() : highest_of<T>();
        if (count != 0) best = values[0];
        for (uint32_t i = 1; i < count; ++i)
            if (beats<largest>(static_cast<Comparable<T>>(values[i]), static_cast<Comparable<T>>(best)) || best != best)
                best = values[i];
        return best;
    }
}

// Eight results per repeat, one per block. A block without a selected element gives 0 as its sum, or the extreme that
// loses to every number.
template <ReduceType type, class T>
inline void reduce_blocks(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const Selection& selection, int32_t to_stride, int32_t block_stride, int32_t repeat_stride,
                          Where where) {
    static_assert(is_reducible<T>, "BlockReduce: this chip reduces half and float only (3510: integers too)");
    constexpr uint32_t per_block = lanes<T> / 8;
    const auto from = source(src, static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride));
    const uint64_t repeats = selection.repeats + (selection.tail != 0);
    if (repeats == 0) return;
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    check_strided(src, from, selection, name, "the source", where);
    check_results(name, dst, 8 * sizeof(T), static_cast<uint64_t>(to_stride) * 8 * sizeof(T), repeats, where);
    instruction.tell();
    for_each_repeat(selection, [&](uint64_t r, uint32_t selected) {
        T* to = dst.GetPhyAddr() + r * static_cast<uint64_t>(to_stride) * 8;
        if constexpr (is_any_of<T, half, float>)
            if (!selection.sparse && selected == lanes<T> && reduce_eight_blocks<type>(from.at(r, 0), from.block, to))
                return;
        for (uint32_t block = 0; block < 8; ++block) {
            const T* at = from.at(r, block * per_block);
            if (!selection.sparse && selected >= (block + 1) * per_block) {
                to[block] = reduce_block<type>(at, per_block);
            } else {
                T values[per_block];
                const uint32_t count = collect_block(selection, selected, block, at, values);
                to[block] = reduce_block<type>(values, count);
            }
        }
    });
}

// The sums of neighbours: half as many results as lanes.
template <class T>
inline void reduce_pairs(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                         const Selection& selection, int32_t to_stride, int32_t block_stride, int32_t repeat_stride,
                         Where where) {
    static_assert(is_reducible<T>, "PairReduceSum: this chip sums half and float only (3510: integers too)");
    constexpr uint32_t width = lanes<T>;
    const auto from = source(src, static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride));
    const uint64_t repeats = selection.repeats + (selection.tail != 0);
    if (repeats == 0) return;
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_USE);
    check_strided(src, from, selection, name, "the source", where);
    check_results(name, dst, width / 2 * sizeof(T), static_cast<uint64_t>(to_stride) * 128, repeats, where);
    instruction.tell();
    const auto sum_of_pair = [](const T* pair) {
        return static_cast<T>(static_cast<Sum<T>>(static_cast<Sum<T>>(pair[0]) + static_cast<Sum<T>>(pair[1])));
    };
    // The destination may be the start of the source: a sum is stored where its elements were, or before.
    const auto sum_run_of_pairs = [&](uint64_t pairs, T* to, const T* at) {
        for_each_lane<is_same<T, half>>(pairs, [&](uint64_t i) CANOPY_ALWAYS { to[i] = sum_of_pair(at + 2 * i); });
    };
    const bool whole = !selection.sparse && selection.lanes == width && selection.tail == 0;
    if (whole && to_stride == 1 && from.contiguous(width))
        return sum_run_of_pairs(repeats * (width / 2), dst.GetPhyAddr(), from.address);
    for_each_repeat(selection, [&](uint64_t r, uint32_t selected) {
        if (whole && from.contiguous_in_repeat())
            return sum_run_of_pairs(width / 2, dst.GetPhyAddr() + r * static_cast<uint64_t>(to_stride) * (width / 2),
                                    from.at(r, 0));
        Sum<T> values[width] = {};
        for_each_segment(selection, selected, from, r, [&](uint32_t lane, uint32_t count, const T* at) {
            for (uint32_t i = 0; i < count; ++i) values[lane + i] = static_cast<Sum<T>>(at[i]);
        });
        T* to = dst.GetPhyAddr() + r * static_cast<uint64_t>(to_stride) * (128 / sizeof(T));
        for (uint32_t i = 0; i < width / 2; ++i)
            to[i] = static_cast<T>(static_cast<Sum<T>>(values[2 * i] + values[2 * i + 1]));
    });
}

}  // namespace canopy::kernel

#endif
