// SPDX-License-Identifier: Apache-2.0
// The order of a host and its streams, and what uses memory without one.
//
// Commands are told when they are submitted, kernels again when they have ended and it is known what they touched. The
// model then runs the streams once more, with clocks in place of work: a command takes what the host knew when it
// submitted it, a wait takes what the signal knew. It never runs ahead: a kernel passes when its ranges are there or
// its stream says that it is complete. So accesses are compared in an order that was possible, and each only with what
// came before.
//
// Calls of all host threads count as ordered as they happened: how threads of a program order each other is not seen.
//
// Threads: every function may be called from any thread. Findings are told without a lock of this class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "check/access_map.h"
#include "check/host_findings.h"
#include "check/launch_check.h"

namespace canopy::check {

// Rows of bytes that a command reads or writes.
struct CommandUse {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 1;
    std::uint64_t pitch = 0;
    UseKind kind = UseKind::read;
};

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
    std::string_view kernel;
    std::array<CommandUse, 2> uses{};
    std::uint8_t use_count = 0;
    bool copy = false;                                               // its accesses are those of a copy or fill
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reachable;  // of a kernel: allocations that it has pointers to
    // Fences are events, notifies and words of memory, known by their addresses. Null in a graph: the binding number
    // `value` of the replay.
    const void* fence = nullptr;
    std::uint64_t value = 0;
    FenceChange change = nullptr;        // null: raises it to the value
    FenceCondition condition = nullptr;  // null: at least the value
    bool clear = false;                  // of a wait: sets the fence to 0
    std::shared_ptr<const GraphModel> graph;
    std::vector<std::pair<const void*, std::uint64_t>> bindings;  // of a replay: fences and values
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
    std::vector<Edge> edges;
    std::vector<const void*> cleared;  // fences that are 0 when a replay begins
};

class HostOrder {
public:
    HostOrder(FindingSink& sink, FindingTexts texts);
    ~HostOrder();
    HostOrder(const HostOrder&) = delete;
    HostOrder& operator=(const HostOrder&) = delete;

    class Agent;

    // ---- streams; `completed` says how many of its commands are complete
    Agent* add_stream(std::uint32_t number, unsigned device, std::function<std::uint64_t()> completed);
    void remove_stream(Agent* stream);
    // The stream's next commands, before they are submitted. Commands of a stream are numbered from 1.
    void submit(Agent& stream, std::span<HostCommand> commands);
    // A kernel has ended and has touched that. `position`: of a graph that is replayed.
    void kernel_ended(std::uint32_t stream, std::uint32_t task, const std::vector<TouchedRange>& ranges);
    void kernel_ended(const void* executable, GraphPosition position, const std::vector<TouchedRange>& ranges);
    // A function of the program begins and ends on a thread of the host, as that command of the stream.
    void function_begins(Agent& stream, std::uint64_t number);
    void function_ends(Agent& stream, std::uint64_t number);

    // ---- the host
    // The host knows that the commands of the stream up to that number are complete.
    void synchronised(Agent& stream, std::uint64_t number);
    // The host knows that the fence has reached the value; a new fence at an address has nothing to do with the old.
    void reached(const void* fence, std::uint64_t value);
    void add_fence(const void* fence);
    // The calling thread has copied or filled memory itself, after everything that could run.
    void used_by_host(const HostCall& call, std::span<const CommandUse> uses);
    void freed(std::uint64_t begin, std::uint64_t bytes, const HostCall& call, std::string_view what);
    // Whether a command of that stream and number is complete, as far as the host knows.
    [[nodiscard]] bool known_complete(const Agent& stream, std::uint64_t number) const;

    // Pieces of memory and commands that are remembered.
    [[nodiscard]] std::size_t remembered() const;

private:
    class Model;
    std::unique_ptr<Model> model_;
};

}  // namespace canopy::check
