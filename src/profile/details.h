// SPDX-License-Identifier: Apache-2.0
// Visits records together with their details, which follow them in the file.
//
// Threads: one at a time, as ProfileFile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "profile/profile_file.h"

namespace canopy::profile {

struct Detailed {
    Record record{};
    std::uint32_t known = 0;  // a bit for each Detail
    std::array<std::uint64_t, 8> values{};

    [[nodiscard]] bool has(Detail what) const noexcept { return (known >> static_cast<std::uint32_t>(what) & 1) != 0; }
    // 0 if it is not known.
    [[nodiscard]] std::uint64_t get(Detail what) const noexcept { return values[static_cast<std::uint32_t>(what)]; }
    void add(const Record& detail) noexcept {
        if (detail.object >= values.size()) return;
        known |= 1u << detail.object;
        values[detail.object] = detail.begin;
    }
    // Of a copy or fill.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return has(Detail::bytes) ? get(Detail::bytes) : record.argument;
    }
};

// Whether `begin` of a record of this kind is a time.
constexpr bool has_time(Kind kind) noexcept { return kind != Kind::none && kind != Kind::detail; }
// When it ended. Numbers of a damaged file that pass the end of time give the begin.
inline std::uint64_t record_end(const Record& record) noexcept {
    if (record.what() == Kind::memory || record.what() == Kind::counter) return record.begin;
    const std::uint64_t end = record.begin + record.duration;
    return end < record.begin ? record.begin : end;
}

// Whether a task or node is a kernel whose only block has no record: the thread that wrote it ran it.
inline bool is_its_block(const Record& record) noexcept {
    const TaskObject task = TaskObject::of(record.object);
    return (record.what() == Kind::task || record.what() == Kind::node) && task.type == TaskType::kernel &&
           record.argument == 1 && task.how != static_cast<std::uint8_t>(CoreKind::mix) &&
           (task.flags & (task_fused | task_dropped)) == 0;
}

// Nanoseconds from its begin to its end: the difference of two converted times, so that what is nested in ticks stays
// nested.
inline std::int64_t elapsed_nanoseconds(const ProfileFile& file, const Record& record) noexcept {
    const auto begin = static_cast<std::uint64_t>(file.unix_time(record.begin));
    const auto end = static_cast<std::uint64_t>(file.unix_time(record_end(record)));
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(end - begin));
}

// Calls take(const Thread&, const Detailed&) for every record that is no detail, in the order of its thread.
template <class Take>
void visit_detailed(ProfileFile& file, Take&& take) {
    // The last record of a part, by thread: the next part of the thread may begin with its details.
    std::unordered_map<std::uint32_t, Detailed> open;
    file.visit([&](const Thread& thread, std::span<const Record> records) {
        std::size_t next = 0;
        const auto read_details = [&](Detailed& about) {
            while (next < records.size() && records[next].what() == Kind::detail &&
                   records[next].link == about.record.link)
                about.add(records[next++]);
        };
        if (const auto found = open.find(thread.number); found != open.end()) {
            read_details(found->second);
            if (next == records.size()) return;
            take(thread, std::as_const(found->second));
            open.erase(found);
        }
        while (next < records.size()) {
            Detailed one;
            one.record = records[next++];
            if (one.record.what() == Kind::detail) continue;  // the record it belongs to was lost
            read_details(one);
            if (next == records.size())
                open.insert_or_assign(thread.number, one);
            else
                take(thread, std::as_const(one));
        }
    });
    for (const Thread& thread : file.threads())
        if (const auto found = open.find(thread.number); found != open.end())
            take(thread, std::as_const(found->second));
}

}  // namespace canopy::profile
