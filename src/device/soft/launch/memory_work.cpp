// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/memory_work.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "foundation/half.h"

namespace canopy {
namespace {

template <class T>
T combine(ReduceOperation operation, T a, T b) {
    switch (operation) {
        case ReduceOperation::sum:
            if constexpr (std::is_integral_v<T>)  // sums wrap
                return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                                      static_cast<std::make_unsigned_t<T>>(b));
            else
                return a + b;
        case ReduceOperation::maximum:
            return a < b ? b : a;
        case ReduceOperation::minimum:
            return b < a ? b : a;
        case ReduceOperation::equal:
            return static_cast<T>(a == b);
    }
    return a;
}

template <class T>
void reduce_plain(const ReduceWork& work) {
    auto* destination = static_cast<T*>(work.destination);
    const auto* source = static_cast<const T*>(work.source);
    for (std::uint64_t i = 0; i < work.count; ++i) destination[i] = combine(work.operation, destination[i], source[i]);
}

template <float (*Load)(std::uint16_t), std::uint16_t (*Store)(float)>
void reduce_small_float(const ReduceWork& work) {
    auto* destination = static_cast<std::uint16_t*>(work.destination);
    const auto* source = static_cast<const std::uint16_t*>(work.source);
    for (std::uint64_t i = 0; i < work.count; ++i)
        destination[i] = Store(combine(work.operation, Load(destination[i]), Load(source[i])));
}

bool holds(std::uint64_t word, const ValueWork& wait) noexcept {
    switch (wait.condition) {
        case ValueCondition::at_least:
            return static_cast<std::int64_t>(word - wait.value) >= 0;
        case ValueCondition::equal:
            return word == wait.value;
        case ValueCondition::bits_and:
            return (word & wait.value) != 0;
        case ValueCondition::bits_nor:
            return ~(word | wait.value) != 0;
    }
    return true;
}

struct Look {
    const std::uint64_t* address;
    std::uint64_t word;
};

}  // namespace

void run_copy(void* data) {
    const CopyWork& work = static_cast<const Command*>(data)->copy;
    if (work.height <= 1 || (work.destination_pitch == work.width && work.source_pitch == work.width)) {
        std::memmove(work.destination, work.source, work.width * std::max<std::uint64_t>(work.height, 1));
        return;
    }
    auto* destination = static_cast<char*>(work.destination);
    const auto* source = static_cast<const char*>(work.source);
    for (std::uint64_t row = 0; row < work.height; ++row)
        std::memmove(destination + row * work.destination_pitch, source + row * work.source_pitch, work.width);
}

void run_fill(void* data) {
    const FillWork& work = static_cast<const Command*>(data)->fill;
    if (work.element_size == 1) {
        std::memset(work.destination, static_cast<int>(work.value), work.count);
        return;
    }
    // Whole words through memcpy: the address need not be aligned.
    auto* destination = static_cast<char*>(work.destination);
    for (std::uint64_t i = 0; i < work.count; ++i) std::memcpy(destination + i * 4, &work.value, 4);
}

void run_reduce(void* data) {
    const ReduceWork& work = static_cast<const Command*>(data)->reduce;
    switch (work.type) {
        case ElementType::int8:
            return reduce_plain<std::int8_t>(work);
        case ElementType::int16:
            return reduce_plain<std::int16_t>(work);
        case ElementType::int32:
            return reduce_plain<std::int32_t>(work);
        case ElementType::float32:
            return reduce_plain<float>(work);
        case ElementType::float16:
            return reduce_small_float<half_to_float, float_to_half>(work);
        case ElementType::bfloat16:
            return reduce_small_float<bfloat16_to_float, float_to_bfloat16>(work);
    }
}

void run_write_value(void* data) {
    const ValueWork& work = static_cast<const Command*>(data)->value;
    std::atomic_ref<std::uint64_t>(*work.address).store(work.value, std::memory_order_release);
}

ValueCheck check_value(Executor& executor, const TaskOwner* owner, const ValueWork& wait) noexcept {
    Look look = {wait.address, 0};
    Fault fault;
    executor.begin_task(owner, 0, 0);
    const Fiber::Exit how = executor.run(
        nullptr,
        [](void* data) {
            auto* target = static_cast<Look*>(data);
            target->word = __atomic_load_n(target->address, __ATOMIC_ACQUIRE);
        },
        &look, nullptr, fault);
    executor.end_task();
    if (how != Fiber::Exit::finished) return ValueCheck::unreadable;
    return holds(look.word, wait) ? ValueCheck::satisfied : ValueCheck::not_yet;
}

}  // namespace canopy
