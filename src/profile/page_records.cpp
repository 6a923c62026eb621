// SPDX-License-Identifier: Apache-2.0
#include "profile/page_records.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace canopy::profile {
namespace {

constexpr std::uint64_t largest_time = std::uint64_t{1} << 52;  // whole numbers of a script, with room to add two

std::uint64_t whole(double nanoseconds) noexcept {
    if (!(nanoseconds > 0)) return 0;
    return nanoseconds < static_cast<double>(largest_time) ? static_cast<std::uint64_t>(std::llround(nanoseconds))
                                                           : largest_time;
}
// A change of memory has the size of its block there.
bool has_duration(const Record& record) noexcept { return record.what() != Kind::memory; }
std::uint64_t end_of(const Record& record) noexcept {
    const std::uint64_t duration = has_duration(record) ? record.duration : 0;
    return record.begin + std::min(duration, std::numeric_limits<std::uint64_t>::max() - record.begin);
}

}  // namespace

PageRecords::PageRecords(ProfileFile& file) : file_(file) {
    note(no_text);
    first_ = std::numeric_limits<std::uint64_t>::max();
    file.visit([this](const Thread&, std::span<const Record> records) {
        for (const Record& record : records) {
            if (record.what() == Kind::detail) continue;
            ++count_;
            first_ = std::min<std::uint64_t>(first_, record.begin);
            last_ = std::max(last_, end_of(record));
            note(static_cast<std::uint32_t>(record.name));
            if (record.what() == Kind::mark) note(record.object);
        }
    });
    if (count_ == 0) first_ = 0;
    for (std::uint32_t place = 0; const Thread& thread : file.threads()) threads_.emplace(thread.number, place++);
}

void PageRecords::note(std::uint32_t text) {
    if (places_.try_emplace(text, static_cast<std::uint32_t>(texts_.size())).second) texts_.push_back(text);
}

std::uint32_t PageRecords::text_place(std::uint32_t number) const noexcept {
    const auto found = places_.find(number);
    return found == places_.end() ? 0 : found->second;
}

std::uint32_t PageRecords::thread_place(std::uint32_t number) const noexcept {
    const auto found = threads_.find(number);
    return found == threads_.end() ? 0 : found->second;
}

std::uint64_t PageRecords::time(std::uint64_t ticks) const noexcept {
    return ticks <= first_ ? 0 : duration(ticks - first_);
}
std::uint64_t PageRecords::duration(std::uint64_t ticks) const noexcept { return whole(file_.duration(ticks)); }

void PageRecords::write_texts(PageStream& to) const {
    Bytes bytes;
    bytes.number(texts_.size());
    for (const std::uint32_t number : texts_) {
        bytes.text(file_.text(number));
        if (bytes.size() < 64 * 1024) continue;
        to.compressed(bytes.span());
        bytes.clear();
    }
    to.compressed(bytes.span());
}

void PageRecords::write_records(PageStream& to) {
    written_ = 0;
    latest_.clear();
    file_.visit([&](const Thread& thread, std::span<const Record> records) { write_piece(thread, records, to); });
    bytes_.clear();
    bytes_.number(0);  // a piece without a thread ends them
    to.compressed(bytes_.span());
}

template <class Value>
void PageRecords::column(Value value) {
    for (const Record& record : piece_) bytes_.number(value(record));
}

void PageRecords::write_piece(const Thread& thread, std::span<const Record> records, PageStream& to) {
    piece_.clear();
    durations_.clear();
    details_.clear();
    LastRecord& last = latest_[thread.number];
    for (const Record& record : records) {
        if (record.what() == Kind::detail) {
            const bool is_time = record.object == static_cast<std::uint32_t>(Detail::submitted);
            if (last.link == record.link && (written_ != 0 || !piece_.empty()))
                details_.push_back({last.index, record.object, is_time ? time(record.begin) : record.begin});
            continue;
        }
        last = {written_ + piece_.size(), record.link};
        durations_.push_back(has_duration(record) ? time(end_of(record)) - time(record.begin) : record.duration);
        piece_.push_back(record);
        piece_.back().begin = time(record.begin);
    }
    bytes_.clear();
    bytes_.number(std::uint64_t{thread_place(thread.number)} + 1);
    bytes_.number(piece_.size());
    for (const Record& record : piece_) bytes_.byte(static_cast<std::uint8_t>(record.kind));
    column([this](const Record& record) { return text_place(static_cast<std::uint32_t>(record.name)); });
    std::uint64_t before = 0;
    const auto difference = [&before](std::uint64_t value) {
        const auto change = static_cast<std::int64_t>(value - before);
        before = value;
        return (static_cast<std::uint64_t>(change) << 1) ^ static_cast<std::uint64_t>(change >> 63);
    };
    column([&](const Record& record) { return difference(record.begin); });
    for (const std::uint64_t duration : durations_) bytes_.number(duration);
    column([this](const Record& record) {
        return record.what() == Kind::mark ? text_place(record.object) : record.object;
    });
    column([](const Record& record) { return record.argument; });
    before = 0;
    column([&](const Record& record) { return difference(stream_of(record.link)); });
    before = 0;
    column([&](const Record& record) { return difference(task_of(record.link)); });
    bytes_.number(details_.size());
    for (const DetailEntry& detail : details_) {
        bytes_.number(written_ + piece_.size() - detail.index);
        bytes_.number(detail.type);
        bytes_.number(detail.value >> 32);
        bytes_.number(detail.value & 0xFFFFFFFF);
    }
    written_ += piece_.size();
    to.compressed(bytes_.span());
}

}  // namespace canopy::profile
