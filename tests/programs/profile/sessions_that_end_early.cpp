// SPDX-License-Identifier: Apache-2.0
// Sessions of processes that end, fork or are killed in the middle, and of folders that cannot be written: the program
// goes on, and what was recorded is left.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_prof.h"
#include "canopy/profile.h"
#include "profile/results.h"

namespace {

void begin(const std::string& folder) {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclprofInit(folder.c_str(), folder.size()));
    std::uint32_t number = 0;
    aclprofConfig* config = aclprofCreateConfig(&number, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_MSPROFTX);
    CHECK(aclprofStart(config));
    void* stamp = aclprofCreateStamp();
    CHECK(aclprofSetStampTraceMessage(stamp, "mark", 4));
    for (int mark = 0; mark < 100; ++mark) CHECK(aclprofMark(stamp));
    canopyRangePush("never closed");
}

// Its destructor runs when the objects of the main thread are gone and the session has ended.
struct MarksLate {
    ~MarksLate() {
        canopyRangePush("late");
        canopyRangePop();
    }
} marks_late;

void exit_in_the_middle(const std::string& folder) {
    begin(folder);
    std::exit(0);
}

void require_success(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void fork_in_the_middle(const std::string& folder) {
    begin(folder);
    const pid_t child = fork();
    // It has no session: nothing to stop, and nothing to write at its end.
    if (child == 0) std::exit(aclprofStop(nullptr) == 0 && aclprofFinalize() == 0 ? 0 : 1);
    require_success(child);
    CHECK(aclprofFinalize());
    std::exit(0);
}

void be_killed(const std::string& folder) {
    begin(folder);
    // The file grows while the program runs: wait until it holds more than texts and threads.
    const std::string file = programs::ResultPlace::file_in(folder);
    const auto size = std::filesystem::file_size(file);
    REQUIRE(eventually([&] {
        void* stamp = aclprofCreateStamp();
        CHECK(aclprofMark(stamp));
        aclprofDestroyStamp(stamp);
        return std::filesystem::file_size(file) > size + 16'384;
    }));
    kill(getpid(), SIGKILL);
}

void lose_the_folder(const std::string& folder) {
    begin(folder);
    std::filesystem::remove_all(folder);
    CHECK(aclprofStop(nullptr));
    CHECK_CODE(ACL_ERROR_PROFILING_FAILURE, aclprofFinalize());
    CHECK(aclprofFinalize());
    std::filesystem::create_directory(folder);
    std::exit(0);
}

void fill_the_disk(const std::string& folder) {
    signal(SIGXFSZ, SIG_IGN);
    begin(folder);
    const rlimit small = {256, 256};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(aclprofStop(nullptr));
    CHECK_CODE(ACL_ERROR_PROFILING_FAILURE, aclprofFinalize());
    std::exit(0);
}

canopyProfile* begin_own(const char* path) {
    CHECK(aclInit(nullptr));
    canopyProfile* profile = nullptr;
    CHECK(canopyProfileStart(path, CANOPY_PROFILE_MARKS, &profile));
    for (int mark = 0; mark < 100; ++mark) canopyMark("mark");
    return profile;
}

void exit_while_it_records_itself(const std::string& folder) {
    begin_own((folder + "/profile").c_str());
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    require_success(child);
    std::exit(0);
}

// The file belongs to the parent, also if a child closes the profile.
void exit_with_a_temporary_file(const std::string& folder) {
    REQUIRE(setenv("TMPDIR", folder.c_str(), 1) == 0);
    canopyProfile* const profile = begin_own(nullptr);
    const pid_t child = fork();
    if (child == 0) std::exit(canopyProfileClose(profile));
    require_success(child);
    REQUIRE(!std::filesystem::is_empty(folder));
    std::exit(0);
}

// A start that fails leaves no session behind.
void start_without_room(const std::string& folder) {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    REQUIRE(setenv("ACL_PROF_PATH", folder.c_str(), 1) == 0);
    signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small = {0, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_CODE(ACL_ERROR_PROFILING_FAILURE, aclprofStart(nullptr));
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(aclprofInit(folder.c_str(), folder.size()));
    CHECK(aclprofStart(nullptr));
    CHECK(aclprofFinalize());
    std::exit(0);
}

// Runs it in a separate process, and returns how it ended.
int run(void (*body)(const std::string&), const std::string& folder) {
    const pid_t child = fork();
    if (child == 0) {
        body(folder);
        std::exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

std::size_t marks_in(const std::string& file, bool complete) {
    canopyProfile* profile = nullptr;
    CHECK(canopyProfileOpen(file.c_str(), &profile));
    canopyProfileFacts facts = {};
    CHECK(canopyProfileGetFacts(profile, &facts));
    REQUIRE((*facts.damage == '\0') == complete);
    const void* rows = nullptr;
    std::size_t size = 0, count = 0;
    CHECK(canopyProfileRows(profile, CANOPY_PROFILE_TABLE_MARKS, &rows, &size, &count));
    REQUIRE(size == sizeof(canopyProfileMark));
    CHECK(canopyProfileClose(profile));
    return count;
}

}  // namespace

int main() {
    for (auto* const body : {exit_in_the_middle, fork_in_the_middle}) {
        programs::ResultPlace place;
        REQUIRE(run(body, place.path()) == 0);
        REQUIRE(marks_in(place.only_run() + "/profile.canopyprof", true) == 100);
    }
    {
        programs::ResultPlace place;
        const int status = run(be_killed, place.path());
        REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        REQUIRE(place.entries().size() == 1);
        REQUIRE(marks_in(programs::ResultPlace::file_in(place.path()), false) > 0);
    }
    {
        programs::ResultPlace place;
        REQUIRE(run(exit_while_it_records_itself, place.path()) == 0);
        REQUIRE(marks_in(place.path() + "/profile", true) == 100);
    }
    {
        programs::ResultPlace place;
        REQUIRE(run(exit_with_a_temporary_file, place.path()) == 0);
        REQUIRE(std::filesystem::is_empty(place.path()));
    }
    for (auto* const body : {lose_the_folder, fill_the_disk, start_without_room}) {
        programs::ResultPlace place;
        REQUIRE(run(body, place.path()) == 0);
    }
    std::printf("sessions_that_end_early: 8 ways\n");
}
