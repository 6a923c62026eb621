// SPDX-License-Identifier: Apache-2.0
// Splits C++ text into tokens. Line markers tell which file and line a token of a preprocessed text comes from;
// comments, directives and white space are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace canopy_cc {

enum class TokenKind : std::uint8_t { identifier, number, text, sign };

struct Token {
    std::uint32_t begin = 0;  // offset in the text
    std::uint32_t end = 0;
    TokenKind kind = TokenKind::sign;
};

// Part of the text with consecutive lines of one file.
struct Region {
    std::uint32_t begin = 0;  // offset of its first line
    unsigned line = 1;        // number of that line
    std::uint32_t file = 0;   // index into Tokens::files
    bool system = false;
};

// A line that begins with #, including its continuation lines.
struct Directive {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

struct Place {
    std::string_view file;
    unsigned line = 0;
    unsigned column = 0;  // from 1, in bytes
    bool system = false;
};

// `<` and `>` are always separate tokens. `::`, `->`, `...`, `[[` and other multi-character operators are one token
// where it matters.
class Tokens {
public:
    explicit Tokens(std::string_view text);

    [[nodiscard]] std::size_t size() const { return tokens_.size(); }
    [[nodiscard]] const Token& operator[](std::size_t index) const { return tokens_[index]; }
    [[nodiscard]] std::string_view spelling(std::size_t index) const {
        if (index >= tokens_.size()) return {};
        return text_.substr(tokens_[index].begin, tokens_[index].end - tokens_[index].begin);
    }
    [[nodiscard]] bool is(std::size_t index, std::string_view spelled) const { return spelling(index) == spelled; }
    [[nodiscard]] bool is_identifier(std::size_t index) const {
        return index < tokens_.size() && tokens_[index].kind == TokenKind::identifier;
    }
    // True if no white space separates this token from the next.
    [[nodiscard]] bool touches_next(std::size_t index) const {
        return index + 1 < tokens_.size() && tokens_[index].end == tokens_[index + 1].begin;
    }
    // The index of the bracket that matches the one at `index`; size() if there is none.
    [[nodiscard]] std::size_t partner(std::size_t index) const { return partners_[index]; }

    [[nodiscard]] Place place(std::size_t offset) const;
    // The user's own files.
    [[nodiscard]] std::vector<std::string> files() const;
    // True for tokens in a header of the system or of the kernel language.
    [[nodiscard]] bool is_system(std::size_t index) const;
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] const std::vector<Directive>& directives() const { return directives_; }

private:
    void read();
    std::size_t skip_directive(std::size_t at);
    void read_marker(std::string_view line, std::size_t next);
    std::size_t end_of_identifier(std::size_t at) const;
    std::size_t end_of_number(std::size_t at) const;
    std::size_t end_of_quoted(std::size_t at) const;
    std::size_t end_of_raw(std::size_t at) const;
    std::size_t end_of_sign(std::size_t at) const;
    void pair_brackets();
    [[nodiscard]] const Region& region(std::size_t offset) const;

    std::string_view text_;
    std::vector<Token> tokens_;
    std::vector<std::uint32_t> partners_;
    std::vector<Region> regions_;
    std::vector<Directive> directives_;
    std::vector<std::string> files_;
};

}  // namespace canopy_cc
