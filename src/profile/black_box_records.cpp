// SPDX-License-Identifier: Apache-2.0
// The part of ProfileFile that reads the rings of a black box, and joins a black box with the profile of its process.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "profile/profile_file.h"
#include "profile/profile_writer.h"

namespace canopy::profile {
namespace {

constexpr std::uint64_t records_at_a_time = 4096;

bool same(const Record& one, const Record& other) noexcept { return std::memcmp(&one, &other, sizeof one) == 0; }

// The bytes of a ring can be anything.
void keep_valid(std::span<const Record> records, std::vector<Record>& kept) {
    kept.clear();
    for (const Record& record : records)
        if (record.what() != Kind::none && record.what() < Kind::count_) kept.push_back(record);
}

}  // namespace

// The chunk ends at `offset`, which moves behind the ring.
bool ProfileFile::take_ring(std::span<const std::byte> content, std::uint64_t& offset) {
    ByteReader reader(content);
    const std::uint64_t place = reader.number();
    if (reader.failed() || place < offset || place % ring_head_size != 0 || place > size_ || size_ - place < ring_size)
        return false;
    rings_.push_back({.place = place, .begin = 0, .end = 0, .collected = 0, .owners = {}});
    offset = place + ring_size;
    return true;
}

// The place of the next record may hold a part of it, so the oldest record there is not shown.
void ProfileFile::read_ring_heads() {
    for (RingPart& ring : rings_) {
        RingHead head;
        if (!read_at(ring.place, std::as_writable_bytes(std::span(&head, 1)))) continue;
        ring.end = head.written;
        ring.collected = std::min(head.collected, head.written);
        ring.begin = head.written < ring_capacity ? 0 : head.written - ring_capacity + 1;
        if (!ring.owners.empty()) ring.begin = std::min(std::max(ring.begin, ring.owners.front().first), ring.end);
        if (!ring.owners.empty()) record_count_ += ring.end - ring.begin;
    }
}

void ProfileFile::visit_ring(
    const RingPart& ring,
    const std::function<void(std::uint64_t, std::uint32_t, std::span<const Record>)>& visit) const {
    std::vector<Record> records;
    for (std::size_t i = 0; i < ring.owners.size(); ++i) {
        const std::uint64_t last = i + 1 < ring.owners.size() ? std::min(ring.owners[i + 1].first, ring.end) : ring.end;
        std::uint64_t next = std::max(ring.begin, ring.owners[i].first);
        while (next < last) {
            const std::uint64_t place = next % ring_capacity;
            const std::uint64_t count = std::min({last - next, ring_capacity - place, records_at_a_time});
            records.resize(count);
            if (!read_at(ring.place + ring_head_size + place * sizeof(Record),
                         std::as_writable_bytes(std::span(records))))
                return;
            visit(next, ring.owners[i].thread, records);
            next += count;
        }
    }
}

void ProfileFile::visit_rings(const std::vector<RingPart>& rings, const ProfileFile& from, const Visit& visit) {
    std::vector<Record> kept;
    for (const RingPart& ring : rings) {
        from.visit_ring(ring, [&](std::uint64_t, std::uint32_t number, std::span<const Record> records) {
            keep_valid(records, kept);
            if (kept.size() != records.size()) damage_ = "a ring holds something that is no record";
            if (!kept.empty()) visit(thread(number), kept);
        });
    }
}

Expected<ProfileFile> ProfileFile::open_with_black_box(const std::string& path) {
    Expected<ProfileFile> profile = open(path);
    if (profile.ok() && !profile->closed_) profile->join(std::string(profile->fact("blackbox")));
    return profile;
}

// Another process may have taken the name meanwhile: it began at another moment.
void ProfileFile::join(const std::string& path) {
    if (path.empty() || box_) return;
    Expected<ProfileFile> opened = open(path);
    if (!opened.ok() || opened->rings_.empty() || opened->process() != process() ||
        std::to_string(opened->head_.unix_time) != fact("blackbox_start"))
        return;
    auto box = std::make_unique<ProfileFile>(std::move(*opened));
    for (const Thread& known : box->threads_) {
        const bool fresh = !thread_index_.contains(known.number);
        Thread& one = thread(known.number);
        if (fresh) one = known;
    }
    for (const auto& [number, text] : box->texts_)
        if (texts_.size() < most_texts) texts_.try_emplace(number, text);
    for (const auto& [number, device] : box->devices_) devices_.try_emplace(number, device);
    for (const auto& [number, stream] : box->streams_) streams_.try_emplace(number, stream);
    for (RingPart& ring : box->rings_) {
        skip_known_records(*box, ring);
        if (!ring.owners.empty()) record_count_ += ring.end - ring.begin;
    }
    box_ = std::move(box);
    black_box_path_ = path;
}

// Those that were collected are in the profile; so are those up to the last record of the thread there, if the process
// ended between writing them and counting them.
void ProfileFile::skip_known_records(const ProfileFile& box, RingPart& ring) {
    ring.begin = std::max(ring.begin, ring.collected);
    std::unordered_map<std::uint32_t, Record> last;
    std::vector<std::byte> content;
    std::vector<Record> records;
    for (const Owner& owner : ring.owners) {
        const auto piece = last_pieces_.find(owner.thread);
        if (piece == last_pieces_.end() || last.contains(owner.thread)) continue;
        content.resize(piece->second.size);
        std::uint32_t number = 0;
        if (read_at(piece->second.offset, content) && take_records(content, number, records) && !records.empty())
            last.emplace(owner.thread, records.back());
    }
    std::uint64_t begin = ring.begin;
    box.visit_ring(ring, [&](std::uint64_t first, std::uint32_t number, std::span<const Record> found) {
        const auto known = last.find(number);
        if (known == last.end()) return;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (same(found[i], known->second)) begin = first + i + 1;
    });
    ring.begin = begin;
}

// The chunks of the profile up to its damage, then what the black box adds.
Problem ProfileFile::copy_joined(const std::string& path) const {
    FileHead head = head_;
    head.head_size = sizeof head;
    Expected<ProfileWriter> writer = ProfileWriter::create(path, head);
    if (!writer.ok()) return writer.problem();
    writer->copy(file_, head_.head_size, whole_ - head_.head_size);
    for (const auto& [number, text] : box_->texts_) writer->text(number, text);
    for (const Thread& one : box_->threads_) writer->thread(one.number, one.system_id, one.role, one.index, one.name);
    for (const auto& [number, stream] : box_->streams_) writer->stream(number, stream.device, stream.priority);
    for (const auto& [number, one] : box_->devices_)
        writer->device(number, one.kind, one.chip, one.cube_cores, one.vector_cores, one.cpu_cores, one.workers,
                       one.memory);
    std::vector<Record> kept;
    for (const RingPart& ring : box_->rings_) {
        box_->visit_ring(ring, [&](std::uint64_t, std::uint32_t number, std::span<const Record> records) {
            keep_valid(records, kept);
            writer->records(number, kept);
        });
    }
    return writer->problem();
}

}  // namespace canopy::profile
