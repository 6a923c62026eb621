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

// The child gets an empty standard input, the pipe as output, and the signals of a fresh program.
int spawn(pid_t& child, const std::vector<std::string>& command, int output) {
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
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
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

Result<Finished> run_to_end(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(cannot_run, "no pipe to {}: {}", command[0], std::strerror(errno));
    // Numbers behind the standard ones, which a program may have closed.
    Descriptor reader(ends[0]), writer(fcntl(ends[1], F_DUPFD_CLOEXEC, 3));
    close(ends[1]);
    pid_t child = 0;
    if (const int error = spawn(child, command, writer.get()); error != 0)
        return fail(cannot_run, "cannot start {}: {}", command[0], std::strerror(error));
    writer.reset();
    Finished finished;
    read_all(reader.get(), finished.output);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR) continue;
        return finished;  // a program that ignores SIGCHLD has no status to give; what was written decides
    }
    finished.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return finished;
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
