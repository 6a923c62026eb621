// SPDX-License-Identifier: Apache-2.0
#include "core/profile/tables.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "profile/details.h"

namespace canopy {
namespace {

using profile::Detail;
using profile::Detailed;
using profile::Kind;
using profile::Record;
using profile::Thread;

class TableReader {
public:
    explicit TableReader(profile::ProfileFile& file) : file_(file) {}

    ProfileTables read() {
        tables_.texts.emplace_back();
        find_begin();
        profile::visit_detailed(file_, [this](const Thread& thread, const Detailed& one) { take(thread, one); });
        for (const Thread& thread : file_.threads())
            tables_.threads.push_back({thread.number, thread.system_id, static_cast<std::uint32_t>(thread.role),
                                       thread.index, text_number(thread.name), 0, thread.lost});
        sort_all();
        find_submissions();
        return std::move(tables_);
    }

private:
    // Records are read thread by thread, so the first one is not known before.
    void find_begin() {
        std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
        file_.visit([&](const Thread&, std::span<const Record> records) {
            for (const Record& record : records)
                if (profile::has_time(record.what())) first = std::min(first, record.begin);
        });
        if (first == std::numeric_limits<std::uint64_t>::max()) return;
        zero_ = file_.nanoseconds(first);
        tables_.began = file_.unix_time(first);
    }

    [[nodiscard]] double time(std::uint64_t ticks) const { return file_.nanoseconds(ticks) - zero_; }
    [[nodiscard]] double duration(const Record& record) const { return file_.duration(record.duration); }

    std::uint32_t text_number(std::string_view text) {
        if (text.empty()) return 0;
        const auto [found, fresh] =
            text_numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(tables_.texts.size()));
        if (fresh) tables_.texts.emplace_back(text);
        return found->second;
    }
    // Of a text of the file.
    std::uint32_t text_of(std::uint32_t number) {
        const auto [found, fresh] = numbers_.try_emplace(number, 0);
        if (fresh) found->second = text_number(file_.text(number));
        return found->second;
    }
    std::uint32_t name_of(const Record& record) { return text_of(static_cast<std::uint32_t>(record.name)); }

    void take(const Thread& thread, const Detailed& one) {
        const Record& record = one.record;
        switch (record.what()) {
            case Kind::call:
                tables_.calls.push_back({time(record.begin), duration(record), name_of(record), thread.number,
                                         static_cast<std::int32_t>(record.object), record.argument,
                                         profile::stream_of(record.link), profile::task_of(record.link)});
                break;
            case Kind::task:
            case Kind::node:
                take_task(one);
                break;
            case Kind::block:
                tables_.blocks.push_back({time(record.begin), duration(record), profile::stream_of(record.link),
                                          profile::task_of(record.link), record.object & ~profile::block_vector_core,
                                          record.argument, thread.number,
                                          (record.object & profile::block_vector_core) != 0 ? 1u : 0u});
                break;
            case Kind::mark:
                take_mark(thread, record);
                break;
            case Kind::memory:
                take_memory(thread, record);
                break;
            case Kind::step_point:
                take_step(one);
                break;
            default:
                break;
        }
    }

    void take_task(const Detailed& one) {
        const Record& record = one.record;
        const auto object = profile::TaskObject::of(record.object);
        const bool is_copy = object.type == profile::TaskType::copy;
        const bool is_kernel = object.type == profile::TaskType::kernel || object.type == profile::TaskType::cpu_kernel;
        canopyProfileTask task{};
        task.start = time(record.begin);
        task.duration = duration(record);
        task.submitted = std::numeric_limits<double>::quiet_NaN();
        task.name = name_of(record);
        task.type = static_cast<std::uint32_t>(object.type);
        task.stream = profile::stream_of(record.link);
        task.task = profile::task_of(record.link);
        task.device = object.device;
        task.core = is_kernel ? object.how : 0u;
        task.blocks = is_kernel ? record.argument : 0u;
        task.flags = object.flags;
        task.waits_for = one.get(Detail::waits_for);
        task.released_by_stream = profile::stream_of(one.get(Detail::released_by));
        task.released_by_task = profile::task_of(one.get(Detail::released_by));
        task.code = static_cast<std::int32_t>(one.get(Detail::code));
        task.graph_task = record.what() == Kind::node ? 1 : 0;
        task.lane = static_cast<std::uint32_t>(one.get(Detail::place) >> 32);
        task.position = static_cast<std::uint32_t>(one.get(Detail::place));
        tables_.tasks.push_back(task);
        if (is_copy)
            tables_.copies.push_back(
                {task.start, task.duration, one.bytes(), object.how, task.device, task.stream, task.task});
    }

    void take_mark(const Thread& thread, const Record& record) {
        const auto argument = profile::MarkArgument::of(record.argument);
        tables_.marks.push_back({time(record.begin), duration(record), text_of(record.object), name_of(record),
                                 static_cast<std::uint32_t>(argument.form), static_cast<std::uint32_t>(argument.source),
                                 argument.on_device ? 1u : 0u, argument.category, thread.number, 0, record.link});
    }

    void take_memory(const Thread& thread, const Record& record) {
        const auto object = profile::MemoryObject::of(record.object);
        const bool freed = object.change == profile::MemoryChange::freed;
        tables_.memory.push_back({time(record.begin), record.duration, record.link, name_of(record), object.device,
                                  freed ? -1 : 1, thread.number});
    }

    void take_step(const Detailed& one) {
        const Record& record = one.record;
        const auto object = profile::StepObject::of(record.object);
        tables_.steps.push_back({time(record.begin), record.argument, static_cast<std::uint32_t>(object.form),
                                 object.tag, object.device, profile::stream_of(record.link),
                                 profile::task_of(record.link), one.get(Detail::model)});
    }

    // A task was submitted when its call began: the one with the lowest last task that is not before it.
    void find_submissions() {
        std::vector<const canopyProfileCall*> calls;
        for (const canopyProfileCall& call : tables_.calls)
            if (call.tasks != 0) calls.push_back(&call);
        const auto last_task = [](const auto& row) { return std::pair(row.stream, row.task); };
        std::stable_sort(calls.begin(), calls.end(),
                         [&](const auto* left, const auto* right) { return last_task(*left) < last_task(*right); });
        for (canopyProfileTask& task : tables_.tasks) {
            if (task.graph_task != 0) continue;
            const auto found =
                std::lower_bound(calls.begin(), calls.end(), last_task(task),
                                 [&](const auto* call, const auto& wanted) { return last_task(*call) < wanted; });
            if (found != calls.end() && (*found)->stream == task.stream && (*found)->task - task.task < (*found)->tasks)
                task.submitted = (*found)->start;
        }
    }

    void sort_all() {
        const auto by_start = [](auto& rows) {
            std::stable_sort(rows.begin(), rows.end(),
                             [](const auto& left, const auto& right) { return left.start < right.start; });
        };
        by_start(tables_.calls);
        by_start(tables_.tasks);
        by_start(tables_.copies);
        by_start(tables_.blocks);
        by_start(tables_.marks);
        by_start(tables_.memory);
        by_start(tables_.steps);
    }

    profile::ProfileFile& file_;
    ProfileTables tables_;
    double zero_ = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // of the file's texts, in the tables
    std::unordered_map<std::string, std::uint32_t> text_numbers_;
};

}  // namespace

ProfileTables read_tables(profile::ProfileFile& file) { return TableReader(file).read(); }

}  // namespace canopy
