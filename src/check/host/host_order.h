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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "check/host/host_command.h"
#include "check/host/host_findings.h"
#include "check/launch_check.h"
#include "foundation/mutex.h"

namespace canopy::check {

class HostAgent;
class HostModel;

class HostOrder {
public:
    HostOrder(FindingSink& sink, FindingTexts texts);
    ~HostOrder();
    HostOrder(const HostOrder&) = delete;
    HostOrder& operator=(const HostOrder&) = delete;

    using Agent = HostAgent;

    // The name of a kernel for graphs, which may outlive the code of the kernel.
    std::string_view kept_name(std::string_view kernel);

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
    void reached(FenceName fence, std::uint64_t value);
    void add_fence(FenceName fence);
    // The calling thread has copied or filled memory itself, after everything that could run.
    void used_by_host(const HostCall& call, std::span<const CommandUse> uses);
    void freed(std::uint64_t begin, std::uint64_t bytes, const HostCall& call);
    // The memory has a new owner, who has nothing to do with what was submitted before.
    void handed_over(std::uint64_t begin, std::uint64_t bytes);
    // Whether a command of that stream and number is complete, as far as the host knows.
    [[nodiscard]] bool known_complete(const Agent& stream, std::uint64_t number) const;

    // Pieces of memory and commands that are remembered.
    [[nodiscard]] std::size_t remembered() const;
    // Streams, and lanes of graphs whose places are kept.
    [[nodiscard]] std::size_t agents() const;

private:
    template <class Body>
    auto change(Body&& body) const;

    FindingSink& sink_;
    const FindingTexts texts_;
    mutable Mutex mutex_;
    const std::unique_ptr<HostModel> model_;
};

}  // namespace canopy::check
