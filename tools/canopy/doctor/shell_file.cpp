// SPDX-License-Identifier: Apache-2.0
#include "shell_file.h"

#include <algorithm>
#include <cctype>

namespace canopy_tool {
namespace {

constexpr int deepest_nesting = 32;  // of $(...); deeper ones are not read

class Reader {
public:
    Reader(std::string_view text, ScriptKind kind, unsigned line, int depth, std::vector<ShellCommand>& commands)
        : text_(text), kind_(kind), line_(line), depth_(depth), commands_(commands) {}

    void run() {
        begin_line();
        while (at_ < text_.size()) step();
        end_command();
    }

private:
    [[nodiscard]] bool sees(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

    void begin_line() {
        runs_ = true;
        if (kind_ == ScriptKind::shell || depth_ != 0) return;
        runs_ = at_ < text_.size() && text_[at_] == '\t';
        while (runs_ && at_ < text_.size() && std::string_view("\t @-+").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }

    void step() {
        const char letter = text_[at_];
        if (letter == '\n') {
            end_command();
            ++at_;
            ++line_;
            skip_here_documents();
            begin_line();
        } else if (letter == '\\' && at_ + 1 < text_.size()) {
            if (text_[at_ + 1] == '\n') {
                end_word();
                ++line_;
            } else {
                append(text_[at_ + 1]);
            }
            at_ += 2;
        } else if (letter == '#' && (!in_word_ || kind_ == ScriptKind::makefile)) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (std::isspace(static_cast<unsigned char>(letter)) != 0) {
            end_word();
            ++at_;
        } else if (letter == '\'' || letter == '"') {
            read_quoted(letter);
        } else if (letter == '$' || letter == '`') {
            read_expansion();
        } else if (sees("<<") && !sees("<<<") && kind_ == ScriptKind::shell) {
            read_here_document();
        } else if (std::string_view(";|&(){}").find(letter) != std::string_view::npos) {
            end_command();
            ++at_;
        } else {
            append(letter);
            ++at_;
        }
    }

    void append(char letter) {
        if (!in_word_) command_.words.push_back({{}, line_});
        in_word_ = true;
        command_.words.back().text += letter;
    }

    void append(std::string_view text) {
        for (const char letter : text) append(letter);
        line_ += static_cast<unsigned>(std::count(text.begin(), text.end(), '\n'));
    }

    void end_word() { in_word_ = false; }

    void end_command() {
        end_word();
        command_.runs = runs_;
        if (!command_.words.empty()) commands_.push_back(std::move(command_));
        command_ = {};
    }

    void read_quoted(char quote) {
        if (!in_word_) command_.words.push_back({{}, line_});
        in_word_ = true;
        for (++at_; at_ < text_.size() && text_[at_] != quote;) {
            if (quote == '"' && (text_[at_] == '$' || text_[at_] == '`')) {
                read_expansion();
            } else {
                if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
                append(text_.substr(at_++, 1));
            }
        }
        if (at_ < text_.size()) ++at_;
    }

    // $name, ${...}, $(...) and `...`: the text stays part of the word, and the commands inside are read as well.
    void read_expansion() {
        const std::size_t begin = at_;
        const unsigned first_line = line_;
        std::string_view inside;
        if (text_[at_] == '`') {
            const std::size_t end = std::min(text_.find('`', at_ + 1), text_.size());
            inside = text_.substr(begin + 1, end - begin - 1);
            at_ = std::min(end + 1, text_.size());
        } else if (sees("$(") || sees("${")) {
            const std::size_t end = end_of_brackets(at_ + 1);
            if (sees("$(")) inside = text_.substr(begin + 2, end - begin - 2);
            at_ = std::min(end + 1, text_.size());
        } else {
            ++at_;
        }
        append(text_.substr(begin, at_ - begin));
        if (kind_ == ScriptKind::makefile && depth_ == 0) {
            if (inside.substr(0, 6) != "shell ") return;
            inside.remove_prefix(6);
        }
        if (!inside.empty() && depth_ < deepest_nesting) Reader(inside, kind_, first_line, depth_ + 1, commands_).run();
    }

    // The bracket that closes the one at `at`, or the end of the text.
    [[nodiscard]] std::size_t end_of_brackets(std::size_t at) const {
        const char open = text_[at];
        const char close = open == '(' ? ')' : '}';
        int depth = 0;
        for (; at < text_.size(); ++at) {
            if (text_[at] == '\\')
                ++at;
            else if (text_[at] == open)
                ++depth;
            else if (text_[at] == close && --depth == 0)
                return at;
        }
        return text_.size();
    }

    void read_here_document() {
        at_ += 2;
        if (at_ < text_.size() && text_[at_] == '-') ++at_;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
        std::string mark;
        while (at_ < text_.size() && std::string_view(" \t\n;|&()<>").find(text_[at_]) == std::string_view::npos) {
            if (std::string_view("'\"\\").find(text_[at_]) == std::string_view::npos) mark += text_[at_];
            ++at_;
        }
        if (!mark.empty()) here_documents_.push_back(std::move(mark));
    }

    void skip_here_documents() {
        for (const std::string& mark : here_documents_) {
            bool found = false;
            while (at_ < text_.size() && !found) {
                const std::size_t end = std::min(text_.find('\n', at_), text_.size());
                std::string_view line = text_.substr(at_, end - at_);
                while (!line.empty() && line.front() == '\t') line.remove_prefix(1);
                found = line == mark;
                at_ = std::min(end + 1, text_.size());
                ++line_;
            }
        }
        here_documents_.clear();
    }

    std::string_view text_;
    ScriptKind kind_;
    std::size_t at_ = 0;
    unsigned line_;
    int depth_;
    bool in_word_ = false;
    bool runs_ = true;
    ShellCommand command_;
    std::vector<std::string> here_documents_;
    std::vector<ShellCommand>& commands_;
};

bool is_assignment(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) return false;
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '+';
    });
}

bool stands_before_program(const std::string& word) {
    constexpr std::string_view words[] = {"if",   "then", "elif", "else", "do",    "while", "until", "!",
                                          "time", "exec", "sudo", "env",  "nohup", "eval",  "-E"};
    return std::find(std::begin(words), std::end(words), word) != std::end(words) || is_assignment(word);
}

std::string words_of(const ShellCommand& command) {
    std::string line;
    for (const Word& word : command.words) line += (line.empty() ? "" : " ") + word.text;
    return line.substr(0, std::min<std::size_t>({line.size(), line.find('\n'), 80}));
}

// Conditions of scripts and makefiles: if ... fi, case ... esac, ifeq ... endif.
void find_conditions(std::vector<ShellCommand>& commands) {
    std::vector<std::string> around;
    for (ShellCommand& command : commands) {
        const std::string& first = command.words[0].text;
        if ((first == "fi" || first == "esac" || first == "endif") && !around.empty()) around.pop_back();
        if (!around.empty()) command.condition = around.back();
        // The condition of an `if` itself always runs.
        if (first == "if" || first == "case" || first.substr(0, 3) == "ife" || first.substr(0, 3) == "ifd" ||
            first.substr(0, 3) == "ifn")
            around.push_back(words_of(command));
    }
}

}  // namespace

std::vector<ShellCommand> read_shell(std::string_view text, ScriptKind kind) {
    std::vector<ShellCommand> commands;
    Reader(text, kind, 1, 0, commands).run();
    find_conditions(commands);
    return commands;
}

std::size_t program_index(const ShellCommand& command) {
    std::size_t index = 0;
    while (index < command.words.size() && stands_before_program(command.words[index].text)) ++index;
    return index;
}

}  // namespace canopy_tool
