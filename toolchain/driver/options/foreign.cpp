// SPDX-License-Identifier: Apache-2.0
#include "options/foreign.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/process.h"
#include "base/text.h"

namespace canopy_cc {
namespace {

using Texts = std::vector<std::string>;

constexpr int deepest_response_file = 16;

// Splits a response file or a variable into words: separated by white space, with quotes and backslashes as in a shell.
Texts words_of(const std::string& text) {
    Texts words;
    std::optional<std::string> word;
    char quote = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '\\' && quote != '\'' && at + 1 < text.size()) {
            word = word.value_or("") + text[++at];
        } else if (quote != 0 && letter == quote) {
            quote = 0;
        } else if (quote == 0 && (letter == '"' || letter == '\'')) {
            quote = letter;
            word = word.value_or("");
        } else if (quote == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
            if (word) words.push_back(*word);
            word.reset();
        } else {
            word = word.value_or("") + letter;
        }
    }
    if (word) words.push_back(*word);
    return words;
}

// An @FILE that does not exist is left unchanged, as in clang.
std::string expand(const Texts& arguments, int depth, Texts& result) {
    for (const std::string& word : arguments) {
        std::string text;
        if (word.size() < 2 || word[0] != '@' || !read_file(word.substr(1), text)) {
            result.push_back(word);
            continue;
        }
        if (depth == deepest_response_file) return fmt::format("response file '{}' contains itself", word.substr(1));
        if (std::string problem = expand(words_of(text), depth + 1, result); !problem.empty()) return problem;
    }
    return {};
}

// Code generator options that exist only in a compiler for the chip.
bool is_generator_option(std::string_view option) {
    while (begins(option, "-")) option.remove_prefix(1);
    return begins(option, "cce-") || begins(option, "api-deps-filter");
}

bool has_no_effect(std::string_view flag) {
    return begins(flag, "-fcce-") || begins(flag, "-fno-cce-") || begins(flag, "-cce-") ||
           begins(flag, "-api-deps-filter") || begins(flag, "--run-mode") ||
           is_any(flag, {"-aicore", "-forward-options-to-host-compiler", "-Xhost-start", "-Xhost-end", "-Xaicore-start",
                         "-Xaicore-end"});
}

// True if a word can be the value of the flag before it.
bool is_value(std::string_view word) {
    if (is_any(word, {"true", "false", "on", "off"})) return true;
    const bool hexadecimal = begins(word, "0x");
    if (hexadecimal) word.remove_prefix(2);
    return !word.empty() && std::all_of(word.begin(), word.end(), [&](unsigned char letter) {
        return hexadecimal ? std::isxdigit(letter) != 0 : std::isdigit(letter) != 0;
    });
}

class Reader {
public:
    explicit Reader(const Texts& words) : words_(words) {}

    Texts run() {
        while (at_ < words_.size()) {
            if (!take_wrapped() && !take_own() && !has_no_effect(words_[at_])) result_.push_back(words_[at_]);
            ++at_;
        }
        return std::move(result_);
    }

private:
    std::string_view next(std::size_t distance = 1) const {
        return at_ + distance < words_.size() ? std::string_view(words_[at_ + distance]) : std::string_view();
    }

    // -mllvm X, -mllvm=X, -Xclang X and -Xclang -mllvm -Xclang X.
    bool take_wrapped() {
        const std::string_view flag = words_[at_];
        if (flag == "-mllvm" && is_generator_option(next())) return skip(1);
        if ((begins(flag, "-mllvm=") || begins(flag, "-mllvm ")) && is_generator_option(flag.substr(7))) return skip(0);
        if (flag != "-Xclang") return false;
        if (next() == "-mllvm" && next(2) == "-Xclang" && is_generator_option(next(3))) return skip(3);
        return (is_generator_option(next()) || has_no_effect(next())) && skip(1);
    }

    // --cce-*: supported flags get their value joined into the same word, the others are dropped.
    bool take_own() {
        const std::string& flag = words_[at_];
        if (is_any(flag, {"-xcce", "-xasc", "-xaicpu"})) {
            result_.insert(result_.end(), {"-x", flag.substr(2)});
            return true;
        }
        if (!begins(flag, "--cce-")) return false;
        const std::string name = flag.substr(0, flag.find('='));
        const bool chooses = is_any(name, {"--cce-aicore-arch", "--cce-soc-version", "--cce-soc-core-type"});
        if (chooses && name == flag) {
            result_.push_back(fmt::format("{}={}", flag, next()));
            return skip(1);
        }
        if (chooses || flag == "--cce-aicore-only") result_.push_back(flag);
        if (name == "--cce-auto-sync") {
            const bool off = flag == "--cce-auto-sync=off" || (name == flag && next() == "off");
            result_.push_back(off ? "--cce-auto-sync=off" : "--cce-auto-sync=on");
        }
        const bool with_word = is_any(flag, {"--cce-aicpu-L", "--cce-aicpu-l"});
        return skip(with_word || (!chooses && name == flag && is_value(next())) ? 1 : 0);
    }

    bool skip(std::size_t more) {
        at_ += more;
        return true;
    }

    const Texts& words_;
    std::size_t at_ = 0;
    Texts result_;
};

}  // namespace

std::string read_command_line(const Texts& arguments, Texts& result) {
    Texts words;
    if (const char* first = getenv("CANOPY_CC_FLAGS"))
        if (std::string problem = expand(words_of(first), 0, words); !problem.empty()) return problem;
    if (std::string problem = expand(arguments, 0, words); !problem.empty()) return problem;
    result = Reader(words).run();
    return {};
}

}  // namespace canopy_cc
