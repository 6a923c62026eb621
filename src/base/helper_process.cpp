// SPDX-License-Identifier: Apache-2.0
#include "base/helper_process.h"

#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace canopy {

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
    pid_t process = -1;
    const int error = posix_spawn(&process, path.c_str(), &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return process;
    errno = error;
    return -1;
}

int wait_for_helper(pid_t process) noexcept {
    int status = 0;
    pid_t ended = 0;
    do ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == process ? status : 0;
}

bool send_message(int socket, const void* message, std::size_t size, const void* bytes, std::size_t count,
                  int descriptor) noexcept {
    iovec parts[2] = {{const_cast<void*>(message), size}, {const_cast<void*>(bytes), count}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = parts;
    header.msg_iovlen = count != 0 ? 2 : 1;
    if (descriptor >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        cmsghdr* part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
    }
    ssize_t sent = 0;
    do sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(size + count);
}

bool receive_message(int socket, void* message, std::size_t size, void* bytes, std::size_t room, std::size_t& count,
                     int* descriptor) noexcept {
    iovec parts[2] = {{message, size}, {bytes, room}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr header{};
    header.msg_iov = parts;
    header.msg_iovlen = 2;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t received = 0;
    do received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    int passed = -1;
    const cmsghdr* part = CMSG_FIRSTHDR(&header);
    if (received > 0 && part && part->cmsg_type == SCM_RIGHTS) std::memcpy(&passed, CMSG_DATA(part), sizeof passed);
    if (descriptor)
        *descriptor = passed;
    else if (passed >= 0)
        close(passed);
    if (received < static_cast<ssize_t>(size)) return false;
    count = static_cast<std::size_t>(received) - size;
    return true;
}

}  // namespace canopy
