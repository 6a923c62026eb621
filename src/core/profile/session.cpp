// SPDX-License-Identifier: Apache-2.0
#include "core/profile/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/profile/collection.h"
#include "core/profile/modes.h"
#include "core/profile/results.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

struct Run {
    Collection collection;
    std::unique_ptr<record::Recording> recording;
};

// Everything but `mutex` belongs to the session that is open.
struct Session {
    Mutex mutex;
    bool open CANOPY_GUARDED_BY(mutex) = false;
    pid_t owner CANOPY_GUARDED_BY(mutex) = 0;
    std::string folder CANOPY_GUARDED_BY(mutex);
    std::optional<std::uint64_t> storage_limit CANOPY_GUARDED_BY(mutex);
    std::unique_ptr<Run> run CANOPY_GUARDED_BY(mutex);
    std::vector<std::string> files CANOPY_GUARDED_BY(mutex);  // of runs that have ended
    std::string problems CANOPY_GUARDED_BY(mutex);            // of runs that have ended
    std::uint32_t runs CANOPY_GUARDED_BY(mutex) = 0;          // so far, in this process
};

Session& session() { return process_state<Session>(); }

// A forked process inherits the session of its parent, and forgets it.
void forget_parents(Session& all) CANOPY_REQUIRES(all.mutex) {
    if (!all.open || all.owner == getpid()) return;
    all.open = false;
    all.run.reset();  // its parent goes on with it
    all.files.clear();
    all.problems.clear();
}

void add_problem(Session& all, std::string_view text) CANOPY_REQUIRES(all.mutex) {
    all.problems.append(all.problems.empty() ? "" : "; ").append(text);
}

Status make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder, error))
        return fail(code::invalid_file, "the folder {} for profiles cannot be made: {}", folder,
                    error ? error.message() : "it is not a folder");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return fail(code::invalid_file, "the folder {} for profiles cannot be written: {}", folder, strerror(errno));
    return {};
}

Status open_session(Session& all, ProfilingMode mode, const std::string& folder) CANOPY_REQUIRES(all.mutex) {
    CANOPY_TRY(make_folder(folder));
    const Result<bool> entered = enter_profiling(mode);
    if (!entered.ok()) return entered.status();
    all.open = true;
    all.owner = getpid();
    all.folder = folder;
    all.storage_limit.reset();
    all.problems.clear();
    return {};
}

std::string usual_folder() {
    const char* const named = std::getenv("ACL_PROF_PATH");
    return named != nullptr && *named != '\0' ? named : ".";
}

Collection usual_collection() {
    Collection usual;
    usual.mask = collects::calls | collects::task_time;
    return usual;
}

void end_at_exit();

Status start(Session& all, Collection collection) CANOPY_REQUIRES(all.mutex) {
    const std::string path = fmt::format("{}/canopy_{}_{:06}.canopyprof", all.folder, getpid(), all.runs);
    record::FileOptions options;
    options.limit = all.storage_limit.value_or(0);
    if (!collection.devices.empty()) options.devices = 0;
    for (const std::uint32_t device : collection.devices) options.devices |= std::uint64_t{1} << device;
    Expected<std::unique_ptr<record::Recording>> recording =
        record::record_to(path, wanted_by(collection.mask), options);
    if (!recording.ok()) return fail(code::profiling_failure, "the profile cannot be written: {}", recording.message());
    static const int at_exit = std::atexit(end_at_exit);  // runs before the recorder's own
    static_cast<void>(at_exit);
    ++all.runs;
    all.run = std::make_unique<Run>(Run{std::move(collection), std::move(*recording)});
    return {};
}

void stop(Session& all) CANOPY_REQUIRES(all.mutex) {
    if (!all.run) return;
    const std::unique_ptr<Run> run = std::move(all.run);
    if (const Problem problem = run->recording->finish()) add_problem(all, problem.message());
    all.files.push_back(run->recording->path());
}

// The problems, in words; empty if there were none.
std::string close(Session& all) CANOPY_REQUIRES(all.mutex) {
    stop(all);
    for (const std::string& file : all.files)
        if (const Problem problem = write_results(file, all.folder)) add_problem(all, problem.message());
    all.files.clear();
    all.open = false;
    leave_profiling();
    return std::move(all.problems);
}

void end_at_exit() {
    Session& all = session();
    MutexLock guard(all.mutex);
    if (!all.open || all.owner != getpid()) return;
    tell_user(close(all));
}

Status check_mask(std::uint64_t mask) {
    if (mask == 0) return fail(code::invalid_parameter, "dataTypeConfig is 0: nothing would be collected");
    if ((mask & ~collects::known) != 0)
        return fail(code::profiling_unsupported, "dataTypeConfig has bits that are not known: {:#x}",
                    mask & ~collects::known);
    return {};
}

Result<Collection> collection_of(const void* config) {
    if (config == nullptr) return usual_collection();
    Result<Collection> found = find_collection(config);
    if (!found.ok()) return found;
    if (const Status wrong = check_mask(found->mask); !wrong.ok()) return wrong;
    return found;
}

// For calls that belong to a session of the program's own.
Status check_mode() {
    switch (profiling_mode()) {
        case ProfilingMode::configuration:
            return fail(code::profiling_runs, "profiling was switched on by the file of aclInit");
        case ProfilingMode::subscription:
            return fail(code::profiling_conflict, "models are subscribed: call aclprofModelUnSubscribe first");
        default:
            return {};
    }
}

Status refuse_difference() {
    return fail(code::invalid_profiling_configuration,
                "profilerConfig has other devices or other data than the one that profiling was started with");
}

}  // namespace

Status init_profiling(const std::string& folder) {
    CANOPY_TRY(check_mode());
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (all.open) return fail(code::repeat_initialise, "aclprofInit was called before, without aclprofFinalize");
    return open_session(all, ProfilingMode::session, folder);
}

Status set_profiling(int type, std::string_view value) {
    CANOPY_TRY(check_session_setting(type, value));
    CANOPY_TRY(check_mode());
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (!all.open) return fail(code::profiling_stopped, "aclprofInit was not called");
    if (all.run) return fail(code::profiling_conflict, "profiling runs: settings come before aclprofStart");
    if (type == setting_storage_limit) all.storage_limit = storage_limit_of(value);
    if (type == setting_path) {
        CANOPY_TRY(make_folder(std::string(value)));
        all.folder = value;
    }
    return {};
}

Status warm_up_profiling(const void* config) {
    if (config == nullptr) return fail_null("profilerConfig");
    CANOPY_TRY(check_mode());
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (!all.open) return fail(code::profiling_stopped, "aclprofInit was not called");
    if (all.run) return fail(code::profiling_conflict, "profiling runs already");
    return collection_of(config).status();
}

Status start_profiling(const void* config) {
    CANOPY_TRY(check_mode());
    Result<Collection> collection = collection_of(config);
    if (!collection.ok()) return collection.status();
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (all.run) {
        if (all.run->collection != *collection) return refuse_difference();
        return fail(code::profiling_runs, "profiling runs already");
    }
    if (all.open) return start(all, std::move(*collection));
    CANOPY_TRY(open_session(all, ProfilingMode::session, usual_folder()));
    const Status started = start(all, std::move(*collection));
    if (!started.ok()) close(all);
    return started;
}

Status stop_profiling(const void* config) {
    CANOPY_TRY(check_mode());
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (!all.run) return {};
    if (config != nullptr) {
        const Result<Collection> collection = find_collection(config);
        if (!collection.ok()) return collection.status();
        if (all.run->collection != collection.value()) return refuse_difference();
    }
    stop(all);
    return {};
}

Status finalise_profiling() {
    CANOPY_TRY(check_mode());
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (!all.open) return {};
    const std::string problems = close(all);
    if (!problems.empty()) return fail(code::profiling_failure, "the results are incomplete: {}", problems);
    return {};
}

void start_configured_profiling(const ProfilerSection& section) {
    Collection collection;
    collection.mask = section.mask;
    collection.metrics = section.metrics;
    Session& all = session();
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (section.mask == 0) return;
    Status status =
        open_session(all, ProfilingMode::configuration, section.output.empty() ? usual_folder() : section.output);
    if (status.ok()) {
        all.storage_limit = section.storage_limit;
        status = start(all, std::move(collection));
    }
    if (!status.ok()) tell_user(newest_error_text());
}

void end_configured_profiling() {
    if (profiling_mode() != ProfilingMode::configuration) return;
    Session& all = session();
    MutexLock guard(all.mutex);
    if (all.open) tell_user(close(all));
}

}  // namespace canopy
