// SPDX-License-Identifier: Apache-2.0
#include "foundation/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

extern char** environ;

namespace canopy {
namespace {

class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    void reset() noexcept {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }
    [[nodiscard]] int get() const noexcept { return number_; }

private:
    int number_;
};

struct Pipe {
    Descriptor reader, writer;
};

// Uses numbers above the standard descriptors, which the program may have closed.
std::optional<Pipe> make_pipe() noexcept {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const Descriptor first(ends[0]), second(ends[1]);
    Pipe made{Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, 3)), Descriptor(fcntl(ends[1], F_DUPFD_CLOEXEC, 3))};
    if (made.reader.get() < 0 || made.writer.get() < 0) return std::nullopt;
    return made;
}

// This process's environment, with TMPDIR replaced if requested.
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

// Everything the child needs, prepared in advance: between vfork and exec it must not allocate.
struct Start {
    char** arguments;
    char** variables;
    const char* input;
    const char* output;  // of ProcessOptions
    int messages;        // destination of standard error
    int caller;          // read end of a pipe that this process holds open; -1: the child may outlive it
    int failure;         // receives errno if the program cannot be started
    bool group;
};

// Makes the kernel kill the group when the pipe's last writer is gone. The program and its children keep the reader
// open. False if the writer is already gone.
bool die_with_caller(int pipe) noexcept {
    if (fcntl(pipe, F_SETFD, 0) != 0 || fcntl(pipe, F_SETOWN, -getpid()) != 0 || fcntl(pipe, F_SETSIG, SIGKILL) != 0 ||
        fcntl(pipe, F_SETFL, O_ASYNC | O_NONBLOCK) != 0)
        return true;  // not supported by this kernel: the child may outlive us
    pollfd state = {pipe, POLLIN, 0};
    return poll(&state, 1, 0) == 0;
}

// If this process had closed a standard descriptor, `descriptor` may have its number: then it only has to stay open.
bool put(int descriptor, int number) noexcept {
    if (descriptor == number) return fcntl(number, F_SETFD, 0) == 0;
    return descriptor >= 0 && dup2(descriptor, number) == number;
}

bool put_output(const Start& start) noexcept {
    if (start.output[0] == '\0') return put(start.messages, STDOUT_FILENO);
    if (std::strcmp(start.output, "-") == 0) return true;
    return put(open(start.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDOUT_FILENO);
}

[[noreturn]] void run_child(const Start& start) noexcept {
    for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM}) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    if (start.group) setpgid(0, 0);
    bool ready = start.caller < 0 || die_with_caller(start.caller);
    ready = ready && put(start.messages, STDERR_FILENO) && put_output(start) &&
            put(open(start.input, O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (ready) execvpe(start.arguments[0], start.arguments, start.variables);
    const int reason = errno;
    (void)!write(start.failure, &reason, sizeof reason);
    _exit(127);
}

// Blocks all signals: no handler of this process may run in the child, which shares its memory until exec.
pid_t start_child(const Start& start) noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = vfork();
    if (child == 0) run_child(start);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return child;
}

// 0, or the errno that kept the program from starting.
int spawn(pid_t& child, const CommandLine& command, int messages, int caller, const ProcessOptions& options) {
    std::string folder = options.temporary_folder;
    std::vector<char*> variables = environment_with(folder);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::optional<Pipe> failure = make_pipe();
    if (!failure) return errno;
    child = start_child({arguments.data(), variables.data(), options.input.c_str(), options.output.c_str(), messages,
                         caller, failure->writer.get(), caller >= 0 || options.stop != nullptr});
    if (child < 0) return errno;
    failure->writer.reset();
    int reason = 0;
    ssize_t count = 0;
    do count = read(failure->reader.get(), &reason, sizeof reason);
    while (count < 0 && errno == EINTR);
    if (count != static_cast<ssize_t>(sizeof reason)) return 0;
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return reason;
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

// A child that ProcessStop can find. It keeps its process id until it is reaped, so no other process is killed by
// mistake.
class RunningProcess {
public:
    explicit RunningProcess(ProcessStop* stop) noexcept : stop_(stop ? *stop : unused_) {}
    RunningProcess(const RunningProcess&) = delete;
    RunningProcess& operator=(const RunningProcess&) = delete;

    Problem start(const CommandLine& command, int messages, int caller, const ProcessOptions& options) {
        MutexLock lock(stop_.mutex_);
        if (stop_.stopped_) return {command[0], " is not started: the work ends"};
        stop_.running_.reserve(stop_.running_.size() + 1);
        if (const int error = spawn(child_, command, messages, caller, options); error != 0)
            return {"cannot start ", command[0], ": ", std::strerror(error)};
        stop_.running_.push_back(child_);
        return {};
    }
    // The wait status; nothing if this process ignores SIGCHLD, which discards it.
    std::optional<int> wait() {
        siginfo_t facts;
        while (waitid(P_PID, static_cast<id_t>(child_), &facts, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
        MutexLock lock(stop_.mutex_);
        std::erase(stop_.running_, child_);
        int status = 0;
        while (waitpid(child_, &status, 0) < 0)
            if (errno != EINTR) return std::nullopt;
        return status;
    }

private:
    ProcessStop unused_;  // for a caller that never stops it
    ProcessStop& stop_;
    pid_t child_ = 0;
};

void ProcessStop::stop() noexcept {
    MutexLock guard(mutex_);
    stopped_ = true;
    for (const pid_t leader : running_) kill(-leader, SIGKILL);
}

void ProcessStop::lift() noexcept {
    MutexLock guard(mutex_);
    stopped_ = false;
}

bool ProcessStop::stopped() const noexcept {
    MutexLock guard(mutex_);
    return stopped_;
}

Expected<Finished> run_to_end(const CommandLine& command, const ProcessOptions& options) {
    std::optional<Pipe> messages = make_pipe();
    std::optional<Pipe> caller = options.ends_with_caller ? make_pipe() : std::nullopt;
    if (!messages || (options.ends_with_caller && !caller))
        return Problem{"no pipe to ", command[0], ": ", std::strerror(errno)};
    RunningProcess process(options.stop);
    if (Problem problem = process.start(command, messages->writer.get(), caller ? caller->reader.get() : -1, options))
        return problem;
    messages->writer.reset();
    if (caller) caller->reader.reset();
    Finished finished;
    read_all(messages->reader.get(), finished.output);
    const std::optional<int> status = process.wait();
    if (status) finished.status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
    return finished;  // without a status the caller checks the output
}

}  // namespace canopy
