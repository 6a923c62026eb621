// SPDX-License-Identifier: Apache-2.0
// The quick way to put a small item and to take it, for a thread that keeps an end of the queue (kept_ends.h): without
// locks, pins and atomic operations, and inlined into the functions of the interface. Any thread, but not in a CPU
// kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/process/runtime.h"
#include "core/queue/kept_ends.h"
#include "core/queue/queue.h"

namespace canopy {

// wait: there is no room, or no item. other: enqueue_data or dequeue_data has to do it.
enum class AtOnce : std::uint8_t { done, wait, other };

// Faults here and not inside the lock.
inline void look_at_ends(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const volatile std::byte*>(data);
    static_cast<void>(bytes[0]);
    static_cast<void>(bytes[size - 1]);
}

inline void copy_user_data(const Item& item, void* user, std::size_t user_size) noexcept {
    const std::size_t length = std::min<std::size_t>(user_size, item.user_length);
    std::memcpy(user, item.area.data() + item.length, length);
    std::memset(static_cast<std::byte*>(user) + length, 0, std::min<std::size_t>(user_size, user_area_size) - length);
}

// After the use of a kept end.
inline AtOnce leave_end(KeptEnd& end, Ring::Kept kept) noexcept {
    if (kept == Ring::Kept::done) [[likely]] {
        end.end_use();
        return AtOnce::done;
    }
    if (kept == Ring::Kept::lost || kept == Ring::Kept::done_and_lost) end.lose();
    end.end_use();
    if (kept == Ring::Kept::done_and_lost) return AtOnce::done;
    return kept == Ring::Kept::wait ? AtOnce::wait : AtOnce::other;
}

[[gnu::always_inline]] inline AtOnce enqueue_at_once(std::uint32_t number, const void* data, std::size_t size,
                                                     const void* user, std::size_t user_size) noexcept {
    KeptEnd* const end = KeptEnds::writing(number);
    if (end == nullptr || size > user_area_size || user_size > user_area_size - size || Runtime::any_holds(data))
        return AtOnce::other;
    look_at_ends(data, size);
    if (user_size != 0) look_at_ends(user, user_size);
    if (!end->begin_use(number)) return AtOnce::other;
    DataQueue& queue = end->queue();
    Ring::Kept kept = Ring::Kept::other;
    if ((queue.rights.load(std::memory_order_relaxed) & queue_right::enqueue) != 0 &&
        queue.routes_from.load(std::memory_order_relaxed) == 0) [[likely]]
        kept = end->ring().put_kept(end->word(), data, size, user, user_size);
    return leave_end(*end, kept);
}

[[gnu::always_inline]] inline AtOnce dequeue_at_once(std::uint32_t number, void* data, std::size_t size,
                                                     std::size_t& length, void* user, std::size_t user_size) noexcept {
    KeptEnd* const end = KeptEnds::reading(number);
    if (end == nullptr || Runtime::any_holds(data) || !end->begin_use(number)) return AtOnce::other;
    DataQueue& queue = end->queue();
    Item item;
    Ring::Kept kept = Ring::Kept::other;
    if ((queue.rights.load(std::memory_order_relaxed) & queue_right::dequeue) != 0 &&
        queue.routes_to.load(std::memory_order_relaxed) == 0) [[likely]]
        kept = end->ring().take_kept(end->word(), item, size);
    const AtOnce result = leave_end(*end, kept);
    if (result != AtOnce::done) return result;
    length = item.length;
    copy_small(data, item.area.data(), item.length);
    if (user_size != 0) copy_user_data(item, user, user_size);
    return result;
}

}  // namespace canopy
