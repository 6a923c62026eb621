// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "checks.h"

namespace canopy_tool {
namespace {

bool is_any(std::string_view text, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

// The text between the quotes.
std::string literal(std::string_view spelled) {
    const std::size_t begin = spelled.find('"');
    const std::size_t end = spelled.rfind('"');
    return begin == std::string_view::npos || end <= begin ? ""
                                                           : std::string(spelled.substr(begin + 1, end - begin - 1));
}

class CodeCheck {
public:
    CodeCheck(const Examination& examination, const CodeUnit& unit)
        : examination_(examination), tree_(examination.tree), program_(examination.program), unit_(unit) {}

    void run() {
        for (const Include& include : unit_.file.includes()) check_include(include);
        check_tokens(unit_.file.tokens(), 0);
        for (const MacroBody& macro : unit_.file.macros()) check_tokens(macro.tokens, macro.offset);
        if (unit_.is_kernel) check_assembly();
    }

private:
    void report(Finding finding, std::size_t offset) {
        const Stretch& stretch = unit_.file.stretch(offset);
        if (stretch.dead) return;
        finding.file = unit_.file.path();
        finding.line = unit_.file.line(offset);
        finding.condition = stretch.condition;
        examination_.findings.add(std::move(finding));
    }

    void report(const MissingName& row, std::size_t offset) {
        const char* what = row.kind == "namespace" ? "the namespace " : "";
        report({.level = Level::error,
                .name = row.name,
                .text = fmt::format("{}{} is not supported by Canopy yet", what, row.name),
                .advice = row.advice},
               offset);
    }

    void check_include(const Include& include) {
        std::error_code error;
        if (program_.has_header(include.name) || tree_.has_header(include.name)) return;
        for (const char* folder : {"/usr/include", "/usr/local/include"})
            if (std::filesystem::exists(std::filesystem::path(folder) / include.name, error)) return;
        if (const MissingName* row = tree_.missing_header(include.name); row != nullptr) {
            // Packages that any Python package manager installs depend on the machine.
            const bool is_foreign = row->name == "torch/";
            report({.level = is_foreign ? Level::hint : Level::error,
                    .name = include.name,
                    .text = fmt::format("the header {} is not part of Canopy", include.name),
                    .advice = row->advice},
                   include.offset);
        } else if (const Rule* rule = tree_.rule("header", include.name); rule != nullptr) {
            report(finding_of(*rule, include.name, {}, 0), include.offset);
        }
    }

    // Checks the names in a text; `base` is the offset of its first byte in the file.
    void check_tokens(const canopy_cc::Tokens& tokens, std::size_t base) {
        for (std::size_t index = 0; index < tokens.size(); ++index) {
            const std::size_t offset = base + tokens[index].begin;
            if (tokens[index].kind == canopy_cc::TokenKind::text)
                check_literal(literal(tokens.spelling(index)), offset);
            if (!tokens.is_identifier(index)) continue;
            std::vector<std::string> path{std::string(tokens.spelling(index))};
            const std::size_t first = index;
            while (tokens.is(index + 1, "::") && tokens.is_identifier(index + 2)) {
                index += 2;
                path.emplace_back(tokens.spelling(index));
            }
            if (first > 0 && is_any(tokens.spelling(first - 1), {".", "->"})) continue;
            // A `::` after `>` follows a template, whose members are not checked.
            const bool after_template = first > 1 && tokens.is(first - 1, "::") && tokens.is(first - 2, ">");
            if (!after_template) check_name(path, tokens, index + 1, offset);
        }
    }

    void check_literal(const std::string& text, std::size_t offset) {
        const Stretch& stretch = unit_.file.stretch(offset);
        if (!stretch.dead)
            check_path(examination_, text, unit_.file.source(), unit_.file.line(offset), stretch.condition);
    }

    void check_name(const std::vector<std::string>& path, const canopy_cc::Tokens& tokens, std::size_t next,
                    std::size_t offset) {
        if (path[0] == "AscendC") {
            check_language_name(path, offset);
        } else if (!program_.defines(path[0])) {
            if (path.size() == 1) check_plain_name(path[0], tokens, next, offset);
            if (path.size() > 1) check_language_name(path, offset);
            if (path.size() > 1 && unit_.sees_language) {
                std::vector<std::string> whole{"AscendC"};
                whole.insert(whole.end(), path.begin(), path.end());
                check_language_name(whole, offset);
            }
        }
    }

    // Reports the shortest missing prefix of AscendC::A::B, which says most.
    void check_language_name(const std::vector<std::string>& path, std::size_t offset) {
        std::string name;
        for (const std::string& part : path) {
            name += (name.empty() ? "" : "::") + part;
            const MissingName* row = tree_.missing_name(name);
            if (row == nullptr || row->kind == "method" || program_.extends_language(part)) continue;
            report(*row, offset);
            return;
        }
    }

    void check_plain_name(const std::string& name, const canopy_cc::Tokens& tokens, std::size_t next,
                          std::size_t offset) {
        const MissingName* row = nullptr;
        if (unit_.is_kernel || unit_.sees_language) row = tree_.missing_name(name);
        if (row == nullptr && unit_.sees_language) row = tree_.missing_name("AscendC::" + name);
        if (row != nullptr && used_as(row->kind, tokens, next)) report(*row, offset);
        if (row == nullptr) check_function(name, offset);
    }

    // True if the token after the name fits its kind.
    static bool used_as(const std::string& kind, const canopy_cc::Tokens& tokens, std::size_t next) {
        const std::string_view behind = tokens.spelling(next);
        if (kind == "func" || kind == "intrinsic") return behind == "(" || behind == "<";
        if (is_any(kind, {"class", "alias", "type", "enum"}))
            return tokens.is_identifier(next) || is_any(behind, {"<", "{", "*", "&", "::", ">"});
        return is_any(kind, {"macro", "keyword"});
    }

    // The calls of an operator that the program defines as a class are generated when it is built.
    [[nodiscard]] bool calls_own_operator(const std::string& name) const {
        constexpr std::string_view prefix = "aclnn", suffix = "GetWorkspaceSize";
        if (name.compare(0, prefix.size(), prefix) != 0) return false;
        std::string operation = name.substr(prefix.size());
        const std::size_t end = operation.size() - std::min(operation.size(), suffix.size());
        if (operation.compare(end, suffix.size(), suffix) == 0) operation.resize(end);
        return program_.defines(operation);
    }

    // Functions of the runtime interface and of related interfaces.
    void check_function(const std::string& name, std::size_t offset) {
        if (calls_own_operator(name)) return;
        const FunctionState state = tree_.function(name);
        if (state == FunctionState::not_yet) {
            report({.level = Level::warning,
                    .name = name,
                    .text = fmt::format("{} is not implemented yet: it returns 207000 or an empty value", name),
                    .advice = not_implemented_advice},
                   offset);
            return;
        }
        const Rule* rule = tree_.rule("function", name);
        if (const std::string sentence = tree_.unavailable(name); !sentence.empty()) {
            report({.level = Level::error,
                    .name = name,
                    .group = sentence,
                    .text = fmt::format("{}: {}", name, sentence),
                    .advice = rule != nullptr ? rule->advice : unavailable_advice},
                   offset);
        } else if (rule != nullptr && state == FunctionState::unknown && !tree_.mentions(name)) {
            report(finding_of(*rule, name, {}, 0), offset);
        }
    }

    // Assembly in functions for the device, other than the trap that kernels use to stop.
    void check_assembly() {
        const canopy_cc::Tokens& tokens = unit_.file.tokens();
        std::vector<bool> blocks;  // for the device
        bool device = false;
        for (std::size_t index = 0; index < tokens.size(); ++index) {
            const std::string_view word = tokens.spelling(index);
            if (is_any(word, {"__aicore__", "aicore", "__global__", "__simd_vf__", "__simt_vf__"})) {
                device = true;
            } else if (word == "{") {
                blocks.push_back(device || (!blocks.empty() && blocks.back()));
                device = false;
            } else if (word == "}") {
                if (!blocks.empty()) blocks.pop_back();
                device = false;
            } else if (word == ";") {
                device = false;
            } else if (is_any(word, {"asm", "__asm__", "__asm"}) && !blocks.empty() && blocks.back()) {
                check_assembly_at(index);
            }
        }
    }

    void check_assembly_at(std::size_t index) {
        const canopy_cc::Tokens& tokens = unit_.file.tokens();
        std::size_t text = index + 1;
        while (is_any(tokens.spelling(text), {"volatile", "__volatile__", "("})) ++text;
        const std::string code = literal(tokens.spelling(text));
        if (code.empty() || code.compare(0, 4, "trap") == 0) return;
        report({.level = Level::error,
                .name = "asm",
                .text = "inline assembly for the chip is not supported: kernels run on the CPU",
                .advice = "write it in Ascend C; only asm(\"trap\") is supported"},
               tokens[index].begin);
    }

    const Examination& examination_;
    const InstallTree& tree_;
    const Program& program_;
    const CodeUnit& unit_;
};

}  // namespace

void check_code(const Examination& examination) {
    for (const auto& unit : examination.program.code()) CodeCheck(examination, *unit).run();
}

}  // namespace canopy_tool
