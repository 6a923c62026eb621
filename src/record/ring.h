// SPDX-License-Identifier: Apache-2.0
// Ring: the last records of one thread. The thread writes without locks and without atomic
// read-modify-writes; another thread reads behind it and finds out what was overwritten meanwhile.
//
// Its bytes are what a black box holds (profile/profile_format.h).
//
// Threads: `put` is for the owner only, at most one thread reads at a time.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "profile/profile_format.h"
#include "profile/record.h"

namespace canopy::record {

// Wakes the collector. Any thread; may be left at any instruction.
void wake_collector() noexcept;

class Ring {
public:
    static constexpr std::uint64_t capacity = profile::ring_capacity;
    static constexpr std::uint64_t wakes_after = capacity / 4;  // records; the collector should be on its way by then

    // Memory for a ring, or nullptr; never moved.
    static Ring* create() noexcept;
    static void destroy(Ring* ring) noexcept;

    void put(const profile::Record& record) noexcept {
        const std::uint64_t place = written_.load(std::memory_order_relaxed);
        const auto words = std::bit_cast<Words>(record);
        Slot& slot = slots_[place % capacity];
        // Each store orders the number of records before it, so a reader that sees a part of this record also sees that
        // its place was taken; pairs with `take`.
        for (std::size_t i = 0; i < words.size(); ++i) slot[i].store(words[i], std::memory_order_release);
        written_.store(place + 1, std::memory_order_release);
        if ((place + 1) % wakes_after == 0) [[unlikely]]
            wake_collector();
    }

    // How many records were ever put into it.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_.load(std::memory_order_acquire); }

    // Copies records from number `from` on, at most `count` and not beyond `until`, and moves `from` behind them.
    // Records that were overwritten are left out; `lost` says how many.
    struct Taken {
        std::size_t count;   // copied to the start of `to`
        std::uint64_t lost;  // before them
    };
    Taken take(std::uint64_t& from, std::uint64_t until, profile::Record* to, std::size_t count) const noexcept;

    // What listeners were told, for the black box.
    void note_collected(std::uint64_t count) noexcept { collected_.store(count, std::memory_order_release); }

private:
    using Words = std::array<std::uint64_t, sizeof(profile::Record) / sizeof(std::uint64_t)>;
    using Slot = std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>>;
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> collected_{0};

public:
    // The owner has ended and will write no more.
    std::atomic<bool> ended{false};

private:
    alignas(profile::ring_head_size) std::array<Slot, capacity> slots_;
};
static_assert(sizeof(Ring) == profile::ring_size);

}  // namespace canopy::record
