// SPDX-License-Identifier: Apache-2.0
// Random sequences of calls for the tests about graphs: what is queued, on which stream, on which memory. Two steps
// that touch the same memory are always ordered, by their stream or by a chain of events, notifies and words, so
// whatever order the device chooses, the result is the same. No call is made here; a World (graph_world.h) makes them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphs {

constexpr int stream_count = 8;  // of a sequence; the first one is where a capture begins and ends
constexpr int body_streams = 2;  // of the bodies of a condition
constexpr int deepest = 2;       // conditions inside of bodies of conditions
constexpr int all_streams = stream_count + deepest * body_streams;
constexpr int device_cells = 20;
constexpr int host_cells = 6;  // page-locked; their numbers follow those of the device's
constexpr std::uint32_t cell_words = 64;
constexpr std::size_t cell_bytes = cell_words * sizeof(std::uint32_t);

enum class Kind {
    kernel,         // `way` says by which launch function
    exchange,       // a kernel whose blocks meet
    copy,           // out = a; host and device in every pairing but host to host
    copy_rows,      // every second 16 bytes
    copy_snapshot,  // of host memory that may change at once
    fill,
    fill_words,
    write_value,
    host_function,
    reduce,
    random_numbers,
    pool,       // a block is taken, filled, read and given back
    group,      // kernels that can be replaced together
    condition,  // bodies chosen by a word
    record,     // an event
    wait,
    signal,         // a notify, a counter or a word, by `way`
    await,          // likewise
    outside_flag,   // waits for an external event that the outside sets, and clears it
    outside_wait,   // waits for a record made outside
    outside_record  // publishes a cell to the outside
};

enum class Way { host_arguments, placeholder, argument_list, argument_array, device_arguments, with_attributes, count };
enum class Condition { branch, loop, choice };

struct Script;

struct Step {
    Kind kind = Kind::kernel;
    int stream = 0;
    std::uint32_t salt = 0;  // unique among kernels
    int out = 0, a = 0, b = 0;
    std::uint32_t blocks = 1;
    int way = 0;
    int object = 0;  // the event, notify, counter, word, group, condition or argument block it uses
    bool disabled = false;
    std::vector<Step> steps;  // of a group
    // Of a condition:
    Condition condition = Condition::branch;
    bool assigns_default = false, selects = true;
    std::uint32_t default_value = 0, modulo = 2;
    int body_stream = 0;
    std::vector<Script> bodies;
};

struct Script {
    std::vector<Step> steps;
};

struct Plan {
    std::uint64_t seed = 0;
    Script script;
    int events = 0, notifies = 0, counters = 0, words = 0, groups = 0, conditions = 0, argument_blocks = 0;
    bool outside_flag = false, outside_wait = false, outside_record = false;
    std::uint32_t next_salt = 0;
    [[nodiscard]] bool outside() const { return outside_flag || outside_wait || outside_record; }
    std::uint32_t new_salt() { return ++next_salt * 0x9E3779B1u; }
};

// Ordinary sequences, or ones with many orders that follow from others.
enum class Profile { plain, redundant };

// At most `limit` steps that do something, chosen by `seed`: with a smaller limit the same sequence ends earlier.
Plan generate(std::uint64_t seed, int limit, Profile profile);
// A line for each step, for whoever looks for the reason of a difference.
std::string describe(const Script& script, int depth = 0);

}  // namespace graphs
