// SPDX-License-Identifier: Apache-2.0
// Profiles that a program records of itself, and marks in them.
#include "api/api.h"
#include "canopy/profile.h"
#include "core/profile/own_profile.h"
#include "core/profile/stamps.h"

using namespace canopy;

namespace {

// Calls body(profile) with its lock held and returns its result.
template <class Body>
Status with_profile(canopyProfile* handle, Body&& body) {
    CANOPY_TRY(required(handle, "profile"));
    const Pin<OwnProfile> profile = own_profiles().pin(handle_of(handle));
    if (!profile) return fail(code::invalid_parameter, "profile {} is not a profile", as_address(handle));
    MutexLock guard(profile->mutex);
    return body.operator()(*profile);  // explicit: clang 14 mixes up the arguments of a plain call
}

// Makes a profile with prepare(profile).
template <class Prepare>
Status make_profile(canopyProfile** profile, Prepare&& prepare) {
    CANOPY_TRY(required(profile, "profile"));
    Status status;
    const Handle handle = own_profiles().open([&](OwnProfile& fresh, Handle) {
        MutexLock guard(fresh.mutex);
        status = prepare.operator()(fresh);
    });
    if (handle == 0) return fail(code::bad_alloc, "too many profiles");
    if (!status.ok())
        own_profiles().close(handle);
    else
        *profile = static_cast<canopyProfile*>(opaque_of(handle));
    return status;
}

template <class Row>
void give(const std::vector<Row>& from, const void** rows, size_t* size, size_t* count) noexcept {
    *rows = from.data();
    *size = sizeof(Row);
    *count = from.size();
}

Status give_rows(const ProfileTables& tables, canopyProfileTable table, const void** rows, size_t* size,
                 size_t* count) {
    switch (table) {
        case CANOPY_PROFILE_TABLE_CALLS:
            give(tables.calls, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_TASKS:
            give(tables.tasks, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_COPIES:
            give(tables.copies, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_BLOCKS:
            give(tables.blocks, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_MARKS:
            give(tables.marks, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_MEMORY:
            give(tables.memory, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_STEPS:
            give(tables.steps, rows, size, count);
            return {};
        case CANOPY_PROFILE_TABLE_THREADS:
            give(tables.threads, rows, size, count);
            return {};
    }
    return fail(code::invalid_parameter, "table {} is not a table", static_cast<int>(table));
}

}  // namespace

extern "C" {

int canopyProfileStart(const char* path, uint32_t want, canopyProfile** profile) {
    return api([&]() -> Status {
        if (want == 0 || (want & ~record::everything) != 0)
            return fail(code::invalid_parameter, "want {:#x} is not made of known bits", want);
        return make_profile(profile, [&](OwnProfile& fresh) CANOPY_REQUIRES(fresh.mutex) -> Status {
            return fresh.start(path ? path : "", want);
        });
    });
}

int canopyProfileStop(canopyProfile* profile) {
    return api([&]() -> Status {
        return with_profile(profile,
                            [](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status { return found.stop(); });
    });
}

int canopyProfileOpen(const char* path, canopyProfile** profile) {
    return api([&]() -> Status {
        CANOPY_TRY(required(path, "path"));
        return make_profile(profile,
                            [&](OwnProfile& fresh) CANOPY_REQUIRES(fresh.mutex) -> Status { return fresh.open(path); });
    });
}

int canopyProfileClose(canopyProfile* profile) {
    return api([&]() -> Status {
        CANOPY_TRY(required(profile, "profile"));
        if (own_profiles().close(handle_of(profile))) return {};
        return fail(code::invalid_parameter, "profile {} is not a profile", as_address(profile));
    });
}

int canopyProfileExport(canopyProfile* profile, const char* path) {
    return api([&]() -> Status {
        CANOPY_TRY(required(path, "path"));
        return with_profile(
            profile, [&](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status { return found.write_to(path); });
    });
}

int canopyProfileRows(canopyProfile* profile, canopyProfileTable table, const void** rows, size_t* size,
                      size_t* count) {
    return api([&]() -> Status {
        CANOPY_TRY(required(rows, "rows"));
        CANOPY_TRY(required(size, "size"));
        CANOPY_TRY(required(count, "count"));
        return with_profile(profile, [&](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status {
            const Result<const ProfileTables*> tables = found.tables();
            return tables.ok() ? give_rows(*tables.value(), table, rows, size, count) : tables.status();
        });
    });
}

int canopyProfileTextCount(canopyProfile* profile, size_t* count) {
    return api([&]() -> Status {
        CANOPY_TRY(required(count, "count"));
        return with_profile(profile, [&](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status {
            const Result<const ProfileTables*> tables = found.tables();
            if (tables.ok()) *count = tables.value()->texts.size();
            return tables.status();
        });
    });
}

int canopyProfileText(canopyProfile* profile, size_t number, const char** text) {
    return api([&]() -> Status {
        CANOPY_TRY(required(text, "text"));
        return with_profile(profile, [&](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status {
            const Result<const ProfileTables*> tables = found.tables();
            if (!tables.ok()) return tables.status();
            if (number >= tables.value()->texts.size())
                return fail(code::invalid_parameter, "number {} is not below {}", number, tables.value()->texts.size());
            *text = tables.value()->texts[number].c_str();
            return {};
        });
    });
}

int canopyProfileGetFacts(canopyProfile* profile, canopyProfileFacts* facts) {
    return api([&]() -> Status {
        CANOPY_TRY(required(facts, "facts"));
        return with_profile(profile, [&](OwnProfile& found) CANOPY_REQUIRES(found.mutex) -> Status {
            const Result<const ProfileTables*> tables = found.tables();
            if (!tables.ok()) return tables.status();
            const profile::ProfileFile& file = *found.file().value();
            *facts = {tables.value()->began, file.record_count(), file.lost(), file.damage().c_str()};
            return {};
        });
    });
}

void canopyMark(const char* text) {
    if (text == nullptr || !marks_are_collected()) return;
    api([&]() -> Status {
        mark_moment(text);
        return {};
    });
}

void canopyRangePush(const char* text) {
    api([&]() -> Status {
        push_range(text ? text : "");
        return {};
    });
}

int canopyRangePop() {
    return api([&]() -> Status { return pop_range(); });
}

}  // extern "C"
