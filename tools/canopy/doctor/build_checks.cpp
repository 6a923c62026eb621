// SPDX-License-Identifier: Apache-2.0
// Checks of CMake files, makefiles and shell scripts.
#include <fmt/core.h>

#include <algorithm>

#include "checks.h"

namespace canopy_tool {
namespace {

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool ends(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The library in -lhccl or libhccl.so, with or without folders; empty for other words.
std::string library_of(const std::string& word) {
    if (begins(word, "-l") && word.size() > 2) return word.substr(2);
    const std::string name = base_name(word);
    for (const std::string_view end : {".so", ".a"})
        if (begins(name, "lib") && ends(name, end)) return name.substr(3, name.size() - 3 - end.size());
    return {};
}

// NAME=value, -DNAME=value, -DNAME:STRING=value
void check_assignment(const Examination& examination, const Word& word, const SourceFile& source,
                      const std::string& condition) {
    std::string_view text = word.text;
    if (begins(text, "-D")) text.remove_prefix(2);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const std::string name(text.substr(0, std::min(equals, text.find(':'))));
    check_chip(examination, name, std::string(text.substr(equals + 1)), source, word.line, condition);
}

bool is_kernel_compiler(const std::string& word) {
    const std::string lower = lower_case(word);
    return lower.find("bisheng") != std::string::npos || lower.find("ccec") != std::string::npos ||
           lower.find("canopy-cc") != std::string::npos;
}

// True for a compiler, which also links.
bool is_compiler(const std::string& word) {
    const std::string lower = lower_case(word);
    for (const char* part : {"++", "cc", "cxx", "clang", "bisheng"})
        if (lower.find(part) != std::string::npos) return true;
    return false;
}

// ----------------------------------------------------------------------------------------------------------------------

class CMakeCheck {
public:
    CMakeCheck(const Examination& examination, const CMakeUnit& unit)
        : examination_(examination), source_(*unit.source), unit_(unit) {}

    void run() {
        for (const CMakeCommand& command : unit_.commands) {
            follow_conditions(command);
            check_name(command);
            for (const Word& word : command.arguments) {
                check_path(examination_, word.text, source_, word.line, condition());
                check_assignment(examination_, word, source_, condition());
            }
            if (command.name == "find_package") check_package(command);
            if (command.name == "set" && command.arguments.size() > 1)
                check_chip(examination_, command.arguments[0].text, command.arguments[1].text, source_,
                           command.arguments[1].line, condition());
            if (ends(command.name, "link_libraries")) check_libraries(command);
            if (command.name == "ascendc_compile_options")
                check_flags(examination_, command.arguments, source_, condition());
            check_programs(command);
        }
    }

private:
    [[nodiscard]] std::string condition() const { return conditions_.empty() ? "" : conditions_.back(); }

    void follow_conditions(const CMakeCommand& command) {
        if (command.name == "endif" && !conditions_.empty()) conditions_.pop_back();
        if (command.name != "if") return;
        std::string words;
        for (const Word& word : command.arguments) words += (words.empty() ? "" : " ") + word.text;
        conditions_.push_back(fmt::format("if({})", words.substr(0, 80)));
    }

    void report(Finding finding) {
        finding.condition = condition();
        examination_.findings.add(std::move(finding));
    }

    void check_name(const CMakeCommand& command) {
        const Rule* rule = examination_.tree.rule("cmake", command.name);
        if (rule == nullptr || examination_.tree.has_cmake_function(command.name) ||
            examination_.program.has_cmake_function(command.name))
            return;
        report(finding_of(*rule, command.name, source_.path, command.line));
    }

    void check_package(const CMakeCommand& command) {
        if (command.arguments.empty()) return;
        const std::string& name = command.arguments[0].text;
        const Rule* rule = examination_.tree.rule("package", name);
        if (rule == nullptr || examination_.tree.has_package(name) ||
            examination_.program.has_file("Find" + name + ".cmake"))
            return;
        Finding finding = finding_of(*rule, name, source_.path, command.line);
        const bool required = std::any_of(command.arguments.begin(), command.arguments.end(),
                                          [](const Word& word) { return word.text == "REQUIRED"; });
        if (!required) finding.level = Level::hint;
        report(std::move(finding));
    }

    void check_libraries(const CMakeCommand& command) {
        for (std::size_t index = 0; index < command.arguments.size(); ++index) {
            const std::string& word = command.arguments[index].text;
            const std::string library = library_of(word);
            if (index == 0 && command.name == "target_link_libraries") continue;
            check_library(examination_, library.empty() ? word : library, source_, command.arguments[index].line,
                          condition());
        }
    }

    // add_custom_command, add_custom_target and execute_process: the word after COMMAND.
    void check_programs(const CMakeCommand& command) {
        for (std::size_t index = 0; index + 1 < command.arguments.size(); ++index) {
            if (command.arguments[index].text != "COMMAND") continue;
            const Word& program = command.arguments[index + 1];
            check_program(examination_, program.text, source_, program.line, condition());
            if (!is_kernel_compiler(program.text)) continue;
            const auto begin = command.arguments.begin() + static_cast<std::ptrdiff_t>(index) + 2;
            const auto end =
                std::find_if(begin, command.arguments.end(), [](const Word& word) { return word.text == "COMMAND"; });
            check_flags(examination_, {begin, end}, source_, condition());
        }
    }

    const Examination& examination_;
    const SourceFile& source_;
    const CMakeUnit& unit_;
    std::vector<std::string> conditions_;
};

// ----------------------------------------------------------------------------------------------------------------------

void check_script(const Examination& examination, const SourceFile& source) {
    const ScriptKind kind = source.kind == SourceKind::make ? ScriptKind::makefile : ScriptKind::shell;
    for (const ShellCommand& command : read_shell(source.text, kind)) {
        const std::size_t program = program_index(command);
        const bool runs = command.runs && program != command.words.size();
        const Word name = runs ? command.words[program] : Word{};
        for (const Word& word : command.words) {
            check_path(examination, word.text, source, word.line, command.condition);
            check_assignment(examination, word, source, command.condition);
            const std::string library = library_of(word.text);
            if (!library.empty() && (!runs || is_compiler(name.text)))
                check_library(examination, library, source, word.line, command.condition);
        }
        if (runs) check_program(examination, name.text, source, name.line, command.condition);
        if (is_kernel_compiler(name.text))
            check_flags(examination,
                        {command.words.begin() + static_cast<std::ptrdiff_t>(program) + 1, command.words.end()}, source,
                        command.condition);
    }
}

}  // namespace

void check_cmake(const Examination& examination) {
    for (const CMakeUnit& unit : examination.program.cmake()) CMakeCheck(examination, unit).run();
}

void check_scripts(const Examination& examination) {
    for (const SourceFile& source : examination.program.sources().files)
        if (source.kind == SourceKind::shell || source.kind == SourceKind::make) check_script(examination, source);
}

}  // namespace canopy_tool
