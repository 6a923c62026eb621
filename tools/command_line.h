// SPDX-License-Identifier: Apache-2.0
// The command lines of the tools.
#pragma once

#include <string>
#include <vector>

namespace canopy_tool {

struct Option {
    std::string name;     // "--output"
    std::string meaning;  // a line of the help
    bool* flag = nullptr;
    std::string* value = nullptr;  // of an option that takes one
    std::string letter = {};       // "-o"
    std::vector<std::string> choices = {};
    std::string value_name = "TEXT";  // in the help
};

// A program, or a command of one.
struct CommandLine {
    std::string name;  // "canopy doctor"
    std::string meaning;
    std::vector<Option> options;
    std::string operand = {};  // "path"; empty: it takes none
    std::string operand_meaning = {};
    std::vector<std::string>* operands = nullptr;
    bool one_operand = false;
    const bool* in_place_of_operands = nullptr;  // a flag that is given instead of operands
    bool operands_end_options = false;           // the first operand, a program, ends the options
    std::string footer = {};
};

enum class Parsed { run, help, wrong };

// Reads "--name value", "--name=value", "-n value", "-nvalue", flags and operands; after "--" there are operands only.
// `problem` says what is wrong.
Parsed read_command_line(const CommandLine& line, const std::vector<std::string>& arguments, std::string& problem);
std::string help_text(const CommandLine& line);

// Prints the help or the problem if there is one. The exit status, or -1 if the command is to run.
int read_or_explain(const CommandLine& line, const std::vector<std::string>& arguments);

}  // namespace canopy_tool
