// SPDX-License-Identifier: Apache-2.0
// Commands of streams and graphs as their order is checked: what they do to memory and to each other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "check/host/access_map.h"
#include "check/host/host_findings.h"

namespace canopy::check {

// Rows of bytes that a command reads or writes.
struct CommandUse {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 1;
    std::uint64_t pitch = 0;
    UseKind kind = UseKind::read;
};

// An event, a notify or a word of memory, by its address; 0: none.
using FenceName = std::uint64_t;
using FenceChange = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand);
using FenceCondition = bool (*)(std::uint64_t value, std::uint64_t operand);

class GraphModel;

// A command of a stream or of a graph.
struct HostCommand {
    enum class Kind : std::uint8_t {
        plain,     // nothing but its accesses
        kernel,    // what it touches is told when it has ended
        signal,    // changes a fence
        wait,      // holds the stream until a fence meets a condition
        function,  // of the program, on a thread of the host
        replay,    // of a graph
    };
    Kind kind = Kind::plain;
    HostCall call;
    std::uint32_t task = 0;
    std::string_view kernel;  // in a graph a kept_name
    std::array<CommandUse, 2> uses{};
    std::uint8_t use_count = 0;
    bool copy = false;                                               // its accesses are those of a copy or fill
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reachable;  // of a kernel: allocations that it has pointers to
    FenceName fence = 0;  // 0 in a graph: the binding number `value` of the replay
    std::uint64_t value = 0;
    std::uint64_t initial = 0;           // of a fence that was not used before
    FenceChange change = nullptr;        // null: raises it to the value
    FenceCondition condition = nullptr;  // null: at least the value
    bool clear = false;                  // of a wait: sets the fence to 0
    std::shared_ptr<const GraphModel> graph;
    std::vector<std::pair<FenceName, std::uint64_t>> bindings;  // of a replay, with the values
};

struct GraphPosition {
    std::uint32_t lane = 0, position = 0;
};

// What a prepared graph does. Constant while it is replayed.
class GraphModel {
public:
    struct Edge {
        GraphPosition before, after;
    };
    const void* executable = nullptr;  // its name
    std::vector<std::vector<HostCommand>> lanes;
    std::vector<std::uint32_t> streams;  // that recorded them, by number
    std::vector<Edge> edges;
    std::vector<FenceName> cleared;  // fences that are 0 when a replay begins
};

}  // namespace canopy::check
