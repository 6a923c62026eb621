// SPDX-License-Identifier: Apache-2.0
// A whole program: its parsed sources and its own definitions. Names that a program defines are never reported.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cmake_file.h"
#include "code_file.h"
#include "shell_file.h"
#include "sources.h"
#include "tree.h"

namespace canopy_tool {

struct CodeUnit {
    explicit CodeUnit(const SourceFile& source) : file(source) {}
    CodeFile file;
    bool sees_language = false;  // `using namespace AscendC` is in force, here or in an included file
    bool is_kernel = false;      // contains kernel code, or includes a file that does
};

struct CMakeUnit {
    const SourceFile* source;
    std::vector<CMakeCommand> commands;
};

class Program {
public:
    // `sources` must outlive the program.
    explicit Program(const Sources& sources);

    [[nodiscard]] const Sources& sources() const { return sources_; }
    [[nodiscard]] const std::vector<std::unique_ptr<CodeUnit>>& code() const { return code_; }
    [[nodiscard]] const std::vector<CMakeUnit>& cmake() const { return cmake_; }

    [[nodiscard]] bool defines(const std::string& name) const { return defined_.count(name) != 0; }
    // True if the program adds the name to namespace AscendC.
    [[nodiscard]] bool extends_language(const std::string& name) const { return language_defined_.count(name) != 0; }
    [[nodiscard]] bool has_header(const std::string& name) const { return !files_named(name).empty(); }
    [[nodiscard]] bool has_file(const std::string& name) const { return files_.count(name) != 0; }
    [[nodiscard]] bool has_cmake_function(const std::string& lower_name) const {
        return cmake_functions_.count(lower_name) != 0;
    }
    [[nodiscard]] bool has_target(const std::string& name) const { return targets_.count(name) != 0; }

private:
    [[nodiscard]] std::vector<CodeUnit*> files_named(const std::string& include) const;
    void follow_includes();

    const Sources& sources_;
    std::vector<std::unique_ptr<CodeUnit>> code_;
    std::vector<CMakeUnit> cmake_;
    std::multimap<std::string, CodeUnit*> by_name_;  // last part of the path
    std::unordered_set<std::string> files_;          // names without folders
    std::unordered_set<std::string> defined_;
    std::unordered_set<std::string> language_defined_;
    std::unordered_set<std::string> cmake_functions_;
    std::unordered_set<std::string> targets_;
};

// The last part of a path.
std::string base_name(std::string_view path);

}  // namespace canopy_tool
