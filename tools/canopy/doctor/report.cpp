// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "foundation/json.h"

namespace canopy_tool {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string summary(const Report& report) {
    std::string found;
    for (const Level level : {Level::error, Level::warning, Level::hint}) {
        const std::size_t count = report.count(level);
        if (count != 0) found += (found.empty() ? "" : ", ") + counted(count, level_name(level));
    }
    if (found.empty()) found = "no problems found";
    return fmt::format("{} read: {}", counted(report.files, "file"), found);
}

}  // namespace

std::size_t Report::count(Level level) const {
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                  [&](const Finding& finding) { return finding.level == level; }));
}

void print_report(std::ostream& out, const Report& report, Level least) {
    for (const Finding& finding : report.findings) {
        if (finding.level < least) continue;
        out << fmt::format("{}:{}: {}: {}", finding.file, finding.line, level_name(finding.level), finding.text);
        if (!finding.condition.empty()) out << fmt::format(", under {}", finding.condition);
        if (finding.uses > 1) out << fmt::format(" ({} uses)", finding.uses);
        out << fmt::format("\n    {}\n", finding.advice);
    }
    for (const SkippedFile& file : report.skipped) out << fmt::format("not read: {} {}\n", file.path, file.reason);
    out << summary(report) << '\n';
}

void print_report_json(std::ostream& out, const Report& report, Level least) {
    using canopy::Json;
    Json findings = Json::array();
    for (const Finding& finding : report.findings) {
        if (finding.level < least) continue;
        findings.push_back({{"file", finding.file},
                            {"line", finding.line},
                            {"level", level_name(finding.level)},
                            {"name", finding.name},
                            {"text", finding.text},
                            {"advice", finding.advice},
                            {"condition", finding.condition},
                            {"uses", finding.uses}});
    }
    Json skipped = Json::array();
    for (const SkippedFile& file : report.skipped) skipped.push_back({{"file", file.path}, {"reason", file.reason}});
    const Json whole = {{"files", report.files},
                        {"errors", report.count(Level::error)},
                        {"warnings", report.count(Level::warning)},
                        {"hints", report.count(Level::hint)},
                        {"findings", std::move(findings)},
                        {"skipped", std::move(skipped)}};
    out << whole.dump(2) << '\n';
}

}  // namespace canopy_tool
