// SPDX-License-Identifier: Apache-2.0
#include "core/graph/capture/capture_scopes.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/capture/capture.h"
#include "core/stream/stream.h"

namespace canopy {

namespace {

std::string quoted(const char* name) { return name ? fmt::format("\"{}\"", name) : std::string("without a name"); }

Status check_name(const char* name) {
    if (!name) return {};
    const std::size_t length = strnlen(name, longest_scope_name + 1);
    if (length == 0) return fail(code::param_invalid, "scopeName is empty; pass null for a scope without a name");
    if (length > longest_scope_name)
        return fail(code::param_invalid, "scopeName has more than {} characters", longest_scope_name);
    return {};
}

// Calls body(Graph&, RecordedLane&, stream id) for the lane the stream records to, with the graph locked.
template <class Body>
Status with_lane(const void* handle, Body&& body) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        Result<CapturedLane> captured = captured_lane(*stream);
        if (!captured.ok()) return captured.status();
        Graph& graph = *captured->graph;
        MutexLock lock(*graph.mutex);
        return body.operator()(graph, graph.lanes[captured->lane], stream->id);
    });
}

}  // namespace

Status begin_scope(const char* name, const void* stream) {
    CANOPY_TRY(check_name(name));
    return with_lane(
        stream, [&](Graph& graph, RecordedLane& lane, std::int32_t id) CANOPY_REQUIRES(*graph.mutex) -> Status {
            if (lane.open_scope != no_scope)
                return fail(code::param_invalid, "stream {} already has an open scope; scopes do not nest", id);
            if (graph.scope_count == most_scopes)
                return fail(code::param_invalid, "the graph has {} scopes, the maximum", most_scopes);
            std::uint32_t number = unfused_scope;
            if (name) {
                const auto known = std::find(graph.scopes.begin(), graph.scopes.end(), name);
                if (known == graph.scopes.end() && graph.scopes.size() == most_scope_names)
                    return fail(code::param_invalid, "the graph has scopes of {} names, the maximum", most_scope_names);
                number = static_cast<std::uint32_t>(known - graph.scopes.begin());
                if (known == graph.scopes.end()) graph.scopes.emplace_back(name);
            }
            lane.open_scope = number;
            ++graph.scope_count;
            return {};
        });
}

Status end_scope(const char* name, const void* stream) {
    CANOPY_TRY(check_name(name));
    return with_lane(
        stream, [&](Graph& graph, RecordedLane& lane, std::int32_t id) CANOPY_REQUIRES(*graph.mutex) -> Status {
            if (lane.open_scope == no_scope)
                return fail(code::param_invalid, "stream {} has no open scope to close", id);
            const char* open = lane.open_scope == unfused_scope ? nullptr : graph.scopes[lane.open_scope].c_str();
            if ((open == nullptr) != (name == nullptr) || (open && std::strcmp(open, name) != 0))
                return fail(code::param_invalid, "the open scope of stream {} is {}, not {}", id, quoted(open),
                            quoted(name));
            lane.open_scope = no_scope;
            return {};
        });
}

}  // namespace canopy
