// SPDX-License-Identifier: Apache-2.0
#include "check/memory/written.h"

#include <algorithm>

namespace canopy::check {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// Words of memory that others may be writing.
__attribute__((no_sanitize("thread", "address"))) bool is_fresh(std::uint64_t word) {
    constexpr std::uint64_t fresh = 0x0101010101010101U * fresh_byte;
    return *reinterpret_cast<const volatile std::uint64_t*>(word) == fresh;
}

// The first byte in [begin, end) whose word of 8 bytes has changed since it was filled, or has not.
std::uint64_t find_changed(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t word = begin & ~std::uint64_t{7}; word < end; word += 8)
        if (!is_fresh(word)) return std::max(word, begin);
    return end;
}
std::uint64_t find_same(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t word = begin & ~std::uint64_t{7}; word < end; word += 8)
        if (is_fresh(word)) return std::max(word, begin);
    return end;
}

// The bits of [begin, end) in the word that begins at bit `first`.
std::uint64_t mask_of(std::uint64_t first, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = begin > first ? all_bits << (begin - first) : all_bits;
    return end - first >= 64 ? from : from & ~(all_bits << (end - first));
}

}  // namespace

WrittenBytes::WrittenBytes(bool filled)
    : filled_(filled),
      tables_(std::make_unique<std::atomic<Table*>[]>(std::size_t{1} << (address_bits - table_bits - chunk_bits))),
      all_unwritten_(std::make_unique<Chunk>()) {
    for (auto& word : all_unwritten_->words) word.store(all_bits, relaxed);
}

WrittenBytes::~WrittenBytes() = default;

const WrittenBytes::Slot* WrittenBytes::slot(std::uint64_t address) const {
    if (address >> address_bits != 0) return nullptr;
    const Table* table = tables_[address >> (chunk_bits + table_bits)].load(std::memory_order_acquire);
    return table == nullptr ? nullptr : &table->slots[address >> chunk_bits & ((1U << table_bits) - 1)];
}

WrittenBytes::Slot* WrittenBytes::make_slot(std::uint64_t address) {
    if (address >> address_bits != 0) return nullptr;
    std::atomic<Table*>& place = tables_[address >> (chunk_bits + table_bits)];
    Table* table = place.load(std::memory_order_acquire);
    if (table == nullptr) {
        const MutexLock lock(mutex_);
        table = place.load(relaxed);
        if (table == nullptr) {
            table = owned_tables_.emplace_back(std::make_unique<Table>()).get();
            place.store(table, std::memory_order_release);
        }
    }
    return &table->slots[address >> chunk_bits & ((1U << table_bits) - 1)];
}

WrittenBytes::Chunk* WrittenBytes::make_chunk(bool unwritten) {
    Chunk* chunk = nullptr;
    {
        const MutexLock lock(mutex_);
        if (spare_.empty()) {
            chunk = chunks_.emplace_back(std::make_unique<Chunk>()).get();
        } else {
            chunk = spare_.back();
            spare_.pop_back();
        }
    }
    for (auto& word : chunk->words) word.store(unwritten ? all_bits : 0, relaxed);
    return chunk;
}

void WrittenBytes::keep(Chunk* chunk) {
    if (chunk == nullptr || chunk == all_unwritten()) return;
    const MutexLock lock(mutex_);
    spare_.push_back(chunk);
}

void WrittenBytes::mark(std::uint64_t address, std::uint64_t bytes, bool unwritten) {
    while (bytes != 0) {
        const std::uint64_t part = std::min(bytes, chunk_bytes - address % chunk_bytes);
        mark_in_chunk(address, part, unwritten);
        address += part;
        bytes -= part;
    }
}

void WrittenBytes::mark_in_chunk(std::uint64_t address, std::uint64_t bytes, bool unwritten) {
    Slot* place = unwritten ? make_slot(address) : const_cast<Slot*>(slot(address));
    if (place == nullptr) return;
    Chunk* const whole = unwritten ? all_unwritten() : nullptr;
    Chunk* chunk = place->load(std::memory_order_acquire);
    if (chunk == whole) return;
    if (bytes == chunk_bytes) {
        keep(place->exchange(whole, std::memory_order_acq_rel));
        return;
    }
    if (chunk == nullptr || chunk == all_unwritten()) {
        Chunk* const made = make_chunk(chunk != nullptr);
        if (place->compare_exchange_strong(chunk, made, std::memory_order_acq_rel)) {
            chunk = made;
        } else {
            keep(made);
            if (chunk == nullptr || chunk == all_unwritten()) return mark_in_chunk(address, bytes, unwritten);
        }
    }
    const std::uint64_t begin = address % chunk_bytes, end = begin + bytes;
    for (std::uint64_t first = begin & ~std::uint64_t{63}; first < end; first += 64) {
        std::atomic<std::uint64_t>& word = chunk->words[first / 64];
        const std::uint64_t mask = mask_of(first, begin, end);
        if (mask == all_bits)
            word.store(unwritten ? all_bits : 0, relaxed);
        else if (unwritten)
            word.fetch_or(mask, relaxed);
        else if ((word.load(relaxed) & mask) != 0)
            word.fetch_and(~mask, relaxed);
    }
}

std::uint64_t WrittenBytes::find(std::uint64_t begin, std::uint64_t end, bool unwritten) const {
    while (begin < end) {
        if (begin >> address_bits != 0) return unwritten ? end : begin;
        const std::uint64_t next = std::min(end, (begin / chunk_bytes + 1) * chunk_bytes);
        const Slot* const place = slot(begin);
        const Chunk* const chunk = place == nullptr ? nullptr : place->load(std::memory_order_acquire);
        if (chunk == nullptr || chunk == all_unwritten()) {
            if ((chunk != nullptr) == unwritten) return begin;
            begin = next;
            continue;
        }
        const std::uint64_t base = begin / chunk_bytes * chunk_bytes, last = next - base;
        for (std::uint64_t first = (begin - base) & ~std::uint64_t{63}; first < last; first += 64) {
            const std::uint64_t word = chunk->words[first / 64].load(relaxed);
            const std::uint64_t found = (unwritten ? word : ~word) & mask_of(first, begin - base, last);
            if (found != 0) return base + first + static_cast<std::uint64_t>(__builtin_ctzll(found));
        }
        begin = next;
    }
    return end;
}

// As find, for what has not changed since it was filled; marks what has.
std::uint64_t WrittenBytes::find_fresh(std::uint64_t begin, std::uint64_t end) {
    for (;;) {
        const std::uint64_t at = find(begin, end, true);
        if (at == end) return end;
        const std::uint64_t next = find(at, end, false);
        if (const std::uint64_t changed = find_changed(at, next); changed != at) {
            // So that the part ends there for find_written.
            if (changed != next) mark(changed, find_same(changed, next) - changed, false);
            return at;
        }
        begin = find_same(at, next);
        mark(at, begin - at, false);
    }
}

void WrittenBytes::copied(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    written(to, bytes);
    for (std::uint64_t at = find_unwritten(from, from + bytes); at < from + bytes;) {
        const std::uint64_t end = find_written(at, from + bytes);
        unwritten(to + (at - from), end - at);
        at = find_unwritten(end, from + bytes);
    }
}

}  // namespace canopy::check
