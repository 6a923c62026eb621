// SPDX-License-Identifier: Apache-2.0
#include "source/syntax.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace canopy_cc {
namespace {

// The closing bracket of `[aicore]`, `[host]` or `[host, aicore]` at `index`; 0 if it is something else.
std::size_t end_of_bracketed_words(const Tokens& tokens, std::size_t index) {
    const auto is_word = [&](std::size_t at) { return tokens.is(at, "aicore") || tokens.is(at, "host"); };
    if (!tokens.is(index, "[") || !is_word(index + 1)) return 0;
    if (tokens.is(index + 2, "]")) return index + 2;
    return tokens.is(index + 2, ",") && is_word(index + 3) && tokens.is(index + 4, "]") ? index + 4 : 0;
}

// These words before a declaration; elsewhere they are an index or a lambda.
Qualifier bracketed_qualifier(const Tokens& tokens, std::size_t index) {
    const std::size_t close = end_of_bracketed_words(tokens, index);
    if (close == 0) return {};
    std::size_t next = close + 1;
    constexpr int longest_row = 8;  // such words in a row; each one scans the rest
    for (int row = 0; row < longest_row && end_of_bracketed_words(tokens, next) != 0; ++row)
        next = end_of_bracketed_words(tokens, next) + 1;
    if (!tokens.is_identifier(next) && !tokens.is(next, "::") && !tokens.is(next, "~")) return {};
    const bool alone = close == index + 2;
    return {alone && tokens.is(index + 1, "aicore") ? "__aicore__" : "__host_aicore__", close - index + 1};
}

// `__attribute__((cce_kernel))` and similar attributes.
Qualifier attribute_qualifier(const Tokens& tokens, std::size_t index) {
    struct Row {
        std::string_view attribute, word;
    };
    static constexpr Row rows[] = {
        {"cce_kernel", "__global__"},  {"cce_global", "__gm__"},         {"cce_unif_buff", "__ubuf__"},
        {"cce_cube_buff", "__cbuf__"}, {"cce_cube_a", "__ca__"},         {"cce_cube_b", "__cb__"},
        {"cce_cube_c", "__cc__"},      {"cce_bias_buff", "__biasbuf__"}, {"cce_fixpipe_buff", "__fbuf__"}};
    if (!tokens.is(index + 1, "(") || !tokens.is(index + 2, "(") || !tokens.is(index + 4, ")") ||
        !tokens.is(index + 5, ")"))
        return {};
    for (const Row& row : rows)
        if (tokens.is(index + 3, row.attribute)) return {row.word, 6};
    return {};
}

}  // namespace

Qualifier qualifier_at(const Tokens& tokens, std::size_t index) {
    const std::string_view text = tokens.spelling(index);
    if (text == "[") return bracketed_qualifier(tokens, index);
    if (text.size() < 6 || text.substr(0, 2) != "__" || !tokens.is_identifier(index)) return {};
    if (text == "__attribute__") return attribute_qualifier(tokens, index);
    static constexpr std::string_view plain[] = {
        "__global__", "__aicore__",    "__vector__",  "__cube__",    "__aicpu__",       "__host_aicore__", "__gm__",
        "__ubuf__",   "__cbuf__",      "__ca__",      "__cb__",      "__cc__",          "__biasbuf__",     "__fbuf__",
        "__ssbuf__",  "__local_mem__", "__simd_vf__", "__simt_vf__", "__simd_callee__", "__simt_callee__"};
    if (std::find(std::begin(plain), std::end(plain), text) != std::end(plain)) return {text, 1};
    if (!is_any(text, {"__mix__", "__schedmode__", "__launch_bounds__", "__maxnreg__"}) || !tokens.is(index + 1, "("))
        return {};
    const std::size_t close = tokens.partner(index + 1);
    return close < tokens.size() ? Qualifier{text, close - index + 1} : Qualifier{};
}

std::size_t skip_angles(const Tokens& tokens, std::size_t index, std::size_t end) {
    int depth = 0;
    for (std::size_t at = index; at < end;) {
        const std::string_view text = tokens.spelling(at);
        if (text == "(" || text == "[" || text == "{") {
            at = tokens.partner(at) + 1;
            continue;
        }
        if (text == ";" || text == ")" || text == "}" || text == "]") return index;
        if (text == "<") ++depth;
        if (text == ">" && --depth == 0) return at + 1;
        ++at;
    }
    return index;
}

std::string located(const Place& place, std::string_view text, std::string_view severity) {
    return fmt::format("{}:{}:{}: {}: {}", place.file, place.line, place.column, severity, text);
}

}  // namespace canopy_cc
