// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_print.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/process_log.h"

namespace canopy {
namespace {

// In microseconds, the unit of traces. The end of each slot stays empty, so that adjacent tasks can be told apart.
constexpr std::uint64_t slot_time = 100;
constexpr std::uint64_t pause_time = 10;
constexpr std::uint64_t edge_time = 1;  // distance of flow ends from the end and start of their tasks

// Viewers reserve number 0.
std::size_t process_number(std::size_t view) { return view + 1; }
std::size_t thread_number(std::size_t lane) { return lane + 1; }

const TaskView& task_at(const GraphView& view, GraphPlace place) {
    return view.lanes[place.lane].tasks[place.position];
}
std::uint64_t begin_of(const TaskView& task) { return task.start * slot_time; }
std::uint64_t end_of(const TaskView& task) { return (task.start + task.slots) * slot_time - pause_time; }

Json metadata(const char* name, std::size_t process, std::size_t thread, Json arguments) {
    return {{"ph", "M"}, {"name", name}, {"pid", process}, {"tid", thread}, {"args", std::move(arguments)}};
}

void add_process(const std::vector<GraphView>& views, std::size_t index, Json& events) {
    const GraphView& view = views[index];
    const std::size_t number = process_number(index);
    Json facts = {{"name", title_of(view)}, {"graph", view.id}, {"graph_name", view.name}, {"state", view.state}};
    if (view.parent != GraphView::no_parent) {
        facts["name"] = fmt::format("{}: {}", title_of(view), view.runs_when);
        facts["parent"] = process_number(view.parent);
        facts["lane"] = view.condition.lane;
        facts["position"] = view.condition.position;
        facts["runs"] = view.runs_when;
    }
    events.push_back(metadata("process_name", number, 0, std::move(facts)));
    events.push_back(metadata("process_labels", number, 0, {{"labels", view.state}}));
    events.push_back(metadata("process_sort_index", number, 0, {{"sort_index", index}}));
}

void add_thread(const LaneView& lane, std::size_t number, std::size_t process, Json& events) {
    const std::string name = fmt::format("stream {}{}", lane.stream, lane.starts ? "" : " (when started)");
    const std::size_t thread = thread_number(number);
    events.push_back(metadata("thread_name", process, thread,
                              {{"name", name}, {"stream", lane.stream}, {"lane", number}, {"starts", lane.starts}}));
    events.push_back(metadata("thread_sort_index", process, thread, {{"sort_index", number}}));
    for (const TaskView& task : lane.tasks)
        events.push_back({{"ph", "X"},
                          {"name", task.label},
                          {"cat", task.kind},
                          {"pid", process},
                          {"tid", thread},
                          {"ts", begin_of(task)},
                          {"dur", end_of(task) - begin_of(task)},
                          {"args", task.details}});
}

Json place_of(GraphPlace place) { return {{"lane", place.lane}, {"position", place.position}}; }

// A flow arrow: starts inside the first task and ends inside the second.
void add_flow(const GraphView& view, const EdgeView& edge, std::size_t process, std::size_t number, Json& events) {
    const Json arguments = {{"from", place_of(edge.before)}, {"to", place_of(edge.after)}};
    const char* category = edge.orders ? "order" : "control";
    events.push_back({{"ph", "s"},
                      {"name", edge.label},
                      {"cat", category},
                      {"id", number},
                      {"pid", process},
                      {"tid", thread_number(edge.before.lane)},
                      {"ts", end_of(task_at(view, edge.before)) - edge_time},
                      {"args", arguments}});
    events.push_back({{"ph", "f"},
                      {"bp", "e"},
                      {"name", edge.label},
                      {"cat", category},
                      {"id", number},
                      {"pid", process},
                      {"tid", thread_number(edge.after.lane)},
                      {"ts", begin_of(task_at(view, edge.after)) + edge_time},
                      {"args", arguments}});
}

// One line per event.
std::string trace_of(const std::vector<GraphView>& views, ViewDetail detail) {
    Json events = Json::array();
    std::size_t flows = 0;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const GraphView& view = views[i];
        add_process(views, i, events);
        for (std::size_t lane = 0; lane < view.lanes.size(); ++lane)
            add_thread(view.lanes[lane], lane, process_number(i), events);
        for (const EdgeView& edge : view.edges) add_flow(view, edge, process_number(i), ++flows, events);
    }
    const Json facts = {{"format", "canopy-graph"},
                        {"version", 1},
                        {"detail", detail == ViewDetail::verbose ? "verbose" : "summary"},
                        {"times", "not measured: they show the order only"}};
    std::string text = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": " + facts.dump() + ",\n\"traceEvents\": [";
    for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "\n" : ",\n") + events.at(i).dump();
    return text + "\n]}\n";
}

std::string reason(int error) { return std::system_category().message(error); }

Status cannot_create(std::string_view path, int error) {
    return fail(code::file_open, "the file \"{}\" cannot be created: {}", path, reason(error));
}

Status cannot_write(std::string_view path, int error) {
    return fail(code::file_write, "the file \"{}\" cannot be written: {}", path, reason(error));
}

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// 0, or the errno of the first failure.
int write_and_close(int file, std::string_view text) {
    int error = write_all(file, text) ? 0 : errno;
    if (close(file) != 0 && error == 0) error = errno;
    return error;
}

// Devices, pipes and dangling links are written in place.
Status write_in_place(const char* path, std::string_view text) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return cannot_create(path, errno);
    const int error = write_and_close(file, text);
    return error == 0 ? Status() : cannot_write(path, error);
}

// Writes under another name in the same folder, then renames, so that the file appears complete.
Status write_beside(const std::string& path, mode_t mode, std::string_view text) {
    static std::atomic<unsigned> number{0};
    if (path.empty()) return cannot_create(path, ENOENT);
    const std::string folder = path.substr(0, path.rfind('/') + 1);  // empty without a slash
    const std::string draft = fmt::format("{}.canopy-graph.{}.{}.part", folder, getpid(), number.fetch_add(1));
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) return cannot_create(path, errno);
    const int write_error = write_and_close(file, text);
    const int rename_error = write_error == 0 && rename(draft.c_str(), path.c_str()) != 0 ? errno : 0;
    if (write_error != 0 || rename_error != 0) unlink(draft.c_str());
    if (write_error != 0) return cannot_write(path, write_error);
    return rename_error == 0 ? Status() : cannot_create(path, rename_error);
}

Status write_file(const char* path, std::string_view text) {
    struct stat found {};
    if (stat(path, &found) == 0) {
        if (!S_ISREG(found.st_mode)) return write_in_place(path, text);
        if (access(path, W_OK) != 0) return cannot_create(path, errno);
        const std::unique_ptr<char, decltype(&std::free)> whole(realpath(path, nullptr), &std::free);
        if (!whole) return cannot_create(path, errno);
        return write_beside(whole.get(), found.st_mode & 0777, text);
    }
    if (lstat(path, &found) == 0) return write_in_place(path, text);
    return write_beside(path, 0666, text);
}

std::string facts_of(const TaskView& task) {
    std::string text;
    for (const auto& [key, value] : task.details.members()) {
        if (key == "kind" || key == "lane" || key == "position" || key == "task") continue;
        text += fmt::format(" {}={}", key, value.is_string() ? value.text() : value.dump());
    }
    return text;
}

void log_view(const GraphView& view) {
    constexpr std::string_view place = "aclmdlRIDebugPrint";
    std::size_t tasks = 0;
    for (const LaneView& lane : view.lanes) tasks += lane.tasks.size();
    write_log(LogModule::runtime, LogLevel::information, place,
              fmt::format("{}{}{}, {}: {} streams, {} tasks, {} edges", title_of(view),
                          view.runs_when.empty() ? "" : ", run ", view.runs_when, view.state, view.lanes.size(), tasks,
                          view.edges.size()));
    for (const LaneView& lane : view.lanes)
        for (const TaskView& task : lane.tasks)
            write_log(LogModule::runtime, LogLevel::information, place,
                      fmt::format("graph {}, stream {}, task {}: {}:{}", view.id, lane.stream,
                                  task.details.at("task").get<std::uint32_t>(), task.label, facts_of(task)));
    for (const EdgeView& edge : view.edges)
        write_log(LogModule::runtime, LogLevel::information, place,
                  fmt::format("graph {}: stream {} task {} -> stream {} task {}: {}", view.id,
                              view.lanes[edge.before.lane].stream,
                              task_at(view, edge.before).details.at("task").get<std::uint32_t>(),
                              view.lanes[edge.after.lane].stream,
                              task_at(view, edge.after).details.at("task").get<std::uint32_t>(), edge.label));
}

}  // namespace

Status write_graph_trace(Graph& graph, const char* path, ViewDetail detail) {
    return write_file(path, trace_of(view_graph(graph, detail), detail));
}

Status log_graph(Graph& graph) {
    if (!log_enabled(LogModule::runtime, LogLevel::information)) return {};
    for (const GraphView& view : view_graph(graph, ViewDetail::summary)) log_view(view);
    return {};
}

}  // namespace canopy
