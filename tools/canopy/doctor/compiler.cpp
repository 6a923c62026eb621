// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <unistd.h>

#include <algorithm>

#include "foundation/subprocess.h"

namespace canopy_tool {
namespace {

// "canopy-cc: error: unknown chip 'X' (canopy-cc --help lists the options)" -> "unknown chip 'X'"
std::string objection(const std::string& messages) {
    const std::string mark = "error: ";
    const std::size_t found = messages.find(mark);
    std::string line = found == std::string::npos ? messages : messages.substr(found + mark.size());
    line.resize(std::min({line.size(), line.find('\n'), line.find(" (canopy-cc --help")}));
    return line;
}

}  // namespace

std::string Compiler::refuses_chip(const std::string& name) { return answer({"--npu-soc=" + name, "--version"}); }

std::string Compiler::refuses_architecture(const std::string& name) {
    return answer({"--npu-arch=" + name, "--version"});
}

std::string Compiler::refuses_flag(const std::vector<std::string>& words) {
    std::vector<std::string> question = words;
    question.insert(question.end(), {"-fsyntax-only", "-x", "c++", "/dev/null"});
    return answer(question);
}

std::string Compiler::answer(const std::vector<std::string>& words) {
    if (access(program_.c_str(), X_OK) != 0) return {};
    const auto known = answers_.find(words);
    if (known != answers_.end()) return known->second;
    canopy::CommandLine command{program_};
    command.insert(command.end(), words.begin(), words.end());
    canopy::ProcessOptions options;
    options.output = "/dev/null";
    const auto finished = canopy::run_to_end(command, options);
    if (!finished.ok()) return answers_[words] = finished.message();
    return answers_[words] = finished->status == 0 ? std::string() : objection(finished->output);
}

}  // namespace canopy_tool
