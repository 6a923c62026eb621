// SPDX-License-Identifier: Apache-2.0
// The records of a profile as the page's script reads them (page/profile.js): pieces of one thread each, column by
// column, as differences, with times in nanoseconds since the first record. A name is the place of its text in a list.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/page_stream.h"
#include "profile/profile_file.h"
#include "profile/profile_format.h"

namespace canopy::profile {

class PageRecords {
public:
    // Looks through the file: the texts in use, and the time of the first and the last record.
    explicit PageRecords(ProfileFile& file);

    [[nodiscard]] std::uint64_t first_ticks() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t length() const noexcept { return time(last_); }  // nanoseconds
    // Since the first record; never more than a script can count.
    [[nodiscard]] std::uint64_t time(std::uint64_t ticks) const noexcept;
    [[nodiscard]] std::uint64_t duration(std::uint64_t ticks) const noexcept;
    // The place of a text in the list; that of the empty text if no record has it.
    [[nodiscard]] std::uint32_t text_place(std::uint32_t number) const noexcept;
    // The place of a thread in ProfileFile::threads().
    [[nodiscard]] std::uint32_t thread_place(std::uint32_t number) const noexcept;

    void write_texts(PageStream& to) const;
    void write_records(PageStream& to);

private:
    struct LastRecord {
        std::uint64_t index = 0, link = 0;
    };
    struct DetailEntry {
        std::uint64_t index;  // of its record
        std::uint32_t type;
        std::uint64_t value;
    };
    void write_piece(const Thread& thread, std::span<const Record> records, PageStream& to);
    void note(std::uint32_t text);
    template <class Value>
    void column(Value value);

    ProfileFile& file_;
    std::vector<std::uint32_t> texts_;  // their numbers
    std::unordered_map<std::uint32_t, std::uint32_t> places_;
    std::unordered_map<std::uint32_t, std::uint32_t> threads_;
    std::uint64_t first_ = 0, last_ = 0, count_ = 0;

    std::uint64_t written_ = 0;
    std::unordered_map<std::uint32_t, LastRecord> latest_;  // by thread
    std::vector<Record> piece_;                             // without details, times in nanoseconds
    std::vector<std::uint64_t> durations_;
    std::vector<DetailEntry> details_;
    Bytes bytes_;
};

}  // namespace canopy::profile
