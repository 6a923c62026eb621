// SPDX-License-Identifier: Apache-2.0
// What a checker finds, before it is written as text, JSON or SARIF.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy::check {

// error: a documented rule is broken. warning: wrong on some chips or in some orders. note: right only because a
// compiler or a library adds something.
enum class Level : std::uint8_t { error, warning, note };

// One side of a finding: an access, a flag, an allocation.
struct Place {
    std::string file;  // empty: not known
    unsigned line = 0;
    std::string operation;  // "DataCopy"
    std::string operand;    // "dst"; empty if there is none
    std::string access;     // "read", "write", or empty
    std::string pipe;       // "PIPE_V", or empty
    std::string core;       // "aiv(0)", "aic(1)", or empty on the host
    std::int64_t block = -1;
    std::uint64_t address = 0;  // offset in a local memory, or an address in global memory
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;  // of the instruction in its core
};

struct Finding {
    std::string id;  // "race.pipe"
    Level level = Level::error;
    std::string kind;    // "RAW", "WAR", "WAW", or empty
    std::string kernel;  // empty for the host
    unsigned device = 0;
    std::string memory;         // "GM", "UB", "L1", ..., or empty
    std::string headline;       // "Potential WAR hazard detected at UB"
    std::string explanation;    // "no order: needs MTE3_V behind the read; ..."
    std::string missing;        // "MTE3_V", "PipeBarrier<PIPE_V>", or empty
    std::vector<Place> places;  // the earlier one first
    std::uint64_t count = 1;    // how often it happened; what finds much adds its rest when a core or launch ends
};

// Takes findings from any thread. Equal ones (id, kernel, memory, files and lines of the places) are one with a count.
class FindingSink {
public:
    virtual ~FindingSink() = default;
    virtual void add(Finding finding) = 0;
};

}  // namespace canopy::check
