// SPDX-License-Identifier: Apache-2.0
#include "compile/instructions.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>

#include "base/process.h"
#include "base/text.h"

namespace canopy_cc {
namespace {

using Names = std::unordered_set<std::string_view>;

bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

bool holds_name(std::string_view line, const Names& names) {
    for (std::size_t at = 0; at < line.size();) {
        std::size_t end = at;
        while (end < line.size() && is_letter(line[end])) ++end;
        if (end > at && names.count(line.substr(at, end - at)) != 0) return true;
        at = std::max(end, at + 1);
    }
    return false;
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

}  // namespace

bool mentions_instructions(const std::string& text, const Tree& tree) {
    std::string table;
    if (!read_file(tree.instructions, table)) return true;
    Names names;
    for_each_line(table, [&](std::string_view line) { names.insert(line.substr(0, line.find('\n'))); });
    names.erase("");
    bool skipped = false, found = false;
    for_each_line(text, [&](std::string_view line) {
        if (is_marker(line))
            skipped = is_of_others(line, tree);
        else if (!skipped && !found)
            found = holds_name(line, names);
    });
    return found;
}

}  // namespace canopy_cc
