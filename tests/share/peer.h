// SPDX-License-Identifier: Apache-2.0
// A second process for tests of objects between processes. The test program starts itself again with "--peer"; that
// process makes one call of the interface for each line it is sent and answers with the code and what the call gave.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

struct Answer {
    int code = -1;      // of the call; -1: the process has ended
    std::string value;  // what it gave
};

class Peer {
public:
    Peer();
    ~Peer();  // ends it, if it still runs
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    // Lines: a word and its arguments, see serve in peer.cpp.
    Answer ask(const std::string& line) const;
    void send(const std::string& line) const;
    [[nodiscard]] Answer receive() const;

    void kill();
    // Waits for its end and returns its exit status; -1 if it did not end by itself.
    int finish();
    [[nodiscard]] pid_t process() const { return process_; }

private:
    pid_t process_ = -1;
    int socket_ = -1;
};

// The other side: returns the exit status of the process.
int serve_peer(int socket);
