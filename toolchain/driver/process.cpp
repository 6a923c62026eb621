// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

extern char** environ;

namespace canopy_cc {
namespace {

std::vector<char*> c_strings(const Command& command) {
    std::vector<char*> result;
    for (const std::string& part : command) result.push_back(const_cast<char*>(part.c_str()));
    result.push_back(nullptr);
    return result;
}

}  // namespace

namespace {

int wait_for(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_with_files(const Command& command, const std::string& input, const std::string& output, std::string& messages) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 127;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
    if (!output.empty())
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    auto arguments = c_strings(command);
    pid_t process = -1;
    const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char buffer[4096];
    for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) != 0;) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        messages.append(buffer, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (error == 0) return wait_for(process);
    messages += "canopy-cc: error: cannot start " + command[0] + ": " + std::strerror(error) + "\n";
    return 127;
}

void become(const Command& command) {
    auto arguments = c_strings(command);
    execvp(arguments[0], arguments.data());
}

std::string quoted(const Command& command) {
    std::string line;
    for (const std::string& part : command) {
        if (!line.empty()) line += ' ';
        const bool plain = !part.empty() && part.find_first_of(" \t\"'\\$*?;&|<>()") == std::string::npos;
        line += plain ? part : "'" + part + "'";
    }
    return line;
}

TemporaryDirectory::TemporaryDirectory() {
    const char* base = getenv("TMPDIR");
    std::string pattern = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/canopy-cc-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bool read_file(const std::string& path, std::string& content) {
    FILE* file = fopen(path.c_str(), "rbe");
    if (file == nullptr) return false;
    content.clear();
    char buffer[65536];
    for (std::size_t count; (count = fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, count);
    const bool whole = ferror(file) == 0;
    fclose(file);
    return whole;
}

bool write_file(const std::string& path, const std::string& content) {
    // Something that is no plain file (/dev/null, a pipe) cannot be replaced, only written to.
    struct stat existing {};
    const bool in_place = stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode);
    const std::string part = in_place ? path : path + ".part" + std::to_string(getpid());
    FILE* file = fopen(part.c_str(), "wbe");
    if (file == nullptr) return false;
    const bool written = fwrite(content.data(), 1, content.size(), file) == content.size();
    const bool closed = fclose(file) == 0;
    if (written && closed && (in_place || rename(part.c_str(), path.c_str()) == 0)) return true;
    const int reason = errno;
    if (!in_place) unlink(part.c_str());
    errno = reason;
    return false;
}

}  // namespace canopy_cc
