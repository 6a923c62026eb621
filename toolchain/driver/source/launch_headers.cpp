// SPDX-License-Identifier: Apache-2.0
#include "source/launch_headers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/process.h"

namespace canopy_cc {
namespace {

constexpr int invalid_parameter = 100000;  // ACL_ERROR_INVALID_PARAM

// True if the kernel's plain name is its C linkage name: it is not inside a namespace or class.
bool is_outside_of_namespaces(const Tokens& tokens, std::size_t index) {
    for (std::size_t at = 0; at < index; ++at) {
        if (!tokens.is(at, "{") || tokens.partner(at) >= tokens.size()) continue;
        if (tokens.partner(at) < index) {
            at = tokens.partner(at);
        } else if (at < 2 || !tokens.is(at - 2, "extern") || !tokens.is(at - 1, "\"C\"")) {
            return false;
        }
    }
    return true;
}

constexpr int deepest_alias = 8;

// A parameter type of a launch function: every pointer is "void*" or "const void*".
struct Type {
    std::string text;
    bool structure = false;
};

// The definition of a name: a structure, or an alias of the type in `alias`.
struct Definition {
    bool structure = false;
    bool system = false;
    TokenRange alias;
};

bool is_structure_word(std::string_view word) { return word == "struct" || word == "class" || word == "union"; }

// The token after a `struct` and its attributes.
std::size_t structure_name(const Tokens& tokens, std::size_t at) {
    for (++at; at + 1 < tokens.size();) {
        if ((tokens.is(at, "alignas") || tokens.is(at, "__attribute__")) && tokens.is(at + 1, "("))
            at = tokens.partner(at + 1) + 1;
        else if (tokens.is(at, "[") || tokens.is(at, "[["))
            at = tokens.partner(at) + 1;
        else
            break;
    }
    return at;
}

std::size_t end_of_statement(const Tokens& tokens, std::size_t at) {
    while (at < tokens.size() && !tokens.is(at, ";"))
        at = tokens.is(at, "{") || tokens.is(at, "(") ? tokens.partner(at) + 1 : at + 1;
    return std::min(at, tokens.size());
}

// True if the token at `at` begins a definition of `name`.
bool read_definition(const Tokens& tokens, std::string_view name, std::size_t at, Definition& found) {
    const std::string_view word = tokens.spelling(at);
    found.system = tokens.is_system(at);
    if (is_structure_word(word)) {
        const std::size_t named = structure_name(tokens, at);
        found.structure = !(at > 0 && tokens.is(at - 1, "enum")) && tokens.is(named, name) &&
                          (tokens.is(named + 1, "{") || tokens.is(named + 1, ":") || tokens.is(named + 1, "final"));
        return found.structure;
    }
    if (word == "using" && tokens.is(at + 1, name) && tokens.is(at + 2, "=")) {
        found.alias = {at + 3, end_of_statement(tokens, at)};
        return true;
    }
    if (word != "typedef") return false;
    const std::size_t end = end_of_statement(tokens, at);
    found.alias = {at + 1, end - 1};
    return tokens.is(end - 1, name);
}

// The program's own definition of a name takes precedence over one in a system header.
std::optional<Definition> find_definition(const Tokens& tokens, std::string_view name) {
    std::optional<Definition> of_system;
    for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
        Definition found;
        if (!tokens.is_identifier(at) || !read_definition(tokens, name, at, found)) continue;
        if (!found.system) return found;
        if (!of_system) of_system = found;
    }
    return of_system;
}

// The type spelled by the tokens, without kernel language keywords and without a parameter name.
Type type_of(const Tokens& tokens, const TokenRange& range, int depth = 0) {
    Type type;
    std::string_view name;
    bool pointer = false, constant = false;
    for (std::size_t at = range.begin; at < range.end; ++at) {
        if (const std::size_t length = qualifier_at(tokens, at).length; length != 0) {
            at += length - 1;
            continue;
        }
        if (tokens.is(at, "{")) {  // an unnamed structure
            at = tokens.partner(at);
            continue;
        }
        const std::string_view word = tokens.spelling(at);
        pointer = pointer || word == "*" || word == "[";
        constant = constant || (word == "const" && !pointer);
        type.structure = type.structure || is_structure_word(word);
        if (tokens.is_identifier(at) && word != "const" && type.text.find('<') == std::string::npos) name = word;
        if (!type.text.empty() && word != "::" && type.text.back() != ':') type.text += ' ';
        type.text += word;
    }
    if (pointer) return {constant ? "const void*" : "void*", false};
    const bool of_language = name == "int" || name == "char" || name == "long" || name == "unsigned" || name == "float";
    if (type.structure || of_language || depth == deepest_alias) return type;
    const auto definition = find_definition(tokens, name);
    if (!definition) return type;
    type.structure = definition->structure;
    if (type.structure) return type;
    const Type behind = type_of(tokens, definition->alias, depth + 1);
    type.structure = behind.structure;
    // Files that include the header need not know the source's aliases for numbers and pointers.
    return definition->system || behind.structure ? type : behind;
}

// Adds the parameter in the tokens from `begin` up to `end`; `named`: they include its name.
void add_parameter(const Tokens& tokens, std::size_t begin, std::size_t end, bool named, LaunchFunction& function) {
    const auto behind = [&](std::size_t at) {  // skips the contents of brackets
        const std::size_t other = tokens.partner(at);
        return other > at && other < end ? other + 1 : at + 1;
    };
    std::size_t value = begin;
    while (value < end && !tokens.is(value, "=")) value = behind(value);
    std::size_t bracket = begin;
    while (bracket < value && (!tokens.is(bracket, "[") || qualifier_at(tokens, bracket).length != 0))
        bracket = behind(bracket);
    int stars = 0;
    for (std::size_t at = begin; at < value; ++at) stars += tokens.is(at, "*") || tokens.is(at, "[") ? 1 : 0;
    Type type = type_of(tokens, {begin, named ? bracket - 1 : bracket});
    if (bracket != value) type = {tokens.is(begin, "const") ? "const void*" : "void*", false};
    function.types.push_back(type.text);
    function.indirect.push_back(stars > 1);
    function.structures.push_back(type.structure);
}

void add_parameters(const Tokens& tokens, std::size_t open, const std::vector<ParameterName>& names,
                    LaunchFunction& function) {
    const std::size_t close = tokens.partner(open);
    std::size_t begin = open + 1;
    const auto add = [&](std::size_t end) {
        const std::size_t number = function.types.size();
        add_parameter(tokens, begin, end, number < names.size() && names[number].insert_at == 0, function);
    };
    for (std::size_t at = begin; at < close;) {
        if (tokens.is(at, "<")) {
            const std::size_t behind = skip_angles(tokens, at, close);
            at = behind > at ? behind : at + 1;
        } else if (tokens.partner(at) < close && tokens.partner(at) > at) {
            at = tokens.partner(at) + 1;
        } else {
            if (tokens.is(at, ",")) {
                add(at);
                begin = at + 1;
            }
            ++at;
        }
    }
    if (begin < close && !(begin + 1 == close && tokens.is(begin, "void"))) add(close);
}

// "unsigned int blocks, aclrtStream stream, void* a0, uint32_t a1"; `structure` is the type used for structures.
std::string parameter_list(const LaunchFunction& function, const char* stream_type,
                           fmt::format_string<std::size_t&> structure = "const void*") {
    std::string text = fmt::format("unsigned int blocks, {} stream", stream_type);
    for (std::size_t i = 0; i < function.types.size(); ++i)
        text += fmt::format(", {} a{}", function.structures[i] ? fmt::format(structure, i) : function.types[i], i);
    return text;
}

bool has_structures(const LaunchFunction& function) {
    return std::find(function.structures.begin(), function.structures.end(), true) != function.structures.end();
}

// For C++: an overload that takes structures by value. A structure of another size is an invalid parameter.
std::string value_overload(const LaunchFunction& function) {
    if (!has_structures(function)) return {};
    std::string sizes, templates, checks, arguments = "blocks, stream";
    for (std::size_t i = 0; i < function.types.size(); ++i) {
        arguments +=
            function.structures[i] ? fmt::format(", static_cast<const void*>(&a{})", i) : fmt::format(", a{}", i);
        if (!function.structures[i]) continue;
        sizes += fmt::format("extern \"C\" const unsigned int aclrtlaunch_{}_size_{};\n", function.kernel, i);
        templates += fmt::format(
            "{0}class T{1}, typename canopy_launch_structure<__is_class(T{1}) || __is_union(T{1})>::type = 0",
            templates.empty() ? "" : ", ", i);
        checks += fmt::format("    if (sizeof(T{1}) != aclrtlaunch_{0}_size_{1}) return {2};\n", function.kernel, i,
                              invalid_parameter);
    }
    return fmt::format(
        "\n// Structures are passed by their address, or all of them by value.\n#ifdef __cplusplus\n{0}"
        "extern \"C++\" {{\n#ifndef CANOPY_LAUNCH_STRUCTURE\n#define CANOPY_LAUNCH_STRUCTURE\n"
        "template <bool> struct canopy_launch_structure {{}};\n"
        "template <> struct canopy_launch_structure<true> {{ typedef int type; }};\n#endif\ntemplate <{1}>\ninline "
        "uint32_t aclrtlaunch_{2}({3}) {{\n{4}    return "
        "aclrtlaunch_{2}({5});\n}}\n}}\n#endif\n",
        sizes, templates, function.kernel, parameter_list(function, "aclrtStream", "const T{}&"), checks, arguments);
}

std::string header_text(const LaunchFunction& function) {
    return fmt::format(
        R"(// Made from the kernel {0} by canopy-cc.
#ifndef HEADER_ACLRTLAUNCH_{0}_HKERNEL_H_
#define HEADER_ACLRTLAUNCH_{0}_HKERNEL_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel
#endif

// Starts the kernel on a stream; 0, or the code of what went wrong.
#ifdef __cplusplus
extern "C"
#endif
uint32_t aclrtlaunch_{0}({1});
{2}
#endif
)",
        function.kernel, parameter_list(function, "aclrtStream"), value_overload(function));
}

}  // namespace

std::vector<LaunchFunction> find_launch_functions(const Tokens& tokens, const Declarations& declarations) {
    std::vector<LaunchFunction> functions;
    for (const KernelSource& kernel : declarations.kernels) {
        const bool one_word = kernel.name.end == kernel.name.begin + 1;
        if (kernel.is_template || !one_word || !tokens.is(kernel.name.end, "(")) continue;
        if (!is_outside_of_namespaces(tokens, kernel.name.begin)) continue;
        LaunchFunction function{std::string(tokens.spelling(kernel.name.begin)), {}, {}, {}, {}};
        add_parameters(tokens, kernel.name.end, kernel.parameters, function);
        for (const ParameterName& parameter : kernel.parameters) function.names.push_back(parameter.name);
        functions.push_back(std::move(function));
    }
    return functions;
}

std::string launch_definitions(const std::vector<LaunchFunction>& functions) {
    if (functions.empty()) return {};
    std::string text =
        "\n# 1 \"<canopy-cc>\" 3\n"
        "namespace {\n"
        "struct CanopyAnyPointer { const void* value; template <class T> operator T*() const { return (T*)value; } };\n"
        "template <class T> T& canopy_argument(T& value) { return value; }\n"
        "inline CanopyAnyPointer canopy_argument(void* value) { return {value}; }\n"
        "inline CanopyAnyPointer canopy_argument(const void* value) { return {value}; }\n"
        "}\n";
    for (const LaunchFunction& function : functions) {
        std::string arguments, checks;
        for (std::size_t i = 0; i < function.types.size(); ++i) {
            arguments += i == 0 ? "" : ", ";
            if (!function.structures[i]) {
                arguments += fmt::format("canopy_argument(a{})", i);
                continue;
            }
            arguments += fmt::format("*static_cast<const {}*>(a{})", function.types[i], i);
            checks += fmt::format("if (a{} == nullptr) return {}; ", i, invalid_parameter);
            text += fmt::format(
                "extern \"C\" __attribute__((visibility(\"default\"), used)) const unsigned int "
                "aclrtlaunch_{}_size_{} = sizeof({});\n",
                function.kernel, i, function.types[i]);
        }
        text += fmt::format(
            "extern \"C\" __attribute__((visibility(\"default\"), nodebug)) unsigned int aclrtlaunch_{0}({1}) {{ {3}"
            "return "
            "static_cast<unsigned int>(::canopy::launch::Launch(blocks, nullptr, stream).run((void(::{0}({2})), 0))); "
            "}}\n",
            function.kernel, parameter_list(function, "void*"), arguments, checks);
    }
    return text;
}

std::string write_launch_headers(const std::vector<LaunchFunction>& functions, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return fmt::format("cannot create the folder {}: {}", folder, error.message());
    for (const LaunchFunction& function : functions) {
        const std::string path = fmt::format("{}/aclrtlaunch_{}.h", folder, function.kernel);
        const std::string text = header_text(function);
        // An unchanged header is not rewritten, so files that include it are not recompiled.
        if (std::string old; read_file(path, old) && old == text) continue;
        if (!write_file(path, text)) return fmt::format("cannot write {}: {}", path, std::strerror(errno));
    }
    return {};
}

}  // namespace canopy_cc
