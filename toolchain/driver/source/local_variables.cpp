// SPDX-License-Identifier: Apache-2.0
#include "source/local_variables.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "source/declarations.h"

namespace canopy_cc {
namespace {

// Braces contain statements if they follow the head of a function, a loop or a lambda, or another statement.
bool holds_statements(const Tokens& tokens, std::size_t brace) {
    return brace > 0 &&
           is_any(tokens.spelling(brace - 1), {")", "else", "do", "const", "noexcept", "mutable", "{", "}", ";"});
}

class Search {
public:
    explicit Search(const Tokens& tokens) : tokens_(tokens) {}

    std::vector<LocalVariable> run() {
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            if (tokens_.is(at, "{"))
                braces_.push_back(at);
            else if (tokens_.is(at, "}") && !braces_.empty())
                braces_.pop_back();
            else if (const Qualifier qualifier = qualifier_at(tokens_, at);
                     qualifier.word == "__ubuf__" && !braces_.empty() && holds_statements(tokens_, braces_.back()))
                read(at, at + qualifier.length);
        }
        return std::move(found_);
    }

private:
    void read(std::size_t at, std::size_t behind_word) {
        LocalVariable variable;
        std::size_t before = at;
        while (before > 0 && is_any(tokens_.spelling(before - 1), {"static", "extern", "const", "volatile"})) {
            --before;
            if (tokens_.is(before, "extern")) variable.external = before;
        }
        if (before == 0 || !is_any(tokens_.spelling(before - 1), {";", "{", "}", ")"})) return;
        for (std::size_t next = behind_word; next < tokens_.size();) {
            const std::string_view text = tokens_.spelling(next);
            if (text == ";") {
                variable.semicolon = next;
                if (variable.name != 0) found_.push_back(variable);
                return;
            }
            // A pointer, a function, or a variable with an initial value.
            if (is_any(text, {"*", "&", "(", "=", ",", "{", ")", "}"})) return;
            if (text == "<") {
                const std::size_t behind = skip_angles(tokens_, next, tokens_.size());
                next = behind == next ? next + 1 : behind;
            } else if (text == "[") {
                next = tokens_.partner(next) + 1;
            } else {
                if (tokens_.is_identifier(next)) variable.name = next;
                ++next;
            }
        }
    }

    const Tokens& tokens_;
    std::vector<std::size_t> braces_;
    std::vector<LocalVariable> found_;
};

}  // namespace

std::vector<LocalVariable> find_local_variables(const Tokens& tokens) { return Search(tokens).run(); }

}  // namespace canopy_cc
