// SPDX-License-Identifier: Apache-2.0
#include "compile/missing.h"

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <vector>

#include "base/process.h"

namespace canopy_cc {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::string last_part(const std::string& name) {
    const std::size_t colon = name.rfind("::");
    return colon == std::string::npos ? name : name.substr(colon + 2);
}

class Table {
public:
    explicit Table(const std::string& path) {
        std::string text;
        if (!read_file(path, text)) return;
        for (const std::string_view line : split(text, '\n')) {
            const auto columns = split(line, '\t');
            if (columns.size() != 4) continue;
            const std::string name(columns[0]), advice(columns[3]);
            if (columns[1] == "header")
                headers_[name] = advice;
            else
                names_[name] = advice;
            if (columns[1] == "method") methods_.emplace(last_part(name), name);
            if (columns[1] != "header" && columns[1] != "method") unqualified_.emplace(last_part(name), name);
        }
    }

    // `scope`: where the compiler looked for the name; empty for an unqualified name.
    [[nodiscard]] std::optional<std::string> name(const std::string& name, std::string scope) const {
        scope = scope.substr(0, scope.find('<'));
        if (!scope.empty()) {
            if (names_.count(scope + "::" + name) != 0) return describe(scope + "::" + name);
            const auto method = methods_.find(name);
            if (scope.rfind("AscendC::", 0) != 0 || method == methods_.end()) return std::nullopt;
            return describe(method->second);
        }
        for (const std::string& candidate : {name, "AscendC::" + name})
            if (names_.count(candidate) != 0) return describe(candidate);
        const auto found = unqualified_.find(name);
        return found == unqualified_.end() ? std::nullopt : std::optional(describe(found->second));
    }

    // A row that ends in a slash covers all headers below it.
    [[nodiscard]] std::optional<std::string> header(const std::string& name) const {
        for (const auto& [row, advice] : headers_)
            if (row == name || (row.back() == '/' && name.rfind(row, 0) == 0))
                return fmt::format("{} is not part of Canopy; {}", name, advice);
        return std::nullopt;
    }

private:
    [[nodiscard]] std::string describe(const std::string& name) const {
        return fmt::format("{} is not supported by Canopy yet; {}", name, names_.at(name));
    }

    std::map<std::string, std::string> names_, headers_;  // with advice what to use instead
    std::multimap<std::string, std::string> methods_, unqualified_;
};

// Prepares a line for searching: removes colours and truncates it to what regular expressions can handle.
std::string searched(std::string_view line) {
    static const std::regex colour("\x1b\\[[0-9;]*[mK]");
    return std::regex_replace(std::string(line.substr(0, 4096)), colour, "");
}

std::string identifier_at(const std::string& line, std::size_t at) {
    std::size_t end = at;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    return at < line.size() ? line.substr(at, end - at) : "";
}

// The explanation of an error. `code` is the source line printed below it.
std::optional<std::string> reason(const Table& table, const std::string& error, const std::string& code,
                                  unsigned column) {
    static const std::regex header("'([^']+)' file not found");
    static const std::regex name(
        "(?:no (?:member|type|template) named|unknown type name|unknown class name|unknown template name|"
        "use of undeclared identifier|undeclared template) '([A-Za-z_]\\w*)'(?: in (?:namespace )?'([^']+)')?");
    std::smatch match;
    if (std::regex_search(error, match, header)) return table.header(match[1]);
    if (std::regex_search(error, match, name)) return table.name(match[1], match[2]);
    if (error.find("expected namespace name") == std::string::npos) return std::nullopt;
    const std::size_t bar = code.find("| ");
    return bar == std::string::npos ? std::nullopt : table.name(identifier_at(code, bar + 1 + column), "");
}

// Removes clang's "did you mean", which does not help when the right name is missing.
std::string without_guess(std::string_view line) {
    static const std::regex guess("; did you mean '[^']*'\\?");
    return std::regex_replace(std::string(line), guess, "");
}

}  // namespace

std::string explain_missing_names(const std::string& messages, const std::string& table_path) {
    static const std::regex diagnostic("^(.+:[0-9]+:([0-9]+)): (error|fatal error|warning|note|remark): (.*)$");
    static const std::regex beginning("^(In file included from |[0-9]+ (error|warning)s? ).*");
    const Table table(table_path);
    std::set<std::string> said;
    std::string result, pending;
    bool explained = false, dropping = false;  // the error above was explained; skipping notes on clang's guess
    const auto lines = split(messages, '\n');
    for (std::size_t index = 0; index < lines.size(); ++index) {
        const std::string line = searched(lines[index]);
        std::smatch match;
        const bool diagnosed = std::regex_match(line, match, diagnostic);
        const bool last = index + 1 == lines.size();
        const bool begins = diagnosed || last || std::regex_match(line, beginning);
        if (begins) {
            result += pending;
            pending.clear();
            dropping =
                explained && diagnosed && match[3] == "note" && line.find("' declared here") != std::string::npos;
        }
        if (dropping) continue;
        if (diagnosed && match[3] != "note") explained = false;
        if (diagnosed && (match[3] == "error" || match[3] == "fatal error")) {
            const std::string code = last ? "" : searched(lines[index + 1]);
            const auto text = reason(table, match[4], code, static_cast<unsigned>(std::stoul(match[2])));
            explained = text.has_value();
            if (text && said.insert(*text).second) pending = fmt::format("{}: note: {}\n", match[1].str(), *text);
        }
        result += explained && diagnosed ? without_guess(lines[index]) : std::string(lines[index]);
        if (!last) result += '\n';
    }
    return result;
}

}  // namespace canopy_cc
