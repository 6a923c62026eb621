// SPDX-License-Identifier: Apache-2.0
#include "check/report/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace canopy::check {

namespace {

constexpr std::string_view margin = "======";
constexpr std::size_t listed_kernels = 10;
constexpr std::size_t listed_stretches = 8;

constexpr std::array<std::string_view, 3> level_names = {"error", "warning", "note"};
constexpr std::array<std::string_view, 3> level_headings = {"ERROR", "WARNING", "NOTE"};
constexpr std::array<std::string_view, 3> level_colours = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m"};
constexpr std::string_view no_colour = "\x1b[0m";

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}
std::string counted(std::uint64_t number, std::string_view noun) {
    return counted(number, noun, std::string(noun) + "s");
}

bool is_local(std::string_view memory) { return !memory.empty() && memory != "GM" && memory != "host"; }

std::string headline_of(const Finding& finding, bool twin_names) {
    std::string text = finding.headline;
    if (!finding.kernel.empty()) text += fmt::format(" in kernel {} on device {}", finding.kernel, finding.device);
    const std::string_view twin = twin_names ? twin_name(finding) : std::string_view();
    return twin.empty() ? text : fmt::format("{} ({})", text, twin);
}

// What a place did: "PIPE_V    Write of 8192 bytes at UB+0x4000 in block aiv(0)"; empty if it is a line only.
std::string deed_of(const Finding& finding, const Place& place, std::size_t pipe_width) {
    std::string text;
    if (!place.pipe.empty()) text = fmt::format("{:<{}} ", place.pipe, pipe_width);
    if (!place.access.empty()) {
        std::string access = place.access;
        access.front() = static_cast<char>(access.front() & ~0x20);  // to upper case
        text += fmt::format("{:<5} ", access);
        if (place.bytes > 0) text += fmt::format("of {} ", counted(place.bytes, "byte"));
        text += fmt::format("at {}{}{:#x} ", finding.memory,
                            is_local(finding.memory) ? "+"
                            : finding.memory.empty() ? ""
                                                     : " ",
                            place.address);
    }
    if (!place.core.empty()) text += fmt::format("in block {} ", place.core);
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
}

std::string line_of(const Finding& finding, const Place& place, std::size_t pipe_width) {
    std::string text = deed_of(finding, place, pipe_width);
    std::string source = place.operation;
    if (!place.operand.empty()) source += (source.empty() ? "" : ", ") + place.operand;
    if (!place.file.empty()) {
        source += fmt::format("{}at {}", source.empty() ? "" : ", ", place.file);
        if (place.line > 0) source += fmt::format(":{}", place.line);
    }
    if (!text.empty() && !source.empty()) text += ": ";
    return text + source;
}

std::string last_line_of(const Joined& joined) {
    const Finding& finding = joined.finding;
    std::string text = finding.explanation;
    while (text.ends_with('.')) text.pop_back();
    if (finding.count <= 1) return text;
    if (!text.empty()) text += ". ";
    text += fmt::format("{} times", finding.count);
    if (!joined.blocks.empty()) text += " in " + joined.blocks.text();
    return text;
}

std::string_view name_of_access(const Finding& finding, std::string_view read, std::string_view write) {
    const bool writes = !finding.places.empty() && finding.places.back().access == "write";
    return writes ? write : read;
}

void add(Json& object, std::string_view key, const std::string& text) {
    if (!text.empty()) object[key] = text;
}

Json json_of(const Place& place) {
    Json access = {{"file", place.file}, {"line", place.line}};
    add(access, "operation", place.operation);
    add(access, "operand", place.operand);
    add(access, "access", place.access);
    add(access, "pipe", place.pipe.starts_with("PIPE_") ? place.pipe.substr(5) : place.pipe);
    if (place.block >= 0) access["block"] = place.block;
    add(access, "core", place.core.substr(0, place.core.find('(')));
    if (place.bytes > 0) {
        access["address"] = place.address;
        access["bytes"] = place.bytes;
    }
    if (place.number > 0) access["number"] = place.number;
    return access;
}

}  // namespace

void Blocks::add(std::uint32_t block) {
    auto after = stretches_.upper_bound(block);
    if (after != stretches_.begin()) {
        const auto before = std::prev(after);
        if (block <= before->second) return;
        if (block == before->second + 1) {
            before->second = block;
            if (after != stretches_.end() && after->first == block + 1) {
                before->second = after->second;
                stretches_.erase(after);
            }
            return;
        }
    }
    std::uint32_t last = block;
    if (after != stretches_.end() && after->first == block + 1) {
        last = after->second;
        stretches_.erase(after);
    }
    stretches_.emplace(block, last);
}

std::string Blocks::text() const {
    if (stretches_.empty()) return {};
    const bool one = stretches_.size() == 1 && stretches_.begin()->first == stretches_.begin()->second;
    std::string text = one ? "block " : "blocks ";
    std::size_t listed = 0;
    for (const auto& [first, last] : stretches_) {
        if (listed == listed_stretches) return text + ", ...";
        text += fmt::format("{}{}", listed++ == 0 ? "" : ", ", first);
        if (last != first) text += fmt::format("{}{}", last == first + 1 ? ", " : "..", last);
    }
    return text;
}

std::vector<std::uint32_t> Blocks::numbers() const {
    std::vector<std::uint32_t> list;
    for (const auto& [first, last] : stretches_)
        for (std::uint64_t block = first; block <= last; ++block) list.push_back(static_cast<std::uint32_t>(block));
    return list;
}

std::string_view twin_name(const Finding& finding) {
    struct Name {
        std::string_view id, read, write;
    };
    static constexpr std::array<Name, 22> names = {
        {{"memory.freed", "ErrorRead1", "ErrorWrite1"},    {"memory.allocation", "ErrorRead1", "ErrorWrite1"},
         {"memory.reset", "ErrorRead1", "ErrorWrite1"},    {"init.", "ErrorRead2", "ErrorRead2"},
         {"memory.tensor", "ErrorRead3", "ErrorWrite3"},   {"memory.buffer", "ErrorRead3", "ErrorWrite3"},
         {"memory.foreign", "ErrorRead3", "ErrorWrite3"},  {"memory.align", "ErrorRead4", "ErrorWrite4"},
         {"race.in-pipe", "ErrorSync1", "ErrorSync1"},     {"race.pipe", "ErrorSync2", "ErrorSync2"},
         {"sync.set", "ErrorSync3", "ErrorSync3"},         {"sync.wait", "ErrorSync3", "ErrorSync3"},
         {"sync.double", "ErrorSync4", "ErrorSync4"},      {"sync.ids", "ErrorSync4", "ErrorSync4"},
         {"sync.leak", "ErrorLeak", "ErrorLeak"},          {"host.leak", "ErrorLeak", "ErrorLeak"},
         {"host.free", "ErrorFree", "ErrorFree"},          {"sync.queue", "ErrorBuffer", "ErrorBuffer"},
         {"memory.queued", "ErrorBuffer", "ErrorBuffer"},  {"memory.limit", "ErrorBuffer", "ErrorBuffer"},
         {"memory.overlap", "ErrorWrite3", "ErrorWrite3"}, {"memory.reserved", "ErrorRead3", "ErrorWrite3"}}};
    for (const Name& name : names)
        if (finding.id.starts_with(name.id)) return name_of_access(finding, name.read, name.write);
    return {};
}

std::string text_of(const Joined& joined, const TextStyle& style) {
    const Finding& finding = joined.finding;
    const auto level = static_cast<std::size_t>(finding.level);
    const std::string_view colour = style.colours ? level_colours.at(level) : std::string_view();
    std::string text =
        fmt::format("{} {}{}{}: {}\n", margin, colour, level_headings.at(level),
                    style.colours ? no_colour : std::string_view(), headline_of(finding, style.twin_names));
    std::size_t width = 0;
    for (const Place& place : finding.places) width = std::max(width, place.pipe.size());
    for (const Place& place : finding.places)
        if (const std::string line = line_of(finding, place, width); !line.empty())
            text += fmt::format("{}    {}\n", margin, line);
    if (const std::string line = last_line_of(joined); !line.empty()) text += fmt::format("{}    {}\n", margin, line);
    return text;
}

std::string text_of(const Summary& summary) {
    std::string text = fmt::format("canopy check: {}, {}, {} in {}, {}", counted(summary.errors, "error"),
                                   counted(summary.warnings, "warning"), counted(summary.notes, "note"),
                                   counted(summary.kernels, "kernel"), counted(summary.launches, "launch", "launches"));
    if (!summary.not_checked.empty())
        text += fmt::format("; not checked inside: {}", counted(summary.not_checked.size(), "kernel"));
    if (summary.suppressed > 0) text += fmt::format("; {} suppressed", summary.suppressed);
    text += '\n';
    for (std::size_t i = 0; i < std::min(summary.not_checked.size(), listed_kernels); ++i)
        text += fmt::format("canopy check: not checked inside: {}: {}\n", summary.not_checked[i].first,
                            summary.not_checked[i].second);
    for (const std::string& line : summary.unused_suppressions)
        text += fmt::format("canopy check: a suppression that nothing fits: {}\n", line);
    return text;
}

std::string line_start(std::int64_t process) { return fmt::format("{{\"schema\":1,\"process\":{},", process); }

Json json_of(const Joined& joined, std::int64_t process, bool twin_names) {
    const Finding& finding = joined.finding;
    Json line = {{"schema", 1}, {"process", process}, {"id", finding.id}};
    line["level"] = level_names.at(static_cast<std::size_t>(finding.level));
    add(line, "kind", finding.kind);
    add(line, "kernel", finding.kernel);
    line["device"] = finding.device;
    add(line, "memory", finding.memory);
    Json accesses = Json::array();
    for (const Place& place : finding.places) accesses.push_back(json_of(place));
    line["accesses"] = std::move(accesses);
    add(line, "missing", finding.missing);
    line["count"] = finding.count;
    line["blocks"] = joined.blocks.numbers();
    if (twin_names) add(line, "twin", std::string(twin_name(finding)));
    line["text"] = text_of(joined, {.colours = false, .twin_names = twin_names});
    return line;
}

Json json_of(const Summary& summary, std::int64_t process) {
    Json kernels = Json::array();
    for (const auto& [kernel, reason] : summary.not_checked)
        kernels.push_back({{"kernel", kernel}, {"reason", reason}});
    return {{"schema", 1},
            {"process", process},
            {"summary", true},
            {"errors", summary.errors},
            {"warnings", summary.warnings},
            {"notes", summary.notes},
            {"kernels", summary.kernels},
            {"launches", summary.launches},
            {"suppressed", summary.suppressed},
            {"not_checked", std::move(kernels)},
            {"unused_suppressions", summary.unused_suppressions},
            {"text", text_of(summary)}};
}

bool is_summary(const Json& line) noexcept { return line.contains("summary"); }

Summary summary_of(const Json& line) {
    Summary summary;
    line.at("errors").get_to(summary.errors);
    line.at("warnings").get_to(summary.warnings);
    line.at("notes").get_to(summary.notes);
    line.at("kernels").get_to(summary.kernels);
    line.at("launches").get_to(summary.launches);
    line.at("suppressed").get_to(summary.suppressed);
    for (const Json& kernel : line.at("not_checked"))
        summary.not_checked.emplace_back(kernel.at("kernel").text(), kernel.at("reason").text());
    line.at("unused_suppressions").get_to(summary.unused_suppressions);
    return summary;
}

std::string sarif_of(std::span<const Json> lines) {
    const auto location = [](const Json& access) {
        Json physical = {{"artifactLocation", {{"uri", access.at("file").text()}}}};
        if (const auto line = access.at("line").get<unsigned>(); line > 0) physical["region"] = {{"startLine", line}};
        return Json{{"physicalLocation", std::move(physical)}};
    };
    Json results = Json::array(), rules = Json::array();
    std::vector<std::string> known;
    for (const Json& line : lines) {
        if (is_summary(line)) continue;
        const std::string& id = line.at("id").text();
        if (std::find(known.begin(), known.end(), id) == known.end()) {
            known.push_back(id);
            rules.push_back({{"id", id}});
        }
        // The later access is the one that went wrong.
        Json places = Json::array(), earlier = Json::array();
        const Json::List& accesses = line.at("accesses").list();
        for (auto access = accesses.rbegin(); access != accesses.rend(); ++access)
            if (!access->at("file").text().empty()) (places.empty() ? places : earlier).push_back(location(*access));
        Json result = {{"ruleId", id},
                       {"level", line.at("level").text()},
                       {"message", {{"text", line.at("text").text()}}},
                       {"locations", std::move(places)},
                       {"occurrenceCount", line.at("count").get<std::uint64_t>()}};
        if (!earlier.empty()) result["relatedLocations"] = std::move(earlier);
        results.push_back(std::move(result));
    }
    const Json tool = {{"driver", {{"name", "canopy check"}, {"rules", std::move(rules)}}}};
    Json run = Json{{"tool", tool}};
    run["results"] = std::move(results);
    Json document = Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
    document["runs"] = Json::array();
    document["runs"].push_back(std::move(run));
    return document.dump(2);
}

}  // namespace canopy::check
