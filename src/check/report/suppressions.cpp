// SPDX-License-Identifier: Apache-2.0
#include "check/report/suppressions.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "foundation/files.h"

namespace canopy::check {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

// A pattern that fits this text only.
std::string literal(std::string_view text) {
    std::string pattern;
    for (const char letter : text) {
        // Words of a line end at blanks.
        if (blanks.find(letter) != std::string_view::npos) {
            pattern += '?';
            continue;
        }
        if (std::strchr("*?[\\", letter)) pattern += '\\';
        pattern += letter;
    }
    return pattern;
}

}  // namespace

bool fits(const std::string& pattern, const std::string& text) {
    return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool fits_file(const std::string& pattern, const std::string& path) {
    return fits(pattern, path) || (!pattern.starts_with('/') && fits("*/" + pattern, path));
}

bool Suppressions::Lines::fit(const Place& place) const {
    return fits_file(file, place.file) && (!line || *line == place.line);
}

bool Suppressions::Line::fits(const Finding& finding) const {
    if (!check::fits(id, finding.id)) return false;
    if (!kernel.empty() && !check::fits(kernel, finding.kernel)) return false;
    const std::vector<Place>& places = finding.places;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (file && !file->fit(places[i])) continue;
        if (!with) return true;
        for (std::size_t j = 0; j < places.size(); ++j)
            if (j != i && with->fit(places[j])) return true;
    }
    return !file && !with;
}

Problem Suppressions::parse_line(std::string_view text, Line& line) {
    line.id = next_word(text);
    if (line.id.find('=') != std::string::npos) return {"the id of a finding, like race.pipe, must come first"};
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
        if (name != "kernel" && name != "file" && name != "with")
            return {"'", word, "' is not kernel=NAME, file=NAME or with=NAME"};
        if (value.empty()) return {name, " requires a value"};
        if (name == "kernel") {
            line.kernel = value;
            continue;
        }
        Lines lines;
        if (const std::size_t colon = value.rfind(':'); colon != std::string_view::npos) {
            unsigned number = 0;
            const char* const last = value.data() + value.size();
            const auto [end, error] = std::from_chars(value.data() + colon + 1, last, number);
            if (error != std::errc() || end != last) return {"'", value, "' does not end with the number of a line"};
            lines.line = number;
            value = value.substr(0, colon);
        }
        lines.file = value;
        (name == "file" ? line.file : line.with) = std::move(lines);
    }
    return {};
}

void Suppressions::parse(std::string_view text, const std::string& path, std::vector<std::string>& problems) {
    for (unsigned number = 1; !text.empty(); ++number) {
        std::string_view row = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(row.size() + 1, text.size()));
        for (std::size_t i = row.find('#'); i != std::string_view::npos; i = row.find('#', i + 1))
            if (i == 0 || blanks.find(row[i - 1]) != std::string_view::npos) row = row.substr(0, i);
        row.remove_prefix(std::min(row.find_first_not_of(blanks), row.size()));
        row = row.substr(0, row.find_last_not_of(blanks) + 1);
        if (row.empty()) continue;
        Line line;
        line.origin = fmt::format("{}:{}", path, number);
        line.text = row;
        if (Problem problem = parse_line(row, line))
            problems.push_back(fmt::format("{}: {}", line.origin, problem.message()));
        else
            lines_.push_back(std::move(line));
    }
}

void Suppressions::read(const std::string& path, std::vector<std::string>& problems) {
    std::string text;
    if (!read_file(path, text))
        problems.push_back(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
    else
        parse(text, path, problems);
}

bool Suppressions::cover(const Finding& finding) {
    bool covered = false;
    for (Line& line : lines_) {
        if (!line.fits(finding)) continue;
        line.used = true;
        covered = true;
    }
    return covered;
}

std::vector<std::string> Suppressions::unused() const {
    std::vector<std::string> texts;
    for (const Line& line : lines_)
        if (!line.used) texts.push_back(fmt::format("{}: {}", line.origin, line.text));
    return texts;
}

std::string suppression_of(const Finding& finding) {
    std::string text = finding.id;
    if (!finding.kernel.empty()) text += " kernel=" + literal(finding.kernel);
    std::size_t written = 0;
    for (const Place& place : finding.places) {
        if (place.file.empty() || written == 2) continue;
        text += fmt::format(" {}={}:{}", written == 0 ? "file" : "with", literal(place.file), place.line);
        ++written;
    }
    return text;
}

}  // namespace canopy::check
