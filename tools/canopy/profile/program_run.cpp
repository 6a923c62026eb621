// SPDX-License-Identifier: Apache-2.0
#include "program_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace canopy_tool {
namespace {

using canopy::Expected;
using canopy::Problem;

constexpr std::array passed_on = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

std::atomic<pid_t> program{0};

// The terminal sends its signals to the program as well.
void pass_on(int signal, siginfo_t* about, void*) {
    const int error = errno;
    const pid_t to = program.load(std::memory_order_relaxed);
    if (to > 0 && about->si_code <= 0) ::kill(to, signal);
    errno = error;
}

class PassedSignals {
public:
    PassedSignals() {
        struct sigaction action {};
        action.sa_sigaction = pass_on;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (std::size_t i = 0; i < passed_on.size(); ++i) {
            ::sigaction(passed_on[i], nullptr, &before_[i]);
            // What is ignored, as nohup does, stays so for the program.
            if (before_[i].sa_handler != SIG_IGN) ::sigaction(passed_on[i], &action, nullptr);
        }
    }
    ~PassedSignals() {
        for (std::size_t i = 0; i < passed_on.size(); ++i) ::sigaction(passed_on[i], &before_[i], nullptr);
    }
    PassedSignals(const PassedSignals&) = delete;
    PassedSignals& operator=(const PassedSignals&) = delete;

private:
    std::array<struct sigaction, passed_on.size()> before_{};
};

// In the child. Never returns; `failure` receives errno.
[[noreturn]] void become(char* const* arguments, int failure, const sigset_t& mask,
                         const struct sigaction& child_ends) {
    ::sigaction(SIGCHLD, &child_ends, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execvp(arguments[0], arguments);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
    ::_exit(127);
}

int end_of(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

Expected<ProgramEnd> run_program(const std::vector<std::string>& command,
                                 const std::vector<std::pair<std::string, std::string>>& variables, int& cannot_start) {
    cannot_start = 126;
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);

    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) return Problem{"no pipe can be made: ", std::strerror(errno)};
    // A parent that ignores the ends of its children passes that on; then there would be no status to wait for.
    struct sigaction noticed {};
    struct sigaction child_ends {};
    noticed.sa_handler = SIG_DFL;
    sigemptyset(&noticed.sa_mask);
    ::sigaction(SIGCHLD, &noticed, &child_ends);
    // A signal between fork and the next line must not be lost.
    sigset_t all, mask;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &mask);
    const pid_t process = ::fork();
    if (process == 0) become(arguments.data(), failure[1], mask, child_ends);
    const int error = errno;
    program = process;
    const PassedSignals signals;
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::close(failure[1]);
    int reason = 0;
    ssize_t got = 0;
    while (process > 0 && (got = ::read(failure[0], &reason, sizeof reason)) < 0 && errno == EINTR) {
    }
    ::close(failure[0]);
    if (process < 0) return Problem{"no process can be made: ", std::strerror(error)};
    const int status = end_of(process);
    program = 0;
    if (got == static_cast<ssize_t>(sizeof reason)) {
        cannot_start = reason == ENOENT ? 127 : 126;
        return Problem{command.front(), ": ", std::strerror(reason)};
    }
    ProgramEnd end{process};
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    end.status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
    return end;
}

}  // namespace canopy_tool
