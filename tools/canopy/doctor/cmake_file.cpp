// SPDX-License-Identifier: Apache-2.0
#include "cmake_file.h"

#include <algorithm>
#include <cctype>

namespace canopy_tool {
namespace {

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<CMakeCommand> run() {
        while (skip_blanks()) {
            if (!is_word(text_[at_])) {
                step();
                continue;
            }
            CMakeCommand command;
            command.line = line_;
            while (at_ < text_.size() && is_word(text_[at_]))
                command.name += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at_++])));
            if (!skip_blanks() || text_[at_] != '(') continue;
            ++at_;
            read_arguments(command);
            commands_.push_back(std::move(command));
        }
        return std::move(commands_);
    }

private:
    void step() {
        if (text_[at_] == '\n') ++line_;
        ++at_;
    }

    void step_to(std::size_t end) {
        while (at_ < end) step();
    }

    // The end of the bracket argument [[...]] or [=[...]=] at `at`; 0 if there is none.
    [[nodiscard]] std::size_t end_of_bracket(std::size_t at) const {
        if (at >= text_.size() || text_[at] != '[') return 0;
        std::size_t second = at + 1;
        while (second < text_.size() && text_[second] == '=') ++second;
        if (second >= text_.size() || text_[second] != '[') return 0;
        const std::string close = "]" + std::string(second - at - 1, '=') + "]";
        const std::size_t end = text_.find(close, second + 1);
        return end == std::string_view::npos ? text_.size() : end + close.size();
    }

    // Skips white space and comments; false at the end of the text.
    bool skip_blanks() {
        while (at_ < text_.size()) {
            if (text_[at_] == '#') {
                const std::size_t end = end_of_bracket(at_ + 1);
                step_to(end != 0 ? end : std::min(text_.find('\n', at_), text_.size()));
            } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
                step();
            } else {
                return true;
            }
        }
        return false;
    }

    void read_arguments(CMakeCommand& command) {
        int depth = 1;
        while (skip_blanks()) {
            const char letter = text_[at_];
            if (letter == '(' || letter == ')') {
                ++at_;
                depth += letter == '(' ? 1 : -1;
                if (depth == 0) return;
                continue;
            }
            Word word{{}, line_};
            const std::size_t begin = at_;
            if (const std::size_t end = end_of_bracket(at_); end != 0) {
                step_to(end);
                word.text = text_.substr(begin, end - begin);
            } else if (letter == '"') {
                read_quoted(word);
            } else {
                while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
                       std::string_view("()#\"").find(text_[at_]) == std::string_view::npos)
                    step();
                word.text = text_.substr(begin, at_ - begin);
            }
            add_list(command, word);
        }
    }

    void read_quoted(Word& word) {
        step();
        while (at_ < text_.size() && text_[at_] != '"') {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) step();
            word.text += text_[at_];
            step();
        }
        if (at_ < text_.size()) step();
    }

    // "a;b" is a list of two arguments.
    static void add_list(CMakeCommand& command, const Word& word) {
        std::size_t begin = 0;
        while (begin <= word.text.size()) {
            const std::size_t end = std::min(word.text.find(';', begin), word.text.size());
            command.arguments.push_back({word.text.substr(begin, end - begin), word.line});
            begin = end + 1;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    unsigned line_ = 1;
    std::vector<CMakeCommand> commands_;
};

}  // namespace

std::vector<CMakeCommand> read_cmake(std::string_view text) { return Reader(text).run(); }

}  // namespace canopy_tool
