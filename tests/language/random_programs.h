// SPDX-License-Identifier: Apache-2.0
// Random programs: combinations of calls of the kernel language, chosen from a table, compared after every call with a
// plain interpreter of the same calls. Environment: CANOPY_TEST_SEED runs one program, CANOPY_TEST_PROGRAMS changes
// their number. Each chip has a source that includes this; RANDOM_CALLS is the header with the table of the chip.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_PROGRAMS_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_PROGRAMS_H

#include "on_core.h"

#include "random_interpreters.h"

#include <cstdlib>
#include <set>

using namespace programs;

namespace {

// The calls of the table for the kernel.
template <int line>
struct Call;
#define CALL(Name, D, S, ...)                                                    \
    template <>                                                                  \
    struct Call<__LINE__> : Arguments<D, S> {                                    \
        template <int = 0>                                                       \
        __aicore__ __attribute__((noinline)) static void run(const Step& step) { \
            Call{{step}}.make();                                                 \
        }                                                                        \
        template <int = 0>                                                       \
        __aicore__ __attribute__((always_inline)) void make() const {            \
            AscendC::Name(__VA_ARGS__);                                          \
        }                                                                        \
    };
#define LACKING(Name)
#define NAMED(Interpreter, Name)
#define INTERPRETED(Interpreter, T)
#include RANDOM_CALLS
#undef CALL
#undef INTERPRETED

// The steps of a program, one after the other. The state is stored after each.
struct Program {
    uint32_t steps;

    template <int = 0>
    __aicore__ static void perform(const Step& step, GM_ADDR memory) {
        uint32_t number = 0;
#define CALL(Name, D, S, ...) \
    if (step.operation == number++) return Call<__LINE__>::run(step);
#define INTERPRETED(Interpreter, T) \
    if (step.operation == number++) return interpreters::Interpreter<T>::run(step, memory);
#include RANDOM_CALLS
#undef CALL
#undef INTERPRETED
    }

    template <class Memory>
    __aicore__ void run(Memory memory) const {
        const AscendC::LocalTensor<uint8_t> buffer(AscendC::TPosition::VECCALC, 0, buffer_bytes);
        AscendC::DataCopy(buffer, global<uint8_t>(memory, first_state_byte, buffer_bytes), buffer_bytes);
        for (uint32_t i = 0; i < steps; ++i) {
            Step step;
            __builtin_memcpy(&step, memory + steps_byte + i * sizeof(Step), sizeof step);
            perform(step, memory);
            const uint32_t log = log_byte + i * state_bytes;
            AscendC::DataCopy(global<uint8_t>(memory, log, buffer_bytes), buffer, buffer_bytes);
            __builtin_memcpy(memory + log + buffer_bytes, memory + first_state_byte + buffer_bytes,
                             state_bytes - buffer_bytes);
        }
    }
};

// This is compiled as device code as well, where it is not needed.
#pragma clang optimize off

// --- The table on the host ----------------------------------------------------------------------------------------

struct Operation {
    const char* label;
    const char* names;
    Row row;  // or, if the operation is not element-wise:
    void (*plan)(Random&, Step&);
    void (*interpret)(const Interpretation&);
};

constexpr Operation table[] = {
#define CALL(Name, D, S, ...) \
    {#Name " " #D " " #S " (" #__VA_ARGS__ ")", #Name, {#Name, #__VA_ARGS__, type_of<D>, type_of<S>}, nullptr, nullptr},
#define INTERPRETED(Interpreter, T)       \
    {#Interpreter "<" #T ">",             \
     interpreters::Interpreter<T>::names, \
     {},                                  \
     interpreters::Interpreter<T>::plan,  \
     interpreters::Interpreter<T>::interpret},
#include RANDOM_CALLS
#undef CALL
#undef LACKING
#undef NAMED
#undef INTERPRETED
};
constexpr uint32_t table_size = sizeof table / sizeof *table;

// The first operation whose label starts so.
uint16_t operation_called(const std::string& label) {
    for (uint32_t i = 0; i < table_size; ++i)
        if (std::string(table[i].label).compare(0, label.size(), label) == 0) return static_cast<uint16_t>(i);
    ADD_FAILURE() << "no operation is called " << label;
    return 0;
}

// --- The generator ------------------------------------------------------------------------------------------------

struct Source {
    uint64_t seed;
    std::vector<Step> steps;
};

// Fills the slot of an operand from a pool.
Step copy_into(const Operand& operand, Pool pool) {
    constexpr const char* labels[] = {"CopyIn<float>",   "CopyIn<half>",       "CopyIn<int32_t>", "CopyIn<int16_t>",
                                      "CopyIn<uint8_t>", "CopyIn<bfloat16_t>", "CopyIn<int64_t>"};
    const uint32_t slot = operand.byte / slot_pitch;
    const Type type = type_of_slot(slot);
    Step step{};
    step.operation = operation_called(labels[storage_of(type)]);
    step.at[0] = whole_slot(slot);
    step.count = slot_bytes / size_of(type);
    step.shape[0] = pool_at(storage_of(type), pool);
    step.shape[1] = slot_bytes;
    return step;
}

// The operations in random orders one after the other, so that a number of programs has all of them. A program takes
// some in this way and others by chance.
constexpr uint32_t dealt_to_a_program = 8;
uint16_t dealt(uint64_t seed, uint32_t number) {
    const uint64_t place = seed * dealt_to_a_program + number;
    static uint64_t dealt_round = ~uint64_t{0};
    static std::vector<uint16_t> order;
    if (dealt_round != place / table_size) {
        dealt_round = place / table_size;
        order.resize(table_size);
        for (uint32_t i = 0; i < table_size; ++i) order[i] = static_cast<uint16_t>(i);
        Random random(dealt_round + 7777777);
        for (uint32_t i = 0; i < table_size; ++i) std::swap(order[i], order[i + random.below(table_size - i)]);
    }
    return order[place % table_size];
}

Source generate(uint64_t seed) {
    Random random(seed);
    Source source{seed, {}};
    const uint32_t wanted = random.between(dealt_to_a_program, most_steps);
    uint32_t next = 0;
    while (source.steps.size() < wanted) {
        Step step{};
        const auto left = wanted - static_cast<uint32_t>(source.steps.size());
        const bool takes_dealt = next < dealt_to_a_program && (left <= dealt_to_a_program - next || random.chance(80));
        step.operation = takes_dealt ? dealt(seed, next++) : static_cast<uint16_t>(random.below(table_size));
        const Operation& operation = table[step.operation];
        if (operation.plan != nullptr)
            operation.plan(random, step);
        else
            plan_row(operation.row, random, step);
        // Fresh numbers, from the domain of the operation if it has one: those of earlier steps are mostly outside, or
        // not numbers any more.
        for (uint32_t i = 0; i < 6; ++i) {
            const Operand& operand = step.at[i];
            const uint32_t slot = operand.byte / slot_pitch;
            if (operand.room == 0 || slot >= offsets_of_words ||
                source.steps.size() + 1 + (dealt_to_a_program - next) >= wanted)
                continue;
            const Domain domain = operation.plan != nullptr ? any : meaning_of(operation.row.name)->domain;
            if (!random.chance(i == 0 ? 3 : domain.pool == pools ? 20 : 75)) continue;
            const auto pool = static_cast<Pool>(random.chance(50) ? moderate : random.below(pools));
            source.steps.push_back(copy_into(operand, domain.pool == pools ? pool : domain.pool));
        }
        source.steps.push_back(step);
    }
    return source;
}

Real some_number(Random& random, Pool pool) {
    const Real x = static_cast<Real>(random.real());
    switch (pool) {
        case moderate:
            return random.chance(30) ? std::floor(x * 20) - 10 : x * 16 - 8;
        case unit:
            return random.chance(5) ? std::round(x * 2) - 1 : x * 2 - 1;
        case positive:
            return random.chance(10) ? std::floor(x * 30) : x * 20 + 0.001L;
        case wide:
            return (random.chance(50) ? 1 : -1) * std::ldexp(1 + x, static_cast<int>(random.below(60)) - 30);
        default: {
            constexpr Real values[] = {0,       -0.0L, infinity, -infinity, not_a_number,  1,      -1,     0x1p-149L,
                                       -1e-40L, 6e-8L, 65504,    -65504,    3.4e38L,       -3e38L, 0.5L,   2.5L,
                                       -3.5L,   1e30L, 32767.5L, -32768.5L, 2147483648.0L, 255.5L, 127.5L, -128.5L};
            return values[random.below(sizeof values / sizeof *values)];
        }
    }
}

void fill(Random& random, uint8_t* to, uint32_t bytes, Type type, Pool pool) {
    const uint32_t size = size_of(type);
    for (uint32_t at = 0; at + size <= bytes; at += size) {
        if (is_floating(type)) {
            encode(type, to + at, some_number(random, pool));
        } else if (pool == wide || pool == special) {
            const uint64_t bits = random.bits();
            std::memcpy(to + at, &bits, size);
        } else {
            encode(type, to + at, static_cast<Real>(random.below(pool == unit ? 2 : 50)) - (pool == moderate ? 25 : 0));
        }
    }
}

// Global memory before the program runs.
Bytes first_memory(const Source& source) {
    Random random(source.seed + 1000003);
    Bytes memory(memory_bytes(static_cast<uint32_t>(source.steps.size())));
    std::memcpy(memory.data() + steps_byte, source.steps.data(), source.steps.size() * sizeof(Step));
    constexpr Type types[] = {Type::f32, Type::f16, Type::i32, Type::i16, Type::u8, Type::bf16, Type::i64};
    for (uint32_t storage = 0; storage < storages; ++storage)
        for (uint32_t pool = 0; pool < pools; ++pool)
            fill(random, memory.data() + pool_at(static_cast<Storage>(storage), pool), pool_bytes, types[storage],
                 static_cast<Pool>(pool));
    uint8_t* state = memory.data() + first_state_byte;
    for (uint32_t i = 0; i < state_bytes; i += 8) {
        const uint64_t bits = random.bits();
        std::memcpy(state + i, &bits, 8);
    }
    for (uint32_t slot = 0; slot < offsets_of_words; ++slot)
        fill(random, state + slot * slot_pitch, slot_bytes, type_of_slot(slot), static_cast<Pool>(random.below(pools)));
    fill(random, state + outbox_byte, outbox_bytes, Type::f16, moderate);
    // Different offsets, in a random order.
    const auto offsets = [&](uint32_t slot, uint32_t unit_bytes) {
        std::vector<uint32_t> all;
        for (uint32_t at = 0; at < slot_bytes; at += unit_bytes) all.push_back(at);
        for (uint32_t i = 0; i < all.size(); ++i)
            std::swap(all[i], all[i + random.below(static_cast<uint32_t>(all.size()) - i)]);
        for (uint32_t i = 0; i < slot_bytes / 4; ++i) {
            const uint32_t offset = all[i % all.size()];
            std::memcpy(state + slot * slot_pitch + i * 4, &offset, 4);
        }
    };
    offsets(offsets_of_words, 4);
    offsets(offsets_of_shorts, 2);
    offsets(offsets_of_blocks, 32);
    offsets(offsets_of_longs, 8);
    return memory;
}

std::string text_of(const Step& step) {
    char text[1000];
    int used = std::snprintf(
        text, sizeof text, "%s: %s count %u mask %llx:%llx repeats %d mode %d scalar %g shape %u %u %u %u",
        table[step.operation].label,
        step.form == counted         ? "counted"
        : step.form == leading_lanes ? "leading lanes"
                                     : "mask bits",
        step.count, static_cast<unsigned long long>(step.mask[1]), static_cast<unsigned long long>(step.mask[0]),
        step.repeats, step.mode, step.scalar, step.shape[0], step.shape[1], step.shape[2], step.shape[3]);
    for (const Operand& operand : step.at)
        if (operand.room != 0)
            used += std::snprintf(text + used, sizeof text - static_cast<size_t>(used), " [%s strides %d %d]",
                                  name_of_place(operand.byte).c_str(), operand.block, operand.repeat);
    return text;
}

std::string text_of(const Source& source) {
    std::string text = "replay with CANOPY_TEST_SEED=" + std::to_string(source.seed) + "; the steps that are needed:\n";
    for (const Step& step : source.steps) text += "    " + text_of(step) + "\n";
    return text;
}

// --- The interpreter ----------------------------------------------------------------------------------------------

// Errors of the interpreter, to see that they are noticed.
enum class Mistake { none, wrong_byte, wrong_number, byte_outside };

struct Interpreter {
    Mistake mistake = Mistake::none;
    uint16_t operation = 0;                     // with the mistake
    std::vector<uint32_t>* compared = nullptr;  // counts the steps of each operation whose effect is known

    // Empty, or what the kernel did differently. Every step starts from what the kernel has left.
    std::string compare(const Source& source, const Bytes& before, const Bytes& after) const {
        const uint8_t* state = before.data() + first_state_byte;
        for (uint32_t i = 0; i < source.steps.size(); ++i) {
            const Step& step = source.steps[i];
            const Operation& entry = table[step.operation];
            Expected expected(state);
            if (entry.interpret != nullptr)
                entry.interpret({expected, step, before.data()});
            else
                interpret_row(entry.row, expected, step);
            if (compared != nullptr && expected.is_definite()) ++(*compared)[step.operation];
            if (step.operation == operation) falsify(expected, step);
            state = after.data() + log_byte + i * state_bytes;
            const std::string difference = expected.difference(state);
            if (!difference.empty()) return "step " + std::to_string(i) + ", " + text_of(step) + ": " + difference;
        }
        return {};
    }

    void falsify(Expected& expected, const Step& step) const {
        if (mistake == Mistake::wrong_byte) expected.flip(step.at[0].byte);
        if (mistake == Mistake::wrong_number) expected.disturb_first_number();
        if (mistake == Mistake::byte_outside) expected.flip(step.at[0].byte / slot_pitch * slot_pitch + slot_bytes + 3);
    }
};

// Runs programs one after the other on the same memory.
class Machine {
public:
    Machine() {
        open_test_device();
        EXPECT_EQ(aclrtMalloc(&device_, memory_bytes(most_steps), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() {
        EXPECT_EQ(aclrtFree(device_), ACL_SUCCESS);
        EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    }

    // Returns what differs from the interpreter, empty if nothing does.
    std::string run(const Source& source, const Interpreter& interpreter) {
        const Bytes before = first_memory(source);
        const Program program{static_cast<uint32_t>(source.steps.size())};
        EXPECT_EQ(aclrtMemcpy(device_, before.size(), before.data(), before.size(), ACL_MEMCPY_HOST_TO_DEVICE),
                  ACL_SUCCESS);
        const int launched = run_case<Program><<<1, nullptr, stream_>>>(static_cast<uint8_t*>(device_), program);
        EXPECT_EQ(launched, ACL_SUCCESS);
        if (aclrtSynchronizeStream(stream_) != ACL_SUCCESS) {
            const char* text = aclGetRecentErrMsg();
            const std::string failure = std::string("the kernel failed: ") + (text == nullptr ? "" : text);
            EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
            EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
            return failure;
        }
        Bytes after(before.size());
        EXPECT_EQ(aclrtMemcpy(after.data(), after.size(), device_, after.size(), ACL_MEMCPY_DEVICE_TO_HOST),
                  ACL_SUCCESS);
        return interpreter.compare(source, before, after);
    }

    // Drops steps as long as the program still fails.
    Source shrunk(Source source, const Interpreter& interpreter) {
        for (bool dropped = true; dropped;) {
            dropped = false;
            for (size_t i = source.steps.size(); i-- > 0 && source.steps.size() > 1;) {
                Source smaller_one = source;
                smaller_one.steps.erase(smaller_one.steps.begin() + static_cast<ptrdiff_t>(i));
                if (run(smaller_one, interpreter).empty()) continue;
                source = smaller_one;
                dropped = true;
            }
        }
        return source;
    }

private:
    void* device_ = nullptr;
    aclrtStream stream_ = nullptr;
};

uint64_t from_environment(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(RandomPrograms, AgreeWithTheInterpreter) {
    Machine machine;
    const bool one = std::getenv("CANOPY_TEST_SEED") != nullptr;
    const uint64_t first = from_environment("CANOPY_TEST_SEED", 1);
    const uint64_t programs = one ? 1 : from_environment("CANOPY_TEST_PROGRAMS", 300);
    std::vector<uint32_t> compared(table_size);
    Interpreter interpreter;
    interpreter.compared = &compared;
    int failures = 0;
    for (uint64_t seed = first; seed < first + programs && failures < 5; ++seed) {
        const Source source = generate(seed);
        if (machine.run(source, interpreter).empty()) continue;
        ++failures;
        const Source small = machine.shrunk(source, {});
        ADD_FAILURE() << machine.run(small, {}) << "\n" << text_of(small);
    }
    if (programs < 300 || failures != 0) return;
    for (uint32_t i = 0; i < table_size; ++i) EXPECT_GT(compared[i], 0u) << "never compared: " << table[i].label;
}

// Every call of the table, so every combination of types, occurs.
TEST(RandomPrograms, CoverTheTable) {
    std::vector<int> used(table_size);
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        const Source source = generate(seed);
        EXPECT_GE(source.steps.size(), dealt_to_a_program);
        EXPECT_LE(source.steps.size(), most_steps);
        for (const Step& step : source.steps) ++used[step.operation];
    }
    for (uint32_t i = 0; i < table_size; ++i) EXPECT_GE(used[i], 1) << table[i].label;
}

std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    for (size_t first = 0, end; first < text.size(); first = end + 1) {
        end = std::min(text.find(' ', first), text.size());
        words.insert(text.substr(first, end - first));
    }
    return words;
}

// No call lacks an interpreter, and no interpreter lacks a call, on another chip if this one lacks the function.
TEST(RandomPrograms, HaveAnInterpreterForEachName) {
    std::set<std::string> names, calls, interpreted, named;
    for (const Operation& operation : table) {
        for (const std::string& name : words_of(operation.names)) {
            names.insert(name);
            if (operation.plan != nullptr)
                interpreted.insert(std::string(operation.label, std::strchr(operation.label, '<')) + " " + name);
        }
        if (operation.plan != nullptr) continue;
        calls.insert(operation.names);
        EXPECT_NE(meaning_of(operation.names), nullptr) << "no interpreter for " << operation.names;
    }
#define LACKING(Name) calls.insert(#Name);
#define CALL(Name, D, S, ...)
#define INTERPRETED(Interpreter, T)
#define NAMED(Interpreter, Name) named.insert(#Interpreter " " #Name);
#include RANDOM_CALLS
#undef CALL
#undef LACKING
#undef NAMED
#undef INTERPRETED
    EXPECT_EQ(interpreted, named);
    for (const Meaning& meaning : meanings()) EXPECT_EQ(calls.count(meaning.name), 1u) << "no call of " << meaning.name;
    RecordProperty("names", static_cast<int>(names.size()));
    RecordProperty("calls", static_cast<int>(table_size));
    EXPECT_GE(names.size(), 150u);
}

TEST(RandomPrograms, AreTheSameForTheSameSeed) {
    const Source first = generate(77), second = generate(77), other = generate(78);
    ASSERT_EQ(text_of(first), text_of(second));
    EXPECT_NE(text_of(first), text_of(other));
    EXPECT_EQ(first_memory(first), first_memory(second));
}

// Finds a program with the operation, makes the interpreter wrong about it, and expects that one step is left.
void expect_noticed(Mistake mistake, const char* label) {
    Machine machine;
    const Interpreter wrong{mistake, operation_called(label)};
    for (uint64_t seed = 1; seed < 300; ++seed) {
        const Source source = generate(seed);
        const bool has_it = std::any_of(source.steps.begin(), source.steps.end(),
                                        [&](const Step& step) { return step.operation == wrong.operation; });
        if (!has_it) continue;
        const std::string difference = machine.run(source, wrong);
        if (difference.empty()) continue;  // a number may be unspecified in this program
        const Source small = machine.shrunk(source, wrong);
        ASSERT_EQ(small.steps.size(), 1u);
        EXPECT_EQ(small.steps[0].operation, wrong.operation);
        EXPECT_NE(text_of(small).find(label), std::string::npos);
        EXPECT_NE(text_of(small).find("CANOPY_TEST_SEED=" + std::to_string(seed)), std::string::npos);
        EXPECT_EQ(machine.run(small, {}), "");
        return;
    }
    FAIL() << "no program noticed a mistake in " << label;
}

TEST(RandomPrograms, NoticeAWrongElement) {
    expect_noticed(Mistake::wrong_byte, "Add int32_t int32_t");
    expect_noticed(Mistake::wrong_byte, "Transposed<half>");
}
TEST(RandomPrograms, NoticeAnInaccurateNumber) {
    expect_noticed(Mistake::wrong_number, "Exp float float");
    expect_noticed(Mistake::wrong_number, "ReducedSum<float>");
}
TEST(RandomPrograms, NoticeAByteOutsideTheOperand) {
    expect_noticed(Mistake::byte_outside, "Sub half half");
    expect_noticed(Mistake::byte_outside, "Filled<float>");
}

}  // namespace

#endif
