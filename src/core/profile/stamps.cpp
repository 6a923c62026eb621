// SPDX-License-Identifier: Apache-2.0
#include "core/profile/stamps.h"

#include <string>
#include <unordered_map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/profile/mark_records.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

using profile::MarkForm;
using profile::MarkSource;

constexpr std::size_t most_open_ranges = 1u << 20;

struct Stamp {
    Mutex mutex;
    std::string text CANOPY_GUARDED_BY(mutex);
    std::uint8_t category CANOPY_GUARDED_BY(mutex) = 0;

    void recycle() noexcept {
        MutexLock guard(mutex);
        text.clear();
        category = 0;
    }
};

struct Stamps {
    HandleTable<Stamp> table{HandleKind::stamp};
    Mutex mutex;
    std::unordered_map<std::uint32_t, OpenMark> ranges CANOPY_GUARDED_BY(mutex);  // started, not stopped
    std::uint32_t last_range CANOPY_GUARDED_BY(mutex) = 0;
};

Stamps& stamps() { return process_state<Stamps>(); }

Result<Pin<Stamp>> find_stamp(const void* handle) {
    if (handle == nullptr) return fail_null("stamp");
    Pin<Stamp> stamp = stamps().table.pin(handle_of(handle));
    if (!stamp) return fail(code::invalid_parameter, "stamp {} is not a stamp", handle);
    return stamp;
}

Status require_collection() {
    if (marks_are_collected()) return {};
    return fail(code::profiling_stopped, "no profile with ACL_PROF_MSPROFTX runs");
}

OpenMark begin(MarkForm form, MarkSource source, std::string_view text, std::uint8_t category) {
    OpenMark mark;
    mark.text = record::text_number(text);
    mark.name = record::name_number_of_literal("default");
    mark.argument.form = form;
    mark.argument.source = source;
    mark.argument.category = category;
    mark.link = next_mark_number();
    mark.begin = ticks();
    return mark;
}

Result<OpenMark> begin(MarkForm form, const void* handle) {
    CANOPY_TRY(require_collection());
    Result<Pin<Stamp>> stamp = find_stamp(handle);
    if (!stamp.ok()) return stamp.status();
    MutexLock guard((*stamp)->mutex);
    return begin(form, MarkSource::stamp, (*stamp)->text, (*stamp)->category);
}

Status pop_of(const char* what) {
    if (pop_from(RangeStack::marks)) return {};
    return fail(code::profiling_failure, "this thread has no range that {} could close", what);
}

}  // namespace

bool marks_are_collected() noexcept { return record::wants(record::marks); }

Result<Handle> create_stamp() {
    CANOPY_TRY(require_collection());
    const Handle handle = stamps().table.open([](Stamp&, Handle) {});
    if (handle == 0) return fail(code::bad_alloc, "too many stamps");
    return handle;
}

void destroy_stamp(const void* stamp) noexcept { stamps().table.close(handle_of(stamp)); }

Status set_stamp_text(const void* handle, std::string_view text) {
    CANOPY_TRY(require_collection());
    Result<Pin<Stamp>> stamp = find_stamp(handle);
    if (!stamp.ok()) return stamp.status();
    MutexLock guard((*stamp)->mutex);
    (*stamp)->text = text;
    return {};
}

Status set_stamp_category(const void* handle, std::uint32_t category) {
    if (category > UINT8_MAX)
        return fail(code::invalid_parameter, "category {} is above {}, the largest one", category, UINT8_MAX);
    CANOPY_TRY(require_collection());
    Result<Pin<Stamp>> stamp = find_stamp(handle);
    if (!stamp.ok()) return stamp.status();
    MutexLock guard((*stamp)->mutex);
    (*stamp)->category = static_cast<std::uint8_t>(category);
    return {};
}

Status check_stamp(const void* handle) {
    CANOPY_TRY(require_collection());
    return find_stamp(handle).status();
}

Status mark_stamp(const void* stamp) {
    const Result<OpenMark> mark = begin(MarkForm::moment, stamp);
    if (!mark.ok()) return mark.status();
    write_moment(mark.value());
    return {};
}

Status push_stamp(const void* stamp) {
    Result<OpenMark> mark = begin(MarkForm::pushed, stamp);
    if (!mark.ok()) return mark.status();
    push_on(RangeStack::marks, std::move(*mark));
    return {};
}

Status pop_stamp() {
    const Status popped = pop_of("aclprofPop");
    // A range that was pushed before the profile ended is closed, and part of no profile.
    CANOPY_TRY(require_collection());
    return popped;
}

Result<std::uint32_t> start_stamp(const void* stamp) {
    Result<OpenMark> mark = begin(MarkForm::range, stamp);
    if (!mark.ok()) return mark.status();
    Stamps& all = stamps();
    MutexLock guard(all.mutex);
    if (all.ranges.size() >= most_open_ranges)
        return fail(code::bad_alloc, "{} ranges are open; aclprofRangeStop closes them", all.ranges.size());
    do {
        ++all.last_range;
    } while (all.last_range == 0 || all.ranges.contains(all.last_range));
    all.ranges.emplace(all.last_range, std::move(*mark));
    return std::uint32_t{all.last_range};
}

Status stop_stamp(std::uint32_t range) {
    Stamps& all = stamps();
    MutexLock guard(all.mutex);
    const auto found = all.ranges.find(range);
    const bool known = found != all.ranges.end();
    const OpenMark mark = known ? found->second : OpenMark();
    if (known) all.ranges.erase(found);
    guard.unlock();
    CANOPY_TRY(require_collection());
    if (!known) return fail(code::invalid_parameter, "rangeId {} is not that of an open range", range);
    write_range(mark);
    return {};
}

Status mark_on_stream(std::string_view text, const void* stream) {
    CANOPY_TRY(require_collection());
    OpenMark mark = begin(MarkForm::moment_on_stream, MarkSource::stamp, text, 0);
    CANOPY_TRY(mark_stream(stream, mark));
    write_moment(mark);
    return {};
}

void mark_moment(std::string_view text) {
    if (marks_are_collected()) write_moment(begin(MarkForm::moment, MarkSource::canopy, text, 0));
}

void push_range(std::string_view text) {
    push_on(RangeStack::marks,
            marks_are_collected() ? begin(MarkForm::pushed, MarkSource::canopy, text, 0) : OpenMark());
}

Status pop_range() { return pop_of("canopyRangePop"); }

}  // namespace canopy
