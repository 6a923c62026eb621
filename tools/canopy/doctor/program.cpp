// SPDX-License-Identifier: Apache-2.0
#include "program.h"

namespace canopy_tool {

std::string base_name(std::string_view path) {
    const std::size_t slash = path.find_last_of('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Program::Program(const Sources& sources) : sources_(sources) {
    for (const SourceFile& source : sources.files) {
        files_.insert(base_name(source.path));
        if (source.kind == SourceKind::code) {
            CodeUnit* unit = code_.emplace_back(std::make_unique<CodeUnit>(source)).get();
            by_name_.emplace(base_name(source.path), unit);
            const auto& names = unit->file.defined();
            defined_.insert(names.begin(), names.end());
            if (unit->file.opens_language_namespace()) language_defined_.insert(names.begin(), names.end());
        } else if (source.kind == SourceKind::cmake) {
            cmake_.push_back({&source, read_cmake(source.text)});
            for (const CMakeCommand& command : cmake_.back().commands) {
                if (command.arguments.empty()) continue;
                if (command.name == "function" || command.name == "macro")
                    cmake_functions_.insert(lower_case(command.arguments[0].text));
                if (command.name.find("library") != std::string::npos) targets_.insert(command.arguments[0].text);
            }
        }
    }
    follow_includes();
}

// The files of the program that an include may refer to: those whose path ends with it.
std::vector<CodeUnit*> Program::files_named(const std::string& include) const {
    std::string_view wanted = include;
    while (wanted.substr(0, 3) == "../" || wanted.substr(0, 2) == "./") wanted.remove_prefix(wanted[1] == '.' ? 3 : 2);
    std::vector<CodeUnit*> found;
    const auto [begin, end] = by_name_.equal_range(base_name(wanted));
    for (auto entry = begin; entry != end; ++entry) {
        const std::string_view path = entry->second->file.path();
        if (path.size() < wanted.size() || path.substr(path.size() - wanted.size()) != wanted) continue;
        if (path.size() == wanted.size() || path[path.size() - wanted.size() - 1] == '/')
            found.push_back(entry->second);
    }
    return found;
}

// Properties of an included file also apply to the file that includes it.
void Program::follow_includes() {
    std::multimap<const CodeUnit*, CodeUnit*> included_by;
    std::vector<CodeUnit*> changed;
    for (const auto& unit : code_) {
        unit->sees_language = unit->file.uses_language_namespace();
        unit->is_kernel = unit->file.has_kernel_code();
        if (unit->sees_language || unit->is_kernel) changed.push_back(unit.get());
        for (const Include& include : unit->file.includes())
            for (const CodeUnit* file : files_named(include.name)) included_by.emplace(file, unit.get());
    }
    while (!changed.empty()) {
        const CodeUnit* unit = changed.back();
        changed.pop_back();
        const auto [begin, end] = included_by.equal_range(unit);
        for (auto entry = begin; entry != end; ++entry) {
            CodeUnit& user = *entry->second;
            if ((user.sees_language || !unit->sees_language) && (user.is_kernel || !unit->is_kernel)) continue;
            user.sees_language = user.sees_language || unit->sees_language;
            user.is_kernel = user.is_kernel || unit->is_kernel;
            changed.push_back(&user);
        }
    }
}

}  // namespace canopy_tool
