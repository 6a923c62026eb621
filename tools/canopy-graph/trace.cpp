// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <map>
#include <optional>

#include "foundation/json.h"

namespace canopy_graph {
namespace {

using canopy::Json;

std::string text_of(const Json& value) { return value.is_string() ? value.text() : value.dump(); }

std::string plural(const Json& number, const char* what) {
    const std::string count = text_of(number);
    return count + " " + what + (count == "1" ? "" : "s");
}

std::string note_of(const Json& details) {
    if (details.contains("blocks")) return plural(details.at("blocks"), "block");
    if (details.contains("direction")) return text_of(details.at("direction"));
    if (details.contains("address")) return text_of(details.at("address"));
    if (details.contains("elements")) return plural(details.at("elements"), "element");
    if (details.contains("labels")) return plural(details.at("labels"), "label");
    if (details.contains("comparison")) return "if left " + text_of(details.at("comparison")) + " right";
    return {};
}

Place place_of(const Json& value) {
    return {value.at("lane").get<std::size_t>(), value.at("position").get<std::size_t>()};
}

// Builds graphs from events in file order: processes, their threads, tasks, flows.
class Reader {
public:
    void read(const Json& event) {
        const std::string phase = event.at("ph").get<std::string>();
        if (phase == "M" && event.at("name") == "process_name") add_graph(event);
        if (phase == "M" && event.at("name") == "thread_name") add_lane(event);
        if (phase == "X") add_task(event);
        if (phase == "s") add_edge(event);
    }

    Trace finish() {
        if (trace_.graphs.empty()) throw BadTrace("contains no graph");
        for (const Graph& graph : trace_.graphs)
            for (const Edge& edge : graph.edges) {
                check(graph, edge.from);
                check(graph, edge.to);
            }
        return std::move(trace_);
    }

private:
    static void check(const Graph& graph, Place place) {
        if (place.lane >= graph.lanes.size() || place.position >= graph.lanes[place.lane].tasks.size())
            throw BadTrace("is damaged: an edge leads to a missing task");
    }

    std::size_t index_of(const Json& process) const {
        const auto found = graphs_.find(process.get<long long>());
        if (found == graphs_.end()) throw BadTrace("is damaged: process " + process.dump() + " has no name");
        return found->second;
    }

    void add_graph(const Json& event) {
        const Json& facts = event.at("args");
        Graph graph;
        graph.title = facts.at("name").get<std::string>();
        graph.state = facts.value("state", std::string());
        const std::size_t index = trace_.graphs.size();
        if (facts.contains("parent")) {
            graph.parent = index_of(facts.at("parent"));
            graph.runs = facts.value("runs", std::string());
            const Place place = place_of(facts);
            check(trace_.graphs[graph.parent], place);
            trace_.graphs[graph.parent].lanes[place.lane].tasks[place.position].bodies.push_back(index);
        }
        if (!graphs_.emplace(event.at("pid").get<long long>(), index).second)
            throw BadTrace("is damaged: process " + event.at("pid").dump() + " has two names");
        trace_.graphs.push_back(std::move(graph));
    }

    void add_lane(const Json& event) {
        std::vector<Lane>& lanes = trace_.graphs[index_of(event.at("pid"))].lanes;
        if (event.at("args").at("lane").get<std::size_t>() != lanes.size())
            throw BadTrace("is damaged: streams are out of order");
        lanes.push_back({event.at("args").at("name").get<std::string>(), {}});
    }

    void add_task(const Json& event) {
        const Json& details = event.at("args");
        const Place place = place_of(details);
        std::vector<Lane>& lanes = trace_.graphs[index_of(event.at("pid"))].lanes;
        if (place.lane >= lanes.size() || place.position != lanes[place.lane].tasks.size())
            throw BadTrace("is damaged: tasks are out of order");
        Task task;
        task.name = event.at("name").get<std::string>();
        task.kind = event.at("cat").get<std::string>();
        task.note = note_of(details);
        task.disabled = details.value("disabled", false);
        if (details.contains("group")) task.group = details.at("group").get<long long>();
        for (const auto& [key, value] : details.members()) task.details.emplace_back(key, text_of(value));
        lanes[place.lane].tasks.push_back(std::move(task));
    }

    void add_edge(const Json& event) {
        Edge edge;
        edge.from = place_of(event.at("args").at("from"));
        edge.to = place_of(event.at("args").at("to"));
        edge.label = event.at("name").get<std::string>();
        edge.control = event.at("cat") == "control";
        trace_.graphs[index_of(event.at("pid"))].edges.push_back(std::move(edge));
    }

    Trace trace_;
    std::map<long long, std::size_t> graphs_;  // by process number
};

Json parse(const std::string& text) {
    std::size_t bad_byte = 0;
    std::optional<Json> trace = canopy::parse_json(text, &bad_byte);
    if (!trace) throw BadTrace("is not valid JSON: error at byte " + std::to_string(bad_byte));
    return std::move(*trace);
}

void check_format(const Json& trace) {
    const Json *facts = trace.find("otherData"), *events = trace.find("traceEvents");
    if (facts == nullptr || !facts->is_object() || facts->value("format", Json()) != "canopy-graph" ||
        events == nullptr || !events->is_array())
        throw BadTrace("is JSON, but not a graph written by aclmdlRIDebugJsonPrint");
    if (facts->value("version", Json()) != 1)
        throw BadTrace("was written by another version of Canopy (format " + facts->value("version", Json()).dump() +
                       ", this tool reads 1)");
}

}  // namespace

Trace read_trace(const std::string& text) {
    const Json trace = parse(text);
    check_format(trace);
    try {
        Reader reader;
        for (const Json& event : trace.at("traceEvents")) reader.read(event);
        return reader.finish();
    } catch (const canopy::JsonError& error) {
        throw BadTrace(std::string("is damaged: ") + error.what());
    }
}

std::vector<Place> in_order(const Graph& graph) {
    std::vector<Place> places;
    std::vector<std::size_t> offsets;
    for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
        offsets.push_back(places.size());
        for (std::size_t i = 0; i < graph.lanes[lane].tasks.size(); ++i) places.push_back({lane, i});
    }
    std::vector<std::vector<std::size_t>> next(places.size());
    std::vector<std::size_t> missing(places.size(), 0);
    const auto link = [&](std::size_t before, std::size_t after) {
        next[before].push_back(after);
        ++missing[after];
    };
    for (std::size_t i = 1; i < places.size(); ++i)
        if (places[i].position != 0) link(i - 1, i);
    for (const Edge& edge : graph.edges)
        if (!edge.control) link(offsets[edge.from.lane] + edge.from.position, offsets[edge.to.lane] + edge.to.position);

    std::vector<Place> ordered;
    std::vector<std::size_t> ready;
    std::vector<bool> done(places.size(), false);
    for (std::size_t i = places.size(); i-- > 0;)
        if (missing[i] == 0) ready.push_back(i);
    for (std::size_t first = 0; ordered.size() < places.size();) {
        while (ready.empty() && done[first]) ++first;
        if (ready.empty()) ready.push_back(first);
        const std::size_t task = ready.back();
        ready.pop_back();
        if (done[task]) continue;
        done[task] = true;
        ordered.push_back(places[task]);
        for (const std::size_t after : next[task])
            if (!done[after] && --missing[after] == 0) ready.push_back(after);
    }
    return ordered;
}

}  // namespace canopy_graph
