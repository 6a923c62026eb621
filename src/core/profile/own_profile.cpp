// SPDX-License-Identifier: Apache-2.0
#include "core/profile/own_profile.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/profile/results.h"
#include "profile/page.h"
#include "profile/result_folder.h"
#include "profile/trace_json.h"

namespace canopy {
namespace {

struct OwnProfiles {
    HandleTable<OwnProfile> table{HandleKind::own_profile};
};

Status failed(std::string_view what, const Problem& problem) {
    return fail(code::profiling_failure, "{}: {}", what, problem.message());
}

}  // namespace

HandleTable<OwnProfile>& own_profiles() { return process_state<OwnProfiles>().table; }

Status OwnProfile::start(const std::string& path, std::uint32_t wanted) {
    path_ = path;
    if (path.empty()) {
        Expected<TemporaryFolder> folder = TemporaryFolder::create("profile");
        if (!folder.ok()) return failed("there is no room for a profile", folder.problem());
        temporary_.emplace(std::move(*folder));
        path_ = temporary_->path() + "/profile.canopyprof";
    }
    Expected<std::unique_ptr<record::Recording>> recording = record::record_to(path_, wanted);
    if (!recording.ok()) return failed("the profile cannot be written", recording.problem());
    recording_ = std::move(*recording);
    recorder_ = getpid();
    static const int at_exit = std::atexit([] { end_all(); });  // runs before the recorder's own
    static_cast<void>(at_exit);
    return {};
}

Status OwnProfile::stop() {
    if (!recording_) return fail(code::profiling_stopped, "the profile is not recorded any more");
    const std::unique_ptr<record::Recording> recording = std::move(recording_);
    if (const Problem problem = recording->finish()) return failed("the profile is incomplete", problem);
    return {};
}

Status OwnProfile::open(const std::string& path) {
    path_ = path;
    return file().status();
}

Result<profile::ProfileFile*> OwnProfile::file() {
    if (recording_) return fail(code::profiling_failure, "the profile is still recorded; stop it first");
    if (!file_) {
        Expected<profile::ProfileFile> opened = profile::ProfileFile::open(path_);
        if (!opened.ok()) return failed("the profile cannot be read", opened.problem());
        file_.emplace(std::move(*opened));
    }
    return &*file_;
}

Result<const ProfileTables*> OwnProfile::tables() {
    if (!tables_) {
        const Result<profile::ProfileFile*> opened = file();
        if (!opened.ok()) return opened.status();
        tables_.emplace(read_tables(*opened.value()));
    }
    return &*tables_;
}

Status OwnProfile::write_to(const std::string& path) {
    const Result<profile::ProfileFile*> opened = file();
    if (!opened.ok()) return opened.status();
    profile::ProfileFile& from = *opened.value();
    const std::string_view name = path;
    Problem problem;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        problem = profile::write_result_folder(from, path).problem();
    } else if (name.ends_with(".html")) {
        problem = profile::write_page(from, path);
    } else if (name.ends_with(".json") || name.ends_with(".json.gz")) {
        problem = profile::write_trace_json(from, path);
    } else if (name.ends_with(".canopyprof")) {
        // The file itself stays as it is.
        if (!std::filesystem::equivalent(path_, path, error)) problem = from.copy_to(path);
    } else {
        return fail(code::invalid_parameter,
                    "{} is no folder and ends neither in .html nor .json, .json.gz or .canopyprof", path);
    }
    if (problem) return failed("the profile cannot be exported", problem);
    return {};
}

// A child made by fork leaves the files to its parent.
void OwnProfile::end() noexcept {
    if (const auto recording = std::exchange(recording_, nullptr)) {
        const Problem problem = recording->finish();
        if (!temporary_) tell_user(problem.message());
    }
    if (temporary_ && recorder_ != getpid()) temporary_->keep();
    temporary_.reset();
}

void OwnProfile::end_all() noexcept {
    own_profiles().for_each([](const Pin<OwnProfile>& profile) {
        if (profile->recorder_ != getpid()) return;  // the parent's, whose thread may hold its lock
        MutexLock guard(profile->mutex);
        profile->end();
    });
}

void OwnProfile::recycle() noexcept {
    MutexLock guard(mutex);
    end();
    file_.reset();
    tables_.reset();
    path_.clear();
    recorder_ = 0;
}

}  // namespace canopy
