// SPDX-License-Identifier: Apache-2.0
#include "harness/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t columns = 6;

const char* verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::reached:
            return "reached";
        case Verdict::missed:
            return "missed";
        case Verdict::no_rival:
            return "no rival";
        case Verdict::failed:
            return "failed";
    }
    return "";
}

std::array<std::string, columns> cells(const Row& row) {
    return {row.what, row.ours, row.goal, row.rivals, row.ratio, verdict_text(row.verdict)};
}

// Digits in groups of three.
std::string grouped(double value) {
    const std::string digits = fmt::format("{:.0f}", value);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
        text.push_back(digits[i]);
    }
    return text;
}

}  // namespace

void Report::add(Row row) {
    fmt::print(stderr, "  {}: {} ({})\n", row.name, row.ours, verdict_text(row.verdict));
    rows_.push_back(std::move(row));
}

bool Report::any_failed() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.verdict == Verdict::failed; });
}

std::string Report::table() const {
    std::vector<std::array<std::string, columns>> lines = {{"what", "ours", "goal", "rivals", "ratio", "verdict"}};
    for (const Row& row : rows_) lines.push_back(cells(row));
    std::array<std::size_t, columns> width{};
    for (const auto& line : lines)
        for (std::size_t i = 0; i < columns; ++i) width[i] = std::max(width[i], line[i].size());
    std::string text;
    for (std::size_t number = 0; number < lines.size(); ++number) {
        for (std::size_t i = 0; i < columns; ++i) text += fmt::format("| {:<{}} ", lines[number][i], width[i]);
        text += "|\n";
        if (number != 0) continue;
        for (const std::size_t columns_width : width) text += fmt::format("|{:-<{}}", "", columns_width + 2);
        text += "|\n";
    }
    return text;
}

Json Report::json() const {
    Json rows = Json::array();
    for (const Row& row : rows_) {
        rows.push_back({{"name", row.name},
                        {"what", row.what},
                        {"ours", row.ours},
                        {"goal", row.goal},
                        {"rivals", row.rivals},
                        {"ratio", row.ratio},
                        {"verdict", verdict_text(row.verdict)},
                        {"numbers", row.numbers}});
    }
    return rows;
}

std::string nanoseconds_text(double value) {
    return value < 100 ? fmt::format("{:.1f} ns", value) : grouped(std::round(value)) + " ns";
}

std::string rate_text(double bytes_per_nanosecond) { return fmt::format("{:.1f} GB/s", bytes_per_nanosecond); }

std::string times_text(double ratio) {
    return ratio < 10 ? fmt::format("{:.2f} x", ratio) : fmt::format("{:.1f} x", ratio);
}

std::string rivals_text(const std::vector<Contender>& contenders, const std::vector<std::string>& missing) {
    std::string text;
    for (std::size_t i = 1; i < contenders.size(); ++i)
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", contenders[i].name,
                            nanoseconds_text(contenders[i].summary().p50));
    for (const std::string& rival : missing) text += fmt::format("{}{}", text.empty() ? "" : "; ", rival);
    return text;
}

Json to_json(const Summary& summary) {
    return {{"p50", summary.p50},
            {"p99", summary.p99},
            {"lowest", summary.lowest},
            {"highest", summary.highest},
            {"samples", summary.samples}};
}

Json to_json(const std::vector<Contender>& contenders) {
    Json all;
    for (const Contender& contender : contenders) all[contender.name] = to_json(contender.summary());
    return all;
}

}  // namespace bench
