// SPDX-License-Identifier: Apache-2.0
// Random sequences of calls for the graph tests: what is queued, on which stream, on which memory. Two steps that touch
// the same memory are always ordered, by their stream or by a chain of events, notifies and words, so the result does
// not depend on the order the device chooses. This file makes no calls; a World (graph_world.h) makes them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphs {

constexpr int stream_count = 8;  // per sequence; a capture begins and ends on the first one
constexpr int body_streams = 2;  // for the bodies of a condition
constexpr int deepest = 2;       // nesting depth of conditions in bodies
constexpr int all_streams = stream_count + deepest * body_streams;
constexpr int device_cells = 20;
constexpr int host_cells = 6;  // page-locked; numbered after the device cells
constexpr std::uint32_t cell_words = 64;
constexpr std::size_t cell_bytes = cell_words * sizeof(std::uint32_t);

enum class Kind {
    kernel,         // `way` selects the launch function
    exchange,       // a kernel whose blocks synchronise
    copy,           // out = a; any combination of host and device except host to host
    copy_rows,      // every second 16 bytes
    copy_snapshot,  // of host memory that may change immediately
    fill,
    fill_words,
    write_value,
    host_function,
    reduce,
    random_numbers,
    pool,       // allocates, fills, reads and frees a block
    group,      // kernels that are replaced together
    condition,  // a word selects the body
    record,     // an event
    wait,
    signal,         // a notify, a counter or a word, selected by `way`
    await,          // the matching wait
    outside_flag,   // waits for an external event that is recorded outside, and resets it
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
    // For a condition:
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

// Ordinary sequences, or ones with many redundant orderings.
enum class Profile { plain, redundant };

// Generates at most `limit` working steps from `seed`. With a smaller limit the same sequence ends earlier.
Plan generate(std::uint64_t seed, int limit, Profile profile);
// One line per step, to help find the cause of a difference.
std::string describe(const Script& script, int depth = 0);

}  // namespace graphs
