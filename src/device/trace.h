// SPDX-License-Identifier: Apache-2.0
// Traces: records of what the blocks of a launch do, made by running the kernel's tracing code on inaccessible
// addresses. Copies between global and local memory and element-wise operations are recorded instead of executed; a
// kernel that accesses memory in any other way, or waits for another block, cannot be traced. So a trace is complete,
// and it depends only on the bytes of the argument block that are not addresses.
//
// Threads: plain values, no shared state.
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
    std::span<const DeviceRange> regions;
    std::size_t most_records = 4u << 20;  // a longer trace is rejected
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
    forget,   // local bytes become unknown
};

// A function in the bitcode of the kernel's image that computes one element.
struct TraceOperation {
    // A CanopyTraceOperation::function (canopy/kernel_trace.h).
    std::string symbol;
    std::uint32_t object_size = 0;
    std::uint8_t target_size = 0;  // bytes of an element; 0: a bit, passed to the function as a byte of 0 or 1
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
    std::vector<TraceRecord> records;        // block by block, in execution order
    std::vector<std::uint32_t> block_begin;  // first record of each block, then the end
};

}  // namespace canopy
