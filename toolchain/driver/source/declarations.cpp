// SPDX-License-Identifier: Apache-2.0
// Walks over the declarations of a source.
#include "source/declarations.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "source/cores.h"

namespace canopy_cc {
namespace {

// A declaration at namespace scope.
struct Declaration {
    TokenRange tokens;  // without the body
    std::optional<TokenRange> body;
};

class Walk {
public:
    Walk(const Tokens& tokens, const LanguageChoices& choices, const std::vector<std::string_view>& threaded)
        : tokens_(tokens), choices_(choices), threaded_(threaded) {}

    Declarations run() {
        std::size_t index = 0, start = 0;
        while (index < tokens_.size()) {
            const std::string_view text = tokens_.spelling(index);
            if (text == ";") {
                take({{start, index}, std::nullopt});
                start = ++index;
            } else if (text == "{") {
                index = open_brace(start, index);
            } else if (text == "}") {
                if (!scopes_.empty()) scopes_.pop_back();
                start = ++index;
            } else if (text == "(" || text == "[") {
                index = behind(index);
            } else if (text == "<" && index > start && tokens_.is(index - 1, "template")) {
                const std::size_t next = skip_angles(tokens_, index, tokens_.size());
                index = next == index ? index + 1 : next;
            } else {
                ++index;
            }
        }
        for (const Pending& pending : pending_) finish_kernel(pending);
        return std::move(found_);
    }

private:
    struct Scope {
        std::string name;  // empty: extern "C"
        bool unnamed = false;
        bool c_linkage = false;
    };
    struct Pending {
        Declaration declaration;
        KernelSource kernel;
        bool chosen = false;  // a qualifier chooses the cores
        bool bounds = false;
    };

    std::size_t behind(std::size_t bracket) const {
        return std::min<std::size_t>(tokens_.partner(bracket), tokens_.size() - 1) + 1;
    }

    // Handles a brace at namespace scope. `start` moves past it when a declaration ends there.
    std::size_t open_brace(std::size_t& start, std::size_t index) {
        if (open_scope(start, index)) {
            start = index + 1;
            return index + 1;
        }
        const std::size_t next = behind(index);
        if (!is_function_body(start, index)) return next;
        take({{start, index}, TokenRange{index, next}});
        start = next;
        return next;
    }

    bool open_scope(std::size_t start, std::size_t brace) {
        std::size_t at = start;
        if (tokens_.is(at, "inline")) ++at;
        if (tokens_.is(at, "extern") && at + 2 == brace && tokens_[at + 1].kind == TokenKind::text) {
            scopes_.push_back({"", false, tokens_.is(at + 1, "\"C\"")});
            return true;
        }
        if (!tokens_.is(at, "namespace")) return false;
        std::string name;
        for (++at; at < brace; ++at) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "[" || text == "(") {
                at = behind(at) - 1;
            } else if (text == "::") {
                name_parts_.push_back(name);
                name.clear();
            } else if (text != "inline" && text != "__attribute__") {
                name = text;
            }
        }
        // namespace a::b is one brace with two names.
        std::string whole;
        for (const std::string& part : name_parts_) whole += part + "::";
        name_parts_.clear();
        whole += name;
        const bool unnamed = whole.empty();
        scopes_.push_back({std::move(whole), unnamed, false});
        return true;
    }

    // True if the brace opens a function body rather than a class, an enumeration or an initialiser.
    bool is_function_body(std::size_t start, std::size_t brace) const {
        bool parameters = false, initialised = false, colon = false;
        for (std::size_t at = start; at < brace;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "template" && tokens_.is(at + 1, "<")) {
                at = std::max(skip_angles(tokens_, at + 1, brace), at + 2);
                continue;
            }
            if (text == "(") {
                const bool attribute =
                    at > start && is_any(tokens_.spelling(at - 1), {"__attribute__", "alignas", "__declspec"});
                if (!attribute && !is_qualifier_argument(start, at)) parameters = true;
                at = behind(at);
                continue;
            }
            if (text == "[" || text == "{") {
                at = behind(at);
                continue;
            }
            if (text == "=" && !tokens_.is(at - 1, "operator")) initialised = true;
            if (text == ":" && parameters) colon = true;
            ++at;
        }
        if (!parameters || initialised) return false;
        // A member initialised with braces: "A() : member{1} {}".
        return !colon || is_any(tokens_.spelling(brace - 1), {")", "}"});
    }

    bool is_qualifier_argument(std::size_t start, std::size_t open) const {
        return open > start && qualifier_at(tokens_, open - 1).length > 1;
    }

    void take(const Declaration& declaration) {
        bool global = false, device = false;
        for (std::size_t at = declaration.tokens.begin; at < declaration.tokens.end; ++at) {
            if (const Qualifier qualifier = qualifier_at(tokens_, at); qualifier.length != 0) {
                global |= qualifier.word == "__global__";
                device |= qualifier.word == "__gm__";
                at += qualifier.length - 1;
            } else if (is_open(at)) {
                at = behind(at) - 1;
            }
        }
        if (declaration.tokens.begin < declaration.tokens.end && !tokens_.is_system(declaration.tokens.begin))
            index_.add(tokens_, declaration.tokens, declaration.body.value_or(TokenRange{}));
        if (global)
            take_kernel(declaration);
        else if (device && !declaration.body)
            take_variable(declaration.tokens);
    }

    // The opening parenthesis of the parameters; the end of the declaration if there are none.
    std::size_t find_parameters(const TokenRange& range) const {
        for (std::size_t at = range.begin; at < range.end;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "template" && tokens_.is(at + 1, "<")) {
                at = std::max(skip_angles(tokens_, at + 1, range.end), at + 2);
            } else if (text == "(") {
                const std::string_view before = at == range.begin ? "" : tokens_.spelling(at - 1);
                const bool named = at > range.begin && (tokens_.is_identifier(at - 1) || before == ">");
                const bool attribute = is_any(before, {"__attribute__", "alignas", "__declspec", "decltype"});
                if (named && !attribute && !is_qualifier_argument(range.begin, at)) return at;
                at = behind(at);
            } else if (text == "[" || text == "{") {
                at = behind(at);
            } else {
                ++at;
            }
        }
        return range.end;
    }

    // From the parenthesis back over "scope::name<int>".
    TokenRange find_name(std::size_t begin, std::size_t open) const {
        std::size_t at = open - 1;
        if (tokens_.is(at, ">")) {
            int depth = 0;
            for (; at > begin; --at) {
                if (tokens_.is(at, ">")) ++depth;
                if (tokens_.is(at, "<") && --depth == 0) break;
            }
            if (at > begin) --at;
        }
        while (at >= begin + 2 && tokens_.is(at - 1, "::") && tokens_.is_identifier(at - 2)) at -= 2;
        return {at, open};
    }

    void take_kernel(const Declaration& declaration) {
        const std::size_t open = find_parameters(declaration.tokens);
        if (open == declaration.tokens.end || !declaration.body) return;
        Pending pending;
        pending.declaration = declaration;
        KernelSource& kernel = pending.kernel;
        kernel.name = find_name(declaration.tokens.begin, open);
        kernel.place = tokens_.place(tokens_[kernel.name.begin].begin);
        kernel.body = *declaration.body;
        if (!read_head({declaration.tokens.begin, kernel.name.begin}, pending)) return;
        if (tokens_.partner(open) >= declaration.tokens.end)
            return problem(kernel, fmt::format("the parameters of kernel '{}' have no end", name_of(kernel)));
        if (tokens_.partner(kernel.body.begin) == tokens_.size())
            return problem(kernel, fmt::format("the body of kernel '{}' has no end", name_of(kernel)));
        kernel.parameters = names({open + 1, tokens_.partner(open)}, "canopy_parameter_", false);
        check_parameters({open + 1, tokens_.partner(open)}, kernel);
        pending_.push_back(std::move(pending));
    }

    // Reads the qualifiers before the name. False: not a kernel.
    bool read_head(const TokenRange& range, Pending& pending) {
        KernelSource& kernel = pending.kernel;
        std::vector<std::string_view> type;
        for (std::size_t at = range.begin; at < range.end;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "__aicpu__") return false;
            if (text == "template" && tokens_.is(at + 1, "<")) {
                const std::size_t next = std::max(skip_angles(tokens_, at + 1, range.end), at + 2);
                if (next > at + 3) {
                    kernel.is_template = true;
                    kernel.template_parameters = names({at + 2, next - 1}, "canopy_argument_", true);
                }
                at = next;
                continue;
            }
            if (const Qualifier qualifier = qualifier_at(tokens_, at); qualifier.length != 0) {
                read_qualifier(qualifier.word, at, pending);
                at += qualifier.length;
                continue;
            }
            if (text == "__attribute__" || text == "[" || text == "alignas") {
                at = behind(text == "[" ? at : at + 1);
                continue;
            }
            if (tokens_[at].kind != TokenKind::text &&
                !is_any(text, {"extern", "static", "inline", "__inline__", "__inline", "constexpr", "__noinline__"}))
                type.push_back(text);
            ++at;
        }
        const bool nothing = type.size() == 1 && (type[0] == "void" || type[0] == "auto");
        if (!nothing) problem(kernel, fmt::format("kernel '{}' must return void", name_of(kernel)));
        return true;
    }

    void read_qualifier(std::string_view text, std::size_t at, Pending& pending) {
        KernelSource& kernel = pending.kernel;
        const auto choose = [&](Cores cores) {
            if (pending.chosen && cores.type != kernel.cores.type)
                problem(kernel, fmt::format("kernel '{}' has two qualifiers for its cores", name_of(kernel)));
            kernel.cores = cores;
            pending.chosen = true;
        };
        if (text == "__vector__") choose({CANOPY_CORE_VECTOR, 0, 1});
        if (text == "__cube__") choose({CANOPY_CORE_CUBE, 1, 0});
        if (text == "__aicore__") aicore_.push_back(kernel.name.begin);
        if (text == "__launch_bounds__") pending.bounds = true;
        if (text == "__mix__") {
            const auto number = [&](std::size_t index) { return tokens_.spelling(index); };
            const std::string_view first = number(at + 2), second = number(at + 4);
            const bool known = tokens_.is(at + 3, ",") && tokens_.is(at + 5, ")") &&
                               ((first == "0" && second == "1") || (first == "1" && is_any(second, {"0", "1", "2"})));
            if (known)
                choose({CANOPY_CORE_MIX, first[0] - '0', second[0] - '0'});
            else
                problem(kernel, "__mix__ takes (1,0), (0,1), (1,1) or (1,2)");
        }
        if (text == "__schedmode__") {
            const std::string_view mode = tokens_.spelling(at + 2);
            if (tokens_.is(at + 3, ")") && is_any(mode, {"0", "1"}))
                kernel.schedule_mode = mode[0] - '0';
            else
                problem(kernel, "__schedmode__ takes 0 or 1");
        }
    }

    // The names in the parameter list of a function or a template.
    std::vector<ParameterName> names(const TokenRange& list, std::string_view made, bool in_template) const {
        std::vector<ParameterName> result;
        std::size_t begin = list.begin;
        for (std::size_t at = list.begin; at <= list.end;) {
            if (at == list.end || tokens_.is(at, ",")) {
                const bool alone = begin + 1 == at && tokens_.is(begin, "void");
                if (at > begin && !alone)
                    result.push_back(name({begin, at}, fmt::format("{}{}", made, result.size()), in_template));
                begin = ++at;
            } else if (is_any(tokens_.spelling(at), {"(", "[", "{"})) {
                at = behind(at);
            } else if (tokens_.is(at, "<") && at > begin) {
                at = std::max(skip_angles(tokens_, at, list.end), at + 1);
            } else {
                ++at;
            }
        }
        return result;
    }

    ParameterName name(const TokenRange& range, const std::string& made, bool in_template) const {
        std::size_t end = range.begin, last = range.end, words = 0;
        ParameterName result;
        for (std::size_t at = range.begin; at < range.end;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "=" || (text == "[" && !tokens_.is(at + 1, "["))) break;
            if (text == "...") result.pack = true;
            if (const std::size_t length = qualifier_at(tokens_, at).length; length != 0) {
                at += length;
                end = at;
                continue;
            }
            const bool ignored = is_any(text, {"const", "volatile", "__restrict", "__restrict__", "restrict"});
            if (!ignored) {
                last = at;
                ++words;
            }
            if (text == "<")
                at = std::max(skip_angles(tokens_, at, range.end), at + 1);
            else
                at = is_any(text, {"(", "[", "{"}) ? behind(at) : at + 1;
            end = at;
        }
        const std::string_view before = last > range.begin && last < range.end ? tokens_.spelling(last - 1) : "";
        // In a template parameter list "class T" is a name; in a function parameter list "struct T" is a type.
        const bool named = words >= 2 && last < range.end && last + 1 == end && tokens_.is_identifier(last) &&
                           !is_type_word(tokens_.spelling(last)) &&
                           !is_any(before, {"::", "struct", "enum", "union"}) && (in_template || before != "class");
        if (named)
            result.name = tokens_.spelling(last);
        else {
            result.name = made;
            result.insert_at = tokens_[end - 1].end;
        }
        return result;
    }

    static bool is_type_word(std::string_view text) {
        return is_any(text, {"int", "char", "short", "long", "unsigned", "signed", "float", "double", "bool", "void",
                             "auto", "typename", "class", "_Float16", "__bf16", "wchar_t", "char16_t", "char32_t"});
    }

    void check_parameters(const TokenRange& list, KernelSource& kernel) {
        std::size_t number = 1;
        for (std::size_t at = list.begin; at < list.end;) {
            const std::string_view text = tokens_.spelling(at);
            if (text == ",") ++number;
            if (text == "&" || text == "&&")
                problem(tokens_.place(tokens_[at].begin),
                        fmt::format("parameter {} of kernel '{}' is a reference; a kernel takes pointers, numbers and "
                                    "plain structures by value",
                                    number, name_of(kernel)));
            if (text == "..." && (at == list.begin || tokens_.is(at - 1, ",")))
                problem(kernel, fmt::format("kernel '{}' has a variable number of parameters", name_of(kernel)));
            if (text == "<" && at > list.begin)
                at = std::max(skip_angles(tokens_, at, list.end), at + 1);
            else if (text == "=")
                while (at < list.end && !tokens_.is(at, ",")) at = is_open(at) ? behind(at) : at + 1;
            else
                at = is_open(at) ? behind(at) : at + 1;
        }
    }

    bool is_open(std::size_t at) const { return is_any(tokens_.spelling(at), {"(", "[", "{"}); }

    // Called once everything is indexed: determines the cores that no qualifier chose, and threads.
    void finish_kernel(const Pending& pending) {
        KernelSource kernel = pending.kernel;
        const std::string_view name = tokens_.spelling(kernel.name.begin);
        const bool aicore = std::find(aicore_.begin(), aicore_.end(), kernel.name.begin) != aicore_.end();
        CoreUse use = index_.examine(tokens_, kernel.body);
        if (use.names.none() && makes_object_of_parameter(kernel)) use.names = index_.examine_all(tokens_);
        if (!use.problem.empty()) problem(use.problem_place, use.problem);
        kernel.threads = std::find(threaded_.begin(), threaded_.end(), name) != threaded_.end() ||
                         (!pending.chosen && !aicore && (choices_.simt || pending.bounds || use.threads));
        if (!pending.chosen && use.declared)
            kernel.cores = *use.declared;
        else if (!pending.chosen)
            kernel.cores = choices_.cores ? *choices_.cores : inferred(kernel, use.names);
        if (choices_.cores && choices_.cores->type != kernel.cores.type)
            found_.warnings.push_back(located(
                kernel.place,
                fmt::format("kernel '{}' declares its core type, so the core type on the command line has no effect",
                            name_of(kernel)),
                "warning"));
        kernel.cores = cores_on(choices_.architecture, kernel.cores);
        found_.kernels.push_back(std::move(kernel));
    }

    // True if a template argument's class does the kernel's work: `Kernel op; op(params);`. The kernel does not show
    // which class that is.
    bool makes_object_of_parameter(const KernelSource& kernel) const {
        for (std::size_t at = kernel.body.begin; at + 2 < kernel.body.end; ++at)
            for (const ParameterName& parameter : kernel.template_parameters)
                if (tokens_.spelling(at) == parameter.name && tokens_.is_identifier(at + 1) &&
                    is_any(tokens_.spelling(at + 2), {";", "(", "{"}))
                    return true;
        return false;
    }

    Cores inferred(const KernelSource& kernel, NamesUsed names) {
        const Place& at = kernel.place;
        const std::string place = fmt::format("{}:{}:{}", at.file, at.line, at.column);
        if (const auto also = choices_.also_used.find(place); also != choices_.also_used.end()) names.add(also->second);
        found_.inferred[place].add(names);
        return inferred_cores(names);
    }

    void take_variable(const TokenRange& range) {
        std::size_t at = range.begin, last = range.end;
        for (; at < range.end; ++at) {
            const std::string_view text = tokens_.spelling(at);
            if (text == "extern" || text == "typedef" || text == "using" || text == "template" || text == "(") return;
            if (text == "=" || text == "[" || text == "{") break;
            if (text == "<") {
                at = std::max(skip_angles(tokens_, at, range.end), at + 1) - 1;
                continue;
            }
            if (tokens_.is_identifier(at)) last = at;
        }
        if (last == range.end) return;
        VariableSource variable;
        const std::string name(tokens_.spelling(last));
        variable.begin = tokens_[range.begin].begin;
        variable.qualified_name = "::" + scope_path() + name;
        mangle(range, name, variable);
        found_.variables.push_back(std::move(variable));
    }

    std::string scope_path() const {
        std::string path;
        for (const Scope& scope : scopes_)
            if (!scope.name.empty()) path += scope.name + "::";
        return path;
    }

    void mangle(const TokenRange& range, const std::string& name, VariableSource& variable) const {
        bool internal = false, pointer = false, constant = false, c_linkage = false;
        for (std::size_t at = range.begin; at < range.end && !tokens_.is(at, "="); ++at) {
            internal |= tokens_.is(at, "static");
            pointer |= tokens_.is(at, "*");
            constant |= tokens_.is(at, "const") || tokens_.is(at, "constexpr");
        }
        std::string parts;
        bool unnamed = false;
        for (const Scope& scope : scopes_) {
            c_linkage |= scope.c_linkage;
            unnamed |= scope.unnamed;
            if (scope.unnamed) parts += "12_GLOBAL__N_1";
            std::string_view rest = scope.name;
            while (!rest.empty()) {
                const std::size_t colon = rest.find("::");
                const std::string_view part = rest.substr(0, colon);
                parts += fmt::format("{}{}", part.size(), part);
                rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 2);
            }
        }
        internal |= constant && !pointer;
        variable.internal = internal || unnamed;
        const std::string last = fmt::format("{}{}{}", internal && !unnamed ? "L" : "", name.size(), name);
        if (c_linkage)
            variable.symbol = name;
        else if (!parts.empty())
            variable.symbol = fmt::format("_ZN{}{}E", parts, last);
        else
            variable.symbol = internal ? "_Z" + last : name;
    }

    std::string name_of(const KernelSource& kernel) const { return std::string(tokens_.spelling(kernel.name.begin)); }
    void problem(const Place& place, std::string_view text) { found_.problems.push_back(located(place, text)); }
    void problem(const KernelSource& kernel, std::string_view text) { problem(kernel.place, text); }

    const Tokens& tokens_;
    const LanguageChoices& choices_;
    const std::vector<std::string_view>& threaded_;
    std::vector<Scope> scopes_;
    std::vector<std::string> name_parts_;
    std::vector<Pending> pending_;
    std::vector<std::size_t> aicore_;
    DefinitionIndex index_;
    Declarations found_;
};

}  // namespace

Declarations find_declarations(const Tokens& tokens, const LanguageChoices& choices,
                               const std::vector<std::string_view>& threaded) {
    return Walk(tokens, choices, threaded).run();
}

}  // namespace canopy_cc
