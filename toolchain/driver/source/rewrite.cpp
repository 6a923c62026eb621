// SPDX-License-Identifier: Apache-2.0
#include "source/rewrite.h"

#include <canopy/launch.h>
#include <fmt/core.h>

#include <algorithm>

#include "source/local_variables.h"

namespace canopy_cc {
namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter;
    }
    return result;
}

// A part of the text to be rewritten. Changes may be nested inside a launch.
struct Change {
    enum Kind { blank, replace, launch };
    std::size_t begin = 0, end = 0;
    Kind kind = blank;
    std::string text;
    const LaunchSource* source = nullptr;
};

// Applies changes. After each one, a line marker and spaces restore the original position of the text that follows.
class Renderer {
public:
    Renderer(const Tokens& tokens, std::vector<Change> changes) : tokens_(tokens), changes_(std::move(changes)) {
        std::stable_sort(changes_.begin(), changes_.end(), [](const Change& left, const Change& right) {
            if (left.begin != right.begin) return left.begin < right.begin;
            const bool inserts = left.begin == left.end, also = right.begin == right.end;
            return inserts != also ? inserts : left.end > right.end;
        });
    }

    std::string run() {
        output_.reserve(tokens_.text().size() + tokens_.text().size() / 8);
        render(0, tokens_.text().size());
        return std::move(output_);
    }

private:
    void render(std::size_t begin, std::size_t end) {
        auto change = std::lower_bound(changes_.begin(), changes_.end(), begin,
                                       [](const Change& one, std::size_t offset) { return one.begin < offset; });
        std::size_t at = begin;
        for (; change != changes_.end() && change->begin < end; ++change) {
            if (change->begin < at || change->end > end || &*change == active_) continue;
            copy(at, change->begin);
            apply(*change);
            at = change->end;
        }
        copy(at, end);
    }

    void apply(const Change& change) {
        switch (change.kind) {
            case Change::blank:
                for (std::size_t at = change.begin; at < change.end; ++at)
                    output_ += tokens_.text()[at] == '\n' ? '\n' : ' ';
                return;
            case Change::replace:
                output_ += change.text;
                return move_to(change.end);
            case Change::launch:
                return apply_launch(change);
        }
    }

    // callee<<<configuration>>>(arguments) becomes Launch(configuration).run(((void)callee(arguments), 0)).
    void apply_launch(const Change& change) {
        const LaunchSource& launch = *change.source;
        const auto* outer = active_;
        active_ = &change;
        output_ += "::canopy::launch::Launch(";
        part(launch.configuration);
        output_ += ").run(((void)";
        part(launch.callee);
        part(launch.arguments);
        output_ += ",0))";
        active_ = outer;
        move_to(change.end);
    }

    void part(const TokenRange& range) {
        const std::size_t begin = tokens_[range.begin].begin;
        move_to(begin);
        render(begin, tokens_[range.end - 1].end);
    }

    void copy(std::size_t begin, std::size_t end) { output_ += tokens_.text().substr(begin, end - begin); }

    void move_to(std::size_t offset) {
        const Place place = tokens_.place(offset);
        output_ += fmt::format("\n# {} \"{}\"{}\n", place.line, escaped(place.file), place.system ? " 3" : "");
        output_.append(std::min<std::size_t>(place.column - 1, 4096), ' ');
    }

    const Tokens& tokens_;
    std::vector<Change> changes_;
    const Change* active_ = nullptr;
    std::string output_;
};

class Rewriter {
public:
    Rewriter(const Tokens& tokens, const RewriteJob& job, const std::vector<LaunchSource>& launches,
             const Declarations& declarations)
        : tokens_(tokens), job_(job), launches_(launches), declarations_(declarations) {}

    std::string host() {
        auto changes = shared_changes();
        // The closing brace stays on its line: a debugger with a breakpoint on a kernel line stops there, after the
        // launch, if the image was not loaded yet, and has found the image by then.
        for (const KernelSource& kernel : declarations_.kernels)
            changes.push_back({tokens_[kernel.body.begin].begin, tokens_[kernel.body.end - 1].begin, Change::replace,
                               "{" + host_stub(kernel), nullptr});
        return Renderer(tokens_, std::move(changes)).run() + host_end();
    }

    std::string device() {
        auto changes = shared_changes();
        for (const KernelSource& kernel : declarations_.kernels) {
            const std::size_t inside = tokens_[kernel.body.begin].end;
            changes.push_back({inside, inside, Change::replace, record(kernel) + workspace(kernel), nullptr});
            // Emit the kernel although nothing in the image calls it.
            const std::size_t before = head_of(kernel);
            changes.push_back({before, before, Change::replace, "__attribute__((used)) ", nullptr});
        }
        for (const VariableSource& variable : declarations_.variables)
            changes.push_back(
                {variable.begin, variable.begin, Change::replace,
                 variable.internal ? "__attribute__((used, retain)) " : "__attribute__((used, retain, weak)) ",
                 nullptr});
        return Renderer(tokens_, std::move(changes)).run() + device_end();
    }

private:
    std::vector<Change> shared_changes() const {
        std::vector<Change> changes;
        for (std::size_t at = 0; at < tokens_.size(); ++at)
            if (const std::size_t length = qualifier_at(tokens_, at).length; length != 0) {
                changes.push_back({tokens_[at].begin, tokens_[at + length - 1].end, Change::blank, {}, nullptr});
                at += length - 1;
            }
        for (const LaunchSource& launch : launches_)
            changes.push_back({tokens_[launch.callee.begin].begin,
                               tokens_[launch.arguments.end - 1].end,
                               Change::launch,
                               {},
                               &launch});
        add_local_variables(changes);
        for (const KernelSource& kernel : declarations_.kernels)
            for (const auto* list : {&kernel.parameters, &kernel.template_parameters})
                for (const ParameterName& parameter : *list)
                    if (parameter.insert_at != 0)
                        changes.push_back(
                            {parameter.insert_at, parameter.insert_at, Change::replace, " " + parameter.name, nullptr});
        return changes;
    }

    // `T name[size];` becomes `T (&name)[size] = LocalVariable<n>();` and `extern T name[];` `T* name =
    // DynamicMemory();`.
    void add_local_variables(std::vector<Change>& changes) const {
        int number = 0;
        for (const LocalVariable& variable : find_local_variables(tokens_)) {
            const Token &name = tokens_[variable.name], &end = tokens_[variable.semicolon];
            const std::size_t bracket = variable.name + 1;
            if (variable.external != 0 && tokens_.is(bracket, "[")) {
                const Token& word = tokens_[variable.external];
                changes.push_back({word.begin, word.end, Change::blank, {}, nullptr});
                changes.push_back({name.begin, name.begin, Change::replace, "*", nullptr});
                changes.push_back({tokens_[bracket].begin, end.begin, Change::replace,
                                   "= ::canopy::kernel::DynamicMemory()", nullptr});
                continue;
            }
            changes.push_back({name.begin, name.begin, Change::replace, "(&", nullptr});
            changes.push_back({name.end, name.end, Change::replace, ")", nullptr});
            changes.push_back({end.begin, end.begin, Change::replace,
                               fmt::format(" = ::canopy::kernel::LocalVariable<{}>()", number++), nullptr});
        }
    }

    // The position of the kernel's __global__, where an attribute is allowed.
    std::size_t head_of(const KernelSource& kernel) const {
        std::size_t at = kernel.name.begin;
        while (at > 0 && qualifier_at(tokens_, at).word != "__global__") --at;
        return tokens_[at].begin;
    }

    static std::string joined(const std::vector<ParameterName>& names, std::string_view before,
                              std::string_view after) {
        std::string text;
        for (const ParameterName& one : names)
            text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", before, one.name, after, one.pack ? "..." : "");
        return text;
    }

    // An expression for the address of exactly this kernel, valid inside its body.
    std::string address(const KernelSource& kernel) const {
        const std::size_t begin = tokens_[kernel.name.begin].begin;
        const std::string_view name = tokens_.text().substr(begin, tokens_[kernel.name.end - 1].end - begin);
        const std::string arguments =
            kernel.is_template ? fmt::format("<{}>", joined(kernel.template_parameters, "", "")) : "";
        return fmt::format("static_cast<::canopy::kernel::Function<{}>>(&{}{})",
                           joined(kernel.parameters, "decltype(", ")"), name, arguments);
    }

    std::string host_stub(const KernelSource& kernel) const {
        const std::string parameters = joined(kernel.parameters, "", "");
        return fmt::format(
            "static ::CanopyLaunchSite __attribute__((section(\"canopy_sites\"), nodebug)) canopy_site = "
            "{{__PRETTY_FUNCTION__, &::canopy_embedded_image, (const void*){0}, "
            "::canopy::launch::Arguments<{1}{2}>::size, {1}, {{}}}}; ::canopy::launch::start<{1}>(canopy_site{3});",
            address(kernel), kernel.threads ? 1 : 0,
            kernel.parameters.empty() ? "" : ", " + joined(kernel.parameters, "decltype(", ")"),
            parameters.empty() ? "" : ", " + parameters);
    }

    std::string record(const KernelSource& kernel) const {
        return fmt::format(
            " static constexpr auto __attribute__((section(\"canopy_kernels\"), used, retain, nodebug)) canopy_record "
            "= ::canopy::kernel::Record<{0}, {1}>::make(__PRETTY_FUNCTION__, \"{2}\", {3}, {4}, {5}, {6}, {7});",
            address(kernel), kernel.threads ? "true" : "false", escaped(kernel.place.file), kernel.place.line,
            kernel.cores.type, kernel.cores.cube, kernel.cores.vector, kernel.schedule_mode);
    }

    // A kernel that gets the whole workspace registers the system's part and continues with the user's part.
    std::string workspace(const KernelSource& kernel) const {
        if (job_.workspace_from_end == 0 || kernel.parameters.size() < job_.workspace_from_end) return {};
        return fmt::format(
            " ::AscendC::SetSysWorkspace((uint8_t*){0}); {0} = "
            "(decltype({0}))::AscendC::GetUserWorkspace((uint8_t*){0});",
            kernel.parameters[kernel.parameters.size() - job_.workspace_from_end].name);
    }

    std::string host_end() const {
        std::string text = "\n# 1 \"<canopy-cc>\" 3\n";
        text +=
            "extern \"C\" __attribute__((weak, visibility(\"protected\"))) const CanopyServices* canopy_image_services "
            "= "
            "nullptr;\n";
        if (declarations_.kernels.empty()) return text;
        text += fmt::format(
            "extern \"C\" __attribute__((visibility(\"hidden\"))) const unsigned char {0}[];\n"
            "extern \"C\" __attribute__((visibility(\"hidden\"))) const unsigned long {0}_size;\n",
            job_.image_symbol);
        text += "namespace {\n";
        if (!declarations_.variables.empty()) {
            text += "const CanopyEmbeddedVariable canopy_embedded_variables[] = {";
            for (const VariableSource& one : declarations_.variables)
                text += fmt::format("{{&{0}, \"{1}\", sizeof({0})}},", one.qualified_name, one.symbol);
            text += "};\n";
        }
        text += fmt::format(
            "CanopyEmbeddedImage canopy_embedded_image = {{{}, {}, {}, 0, \"{}\", "
            "__start_canopy_sites, __stop_canopy_sites, {}, {{}}}};\n",
            CANOPY_LAUNCH_VERSION, declarations_.variables.size(), job_.image_symbol, escaped(job_.source),
            declarations_.variables.empty() ? "nullptr" : "canopy_embedded_variables");
        text += fmt::format(
            "__attribute__((constructor(101), nodebug)) void canopy_register_image() {{\n"
            "    canopy_embedded_image.size = {}_size;\n    canopyRegisterImage(&canopy_embedded_image);\n}}\n"
            "__attribute__((destructor(101), nodebug)) void canopy_unregister_image() {{\n"
            "    canopyUnregisterImage(&canopy_embedded_image);\n}}\n}}\n",
            job_.image_symbol);
        return text;
    }

    // Exceptions cannot propagate on a device: inside an image, throwing is a trap.
    std::string device_end() const {
        std::string text =
            "\n# 1 \"<canopy-cc>\" 3\n"
            "extern \"C\" __attribute__((visibility(\"protected\"), used, retain, weak)) const CanopyServices* "
            "canopy_image_services = nullptr;\n"
            "extern \"C\" [[noreturn]] __attribute__((nodebug, used)) void canopy_throw(void*, void*, void (*)(void*)) "
            "__asm__(\"__cxa_throw\");\n"
            "extern \"C\" [[noreturn]] void canopy_throw(void*, void*, void (*)(void*)) {"
            " canopy_image_services->trap(); __builtin_trap(); }\n"
            // A failed assert() ends the block, not the process.
            "extern \"C\" [[noreturn]] __attribute__((nodebug, used)) void canopy_assert(const char*, const char*, "
            "unsigned, const char*) __asm__(\"__assert_fail\");\n"
            "extern \"C\" [[noreturn]] void canopy_assert(const char* text, const char* file, unsigned line, "
            "const char*) { char buffer[512]; int size = __builtin_snprintf(buffer, sizeof buffer, "
            "\"%s:%u: assertion '%s' failed\", file, line, text); "
            "canopy_image_services->fail(buffer, size < 511 ? size : 511); __builtin_trap(); }\n";
        // Variables with one copy for each block are thread_local in the text; with -femulated-tls the compiler calls
        // this function for their addresses.
        text += fmt::format(
            "struct CanopyVariable {{ decltype(sizeof 0) size, alignment; void* number; const void* initial; }};\n"
            "extern \"C\" __attribute__((nodebug, used, visibility(\"hidden\"))) void* "
            "canopy_variable(CanopyVariable*) "
            "__asm__(\"__emutls_get_address\");\n"
            "extern \"C\" void* canopy_variable(CanopyVariable* variable) {{"
            " if (canopy_image_services->current_block()->core == nullptr) canopy_image_services->open_core({});"
            " return canopy_image_services->block_memory(variable, variable->size, variable->alignment,"
            " variable->initial); }}\n",
            job_.language.architecture);
        int number = 0;
        for (const std::string& expression : job_.instantiations)
            text += fmt::format(
                "# 1 \"<name expression>\"\n"
                "static auto __attribute__((used, retain, section(\"canopy_names\"))) canopy_name_{} = &{};\n",
                number++, expression);
        return text;
    }

    const Tokens& tokens_;
    const RewriteJob& job_;
    const std::vector<LaunchSource>& launches_;
    const Declarations& declarations_;
};

}  // namespace

RewrittenSource rewrite(const std::string& preprocessed, const RewriteJob& job) {
    RewrittenSource result;
    const Tokens tokens(preprocessed);
    const auto launches = find_launches(tokens, result.problems);
    std::vector<std::string_view> threaded;
    for (const LaunchSource& launch : launches)
        if (launch.count == 4) threaded.push_back(launch.name);
    const Declarations declarations = find_declarations(tokens, job.language, threaded);
    result.problems.insert(result.problems.end(), declarations.problems.begin(), declarations.problems.end());
    result.warnings = declarations.warnings;
    result.inferred = declarations.inferred;
    result.has_kernels = !declarations.kernels.empty();
    result.has_launches = !launches.empty();
    result.files = tokens.files();
    for (const KernelSource& kernel : declarations.kernels) {
        result.on_cube |= kernel.cores.type != CANOPY_CORE_VECTOR && kernel.cores.cube > 0;
        result.on_vector |= kernel.cores.type != CANOPY_CORE_CUBE && kernel.cores.vector > 0;
    }
    result.has_variables = !declarations.variables.empty();
    for (const VariableSource& variable : declarations.variables)
        if (!variable.internal) result.shared_variables.push_back(variable.symbol);
    if (!result.problems.empty()) return result;
    Rewriter rewriter(tokens, job, launches, declarations);
    result.host = rewriter.host();
    if (job.launch_functions) {
        result.launch_functions = find_launch_functions(tokens, declarations);
        result.host += launch_definitions(result.launch_functions);
    }
    if (result.has_kernels) result.device = rewriter.device();
    return result;
}

}  // namespace canopy_cc
