// SPDX-License-Identifier: Apache-2.0
// A process that is killed in the middle of an operation. The test program starts itself again with "--victim"; that
// process prepares one of the operations of operations.cpp, tells what it made, and performs it once, or over and over,
// when told to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "acl/acl.h"

// One operation of the interface, as the process that dies performs it.
struct Operation {
    std::function<std::string(const std::string& argument)> prepare;  // returns what the survivor needs to know
    std::function<void()> act;
    std::function<void()> undo;  // makes it possible to act again
};
const std::map<std::string, std::function<Operation()>>& operations();
// A handle as text, for the messages between the two.
std::string hex(const aclrtIpcEventHandle& handle);
int act_as_victim(int socket, const std::string& name);

class Victim {
public:
    explicit Victim(const std::string& operation);
    ~Victim();
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    [[nodiscard]] pid_t process() const { return process_; }
    // Lets it prepare and returns what it tells; empty if it has ended.
    std::string prepare(const std::string& argument);

    // All of these end with its death. True: the operation had ended before.
    // Stops it at the `stop`-th beginning or end of a system call, then lets it go on for some instructions.
    bool die_at(long stop, long instructions = 0);
    // It acts again and again, until `meanwhile` returns.
    void die_after(const std::function<void()>& meanwhile);

    // Whether it ended by itself, which is a failure of the operation.
    [[nodiscard]] bool failed() const { return failed_; }
    // How many system-call stops it made before its death.
    [[nodiscard]] long stops() const { return stops_; }

private:
    void send(const std::string& text) const;
    [[nodiscard]] std::string receive(bool wait) const;
    void kill();

    pid_t process_ = -1;
    int socket_ = -1;
    bool failed_ = false;
    long stops_ = 0;
};
