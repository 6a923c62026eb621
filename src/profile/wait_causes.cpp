// SPDX-License-Identifier: Apache-2.0
#include "profile/wait_causes.h"

#include <algorithm>
#include <tuple>

namespace canopy::profile {
namespace {

std::uint32_t releasing_stream(const Detailed& wait) noexcept {
    if (const std::uint64_t by = wait.get(Detail::released_by); by != 0) return stream_of(by);
    return TaskObject::of(wait.record.object).type == TaskType::wait_value ? by_a_write : by_the_host;
}

void add_place(WaitSummary& waits, const Place& place) {
    ++waits.count;
    waits.time += static_cast<double>(place.end - place.begin);
    if (waits.count == 1 || place.end - place.begin > waits.longest.end - waits.longest.begin) waits.longest = place;
}

}  // namespace

void WaitCauses::add_wait(const Thread& thread, const Detailed& wait) {
    const Record& record = wait.record;
    const std::uint64_t released_by = wait.get(Detail::released_by);
    const Place place = {record.begin, record_end(record), thread.number, record.link};
    const std::uint32_t stream = stream_of(record.link);
    const std::uint32_t from = releasing_stream(wait);
    if (waits_.size() < most_waits) {
        waits_.push_back({released_by, stream, from, place});
        return;
    }
    if (others_.size() >= most_others && !others_.contains(link_of(stream, from))) return;
    WaitSummary& summary = others_[link_of(stream, from)];
    summary.released_by = from;
    add_place(summary, place);
}

void WaitCauses::sort() {
    for (const Wait& wait : waits_)
        if (wait.released_by != 0) releases_.push_back({wait.released_by});
    const auto before = [](const Release& a, const Release& b) { return a.link < b.link; };
    std::sort(releases_.begin(), releases_.end(), before);
    const auto same = [](const Release& a, const Release& b) { return a.link == b.link; };
    releases_.erase(std::unique(releases_.begin(), releases_.end(), same), releases_.end());
}

void WaitCauses::add_work(const Record& task) {
    const TaskObject object = TaskObject::of(task.object);
    if (object.type == TaskType::signal || is_wait(object.type)) return;
    const auto place = std::lower_bound(releases_.begin(), releases_.end(), task.link,
                                        [](const Release& one, std::uint64_t link) { return one.link < link; });
    if (place == releases_.end() || stream_of(place->link) != stream_of(task.link)) return;
    const std::uint32_t number = task_of(task.link) + 1;
    if (number <= place->work) return;
    place->work = number;
    place->name = static_cast<std::uint32_t>(task.name);
    place->object = task.object;
}

std::unordered_map<std::uint32_t, std::vector<WaitSummary>> WaitCauses::by_stream(const ProfileFile& file) {
    // A stream that did nothing between two signals ended the waits for the second with the work before the first.
    for (std::size_t i = 1; i < releases_.size(); ++i) {
        Release& one = releases_[i];
        const Release& before = releases_[i - 1];
        if (one.work >= before.work || stream_of(one.link) != stream_of(before.link)) continue;
        one.work = before.work;
        one.name = before.name;
        one.object = before.object;
    }
    // Stream, releasing stream, name and object of the work.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, WaitSummary> causes;
    for (const Wait& wait : waits_) {
        Release cause{wait.released_by};
        const auto found = std::lower_bound(releases_.begin(), releases_.end(), wait.released_by,
                                            [](const Release& one, std::uint64_t link) { return one.link < link; });
        if (found != releases_.end() && found->link == wait.released_by) cause = *found;
        const TaskObject object = TaskObject::of(cause.object);
        const bool known = cause.work != 0;
        const std::uint32_t kind = static_cast<std::uint32_t>(object.type) | std::uint32_t{object.how} << 8;
        WaitSummary& summary = causes[{wait.stream, wait.releasing_stream, known ? cause.name : 0, known ? kind : 0}];
        if (summary.count == 0 && known) {
            summary.work_is_copy = object.type == TaskType::copy;
            summary.work = summary.work_is_copy ? copy_word(copy_kind(object)) : file.text(cause.name);
            if (summary.work.empty()) summary.work = task_type_word(object);
        }
        summary.released_by = wait.releasing_stream;
        add_place(summary, wait.place);
    }
    std::unordered_map<std::uint32_t, std::vector<WaitSummary>> streams;
    for (auto& [key, summary] : causes) streams[std::get<0>(key)].push_back(std::move(summary));
    for (auto& [key, summary] : others_) streams[stream_of(key)].push_back(std::move(summary));
    for (auto& [stream, waits] : streams) {
        for (WaitSummary& one : waits) one.time *= file.duration(1);
        std::stable_sort(waits.begin(), waits.end(),
                         [](const WaitSummary& a, const WaitSummary& b) { return a.time > b.time; });
    }
    return streams;
}

}  // namespace canopy::profile
