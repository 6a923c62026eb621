// SPDX-License-Identifier: Apache-2.0
#include "record/names.h"

#include <utility>

#include "base/process_state.h"
#include "record/black_box.h"

namespace canopy::record {
namespace {

using profile::first_free_text;
using profile::last_name;

constexpr std::uint32_t first_name = profile::no_text + 1;
constexpr auto last_text = static_cast<std::uint32_t>(first_free_text + profile::most_texts - last_name - 2);

}  // namespace

Names& names() { return process_state<Names>(); }

// The last number of a table stands for all texts that found no room.
std::uint32_t Names::find_or_add(Table& table, std::string_view text, std::uint32_t first, std::uint32_t last,
                                 std::size_t most_bytes) noexcept {
    text = text.substr(0, profile::longest_text);
    const auto found = table.numbers.find(text);
    if (found != table.numbers.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(first + table.texts.size());
    if (number >= last || table.bytes + text.size() > most_bytes) return last;
    try {
        table.texts.emplace_back(text);
        try {
            table.numbers.emplace(table.texts.back(), number);
        } catch (...) {
            table.texts.pop_back();
            return last;
        }
        table.bytes += text.size();
        if (BlackBox* const box = BlackBox::present()) box->text(number, text);
        return number;
    } catch (...) {
        return last;
    }
}

std::uint32_t Names::name(std::string_view name) noexcept {
    if (name.empty()) return profile::no_text;
    MutexLock guard(mutex_);
    return find_or_add(names_, name, first_name, last_name, SIZE_MAX);
}

std::uint32_t Names::text(std::string_view text) noexcept {
    if (text.empty()) return profile::no_text;
    MutexLock guard(mutex_);
    return find_or_add(texts_, text, first_free_text, last_text, most_bytes_of_texts);
}

std::uint32_t Names::literal(const char* name) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(name);
    const std::size_t place = (address ^ address >> 12) * 0x9E3779B97F4A7C15ull >> 52;
    static_assert(literal_places == 1 << (64 - 52));
    for (std::size_t i = 0; i < literal_tries; ++i) {
        Literal& literal = literals_[(place + i) % literal_places];
        const char* known = literal.address.load(std::memory_order_acquire);
        if (known == name) return literal.number.load(std::memory_order_relaxed);
        if (known != nullptr) continue;
        const std::uint32_t number = this->name(name);
        MutexLock guard(mutex_);
        if (literal.address.load(std::memory_order_relaxed) != nullptr) continue;
        literal.number.store(number, std::memory_order_relaxed);
        literal.address.store(name, std::memory_order_release);  // pairs with the load above
        return number;
    }
    return this->name(name);
}

std::vector<NumberedText> Names::after(Position& position) {
    MutexLock guard(mutex_);
    const Position end{names_.texts.size(), texts_.texts.size()};
    std::vector<NumberedText> texts;
    texts.reserve(end.names - position.names + end.texts - position.texts + 2);
    if (position.names == 0 && position.texts == 0) {
        texts.push_back({last_name, "(other names)"});
        texts.push_back({last_text, "(other texts)"});
    }
    for (std::size_t i = position.names; i < end.names; ++i)
        texts.push_back({static_cast<std::uint32_t>(first_name + i), names_.texts[i]});
    for (std::size_t i = position.texts; i < end.texts; ++i)
        texts.push_back({static_cast<std::uint32_t>(first_free_text + i), texts_.texts[i]});
    position = end;
    return texts;
}

}  // namespace canopy::record
