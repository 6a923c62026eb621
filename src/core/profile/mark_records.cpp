// SPDX-License-Identifier: Apache-2.0
#include "core/profile/mark_records.h"

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "core/stream/stream.h"
#include "record/recorder.h"

namespace canopy {
namespace {

using profile::Kind;
using profile::Record;

std::atomic<std::uint64_t> marks_so_far{0};

thread_local constinit bool thread_ends = false;

// What the thread has opened and not closed, by RangeStack; the last one at the end.
struct OpenRanges {
    std::array<std::vector<OpenMark>, 2> of;
    ~OpenRanges() { thread_ends = true; }
};

std::vector<OpenMark>* open_ranges(RangeStack which) noexcept {
    if (thread_ends) return nullptr;
    thread_local OpenRanges ranges;
    return &ranges.of[static_cast<std::size_t>(which)];
}

Record record_of(const OpenMark& mark) noexcept {
    Record record{};
    record.kind = static_cast<std::uint64_t>(Kind::mark);
    record.name = mark.name;
    record.object = mark.text;
    record.argument = mark.argument.packed();
    record.link = mark.link;
    return record;
}

void write_between(Record record, Ticks begin, Ticks end) noexcept {
    record.begin = begin;
    record.duration = record::duration_between(begin, end);
    record::write(record);
}

std::uint64_t next_link(Stream& stream) CANOPY_REQUIRES(stream.lock) {
    return profile::link_of(static_cast<std::uint32_t>(stream.id), stream.next_task);
}

// Queues `work`, which runs as work() on the thread that drains the stream, once for each replay if it is captured.
// `prepare(work, stream)` fills in what the stream decides.
template <class Work, class Prepare>
Status queue_work(const void* handle, Work work, Prepare&& prepare) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        auto task = std::make_unique<Work>(std::move(work));
        prepare.operator()(*task, *stream);  // explicit: clang 14 mixes up the arguments of a plain call
        Command command(Opcode::inline_call);
        command.call.argument = task.get();
        command.call.function = [](void* argument) { (*static_cast<Work*>(argument))(); };
        command.call.dropped = [](void*) {};
        command.call.dispose = [](void* argument) { delete static_cast<Work*>(argument); };
        CANOPY_TRY(stream.submit(command));
        task.release();
        return {};
    });
}

struct MomentWork {
    Record record;
    void operator()() const noexcept {
        const Ticks now = ticks();
        write_between(record, now, now);
    }
};

struct BeginWork {
    std::shared_ptr<std::uint64_t> begin;
    void operator()() const noexcept { *begin = ticks(); }
};

struct EndWork {
    std::shared_ptr<std::uint64_t> begin;
    Record record;
    void operator()() const noexcept {
        if (*begin != 0) write_between(record, *begin, ticks());
    }
};

struct StepWork {
    Record record;
    std::uint64_t model;
    void operator()() const noexcept {
        Record step = record;
        step.begin = ticks();
        record::write(step);
        if (model == 0) return;
        Record detail{};
        detail.kind = static_cast<std::uint64_t>(Kind::detail);
        detail.begin = model;
        detail.object = static_cast<std::uint32_t>(profile::Detail::model);
        detail.link = step.link;
        record::write(detail);
    }
};

}  // namespace

std::uint64_t next_mark_number() noexcept { return marks_so_far.fetch_add(1, std::memory_order_relaxed) + 1; }

void write_moment(const OpenMark& mark) noexcept { write_between(record_of(mark), mark.begin, mark.begin); }

void write_range(const OpenMark& mark) noexcept { write_between(record_of(mark), mark.begin, ticks()); }

void push_on(RangeStack which, OpenMark range) {
    if (std::vector<OpenMark>* const ranges = open_ranges(which)) ranges->push_back(std::move(range));
}

bool pop_from(RangeStack which) noexcept {
    std::vector<OpenMark>* const ranges = open_ranges(which);
    if (ranges == nullptr || ranges->empty()) return false;
    const OpenMark range = std::move(ranges->back());
    ranges->pop_back();
    if (range.link != 0 && record::wants(record::marks)) write_range(range);
    return true;
}

Status mark_stream(const void* handle, OpenMark& mark) {
    return queue_work(handle, MomentWork{}, [&](MomentWork& work, Stream& stream) CANOPY_REQUIRES(stream.lock) {
        mark.link = next_link(stream);
        work.record = record_of(mark);
        profile::MarkArgument argument = mark.argument;
        argument.on_device = true;
        work.record.argument = argument.packed();
    });
}

Status begin_range_on_stream(const void* handle, OpenMark& mark) {
    auto begin = std::make_shared<std::uint64_t>(0);
    CANOPY_TRY(queue_work(handle, BeginWork{begin}, [&](BeginWork&, Stream& stream) CANOPY_REQUIRES(stream.lock) {
        mark.link = next_link(stream);
    }));
    mark.stream_begin = std::move(begin);
    return {};
}

Status end_range_on_stream(const void* handle, const OpenMark& mark) {
    EndWork end{mark.stream_begin, record_of(mark)};
    profile::MarkArgument argument = mark.argument;
    argument.on_device = true;
    end.record.argument = argument.packed();
    return queue_work(handle, std::move(end), [](EndWork&, Stream&) {});
}

Status step_on_stream(const void* handle, profile::StepForm form, std::uint16_t tag, std::uint64_t number,
                      std::uint64_t model) {
    return queue_work(handle, StepWork{{}, model}, [&](StepWork& work, Stream& stream) CANOPY_REQUIRES(stream.lock) {
        work.record.kind = static_cast<std::uint64_t>(Kind::step_point);
        work.record.object = profile::StepObject{form, static_cast<std::uint8_t>(stream.record->index), tag}.packed();
        work.record.argument = static_cast<std::uint32_t>(number);
        work.record.link = next_link(stream);
    });
}

Status check_stream(const void* handle) {
    return with_stream(handle, [](LockedStream&) -> Status { return {}; });
}

}  // namespace canopy
