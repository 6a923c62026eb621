// SPDX-License-Identifier: Apache-2.0
#include "python_file.h"

#include <algorithm>
#include <cctype>

namespace canopy_tool {
namespace {

using Kind = PythonToken::Kind;

bool is_word(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
           static_cast<unsigned char>(letter) >= 0x80;
}

// The end of the string whose first quote is at `at`.
std::size_t end_of_text(std::string_view text, std::size_t at, std::string_view quotes) {
    for (at += quotes.size(); at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text.compare(at, quotes.size(), quotes) == 0)
            return at + quotes.size();
        else if (quotes.size() == 1 && text[at] == '\n')
            return at;  // not closed
    }
    return text.size();
}

}  // namespace

std::vector<PythonToken> read_python(std::string_view text) {
    std::vector<PythonToken> tokens;
    unsigned line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const char letter = text[at];
        std::size_t end = at + 1;
        if (letter == '\n') {
            tokens.push_back({Kind::new_line, "\n", line});
        } else if (letter == '#') {
            end = std::min(text.find('\n', at), text.size());
        } else if (letter == '"' || letter == '\'') {
            const std::string three(3, letter);
            const std::string_view quotes = text.compare(at, 3, three) == 0 ? text.substr(at, 3) : text.substr(at, 1);
            end = end_of_text(text, at, quotes);
            const std::size_t first = at + quotes.size();
            const std::size_t last = std::max(first, end - std::min(end, quotes.size()));
            tokens.push_back({Kind::text, std::string(text.substr(first, last - first)), line});
        } else if (is_word(letter)) {
            while (end < text.size() && is_word(text[end])) ++end;
            const bool is_prefix = end < text.size() && (text[end] == '"' || text[end] == '\'') && end - at <= 2;
            if (!is_prefix) tokens.push_back({Kind::name, std::string(text.substr(at, end - at)), line});
        } else if (std::isspace(static_cast<unsigned char>(letter)) == 0) {
            tokens.push_back({Kind::sign, std::string(1, letter), line});
        }
        end = std::min(end, text.size());
        line += static_cast<unsigned>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                 text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at = end;
    }
    return tokens;
}

}  // namespace canopy_tool
