// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "checks.h"

namespace canopy_tool {
namespace {

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

void add(const Examination& examination, Finding finding, const std::string& condition = {}) {
    finding.condition = condition;
    examination.findings.add(std::move(finding));
}

// True if the text finds the toolkit through a variable that set_env.sh sets, so a fixed path is only a fallback.
bool asks_environment(const InstallTree& tree, const std::string& text) {
    const auto& variables = tree.variables();
    return std::any_of(variables.begin(), variables.end(),
                       [&](const std::string& name) { return text.find(name) != std::string::npos; });
}

// Flags that are safe to try: others could name files or make the compiler load code of the program.
bool is_harmless_flag(const std::vector<std::string>& flag) {
    for (const std::string& word : flag)
        if (word.find_first_of("/$<>{}\"'@,; ") != std::string::npos || word.find("plugin") != std::string::npos)
            return false;
    if (flag.size() == 2) return begins(flag[1], "-cce") || begins(flag[1], "-api");
    const bool names_nothing = flag[0].find('=') == std::string::npos;
    for (const char* start : {"--cce-", "--npu-", "-std=", "-fcce-"})
        if (begins(flag[0], start)) return true;
    return names_nothing && (begins(flag[0], "-O") || begins(flag[0], "-f"));
}

}  // namespace

Finding finding_of(const Rule& rule, std::string_view name, std::string file, unsigned line) {
    Finding finding{.file = std::move(file),
                    .line = line,
                    .level = rule.level,
                    .name = std::string(name),
                    .group = fmt::format("{} {}", rule.kind, rule.pattern),
                    .advice = rule.advice};
    const std::size_t place = rule.text.find("{}");
    finding.text = rule.text;
    if (place != std::string::npos) finding.text.replace(place, 2, name);
    return finding;
}

void check_path(const Examination& examination, const std::string& word, const SourceFile& source, unsigned line,
                const std::string& condition) {
    if (word.find_first_of(" \t\n") != std::string::npos) return;  // a text about a path, not a path
    if (const Rule* rule = examination.tree.rule("model", word); rule != nullptr)
        add(examination, finding_of(*rule, base_name(word), source.path, line), condition);
    const Rule* rule = examination.tree.rule("path", word);
    if (rule != nullptr && !asks_environment(examination.tree, source.text))
        add(examination, finding_of(*rule, word, source.path, line), condition);
}

void check_library(const Examination& examination, const std::string& name, const SourceFile& source, unsigned line,
                   const std::string& condition) {
    const Rule* rule = examination.tree.rule("library", name);
    if (rule == nullptr || examination.tree.has_library(name) || examination.program.has_target(name)) return;
    Finding finding = finding_of(*rule, name, source.path, line);
    finding.group = "library " + name;
    add(examination, std::move(finding), condition);
}

void check_program(const Examination& examination, const std::string& word, const SourceFile& source, unsigned line,
                   const std::string& condition) {
    const std::string name = base_name(word);
    const Rule* rule = examination.tree.rule("command", name);
    if (rule == nullptr || examination.tree.has_program(name) || examination.program.has_file(name)) return;
    Finding finding = finding_of(*rule, name, source.path, line);
    finding.group = "command " + name;
    // A script that checks for the program can do without it.
    for (const char* question : {"command -v ", "which ", "type "})
        if (source.text.find(question + name) != std::string::npos) finding.level = Level::hint;
    add(examination, std::move(finding), condition);
}

void check_chip(const Examination& examination, const std::string& variable, const std::string& value,
                const SourceFile& source, unsigned line, const std::string& condition) {
    std::string objection;
    const auto is_plain = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
    };
    if (!std::all_of(value.begin(), value.end(), is_plain)) return;
    if (variable == "SOC_VERSION" && begins(lower_case(value), "ascend"))
        objection = examination.compiler.refuses_chip(value);
    if ((variable == "CMAKE_ASC_ARCHITECTURES" || variable == "NPU_ARCH") && begins(value, "dav-"))
        objection = examination.compiler.refuses_architecture(value);
    if (objection.empty()) return;
    add(examination,
        {.file = source.path,
         .line = line,
         .level = Level::error,
         .name = value,
         .text = fmt::format("{} is not a chip that Canopy models: {}", value, objection),
         .advice = "choose one that `canopy info` lists"},
        condition);
}

void check_flags(const Examination& examination, const std::vector<Word>& words, const SourceFile& source,
                 const std::string& condition) {
    for (std::size_t index = 0; index < words.size(); ++index) {
        std::vector<std::string> flag{words[index].text};
        if (flag[0] == "-forward-options-to-host-compiler") return;
        if (flag[0] == "-mllvm" && index + 1 < words.size()) flag.push_back(words[++index].text);
        if (!is_harmless_flag(flag)) continue;
        const std::string objection = examination.compiler.refuses_flag(flag);
        // Values in the next word are not checked.
        if (objection.empty() || objection.find("needs a value") != std::string::npos) continue;
        const std::string name = flag.size() == 1 ? flag[0] : flag[0] + " " + flag[1];
        add(examination,
            {.file = source.path,
             .line = words[index].line,
             .level = Level::error,
             .name = name,
             .text = fmt::format("canopy-cc refuses {}: {}", name, objection),
             .advice = "remove the flag, or choose a value that `canopy-cc --help` lists"},
            condition);
    }
}

}  // namespace canopy_tool
