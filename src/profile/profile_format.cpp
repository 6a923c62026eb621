// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_format.h"

#include "foundation/hash.h"

namespace canopy::profile {
namespace {

// The first byte of a record: its kind, and which fields are those of the record before.
constexpr std::uint8_t kind_bits = 0x3F;
constexpr std::uint8_t same_name = 0x40;
constexpr std::uint8_t same_object = 0x80;

}  // namespace

std::uint64_t chunk_hash(std::uint32_t type, std::span<const std::byte> content) noexcept {
    const std::uint64_t parts[] = {type, hash_of(content)};
    return hash_of(std::as_bytes(std::span(parts)));
}

void put_records(Bytes& to, std::uint32_t thread, std::span<const Record> records) {
    to.number(thread);
    to.number(records.size());
    Record last{};
    for (const Record& record : records) {
        auto head = static_cast<std::uint8_t>(record.kind);
        if (record.name == last.name) head |= same_name;
        if (record.object == last.object) head |= same_object;
        to.byte(head);
        to.difference(last.begin, record.begin);
        to.number(record.duration);
        if (record.name != last.name) to.number(record.name);
        if (record.object != last.object) to.number(record.object);
        to.number(record.argument);
        to.difference(last.link, record.link);
        last = record;
    }
}

std::uint8_t ByteReader::byte() noexcept {
    if (left_.empty()) {
        fail();
        return 0;
    }
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return value;
}

std::uint64_t ByteReader::number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (left_.empty()) break;
        const auto byte = static_cast<std::uint64_t>(left_.front());
        left_ = left_.subspan(1);
        if (shift == 63 && byte > 1) break;
        value |= (byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return value;
    }
    fail();
    return 0;
}

std::uint64_t ByteReader::difference(std::uint64_t from) noexcept {
    const std::uint64_t coded = number();
    return from + ((coded >> 1) ^ (~(coded & 1) + 1));
}

std::uint32_t ByteReader::small_number() noexcept {
    const std::uint64_t value = number();
    if (value > UINT32_MAX) fail();
    return static_cast<std::uint32_t>(value);
}

std::string_view ByteReader::text() noexcept {
    const std::uint64_t size = number();
    if (size > left_.size() || size > longest_text) {
        fail();
        return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return text;
}

bool take_records(std::span<const std::byte> chunk, std::uint32_t& thread, std::vector<Record>& records) {
    ByteReader reader(chunk);
    records.clear();
    thread = reader.small_number();
    const std::uint64_t count = reader.number();
    if (reader.failed() || count > most_records_in_chunk) return false;
    records.reserve(count);
    Record last{};
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint8_t head = reader.byte();
        Record record = last;
        record.kind = head & kind_bits;
        record.begin = reader.difference(last.begin);
        const std::uint64_t duration = reader.number();
        if (duration > longest_duration) reader.fail();
        record.duration = duration & longest_duration;
        if ((head & same_name) == 0) {
            const std::uint64_t name = reader.number();
            if (name > last_name) reader.fail();
            record.name = name & last_name;
        }
        if ((head & same_object) == 0) record.object = reader.small_number();
        record.argument = reader.small_number();
        record.link = reader.difference(last.link);
        if (reader.failed() || record.kind >= static_cast<std::uint64_t>(Kind::count_)) return false;
        records.push_back(record);
        last = record;
    }
    return reader.empty();
}

}  // namespace canopy::profile
