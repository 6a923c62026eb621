// SPDX-License-Identifier: Apache-2.0
// ProfileWriter: writes a profile's file, chunk by chunk. A chunk that cannot be written (a full disk) ends the file:
// what was written stays readable, and `problem` says what happened.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "foundation/problem.h"
#include "profile/profile_format.h"

namespace canopy::profile {

class ProfileWriter {
public:
    // Creates the file, for its owner only; replaces one that is there, unless somebody is writing it.
    static Expected<ProfileWriter> create(const std::string& path, const FileHead& head);
    // A writer, in any process, has the file open.
    static bool in_use(const std::string& path) noexcept;
    ProfileWriter(ProfileWriter&& other) noexcept;
    ProfileWriter& operator=(ProfileWriter&&) = delete;
    ~ProfileWriter();

    void text(std::uint32_t number, std::string_view text);
    void thread(std::uint32_t number, std::uint32_t system_id, ThreadRole role, std::uint32_t index,
                std::string_view name);
    void records(std::uint32_t thread, std::span<const Record> records);  // any number
    void clock(std::uint64_t ticks, std::int64_t monotonic_time);
    void device(std::uint32_t number, std::string_view kind, std::string_view chip, std::uint32_t cube_cores,
                std::uint32_t vector_cores, std::uint32_t cpu_cores, std::uint32_t workers, std::uint64_t memory);
    void stream(std::uint32_t number, std::uint32_t device, std::uint32_t priority);
    void lost(std::uint32_t thread, std::uint64_t count);
    void fact(std::string_view key, std::string_view value);
    // Appends a ring for a black box and maps it, all zero; nullptr if there is no room. `place`: where it lies in the
    // file.
    void* ring(std::uint64_t& place);
    // From the record of this number on, the ring is that of the thread.
    void owner(std::uint64_t place, std::uint32_t thread, std::uint64_t first);
    // Appends bytes of another file; for chunks that were written before.
    void copy(int from, std::uint64_t offset, std::uint64_t size);
    // Marks the file as complete and closes it. It is a problem if the file was removed meanwhile.
    void close();

    [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  // bytes written

private:
    explicit ProfileWriter(std::string path, int file) : path_(std::move(path)), file_(file) {}
    void write(Chunk type);  // what is in bytes_
    void write_raw(std::span<const std::byte> first, std::span<const std::byte> second = {});

    std::string path_;
    int file_ = -1;
    Bytes bytes_;
    Problem problem_;
    std::uint64_t size_ = 0;
};

}  // namespace canopy::profile
