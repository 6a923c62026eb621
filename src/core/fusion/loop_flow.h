// SPDX-License-Identifier: Apache-2.0
// How data flows through the steps of a fused kernel, element by element: from their traces to loops. Every value that
// a copy or an operation makes is found again where it is used; what is stored and loaded again under the same range of
// memory is handed on directly. Values that depend on each other form a separate piece of work, and pieces that look
// alike share a loop. Used by fused_loops.cpp.
//
// Threads: values without hidden state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/trace.h"

namespace canopy {

class ProcessStop;

// A step whose launch has a trace.
struct LoopStep {
    const LaunchTrace* trace = nullptr;
    std::span<const std::byte> bitcode;  // Module::bitcode of its kernel
};

// Memory the steps touch; in the order of TraceRequest::regions, which was the same for all of them.
struct LoopRegion {
    std::uint32_t slot = 0;         // an 8-byte word of the fused argument block that holds an address in the region
    std::uint64_t slot_offset = 0;  // how far behind the begin of the region that address is
    bool temporary = false;         // nobody but these steps reads what they store there
};

struct LoopRequest {
    std::span<const LoopStep> steps;  // in the order in which they would run
    std::span<const LoopRegion> regions;
    std::uint32_t first_step = 0;  // what the pieces say of their step, for failures
    ProcessStop* stop = nullptr;   // ends the compiler
};

inline constexpr std::uint32_t no_node = UINT32_MAX;

// One value of a loop: an element that is loaded, or computed from values before it.
struct LoopNode {
    bool is_load = false;
    std::uint8_t size = 0;          // bytes; 0: a bit
    std::uint32_t pointer = 0;      // of a load: number of its pointer
    std::uint32_t operation = 0;    // of a computed one: index into LoopFlow::operations
    std::vector<std::byte> object;  // its constants
    std::uint32_t sources[3] = {no_node, no_node, no_node};
};

struct LoopStore {
    std::uint32_t node = 0;
    std::uint32_t pointer = 0;
    bool fresh = true;  // nothing is loaded from there
};

// One iteration.
struct LoopShape {
    std::vector<LoopNode> nodes;
    std::vector<LoopStore> stores;
    std::vector<std::uint8_t> pointer_sizes;  // bytes of an element at each pointer
};

// One call of a loop; the pointers are local_memory-free addresses in the order of the shape.
struct FlowPiece {
    std::uint32_t shape = 0;
    std::uint32_t first_pointer = 0;
    std::uint32_t step = 0;
    std::uint64_t count = 0;
};

struct LoopFlow {
    std::vector<TraceOperation> operations;
    std::vector<LoopShape> shapes;
    std::vector<FlowPiece> pieces;
    std::vector<TraceAddress> pointers;
    std::uint64_t bytes_stored = 0;
    std::uint32_t stores_dropped = 0;  // ranges of temporaries
};

// Refuses with a reason what is not one independent chain of elements beside the other. Pieces that touch depend on
// nothing of each other: no range that one of them stores is touched by another one.
Result<LoopFlow> find_loops(const LoopRequest& request);

}  // namespace canopy
