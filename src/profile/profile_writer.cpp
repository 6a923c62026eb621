// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_writer.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "foundation/hash.h"

namespace canopy::profile {

Expected<ProfileWriter> ProfileWriter::create(const std::string& path, const FileHead& head) {
    // Another user's file, or a link of theirs, is not written to.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Problem{path, ": ", std::strerror(errno)};
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return Problem{path, ": ", std::strerror(errno)};
    ProfileWriter writer(path, file);
    writer.write_raw(std::as_bytes(std::span(&head, 1)));
    if (writer.problem_) return std::move(writer.problem_);
    return writer;
}

ProfileWriter::ProfileWriter(ProfileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      bytes_(std::move(other.bytes_)),
      problem_(std::move(other.problem_)),
      size_(other.size_) {}

ProfileWriter::~ProfileWriter() {
    if (file_ >= 0) ::close(file_);
}

void ProfileWriter::write_raw(std::span<const std::byte> bytes) {
    while (!bytes.empty() && !problem_) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            problem_ = Problem{path_, ": ", std::strerror(errno)};
            return;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        size_ += static_cast<std::uint64_t>(written);
    }
}

void ProfileWriter::write(Chunk type) {
    const ChunkHead head{static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(bytes_.size()),
                         hash_of(bytes_.span())};
    write_raw(std::as_bytes(std::span(&head, 1)));
    write_raw(bytes_.span());
    bytes_.clear();
}

void ProfileWriter::text(std::uint32_t number, std::string_view text) {
    bytes_.number(number);
    bytes_.text(text);
    write(Chunk::texts);
}

void ProfileWriter::thread(std::uint32_t number, std::uint32_t system_id, ThreadRole role, std::uint32_t index,
                           std::string_view name) {
    bytes_.number(number);
    bytes_.number(system_id);
    bytes_.number(static_cast<std::uint32_t>(role));
    bytes_.number(index);
    bytes_.text(name);
    write(Chunk::thread);
}

void ProfileWriter::records(std::uint32_t thread, std::span<const Record> records) {
    while (!records.empty()) {
        const std::size_t count = std::min(records.size(), most_records_in_chunk);
        put_records(bytes_, thread, records.first(count));
        write(Chunk::records);
        records = records.subspan(count);
    }
}

void ProfileWriter::clock(std::uint64_t ticks, std::int64_t monotonic_time) {
    bytes_.number(ticks);
    bytes_.number(static_cast<std::uint64_t>(monotonic_time));
    write(Chunk::clock);
}

void ProfileWriter::device(std::uint32_t number, std::string_view kind, std::string_view chip, std::uint32_t cube_cores,
                           std::uint32_t vector_cores, std::uint32_t cpu_cores, std::uint32_t workers,
                           std::uint64_t memory) {
    bytes_.number(number);
    bytes_.text(kind);
    bytes_.text(chip);
    bytes_.number(cube_cores);
    bytes_.number(vector_cores);
    bytes_.number(cpu_cores);
    bytes_.number(workers);
    bytes_.number(memory);
    write(Chunk::device);
}

void ProfileWriter::stream(std::uint32_t number, std::uint32_t device, std::uint32_t priority) {
    bytes_.number(number);
    bytes_.number(device);
    bytes_.number(priority);
    write(Chunk::stream);
}

void ProfileWriter::lost(std::uint32_t thread, std::uint64_t count) {
    bytes_.number(thread);
    bytes_.number(count);
    write(Chunk::lost);
}

void ProfileWriter::fact(std::string_view key, std::string_view value) {
    bytes_.text(key);
    bytes_.text(value);
    write(Chunk::fact);
}

void ProfileWriter::close() {
    write(Chunk::end);
    if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && !problem_)
        problem_ = Problem{path_, ": ", std::strerror(errno)};
}

}  // namespace canopy::profile
