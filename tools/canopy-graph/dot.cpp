// SPDX-License-Identifier: Apache-2.0
// Draws the graph in Graphviz's language: one cluster per stream, with the clusters of sub-graphs inside the stream of
// their condition.
#include <fmt/core.h>

#include <string_view>

#include "draw.h"

namespace canopy_graph {
namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char character : text) {
        if (character == '"' || character == '\\') result += '\\';
        if (character == '\n')
            result += "\\n";
        else if (static_cast<unsigned char>(character) >= 0x20)
            result += character;
    }
    return result + "\"";
}

std::string node_name(std::size_t graph, Place place) {
    return fmt::format("g{}s{}t{}", graph, place.lane, place.position);
}

const char* shape_of(const Task& task) {
    if (task.kind == "kernel" || task.kind == "cpu kernel")
        return "shape=box, style=\"filled,rounded\", fillcolor=\"#dbe9fb\"";
    if (task.kind == "copy" || task.kind == "fill" || task.kind == "reduce")
        return "shape=box, style=filled, fillcolor=\"#dcf3e4\"";
    if (task.kind.rfind("event", 0) == 0)
        return "shape=box, style=\"filled,rounded\", fillcolor=\"#fdf0d5\", height=0.25";
    if (task.kind == "condition") return "shape=diamond, style=filled, fillcolor=\"#e6e1f7\"";
    return "shape=box, style=filled, fillcolor=\"#eeeeee\"";
}

class DotWriter {
public:
    explicit DotWriter(const Trace& trace) : trace_(trace) {}

    std::string write() {
        text_ =
            "digraph canopy {\n  compound=true;\n  newrank=true;\n  graph [fontname=\"Helvetica\", fontsize=12];\n  "
            "node [fontname=\"Helvetica\", fontsize=11];\n"
            "  edge [fontname=\"Helvetica\", fontsize=9];\n";
        for (std::size_t i = 0; i < trace_.graphs.size(); ++i)
            if (trace_.graphs[i].parent == none) write_graph(i, 1);
        for (std::size_t i = 0; i < trace_.graphs.size(); ++i) write_edges(i);
        return text_ + "}\n";
    }

private:
    void line(std::size_t depth, const std::string& content) { text_ += std::string(depth * 2, ' ') + content + "\n"; }

    void write_graph(std::size_t index, std::size_t depth) {
        const Graph& graph = trace_.graphs[index];
        line(depth, fmt::format("subgraph cluster_g{} {{", index));
        line(depth + 1, fmt::format("label={};", quoted(graph.title)));
        for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
            line(depth + 1, fmt::format("subgraph cluster_g{}s{} {{", index, lane));
            line(depth + 2, fmt::format("label={}; color=\"#bbbbbb\";", quoted(graph.lanes[lane].name)));
            for (std::size_t i = 0; i < graph.lanes[lane].tasks.size(); ++i) write_task(index, {lane, i}, depth + 2);
            line(depth + 1, "}");
        }
        line(depth, "}");
    }

    void write_task(std::size_t index, Place place, std::size_t depth) {
        const Task& task = trace_.graphs[index].lanes[place.lane].tasks[place.position];
        std::string label = task.note.empty() ? task.name : task.name + "\n" + task.note;
        if (task.disabled) label += "\n(disabled)";
        line(depth, fmt::format("{} [label={}, {}{}];", node_name(index, place), quoted(label), shape_of(task),
                                task.disabled ? ", fontcolor=\"#888888\"" : ""));
        for (const std::size_t body : task.bodies) write_graph(body, depth);
    }

    void write_edges(std::size_t index) {
        const Graph& graph = trace_.graphs[index];
        for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
            const std::vector<Task>& tasks = graph.lanes[lane].tasks;
            for (std::size_t i = 1; i < tasks.size(); ++i)
                line(1, fmt::format("{} -> {};", node_name(index, {lane, i - 1}), node_name(index, {lane, i})));
            for (std::size_t i = 0; i < tasks.size(); ++i)
                for (const std::size_t body : tasks[i].bodies) write_choice(node_name(index, {lane, i}), body);
        }
        for (const Edge& edge : graph.edges)
            line(1, fmt::format("{} -> {} [label={}{}];", node_name(index, edge.from), node_name(index, edge.to),
                                quoted(edge.label), edge.control ? ", style=dashed, constraint=false" : ""));
    }

    // Draws an arrow to the first task; a sub-graph without tasks gets none.
    void write_choice(const std::string& condition, std::size_t body) {
        const Graph& graph = trace_.graphs[body];
        for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
            if (graph.lanes[lane].tasks.empty()) continue;
            line(1, fmt::format("{} -> {} [label={}, style=dashed, lhead=cluster_g{}];", condition,
                                node_name(body, {lane, 0}), quoted(graph.runs), body));
            return;
        }
    }

    const Trace& trace_;
    std::string text_;
};

}  // namespace

std::string draw_dot(const Trace& trace) { return DotWriter(trace).write(); }

}  // namespace canopy_graph
