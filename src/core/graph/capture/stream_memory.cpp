// SPDX-License-Identifier: Apache-2.0
#include "core/graph/capture/stream_memory.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph.h"

namespace canopy {
namespace {

// The graph a stream is captured into; empty if it is not captured.
Result<Pin<Graph>> captured_graph(Stream& stream, std::uint64_t& last) {
    SpinGuard guard(stream.lock);
    last = stream.last_sequence;
    if (!stream.recorder) return Pin<Graph>();
    if (stream.recorder->kind() != RecorderKind::capture)
        return fail(code::not_supported,
                    "stream {} is recorded for a graph: pools work with running and captured streams only", stream.id);
    Result<CapturedLane> lane = captured_lane(stream);
    if (!lane.ok()) return lane.status();
    return Runtime::instance().graphs.pin(lane->graph->self);
}

// The block is freed with the graph from now on.
Status keep_for_graph(MemoryPool& pool, DeviceAddress address, Graph& graph) {
    Result<bool> fresh = pool.keep(address);
    if (!fresh.ok()) return fresh.status();
    if (!*fresh) return {};
    {
        MutexLock guard(*graph.mutex);
        if (graph.state == GraphState::capturing) {
            graph.pool_blocks.push_back(address);
            return {};
        }
    }
    return pool.give_kept(address);  // the capture has ended meanwhile
}

}  // namespace

Result<DeviceAddress> allocate_in_stream(MemoryPool& pool, std::size_t size, Stream& stream) {
    std::uint64_t last = 0;
    Result<Pin<Graph>> graph = captured_graph(stream, last);
    if (!graph.ok()) return graph.status();
    if (!*graph) return pool.take(size, stream.self);
    Result<DeviceAddress> block = pool.take(size, 0);
    if (!block.ok()) return block.status();
    CANOPY_TRY(keep_for_graph(pool, *block, **graph));
    return block;
}

Status free_in_stream(DeviceAddress address, Stream& stream) {
    const Pin<MemoryPool> pool = pool_of(address);
    if (!pool) return fail(code::param_invalid, "ptr {} is not memory of a pool", address);
    std::uint64_t last = 0;
    Result<Pin<Graph>> graph = captured_graph(stream, last);
    if (!graph.ok()) return graph.status();
    if (!*graph) return pool->give(address, stream.self, last);
    return keep_for_graph(*pool, address, **graph);
}

}  // namespace canopy
