// SPDX-License-Identifier: Apache-2.0
#include "launch_headers.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "process.h"

namespace canopy_cc {
namespace {

// Whether C linkage would give the kernel its own name: no namespace or class around it.
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

// The type of one parameter, whose tokens lie from `begin` up to `end`, without the name and the words of the language.
std::string parameter_type(const Tokens& tokens, std::size_t begin, std::size_t end) {
    std::string text;
    bool pointer = false, constant = false;
    for (std::size_t at = begin; at < end && !tokens.is(at, "="); ++at) {
        if (const std::size_t length = qualifier_at(tokens, at).length; length != 0) {
            at += length - 1;
            continue;
        }
        const std::string_view word = tokens.spelling(at);
        pointer = pointer || word == "*" || word == "GM_ADDR" || word == "[";
        constant = constant || (word == "const" && !pointer);
        // The last word is the name, unless it is all there is.
        const bool last = at + 1 == end || tokens.is(at + 1, "=") || tokens.is(at + 1, "[");
        if (last && tokens.is_identifier(at) && !text.empty()) break;
        if (!text.empty() && word != "::" && text.back() != ':') text += ' ';
        text += word;
    }
    return pointer ? constant ? "const void*" : "void*" : text;
}

void add_parameter(const Tokens& tokens, std::size_t begin, std::size_t end, LaunchFunction& function) {
    int stars = 0;
    for (std::size_t at = begin; at < end; ++at) stars += tokens.is(at, "*") || tokens.is(at, "[") ? 1 : 0;
    function.types.push_back(parameter_type(tokens, begin, end));
    function.indirect.push_back(stars > 1);
}

void add_parameters(const Tokens& tokens, std::size_t open, LaunchFunction& function) {
    const std::size_t close = tokens.partner(open);
    std::size_t begin = open + 1;
    for (std::size_t at = begin; at < close;) {
        if (tokens.is(at, "<")) {
            const std::size_t behind = skip_angles(tokens, at, close);
            at = behind > at ? behind : at + 1;
        } else if (tokens.partner(at) < close && tokens.partner(at) > at) {
            at = tokens.partner(at) + 1;
        } else {
            if (tokens.is(at, ",")) {
                add_parameter(tokens, begin, at, function);
                begin = at + 1;
            }
            ++at;
        }
    }
    if (begin < close && !(begin + 1 == close && tokens.is(begin, "void")))
        add_parameter(tokens, begin, close, function);
}

// "uint32_t blocks, aclrtStream stream, void* a0, uint32_t a1"
std::string parameter_list(const LaunchFunction& function, const char* stream_type) {
    std::string text = fmt::format("unsigned int blocks, {} stream", stream_type);
    for (std::size_t i = 0; i < function.types.size(); ++i) text += fmt::format(", {} a{}", function.types[i], i);
    return text;
}

std::string header_text(const LaunchFunction& function) {
    return fmt::format(
        R"(// Made from the kernel {0} by canopy-cc. Types of the kernel's own must be declared before this file is included.
#ifndef HEADER_ACLRTLAUNCH_{0}_HKERNEL_H_
#define HEADER_ACLRTLAUNCH_{0}_HKERNEL_H_

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

#endif
)",
        function.kernel, parameter_list(function, "aclrtStream"));
}

}  // namespace

std::vector<LaunchFunction> find_launch_functions(const Tokens& tokens, const Declarations& declarations) {
    std::vector<LaunchFunction> functions;
    for (const KernelSource& kernel : declarations.kernels) {
        const bool one_word = kernel.name.end == kernel.name.begin + 1;
        if (kernel.is_template || !one_word || !tokens.is(kernel.name.end, "(")) continue;
        if (!is_outside_of_namespaces(tokens, kernel.name.begin)) continue;
        LaunchFunction function{std::string(tokens.spelling(kernel.name.begin)), {}, {}, {}};
        add_parameters(tokens, kernel.name.end, function);
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
        std::string arguments;
        for (std::size_t i = 0; i < function.types.size(); ++i)
            arguments += fmt::format("{}canopy_argument(a{})", i == 0 ? "" : ", ", i);
        text += fmt::format(
            "extern \"C\" __attribute__((visibility(\"default\"), nodebug)) unsigned int aclrtlaunch_{0}({1}) {{ "
            "return "
            "static_cast<unsigned int>(::canopy::launch::Launch(blocks, nullptr, stream).run((void({0}({2})), 0))); "
            "}}\n",
            function.kernel, parameter_list(function, "void*"), arguments);
    }
    return text;
}

std::string write_launch_headers(const std::vector<LaunchFunction>& functions, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return fmt::format("cannot make the folder {}: {}", folder, error.message());
    for (const LaunchFunction& function : functions) {
        const std::string path = fmt::format("{}/aclrtlaunch_{}.h", folder, function.kernel);
        const std::string text = header_text(function);
        // Who includes an unchanged header is not compiled again.
        if (std::string old; read_file(path, old) && old == text) continue;
        if (!write_file(path, text)) return fmt::format("cannot write {}: {}", path, std::strerror(errno));
    }
    return {};
}

}  // namespace canopy_cc
