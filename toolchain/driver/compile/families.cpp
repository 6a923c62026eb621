// SPDX-License-Identifier: Apache-2.0
#include "compile/families.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/process.h"
#include "base/text.h"

namespace canopy_cc {
namespace {

bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

// Calls what(word) for every word of a line.
template <class What>
void for_each_word(std::string_view line, const What& what) {
    for (std::size_t at = 0; at < line.size();) {
        std::size_t end = at;
        while (end < line.size() && is_letter(line[end])) ++end;
        if (end > at) what(line.substr(at, end - at));
        at = std::max(end, at + 1);
    }
}

// `# 12 "file.h" 1 3` gives the origin of the lines that follow.
bool is_marker(std::string_view line) { return line.size() > 2 && line[0] == '#' && line[1] == ' '; }

bool is_of_others(std::string_view marker, const Tree& tree) {
    const std::size_t quote = marker.find('"');
    if (quote == std::string_view::npos) return false;
    const std::string_view path = marker.substr(quote + 1);
    for (const std::string_view folder : {std::string_view(tree.kernel_headers), std::string_view(tree.headers),
                                          std::string_view("/usr/include"), std::string_view("/usr/lib")})
        if (path.substr(0, folder.size()) == folder && path.substr(folder.size(), 1) == "/") return true;
    return false;
}

// Calls what(family, name) for every row of the table.
template <class What>
void for_each_row(const std::string& table, const What& what) {
    for_each_line(table, [&](std::string_view line) {
        line = line.substr(0, line.find('\n'));
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos) what(line.substr(0, space), line.substr(space + 1));
    });
}

// A type that the program declares under a name of the language is not that of the language.
bool is_type_keyword(std::string_view word) {
    return word == "class" || word == "struct" || word == "enum" || word == "union";
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

using FamilySet = std::set<std::string_view>;

std::vector<std::string> definitions(const FamilySet& families) {
    std::vector<std::string> flags;
    for (const std::string_view family : families) {
        std::string flag = "-DCANOPY_WITHOUT_";
        for (const char letter : family) flag += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        flags.push_back(std::move(flag));
    }
    return flags;
}

}  // namespace

Families::Families(const Tree& tree) : tree_(tree) {
    if (!read_file(tree.families, table_)) table_.clear();
}

std::vector<std::string> Families::without_all() const {
    FamilySet families;
    for_each_row(table_, [&](std::string_view family, std::string_view) { families.insert(family); });
    return definitions(families);
}

std::vector<std::string> Families::without_unused(const std::string& text) const {
    FamilySet unused;
    std::unordered_multimap<std::string_view, std::string_view> families_of;
    for_each_row(table_, [&](std::string_view family, std::string_view name) {
        unused.insert(family);
        families_of.emplace(name, family);
    });
    std::unordered_set<std::string_view> named, own;
    const auto use = [&](std::string_view name) {
        const auto [begin, end] = families_of.equal_range(name);
        for (auto row = begin; row != end; ++row) unused.erase(row->second);
    };
    bool skipped = false;
    std::string_view before;
    for_each_line(text, [&](std::string_view line) {
        if (is_marker(line)) {
            skipped = is_of_others(line, tree_);
            return;
        }
        if (skipped) return;
        for_each_word(line, [&](std::string_view word) {
            if (families_of.count(word) != 0) {
                const std::string_view in_front = line.substr(0, static_cast<std::size_t>(word.data() - line.data()));
                if (is_type_keyword(before))
                    own.insert(word);
                else if (before == "AscendC" && ends_with(in_front, "::"))
                    use(word);
                else
                    named.insert(word);
            }
            before = word;
        });
    });
    for (const std::string_view name : named)
        if (own.count(name) == 0) use(name);
    return definitions(unused);
}

}  // namespace canopy_cc
