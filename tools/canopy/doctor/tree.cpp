// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "cmake_file.h"
#include "shell_file.h"
#include "source/lex.h"

namespace canopy_tool {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

using Row = std::vector<std::string>;

// The rows after the first one, which names the columns. nullopt if the file is missing or a row is too short.
std::optional<std::vector<Row>> read_table(const fs::path& path, std::size_t columns) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    std::vector<Row> rows;
    while (std::getline(file, line)) {
        Row row;
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t end = std::min(line.find('\t', begin), line.size());
            row.push_back(line.substr(begin, end - begin));
            begin = end + 1;
        }
        if (row.size() < columns) return std::nullopt;
        rows.push_back(std::move(row));
    }
    return rows;
}

// Every file below a folder; links to files are included, links to folders are not followed.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        if (entry->is_regular_file(unknown)) files.push_back(entry->path());
    }
    return files;
}

Level level_of(const std::string& name) {
    return name == "error" ? Level::error : name == "warning" ? Level::warning : Level::hint;
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

fs::path own_tree() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

std::string InstallTree::load(const fs::path& root) {
    root_ = root;
    if (std::string problem = load_tables(); !problem.empty()) return problem;
    read_variables();
    read_headers(root / "include");
    read_headers(root / "toolchain/include");
    read_headers(root / "pkg_inc");
    read_headers(root / "asc/include");
    for (const char* folder : {"lib64/cmake", "tikcpp", "tools"}) read_cmake_files(root / folder);
    return {};
}

std::string InstallTree::load_tables() {
    const fs::path share = root_ / "share/canopy";
    const auto missing = read_table(share / "unsupported.tsv", 4);
    const auto rules = read_table(share / "doctor.tsv", 5);
    const auto functions = read_table(share / "functions.tsv", 2);
    if (!missing || !rules || !functions)
        return fmt::format("{} is not an install tree of Canopy: a table of share/canopy cannot be read",
                           root_.string());
    for (const Row& row : *missing) missing_[row[0]] = {row[0], row[1], row[2], row[3]};
    for (const Row& row : *rules) rules_.push_back({row[0], row[1], level_of(row[2]), row[3], row[4]});
    for (const Row& row : *functions) {
        functions_[row[0]] = row[1] == "implemented" ? FunctionState::implemented : FunctionState::not_yet;
        module_functions_[lower_case(row[0])] = row[0];
    }
    return {};
}

void InstallTree::read_variables() {
    const std::string text = content(root_ / "set_env.sh");
    for (const ShellCommand& command : read_shell(text, ScriptKind::shell))
        for (const Word& word : command.words) {
            const std::size_t equals = word.text.find('=');
            const bool is_place =
                word.text.find("$_canopy_root", std::min(equals, word.text.size())) != std::string::npos;
            if (is_place) variables_.push_back(word.text.substr(0, equals));
        }
}

void InstallTree::read_headers(const fs::path& folder) {
    for (const fs::path& path : files_below(folder)) {
        headers_.push_back("/" + path.lexically_relative(folder).string());
        const std::string text = content(path);
        const auto add_words = [this](const canopy_cc::Tokens& tokens) {
            for (std::size_t index = 0; index < tokens.size(); ++index)
                if (tokens.is_identifier(index)) words_.emplace(tokens.spelling(index));
        };
        const canopy_cc::Tokens tokens(text);
        add_words(tokens);
        read_unavailable(tokens);
        for (const canopy_cc::Directive& directive : tokens.directives())
            add_words(
                canopy_cc::Tokens(tokens.text().substr(directive.begin + 1, directive.end - directive.begin - 1)));
    }
}

// CANOPY_NO_FUNCTION(result, name, macro), CANOPY_NO_TYPE(name, macro) and CANOPY_NO_CONSTANT(name, macro), where the
// macro expands to a message.
void InstallTree::read_unavailable(const canopy_cc::Tokens& tokens) {
    for (const canopy_cc::Directive& directive : tokens.directives()) {
        const canopy_cc::Tokens words(tokens.text().substr(directive.begin + 1, directive.end - directive.begin - 1));
        if (!words.is(0, "define") || words.spelling(1).substr(0, 10) != "CANOPY_NO_") continue;
        std::string& sentence = sentences_[std::string(words.spelling(1))];
        for (std::size_t index = 2; index < words.size(); ++index)
            if (words[index].kind == canopy_cc::TokenKind::text)
                sentence += words.spelling(index).substr(1, words.spelling(index).size() - 2);
    }
    for (std::size_t index = 0; index + 1 < tokens.size(); ++index) {
        const std::string_view macro = tokens.spelling(index);
        const bool is_declaration =
            macro == "CANOPY_NO_FUNCTION" || macro == "CANOPY_NO_TYPE" || macro == "CANOPY_NO_CONSTANT";
        if (!is_declaration || !tokens.is(index + 1, "(")) continue;
        const std::size_t end = tokens.partner(index + 1);
        if (end >= tokens.size() || end < index + 5) continue;
        const std::string name(tokens.spelling(end - 3));
        unavailable_[name] = tokens.spelling(end - 1);
        if (macro == "CANOPY_NO_FUNCTION") module_functions_[lower_case(name)] = name;
    }
}

void InstallTree::read_cmake_files(const fs::path& folder) {
    for (const fs::path& path : files_below(folder)) {
        const std::string name = path.filename().string();
        for (const std::string_view end : {"-config.cmake", "Config.cmake"})
            if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
                packages_.insert(lower_case(name.substr(0, name.size() - end.size())));
        if (path.extension() != ".cmake") continue;
        for (const CMakeCommand& command : read_cmake(content(path)))
            if ((command.name == "function" || command.name == "macro") && !command.arguments.empty())
                cmake_functions_.insert(lower_case(command.arguments[0].text));
    }
}

const MissingName* InstallTree::missing_name(const std::string& name) const {
    const auto found = missing_.find(name);
    return found == missing_.end() || found->second.kind == "header" ? nullptr : &found->second;
}

const MissingName* InstallTree::missing_header(const std::string& header) const {
    for (std::size_t length = header.size(); length != 0; --length) {
        if (length != header.size() && header[length - 1] != '/') continue;
        const auto found = missing_.find(header.substr(0, length));
        if (found != missing_.end() && found->second.kind == "header") return &found->second;
    }
    return nullptr;
}

const Rule* InstallTree::rule(std::string_view kind, const std::string& name) const {
    for (const Rule& rule : rules_)
        if (rule.kind == kind && fnmatch(rule.pattern.c_str(), name.c_str(), 0) == 0) return &rule;
    return nullptr;
}

FunctionState InstallTree::function(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? FunctionState::unknown : found->second;
}

std::string InstallTree::unavailable(const std::string& name) const {
    const auto found = unavailable_.find(name);
    if (found == unavailable_.end()) return {};
    const auto sentence = sentences_.find(found->second);
    return sentence == sentences_.end() ? found->second : sentence->second;
}

std::string InstallTree::function_of_module(const std::string& dotted) const {
    std::string name;
    std::string_view rest = dotted;
    if (rest.substr(0, 10) == "acl.media.") name = "acl", rest.remove_prefix(10);
    for (const char letter : rest)
        if (letter != '.' && letter != '_') name += letter;
    const auto found = module_functions_.find(lower_case(name));
    return found == module_functions_.end() ? "" : found->second;
}

bool InstallTree::has_header(const std::string& name) const {
    std::error_code error;
    for (const char* folder : {"include", "toolchain/include", "pkg_inc", ".", "include/aclnn", "include/experiment"})
        if (fs::exists(root_ / folder / name, error)) return true;
    const std::string end = "/" + name;
    return std::any_of(headers_.begin(), headers_.end(), [&](const std::string& header) {
        return header.size() >= end.size() && header.compare(header.size() - end.size(), end.size(), end) == 0;
    });
}

bool InstallTree::has_library(const std::string& name) const {
    std::error_code error;
    for (const char* folder : {"lib64", "lib64/stub", "lib64/device/lib64"})
        for (const char* suffix : {".so", ".a"})
            if (fs::exists(root_ / folder / fmt::format("lib{}{}", name, suffix), error)) return true;
    return false;
}

bool InstallTree::has_program(const std::string& name) const {
    std::error_code error;
    return fs::exists(root_ / "bin" / name, error) || fs::exists(root_ / "ccec_compiler/bin" / name, error);
}

bool InstallTree::has_package(const std::string& name) const { return packages_.count(lower_case(name)) != 0; }

bool InstallTree::has_cmake_function(const std::string& lower_name) const {
    return cmake_functions_.count(lower_name) != 0;
}

}  // namespace canopy_tool
