// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

namespace canopy_tool {
namespace {

const Option* find_option(const CommandLine& line, std::string_view name) {
    for (const Option& option : line.options)
        if (option.name == name || (!option.letter.empty() && option.letter == name)) return &option;
    return nullptr;
}

// An argument that names an option: "--name", "--name=value", "-n" or "-nvalue".
struct Named {
    std::string name;
    std::string value;
    bool has_value = false;
};

Named named(const std::string& argument) {
    if (argument.starts_with("--")) {
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos) return {argument};
        return {argument.substr(0, equals), argument.substr(equals + 1), true};
    }
    return {argument.substr(0, 2), argument.substr(2), argument.size() > 2};
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// Sets the option; the text of a problem, else "".
std::string set(const Option& option, const Named& given) {
    if (option.flag) {
        if (given.has_value) return fmt::format("{} does not take a value", option.name);
        *option.flag = true;
        return {};
    }
    if (!option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), given.value) == option.choices.end())
        return fmt::format("{}: {} is not one of {}", option.name, given.value, listed(option.choices));
    *option.value = given.value;
    return {};
}

std::string row(const std::string& left, const std::string& right) {
    constexpr std::size_t width = 24;
    return left.size() < width ? fmt::format("  {:<{}}{}\n", left, width, right)
                               : fmt::format("  {}\n  {:{}}{}\n", left, "", width, right);
}

}  // namespace

Parsed read_command_line(const CommandLine& line, const std::vector<std::string>& arguments, std::string& problem) {
    std::vector<std::string> operands;
    std::set<std::string> seen;
    bool operands_only = false;
    for (std::size_t index = 0; index < arguments.size() && problem.empty(); ++index) {
        const std::string& argument = arguments[index];
        if (operands_only || argument.size() < 2 || argument[0] != '-') {
            operands.push_back(argument);
            operands_only = operands_only || line.operands_end_options;
            continue;
        }
        if (argument == "--") {
            operands_only = true;
            continue;
        }
        if (argument == "-h" || argument == "--help") return Parsed::help;
        Named given = named(argument);
        const Option* option = find_option(line, given.name);
        if (!option) {
            problem = fmt::format("there is no option {}", argument);
        } else if (!seen.insert(option->name).second && option->value) {
            problem = fmt::format("{} is given twice", option->name);
        } else {
            if (option->value && !given.has_value) {
                if (++index == arguments.size()) {
                    problem = fmt::format("{} requires a value", option->name);
                    break;
                }
                given.value = arguments[index];
            }
            problem = set(*option, given);
        }
    }
    const bool takes_operands = line.operands && !(line.in_place_of_operands && *line.in_place_of_operands);
    if (problem.empty() && operands.empty() && takes_operands) problem = fmt::format("{} is required", line.operand);
    if (problem.empty() && operands.size() > (!takes_operands ? 0u : line.one_operand ? 1u : operands.size()))
        problem = fmt::format("the argument {} was not expected", operands.back());
    if (!problem.empty()) return Parsed::wrong;
    if (line.operands) *line.operands = operands;
    return Parsed::run;
}

std::string help_text(const CommandLine& line) {
    std::string text = fmt::format("{}\nUsage: {} [OPTIONS]", line.meaning, line.name);
    if (line.operands) text += fmt::format(" {}{}", line.operand, line.one_operand ? "" : "...");
    text += "\n";
    if (line.operands) text += "\nPositionals:\n" + row(line.operand, line.operand_meaning);
    text += "\nOptions:\n" + row("-h,--help", "Print this help message and exit");
    for (const Option& option : line.options)
        text += row((option.letter.empty() ? "" : option.letter + ",") + option.name +
                        (option.value ? " " + option.value_name : ""),
                    option.meaning);
    return line.footer.empty() ? text : fmt::format("{}\n{}\n", text, line.footer);
}

int read_or_explain(const CommandLine& line, const std::vector<std::string>& arguments) {
    std::string problem;
    switch (read_command_line(line, arguments, problem)) {
        case Parsed::run:
            return -1;
        case Parsed::help:
            std::fputs(help_text(line).c_str(), stdout);
            return 0;
        case Parsed::wrong:
            break;
    }
    std::fputs(fmt::format("{}: {}\nRun with --help for more information.\n", line.name, problem).c_str(), stderr);
    return 2;
}

}  // namespace canopy_tool
