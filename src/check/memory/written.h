// SPDX-License-Identifier: Apache-2.0
// Which bytes of a device's memory nobody has written since they were allocated. A device has one, which its launches
// share. What is not told of counts as written, so a runtime may tell of some memory only.
//
// Not everyone who writes need tell. Where memory is filled with `fresh_byte` when it is allocated, bytes count as
// written as soon as they hold something else; then all memory that is told of must be accessible until it is freed.
//
// Threads: any. Calls for the same bytes are in the order of the program, or it does not matter what comes of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "foundation/mutex.h"

namespace canopy::check {

constexpr unsigned char fresh_byte = 0xC5;

class WrittenBytes {
public:
    // `filled`: with fresh_byte.
    explicit WrittenBytes(bool filled = false);
    WrittenBytes(const WrittenBytes&) = delete;
    WrittenBytes& operator=(const WrittenBytes&) = delete;
    ~WrittenBytes();

    // An allocation begins, and ends.
    void allocated(std::uint64_t address, std::uint64_t bytes) { mark(address, bytes, true); }
    void freed(std::uint64_t address, std::uint64_t bytes) { mark(address, bytes, false); }
    // By the host, a fill, a copy, a kernel.
    void written(std::uint64_t address, std::uint64_t bytes) { mark(address, bytes, false); }
    // What is written there is what nobody has written elsewhere.
    void unwritten(std::uint64_t address, std::uint64_t bytes) { mark(address, bytes, true); }
    // A copy inside the memory carries along what is not written.
    void copied(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

    // The first byte in [begin, end) that nobody has written, or that somebody has; `end` if there is none.
    [[nodiscard]] std::uint64_t find_unwritten(std::uint64_t begin, std::uint64_t end) {
        return filled_ ? find_fresh(begin, end) : find(begin, end, true);
    }
    [[nodiscard]] std::uint64_t find_written(std::uint64_t begin, std::uint64_t end) const {
        return find(begin, end, false);
    }

private:
    // Addresses are divided into chunks, whose bits exist where some bytes are written and others are not.
    static constexpr unsigned chunk_bits = 18, table_bits = 14, address_bits = 47;
    static constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << chunk_bits;
    struct Chunk {
        std::array<std::atomic<std::uint64_t>, chunk_bytes / 64> words;  // a bit for each unwritten byte
    };
    using Slot = std::atomic<Chunk*>;  // null: all written
    struct Table {
        std::array<Slot, std::size_t{1} << table_bits> slots{};
    };

    [[nodiscard]] const Slot* slot(std::uint64_t address) const;
    Slot* make_slot(std::uint64_t address);
    Chunk* make_chunk(bool unwritten);
    void keep(Chunk* chunk);
    void mark(std::uint64_t address, std::uint64_t bytes, bool unwritten);
    void mark_in_chunk(std::uint64_t address, std::uint64_t bytes, bool unwritten);
    [[nodiscard]] std::uint64_t find(std::uint64_t begin, std::uint64_t end, bool unwritten) const;
    std::uint64_t find_fresh(std::uint64_t begin, std::uint64_t end);
    // Stands for chunks without a written byte.
    Chunk* all_unwritten() const { return all_unwritten_.get(); }

    const bool filled_;
    std::unique_ptr<std::atomic<Table*>[]> tables_;
    std::unique_ptr<Chunk> all_unwritten_;
    Mutex mutex_;
    std::vector<std::unique_ptr<Table>> owned_tables_ CANOPY_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Chunk>> chunks_ CANOPY_GUARDED_BY(mutex_);  // all of them
    std::vector<Chunk*> spare_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::check
