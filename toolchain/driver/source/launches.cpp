// SPDX-License-Identifier: Apache-2.0
// Valid C++ never has three `<` in a row, except after `operator`, so launches can be found without knowing types. The
// end takes more care: the closing `>>>` may be adjacent to the `>` of template arguments.
#include "source/launches.h"

#include <algorithm>

namespace canopy_cc {
namespace {

bool is_keyword_before_expression(std::string_view word) {
    static constexpr std::string_view words[] = {"return", "else",   "do",       "case",      "goto",     "throw",
                                                 "new",    "delete", "typename", "co_return", "co_yield", "co_await",
                                                 "sizeof", "and",    "or",       "not"};
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

class Finder {
public:
    Finder(const Tokens& tokens, std::vector<std::string>& problems) : tokens_(tokens), problems_(problems) {}

    std::vector<LaunchSource> run() {
        for (std::size_t at = 1; at + 2 < tokens_.size(); ++at) {
            if (!tokens_.is(at, "<") || !tokens_.touches_next(at) || !tokens_.is(at + 1, "<") ||
                !tokens_.is(at + 2, "<") || tokens_.is(at - 1, "operator"))
                continue;
            read(at);
            at += 2;
        }
        std::stable_sort(found_.begin(), found_.end(), [](const LaunchSource& left, const LaunchSource& right) {
            return left.callee.begin < right.callee.begin;
        });
        return std::move(found_);
    }

private:
    void read(std::size_t open) {
        LaunchSource launch;
        launch.callee = {callee_begin(open), open};
        launch.configuration.begin = open + 3;
        if (launch.callee.begin == open) return problem(open, "a launch needs the name of a kernel before '<<<'");
        const std::size_t close = find_close(open + 3, launch.count);
        if (close == tokens_.size())
            return problem(open, "expected '>>>' and arguments after the configuration of a launch");
        launch.configuration.end = close;
        const std::size_t parenthesis = close + 3;
        if (launch.configuration.begin == launch.configuration.end)
            return problem(open, "a launch needs the number of blocks between '<<<' and '>>>'");
        if (launch.count > 4) return problem(open, "a launch takes at most four values between '<<<' and '>>>'");
        if (tokens_.partner(parenthesis) == tokens_.size())
            return problem(parenthesis, "expected ')' after the arguments of a launch");
        launch.arguments = {parenthesis, tokens_.partner(parenthesis) + 1};
        launch.name = callee_name(launch.callee);
        found_.push_back(launch);
    }

    // Scans back over `a::b<int>::c<d>`, `x.y`, `p->q`, `f(1)`, `t[2]` and `(expression)`.
    std::size_t callee_begin(std::size_t open) const {
        std::size_t begin = open;
        while (begin > 0) {
            std::size_t at = begin - 1;
            if (tokens_.is(at, ">")) at = before_angles(at);
            if (at >= begin) return open;
            if (tokens_.is(at, ")") || tokens_.is(at, "]")) {
                const std::size_t other = tokens_.partner(at);
                if (other >= at) return open;
                begin = other;
                const bool continues =
                    other > 0 &&
                    ((tokens_.is_identifier(other - 1) && !is_keyword_before_expression(tokens_.spelling(other - 1))) ||
                     tokens_.is(other - 1, ")") || tokens_.is(other - 1, "]"));
                if (!continues) return begin;
                continue;
            }
            if (!tokens_.is_identifier(at)) return open;
            begin = at;
            if (begin > 0 && tokens_.is(begin - 1, "template")) --begin;
            if (begin == 0) return begin;
            const std::string_view before = tokens_.spelling(begin - 1);
            if (before == "::") {
                --begin;
                const bool named =
                    begin > 0 &&
                    ((tokens_.is_identifier(begin - 1) && !is_keyword_before_expression(tokens_.spelling(begin - 1))) ||
                     tokens_.is(begin - 1, ">"));
                if (!named) return begin;
                continue;
            }
            if (before != "." && before != "->") return begin;
            --begin;
        }
        return begin;
    }

    // The token before the `<` that matches the `>` at `index`.
    std::size_t before_angles(std::size_t index) const {
        int depth = 0;
        for (std::size_t at = index; at > 0;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == ")" || text == "]" || text == "}") {
                const std::size_t other = tokens_.partner(at);
                if (other >= at || other == 0) return tokens_.size();
                at = other - 1;
                continue;
            }
            if (text == ";" || text == "(" || text == "{") return tokens_.size();
            if (text == ">") ++depth;
            if (text == "<" && --depth == 0) return at - 1;
            --at;
        }
        return tokens_.size();
    }

    // The first token of `>>>`. A sequence of `>` first closes any open template arguments.
    std::size_t find_close(std::size_t at, std::size_t& count) const {
        std::size_t open_angles = 0;
        count = 1;
        while (at < tokens_.size()) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "(" || text == "[" || text == "{") {
                at = tokens_.partner(at) + 1;
                continue;
            }
            if (text == ";" || text == ")" || text == "}" || text == "]") break;
            if (text == "," && open_angles == 0) ++count;
            if (text == "<" && tokens_.is_identifier(at - 1)) ++open_angles;
            if (text != ">") {
                ++at;
                continue;
            }
            std::size_t row = 1;
            while (tokens_.is(at + row, ">")) ++row;
            const bool called = tokens_.is(at + row, "(");
            if (called && row >= 3 && row != open_angles) return at + row - 3;
            open_angles -= std::min(open_angles, row);
            at += row;
        }
        return tokens_.size();
    }

    std::string_view callee_name(const TokenRange& callee) const {
        std::size_t at = callee.end - 1;
        if (tokens_.is(at, ">")) at = before_angles(at);
        return at < tokens_.size() && tokens_.is_identifier(at) ? tokens_.spelling(at) : std::string_view();
    }

    void problem(std::size_t index, std::string_view text) {
        problems_.push_back(located(tokens_.place(tokens_[index].begin), text));
    }

    const Tokens& tokens_;
    std::vector<std::string>& problems_;
    std::vector<LaunchSource> found_;
};

}  // namespace

std::vector<LaunchSource> find_launches(const Tokens& tokens, std::vector<std::string>& problems) {
    return Finder(tokens, problems).run();
}

}  // namespace canopy_cc
