// SPDX-License-Identifier: Apache-2.0
// Traces: what the blocks of a launch do, found out by running the kernel's tracing code on addresses that cannot be
// touched. Copies between global and local memory and operations on elements are written down instead of made; a kernel
// that touches memory in any other way, or waits for another block, has no trace. So a trace is complete, and it
// depends on nothing but the bytes of the argument block that are not addresses.
//
// Threads: values without hidden state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/memory_range.h"

namespace canopy {

struct Kernel;

struct TraceRequest {
    const Kernel* kernel = nullptr;
    std::span<const std::byte> arguments;
    std::uint32_t blocks = 1;
    std::uint32_t dynamic_size = 0;
    // Memory the arguments may point into, in any order, without overlaps. Each 8-byte word of the argument block whose
    // value lies in one of them counts as an address.
    std::span<const MemoryRange> regions;
    std::size_t most_records = 4u << 20;  // a longer trace is refused
};

inline constexpr std::int32_t local_memory = -1;

struct TraceAddress {
    std::int32_t region = local_memory;  // index into TraceRequest::regions
    std::uint64_t offset = 0;            // in the region, or in the core's unified buffer
};

enum class TraceKind : std::uint8_t {
    load,     // global to local memory
    store,    // local to global memory
    move,     // inside local memory
    compute,  // an operation on each element
    forget,   // local bytes become something that cannot be told
};

// A function in the bitcode of the kernel's image that computes one element.
struct TraceOperation {
    // A CanopyTraceOperation::function (canopy/kernel_trace.h).
    std::string symbol;
    std::uint32_t object_size = 0;
    std::uint8_t target_size = 0;  // bytes of an element; 0: a bit, which is a byte of 0 or 1 for the function
    std::uint8_t source_count = 0;
    std::uint8_t source_sizes[3] = {};

    bool operator==(const TraceOperation&) const = default;
};

struct TraceRecord {
    TraceKind kind = TraceKind::load;
    std::uint16_t operation = 0;  // of compute: index into LaunchTrace::operations
    std::uint64_t count = 0;      // bytes; of compute: elements
    TraceAddress target;
    TraceAddress sources[3];
    std::uint32_t object = 0;  // of compute: offset in LaunchTrace::objects of the operation's constants
};

struct LaunchTrace {
    std::vector<TraceOperation> operations;
    std::vector<std::byte> objects;
    std::vector<TraceRecord> records;        // block after block, in the order in which they happen
    std::vector<std::uint32_t> block_begin;  // of each block its first record; one more for the end
};

}  // namespace canopy
