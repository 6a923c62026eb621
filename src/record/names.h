// SPDX-License-Identifier: Apache-2.0
// The texts that records name by number: names, which fit into a record, and other texts. A text keeps its number as
// long as the process lives, so a caller may keep the number of one that it uses often. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foundation/mutex.h"
#include "profile/profile_format.h"
#include "profile/record.h"

namespace canopy::record {

struct NumberedText {
    std::uint32_t number;
    std::string_view text;  // lives as long as the table
};

class Names {
public:
    static constexpr std::size_t most_bytes_of_texts = std::size_t{256} << 20;

    std::uint32_t name(std::string_view name) noexcept;
    std::uint32_t literal(const char* name) noexcept;
    std::uint32_t text(std::string_view text) noexcept;

    // Where a reader of the table is.
    struct Position {
        std::size_t names = 0;
        std::size_t texts = 0;
    };
    // All texts behind that position, which moves behind them.
    std::vector<NumberedText> after(Position& position);

    // Around fork.
    void lock() CANOPY_ACQUIRE(mutex_) { mutex_.lock(); }
    void unlock() noexcept CANOPY_RELEASE(mutex_) { mutex_.unlock(); }

private:
    // One range of numbers: texts in order, and the number of each.
    struct Table {
        std::deque<std::string> texts;
        std::unordered_map<std::string_view, std::uint32_t> numbers;
        std::size_t bytes = 0;
    };
    static std::uint32_t find_or_add(Table& table, std::string_view text, std::uint32_t first, std::uint32_t last,
                                     std::size_t most_bytes) noexcept;

    // Literals by their address; found without the lock.
    struct Literal {
        std::atomic<const char*> address{nullptr};
        std::atomic<std::uint32_t> number{0};
    };
    static constexpr std::size_t literal_places = 4096;
    static constexpr std::size_t literal_tries = 8;

    Mutex mutex_;
    Table names_ CANOPY_GUARDED_BY(mutex_);
    Table texts_ CANOPY_GUARDED_BY(mutex_);
    std::array<Literal, literal_places> literals_;
};

// The process's only table.
Names& names();

}  // namespace canopy::record
