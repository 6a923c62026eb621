// SPDX-License-Identifier: Apache-2.0
// The runtime's own kernels: work that a stream does on device memory and that only the device can do. They use no
// memory of a core, so one image serves every chip. A launch of several blocks has all of them resident.
#include <math.h>

#include "builtin/arguments.h"
#include "builtin/philox.h"
#include "foundation/half.h"
#include "kernel_operator.h"

namespace canopy {
namespace {

// The part of `count` items that this block works on, in multiples of `step`.
struct Share {
    uint64_t begin, end;

    __aicore__ Share(uint64_t count, uint64_t step) {
        const uint64_t blocks = block_num, steps = count / step + (count % step != 0 ? 1 : 0);
        const uint64_t each = steps / blocks + (steps % blocks != 0 ? 1 : 0);
        const uint64_t first = each * block_idx, last = first + each;
        begin = first < steps ? first * step : count;
        end = last < steps ? last * step : count;
    }
};

// Memory of the program may have any alignment.
template <class T>
struct __attribute__((packed, may_alias)) Packed {
    T value;
};

template <class T>
__aicore__ Packed<T>* packed(uint64_t address) {
    return reinterpret_cast<Packed<T>*>(address);
}

__aicore__ void wait_for_all_blocks() {
    if (block_num > 1) AscendC::SyncAll();
}

template <size_t length>
[[noreturn]] __aicore__ void give_up(const char (&text)[length]) {
    canopy_image_services->fail(text, length - 1);
    __builtin_unreachable();
}

// ---- reductions ----------------------------------------------------------------------------------------------------

// How elements are stored and computed.
template <class T>
struct Plain {
    using Stored = T;
    static __aicore__ T load(T value) { return value; }
    static __aicore__ T store(T value) { return value; }
};
struct Half {
    using Stored = uint16_t;
    static __aicore__ float load(uint16_t bits) { return half_to_float(bits); }
    static __aicore__ uint16_t store(float value) { return float_to_half(value); }
};
struct Bfloat16 {
    using Stored = uint16_t;
    static __aicore__ float load(uint16_t bits) { return bfloat16_to_float(bits); }
    static __aicore__ uint16_t store(float value) { return float_to_bfloat16(value); }
};

// Of two NaN a processor passes on one, and the compiler may exchange them: this is always `a`.
__aicore__ float add(float a, float b) { return a + (a != a ? a : b); }

template <class T>
__aicore__ T add(T a, T b) {  // wraps
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}

template <class Format, ReduceOperation operation, class T>
__aicore__ T combine(T a, T b) {
    if constexpr (operation == ReduceOperation::maximum) return a < b ? b : a;
    if constexpr (operation == ReduceOperation::minimum) return b < a ? b : a;
    if constexpr (operation == ReduceOperation::equal) return static_cast<T>(a == b);
    return std::is_same_v<Format, Bfloat16> ? add(b, a) : add(a, b);  // for bfloat16, the NaN of the source
}

template <class Format, ReduceOperation operation>
__aicore__ void reduce(const Reduction& work) {
    using Stored = typename Format::Stored;
    auto* destination = packed<Stored>(work.destination);
    const auto* source = packed<Stored>(work.source);
    const Share share(work.count, 64);
    for (uint64_t i = share.begin; i < share.end; ++i)
        destination[i].value = Format::store(
            combine<Format, operation>(Format::load(destination[i].value), Format::load(source[i].value)));
}

template <class Format>
__aicore__ void reduce(const Reduction& work) {
    switch (work.operation) {
        case ReduceOperation::sum:
            return reduce<Format, ReduceOperation::sum>(work);
        case ReduceOperation::maximum:
            return reduce<Format, ReduceOperation::maximum>(work);
        case ReduceOperation::minimum:
            return reduce<Format, ReduceOperation::minimum>(work);
        case ReduceOperation::equal:
            return reduce<Format, ReduceOperation::equal>(work);
    }
}

// ---- random numbers ------------------------------------------------------------------------------------------------

// Every number takes two words of the generator, so block n of its output makes the numbers 2n and 2n + 1.
constexpr uint32_t chunk_blocks = 64, chunk_numbers = 2 * chunk_blocks;
constexpr double truncation = 2.0;  // deviations from the mean that a truncated distribution allows

struct Chunk {
    uint32_t word[4][chunk_blocks];
    uint32_t blocks;

    // As many blocks as `numbers` need, and a few more: they are made eight at a time.
    __aicore__ void make(uint64_t seed, PhiloxCounter counter, uint64_t numbers) {
        blocks = numbers < chunk_numbers ? (static_cast<uint32_t>(numbers) / 2 + 8) / 8 * 8 : chunk_blocks;
        for (uint32_t i = 0; i < blocks; ++i) {
            const PhiloxBlock block = philox(seed, counter + i);
            for (uint32_t part = 0; part < 4; ++part) word[part][i] = block.word[part];
        }
    }
};

__aicore__ double unit(uint32_t high, uint32_t low) {  // [0, 1), 53 bits
    return (static_cast<int32_t>(high >> 5) * 0x1p26 + static_cast<int32_t>(low >> 6)) * 0x1p-53;
}

__aicore__ void make_units(const Chunk& chunk, double (&units)[chunk_numbers]) {
    for (uint32_t i = 0; i < chunk.blocks; ++i) {
        units[2 * i] = unit(chunk.word[0][i], chunk.word[1][i]);
        units[2 * i + 1] = unit(chunk.word[2][i], chunk.word[3][i]);
    }
}

// Pairs of independent normal numbers by the Box-Muller transform.
__aicore__ void make_normal(double* units, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 2) {
        const double radius = sqrt(-2.0 * log(1.0 - units[i]));
        const double angle = 2.0 * 3.141592653589793 * units[i + 1];
        units[i] = radius * cos(angle);
        units[i + 1] = radius * sin(angle);
    }
}

template <class Format>
__aicore__ void store_floats(uint64_t result, uint64_t at, const double* numbers, uint64_t count, double base,
                             double scale) {
    auto* target = packed<typename Format::Stored>(result) + at;
    for (uint64_t i = 0; i < count; ++i) target[i].value = Format::store(static_cast<float>(base + scale * numbers[i]));
}

// Writes base + scale * number from position `at` of the result on.
__aicore__ void store_floats(const RandomTask& task, uint64_t at, const double* numbers, uint64_t count, double base,
                             double scale) {
    if (task.type == RandomType::float16) return store_floats<Half>(task.result, at, numbers, count, base, scale);
    if (task.type == RandomType::bfloat16) return store_floats<Bfloat16>(task.result, at, numbers, count, base, scale);
    store_floats<Plain<float>>(task.result, at, numbers, count, base, scale);
}

// A task with all parameter values known.
struct Resolved {
    const RandomTask& task;
    uint64_t first, second, seed, count;
    PhiloxCounter counter;
};

__aicore__ double float_value(RandomType type, uint64_t bits, uint8_t size) {
    if (size == sizeof(double)) return __builtin_bit_cast(double, bits);
    if (size == sizeof(float)) return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    const auto half = static_cast<uint16_t>(bits);
    return type == RandomType::bfloat16 ? bfloat16_to_float(half) : half_to_float(half);
}

// Calls body(chunk, first number, numbers) for the chunks of this block.
template <class Body>
__aicore__ void for_each_chunk(const Resolved& work, Body&& body) {
    const Share share(work.count, chunk_numbers);
    Chunk chunk;
    for (uint64_t at = share.begin; at < share.end; at += chunk_numbers) {
        const uint64_t count = share.end - at < chunk_numbers ? share.end - at : chunk_numbers;
        chunk.make(work.seed, work.counter + at / 2, count);
        body(chunk, at, count);
    }
}

__aicore__ void make_mask(const Resolved& work) {
    const double share = float_value(work.task.type, work.first, work.task.first.size);
    auto* bytes = reinterpret_cast<uint8_t*>(work.task.result);
    for_each_chunk(work, [&](const Chunk& chunk, uint64_t at, uint64_t count) {
        double units[chunk_numbers];
        make_units(chunk, units);
        for (uint64_t begin = 0; begin < count; begin += 8) {
            uint8_t byte = 0;
            for (uint64_t bit = 0; bit < 8 && begin + bit < count; ++bit)
                byte |= static_cast<uint8_t>((units[begin + bit] < share ? 1u : 0u) << bit);
            bytes[(at + begin) / 8] = byte;
        }
    });
}

__aicore__ void make_floats(const Resolved& work) {
    const RandomTask& task = work.task;
    const double first = float_value(task.type, work.first, task.first.size);
    const double second = float_value(task.type, work.second, task.second.size);
    const bool uniform = task.function == RandomFunction::uniform;
    for_each_chunk(work, [&](const Chunk& chunk, uint64_t at, uint64_t count) {
        double numbers[chunk_numbers];
        make_units(chunk, numbers);
        if (!uniform) make_normal(numbers, count);
        store_floats(task, at, numbers, count, first, uniform ? second - first : second);
    });
}

// Normal numbers without those that are too large. Where a number is found depends on all before it: one block makes
// all of them. Returns how many blocks of the generator were used.
__aicore__ uint64_t make_truncated(const Resolved& work) {
    const RandomTask& task = work.task;
    const double mean = float_value(task.type, work.first, task.first.size);
    const double deviation = float_value(task.type, work.second, task.second.size);
    Chunk chunk;
    double numbers[chunk_numbers], kept[chunk_numbers];
    uint64_t used = 0;
    for (uint64_t made = 0; made < work.count;) {
        chunk.make(work.seed, work.counter + used, work.count - made);
        make_units(chunk, numbers);
        make_normal(numbers, 2 * chunk.blocks);
        uint32_t count = 0, last = 0;
        for (uint32_t i = 0; i < 2 * chunk.blocks && made + count < work.count; ++i) {
            kept[count] = numbers[i];
            count += fabs(numbers[i]) > truncation ? 0 : 1;
            last = i;
        }
        store_floats(task, made, kept, count, mean, deviation);
        made += count;
        used += last / 2 + 1;
    }
    return used;
}

// Integers in [first, second).
template <class T>
__aicore__ void make_integers(const Resolved& work) {
    const T range = static_cast<T>(work.second - work.first);
    auto* target = packed<T>(work.task.result);
    for_each_chunk(work, [&](const Chunk& chunk, uint64_t at, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            const uint32_t half = i % 2 * 2;
            const uint64_t number = uint64_t{chunk.word[half][i / 2]} << 32 | chunk.word[half + 1][i / 2];
            target[at + i].value = static_cast<T>(work.first + (range == 0 ? 0 : number % range));
        }
    });
}

__aicore__ uint64_t resolve(const RandomParameter& parameter) {
    if (!parameter.in_memory) return parameter.value_or_address;
    uint64_t value = 0;
    const auto* bytes = reinterpret_cast<const uint8_t*>(parameter.value_or_address);
    for (uint32_t i = 0; i < parameter.size; ++i) value |= uint64_t{bytes[i]} << (8 * i);
    return value;
}

}  // namespace
}  // namespace canopy

extern "C" __global__ __vector__ void canopy_reduce(canopy::Reduction work) {
    using namespace canopy;
    switch (work.type) {
        case ElementType::int8:
            return reduce<Plain<int8_t>>(work);
        case ElementType::int16:
            return reduce<Plain<int16_t>>(work);
        case ElementType::int32:
            return reduce<Plain<int32_t>>(work);
        case ElementType::float32:
            return reduce<Plain<float>>(work);
        case ElementType::float16:
            return reduce<Half>(work);
        case ElementType::bfloat16:
            return reduce<Bfloat16>(work);
    }
}

// The numbers may be written over the parameters: all blocks have read them before one writes, and the counter is
// written last.
extern "C" __global__ __vector__ void canopy_random(canopy::RandomTask task) {
    using namespace canopy;
    auto* counter = packed<PhiloxCounter>(task.counter);
    const Resolved work{
        task, resolve(task.first), resolve(task.second), resolve(task.seed), resolve(task.count), counter->value};
    if (result_size(task, work.count) > task.capacity)
        give_up("the number of random numbers, which is in memory, is too large for randomResultAddr");
    wait_for_all_blocks();
    uint64_t used = work.count / 2 + work.count % 2;
    if (task.function == RandomFunction::dropout_mask)
        make_mask(work);
    else if (task.function == RandomFunction::truncated_normal)
        used = make_truncated(work);
    else if (is_float(task.type))
        make_floats(work);
    else if (size_of(task.type) == 8)
        make_integers<uint64_t>(work);
    else
        make_integers<uint32_t>(work);
    wait_for_all_blocks();
    if (block_idx == 0) counter->value = work.counter + used;
}

// The bytes may be written over the slots: all blocks have read them before one writes.
extern "C" __global__ __vector__ void canopy_copy_behind_slots(canopy::SlotCopy work) {
    using namespace canopy;
    auto* destination = *reinterpret_cast<uint8_t* const*>(work.destination_slot);
    const auto* source = *reinterpret_cast<const uint8_t* const*>(work.source_slot);
    if (!destination || !source) give_up("dst or src holds a null pointer");
    destination += work.destination_offset;
    source += work.source_offset;
    wait_for_all_blocks();
    const bool overlap = destination < source + work.count && source < destination + work.count;
    if (!overlap) {
        const Share share(work.count, 4096);
        __builtin_memcpy(destination + share.begin, source + share.begin, share.end - share.begin);
    } else if (block_idx == 0) {
        __builtin_memmove(destination, source, work.count);
    }
}
