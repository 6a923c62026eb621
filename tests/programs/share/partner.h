// SPDX-License-Identifier: Apache-2.0
// For programs of several processes: the program starts itself again in another role, and bytes go both ways between
// the two through pipes. Every process waits with a limit, and a partner that fails fails the program.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "check.h"

namespace programs {

// One end of the two pipes.
class Line {
public:
    Line(int from, int to) : from_(from), to_(to) {}

    template <class T>
    void give(const T& value) const {
        REQUIRE(::write(to_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
    }
    template <class T>
    T get() const {
        T value{};
        pollfd ready{from_, POLLIN, 0};
        REQUIRE(::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 1);
        REQUIRE(::read(from_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
        return value;
    }
    // A moment that the other process waits for.
    void tell() const { give('!'); }
    void wait() const { REQUIRE(get<char>() == '!'); }

protected:
    int from_, to_;
};

// What a key travels in: its characters and a zero.
struct Key {
    char text[65] = {};
};

// Another process of this program: main gets the role as its argument.
class Partner : public Line {
public:
    explicit Partner(const char* role) : Line(-1, -1) {
        int down[2], up[2];
        REQUIRE(::pipe2(down, O_CLOEXEC) == 0 && ::pipe2(up, O_CLOEXEC) == 0);
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(down[0], 0);
            ::dup2(up[1], 3);
            ::execl("/proc/self/exe", "partner", role, nullptr);
            ::_exit(127);
        }
        ::close(down[0]);
        ::close(up[1]);
        to_ = down[1];
        from_ = up[0];
    }
    Partner(Partner&& other) noexcept : Line(other.from_, other.to_), process_(std::exchange(other.process_, -1)) {
        other.from_ = other.to_ = -1;
    }
    ~Partner() {
        if (process_ > 0) {
            int status = 0;
            ::waitpid(process_, &status, 0);
            REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        if (to_ >= 0) ::close(to_);
        if (from_ >= 0) ::close(from_);
    }
    void kill() {
        ::kill(process_, SIGKILL);
        ::waitpid(std::exchange(process_, -1), nullptr, 0);
    }
    [[nodiscard]] int process() const { return process_; }

private:
    pid_t process_ = -1;
};

// In the partner: the process that started it.
inline Line starter() { return {0, 3}; }

// The number that a process is known by to others.
inline std::int32_t own_number() {
    std::int32_t number = 0;
    CHECK(aclrtDeviceGetBareTgid(&number));
    return number;
}

}  // namespace programs
