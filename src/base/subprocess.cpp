// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error_text.h"

extern char** environ;

namespace canopy {
namespace {

constexpr int cannot_run = 500000;

class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset() noexcept {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }
    [[nodiscard]] int get() const noexcept { return number_; }

private:
    int number_;
};

// The environment of this process, with another TMPDIR where one is asked for.
std::vector<char*> environment_with(std::string& temporary_folder) {
    std::vector<char*> all;
    for (char** variable = environ; *variable; ++variable)
        if (temporary_folder.empty() || std::strncmp(*variable, "TMPDIR=", 7) != 0) all.push_back(*variable);
    if (!temporary_folder.empty()) {
        temporary_folder.insert(0, "TMPDIR=");
        all.push_back(temporary_folder.data());
    }
    all.push_back(nullptr);
    return all;
}

// The child gets an empty standard input, the pipe as output, and the signals of a fresh program.
int spawn(pid_t& child, const std::vector<std::string>& command, int output, const ProcessOptions& options) {
    std::string folder = options.temporary_folder;
    std::vector<char*> variables = environment_with(folder);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM}) sigaddset(&usual, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    const int group = options.stop ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
    const int error = posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

void read_all(int descriptor, std::string& text) {
    char part[4096];
    for (;;) {
        const ssize_t count = read(descriptor, part, sizeof(part));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        text.append(part, static_cast<std::size_t>(count));
    }
}

}  // namespace

// A child that a stop can find. Between its end and the moment it is waited for it keeps its number, so nobody else is
// hit.
class RunningProcess {
public:
    explicit RunningProcess(ProcessStop* stop) noexcept : stop_(stop) {}
    RunningProcess(const RunningProcess&) = delete;
    RunningProcess& operator=(const RunningProcess&) = delete;

    Status start(const std::vector<std::string>& command, int output, const ProcessOptions& options) {
        std::unique_lock<std::mutex> lock;
        if (stop_) {
            lock = std::unique_lock(stop_->mutex_);
            if (stop_->stopped_) return fail(cannot_run, "{} is not started: the work ends", command[0]);
            stop_->running_.reserve(stop_->running_.size() + 1);
        }
        if (const int error = spawn(child_, command, output, options); error != 0)
            return fail(cannot_run, "cannot start {}: {}", command[0], std::strerror(error));
        if (stop_) stop_->running_.push_back(child_);
        return {};
    }
    // Its status; nothing when the program ignores SIGCHLD, where there is none to get.
    std::optional<int> wait() {
        siginfo_t facts;
        while (waitid(P_PID, static_cast<id_t>(child_), &facts, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
        std::unique_lock<std::mutex> lock;
        if (stop_) {
            lock = std::unique_lock(stop_->mutex_);
            std::erase(stop_->running_, child_);
        }
        int status = 0;
        while (waitpid(child_, &status, 0) < 0)
            if (errno != EINTR) return std::nullopt;
        return status;
    }

private:
    ProcessStop* const stop_;
    pid_t child_ = 0;
};

void ProcessStop::stop() noexcept {
    std::lock_guard guard(mutex_);
    stopped_ = true;
    for (const pid_t leader : running_) kill(-leader, SIGKILL);
}

void ProcessStop::lift() noexcept {
    std::lock_guard guard(mutex_);
    stopped_ = false;
}

bool ProcessStop::stopped() const noexcept {
    std::lock_guard guard(mutex_);
    return stopped_;
}

Result<Finished> run_to_end(const std::vector<std::string>& command, const ProcessOptions& options) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(cannot_run, "no pipe to {}: {}", command[0], std::strerror(errno));
    // Numbers behind the standard ones, which a program may have closed.
    Descriptor reader(ends[0]), writer(fcntl(ends[1], F_DUPFD_CLOEXEC, 3));
    close(ends[1]);
    RunningProcess process(options.stop);
    CANOPY_TRY(process.start(command, writer.get(), options));
    writer.reset();
    Finished finished;
    read_all(reader.get(), finished.output);
    const std::optional<int> status = process.wait();
    if (status) finished.status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
    return finished;  // without a status what was written decides
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
    const char* place = getenv("TMPDIR");
    std::string path = fmt::format("{}/canopy-{}-XXXXXX", place && *place ? place : "/tmp", purpose);
    if (!mkdtemp(path.data())) return fail(cannot_run, "cannot make the folder {}: {}", path, std::strerror(errno));
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace canopy
