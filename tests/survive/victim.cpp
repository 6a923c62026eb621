// SPDX-License-Identifier: Apache-2.0
#include "victim.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "until.h"

extern char** environ;

Victim::Victim(const std::string& operation) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, sockets[1], sockets[1]);
    std::string number = std::to_string(sockets[1]), name = operation;
    char program[] = "/proc/self/exe";
    char role[] = "--victim";
    char* arguments[] = {program, role, number.data(), name.data(), nullptr};
    if (posix_spawn(&process_, program, &actions, nullptr, arguments, environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    close(sockets[1]);
    socket_ = sockets[0];
}

Victim::~Victim() {
    kill();
    close(socket_);
}

void Victim::send(const std::string& text) const { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

std::string Victim::receive(bool wait) const {
    char text[1024];
    pollfd state{socket_, POLLIN, 0};
    const auto limit = std::chrono::milliseconds(patience).count();
    if (poll(&state, 1, wait ? static_cast<int>(limit) : 0) <= 0) return {};
    const ssize_t size = recv(socket_, text, sizeof text, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

void Victim::kill() {
    if (process_ <= 0) return;
    int status = 0;
    ::kill(process_, SIGKILL);
    while (waitpid(process_, &status, 0) == process_ && !WIFSIGNALED(status) && !WIFEXITED(status)) continue;
    failed_ = failed_ || WIFEXITED(status);
    process_ = -1;
}

std::string Victim::prepare(const std::string& argument) {
    send(argument + " ");
    return receive(true);
}

bool Victim::die_at(long stop, long instructions) {
    int status = 0;
    const auto stopped = [&] { return waitpid(process_, &status, 0) == process_ && WIFSTOPPED(status); };
    bool ended = false;
    if (ptrace(PTRACE_SEIZE, process_, nullptr, nullptr) == 0 &&
        ptrace(PTRACE_INTERRUPT, process_, nullptr, nullptr) == 0 && stopped()) {
        send("once");
        for (stops_ = 0; stops_ < stop && !ended; ++stops_) {
            if (ptrace(PTRACE_SYSCALL, process_, nullptr, nullptr) != 0 || !stopped()) break;
            ended = receive(false) == "done";
        }
        for (long step = 0; step < instructions && !ended; ++step) {
            if (ptrace(PTRACE_SINGLESTEP, process_, nullptr, nullptr) != 0 || !stopped()) break;
            ended = receive(false) == "done";
        }
    } else {
        failed_ = true;
    }
    if (WIFEXITED(status) || WIFSIGNALED(status)) {  // by itself
        failed_ = true;
        process_ = -1;
    }
    kill();
    return ended || receive(false) == "done";
}

void Victim::die_after(const std::function<void()>& meanwhile) {
    send("always");
    meanwhile();
    kill();
}

int act_as_victim(int socket, const std::string& name) {
    char text[1024];
    const auto hear = [&] {
        const ssize_t size = recv(socket, text, sizeof text, 0);
        if (size <= 0) std::_Exit(0);  // the survivor ended first
        return std::string(text, static_cast<std::size_t>(size));
    };
    const auto tell = [&](const std::string& words) {
        if (::send(socket, words.data(), words.size(), MSG_NOSIGNAL) < 0) std::_Exit(0);
    };
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 9;
    const Operation operation = operations().at(name)();
    const std::string argument = hear();
    tell("ready " + operation.prepare(argument));
    const std::string order = hear();
    if (order == "once") {
        operation.act();
        tell("done");
        hear();
        return 0;
    }
    for (;;) {
        operation.act();
        operation.undo();
    }
}
