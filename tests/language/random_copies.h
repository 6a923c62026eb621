// SPDX-License-Identifier: Apache-2.0
// The operations of random programs that copy, fill, shift, compare and select. Each struct has the public names it
// calls, the call (`run`, in the kernel), the choice of a legal step (`plan`) and what the step has to do
// (`interpret`).
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_COPIES_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_COPIES_H

#include "random_elementwise.h"

namespace programs {

// What `interpret` gets: the state to build, the step, and the numbers in global memory.
struct Interpretation {
    Expected& state;
    const Step& step;
    const uint8_t* memory;

    const Operand& at(uint32_t index) const { return step.at[index]; }
    Real read(Type type, uint32_t operand, uint32_t element) const {
        return state.read(type, step.at[operand].byte + element * size_of(type));
    }
    void write(Type type, uint32_t operand, uint32_t element, Real value) const {
        state.write(type, step.at[operand].byte + element * size_of(type), value);
    }
    void near(Type type, uint32_t operand, uint32_t element, Real value, Real distance) const {
        state.near(type, step.at[operand].byte + element * size_of(type), value, distance);
    }
    void any(Type type, uint32_t operand, uint32_t element) const {
        state.any(type, step.at[operand].byte + element * size_of(type));
    }
    void copy_element(Type type, uint32_t to, uint32_t to_element, uint32_t from, uint32_t from_element) const {
        state.copy(step.at[to].byte + to_element * size_of(type), step.at[from].byte + from_element * size_of(type),
                   size_of(type));
    }
};

// A sum, and how far from it the result may be whatever the order of the additions is. Undefined if a partial sum could
// overflow.
struct SumOfNumbers {
    Real sum = 0, size = 0;
    uint32_t count = 0;
    Whole whole = 0;  // of integers

    void add(Real x) {
        sum += x;
        if (std::isfinite(x)) size += std::fabs(x);
        if (std::fabs(x) < 0x1p64L) whole += static_cast<Whole>(x);
        ++count;
    }
    // Partial sums are kept in float; the result is rounded to the type. Those of integers keep their low bits.
    void expect(Expected& state, Type type, uint32_t byte, Real factor = 1) const {
        if (!is_floating(type)) return state.write_whole(type, byte, whole);
        if (size > 0.9L * largest_of(type) || size * factor > 0.9L * largest_of(type)) return state.any(type, byte);
        const Real slack = size * factor * (count + 3) * std::ldexp(1.0L, -24);
        state.near(type, byte, sum * factor, slack + 0.501L * unit_at(type, std::fabs(sum * factor) + slack));
    }
};

template <class T>
RANDOM_APART AscendC::GlobalTensor<T> global(GM_ADDR memory, uint32_t byte, uint32_t bytes) {
    AscendC::GlobalTensor<T> result;
    result.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(memory + byte), bytes / sizeof(T));
    return result;
}
RANDOM_APART void set_register(GM_ADDR memory, uint32_t index, uint64_t value) {
    __builtin_memcpy(memory + first_state_byte + registers_byte + index * 8, &value, sizeof value);
}

// Code for the host only, and code for the device only: a source is compiled for both, and a template is not when
// nothing there calls it.
#define RANDOM_HOST __attribute__((optnone, noinline)) static void
#define RANDOM_CALL    \
    template <int = 0> \
    __aicore__ __attribute__((noinline)) static void run(const Step& step, [[maybe_unused]] GM_ADDR memory)

// --- Copies -------------------------------------------------------------------------------------------------------

template <class T>
struct CopyIn {
    static constexpr const char* names = "DataCopy";
    RANDOM_CALL {
        const auto from = global<T>(memory, step.shape[0], step.shape[1]);
        AscendC::DataCopy(tensor<T>(step.at[0]), from, step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        constexpr Type type = type_of<T>;
        const uint32_t blocks = random.chance(60) ? slot_bytes / 32 : random.between(1, slot_bytes / 32);
        const uint32_t start = random.below((pool_bytes - blocks * 32) / 2 + 1) * 2 / sizeof(T) * sizeof(T);
        step.count = blocks * 32 / sizeof(T);
        step.at[0] = place(random, type, blocks * 32);
        step.shape[0] = pool_at(storage_of(type), random.below(pools)) + start;
        step.shape[1] = blocks * 32;
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        i.state.put(i.at(0).byte, i.memory + i.step.shape[0], i.step.shape[1]);
    }
};

// Rows with gaps, in units of 32 bytes.
template <class T>
struct CopyRows {
    static constexpr const char* names = "DataCopy";
    RANDOM_CALL {
        const auto from = global<T>(memory, step.shape[0], pool_bytes);
        AscendC::DataCopy(
            tensor<T>(step.at[0]), from,
            AscendC::DataCopyParams(static_cast<uint16_t>(step.count), static_cast<uint16_t>(step.shape[1]),
                                    static_cast<uint16_t>(step.shape[2]), static_cast<uint16_t>(step.shape[3])));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.count = random.between(1, 5);
        step.shape[0] = pool_at(storage_of(type_of<T>), random.below(pools));
        step.shape[1] = random.between(1, 6);
        step.shape[2] = random.below(7);
        step.shape[3] = random.below(7);
        step.at[0] = place(random, type_of<T>, (step.count * (step.shape[1] + step.shape[3])) * 32);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        const auto& s = i.step.shape;
        for (uint32_t row = 0; row < i.step.count; ++row)
            i.state.put(i.at(0).byte + row * (s[1] + s[3]) * 32, i.memory + s[0] + row * (s[1] + s[2]) * 32, s[1] * 32);
    }
};

// To global memory, where it replaces, or adds, or keeps the larger or the smaller.
template <class T, bool atomic>
struct CopyOut {
    static constexpr const char* names = atomic ? "SetAtomicAdd SetAtomicMax SetAtomicMin SetAtomicNone" : "DataCopy";
    RANDOM_CALL {
        const auto to = global<T>(memory, first_state_byte + outbox_byte + step.shape[0], outbox_bytes - step.shape[0]);
        if constexpr (atomic) {
            if (step.mode == 1) AscendC::SetAtomicAdd<T>();
            if (step.mode == 2) AscendC::SetAtomicMax<T>();
            if (step.mode == 3) AscendC::SetAtomicMin<T>();
        }
        AscendC::DataCopy(to, tensor<T>(step.at[0]), step.count);
        if constexpr (atomic) AscendC::SetAtomicNone();
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        const uint32_t blocks = random.between(1, 10);
        step.mode = static_cast<uint8_t>(atomic ? random.between(1, 3) : 0);
        step.count = blocks * 32 / sizeof(T);
        step.at[0] = place(random, type_of<T>, blocks * 32);
        step.shape[0] = random.below((outbox_bytes - blocks * 32) / sizeof(T) + 1) * sizeof(T);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr Type type = type_of<T>;
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const uint32_t byte = outbox_byte + i.step.shape[0] + k * sizeof(T);
            const Real old = i.state.read(type, byte), value = i.read(type, 0, k);
            if (i.step.mode == 0)
                i.state.copy(byte, i.at(0).byte + k * sizeof(T), sizeof(T));
            else if (i.step.mode == 1)
                i.state.write(type, byte, old + value);
            else if (std::isnan(old) || std::isnan(value))
                i.state.any(type, byte);
            else
                i.state.near(type, byte, i.step.mode == 2 ? std::fmax(old, value) : std::fmin(old, value), 0);
        }
    }
};

// Rows of any number of bytes, with padding left and right.
template <class T>
struct PadIn {
    static constexpr const char* names = "DataCopyPad";
    RANDOM_CALL {
        const auto from = global<T>(memory, step.shape[0], pool_bytes);
        const uint32_t left = step.shape[3] % 16, right = step.shape[3] / 16;
        AscendC::DataCopyPad(
            tensor<T>(step.at[0]), from,
            AscendC::DataCopyExtParams(step.repeats, step.count * sizeof(T), step.shape[1], step.shape[2], 0),
            AscendC::DataCopyPadExtParams<T>(step.mode != 0, static_cast<uint8_t>(left), static_cast<uint8_t>(right),
                                             static_cast<T>(step.scalar)));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 4));
        step.count = random.between(1, 90 / sizeof(T));
        step.mode = static_cast<uint8_t>(random.below(2));
        step.shape[0] = pool_at(storage_of(type_of<T>), random.below(pools));
        step.shape[1] = random.below(50) * sizeof(T);  // bytes between rows in global memory
        step.shape[2] = random.below(3);               // blocks between rows in the buffer
        const uint32_t most = std::min(8u, 32 / static_cast<uint32_t>(sizeof(T)));
        step.shape[3] = step.mode == 0 ? 0 : random.below(most) + random.below(most) * 16;
        step.scalar = random.between(0, 100);
        step.at[0] = place(random, type_of<T>, step.repeats * (pitch(step) + step.shape[2] * 32));
    }
    static uint32_t pitch(const Step& step) {
        const uint32_t elements = step.count + step.shape[3] % 16 + step.shape[3] / 16;
        return (elements * static_cast<uint32_t>(sizeof(T)) + 31) / 32 * 32;
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        constexpr Type type = type_of<T>;
        const uint32_t left = i.step.shape[3] % 16, right = i.step.shape[3] / 16, row_bytes = i.step.count * sizeof(T);
        for (uint32_t row = 0; row < i.step.repeats; ++row) {
            const uint8_t* from = i.memory + i.step.shape[0] + row * (row_bytes + i.step.shape[1]);
            const uint32_t to = i.at(0).byte + row * (pitch(i.step) + i.step.shape[2] * 32);
            for (uint32_t k = 0; k < left; ++k) i.state.write(type, to + k * sizeof(T), i.step.scalar);
            i.state.put(to + left * sizeof(T), from, row_bytes);
            uint32_t next = left * sizeof(T) + row_bytes;
            for (uint32_t k = 0; k < right; ++k, next += sizeof(T)) i.state.write(type, to + next, i.step.scalar);
            // The rest of the block: the first element without padding, unspecified with it.
            for (; next < pitch(i.step); next += sizeof(T))
                if (i.step.mode == 0)
                    i.state.put(to + next, from, sizeof(T));
                else
                    i.state.any(type, to + next);
        }
    }
};

template <class T>
struct PadOut {
    static constexpr const char* names = "DataCopyPad";
    RANDOM_CALL {
        const auto to = global<T>(memory, first_state_byte + outbox_byte, outbox_bytes);
        AscendC::DataCopyPad(
            to, tensor<T>(step.at[0]),
            AscendC::DataCopyExtParams(step.repeats, step.count * sizeof(T), step.shape[1], step.shape[0], 0));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.repeats = static_cast<uint8_t>(random.between(1, 5));
        step.count = random.between(1, 120 / sizeof(T));
        step.shape[0] = random.below(80 / sizeof(T)) * sizeof(T);  // bytes between rows in global memory
        step.shape[1] = random.below(3);                           // blocks between rows in the buffer
        step.at[0] = place(random, type_of<T>, step.repeats * pitch(step));
    }
    static uint32_t row_bytes(const Step& step) { return step.count * static_cast<uint32_t>(sizeof(T)); }
    static uint32_t pitch(const Step& step) { return (row_bytes(step) + 31) / 32 * 32 + step.shape[1] * 32; }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t row = 0; row < i.step.repeats; ++row)
            i.state.copy(outbox_byte + row * (row_bytes(i.step) + i.step.shape[0]), i.at(0).byte + row * pitch(i.step),
                         row_bytes(i.step));
    }
};

// Inside the buffer: whole blocks, then elements by mask.
template <class T>
struct CopyInside {
    static constexpr const char* names = "DataCopy";
    RANDOM_CALL { AscendC::DataCopy(tensor<T>(step.at[0]), tensor<T>(step.at[1]), step.count); }
    RANDOM_HOST plan(Random& random, Step& step) {
        const uint32_t bytes = random.between(1, 30) * 32;
        step.count = bytes / sizeof(T);
        step.at[0] = place(random, type_of<T>, bytes);
        step.at[1] = place(random, type_of<T>, bytes, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        i.state.copy(i.at(0).byte, i.at(1).byte, i.step.count * sizeof(T));
    }
};

template <class T>
struct CopyMasked {
    static constexpr const char* names = "Copy";
    RANDOM_CALL {
        const AscendC::CopyRepeatParams strides(step.at[0].block, step.at[1].block, step.at[0].repeat,
                                                step.at[1].repeat);
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        if (step.form == leading_lanes)
            AscendC::Copy(d, s, step.mask[0], step.repeats, strides);
        else
            AscendC::Copy(d, s, step.mask, step.repeats, strides);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        const uint32_t lanes = 256 / sizeof(T);
        step.form = some_mask(random, type_of<T>);
        plan_mask(random, step, lanes);
        plan_strided(random, step, 0, type_of<T>, lanes, true, {});
        plan_strided(random, step, 1, type_of<T>, lanes, false, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type_of<T>, type_of<T>},
                         [&](uint32_t, const uint32_t* at) { i.state.copy(at[0], at[1], sizeof(T)); });
    }
};

// --- Fills --------------------------------------------------------------------------------------------------------

inline void plan_fill(Random& random, Step& step, Type type) {
    step.form = random.chance(40) ? counted : some_mask(random, type);
    step.scalar = some_scalar(random, type);
    if (step.form == counted) {
        step.count = some_count(random, slot_bytes / size_of(type));
        step.at[0] = place(random, type, step.count * size_of(type));
    } else {
        plan_mask(random, step, 256 / size_of(type));
        plan_strided(random, step, 0, type, 256 / size_of(type), true, {});
    }
}

template <class T>
struct Filled {
    static constexpr const char* names = "Duplicate";
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]);
        const auto value = static_cast<T>(step.scalar);
        const auto repeat = static_cast<uint8_t>(step.at[0].repeat);
        if (step.form == counted)
            AscendC::Duplicate(d, value, static_cast<int32_t>(step.count));
        else if (step.form == leading_lanes)
            AscendC::Duplicate(d, value, step.mask[0], step.repeats, step.at[0].block, repeat);
        else
            AscendC::Duplicate(d, value, step.mask, step.repeats, step.at[0].block, repeat);
    }
    RANDOM_HOST plan(Random& random, Step& step) { plan_fill(random, step, type_of<T>); }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type_of<T>},
                         [&](uint32_t, const uint32_t* at) { i.state.write(type_of<T>, at[0], i.step.scalar); });
    }
};

template <class T>
struct Numbered {
    static constexpr const char* names = "CreateVecIndex";
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]);
        const auto value = static_cast<T>(step.scalar);
        const auto repeat = static_cast<uint8_t>(step.at[0].repeat);
        if (step.form == counted)
            AscendC::CreateVecIndex(d, value, step.count);
        else if (step.form == leading_lanes)
            AscendC::CreateVecIndex(d, value, step.mask[0], step.repeats, step.at[0].block, repeat);
        else
            AscendC::CreateVecIndex(d, value, step.mask, step.repeats, step.at[0].block, repeat);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        plan_fill(random, step, type_of<T>);
        if (is_floating(type_of<T>)) step.scalar = std::floor(random.real() * 2000) - 1000;
        if (type_of<T> == Type::bf16) step.scalar = std::floor(random.real() * 200);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type_of<T>}, [&](uint32_t index, const uint32_t* at) {
            i.state.write(type_of<T>, at[0], static_cast<Real>(i.step.scalar) + index);
        });
    }
};

// --- Shifts -------------------------------------------------------------------------------------------------------

template <class T, bool left>
struct Shifted {
    static constexpr const char* names = left ? "ShiftLeft" : "ShiftRight";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), s = tensor<T>(step.at[1]);
        const auto by = static_cast<T>(step.scalar);
        if constexpr (left) {
            if (step.form == counted) return AscendC::ShiftLeft(d, s, by, static_cast<int32_t>(step.count));
            AscendC::ShiftLeft(d, s, by, step.mask[0], step.repeats, unary_strides(step));
        } else {
            if (step.form == counted) return AscendC::ShiftRight(d, s, by, static_cast<int32_t>(step.count));
            AscendC::ShiftRight(d, s, by, step.mask[0], step.repeats, unary_strides(step), step.mode != 0);
        }
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.form = random.chance(50) ? counted : leading_lanes;
        plan_operands(random, step, type, type, 1);
        if (random.chance(20)) step.at[1] = step.at[0];
        step.scalar = random.below(sizeof(T) * 8);
        step.mode = static_cast<uint8_t>(!left && step.form != counted && step.scalar != 0 ? random.below(2) : 0);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type, type}, [&](uint32_t, const uint32_t* at) {
            const Whole a = i.state.whole(type, at[1]);
            const auto by = static_cast<Whole>(i.step.scalar);
            Whole value = left ? shifted_left(a, by, type) : shifted_right(a, by);
            if (i.step.mode != 0) value += a >> (by - 1) & 1;
            i.state.write_whole(type, at[0], value);
        });
    }
};

// --- Comparison and selection -------------------------------------------------------------------------------------

inline bool compares(uint32_t mode, Real a, Real b) {
    switch (mode) {
        case 0:
            return a < b;
        case 1:
            return a > b;
        case 2:
            return a == b;
        case 3:
            return a <= b;
        case 4:
            return a >= b;
        default:
            return a != b;
    }
}

template <class T>
struct Compared {
    static constexpr const char* names = "Compare";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto mode = static_cast<AscendC::CMPMODE>(step.mode);
        const auto d = tensor<uint8_t>(step.at[0]);
        const auto a = tensor<T>(step.at[1]), b = tensor<T>(step.at[2]);
        if (step.form == counted) return AscendC::Compare(d, a, b, mode, step.count);
        AscendC::Compare(d, a, b, mode, step.mask, step.repeats, binary_strides(step));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        constexpr uint32_t lanes = 256 / sizeof(T);
        step.mode = static_cast<uint8_t>(random.below(6));
        step.form = sizeof(T) == 1 || random.chance(50) ? counted : mask_bits;
        step.at[0] = place(random, Type::u8, 256);
        if (step.form == counted) {
            step.count = random.between(1, 6) * lanes;
            for (uint32_t k = 1; k < 3; ++k) step.at[k] = place(random, type, step.count * sizeof(T), {step.at[0]});
        } else {
            plan_mask(random, step, lanes);
            for (uint32_t k = 1; k < 3; ++k) plan_strided(random, step, k, type, lanes, false, {step.at[0]});
        }
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        Step step = i.step;  // the bits are numbered by lanes, whatever the strides of the sources are
        step.at[0] = step.at[1];
        for_each_element(step, {type, type, type}, [&](uint32_t index, const uint32_t* at) {
            i.state.set_bit(i.at(0).byte, index,
                            compares(i.step.mode, i.state.read(type, at[1]), i.state.read(type, at[2])));
        });
    }
};

template <class T, bool old_name>
struct ComparedWithNumber {
    static constexpr const char* names = old_name ? "CompareScalar" : "Compares";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto mode = static_cast<AscendC::CMPMODE>(step.mode);
        const auto d = tensor<uint8_t>(step.at[0]);
        const auto a = tensor<T>(step.at[1]);
        const auto b = static_cast<T>(step.scalar);
        if constexpr (old_name)
            AscendC::CompareScalar(d, a, b, mode, step.count);
        else
            AscendC::Compares(d, a, b, mode, step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(6));
        step.count = random.between(1, 6) * 256 / sizeof(T);
        step.scalar = some_scalar(random, type);
        step.at[0] = place(random, Type::u8, 256);
        step.at[1] = place(random, type, step.count * sizeof(T), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k)
            i.state.set_bit(i.at(0).byte, k, compares(i.step.mode, i.read(type, 1, k), i.step.scalar));
    }
};

// The comparison of one repeat goes to a register of the core, from there to a tensor and to a selection.
template <class T>
struct ComparedInRegister {
    static constexpr const char* names = "Compare GetCmpMask SetCmpMask Select SetVectorMask";
    static constexpr Type type = type_of<T>;
    static constexpr uint32_t lanes = 256 / sizeof(T);
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), a = tensor<T>(step.at[2]), b = tensor<T>(step.at[3]);
        const auto bits = tensor<uint8_t>(step.at[1]);
        uint64_t chosen[2];
        __builtin_memcpy(chosen, step.shape, sizeof chosen);
        AscendC::SetCmpMask(bits);
        AscendC::Compare(a, b, static_cast<AscendC::CMPMODE>(step.mode), step.mask,
                         AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        AscendC::GetCmpMask(bits);
        AscendC::SetVectorMask<T>(chosen[1], chosen[0]);
        AscendC::Select(d, a, b, step.repeats, AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(6));
        step.form = mask_bits;
        plan_mask(random, step, lanes);
        for (uint32_t& bits : step.shape) bits = static_cast<uint32_t>(random.bits());
        step.at[0] = place(random, type, step.repeats * 256);
        step.at[1] = place(random, Type::u8, 32);
        for (uint32_t k = 2; k < 4; ++k) step.at[k] = place(random, type, step.repeats * 256, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        bool chosen[lanes];
        for (uint32_t k = 0; k < lanes; ++k) {
            chosen[k] = i.state.bit(i.at(1).byte, k);
            if ((i.step.mask[k / 64] >> k % 64 & 1) != 0)
                chosen[k] = compares(i.step.mode, i.read(type, 2, k), i.read(type, 3, k));
            i.state.set_bit(i.at(1).byte, k, chosen[k]);
        }
        for (uint32_t k = 0; k < i.step.repeats * lanes; ++k)
            if ((i.step.shape[k % lanes / 32] >> k % 32 & 1) != 0)
                i.copy_element(type, 0, k, chosen[k % lanes] ? 2 : 3, k);
    }
};

// Modes: the bits of one repeat for all, a tensor and a number, two tensors.
template <class T>
struct Selected {
    static constexpr const char* names = "Select";
    static constexpr Type type = type_of<T>;
    RANDOM_CALL {
        const auto d = tensor<T>(step.at[0]), a = tensor<T>(step.at[2]), b = tensor<T>(step.at[3]);
        const auto bits = tensor<uint8_t>(step.at[1]);
        const auto mode = static_cast<AscendC::SELMODE>(step.mode);
        if (step.mode == 1)
            AscendC::Select(d, bits, a, static_cast<T>(step.scalar), mode, step.count);
        else
            AscendC::Select(d, bits, a, b, mode, step.count);
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.mode = static_cast<uint8_t>(random.below(3));
        step.count = some_count(random, slot_bytes / sizeof(T));
        step.scalar = some_scalar(random, type);
        step.at[0] = place(random, type, step.count * sizeof(T));
        step.at[1] = place(random, Type::u8, 256, {step.at[0]});
        for (uint32_t k = 2; k < 4; ++k) step.at[k] = place(random, type, step.count * sizeof(T), {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for (uint32_t k = 0; k < i.step.count; ++k) {
            const uint32_t bit = i.step.mode == 0 ? k % (256 / sizeof(T)) : k;
            if (i.state.bit(i.at(1).byte, bit))
                i.copy_element(type, 0, k, 2, k);
            else if (i.step.mode == 1)
                i.write(type, 0, k, i.step.scalar);
            else
                i.copy_element(type, 0, k, 3, k);
        }
    }
};

// --- Mask registers -----------------------------------------------------------------------------------------------

// Counter mode: the mask is a number of elements, and the strides still count.
template <class T>
struct CountedByRegister {
    static constexpr const char* names = "SetMaskCount SetVectorMask Add SetMaskNorm ResetMask";
    static constexpr Type type = type_of<T>;
    static constexpr uint32_t lanes = 256 / sizeof(T);
    RANDOM_CALL {
        AscendC::SetMaskCount();
        AscendC::SetVectorMask<T, AscendC::MaskMode::COUNTER>(static_cast<int32_t>(step.count));
        AscendC::Add<T, false>(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<T>(step.at[2]),
                               AscendC::MASK_PLACEHOLDER, 1, binary_strides(step));
        AscendC::SetMaskNorm();
        AscendC::ResetMask();
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.form = leading_lanes;
        step.repeats = static_cast<uint8_t>(random.between(1, 3));
        plan_strided(random, step, 0, type, lanes, true, {});
        for (uint32_t k = 1; k < 3; ++k) plan_strided(random, step, k, type, lanes, false, {step.at[0]});
        step.count = (step.repeats - 1u) * lanes + random.between(1, lanes);
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        Step step = i.step;
        step.mask[0] = lanes;
        for_each_element(step, {type, type, type}, [&](uint32_t index, const uint32_t* at) {
            if (index < i.step.count) expect_element("Add", type, i.state, at, step);
        });
    }
};

template <class T>
struct MaskedByRegister {
    static constexpr const char* names = "SetVectorMask Mul ResetMask";
    static constexpr Type type = type_of<T>;
    static constexpr uint32_t lanes = 256 / sizeof(T);
    RANDOM_CALL {
        AscendC::SetVectorMask<T, AscendC::MaskMode::NORMAL>(step.mask[1], step.mask[0]);
        AscendC::Mul<T, false>(tensor<T>(step.at[0]), tensor<T>(step.at[1]), tensor<T>(step.at[2]),
                               AscendC::MASK_PLACEHOLDER, step.repeats, binary_strides(step));
        AscendC::ResetMask();
    }
    RANDOM_HOST plan(Random& random, Step& step) {
        step.form = mask_bits;
        plan_mask(random, step, lanes);
        plan_strided(random, step, 0, type, lanes, true, {});
        for (uint32_t k = 1; k < 3; ++k) plan_strided(random, step, k, type, lanes, false, {step.at[0]});
    }
    RANDOM_HOST interpret(const Interpretation& i) {
        for_each_element(i.step, {type, type, type},
                         [&](uint32_t, const uint32_t* at) { expect_element("Mul", type, i.state, at, i.step); });
    }
};

}  // namespace programs

#endif
