// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "check/classes.h"
#include "check/report/format.h"
#include "check/report/options.h"
#include "foundation/files.h"
#include "foundation/json.h"
#include "profile/program_run.h"

namespace canopy_tool {
namespace {

using canopy::Expected;
using canopy::Json;
using canopy::Problem;
using canopy::TemporaryFolder;
using canopy::check::Options;
using canopy::check::Summary;

void complain(std::string_view text) { std::fputs(fmt::format("canopy check: {}\n", text).c_str(), stderr); }

Expected<Options> read_options(const CheckedProgram& program) {
    Options options;
    std::string problem;
    const auto classes = canopy::check::parse_classes(program.classes, problem);
    if (!classes) return Problem{"--classes: ", problem};
    options.check.classes = *classes;
    for (const auto& [name, value] : program.options)
        if (Problem wrong = canopy::check::set_option(options, name, value)) return wrong;
    return options;
}

// For CANOPY_CHECK_OPTIONS of the program. Its processes write the findings that this command counts, and keep their
// exit status.
std::string options_of_program(const CheckedProgram& program, const Options& options, const std::string& findings) {
    std::string text = "--exit-code 0 --json " + canopy::check::quoted(findings);
    for (const auto& [name, value] : program.options) {
        if (name == "--json" || name == "--sarif" || name == "--exit-code") continue;
        text += " " + name;
        std::string files;
        for (const std::string& file : options.report.suppress) files += (files.empty() ? "" : ",") + file;
        // The program may run in another folder.
        if (name == "--suppress")
            text += " " + canopy::check::quoted(files);
        else if (name == "--write-suppressions")
            text += " " + canopy::check::quoted(options.report.write_suppressions);
        else if (name == "--trace")
            text += " " + canopy::check::quoted(options.report.trace);
        else if (!value.empty())
            text += " " + canopy::check::quoted(value);
    }
    return text;
}

// What all processes of the program have written.
struct Findings {
    std::vector<Json> lines;
    Summary total;
    std::size_t processes = 0;
    bool complete = true;  // no process ended without a summary
};

void add(Summary& total, const Summary& more, bool first) {
    total.kernels += more.kernels;
    total.launches += more.launches;
    total.suppressed += more.suppressed;
    for (const auto& kernel : more.not_checked)
        if (std::find(total.not_checked.begin(), total.not_checked.end(), kernel) == total.not_checked.end())
            total.not_checked.push_back(kernel);
    const auto used = [&](const std::string& line) {
        return std::find(more.unused_suppressions.begin(), more.unused_suppressions.end(), line) ==
               more.unused_suppressions.end();
    };
    if (first)
        total.unused_suppressions = more.unused_suppressions;
    else
        std::erase_if(total.unused_suppressions, used);
}

Findings read_findings(const std::string& path) {
    Findings all;
    std::string text;
    canopy::read_file(path, text);
    std::map<std::int64_t, bool> ended;  // processes, and whether they have a summary
    bool first = true;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view row = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(row.size() + 1, rest.size()));
        const auto line = canopy::parse_json(row);
        if (!line) continue;  // a process was killed while it wrote
        bool& end = ended[line->at("process").get<std::int64_t>()];
        if (canopy::check::is_summary(*line)) {
            add(all.total, canopy::check::summary_of(*line), first);
            first = false;
            end = true;
        } else {
            const std::string& level = line->at("level").text();
            ++(level == "error" ? all.total.errors : level == "warning" ? all.total.warnings : all.total.notes);
            all.lines.push_back(*line);
        }
    }
    all.processes = ended.size();
    all.complete = std::all_of(ended.begin(), ended.end(), [](const auto& process) { return process.second; });
    return all;
}

// Each process has printed its own summary, unless it was ended early.
void explain(const CheckedProgram& program, const Findings& findings, const ProgramEnd& end) {
    if (end.signal != 0)
        complain(fmt::format("the program was ended by signal {} ({})", end.signal, ::strsignal(end.signal)));
    if (findings.processes == 0) {
        complain(
            fmt::format("{} launched no kernels, or does not use this library (source set_env.sh first): nothing "
                        "was checked",
                        program.command.front()));
        return;
    }
    if (!findings.complete)
        complain("a process ended without a summary; what it found until its last whole launch counts");
    if (findings.processes > 1) complain(fmt::format("{} processes together:", findings.processes));
    if (findings.processes > 1 || !findings.complete)
        std::fputs(canopy::check::text_of(findings.total).c_str(), stderr);
}

Expected<int> run(const CheckedProgram& program, const Options& options, const std::string& findings_file) {
    if (!canopy::write_file(findings_file, {}))
        return Problem{findings_file, " cannot be written: ", std::strerror(errno)};
    int cannot_start = 0;
    const Expected<ProgramEnd> end =
        run_program(program.command,
                    {{"CANOPY_CHECK", program.classes},
                     {"CANOPY_CHECK_OPTIONS", options_of_program(program, options, findings_file)}},
                    cannot_start);
    if (!end.ok()) {
        complain(end.message());
        return cannot_start;
    }
    const Findings findings = read_findings(findings_file);
    explain(program, findings, *end);
    const std::string& sarif = options.report.sarif;
    const bool written = sarif.empty() || canopy::write_file(sarif, canopy::check::sarif_of(findings.lines));
    if (!written) complain(fmt::format("{} cannot be written: {}", sarif, std::strerror(errno)));
    if (end->status != 0) return end->status;
    if (findings.total.errors > 0 && options.report.exit_code != 0) return options.report.exit_code;
    return written ? 0 : 1;
}

}  // namespace

int check_program(const CheckedProgram& given) {
    CheckedProgram program = given;
    if (program.classes.empty()) program.classes = "all";
    const Expected<Options> options = read_options(program);
    std::optional<TemporaryFolder> folder;
    Problem problem = options.problem();
    std::string findings_file;
    if (!problem) {
        findings_file = options->report.json;
        if (findings_file.empty()) {
            Expected<TemporaryFolder> made = TemporaryFolder::create("check");
            if (made.ok()) {
                folder.emplace(std::move(*made));
                findings_file = folder->path() + "/findings.jsonl";
            } else {
                problem = made.problem();
            }
        }
    }
    if (!problem) {
        const Expected<int> status = run(program, *options, findings_file);
        if (status.ok()) return *status;
        problem = status.problem();
    }
    complain(problem.message());
    return check_not_started;
}

}  // namespace canopy_tool
