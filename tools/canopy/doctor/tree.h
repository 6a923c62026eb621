// SPDX-License-Identifier: Apache-2.0
// What an install tree of Canopy has and lacks, read from its tables, headers and folders.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "finding.h"
#include "source/lex.h"

namespace canopy_tool {

// A row of share/canopy/unsupported.tsv: a name or header of the kernel language that is missing.
struct MissingName {
    std::string name;  // "AscendC::Gelu"; a header that ends in / means all headers below it
    std::string kind;
    std::string family;
    std::string advice;
};

// A row of share/canopy/doctor.tsv: names of the toolkit, and the message if the tree lacks one.
struct Rule {
    std::string kind;     // what the name is: function, header, library, package, cmake, command, module, model, path
    std::string pattern;  // shell pattern of the names
    Level level = Level::error;
    std::string text;  // {} is replaced by the name
    std::string advice;
};

enum class FunctionState { unknown, implemented, not_yet };

class InstallTree {
public:
    // Returns an empty string, or what is wrong with the tree.
    std::string load(const std::filesystem::path& root);

    [[nodiscard]] const std::filesystem::path& root() const { return root_; }

    [[nodiscard]] const MissingName* missing_name(const std::string& name) const;
    [[nodiscard]] const MissingName* missing_header(const std::string& header) const;
    [[nodiscard]] const Rule* rule(std::string_view kind, const std::string& name) const;

    [[nodiscard]] FunctionState function(const std::string& name) const;
    // Why the headers declare a name unavailable; empty for other names.
    [[nodiscard]] std::string unavailable(const std::string& name) const;
    // The C function behind a function of the Python module acl, such as acl.rt.malloc; empty if there is none.
    [[nodiscard]] std::string function_of_module(const std::string& dotted) const;
    // True if a header of the tree mentions the word.
    [[nodiscard]] bool mentions(const std::string& word) const { return words_.count(word) != 0; }

    // Variables that set_env.sh sets to folders of the tree.
    [[nodiscard]] const std::vector<std::string>& variables() const { return variables_; }

    [[nodiscard]] bool has_header(const std::string& name) const;
    [[nodiscard]] bool has_library(const std::string& name) const;
    [[nodiscard]] bool has_program(const std::string& name) const;
    [[nodiscard]] bool has_package(const std::string& name) const;
    [[nodiscard]] bool has_cmake_function(const std::string& lower_name) const;

private:
    std::string load_tables();
    void read_variables();
    void read_headers(const std::filesystem::path& folder);
    void read_unavailable(const canopy_cc::Tokens& tokens);
    void read_cmake_files(const std::filesystem::path& folder);

    std::filesystem::path root_;
    std::map<std::string, MissingName> missing_;
    std::vector<Rule> rules_;
    std::map<std::string, FunctionState> functions_;
    std::map<std::string, std::string> module_functions_;  // "aclrtmalloc" -> "aclrtMalloc"
    std::map<std::string, std::string> unavailable_;       // name -> macro with the message
    std::map<std::string, std::string> sentences_;         // macro -> message
    std::unordered_set<std::string> words_;
    std::vector<std::string> headers_;  // paths, each with a leading slash
    std::vector<std::string> variables_;
    std::unordered_set<std::string> packages_;
    std::unordered_set<std::string> cmake_functions_;
};

// The tree that contains this executable.
std::filesystem::path own_tree();

std::string lower_case(std::string_view text);

}  // namespace canopy_tool
