// SPDX-License-Identifier: Apache-2.0
#include "code_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace canopy_tool {
namespace {

bool is_any(std::string_view text, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::string_view(" \t\n\\").find(text.front()) != std::string_view::npos)
        text.remove_prefix(1);
    while (!text.empty() && std::string_view(" \t\n\\").find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    return text;
}

// "#  if X // why" -> "if" and "X"
void split_directive(std::string_view text, std::string_view& word, std::string_view& rest) {
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    text = trimmed(text);
    const auto is_letter = [](char letter) { return (letter >= 'a' && letter <= 'z') || letter == '_'; };
    const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
    word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    rest = text.substr(word.size());
    rest = trimmed(rest.substr(0, std::min(rest.find("//"), rest.find("/*"))));
}

std::string_view first_word(std::string_view text) {
    const auto is_letter = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
               (letter >= '0' && letter <= '9');
    };
    const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Macros that are not defined when kernels are built for a device: code under their #ifndef is always compiled.
bool is_undefined_for_devices(std::string_view macro) {
    return is_any(macro, {"ASCENDC_CPU_DEBUG", "__CCE_KT_TEST__", "__CCE_UT_TEST__", "__CCE_UT_TEST"});
}

// Words that precede an expression, so that a name after them is a use and not a declaration.
bool begins_expression(std::string_view word) {
    return is_any(word, {"return",   "else",     "do",     "case",    "throw",     "new",       "delete",
                         "goto",     "sizeof",   "and",    "or",      "not",       "co_return", "co_await",
                         "co_yield", "operator", "public", "private", "protected", "in"});
}

}  // namespace

Lines::Lines(std::string_view text) {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
        ends_.push_back(at);
}

unsigned Lines::line(std::size_t offset) const {
    return static_cast<unsigned>(std::lower_bound(ends_.begin(), ends_.end(), offset) - ends_.begin()) + 1;
}

CodeFile::CodeFile(const SourceFile& source) : source_(source), lines_(source.text), tokens_(source.text) {
    stretches_.push_back({});
    const auto& directives = tokens_.directives();
    for (std::size_t index = 0; index < directives.size(); ++index)
        read_directive(directives[index], index + 1 < directives.size() ? &directives[index + 1] : nullptr);
    read_tokens();
}

const Stretch& CodeFile::stretch(std::size_t offset) const {
    const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), offset,
                                         [](std::size_t value, const Stretch& one) { return value < one.offset; });
    return *std::prev(behind);
}

void CodeFile::read_directive(const canopy_cc::Directive& directive, const canopy_cc::Directive* next) {
    const std::string_view text = source_.text;
    std::string_view word, rest, next_word, next_rest;
    split_directive(text.substr(directive.begin, directive.end - directive.begin), word, rest);
    if (next != nullptr) split_directive(text.substr(next->begin, next->end - next->begin), next_word, next_rest);
    if (word == "include" && rest.size() > 2 && (rest[0] == '"' || rest[0] == '<')) {
        const std::size_t end = rest.find(rest[0] == '<' ? '>' : '"', 1);
        if (end != std::string_view::npos) includes_.push_back({std::string(rest.substr(1, end - 1)), directive.begin});
    } else if (word == "define") {
        const std::string_view name = first_word(rest);
        defined_.emplace(name);
        const std::size_t offset = static_cast<std::size_t>(rest.data() - text.data()) + name.size();
        macros_.push_back({canopy_cc::Tokens(text.substr(offset, directive.end - offset)), offset});
    } else if (is_any(word, {"if", "ifdef", "ifndef"})) {
        open_condition(word, rest, next_word == "define" ? first_word(next_rest) : std::string_view());
        push_stretch(directive.end);
    } else if (is_any(word, {"elif", "else", "elifdef", "elifndef"}) && !levels_.empty()) {
        change_condition(word, rest);
        push_stretch(directive.end);
    } else if (word == "endif" && !levels_.empty()) {
        levels_.pop_back();
        push_stretch(directive.end);
    }
}

// `next` is the macro that the next line defines: an include guard is not a condition.
void CodeFile::open_condition(std::string_view word, std::string_view rest, std::string_view next) {
    Level level;
    const std::string_view macro = first_word(rest);
    if (word == "ifdef") {
        if (macro != "__cplusplus") level.condition = fmt::format("#ifdef {}", macro);
    } else if (word == "ifndef") {
        if (macro != next && !is_undefined_for_devices(macro)) level.condition = fmt::format("#ifndef {}", macro);
    } else if (rest == "0") {
        level.dead = true;
    } else if (rest == "1") {
        level.other_dead = true;
    } else {
        level.condition = fmt::format("#if {}", rest.substr(0, 80));
    }
    levels_.push_back(std::move(level));
}

void CodeFile::change_condition(std::string_view word, std::string_view rest) {
    Level& level = levels_.back();
    if (word != "else") {
        level.condition = fmt::format("#{} {}", word, rest.substr(0, 80));
        level.dead = level.other_dead;
    } else {
        const bool was_dead = level.dead;
        level.dead = level.other_dead;
        level.condition = was_dead || level.condition.empty() ? std::string() : "#else of " + level.condition;
    }
}

void CodeFile::push_stretch(std::size_t offset) {
    if (levels_.empty()) {
        stretches_.push_back({offset, {}, false});
        return;
    }
    Level& level = levels_.back();
    const Level outside = levels_.size() > 1 ? levels_[levels_.size() - 2] : Level();
    level.whole_condition = level.condition.empty() ? outside.whole_condition : level.condition;
    level.whole_dead = level.dead || outside.whole_dead;
    stretches_.push_back({offset, level.whole_condition, level.whole_dead});
}

void CodeFile::read_tokens() {
    for (const Include& include : includes_)
        if (include.name.find("kernel_operator") != std::string::npos) has_kernel_code_ = true;
    for (std::size_t index = 0; index < tokens_.size(); ++index) {
        if (!tokens_.is_identifier(index)) continue;
        const std::string_view name = tokens_.spelling(index);
        if (name == "__aicore__" || name == "__global__") has_kernel_code_ = true;
        if (name == "AscendC" && index >= 1 && tokens_.is(index - 1, "namespace")) {
            if (index >= 2 && tokens_.is(index - 2, "using")) {
                // The whole namespace, not a nested one.
                uses_language_namespace_ = uses_language_namespace_ || !tokens_.is(index + 1, "::");
            } else {
                opens_language_namespace_ = true;
            }
        } else if (is_definition(index)) {
            defined_.emplace(name);
        }
    }
}

// A guess. It may take a use for a definition but not the other way round, since names a program defines are not
// reported.
bool CodeFile::is_definition(std::size_t index) const {
    if (index == 0) return false;
    const std::string_view before = tokens_.spelling(index - 1);
    const std::string_view behind = tokens_.spelling(index + 1);
    if (is_any(before, {"class", "struct", "union", "enum", "namespace", "concept", "typename"})) return behind != "::";
    if (before == "using" || before == "}") return is_any(behind, {"=", ";", ","});
    const bool is_type =
        (tokens_.is_identifier(index - 1) && !begins_expression(before)) || is_any(before, {">", "*", "&", "&&", "]"});
    return is_type && is_any(behind, {"(", "=", ";", ",", ")", "{", "[", ":"});
}

}  // namespace canopy_tool
