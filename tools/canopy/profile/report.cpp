// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "profile/findings.h"

namespace canopy_tool {
namespace {

using canopy::Json;
using namespace canopy::profile;

constexpr std::size_t widest_name = 48;

// Texts come from programs: what a terminal would take for a command is replaced.
std::string harmless(std::string_view text) {
    std::string clean;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        const bool two_bytes = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
        clean += byte < 0x20 || byte == 0x7F || two_bytes ? '?' : text[i];
        i += two_bytes;
    }
    return clean;
}

std::string shown(std::string_view name) {
    std::string text = harmless(name);
    if (text.size() > widest_name) {
        std::size_t end = widest_name - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // inside a letter
        text = text.substr(0, end) + "...";
    }
    return text.empty() ? "(no name)" : text;
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Cells in columns; the first column to the left, the others to the right.
class Table {
public:
    Table(std::string_view title, std::vector<std::string> header) : title_(title), rows_{std::move(header)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    void more(std::size_t left_out) { left_out_ = left_out; }
    [[nodiscard]] std::string text(bool colours) const {
        if (rows_.size() < 2) return {};
        std::vector<std::size_t> widths(rows_[0].size(), 0);
        for (const auto& row : rows_)
            for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
        std::string text = heading(title_, colours);
        for (std::size_t number = 0; number < rows_.size(); ++number) {
            std::string line = " ";
            for (std::size_t i = 0; i < widths.size(); ++i)
                line += i == 0 ? fmt::format(" {:<{}}", rows_[number][i], widths[i])
                               : fmt::format("  {:>{}}", rows_[number][i], widths[i]);
            text += number == 0 && colours ? "\033[2m" + line + "\033[0m\n" : line + "\n";
        }
        if (left_out_ > 0) text += fmt::format("  and {} more\n", left_out_);
        return text + "\n";
    }
    static std::string heading(std::string_view title, bool colours) {
        return colours ? fmt::format("\033[1m{}\033[0m\n", title) : fmt::format("{}\n", title);
    }

private:
    std::string title_;
    std::vector<std::vector<std::string>> rows_;
    std::size_t left_out_ = 0;
};

std::vector<std::string> cells_of(const Durations& runs) {
    return {std::to_string(runs.count), time_text(runs.total), time_text(runs.average()), time_text(runs.least),
            time_text(runs.most)};
}

// Rows of a list whose items have a name and runs, with further cells.
template <class List, class Further>
std::string table_of(std::string_view title, std::vector<std::string> header, const List& list, Further&& further,
                     const ReportOptions& options) {
    Table table(title, std::move(header));
    for (std::size_t i = 0; i < std::min(list.size(), options.rows); ++i) {
        std::vector<std::string> row{shown(list[i].name)};
        for (std::string& cell : cells_of(list[i].runs)) row.push_back(std::move(cell));
        for (std::string& cell : further(list[i])) row.push_back(std::move(cell));
        table.add(std::move(row));
    }
    if (list.size() > options.rows) table.more(list.size() - options.rows);
    return table.text(options.colours);
}

std::string first_lines(const ProfileFile& file, const Summary& summary, bool colours) {
    std::string_view program = file.fact("program");
    program = program.substr(program.rfind('/') + 1);
    std::string text =
        Table::heading(fmt::format("{}: {}, {} tasks on {} stream{}, {} records",
                                   program.empty() ? "profile" : shown(program), time_text(summary.time), summary.tasks,
                                   summary.streams.size(), summary.streams.size() == 1 ? "" : "s", summary.records),
                       colours);
    const char* const warn = colours ? "\033[33m" : "";
    const char* const plain = colours ? "\033[0m" : "";
    if (summary.lost > 0)
        text += fmt::format("{}{} records were lost: figures are too small{}\n", warn, summary.lost, plain);
    if (!summary.damage.empty())
        text += fmt::format("{}The profile is incomplete: {}{}\n", warn, summary.damage, plain);
    if (summary.cost_share >= 0.001)
        text += fmt::format("Recording took about {} of the time of the threads.\n", share_text(summary.cost_share));
    return text + "\n";
}

std::string findings_text(const Summary& summary, bool colours) {
    if (summary.findings.empty()) return {};
    std::string text = Table::heading("Findings", colours);
    for (const Finding& finding : summary.findings) text += fmt::format("  - {}\n", harmless(finding.text));
    return text + "\n";
}

std::string streams_text(const Summary& summary, const ReportOptions& options) {
    Table table("Streams", {"stream", "device", "tasks", "busy", "waiting", "idle", "waits longest for"});
    for (std::size_t i = 0; i < std::min(summary.streams.size(), options.rows); ++i) {
        const StreamSummary& stream = summary.streams[i];
        std::string cause = "-";
        if (!stream.waits.empty()) {
            const WaitSummary& wait = stream.waits.front();
            cause = wait.released_by == by_the_host ? "the host"
                    : wait.released_by == by_a_write
                        ? "a value in memory"
                        : fmt::format("stream {}{}", wait.released_by,
                                      wait.work.empty() ? "" : " (" + shown(wait.work) + ")");
        }
        const double time = std::max(summary.time, 1.0);
        table.add({std::to_string(stream.number), std::to_string(stream.device), std::to_string(stream.tasks),
                   share_text(stream.busy / time), share_text(stream.waiting / time), share_text(stream.idle / time),
                   cause});
    }
    if (summary.streams.size() > options.rows) table.more(summary.streams.size() - options.rows);
    return table.text(options.colours);
}

std::string devices_text(const Summary& summary, bool colours) {
    Table table("Devices", {"device", "chip", "tasks", "busy", "utilisation", "memory peak"});
    for (const DeviceSummary& device : summary.devices)
        table.add({std::to_string(device.number), device.chip.empty() ? "-" : shown(device.chip),
                   std::to_string(device.tasks), share_text(device.busy / std::max(summary.time, 1.0)),
                   device.utilisation ? share_text(*device.utilisation) : "-",
                   device.memory_peak ? bytes_text(static_cast<double>(*device.memory_peak)) : "-"});
    return table.text(colours);
}

std::string copies_text(const Summary& summary, bool colours) {
    Table table("Copies", {"kind", "count", "total", "average", "bytes", "GB/s"});
    for (const CopySummary& copy : summary.copies)
        table.add({std::string(copy_word(copy.kind)), std::to_string(copy.runs.count), time_text(copy.runs.total),
                   time_text(copy.runs.average()), bytes_text(static_cast<double>(copy.bytes)),
                   fmt::format("{:.3g}", copy.bandwidth())});
    return table.text(colours);
}

Json json_of(const Durations& runs) {
    return {{"count", runs.count},    {"total_ns", runs.total}, {"average_ns", runs.average()},
            {"least_ns", runs.least}, {"most_ns", runs.most},   {"median_ns", runs.median}};
}

Json streams_json(const Summary& summary) {
    Json list = Json::array();
    for (const StreamSummary& stream : summary.streams) {
        Json waits = Json::array();
        for (const WaitSummary& wait : stream.waits) {
            Json one = {{"time_ns", wait.time}, {"count", wait.count}, {"work", wait.work}};
            one["released_by"] = wait.released_by == by_the_host  ? Json("host")
                                 : wait.released_by == by_a_write ? Json("memory")
                                                                  : Json(wait.released_by);
            waits.push_back(one);
        }
        list.push_back({{"stream", stream.number},
                        {"device", stream.device},
                        {"tasks", stream.tasks},
                        {"busy_ns", stream.busy},
                        {"waiting_ns", stream.waiting},
                        {"idle_ns", stream.idle},
                        {"waits", waits}});
    }
    return list;
}

Json devices_json(const Summary& summary) {
    Json list = Json::array();
    for (const DeviceSummary& device : summary.devices) {
        Json one = {
            {"device", device.number}, {"chip", device.chip}, {"tasks", device.tasks}, {"busy_ns", device.busy}};
        one["utilisation"] = device.utilisation ? Json(*device.utilisation) : Json();
        one["memory_peak"] = device.memory_peak ? Json(*device.memory_peak) : Json();
        list.push_back(one);
    }
    return list;
}

}  // namespace

std::string report_text(const ProfileFile& file, const Summary& summary, const ReportOptions& options) {
    const std::vector<std::string> header = {"", "count", "total", "average", "least", "most"};
    const auto with = [&](std::string_view first, std::initializer_list<const char*> further) {
        std::vector<std::string> all = header;
        all[0] = first;
        all.insert(all.end(), further.begin(), further.end());
        return all;
    };
    std::string text = first_lines(file, summary, options.colours);
    text += table_of(
        "Kernels", with("kernel", {"share"}), summary.kernels,
        [](const KernelSummary& one) { return std::vector{share_text(one.share)}; }, options);
    if (!options.brief) {
        text += table_of(
            "Steps of fused launches", with("kernel", {}), summary.steps,
            [](const StepSummary&) { return std::vector<std::string>(); }, options);
        text += table_of(
            "Functions", with("function", {"failed", "device idle"}), summary.calls,
            [](const CallSummary& one) {
                return std::vector{std::to_string(one.failed), time_text(one.device_idle)};
            },
            options);
        text += streams_text(summary, options);
        text += devices_text(summary, options.colours);
        text += copies_text(summary, options.colours);
        text += table_of(
            "Graph replays", with("graph", {"stream", "nodes"}), summary.replays,
            [](const ReplaySummary& one) {
                return std::vector{std::to_string(one.stream), std::to_string(one.nodes)};
            },
            options);
    }
    return text + findings_text(summary, options.colours);
}

Json report_json(const ProfileFile& file, const Summary& summary) {
    Json kernels = Json::array(), calls = Json::array(), copies = Json::array(), findings = Json::array();
    for (const KernelSummary& kernel : summary.kernels) {
        Json one = json_of(kernel.runs);
        one["name"] = kernel.name;
        one["blocks"] = kernel.blocks;
        one["in_graphs"] = kernel.in_graphs;
        one["failed"] = kernel.failed;
        kernels.push_back(one);
    }
    for (const CallSummary& call : summary.calls) {
        Json one = json_of(call.runs);
        one["name"] = call.name;
        one["failed"] = call.failed;
        one["device_idle_ns"] = call.device_idle;
        calls.push_back(one);
    }
    for (const CopySummary& copy : summary.copies) {
        Json one = json_of(copy.runs);
        one["kind"] = copy_word(copy.kind);
        one["device"] = copy.device;
        one["bytes"] = copy.bytes;
        copies.push_back(one);
    }
    for (const Finding& finding : summary.findings)
        findings.push_back({{"text", finding.text}, {"stake_ns", finding.stake}});
    return {{"program", file.fact("program")},
            {"process", file.process()},
            {"time_ns", summary.time},
            {"records", summary.records},
            {"lost_records", summary.lost},
            {"damage", summary.damage},
            {"cost_of_a_record_ns", summary.cost_of_a_record},
            {"kernels", kernels},
            {"functions", calls},
            {"streams", streams_json(summary)},
            {"devices", devices_json(summary)},
            {"copies", copies},
            {"findings", findings}};
}

}  // namespace canopy_tool
