// SPDX-License-Identifier: Apache-2.0
// Checks of Python programs and JSON files.
#include <fmt/core.h>

#include "checks.h"
#include "python_file.h"

namespace canopy_tool {
namespace {

using Kind = PythonToken::Kind;

class PythonCheck {
public:
    PythonCheck(const Examination& examination, const SourceFile& source)
        : examination_(examination), source_(source), tokens_(read_python(source.text)) {}

    void run() {
        for (std::size_t index = 0; index < tokens_.size(); ++index) {
            const PythonToken& token = tokens_[index];
            if (token.kind == Kind::text) check_path(examination_, token.text, source_, token.line);
            if (token.kind != Kind::name) continue;
            const bool begins_line = index == 0 || tokens_[index - 1].kind == Kind::new_line;
            if (begins_line && token.text == "import") check_imports(index + 1);
            if (begins_line && token.text == "from") check_module(index + 1);
            if (token.text == "acl" && imports_acl_ && !is(index - 1, ".")) check_function(index);
        }
    }

private:
    [[nodiscard]] bool is(std::size_t index, std::string_view text) const {
        return index < tokens_.size() && tokens_[index].text == text;
    }

    // import a, b as c
    void check_imports(std::size_t index) {
        for (; index < tokens_.size() && tokens_[index].kind != Kind::new_line; ++index)
            if (tokens_[index].kind == Kind::name && (is(index - 1, "import") || is(index - 1, ",")))
                check_module(index);
    }

    void check_module(std::size_t index) {
        if (index >= tokens_.size() || tokens_[index].kind != Kind::name) return;
        const std::string& name = tokens_[index].text;
        if (name == "acl") imports_acl_ = true;
        const Rule* rule = examination_.tree.rule("module", name);
        if (rule == nullptr || examination_.program.has_file(name + ".py")) return;
        examination_.findings.add(finding_of(*rule, name, source_.path, tokens_[index].line));
    }

    // acl.rt.malloc(...)
    void check_function(std::size_t index) {
        std::string dotted = "acl";
        const unsigned line = tokens_[index].line;
        while (is(index + 1, ".") && index + 2 < tokens_.size() && tokens_[index + 2].kind == Kind::name) {
            index += 2;
            dotted += "." + tokens_[index].text;
        }
        if (!is(index + 1, "(")) return;
        const std::string function = examination_.tree.function_of_module(dotted);
        const std::string sentence = examination_.tree.unavailable(function);
        Finding finding{.file = source_.path, .line = line, .name = dotted};
        if (examination_.tree.function(function) == FunctionState::not_yet) {
            finding.level = Level::warning;
            finding.text = fmt::format("{} is not implemented yet: it returns 207000 or an empty value", dotted);
            finding.advice = not_implemented_advice;
        } else if (const Rule* rule = examination_.tree.rule("function", function); !sentence.empty()) {
            finding.group = sentence;
            finding.text = fmt::format("{}: {}", dotted, sentence);
            finding.advice = rule != nullptr ? rule->advice : unavailable_advice;
        } else {
            return;
        }
        examination_.findings.add(std::move(finding));
    }

    const Examination& examination_;
    const SourceFile& source_;
    std::vector<PythonToken> tokens_;
    bool imports_acl_ = false;
};

}  // namespace

void check_python(const Examination& examination) {
    for (const SourceFile& source : examination.program.sources().files)
        if (source.kind == SourceKind::python) PythonCheck(examination, source).run();
}

void check_json(const Examination& examination) {
    for (const SourceFile& source : examination.program.sources().files) {
        if (source.kind != SourceKind::json) continue;
        const Lines lines(source.text);
        const canopy_cc::Tokens tokens(source.text);
        std::string key;
        for (std::size_t index = 0; index < tokens.size(); ++index) {
            if (tokens[index].kind != canopy_cc::TokenKind::text) continue;
            const std::string_view spelled = tokens.spelling(index);
            const std::string text(spelled.substr(1, spelled.size() - std::min<std::size_t>(spelled.size(), 2)));
            const unsigned line = lines.line(tokens[index].begin);
            if (tokens.is(index + 1, ":")) {
                key = text;
                continue;
            }
            check_path(examination, text, source, line);
            check_chip(examination, key, text, source, line, {});
        }
    }
}

}  // namespace canopy_tool
