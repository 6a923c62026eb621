// SPDX-License-Identifier: Apache-2.0
// A C or C++ source as `canopy doctor` sees it: tokens, includes, preprocessor conditions, and its definitions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "source/lex.h"
#include "sources.h"

namespace canopy_tool {

// Maps offsets in a text to line numbers.
class Lines {
public:
    explicit Lines(std::string_view text);
    [[nodiscard]] unsigned line(std::size_t offset) const;

private:
    std::vector<std::size_t> ends_;
};

struct Include {
    std::string name;
    std::size_t offset = 0;
};

// The body of a macro, as separate tokens.
struct MacroBody {
    canopy_cc::Tokens tokens;
    std::size_t offset = 0;  // of its first byte in the file
};

// The text from `offset` up to the next Stretch.
struct Stretch {
    std::size_t offset = 0;
    std::string condition;  // empty: always compiled
    bool dead = false;      // never compiled
};

class CodeFile {
public:
    explicit CodeFile(const SourceFile& source);

    [[nodiscard]] const SourceFile& source() const { return source_; }
    [[nodiscard]] const std::string& path() const { return source_.path; }
    [[nodiscard]] const canopy_cc::Tokens& tokens() const { return tokens_; }
    [[nodiscard]] const std::vector<MacroBody>& macros() const { return macros_; }
    [[nodiscard]] const std::vector<Include>& includes() const { return includes_; }
    [[nodiscard]] unsigned line(std::size_t offset) const { return lines_.line(offset); }
    [[nodiscard]] const Stretch& stretch(std::size_t offset) const;

    // Names of functions, types, macros, variables and namespaces that the file declares.
    [[nodiscard]] const std::unordered_set<std::string>& defined() const { return defined_; }
    [[nodiscard]] bool opens_language_namespace() const { return opens_language_namespace_; }  // namespace AscendC {
    [[nodiscard]] bool uses_language_namespace() const { return uses_language_namespace_; }  // using namespace AscendC
    [[nodiscard]] bool has_kernel_code() const { return has_kernel_code_; }

private:
    // An #if and its effect on the lines below, combined with the conditions around it.
    struct Level {
        std::string condition;
        bool dead = false;
        bool other_dead = false;  // of #else
        std::string whole_condition;
        bool whole_dead = false;
    };

    void read_directive(const canopy_cc::Directive& directive, const canopy_cc::Directive* next);
    void open_condition(std::string_view word, std::string_view rest, std::string_view next);
    void change_condition(std::string_view word, std::string_view rest);
    void push_stretch(std::size_t offset);
    void read_tokens();
    [[nodiscard]] bool is_definition(std::size_t index) const;

    const SourceFile& source_;
    Lines lines_;
    canopy_cc::Tokens tokens_;
    std::vector<MacroBody> macros_;
    std::vector<Include> includes_;
    std::vector<Level> levels_;
    std::vector<Stretch> stretches_;
    std::unordered_set<std::string> defined_;
    bool opens_language_namespace_ = false;
    bool uses_language_namespace_ = false;
    bool has_kernel_code_ = false;
};

}  // namespace canopy_tool
