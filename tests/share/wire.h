// SPDX-License-Identifier: Apache-2.0
// What processes say to each other, as a stranger would write it: for tests that say it wrongly. The layout is repeated
// here on purpose: a test must notice when it changes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wire {

struct Process {
    std::uint64_t name_space = 0, start = 0;
    std::uint32_t process = 0, forks = 0;
};
struct Head {
    std::uint32_t magic = 0x59504e43, version = 1;
    char library[32] = {};
    Process from;
    std::uint32_t operation = 0;
    std::int32_t code = 0;
    std::uint32_t unanswered = 0, number = 0;
    std::uint64_t random = 0;
    Process owner;
    std::uint8_t kind = 0, strength = 0, unused[6] = {};
};
static_assert(sizeof(Head) == 120);

enum Kind : std::uint8_t { memory = 1, physical, notify, event, queue };

struct Key {
    std::uint8_t kind = 0;
    Process owner;
    std::uint32_t number = 0;
    std::uint64_t random = 0;
    [[nodiscard]] std::string text() const;
    static Key of(const std::string& text);
};

Process this_process();
// A socket under the name of this process, on which it waits for others; one that is connected to a process.
int listen_as_this_process(int backlog);
int connect_to(std::uint32_t process, uid_t user);
int connect_to(std::uint32_t process);

bool send(int socket, const void* bytes, std::size_t size, const std::vector<int>& descriptors);
// -1: the other side is gone, or says nothing for a minute. Descriptors that come are closed.
ssize_t receive(int socket, void* bytes, std::size_t size);

// Descriptors of all kinds but the right one, to be closed by the caller; and a memory file that nobody can shrink.
std::vector<int> wrong_descriptors(std::mt19937_64& random, std::size_t count);
int memory_file(std::uint64_t size, bool sealed, unsigned flags = 0);

// The process that answers for another library: it listens as itself and answers every question with what `seed` and
// `mode` say, until `socket` ends.
enum class Answers { random_bytes, wrong_fields, wrong_descriptors, another_version, nothing, half, scribbles, deaf };
int serve_forger(int socket, Answers mode, std::uint64_t seed);

}  // namespace wire
