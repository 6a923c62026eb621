// SPDX-License-Identifier: Apache-2.0
#include "base/helper_process.h"

#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

namespace canopy {

namespace {

// A helper is not recorded: its work appears in the profile of the program.
std::vector<char*> environment_of_helper() {
    std::vector<char*> kept;
    for (char** variable = environ; variable && *variable; ++variable)
        if (std::strncmp(*variable, "CANOPY_PROFILE=", 15) != 0) kept.push_back(*variable);
    kept.push_back(nullptr);
    return kept;
}

}  // namespace

pid_t start_helper(const CodeFile& program, std::string name, std::initializer_list<int> descriptors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    std::vector<std::string> texts{std::move(name)};
    for (const int descriptor : descriptors) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);  // clears close-on-exec in the child
        texts.push_back(std::to_string(descriptor));
    }
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const std::string path = fmt::format("/proc/self/fd/{}", program.descriptor());
    const std::vector<char*> environment = environment_of_helper();
    pid_t process = -1;
    const int error = posix_spawn(&process, path.c_str(), &actions, &attributes, arguments.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return process;
    errno = error;
    return -1;
}

namespace {
std::atomic<bool> for_cpu_kernels{false};
}
void set_runs_cpu_kernels() noexcept { for_cpu_kernels.store(true, std::memory_order_relaxed); }
bool runs_cpu_kernels() noexcept { return for_cpu_kernels.load(std::memory_order_relaxed); }

int wait_for_helper(pid_t process) noexcept {
    int status = 0;
    pid_t ended = 0;
    do ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == process ? status : 0;
}

}  // namespace canopy
