// SPDX-License-Identifier: Apache-2.0
// Draws the picture as SVG: columns, then edges, then boxes on top. Hovering over a box shows everything known about
// the task.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "draw.h"
#include "layout.h"

namespace canopy_graph {
namespace {

constexpr double page_margin = 24;
constexpr double title_height = 52;
constexpr double letter_width = 6.9;  // of the larger text, on average
constexpr double smallest_page = 360;

constexpr std::string_view style = R"(
text { font-family: "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1f2933; }
.title { font-size: 17px; font-weight: 600; }
.subtitle { font-size: 12px; fill: #616e7c; }
.stream { font-size: 12px; font-weight: 600; fill: #52606d; text-anchor: middle; }
.name { font-size: 12.5px; text-anchor: middle; }
.note { font-size: 10.5px; text-anchor: middle; fill: #52606d; }
.mark { font-size: 11px; text-anchor: middle; }
.runs { font-size: 11px; fill: #4c3d8f; }
.label { font-size: 12px; font-weight: 600; fill: #4c3d8f; }
.groupname { font-size: 10px; fill: #b4540a; }
.column { fill: #f7f9fb; stroke: #e4e9ee; }
.body { fill: #ffffff; stroke: #c9c1ea; }
.group { fill: #fff7ed; stroke: #e8954a; stroke-dasharray: 5 3; }
.box { stroke-width: 1.2; }
.kernel { fill: #dbe9fb; stroke: #5b8fd6; }
.memory { fill: #dcf3e4; stroke: #4fae78; }
.event { fill: #fdf0d5; stroke: #d9a441; }
.value { fill: #efe3f8; stroke: #a374cf; }
.call { fill: #fbe1ea; stroke: #d4668f; }
.control { fill: #e0f2f1; stroke: #4a9d96; }
.condition { fill: #f1eefb; stroke: #8673cf; }
.other { fill: #eceff2; stroke: #9aa5b1; }
.off { fill: #f5f5f5; stroke: #b0b7bf; stroke-dasharray: 4 3; }
.off + text { fill: #8a939c; text-decoration: line-through; }
.next { fill: none; stroke: #b6c0ca; stroke-width: 1.2; }
.edge { fill: none; stroke: #c98a1b; stroke-width: 1.6; stroke-opacity: 0.85; }
.jump { fill: none; stroke: #4a9d96; stroke-width: 1.4; stroke-dasharray: 5 3; }
)";

// Characters that XML does not allow are replaced.
std::string escaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '&')
            result += "&amp;";
        else if (byte == '<')
            result += "&lt;";
        else if (byte == '>')
            result += "&gt;";
        else if (byte == '"')
            result += "&quot;";
        else if (text.substr(i, 2) == "\xEF\xBF" && i + 2 < text.size() && (text[i + 2] & 0xFE) == 0xBE) {
            result += "\xEF\xBF\xBD";  // U+FFFE and U+FFFF
            i += 2;
        } else if (byte < 0x20 && byte != '\n' && byte != '\t')
            result += "\xEF\xBF\xBD";
        else
            result += text[i];
    }
    return result;
}

// Truncates a text to `width` pixels, with an ellipsis at the end.
std::string cut(const std::string& text, double width) {
    const auto room = static_cast<std::size_t>(std::max(3.0, width / letter_width));
    std::size_t letters = 0, end = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;  // continuation byte of UTF-8
        if (letters == room - 1) end = i;
        if (++letters > room) return text.substr(0, end) + "\xE2\x80\xA6";
    }
    return text;
}

const char* class_of(const Task& task) {
    if (task.disabled) return "off";
    if (task.kind == "kernel" || task.kind == "cpu kernel") return "kernel";
    if (task.kind == "copy" || task.kind == "fill" || task.kind == "reduce") return "memory";
    if (task.kind.rfind("event", 0) == 0 || task.kind == "signal" || task.kind == "wait") return "event";
    if (task.kind.rfind("value", 0) == 0) return "value";
    if (task.kind == "host function" || task.kind == "runtime function") return "call";
    if (task.kind == "condition") return "condition";
    if (task.kind.rfind("stream", 0) == 0 || task.kind.rfind("label", 0) == 0 || task.kind == "end") return "control";
    return "other";
}

std::string tooltip(const Task& task) {
    std::string text = task.name;
    for (const auto& [key, value] : task.details)
        if (key != "lane" && key != "position") text += "\n" + key + ": " + value;
    return "<title>" + escaped(text) + "</title>";
}

class SvgWriter {
public:
    explicit SvgWriter(const Trace& trace) : trace_(trace), layouts_(lay_out(trace)) {}

    std::string write() {
        double width = smallest_page, y = page_margin;
        for (std::size_t i = 0; i < trace_.graphs.size(); ++i) {
            if (trace_.graphs[i].parent != none) continue;
            write_title(i, y);
            write_graph(i, page_margin, y + title_height);
            width = std::max(width, layouts_[i].width);
            y += title_height + layouts_[i].height + page_margin;
        }
        width += 2 * page_margin;
        const std::string head = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
            "{1:.0f}\">\n<style>{2}</style>\n<defs>\n{3}{4}{5}</defs>\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            width, y, style, arrow("next-end", "#b6c0ca"), arrow("edge-end", "#c98a1b"), arrow("jump-end", "#4a9d96"));
        return head + text_ + "</svg>\n";
    }

private:
    static std::string arrow(const char* name, const char* colour) {
        return fmt::format(
            "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
            "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.8 L7.5 4 L0 7.2 z\" "
            "fill=\"{}\"/></marker>\n",
            name, colour);
    }

    void rectangle(const Box& box, double radius, std::string_view classes) {
        text_ +=
            fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" class=\"{}\"/>\n",
                        box.x, box.y, box.width, box.height, radius, classes);
    }
    void words(double x, double y, const char* kind, const std::string& content) {
        text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind, escaped(content));
    }

    void write_title(std::size_t index, double y) {
        const Graph& graph = trace_.graphs[index];
        std::size_t tasks = 0;
        for (const Lane& lane : graph.lanes) tasks += lane.tasks.size();
        const double room = std::max(layouts_[index].width, smallest_page) * 0.75;
        words(page_margin, y + 16, "title", cut(graph.title, room));
        words(page_margin, y + 36, "subtitle",
              fmt::format("{} stream{}, {} task{}, {}", graph.lanes.size(), graph.lanes.size() == 1 ? "" : "s", tasks,
                          tasks == 1 ? "" : "s", graph.state));
    }

    Box box_of(std::size_t index, Place place, double x, double y) const {
        Box box = layouts_[index].lanes[place.lane].boxes[place.position];
        box.x += x;
        box.y += y;
        return box;
    }

    void write_graph(std::size_t index, double x, double y) {
        const Graph& graph = trace_.graphs[index];
        for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
            Box column = layouts_[index].lanes[lane].column;
            column.x += x;
            column.y += y;
            rectangle(column, 8, "column");
            words(column.middle_x(), column.y + 20, "stream", cut(graph.lanes[lane].name, column.width));
            write_groups(index, lane, x, y);
            for (std::size_t i = 1; i < graph.lanes[lane].tasks.size(); ++i)
                write_next(box_of(index, {lane, i - 1}, x, y), box_of(index, {lane, i}, x, y));
        }
        for (const Edge& edge : graph.edges)
            write_edge(edge, box_of(index, edge.from, x, y), box_of(index, edge.to, x, y));
        for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane)
            for (std::size_t i = 0; i < graph.lanes[lane].tasks.size(); ++i)
                write_task(graph.lanes[lane].tasks[i], box_of(index, {lane, i}, x, y));
    }

    // Frames adjacent tasks that can be replaced together.
    void write_groups(std::size_t index, std::size_t lane, double x, double y) {
        const std::vector<Task>& tasks = trace_.graphs[index].lanes[lane].tasks;
        for (std::size_t first = 0, last = 0; first < tasks.size(); first = last + 1) {
            last = first;
            if (!tasks[first].group) continue;
            double left = 1e9, right = 0;
            for (; last < tasks.size() && tasks[last].group == tasks[first].group; ++last) {
                left = std::min(left, box_of(index, {lane, last}, x, y).x);
                right = std::max(right, box_of(index, {lane, last}, x, y).right());
            }
            --last;
            const double top = box_of(index, {lane, first}, x, y).y,
                         bottom = box_of(index, {lane, last}, x, y).bottom();
            rectangle({left - 6, top - 6, right - left + 12, bottom - top + 12}, 8, "group");
            // Rotated, next to the boxes, where no arrow passes.
            text_ += fmt::format(
                "<text transform=\"translate({:.1f} {:.1f}) rotate(90)\" class=\"groupname\">group {}</text>\n",
                right + 9, top - 6, *tasks[first].group);
        }
    }

    void write_next(const Box& from, const Box& to) {
        text_ += fmt::format(
            "<path d=\"M{0:.1f} {1:.1f} L{0:.1f} {2:.1f}\" class=\"next\" marker-end=\"url(#next-end)\"/>\n",
            from.middle_x(), from.bottom(), to.y);
    }

    // Between columns: leaves and enters the boxes on the sides that face each other. Within a column: an arc on the
    // right.
    void write_edge(const Edge& edge, const Box& from, const Box& to) {
        std::string path;
        if (edge.from.lane == edge.to.lane) {
            const double far = std::max(from.right(), to.right()) + 26;
            path = fmt::format("M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", from.right(),
                               from.middle_y(), far, from.middle_y(), far, to.middle_y(), to.right(), to.middle_y());
        } else {
            const bool rightwards = edge.to.lane > edge.from.lane;
            const double x1 = rightwards ? from.right() : from.x, x2 = rightwards ? to.x : to.right();
            const double reach = std::max(36.0, std::abs(x2 - x1) * 0.45) * (rightwards ? 1 : -1);
            path = fmt::format("M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x1, from.middle_y(),
                               x1 + reach, from.middle_y(), x2 - reach, to.middle_y(), x2, to.middle_y());
        }
        text_ +=
            fmt::format("<path d=\"{}\" class=\"{}\" marker-end=\"url(#{})\"><title>{}</title></path>\n", path,
                        edge.control ? "jump" : "edge", edge.control ? "jump-end" : "edge-end", escaped(edge.label));
    }

    void write_task(const Task& task, const Box& box) {
        text_ += "<g>" + tooltip(task) + "\n";
        const bool small = is_small(task);
        rectangle(box, small ? box.height / 2 : 6, fmt::format("box {}", class_of(task)));
        if (!task.bodies.empty()) {
            words(box.x + 12, box.y + 20, "label", cut(task.name, box.width - 24));
        } else if (small) {
            words(box.middle_x(), box.middle_y() + 4, "mark", cut(task.name, box.width - 12));
        } else {
            const bool noted = !task.note.empty();
            words(box.middle_x(), noted ? box.y + 17 : box.middle_y() + 4.5, "name", cut(task.name, box.width - 16));
            if (noted) words(box.middle_x(), box.y + 31.5, "note", cut(task.note, box.width - 16));
        }
        text_ += "</g>\n";
        for (const std::size_t body : task.bodies) write_body(task, body, box);
    }

    void write_body(const Task& condition, std::size_t body, const Box& box) {
        Box place = place_of_body(layouts_, condition, body);
        place.x += box.x;
        place.y += box.y;
        rectangle(place, 8, "body");
        words(place.x + body_margin, place.y + 17, "runs",
              cut(trace_.graphs[body].runs, place.width - 2 * body_margin));
        write_graph(body, place.x + body_margin, place.y + body_heading);
    }

    const Trace& trace_;
    const std::vector<GraphLayout> layouts_;
    std::string text_;
};

}  // namespace

std::string draw_svg(const Trace& trace) { return SvgWriter(trace).write(); }

}  // namespace canopy_graph
