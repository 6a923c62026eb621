// SPDX-License-Identifier: Apache-2.0
// The walk over the syntax tree. Qualifiers arrive as annotations (canopy_kernel/qualifiers.h).
#include "parse.h"

#include <canopy/kernel_image.h>
#include <clang-c/Index.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

namespace canopy_cc {
namespace {

std::string take(CXString text) {
    const char* characters = clang_getCString(text);
    std::string result = characters == nullptr ? "" : characters;
    clang_disposeString(text);
    return result;
}

struct Place {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;
};

Place place_of(CXCursor cursor) {
    CXFile file = nullptr;
    Place place;
    clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, &place.line, &place.column, nullptr);
    if (file != nullptr) place.file = take(clang_getFileName(file));
    return place;
}

std::string located(CXCursor cursor, const std::string& text) {
    const Place place = place_of(cursor);
    return fmt::format("{}:{}:{}: error: {}", place.file, place.line, place.column, text);
}

template <class Visitor>
void for_each_child(CXCursor cursor, Visitor visitor) {
    clang_visitChildren(
        cursor, [](CXCursor child, CXCursor, CXClientData data) { return (*static_cast<Visitor*>(data))(child); },
        &visitor);
}

std::vector<std::string> annotations(CXCursor function) {
    std::vector<std::string> result;
    for_each_child(function, [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_AnnotateAttr) result.push_back(take(clang_getCursorSpelling(child)));
        return CXChildVisit_Continue;
    });
    return result;
}

bool has(const std::vector<std::string>& texts, std::string_view text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// "::outer::name"; unnamed and inline namespaces need no mention.
std::string qualified_name(CXCursor cursor) {
    std::string name = take(clang_getCursorSpelling(cursor));
    for (CXCursor parent = clang_getCursorSemanticParent(cursor); clang_getCursorKind(parent) == CXCursor_Namespace;
         parent = clang_getCursorSemanticParent(parent)) {
        if (clang_Cursor_isAnonymous(parent) || clang_Cursor_isInlineNamespace(parent)) continue;
        name = take(clang_getCursorSpelling(parent)) + "::" + name;
    }
    return "::" + name;
}

void set_cores(KernelDescription& kernel, std::uint32_t type, int cube, int vector) {
    kernel.core_type = type;
    kernel.cube_ratio = static_cast<std::uint16_t>(cube);
    kernel.vector_ratio = static_cast<std::uint16_t>(vector);
}

// The value of KERNEL_TASK_TYPE_DEFAULT inside the body, in the order of its enumeration.
void apply_kernel_type(KernelDescription& kernel, long long type) {
    switch (type) {
        case 0:
        case 7:
            return set_cores(kernel, CANOPY_CORE_VECTOR, 0, 1);
        case 1:
            return set_cores(kernel, CANOPY_CORE_CUBE, 1, 0);
        case 2:
            return set_cores(kernel, CANOPY_CORE_MIX, 0, 1);
        case 3:
            return set_cores(kernel, CANOPY_CORE_MIX, 1, 0);
        case 4:
            return set_cores(kernel, CANOPY_CORE_MIX, 1, 1);
        case 5:
            return set_cores(kernel, CANOPY_CORE_MIX, 1, 2);
        default:
            return set_cores(kernel, CANOPY_CORE_AICORE, 1, 1);
    }
}

class SourceReader {
public:
    SourceReader(CXTranslationUnit unit, Source& source) : unit_(unit), source_(source) {}

    void run() {
        visit_scope(clang_getTranslationUnitCursor(unit_));
        list_files();
        collect_diagnostics();
    }

private:
    void visit_scope(CXCursor scope) {
        for_each_child(scope, [this](CXCursor child) {
            visit_declaration(child);
            return CXChildVisit_Continue;
        });
    }

    void visit_declaration(CXCursor cursor) {
        switch (clang_getCursorKind(cursor)) {
            case CXCursor_Namespace:
            case CXCursor_LinkageSpec:
            case CXCursor_UnexposedDecl:
                return visit_scope(cursor);
            case CXCursor_FunctionDecl:
                return visit_function(cursor);
            case CXCursor_FunctionTemplate:
                return visit_template(cursor);
            case CXCursor_VarDecl:
                return visit_variable(cursor);
            default:
                return;
        }
    }

    void visit_template(CXCursor cursor) {
        if (has(annotations(cursor), "canopy.global")) source_.templates.push_back(qualified_name(cursor));
    }

    void visit_variable(CXCursor cursor) {
        if (clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)) || !clang_isCursorDefinition(cursor) ||
            clang_getCursorLinkage(cursor) != CXLinkage_External)
            return;
        source_.variables.push_back(take(clang_Cursor_getMangling(cursor)));
    }

    void visit_function(CXCursor cursor) {
        if (!clang_isCursorDefinition(cursor)) return;
        const auto notes = annotations(cursor);
        if (!has(notes, "canopy.global") || has(notes, "canopy.cpu")) return;
        KernelDescription kernel;
        kernel.name = take(clang_getCursorSpelling(cursor));
        kernel.qualified_name = qualified_name(cursor);
        kernel.symbol = take(clang_Cursor_getMangling(cursor));
        kernel.entry = "canopy_entry_" + kernel.name;
        const Place place = place_of(cursor);
        kernel.source = place.file;
        kernel.line = place.line;
        if (const auto [first, added] = seen_.emplace(kernel.name, place); !added)
            return problem(cursor, fmt::format("a second kernel is named '{}' (the first: {}:{}); an image finds "
                                               "kernels by name",
                                               kernel.name, first->second.file, first->second.line));
        if (clang_getCursorResultType(cursor).kind != CXType_Void)
            return problem(cursor, fmt::format("kernel '{}' must return void", kernel.name));
        if (clang_Cursor_isVariadic(cursor))
            return problem(cursor, fmt::format("kernel '{}' has a variable number of parameters", kernel.name));
        read_qualifiers(cursor, notes, kernel);
        if (read_parameters(cursor, kernel)) source_.kernels.push_back(std::move(kernel));
    }

    void read_qualifiers(CXCursor cursor, const std::vector<std::string>& notes, KernelDescription& kernel) {
        if (const auto type = kernel_type(cursor)) apply_kernel_type(kernel, *type);
        const bool vector = has(notes, "canopy.vector"), cube = has(notes, "canopy.cube");
        if (vector && cube) problem(cursor, fmt::format("kernel '{}' is both __vector__ and __cube__", kernel.name));
        if (vector) set_cores(kernel, CANOPY_CORE_VECTOR, 0, 1);
        if (cube) set_cores(kernel, CANOPY_CORE_CUBE, 1, 0);
        for (const std::string& note : notes) {
            int first = -1, second = -1;
            if (note.rfind("canopy.mix ", 0) == 0) {
                const bool read = std::sscanf(note.c_str(), "canopy.mix %d %d", &first, &second) == 2;
                const bool known = (first == 0 && second == 1) || (first == 1 && second >= 0 && second <= 2);
                if (read && known)
                    set_cores(kernel, CANOPY_CORE_MIX, first, second);
                else
                    problem(cursor, "__mix__ takes (1,0), (0,1), (1,1) or (1,2)");
            }
            if (note.rfind("canopy.schedule ", 0) == 0) {
                const bool read = std::sscanf(note.c_str(), "canopy.schedule %d", &first) == 1;
                if (read && (first == 0 || first == 1))
                    kernel.schedule_mode = static_cast<std::uint32_t>(first);
                else
                    problem(cursor, "__schedmode__ takes 0 or 1");
            }
        }
    }

    // Looks for the variable KERNEL_TASK_TYPE_DEFAULT declares.
    std::optional<long long> kernel_type(CXCursor function) {
        std::optional<long long> found;
        for_each_child(function, [&](CXCursor child) {
            if (clang_getCursorKind(child) == CXCursor_VarDecl &&
                take(clang_getCursorSpelling(child)) == "canopy_kernel_type") {
                CXEvalResult value = clang_Cursor_Evaluate(child);
                if (value != nullptr && clang_EvalResult_getKind(value) == CXEval_Int)
                    found = clang_EvalResult_getAsLongLong(value);
                if (value != nullptr) clang_EvalResult_dispose(value);
            }
            return found ? CXChildVisit_Break : CXChildVisit_Recurse;
        });
        return found;
    }

    bool read_parameters(CXCursor cursor, KernelDescription& kernel) {
        const int count = clang_Cursor_getNumArguments(cursor);
        if (count > CANOPY_IMAGE_MAX_PARAMETERS) {
            problem(cursor, fmt::format("kernel '{}' has {} parameters; {} are allowed", kernel.name, count,
                                        static_cast<int>(CANOPY_IMAGE_MAX_PARAMETERS)));
            return false;
        }
        std::uint64_t end = 0;
        for (int index = 0; index < count; ++index) {
            const CXCursor argument = clang_Cursor_getArgument(cursor, static_cast<unsigned>(index));
            const CXType type = clang_getCanonicalType(clang_getCursorType(argument));
            const long long size = clang_Type_getSizeOf(type);
            if (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference || size < 0) {
                problem(argument, fmt::format("parameter {} of kernel '{}' has type '{}'; a kernel takes pointers, "
                                              "numbers and plain structures by value",
                                              index + 1, kernel.name, take(clang_getTypeSpelling(type))));
                return false;
            }
            Parameter parameter;
            parameter.size = static_cast<std::uint32_t>(size);
            parameter.alignment =
                std::max(CANOPY_ARGUMENT_ALIGNMENT, static_cast<std::uint32_t>(clang_Type_getAlignOf(type)));
            end = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
            parameter.offset = static_cast<std::uint32_t>(end);
            end += static_cast<std::uint64_t>(size);
            if (end > CANOPY_IMAGE_MAX_ARGUMENTS || parameter.alignment > CANOPY_IMAGE_MAX_ALIGNMENT) {
                problem(argument, fmt::format("the parameters of kernel '{}' need more than {} bytes, or more than "
                                              "{} bytes of alignment",
                                              kernel.name, static_cast<int>(CANOPY_IMAGE_MAX_ARGUMENTS),
                                              static_cast<int>(CANOPY_IMAGE_MAX_ALIGNMENT)));
                return false;
            }
            kernel.parameters.push_back(parameter);
        }
        kernel.arguments_size = static_cast<std::uint32_t>((end + CANOPY_ARGUMENT_ALIGNMENT - 1) /
                                                           CANOPY_ARGUMENT_ALIGNMENT * CANOPY_ARGUMENT_ALIGNMENT);
        return true;
    }

    void problem(CXCursor cursor, const std::string& text) { source_.problems.push_back(located(cursor, text)); }

    void list_files() {
        source_.files.clear();
        clang_getInclusions(
            unit_,
            [](CXFile file, CXSourceLocation*, unsigned, CXClientData data) {
                static_cast<std::vector<std::string>*>(data)->push_back(take(clang_getFileName(file)));
            },
            &source_.files);
    }

    void collect_diagnostics() {
        for (unsigned index = 0; index < clang_getNumDiagnostics(unit_); ++index) {
            CXDiagnostic diagnostic = clang_getDiagnostic(unit_, index);
            if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
                source_.has_errors = true;
                source_.diagnostics +=
                    take(clang_formatDiagnostic(diagnostic, clang_defaultDiagnosticDisplayOptions())) + "\n";
            }
            clang_disposeDiagnostic(diagnostic);
        }
    }

    CXTranslationUnit unit_;
    Source& source_;
    std::map<std::string, Place> seen_;
};

bool any_begins(const std::vector<std::string>& flags, std::string_view start) {
    return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
        return std::string_view(flag).substr(0, start.size()) == start;
    });
}

}  // namespace

std::vector<std::string> language_flags(const Options& options, const Tree& tree) {
    std::vector<std::string> flags;
    if (!any_begins(options.compiler_flags, "-std=")) flags.push_back("-std=gnu++17");
    flags.push_back(fmt::format("-D__NPU_ARCH__={}", options.architecture));
    flags.push_back("-D__CANOPY__=1");
    // threadIdx.x and its like are properties (canopy_kernel/simt.h).
    flags.push_back("-fdeclspec");
    flags.insert(flags.end(), options.compiler_flags.begin(), options.compiler_flags.end());
    for (const std::string& directory : {tree.kernel_headers, tree.headers}) {
        flags.push_back("-isystem");
        flags.push_back(directory);
    }
    return flags;
}

std::string parse_source(const Options& options, const Tree& tree, Source& source) {
    std::vector<std::string> flags = {"-x", "c++"};
    if (!tree.resource_directory.empty()) flags.push_back("-resource-dir=" + tree.resource_directory);
    const auto language = language_flags(options, tree);
    flags.insert(flags.end(), language.begin(), language.end());
    flags.push_back("-w");
    std::vector<const char*> arguments;
    for (const std::string& flag : flags) arguments.push_back(flag.c_str());

    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit unit = nullptr;
    const CXErrorCode code =
        clang_parseTranslationUnit2(index, options.source.c_str(), arguments.data(), static_cast<int>(arguments.size()),
                                    nullptr, 0, CXTranslationUnit_None, &unit);
    if (code == CXError_Success) {
        SourceReader(unit, source).run();
        clang_disposeTranslationUnit(unit);
    }
    clang_disposeIndex(index);
    return code == CXError_Success
               ? ""
               : fmt::format("libclang cannot read {} (code {})", options.source, static_cast<int>(code));
}

}  // namespace canopy_cc
