// SPDX-License-Identifier: Apache-2.0
// Searches a program for features that a tree lacks. Each function checks one kind of file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler.h"
#include "finding.h"
#include "program.h"
#include "tree.h"

namespace canopy_tool {

struct Examination {
    const InstallTree& tree;
    const Program& program;
    Compiler& compiler;
    Findings& findings;
};

void check_code(const Examination& examination);
void check_cmake(const Examination& examination);
void check_scripts(const Examination& examination);  // shell and make
void check_python(const Examination& examination);
void check_json(const Examination& examination);

inline constexpr const char* not_implemented_advice =
    "remove the call, or let the program continue after that code; docs/coverage.md lists the implemented functions";
inline constexpr const char* unavailable_advice = "remove the part of the program that uses it";

// The finding that a rule gives for a name in the program.
Finding finding_of(const Rule& rule, std::string_view name, std::string file, unsigned line);

// Each of these checks one item of a file. `condition`: the preprocessor condition or script `if` around it.
// Words that name a model file or a fixed path of the toolkit.
void check_path(const Examination& examination, const std::string& word, const SourceFile& source, unsigned line,
                const std::string& condition = {});
// A library, by its linker name.
void check_library(const Examination& examination, const std::string& name, const SourceFile& source, unsigned line,
                   const std::string& condition);
// A program that a build or a script runs.
void check_program(const Examination& examination, const std::string& word, const SourceFile& source, unsigned line,
                   const std::string& condition);
// A variable that chooses a chip or an architecture.
void check_chip(const Examination& examination, const std::string& variable, const std::string& value,
                const SourceFile& source, unsigned line, const std::string& condition);
// Flags for the kernel compiler.
void check_flags(const Examination& examination, const std::vector<Word>& words, const SourceFile& source,
                 const std::string& condition);

}  // namespace canopy_tool
