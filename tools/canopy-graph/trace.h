// SPDX-License-Identifier: Apache-2.0
// The graphs in a trace that aclmdlRIDebugJsonPrint wrote, as canopy-graph draws them.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace canopy_graph {

inline constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

struct Place {
    std::size_t lane = 0;
    std::size_t position = 0;
};

struct Task {
    std::string name;
    std::string kind;
    std::string note;  // short text for a second line
    std::vector<std::pair<std::string, std::string>> details;
    std::optional<long long> group;
    bool disabled = false;
    std::vector<std::size_t> bodies;  // graphs that it chooses from
};

// The tasks of one stream.
struct Lane {
    std::string name;
    std::vector<Task> tasks;
};

struct Edge {
    Place from;
    Place to;
    std::string label;
    bool control = false;  // a possible control flow, not a fixed order
};

struct Graph {
    std::string title;
    std::string state;
    std::string runs;  // when a sub-graph runs
    std::size_t parent = none;
    std::vector<Lane> lanes;
    std::vector<Edge> edges;
};

// Sub-graphs come after the graphs they are part of.
struct Trace {
    std::vector<Graph> graphs;
};

// Why a trace cannot be drawn. The message is a sentence without its subject.
class BadTrace : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws BadTrace.
Trace read_trace(const std::string& text);

// The tasks of a graph in dependency order. Graphs whose streams start each other may contain cycles; those are cut at
// the first task.
std::vector<Place> in_order(const Graph& graph);

}  // namespace canopy_graph
