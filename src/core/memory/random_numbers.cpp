// SPDX-License-Identifier: Apache-2.0
#include "core/memory/random_numbers.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "core/stream/stream.h"
#include "foundation/half.h"

namespace canopy {
namespace {

constexpr std::size_t counter_size = 16;
constexpr double truncation = 2.0;  // deviations from the mean that a truncated distribution allows

bool is_float(RandomType type) noexcept { return type <= RandomType::bfloat16; }

double uniform_unit(Philox& random) noexcept {  // [0, 1), 53 bits
    const std::uint64_t high = random.next() >> 5, low = random.next() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1p-53;
}

// Pairs of independent normal numbers by the Box-Muller transform.
class Normal {
public:
    double next(Philox& random) noexcept {
        if (kept_) {
            kept_ = false;
            return second_;
        }
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform_unit(random)));
        const double angle = 2.0 * std::numbers::pi * uniform_unit(random);
        second_ = radius * std::sin(angle);
        kept_ = true;
        return radius * std::cos(angle);
    }

private:
    double second_ = 0;
    bool kept_ = false;
};

void store(std::byte* target, RandomType type, double value) noexcept {
    switch (type) {
        case RandomType::float16: {
            const std::uint16_t bits = float_to_half(static_cast<float>(value));
            std::memcpy(target, &bits, sizeof(bits));
            return;
        }
        case RandomType::bfloat16: {
            const std::uint16_t bits = float_to_bfloat16(static_cast<float>(value));
            std::memcpy(target, &bits, sizeof(bits));
            return;
        }
        default: {
            const auto single = static_cast<float>(value);
            std::memcpy(target, &single, sizeof(single));
        }
    }
}

double float_value(RandomType type, std::uint64_t bits, std::uint8_t size) noexcept {
    if (size == sizeof(double)) return std::bit_cast<double>(bits);
    if (size == sizeof(float)) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto half = static_cast<std::uint16_t>(bits);
    return type == RandomType::bfloat16 ? bfloat16_to_float(half) : half_to_float(half);
}

// A task with all parameter values known.
struct Resolved {
    const RandomTask& task;
    std::uint64_t first, second, seed, count;
};

void make_mask(const Resolved& work, Philox& random) noexcept {
    const double share = float_value(work.task.type, work.first, work.task.first.size);
    auto* bytes = static_cast<std::uint8_t*>(work.task.result);
    for (std::uint64_t begin = 0; begin < work.count; begin += 8) {
        std::uint8_t byte = 0;
        for (std::uint64_t bit = 0; bit < 8 && begin + bit < work.count; ++bit)
            byte |= static_cast<std::uint8_t>((uniform_unit(random) < share ? 1u : 0u) << bit);
        bytes[begin / 8] = byte;
    }
}

void make_floats(const Resolved& work, Philox& random) noexcept {
    const RandomTask& task = work.task;
    const double first = float_value(task.type, work.first, task.first.size);
    const double second = float_value(task.type, work.second, task.second.size);
    Normal normal;
    auto* target = static_cast<std::byte*>(task.result);
    for (std::uint64_t index = 0; index < work.count; ++index, target += size_of(task.type)) {
        if (task.function == RandomFunction::uniform) {
            store(target, task.type, first + (second - first) * uniform_unit(random));
            continue;
        }
        double deviation = normal.next(random);
        while (task.function == RandomFunction::truncated_normal && std::abs(deviation) > truncation)
            deviation = normal.next(random);
        store(target, task.type, first + second * deviation);
    }
}

// Integers in [first, second).
void make_integers(const Resolved& work, Philox& random) noexcept {
    const std::size_t size = size_of(work.task.type);
    const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : 0xFFFFFFFFu;
    const std::uint64_t range = (work.second - work.first) & mask;
    auto* target = static_cast<std::byte*>(work.task.result);
    for (std::uint64_t index = 0; index < work.count; ++index, target += size) {
        const std::uint64_t high = random.next(), low = random.next();
        const std::uint64_t number = work.first + (range == 0 ? 0 : ((high << 32) | low) % range);
        std::memcpy(target, &number, size);
    }
}

std::uint64_t resolve(const RandomParameter& parameter, bool& readable) {
    if (!parameter.in_memory) return parameter.value_or_address;
    std::uint64_t value = 0;
    const auto* address = reinterpret_cast<const void*>(parameter.value_or_address);
    if (reachable(address, parameter.size))
        std::memcpy(&value, address, parameter.size);
    else
        readable = false;
    return value;
}

struct QueuedTask {
    RandomTask task;
    Handle stream = 0;
};

void run(void* argument) {
    const auto* const queued = static_cast<const QueuedTask*>(argument);
    const RandomTask& task = queued->task;
    bool usable = true;
    const Resolved work{task, resolve(task.first, usable), resolve(task.second, usable), resolve(task.seed, usable),
                        resolve(task.count, usable)};
    usable = usable && reachable(task.counter, counter_size) && reachable(task.result, result_size(task, work.count));
    if (!usable) {
        fail_stream(queued->stream, code::param_invalid, "a random-number task found addresses that are not allocated");
        return;
    }
    std::array<std::uint64_t, 2> counter;
    std::memcpy(counter.data(), task.counter, counter_size);
    Philox random(work.seed, counter);
    if (task.function == RandomFunction::dropout_mask)
        make_mask(work, random);
    else if (is_float(task.type))
        make_floats(work, random);
    else
        make_integers(work, random);
    counter = random.counter();
    std::memcpy(task.counter, counter.data(), counter_size);
}

void skip(void*) {}

void dispose(void* argument) { delete static_cast<QueuedTask*>(argument); }

Result<Command> make_command(const RandomTask& task, Handle stream) {
    auto* const queued = new (std::nothrow) QueuedTask{task, stream};
    if (!queued) return fail(code::bad_alloc, "out of host memory");
    Command command(Opcode::inline_call);
    command.call = {&run, queued, &skip, &dispose};
    return command;
}

Status check_parameter(const RandomParameter& parameter, std::size_t smallest, std::size_t largest, const char* name) {
    if (parameter.size < smallest || parameter.size > largest)
        return fail(code::param_invalid, "{}.size {} is not between {} and {}", name, parameter.size, smallest,
                    largest);
    if (!parameter.in_memory) return {};
    return usable_place(reinterpret_cast<const void*>(parameter.value_or_address), parameter.size, name).status();
}

Status check(const RandomTask& task) {
    const std::size_t element = size_of(task.type), widest = is_float(task.type) ? sizeof(double) : element;
    CANOPY_TRY(check_parameter(task.first, element, widest, "paramInfo"));
    if (task.function != RandomFunction::dropout_mask)
        CANOPY_TRY(check_parameter(task.second, element, widest, "paramInfo"));
    CANOPY_TRY(check_parameter(task.seed, 1, sizeof(std::uint64_t), "randomSeed"));
    CANOPY_TRY(check_parameter(task.count, 1, sizeof(std::uint64_t), "randomNum"));
    CANOPY_TRY(usable_place(task.counter, counter_size, "randomCounterAddr").status());
    const std::uint64_t known = task.count.in_memory ? 1 : task.count.value_or_address;
    return usable_place(task.result, result_size(task, known), "randomResultAddr").status();
}

}  // namespace

void Philox::make_block() noexcept {
    constexpr std::uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
    constexpr std::uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};
    constexpr int rounds = 10;
    auto key0 = static_cast<std::uint32_t>(key_), key1 = static_cast<std::uint32_t>(key_ >> 32);
    std::array<std::uint32_t, 4> x = {
        static_cast<std::uint32_t>(counter_[0]), static_cast<std::uint32_t>(counter_[0] >> 32),
        static_cast<std::uint32_t>(counter_[1]), static_cast<std::uint32_t>(counter_[1] >> 32)};
    for (int round = 0; round < rounds; ++round, key0 += weyl[0], key1 += weyl[1]) {
        const std::uint64_t a = std::uint64_t{multiplier[0]} * x[0], b = std::uint64_t{multiplier[1]} * x[2];
        x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<std::uint32_t>(a)};
    }
    block_ = x;
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
}

std::uint32_t Philox::next() noexcept {
    if (used_ == block_.size()) make_block();
    return block_[used_++];
}

std::size_t size_of(RandomType type) noexcept {
    switch (type) {
        case RandomType::float16:
        case RandomType::bfloat16:
            return 2;
        case RandomType::int64:
        case RandomType::uint64:
            return 8;
        default:
            return 4;
    }
}

std::size_t result_size(const RandomTask& task, std::uint64_t count) noexcept {
    if (task.function == RandomFunction::dropout_mask) return count / 8 + (count % 8 != 0 ? 1 : 0);
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size_of(task.type), &bytes) ? SIZE_MAX : bytes;
}

Result<Command> random_command(const RandomTask& task, Handle stream) {
    CANOPY_TRY(check(task));
    return make_command(task, stream);
}

bool is_random(const Command& command) noexcept {
    return command.opcode == Opcode::inline_call && command.call.function == &run;
}

Status submit_random(const RandomTask& task, const void* stream) {
    CANOPY_TRY(require_context());
    CANOPY_TRY(check(task));
    Result<LockedStream> locked = LockedStream::acquire(stream);
    if (!locked.ok()) return locked.status();
    Result<Command> command = make_command(task, (*locked)->self);
    if (!command.ok()) return command.status();
    const Status status = locked->submit(*command);
    if (!status.ok()) dispose(command->call.argument);
    return status;
}

}  // namespace canopy
