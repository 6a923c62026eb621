// SPDX-License-Identifier: Apache-2.0
#include "source/lex.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace canopy_cc {
namespace {

bool starts_identifier(char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
           static_cast<unsigned char>(letter) >= 0x80;
}

bool continues_identifier(char letter) {
    return starts_identifier(letter) || std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_prefix_of_text(std::string_view word) {
    return word == "u8" || word == "u" || word == "U" || word == "L" || word == "R" || word == "u8R" || word == "uR" ||
           word == "UR" || word == "LR";
}

constexpr std::string_view long_signs[] = {"...", "->*", "::", "->", "&&", "||", "==", "!=", "<=", ">=", "+=",
                                           "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "++", "--", "##", ".*"};

}  // namespace

Tokens::Tokens(std::string_view text) : text_(text) {
    regions_.push_back({});
    files_.emplace_back("<input>");
    read();
    pair_brackets();
}

void Tokens::read() {
    std::size_t at = 0;
    bool line_start = true;
    while (at < text_.size()) {
        const char letter = text_[at];
        if (letter == '\n') {
            line_start = true;
            ++at;
            continue;
        }
        if (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\f' || letter == '\v') {
            ++at;
            continue;
        }
        if (letter == '#' && line_start) {
            at = skip_directive(at);
            continue;
        }
        line_start = false;
        const std::string_view rest = text_.substr(at, 2);
        if (rest == "//") {
            at = std::min(text_.find('\n', at), text_.size());
            continue;
        }
        if (rest == "/*") {
            const std::size_t end = text_.find("*/", at + 2);
            at = end == std::string_view::npos ? text_.size() : end + 2;
            continue;
        }
        Token token;
        token.begin = static_cast<std::uint32_t>(at);
        if (starts_identifier(letter)) {
            std::size_t end = end_of_identifier(at);
            const std::string_view word = text_.substr(at, end - at);
            token.kind = TokenKind::identifier;
            if (end < text_.size() && (text_[end] == '"' || text_[end] == '\'') && is_prefix_of_text(word)) {
                token.kind = TokenKind::text;
                end = word.back() == 'R' && text_[end] == '"' ? end_of_raw(end) : end_of_quoted(end);
                end = end_of_identifier(end);
            }
            at = end;
        } else if (std::isdigit(static_cast<unsigned char>(letter)) != 0 ||
                   (letter == '.' && at + 1 < text_.size() &&
                    std::isdigit(static_cast<unsigned char>(text_[at + 1])) != 0)) {
            token.kind = TokenKind::number;
            at = end_of_number(at);
        } else if (letter == '"' || letter == '\'') {
            token.kind = TokenKind::text;
            at = end_of_identifier(end_of_quoted(at));
        } else {
            at = end_of_sign(at);
        }
        token.end = static_cast<std::uint32_t>(at);
        tokens_.push_back(token);
    }
}

std::size_t Tokens::skip_directive(std::size_t at) {
    std::size_t end = at;
    // A directive continues after a backslash; line markers never do.
    do {
        end = std::min(text_.find('\n', end), text_.size());
        if (end == text_.size() || text_[end - 1] != '\\') break;
        ++end;
    } while (end < text_.size());
    directives_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
    read_marker(text_.substr(at, end - at), std::min(end + 1, text_.size()));
    return end;
}

// # LINE "FILE" FLAGS, or #line LINE "FILE"
void Tokens::read_marker(std::string_view line, std::size_t next) {
    line.remove_prefix(1);
    const auto trim = [&] {
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    };
    trim();
    if (line.substr(0, 4) == "line") line.remove_prefix(4);
    trim();
    unsigned number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc()) return;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    trim();
    Region region{static_cast<std::uint32_t>(next), number, regions_.back().file, regions_.back().system};
    if (!line.empty() && line.front() == '"') {
        std::string file;
        std::size_t at = 1;
        for (; at < line.size() && line[at] != '"'; ++at) {
            if (line[at] == '\\' && at + 1 < line.size()) ++at;
            file += line[at];
        }
        const auto known = std::find(files_.rbegin(), files_.rend(), file);
        if (known == files_.rend()) {
            region.file = static_cast<std::uint32_t>(files_.size());
            files_.push_back(file);
        } else {
            region.file = static_cast<std::uint32_t>(files_.rend() - known - 1);
        }
        const std::string_view flags = line.substr(std::min(at + 1, line.size()));
        region.system = flags.find('3') != std::string_view::npos;
    }
    regions_.push_back(region);
}

std::size_t Tokens::end_of_identifier(std::size_t at) const {
    while (at < text_.size() && continues_identifier(text_[at])) ++at;
    return at;
}

std::size_t Tokens::end_of_number(std::size_t at) const {
    while (at < text_.size()) {
        const char letter = text_[at];
        const bool quoted = letter == '\'' && at + 1 < text_.size() && continues_identifier(text_[at + 1]);
        const bool sign =
            (letter == '+' || letter == '-') && std::string_view("eEpP").find(text_[at - 1]) != std::string_view::npos;
        if (!continues_identifier(letter) && letter != '.' && !quoted && !sign) break;
        ++at;
    }
    return at;
}

std::size_t Tokens::end_of_quoted(std::size_t at) const {
    const char quote = text_[at++];
    while (at < text_.size() && text_[at] != quote && text_[at] != '\n') at += text_[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text_.size());
}

std::size_t Tokens::end_of_raw(std::size_t at) const {
    constexpr std::size_t longest_delimiter = 16;
    const std::size_t length = text_.substr(at + 1, longest_delimiter + 1).find('(');
    if (length == std::string_view::npos) return end_of_quoted(at);
    const std::size_t open = at + 1 + length;
    const std::string close = ")" + std::string(text_.substr(at + 1, length)) + "\"";
    const std::size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : end + close.size();
}

std::size_t Tokens::end_of_sign(std::size_t at) const {
    for (const std::string_view sign : long_signs)
        if (text_.compare(at, sign.size(), sign) == 0) return at + sign.size();
    return at + 1;
}

void Tokens::pair_brackets() {
    partners_.assign(tokens_.size(), static_cast<std::uint32_t>(tokens_.size()));
    std::vector<std::uint32_t> open;
    for (std::uint32_t index = 0; index < tokens_.size(); ++index) {
        if (tokens_[index].kind != TokenKind::sign) continue;
        const char letter = text_[tokens_[index].begin];
        if (letter == '(' || letter == '[' || letter == '{') {
            open.push_back(index);
        } else if (letter == ')' || letter == ']' || letter == '}') {
            const char wanted = letter == ')' ? '(' : letter == ']' ? '[' : '{';
            if (open.empty() || text_[tokens_[open.back()].begin] != wanted) continue;
            partners_[index] = open.back();
            partners_[open.back()] = index;
            open.pop_back();
        }
    }
}

const Region& Tokens::region(std::size_t offset) const {
    const auto behind = std::upper_bound(regions_.begin(), regions_.end(), offset,
                                         [](std::size_t value, const Region& one) { return value < one.begin; });
    return *(behind - 1);
}

Place Tokens::place(std::size_t offset) const {
    const Region& found = region(offset);
    Place result;
    result.file = files_[found.file];
    result.system = found.system;
    const auto begin = text_.begin() + found.begin;
    const auto here = text_.begin() + static_cast<std::ptrdiff_t>(offset);
    result.line = found.line + static_cast<unsigned>(std::count(begin, here, '\n'));
    const std::size_t newline = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    result.column = static_cast<unsigned>(newline == std::string_view::npos ? offset + 1 : offset - newline);
    return result;
}

std::vector<std::string> Tokens::files() const {
    std::vector<bool> own(files_.size());
    for (const Region& one : regions_)
        if (!one.system) own[one.file] = true;
    std::vector<std::string> result;
    for (std::size_t index = 0; index < files_.size(); ++index)
        if (own[index] && !files_[index].empty() && files_[index].front() != '<') result.push_back(files_[index]);
    return result;
}

bool Tokens::is_system(std::size_t index) const { return region(tokens_[index].begin).system; }

}  // namespace canopy_cc
