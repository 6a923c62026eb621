// SPDX-License-Identifier: Apache-2.0
#include "core/profile/mstx_marks.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/process_state.h"
#include "core/profile/mark_records.h"
#include "core/profile/stamps.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

using profile::MarkForm;
using profile::MarkSource;

constexpr std::string_view default_domain = "default";
constexpr std::size_t most_mstx_ranges = 1u << 20;

bool list_has(std::string_view list, std::string_view name) noexcept {
    for (;;) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma) == name) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

bool domain_is_kept(std::string_view name) noexcept {
    const char* const included = std::getenv("CANOPY_MSTX_INCLUDE");
    if (included != nullptr && *included != '\0') return list_has(included, name);
    const char* const excluded = std::getenv("CANOPY_MSTX_EXCLUDE");
    return excluded == nullptr || !list_has(excluded, name);
}

class Domain {
public:
    std::uint32_t name = 0;
    bool kept = false;
    void recycle() noexcept {
        name = 0;
        kept = false;
    }
};

struct OpenRange {
    Handle domain;
    const void* stream;
    OpenMark mark;
};

struct Domains {
    HandleTable<Domain> table{HandleKind::mstx_domain};
    const bool keeps_default = domain_is_kept(default_domain);
    Mutex mutex;
    std::unordered_map<std::uint64_t, OpenRange> ranges CANOPY_GUARDED_BY(mutex);
};

Domains& domains() { return process_state<Domains>(); }

bool is_mstx_message(const char* message) noexcept {
    return message != nullptr && std::strchr("=+-@", *message) == nullptr &&
           strnlen(message, longest_mstx_message + 1) <= longest_mstx_message;
}

// The number of the domain's name; nullopt if its marks are not kept.
std::optional<std::uint32_t> domain_name(Handle handle) {
    Domains& all = domains();
    if (handle == 0) {
        if (!all.keeps_default) return std::nullopt;
        return record::name_number_of_literal(default_domain.data());
    }
    const Pin<Domain> domain = all.table.pin(handle);
    if (!domain || !domain->kept) return std::nullopt;
    return domain->name;
}

std::optional<OpenMark> begin_mstx(Handle domain, MarkForm form, const char* message) {
    if (!marks_are_collected() || !is_mstx_message(message)) return std::nullopt;
    const std::optional<std::uint32_t> name = domain_name(domain);
    if (!name) return std::nullopt;
    OpenMark mark;
    mark.name = *name;
    mark.text = record::text_number(message);
    mark.argument.form = form;
    mark.argument.source = MarkSource::mstx;
    mark.link = next_mark_number();
    mark.begin = ticks();
    return mark;
}

// The functions return no code, so there is nobody to tell when memory ends.
template <class Body>
auto quietly(Body&& body) noexcept -> decltype(body()) {
    try {
        return body();
    } catch (...) {
        return decltype(body())();
    }
}

}  // namespace

Handle create_mstx_domain(const char* name) noexcept {
    return quietly([&]() -> Handle {
        if (!marks_are_collected() || name == nullptr || *name == '\0') return 0;
        if (strnlen(name, longest_mstx_domain + 1) > longest_mstx_domain) return 0;
        return domains().table.open([&](Domain& domain, Handle) {
            domain.name = record::name_number(name);
            domain.kept = domain_is_kept(name);
        });
    });
}

void destroy_mstx_domain(Handle domain) noexcept {
    quietly([&] { domains().table.close(domain); });
}

void mark_mstx(Handle domain, const char* message, const void* stream) noexcept {
    quietly([&] {
        std::optional<OpenMark> mark = begin_mstx(domain, MarkForm::moment, message);
        if (!mark) return;
        // A stream that takes no task leaves a mark of the host alone.
        if (stream != nullptr) {
            mark->argument.form = MarkForm::moment_on_stream;
            if (!mark_stream(stream, *mark).ok()) mark->argument.form = MarkForm::moment;
        }
        write_moment(*mark);
    });
}

std::uint64_t start_mstx_range(Handle domain, const char* message, const void* stream) noexcept {
    return quietly([&]() -> std::uint64_t {
        std::optional<OpenMark> mark = begin_mstx(domain, MarkForm::range, message);
        if (!mark) return 0;
        const std::uint64_t range = mark->link;
        if (stream != nullptr) begin_range_on_stream(stream, *mark).ignore();
        Domains& all = domains();
        MutexLock guard(all.mutex);
        if (all.ranges.size() >= most_mstx_ranges) return 0;
        all.ranges.emplace(range, OpenRange{domain, stream, std::move(*mark)});
        return range;
    });
}

void end_mstx_range(Handle domain, std::uint64_t range) noexcept {
    quietly([&] {
        Domains& all = domains();
        MutexLock guard(all.mutex);
        const auto found = all.ranges.find(range);
        if (found == all.ranges.end() || found->second.domain != domain) return;
        const OpenRange open = std::move(found->second);
        all.ranges.erase(found);
        guard.unlock();
        if (!marks_are_collected()) return;
        if (open.mark.stream_begin) end_range_on_stream(open.stream, open.mark).ignore();
        write_range(open.mark);
    });
}

}  // namespace canopy
