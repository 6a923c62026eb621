// SPDX-License-Identifier: Apache-2.0
// The bytes of a profile's file: a header, then chunks. A chunk has its own checksum and is complete or absent, so a
// file whose writer was killed is readable up to there. Records are stored as differences, 8 to 16 bytes each.
//
// Threads: values; nothing here is shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/record.h"

namespace canopy::profile {

inline constexpr std::array<char, 8> file_magic = {'C', 'N', 'P', 'Y', 'P', 'R', 'O', 'F'};
inline constexpr std::uint32_t file_version = 2;
inline constexpr std::uint32_t largest_chunk = 1u << 20;         // bytes after its head
inline constexpr std::size_t most_records_in_chunk = 16 * 1024;  // fit into the largest chunk in any case
inline constexpr std::size_t longest_text = 4096;                // longer ones are cut
inline constexpr std::size_t most_texts = std::size_t{1} << 20;

struct FileHead {
    std::array<char, 8> magic = file_magic;
    std::uint32_t version = file_version;
    std::uint32_t head_size = sizeof(FileHead);
    std::uint64_t process = 0;
    std::int64_t unix_time = 0;       // nanoseconds, at the moment of the two below
    std::int64_t monotonic_time = 0;  // nanoseconds
    std::uint64_t ticks = 0;
    std::uint64_t reserved[2] = {};
};
static_assert(sizeof(FileHead) == 64);

struct ChunkHead {
    std::uint32_t type = 0;
    std::uint32_t size = 0;
    std::uint64_t hash = 0;  // chunk_hash of the type and the bytes that follow
};
static_assert(sizeof(ChunkHead) == 16);

std::uint64_t chunk_hash(std::uint32_t type, std::span<const std::byte> content) noexcept;

// Unknown types are skipped.
enum class Chunk : std::uint32_t {
    texts = 1,  // number, text; any number of them
    thread,     // number, id of the system, ThreadRole, index among its role, name
    records,    // number of the thread, count, records
    clock,      // ticks, monotonic time: another moment to convert with
    device,     // number, kind, chip, cube cores, vector cores, CPU cores, workers, bytes of memory
    stream,     // number, device, priority
    lost,       // number of the thread, how many records its ring dropped
    fact,       // key, value: program, arguments, host, processor, version, cost_of_a_record_ns, ...
    end,        // the writer closed the file
    ring,       // of black boxes: where a ring begins, behind this chunk; the next chunk comes after the ring
    owner,      // of black boxes: where the ring begins, number of the thread, number of its first record in the ring
};

// A ring as a black box holds it: its head, in a page, then the records; record n lies at place n % ring_capacity.
struct RingHead {
    std::uint64_t written = 0;    // records; the place of the next one may hold a part of it
    std::uint64_t collected = 0;  // records that listeners were told
};
inline constexpr std::uint64_t ring_capacity = 64 * 1024;
inline constexpr std::uint64_t ring_head_size = 4096;
inline constexpr std::uint64_t ring_size = ring_head_size + ring_capacity * sizeof(Record);

// ---- writing bytes --------------------------------------------------------------------------------------------------

class Bytes {
public:
    void byte(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
    void number(std::uint64_t value) {
        while (value >= 0x80) {
            bytes_.push_back(static_cast<std::byte>(value | 0x80));
            value >>= 7;
        }
        bytes_.push_back(static_cast<std::byte>(value));
    }
    void difference(std::uint64_t from, std::uint64_t to) {
        const auto change = static_cast<std::int64_t>(to - from);
        number((static_cast<std::uint64_t>(change) << 1) ^ static_cast<std::uint64_t>(change >> 63));
    }
    void text(std::string_view text) {
        text = text.substr(0, longest_text);
        number(text.size());
        const auto raw = std::as_bytes(std::span(text));
        bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    }
    void clear() noexcept { bytes_.clear(); }
    [[nodiscard]] std::span<const std::byte> span() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

private:
    std::vector<std::byte> bytes_;
};

// The content of a chunk of records: at most most_records_in_chunk.
void put_records(Bytes& to, std::uint32_t thread, std::span<const Record> records);

// ---- reading bytes, written by anybody ------------------------------------------------------------------------------

class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}
    // 0 and `failed` if the bytes end or do not make a number.
    std::uint8_t byte() noexcept;
    std::uint64_t number() noexcept;
    std::uint64_t difference(std::uint64_t from) noexcept;
    std::uint32_t small_number() noexcept;  // fails above 32 bits
    std::string_view text() noexcept;
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    void fail() noexcept {
        failed_ = true;
        left_ = {};
    }

private:
    std::span<const std::byte> left_;
    bool failed_ = false;
};

// Reads a chunk of records into `records`, which is cleared first; false if it is malformed.
bool take_records(std::span<const std::byte> chunk, std::uint32_t& thread, std::vector<Record>& records);

}  // namespace canopy::profile
