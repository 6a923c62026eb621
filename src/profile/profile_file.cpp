// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_file.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace canopy::profile {

ProfileFile::ProfileFile(ProfileFile&& other) noexcept { *this = std::move(other); }

ProfileFile& ProfileFile::operator=(ProfileFile&& other) noexcept {
    std::swap(file_, other.file_);
    size_ = other.size_;
    head_ = other.head_;
    pieces_ = std::move(other.pieces_);
    last_pieces_ = std::move(other.last_pieces_);
    rings_ = std::move(other.rings_);
    box_ = std::move(other.box_);
    black_box_path_ = std::move(other.black_box_path_);
    whole_ = other.whole_;
    threads_ = std::move(other.threads_);
    thread_index_ = std::move(other.thread_index_);
    texts_ = std::move(other.texts_);
    devices_ = std::move(other.devices_);
    streams_ = std::move(other.streams_);
    facts_ = std::move(other.facts_);
    damage_ = std::move(other.damage_);
    record_count_ = other.record_count_;
    last_clock_ticks_ = other.last_clock_ticks_;
    last_clock_time_ = other.last_clock_time_;
    rate_ = other.rate_;
    closed_ = other.closed_;
    return *this;
}

ProfileFile::~ProfileFile() {
    if (file_ >= 0) ::close(file_);
}

Expected<ProfileFile> ProfileFile::open(const std::string& path) {
    ProfileFile profile;
    profile.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (profile.file_ < 0 || ::fstat(profile.file_, &facts) != 0) return Problem{path, ": ", std::strerror(errno)};
    if (!S_ISREG(facts.st_mode)) return Problem{path, ": not a file"};
    profile.size_ = static_cast<std::uint64_t>(facts.st_size);
    if (Problem problem = profile.read_head()) return Problem{path, ": ", problem.message()};
    profile.read_chunks();
    profile.read_ring_heads();
    profile.settle_clock();
    return profile;
}

bool ProfileFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

Problem ProfileFile::copy_to(const std::string& path) const {
    if (box_) return copy_joined(path);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Problem{path, ": ", std::strerror(errno)};
    const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) return Problem{path, ": ", std::strerror(errno)};
    Problem problem;
    off_t offset = 0;
    while (!problem && static_cast<std::uint64_t>(offset) < size_) {
        const ssize_t copied = ::sendfile(to, file_, &offset, std::size_t{1} << 30);
        if (copied < 0 && errno == EINTR) continue;
        if (copied < 0) problem = Problem{path, ": ", std::strerror(errno)};
        if (copied == 0) break;
    }
    if (::close(to) != 0 && !problem) problem = Problem{path, ": ", std::strerror(errno)};
    if (problem) ::unlink(path.c_str());
    return problem;
}

Problem ProfileFile::read_head() {
    if (size_ < sizeof(FileHead) || !read_at(0, std::as_writable_bytes(std::span(&head_, 1))))
        return {"not a profile: shorter than its header"};
    if (head_.magic != file_magic) return {"not a profile"};
    if (head_.version != file_version)
        return {"a profile of version ", head_.version, "; this program reads version ", file_version};
    if (head_.head_size < sizeof(FileHead) || head_.head_size > size_) return {"the header of the profile is damaged"};
    return {};
}

void ProfileFile::read_chunks() {
    std::uint64_t offset = head_.head_size;
    std::vector<std::byte> content;
    whole_ = offset;
    while (offset < size_ && !closed_) {
        ChunkHead chunk;
        if (size_ - offset < sizeof chunk || !read_at(offset, std::as_writable_bytes(std::span(&chunk, 1)))) break;
        offset += sizeof chunk;
        if (chunk.size > largest_chunk) {
            damage_ = "damaged at byte " + std::to_string(offset);
            return;
        }
        content.resize(chunk.size);
        if (size_ - offset < chunk.size || !read_at(offset, content)) break;
        if (chunk_hash(chunk.type, content) != chunk.hash) {
            damage_ = "damaged at byte " + std::to_string(offset);
            return;
        }
        take(static_cast<Chunk>(chunk.type), content, offset);
        offset += chunk.size;
        if (static_cast<Chunk>(chunk.type) == Chunk::ring && !take_ring(content, offset)) {
            damage_ = "a malformed part at byte " + std::to_string(offset);
            return;
        }
        whole_ = offset;
    }
    if (!closed_ && damage_.empty()) damage_ = "its writer did not close it: the end may be missing";
}

Thread& ProfileFile::thread(std::uint32_t number) {
    const auto [place, added] = thread_index_.try_emplace(number, threads_.size());
    if (added) threads_.push_back({.number = number, .name = "thread " + std::to_string(number)});
    return threads_[place->second];
}

void ProfileFile::take(Chunk type, std::span<const std::byte> content, std::uint64_t offset) {
    ByteReader reader(content);
    switch (type) {
        case Chunk::texts:
            while (!reader.empty() && texts_.size() < most_texts) {
                const std::uint32_t number = reader.small_number();
                const std::string_view text = reader.text();
                if (!reader.failed()) texts_.insert_or_assign(number, std::string(text));
            }
            break;
        case Chunk::thread: {
            const std::uint32_t number = reader.small_number();
            const std::uint32_t id = reader.small_number();
            const std::uint32_t role = reader.small_number();
            const std::uint32_t index = reader.small_number();
            const std::string_view name = reader.text();
            if (reader.failed() || role > static_cast<std::uint32_t>(ThreadRole::runtime)) break;
            Thread& one = thread(number);
            one.system_id = id;
            one.role = static_cast<ThreadRole>(role);
            one.index = index;
            one.name = name;
            break;
        }
        case Chunk::records: {
            const std::uint32_t number = reader.small_number();
            const std::uint64_t count = reader.number();
            if (reader.failed() || count > most_records_in_chunk) break;
            thread(number);
            record_count_ += count;
            pieces_.push_back({offset, static_cast<std::uint32_t>(content.size())});
            last_pieces_.insert_or_assign(number, pieces_.back());
            break;
        }
        case Chunk::clock: {
            const std::uint64_t ticks = reader.number();
            const auto time = static_cast<std::int64_t>(reader.number());
            if (reader.failed()) break;
            last_clock_ticks_ = ticks;
            last_clock_time_ = time;
            break;
        }
        case Chunk::device: {
            DeviceFacts device;
            device.number = reader.small_number();
            device.kind = reader.text();
            device.chip = reader.text();
            device.cube_cores = reader.small_number();
            device.vector_cores = reader.small_number();
            device.cpu_cores = reader.small_number();
            device.workers = reader.small_number();
            device.memory = reader.number();
            if (!reader.failed()) devices_.insert_or_assign(device.number, std::move(device));
            break;
        }
        case Chunk::stream: {
            StreamFacts stream;
            stream.number = reader.small_number();
            stream.device = reader.small_number();
            stream.priority = reader.small_number();
            if (!reader.failed()) streams_.insert_or_assign(stream.number, stream);
            break;
        }
        case Chunk::lost: {
            const std::uint32_t number = reader.small_number();
            const std::uint64_t count = reader.number();
            if (!reader.failed()) thread(number).lost += count;
            break;
        }
        case Chunk::fact: {
            const std::string_view key = reader.text();
            const std::string_view value = reader.text();
            if (!reader.failed()) facts_.insert_or_assign(std::string(key), std::string(value));
            break;
        }
        case Chunk::owner: {
            const std::uint64_t place = reader.number();
            const std::uint32_t number = reader.small_number();
            const std::uint64_t first = reader.number();
            // In the order of their places.
            const auto ring = std::lower_bound(rings_.begin(), rings_.end(), place,
                                               [](const RingPart& one, std::uint64_t at) { return one.place < at; });
            if (reader.failed() || ring == rings_.end() || ring->place != place) break;
            if (!ring->owners.empty() && ring->owners.back().first > first) break;
            thread(number);
            ring->owners.push_back({first, number});
            break;
        }
        case Chunk::ring:  // take_ring
            break;
        case Chunk::end:
            closed_ = true;
            break;
    }
    if (reader.failed() && damage_.empty()) damage_ = "a malformed part at byte " + std::to_string(offset);
}

void ProfileFile::visit(const std::function<void(const Thread&, std::span<const Record>)>& visit) {
    std::vector<std::byte> content;
    std::vector<Record> records;
    for (const Piece& piece : pieces_) {
        content.resize(piece.size);
        std::uint32_t number = 0;
        if (!read_at(piece.offset, content) || !take_records(content, number, records)) {
            damage_ = "a malformed part at byte " + std::to_string(piece.offset);
            return;
        }
        visit(thread(number), records);
    }
    visit_rings(rings_, *this, visit);
    if (box_) visit_rings(box_->rings_, *box_, visit);
}

std::string_view ProfileFile::text(std::uint32_t number) const noexcept {
    const auto found = texts_.find(number);
    return found == texts_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view ProfileFile::fact(std::string_view key) const noexcept {
    const auto found = facts_.find(key);
    return found == facts_.end() ? std::string_view() : std::string_view(found->second);
}

std::uint64_t ProfileFile::lost() const noexcept {
    std::uint64_t all = 0;
    for (const Thread& thread : threads_) all += thread.lost;
    return all;
}

// Linear between the two moments at which both clocks were read.
void ProfileFile::settle_clock() {
    const auto ticks = static_cast<double>(static_cast<std::int64_t>(last_clock_ticks_ - head_.ticks));
    const auto time = static_cast<double>(last_clock_time_ - head_.monotonic_time);
    if (last_clock_ticks_ > head_.ticks && time > 0) rate_ = time / ticks;
}

double ProfileFile::nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<double>(head_.monotonic_time) +
           static_cast<double>(static_cast<std::int64_t>(ticks - head_.ticks)) * rate_;
}

std::int64_t ProfileFile::unix_time(std::uint64_t ticks) const noexcept {
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - head_.ticks)) * rate_;
    // Numbers from a damaged file can be anything.
    if (!(since > -9e18 && since < 9e18)) return head_.unix_time;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(head_.unix_time) +
                                     static_cast<std::uint64_t>(static_cast<std::int64_t>(since)));
}

}  // namespace canopy::profile
