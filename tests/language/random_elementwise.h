// SPDX-License-Identifier: Apache-2.0
// The element-wise calls of random programs. A line CALL(name, destination's type, sources' type, arguments...) of the
// generated table becomes a function for the kernel; the host reads from the text of the arguments what to plan, and
// from the meaning of the name what to expect.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_ELEMENTWISE_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_ELEMENTWISE_H

#include "random_meanings.h"

namespace programs {

// Compiled once instead of in every operation.
#define RANDOM_APART __aicore__ __attribute__((noinline)) inline

template <class T>
RANDOM_APART AscendC::LocalTensor<T> tensor(const Operand& operand) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, operand.byte, operand.room / sizeof(T));
}
// A tensor of exactly `count` elements.
template <class T>
RANDOM_APART AscendC::LocalTensor<T> tensor(const Operand& operand, uint32_t count) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, operand.byte, count);
}
template <class T = uint8_t>
RANDOM_APART AscendC::LocalTensor<T> scratch() {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, scratch_byte, scratch_bytes / sizeof(T));
}
RANDOM_APART AscendC::UnaryRepeatParams unary_strides(const Step& step) {
    return {step.at[0].block, step.at[1].block, step.at[0].repeat, step.at[1].repeat};
}
RANDOM_APART AscendC::BinaryRepeatParams binary_strides(const Step& step) {
    return {step.at[0].block,  step.at[1].block,  step.at[2].block,
            step.at[0].repeat, step.at[1].repeat, step.at[2].repeat};
}

// What the arguments of a call stand for.
template <class D, class S>
struct Arguments {
    const Step& step;

    __aicore__ AscendC::LocalTensor<D> dst() const { return tensor<D>(step.at[0]); }
    __aicore__ AscendC::LocalTensor<S> src0() const { return tensor<S>(step.at[1]); }
    __aicore__ AscendC::LocalTensor<S> src1() const { return tensor<S>(step.at[2]); }
    __aicore__ AscendC::LocalTensor<S> src2() const { return tensor<S>(step.at[3]); }
    __aicore__ AscendC::LocalTensor<uint8_t> scratch() const { return programs::scratch(); }
    __aicore__ S scalar() const { return static_cast<S>(step.scalar); }
    __aicore__ float number() const { return static_cast<float>(step.scalar); }
    __aicore__ uint32_t count() const { return step.count; }
    __aicore__ uint64_t lanes() const { return step.mask[0]; }
    __aicore__ const uint64_t* bits() const { return step.mask; }
    __aicore__ uint8_t repeats() const { return step.repeats; }
    __aicore__ AscendC::UnaryRepeatParams unary() const { return unary_strides(step); }
    __aicore__ AscendC::BinaryRepeatParams binary() const { return binary_strides(step); }
    __aicore__ AscendC::RoundMode rounding() const { return static_cast<AscendC::RoundMode>(step.mode); }
};

// What follows is compiled as device code as well, where it is not needed.
#pragma clang optimize off

// A line of the table.
struct Row {
    const char *name, *arguments;
    Type to, from;

    bool takes(const char* argument) const { return std::strstr(arguments, argument) != nullptr; }
    uint32_t sources() const { return takes("src2") ? 3 : takes("src1") ? 2 : 1; }
    bool has_scalar() const { return takes("scalar") || takes("number"); }
    Form form() const { return takes("lanes") ? leading_lanes : takes("bits") ? mask_bits : counted; }
    // The functions on repeats may have the destination as a source, in all their forms.
    bool aliases(const Meaning& meaning) const {
        return to == from && !meaning.updates && (takes("repeats") || takes("rounding"));
    }
};

inline double some_scalar(Random& random, Type type) {
    if (!is_floating(type)) {
        const Real low = std::fmax(lowest_integer(type), -200.0L), high = std::fmin(highest_integer(type), 200.0L);
        return static_cast<double>(std::floor(low + static_cast<Real>(random.real()) * (high - low)));
    }
    const double value = random.chance(15)   ? 0
                         : random.chance(20) ? 1e30 * (random.real() - 0.5)
                                             : 8 * random.real() - 4;
    return static_cast<double>(rounded(type, static_cast<Real>(value)));
}

inline double scalar_of(const Row& row, const Meaning& meaning, Random& random) {
    if (row.takes("number")) return 2 * random.real() - 1;
    if (is_floating(row.from) && meaning.domain.pool == positive)
        return static_cast<double>(rounded(row.from, 0.01L + 4 * static_cast<Real>(random.real())));
    return some_scalar(random, row.from);
}

// The places of a destination and of some sources, for the form of the step.
inline void plan_operands(Random& random, Step& step, Type to, Type from, uint32_t sources) {
    const uint32_t widest = std::max(size_of(to), size_of(from)), lanes = 256 / widest;
    if (step.form == counted) {
        step.count = some_count(random, slot_bytes / widest);
        step.at[0] = place(random, to, step.count * size_of(to));
        for (uint32_t i = 1; i <= sources; ++i)
            step.at[i] = place(random, from, step.count * size_of(from), {step.at[0]});
        // Nothing beyond the elements is needed.
        step.at[0].room = step.count * size_of(to);
        for (uint32_t i = 1; i <= sources; ++i) step.at[i].room = step.count * size_of(from);
        return;
    }
    plan_mask(random, step, lanes);
    plan_strided(random, step, 0, to, lanes, true, {});
    for (uint32_t i = 1; i <= sources; ++i) plan_strided(random, step, i, from, lanes, false, {step.at[0]});
}

// A mask has no bit for each element of a byte.
inline Form some_mask(Random& random, Type type) {
    return size_of(type) == 1 || random.chance(50) ? leading_lanes : mask_bits;
}

inline void plan_row(const Row& row, Random& random, Step& step) {
    const Meaning& meaning = *meaning_of(row.name);
    step.form = row.form();
    step.scalar = row.has_scalar() ? scalar_of(row, meaning, random) : 0;
    step.mode = static_cast<uint8_t>(row.takes("rounding") ? random.below(7) : 0);
    const bool alias = row.aliases(meaning) && random.chance(20);
    plan_operands(random, step, row.to, row.from, row.sources());
    if (alias) step.at[1] = step.at[0];
}

// The rounding of a cast.
inline Rounding rounding_of(uint8_t mode) {
    constexpr Rounding of[] = {Rounding::nearest_even, Rounding::nearest_even, Rounding::down, Rounding::up,
                               Rounding::away,         Rounding::towards_zero, Rounding::odd};
    return of[mode];
}

// The operands of an element in the order of the call, with the old destination at the end.
template <class Number, class Read>
std::array<Number, 4> operands_of(const Row& row, bool updates, Number scalar, const Read& read) {
    std::array<Number, 4> result{};
    uint32_t used = 0, next = 1;
    for (const char* at = row.arguments; *at != 0; ++at) {
        if (at != row.arguments && at[-1] != ' ') continue;
        if (std::strncmp(at, "src", 3) == 0) result[used++] = read(next++);
        if (std::strncmp(at, "scalar", 6) == 0 || std::strncmp(at, "number", 6) == 0) result[used++] = scalar;
    }
    if (updates) result[used] = read(0);
    return result;
}

// Shifts by less than nothing are undefined.
inline bool is_shift(const Row& row) { return std::strncmp(row.name, "Shift", 5) == 0; }

inline void expect_of_integers(const Row& row, const Meaning& meaning, Expected& state, const uint32_t* at,
                               const Types& types, const Step& step) {
    const auto read = [&](uint32_t operand) {
        return operand == 0 ? state.whole(row.to, at[0]) : state.whole(row.from, at[operand]);
    };
    const auto [a, b, c, rest] = operands_of<Whole>(row, meaning.updates, static_cast<Whole>(step.scalar), read);
    if (is_shift(row) && b < 0) return state.any(row.to, at[0]);
    const Whole value = meaning.whole(a, b, c, types);
    if (!is_floating(row.to)) return state.write_whole(row.to, at[0], value);
    const bool through_float = row.to == Type::f16 && row.from == Type::i32;  // which is scaled there
    state.write(row.to, at[0],
                through_float ? shortened(row.to, f32(static_cast<Real>(value)), Rounding::nearest_even)
                              : shortened(row.to, static_cast<Real>(value), types.rounding));
}

inline void expect_of_reals(const Row& row, const Meaning& meaning, Expected& state, const uint32_t* at,
                            const Types& types, const Step& step) {
    const auto read = [&](uint32_t operand) {
        return operand == 0 ? state.read(row.to, at[0]) : state.read(row.from, at[operand]);
    };
    const Domain& domain = meaning.domain;
    const auto inside = [&](Real x) {
        return domain.pool == pools || (x >= Real(domain.low) && x <= Real(domain.high));
    };
    for (uint32_t i = 1; i <= row.sources(); ++i)
        if (!inside(read(i))) return state.any(row.to, at[0]);
    const auto [a, b, c, rest] = operands_of<Real>(row, meaning.updates, static_cast<Real>(step.scalar), read);
    const Real value = meaning.real(a, b, c, types);
    if (!is_floating(row.to) || meaning.units < 0)
        return state.write(row.to, at[0], is_floating(row.to) && row.to != Type::f32 ? f32(value) : value);
    const bool is_short = row.to != Type::f32;
    const double units = is_short && meaning.units > 0 ? 0.51 : meaning.units;
    state.near(row.to, at[0], value, units * unit_at(row.to, value) + (units > 2 ? 16 * unit_at(row.to, 0) : 0));
}

// What a function of that name does to one element of operands of one type.
inline void expect_element(const char* name, Type type, Expected& state, const uint32_t* at, const Step& step) {
    const Row row{name, "dst(), src0(), src1()", type, type};
    const auto expect = is_floating(type) ? expect_of_reals : expect_of_integers;
    expect(row, *meaning_of(name), state, at, {type, type, Rounding::nearest_even}, step);
}

inline void interpret_row(const Row& row, Expected& expected, const Step& step) {
    const Meaning& meaning = *meaning_of(row.name);
    const Types types{row.to, row.from, rounding_of(step.mode)};
    const auto expect = is_floating(row.from) ? expect_of_reals : expect_of_integers;
    const auto element = [&](uint32_t, const uint32_t* at) { expect(row, meaning, expected, at, types, step); };
    switch (row.sources()) {
        case 1:
            return for_each_element(step, {row.to, row.from}, element);
        case 2:
            return for_each_element(step, {row.to, row.from, row.from}, element);
        default:
            return for_each_element(step, {row.to, row.from, row.from, row.from}, element);
    }
}

#pragma clang optimize on

}  // namespace programs

#endif
