// SPDX-License-Identifier: Apache-2.0
// The operations of random programs that read many elements for one: reductions, access by offsets, reordering,
// sorting.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_OPERATIONS_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_OPERATIONS_H

#include "random_copies.h"

namespace programs {

// --- Reductions ---------------------------------------------------------------------------------------------------

// The selected elements of the source at[1], repeat by repeat.
inline std::vector<std::vector<std::pair<uint32_t, uint32_t>>> selected_by_repeat(const Step& step, Type type) {
    Step shifted = step;
    shifted.at[0] = step.at[1];
    const uint32_t lanes = 256 / size_of(type);
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> result(step.repeats);
    for_each_element(shifted, {type}, [&](uint32_t index, const uint32_t* at) {
        result[index / lanes].push_back({index % lanes, at[0]});
    });
    return result;
}

inline void plan_repeats(Random& random, Step& step, Type type, uint32_t result_bytes) {
    step.form = some_mask(random, type);
    plan_mask(random, step, 256 / size_of(type));
    plan_strided(random, step, 1, type, 256 / size_of(type), false, {});
    step.at[0] = place(random, type, result_bytes, {step.at[1]});
}

struct Extreme {
    bool largest;
    Real value = 0;
    uint32_t index = 0, byte = 0;
    bool found = false, has_nan = false;

    void offer(Real x, uint32_t position, uint32_t at) {
        has_nan |= std::isnan(x);
        if (found && !(largest ? x > value : x < value)) return;
        value = x;
        index = position;
        byte = at;
        found = true;
    }
    // The value and then the index, as bits of an element. What a NaN does is not specified.
    void expect(Expected& state, Type type, uint32_t to, bool with_index) const {
        if (has_nan) {
            state.any(type, to);
            if (with_index) state.any(type, to + size_of(type));
            return;
        }
        state.near(type, to, value, 0);
        if (!with_index) return;
        state.write_whole(type == Type::f32 ? Type::u32 : type, to + size_of(type), index);
    }
};

// Whole tensors. mode: bit 0 asks for the index.
template <class T, int kind>
struct ReducedTensor {
    static constexpr const char* names = kind == 0   ? "ReduceSum GetReduceRepeatSumSpr GetAccVal"
                                         : kind == 1 ? "ReduceMax GetReduceRepeatMaxMinSpr"
                                                     : "ReduceMin GetReduceMaxMinCount";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const auto work = scratch<T>();
        const auto repeats = static_cast<int32_t>(step.repeats), stride = static_cast<int32_t>(step.at[1].repeat);
        const auto count = static_cast<int32_t>(step.count), lanes = static_cast<int32_t>(step.mask[0]);
        const bool with_index = step.mode != 0;
        T value{}, index{};
        if constexpr (kind == 0) {
            if (step.form == counted)
                AscendC::ReduceSum(d, s, work, count);
            else if (step.form == leading_lanes)
                AscendC::ReduceSum(d, s, work, lanes, repeats, stride);
            else
                AscendC::ReduceSum(d, s, work, step.mask, repeats, stride);
            value = step.count % 2 == 0 ? AscendC::GetReduceRepeatSumSpr<T>() : AscendC::GetAccVal<T>();
        } else if constexpr (kind == 1) {
            if (step.form == counted)
                AscendC::ReduceMax(d, s, work, count, with_index);
            else if (step.form == leading_lanes)
                AscendC::ReduceMax(d, s, work, lanes, repeats, stride, with_index);
            else
                AscendC::ReduceMax(d, s, work, step.mask, repeats, stride, with_index);
            if constexpr (sizeof(T) <= 4) AscendC::GetReduceRepeatMaxMinSpr<T>(value, index);
        } else {
            if (step.form == counted)
                AscendC::ReduceMin(d, s, work, count, with_index);
            else if (step.form == leading_lanes)
                AscendC::ReduceMin(d, s, work, lanes, repeats, stride, with_index);
            else
                AscendC::ReduceMin(d, s, work, step.mask, repeats, stride, with_index);
            if constexpr (sizeof(T) <= 4) AscendC::GetReduceMaxMinCount<T>(value, index);
        }
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &value, sizeof value);
        set_register(memory, 0, bits);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(kind == 0 ? 0 : random.below(2));
        step.form = random.chance(33) ? counted : some_mask(random, type);
        step.count = some_count(random, slot_bytes / sizeof(T));
        if (step.form == counted) {
            step.at[1] = place(random, type, step.count * sizeof(T));
        } else {
            plan_mask(random, step, 256 / sizeof(T));
            const uint32_t stride = random.chance(50) ? 8 : random.between(1, 20);
            step.at[1] = place(random, type, ((step.repeats - 1u) * stride + 8) * 32);
            step.at[1].repeat = static_cast<uint16_t>(stride);
        }
        step.at[0] = place(random, type, 32, {step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        Step shifted = i.step;
        shifted.at[0] = i.step.at[1];
        SumOfNumbers sum;
        Extreme extreme{kind == 1};
        for_each_element(shifted, {type}, [&](uint32_t index, const uint32_t* at) {
            const Real x = i.state.read(type, at[0]);
            if (kind == 0)
                sum.add(x);
            else
                extreme.offer(x, index, at[0]);
        });
        i.state.set_bits(registers_byte, uint64_t{0});
        for (const uint32_t to : {i.at(0).byte, registers_byte})
            if (kind == 0)
                sum.expect(i.state, type, to);
            else if (to != registers_byte || sizeof(T) <= 4)
                extreme.expect(i.state, type, to, i.step.mode != 0 && to != registers_byte);
    }
};

// One sum for each repeat: the three names.
template <class T, int kind>
struct SumOfRepeats {
    static constexpr const char* names = kind == 0 ? "WholeReduceSum" : kind == 1 ? "RepeatReduceSum" : "ReduceRepeat";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const int32_t repeats = step.repeats, stride = static_cast<int32_t>(step.shape[0]);
        const int32_t block = step.at[1].block, repeat = step.at[1].repeat;
        const auto call = [&](auto mask) {
            if constexpr (kind == 0)
                AscendC::WholeReduceSum(d, s, mask, repeats, stride, block, repeat);
            else if constexpr (kind == 1)
                AscendC::RepeatReduceSum(d, s, repeats, mask, 1, block, stride, repeat);
            else
                AscendC::ReduceRepeat<AscendC::ReduceType::SUM>(d, s, mask, repeats, stride, block, repeat);
        };
        if (step.form == leading_lanes)
            call(static_cast<int32_t>(step.mask[0]));
        else
            call(static_cast<const uint64_t*>(step.mask));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_repeats(random, step, type, 9 * sizeof(T));
        step.shape[0] = random.between(1, 4);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        uint32_t to = i.at(0).byte;
        for (const auto& repeat : selected_by_repeat(i.step, type)) {
            SumOfNumbers sum;
            for (const auto& lane : repeat) sum.add(i.state.read(type, lane.second));
            sum.expect(i.state, type, to);
            to += i.step.shape[0] * sizeof(T);
        }
    }
};

// One extreme for each repeat, with the order of value and index.
template <class T, int kind>
struct ExtremeOfRepeats {
    static constexpr const char* names = kind == 0 ? "WholeReduceMax" : "WholeReduceMin";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const int32_t repeats = step.repeats, stride = static_cast<int32_t>(step.shape[0]);
        const int32_t block = step.at[1].block, repeat = step.at[1].repeat;
        const auto order = static_cast<AscendC::ReduceOrder>(step.mode);
        const auto call = [&](auto mask) {
            if constexpr (kind == 0)
                AscendC::WholeReduceMax(d, s, mask, repeats, stride, block, repeat, order);
            else
                AscendC::WholeReduceMin(d, s, mask, repeats, stride, block, repeat, order);
        };
        if (step.form == leading_lanes)
            call(static_cast<int32_t>(step.mask[0]));
        else
            call(static_cast<const uint64_t*>(step.mask));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_repeats(random, step, type, 128);
        step.shape[0] = random.between(1, 3);
        step.mode = static_cast<uint8_t>(random.below(4));
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr uint32_t size = sizeof(T);
        const uint32_t mode = i.step.mode, unit = mode == 2 ? size : mode == 3 ? 4 : 2 * size;
        uint32_t to = i.at(0).byte;
        for (const auto& repeat : selected_by_repeat(i.step, type)) {
            Extreme extreme{kind == 0};
            for (const auto& lane : repeat) extreme.offer(i.state.read(type, lane.second), lane.first, lane.second);
            const uint32_t value_at = to + (mode == 1 ? size : 0), index_at = to + (mode == 0 ? size : 0);
            if (mode != 3) extreme.expect(i.state, type, value_at, false);
            if (mode == 3) {
                if (extreme.has_nan)
                    i.state.any(Type::u32, index_at);
                else
                    i.state.set_bits(index_at, extreme.index);
            } else if (mode != 2) {
                if (extreme.has_nan)
                    i.state.any(type, index_at);
                else
                    i.state.write_whole(type == Type::f32 ? Type::u32 : type, index_at, extreme.index);
            }
            to += i.step.shape[0] * unit;
        }
    }
};

// Eight results for each repeat.
template <class T, int kind>
struct ReducedBlocks {
    static constexpr const char* names = kind == 0   ? "BlockReduceSum"
                                         : kind == 1 ? "BlockReduceMax"
                                         : kind == 2 ? "BlockReduceMin"
                                                     : "ReduceDataBlock";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const int32_t repeats = step.repeats, stride = static_cast<int32_t>(step.shape[0]);
        const int32_t block = step.at[1].block, repeat = step.at[1].repeat;
        const auto call = [&](auto mask) {
            if constexpr (kind == 0)
                AscendC::BlockReduceSum(d, s, repeats, mask, stride, block, repeat);
            else if constexpr (kind == 1)
                AscendC::BlockReduceMax(d, s, repeats, mask, stride, block, repeat);
            else if constexpr (kind == 2)
                AscendC::BlockReduceMin(d, s, repeats, mask, stride, block, repeat);
            else
                AscendC::ReduceDataBlock<AscendC::ReduceType::SUM>(d, s, repeats, mask, stride, block, repeat);
        };
        if (step.form == leading_lanes)
            call(static_cast<int32_t>(step.mask[0]));
        else
            call(static_cast<const uint64_t*>(step.mask));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_repeats(random, step, type, 8 * sizeof(T) * 7);
        step.shape[0] = random.between(1, 3);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr uint32_t per_block = 32 / sizeof(T);
        uint32_t to = i.at(0).byte;
        for (const auto& repeat : selected_by_repeat(i.step, type)) {
            for (uint32_t block = 0; block < 8; ++block) {
                SumOfNumbers sum;
                Extreme extreme{kind == 1};
                for (const auto& lane : repeat) {
                    if (lane.first / per_block != block) continue;
                    const Real x = i.state.read(type, lane.second);
                    sum.add(x);
                    extreme.offer(x, 0, 0);
                }
                const uint32_t byte = to + block * sizeof(T);
                if (sum.count == 0 && kind != 0 && kind != 3)
                    i.state.any(type, byte);
                else if (kind == 0 || kind == 3)
                    sum.expect(i.state, type, byte);
                else
                    extreme.expect(i.state, type, byte, false);
            }
            to += i.step.shape[0] * 8 * sizeof(T);
        }
    }
};

// The sums of neighbours.
template <class T, bool new_name>
struct ReducedPairs {
    static constexpr const char* names = new_name ? "ReducePairElem" : "PairReduceSum";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const int32_t repeats = step.repeats, stride = static_cast<int32_t>(step.shape[0]);
        const int32_t block = step.at[1].block, repeat = step.at[1].repeat;
        if constexpr (new_name)
            AscendC::ReducePairElem(d, s, repeats, step.mask, stride, block, repeat);
        else
            AscendC::PairReduceSum(d, s, repeats, step.mask, stride, block, repeat);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_repeats(random, step, type, 128 * 5);
        step.form = mask_bits;
        plan_mask(random, step, 256 / sizeof(T));
        plan_strided(random, step, 1, type, 256 / sizeof(T), false, {step.at[0]});
        step.shape[0] = random.between(1, 2);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr uint32_t lanes = 256 / sizeof(T);
        uint32_t to = i.at(0).byte;
        for (const auto& repeat : selected_by_repeat(i.step, type)) {
            Real values[lanes] = {};
            for (const auto& lane : repeat) values[lane.first] = i.state.read(type, lane.second);
            for (uint32_t k = 0; k < lanes / 2; ++k) {
                const Real sum = values[2 * k] + values[2 * k + 1];
                if (std::isnan(sum))
                    i.state.near(type, to + k * sizeof(T), sum, 0);
                else
                    i.state.near(type, to + k * sizeof(T), rounded(type, sum), 0);
            }
            to += i.step.shape[0] * 128;
        }
    }
};

// --- Offsets ------------------------------------------------------------------------------------------------------

// A whole slot of the type apart from that of another operand.
inline Operand another_slot(Random& random, Type type, const Operand& other) {
    for (;;) {
        const Operand chosen = whole_slot(first_slot(storage_of(type)) + random.below(slots_of(storage_of(type))));
        if (chosen.byte / slot_pitch != other.byte / slot_pitch) return chosen;
    }
}
// Offsets of elements of a size.
constexpr uint32_t offsets_for(uint32_t size) {
    return size == 8 ? offsets_of_longs : size == 4 ? offsets_of_words : offsets_of_shorts;
}

template <class T>
struct Gathered {
    static constexpr const char* names = "Gather";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const auto offsets = tensor<uint32_t>(step.at[2]);
        if (step.form == counted)
            AscendC::Gather(d, s, offsets, step.shape[0], step.count);
        else if (step.form == leading_lanes)
            AscendC::Gather(d, s, offsets, step.shape[0], step.mask[0], step.repeats, step.at[0].repeat);
        else
            AscendC::Gather(d, s, offsets, step.shape[0], step.mask, step.repeats, step.at[0].repeat);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.form = sizeof(T) == 1 || random.chance(33) ? counted : some_mask(random, type);
        step.count = some_count(random, std::min(384u, slot_bytes / static_cast<uint32_t>(sizeof(T))));
        step.shape[0] = 0;
        step.at[1] = whole_slot(first_slot(storage_of(type)) + random.below(slots_of(storage_of(type))));
        step.at[2] = whole_slot(offsets_for(sizeof(T)));
        if (step.form == counted) {
            step.at[0] = place(random, type, step.count * sizeof(T), {step.at[1]});
        } else {
            plan_mask(random, step, 256 / sizeof(T));
            const uint32_t stride = random.between(8, 12);
            step.at[0] = place(random, type, (2 * stride + 8) * 32, {step.at[1]});
            step.at[0].repeat = static_cast<uint16_t>(stride);
        }
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type}, [&](uint32_t index, const uint32_t* at) {
            const auto offset = i.state.template bits<uint32_t>(i.at(2).byte + index * 4);
            i.state.copy(at[0], i.at(1).byte + offset + i.step.shape[0], sizeof(T));
        });
    }
};

template <class T>
struct GatheredBlocks {
    static constexpr const char* names = "Gatherb";
    RANDOM_CALL {
        AscendC::Gatherb(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<uint32_t>(step.at[2]), step.repeats,
                         AscendC::GatherRepeatParams(static_cast<uint8_t>(step.at[0].block),
                                                     static_cast<uint8_t>(step.at[0].repeat)));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 3));
        plan_strided(random, step, 0, type_of<T>, 256 / sizeof(T), true, {});
        step.at[1] = another_slot(random, type_of<T>, step.at[0]);
        step.at[2] = whole_slot(offsets_of_blocks);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.repeats * 8u; ++k)
            i.state.copy(i.at(0).byte + (k / 8 * i.at(0).repeat + k % 8 * i.at(0).block) * 32,
                         i.at(1).byte + i.state.template bits<uint32_t>(i.at(2).byte + k * 4), 32);
    }
};

template <class T>
struct Scattered {
    static constexpr const char* names = "Scatter";
    RANDOM_CALL {
        AscendC::Scatter(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<uint32_t>(step.at[2]), 0, step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.count = some_count(random, std::min(512u, slot_bytes / static_cast<uint32_t>(sizeof(T))));
        step.at[1] = place(random, type_of<T>, step.count * sizeof(T));
        step.at[0] = another_slot(random, type_of<T>, step.at[1]);
        step.at[2] = whole_slot(offsets_for(sizeof(T)));
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k)
            i.state.copy(i.at(0).byte + i.state.template bits<uint32_t>(i.at(2).byte + k * 4),
                         i.at(1).byte + k * sizeof(T), sizeof(T));
    }
};

// Keeps elements by a fixed pattern (mode 1 to 7) or by bits (mode 0); counter mode counts elements of a repeat.
template <class T>
struct GatheredByMask {
    static constexpr const char* names = "GatherMask GetGatherMaskRemainCount";
    static constexpr Type type = type_of<T>;
    static constexpr uint32_t lanes = 256 / sizeof(T), per_block = 32 / sizeof(T);
    RANDOM_CALL {
        using Pattern = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const AscendC::GatherMaskParams params(static_cast<uint8_t>(step.at[1].block), step.repeats, step.at[1].repeat,
                                               static_cast<uint8_t>(step.shape[1]));
        uint64_t kept = 0;
        if (step.mode == 0)
            AscendC::GatherMask(d, s, tensor<Pattern>(step.at[2]), step.shape[0] != 0, step.count, params, kept);
        else
            AscendC::GatherMask(d, s, step.mode, step.shape[0] != 0, step.count, params, kept);
        set_register(memory, 0, kept);
        set_register(memory, 1, static_cast<uint64_t>(AscendC::GetGatherMaskRemainCount()));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(8));
        step.form = leading_lanes;
        step.repeats = static_cast<uint8_t>(random.between(1, 3));
        step.shape[0] = random.below(2);
        step.shape[1] = random.below(3);
        step.count = step.shape[0] == 0 ? 0 : random.between(1, lanes);
        plan_strided(random, step, 1, type, lanes, false, {});
        step.at[0] = place(random, type, step.repeats * 256, {step.at[1]});
        step.at[2] = place(random, Type::i16, 160, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr uint8_t patterns[] = {0, 0x55, 0xaa, 0x11, 0x22, 0x44, 0x88, 0xff};
        const uint32_t elements = i.step.shape[0] == 0 ? lanes : i.step.count;
        uint64_t kept = 0;
        for (uint32_t repeat = 0; repeat < i.step.repeats; ++repeat)
            for (uint32_t k = 0; k < elements; ++k) {
                const bool keep = i.step.mode == 0 ? i.state.bit(i.at(2).byte + repeat * i.step.shape[1] * 32, k)
                                                   : (patterns[i.step.mode] >> k % 8 & 1) != 0;
                if (!keep) continue;
                const uint32_t from =
                    (repeat * i.at(1).repeat + k / per_block * i.at(1).block) * 32 + k % per_block * sizeof(T);
                i.state.copy(i.at(0).byte + static_cast<uint32_t>(kept++ * sizeof(T)), i.at(1).byte + from, sizeof(T));
            }
        i.state.set_bits(registers_byte, kept);
        i.state.set_bits(registers_byte + 8, kept);
    }
};

// --- Reordering ---------------------------------------------------------------------------------------------------

template <class T>
struct SpreadOverBlocks {
    static constexpr const char* names = "Brcb";
    static constexpr uint32_t per_block = 32 / sizeof(T);
    RANDOM_CALL {
        AscendC::Brcb(tensor<T>(step.at[0]), tensor<T>(step.at[1]), step.repeats,
                      AscendC::BrcbRepeatParams(step.at[0].block, step.at[0].repeat));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 3));
        plan_strided(random, step, 0, type_of<T>, 8 * per_block, true, {});
        step.at[1] = place(random, type_of<T>, step.repeats * 8 * sizeof(T), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t block = 0; block < i.step.repeats * 8u; ++block)
            for (uint32_t k = 0; k < per_block; ++k)
                i.state.copy(
                    i.at(0).byte + (block / 8 * i.at(0).repeat + block % 8 * i.at(0).block) * 32 + k * sizeof(T),
                    i.at(1).byte + block * sizeof(T), sizeof(T));
    }
};

template <class T, int axis>
struct BroadcastAlongAxis {
    static constexpr const char* names = "BroadCast";
    RANDOM_CALL {
        const uint32_t to[2] = {step.shape[0], step.shape[1]};
        const uint32_t from[2] = {axis == 0 ? 1 : to[0], axis == 1 ? 1 : to[1]};
        AscendC::BroadCast<T, 2, axis>(tensor<T>(step.at[0]), tensor<T>(step.at[1]), to, from);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.shape[0] = random.between(1, 40 / sizeof(T) / 8 * 8);
        step.shape[1] = random.between(1, 3) * 16;
        step.at[0] = place(random, type_of<T>, step.shape[0] * step.shape[1] * sizeof(T));
        step.at[1] = place(random, type_of<T>, 192, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t r = 0; r < i.step.shape[0]; ++r)
            for (uint32_t c = 0; c < i.step.shape[1]; ++c)
                i.copy_element(type_of<T>, 0, r * i.step.shape[1] + c, 1, axis == 0 ? c : r);
    }
};

template <class T, bool back>
struct Interleaved {
    static constexpr const char* names = back ? "DeInterleave" : "Interleave";
    RANDOM_CALL {
        const auto d0 = tensor<T>(step.at[0]), d1 = tensor<T>(step.at[1]);
        const auto s0 = tensor<T>(step.at[2]), s1 = tensor<T>(step.at[3]);
        const auto count = static_cast<int32_t>(step.count);
        if constexpr (back)
            AscendC::DeInterleave(d0, d1, s0, s1, count);
        else
            AscendC::Interleave(d0, d1, s0, s1, count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.count = random.between(1, 100) * 2;
        step.at[0] = place(random, type_of<T>, step.count * sizeof(T));
        step.at[1] = place(random, type_of<T>, step.count * sizeof(T), {step.at[0]});
        for (uint32_t k = 2; k < 4; ++k)
            step.at[k] = place(random, type_of<T>, step.count * sizeof(T), {step.at[0], step.at[1]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const uint32_t n = i.step.count;
        for (uint32_t k = 0; k < n; ++k)
            for (uint32_t part = 0; part < 2; ++part) {
                const uint32_t place = 2 * k + part;  // in the two sequences as one
                if (back)
                    i.copy_element(type_of<T>, part, k, 2 + place / n, place % n);
                else
                    i.copy_element(type_of<T>, place / n, place % n, 2 + part, k);
            }
    }
};

template <class T>
struct Transposed {
    static constexpr const char* names = "Transpose";
    RANDOM_CALL { AscendC::Transpose(tensor<T>(step.at[0]), tensor<T>(step.at[1])); }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.at[0] = place(random, type_of<T>, 512);
        step.at[1] = place(random, type_of<T>, 512, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < 256; ++k) i.copy_element(type_of<T>, 0, k, 1, k % 16 * 16 + k / 16);
    }
};

// 16 rows of 32 bytes, one list entry each; the rows of a list lie one after the other here.
template <class T>
struct TransposedLists {
    static constexpr const char* names = "TransDataTo5HD";
    RANDOM_CALL {
        AscendC::LocalTensor<T> to[16], from[16];
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        for (uint32_t i = 0; i < 16; ++i) {
            to[i] = d[i * step.shape[0] * 16];
            from[i] = s[i * step.shape[1] * 16];
        }
        AscendC::TransDataTo5HD<T>(
            to, from,
            AscendC::TransDataTo5HDParams(false, false, step.repeats, static_cast<uint16_t>(step.repeats == 1 ? 0 : 1),
                                          static_cast<uint16_t>(step.repeats == 1 ? 0 : 1)));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 2));
        step.shape[0] = random.between(step.repeats, 3);
        step.shape[1] = random.between(step.repeats, 3);
        step.at[0] = place(random, type_of<T>, step.shape[0] * 512);
        step.at[1] = place(random, type_of<T>, step.shape[1] * 512, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t repeat = 0; repeat < i.step.repeats; ++repeat)
            for (uint32_t r = 0; r < 16; ++r)
                for (uint32_t c = 0; c < 16; ++c)
                    i.copy_element(type_of<T>, 0, (r * i.step.shape[0] + repeat) * 16 + c, 1,
                                   (c * i.step.shape[1] + repeat) * 16 + r);
    }
};

// --- Sorting ------------------------------------------------------------------------------------------------------

// Indices of `count` scores, largest or smallest first; of equal ones the first comes first. NaN comes first.
inline std::vector<uint32_t> sorted_positions(const Interpretation& i, Type type, uint32_t operand, uint32_t first,
                                              uint32_t count, bool largest = true) {
    std::vector<uint32_t> order;
    for (uint32_t k = 0; k < count; ++k) {
        const Real x = i.read(type, operand, first + k);
        uint32_t at = static_cast<uint32_t>(order.size());
        const auto ahead = [&](Real other) {
            return std::isnan(x) ? !std::isnan(other) : largest ? x > other : x < other;
        };
        while (at > 0 && ahead(i.read(type, operand, first + order[at - 1]))) --at;
        order.insert(order.begin() + at, k);
    }
    return order;
}

template <class T>
struct SortedPairs {
    static constexpr const char* names = "Sort32";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        AscendC::Sort32(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<uint32_t>(step.at[2]), step.repeats);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 4));
        step.at[0] = place(random, type, step.repeats * 256);
        step.at[1] = place(random, type, step.repeats * 32 * sizeof(T), {step.at[0]});
        step.at[2] = place(random, Type::u32, step.repeats * 128);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t repeat = 0; repeat < i.step.repeats; ++repeat) {
            uint32_t to = i.at(0).byte + repeat * 256;
            for (const uint32_t k : sorted_positions(i, type, 1, repeat * 32, 32)) {
                i.state.set_bits(to, uint32_t{0});
                i.state.copy(to, i.at(1).byte + (repeat * 32 + k) * sizeof(T), sizeof(T));
                i.state.copy(to + 4, i.at(2).byte + (repeat * 32 + k) * 4, 4);
                to += 8;
            }
        }
    }
};

// Concat, Sort and Extract: the usual way to sort a tensor. The pairs stay in the temporary buffer.
template <class T>
struct SortedTensor {
    static constexpr const char* names = "Concat Sort Extract";
    RANDOM_CALL {
        const AscendC::LocalTensor<T> work = scratch<T>(), pairs = work[scratch_bytes / 2 / sizeof(T)];
        AscendC::LocalTensor<T> joined;
        const int32_t repeats = step.repeats;
        AscendC::Concat(joined, tensor<T>(step.at[2]), work, repeats);
        AscendC::Sort<T, true>(pairs, joined, tensor<uint32_t>(step.at[3]), work, repeats);
        AscendC::Extract(tensor<T>(step.at[0]), tensor<uint32_t>(step.at[1]), pairs, repeats);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 6));
        step.at[0] = place(random, type_of<T>, step.repeats * 32 * sizeof(T));
        step.at[1] = place(random, Type::u32, step.repeats * 128);
        step.at[2] = place(random, type_of<T>, step.repeats * 32 * sizeof(T));
        step.at[3] = place(random, Type::u32, step.repeats * 128);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        uint32_t to = 0;
        for (const uint32_t k : sorted_positions(i, type_of<T>, 2, 0, i.step.repeats * 32u)) {
            i.copy_element(type_of<T>, 0, to, 2, k);
            i.copy_element(Type::u32, 1, to, 3, k);
            ++to;
        }
    }
};

}  // namespace programs

#endif
