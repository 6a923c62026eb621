// SPDX-License-Identifier: Apache-2.0
// canopy-cc: compiles a kernel source into a kernel image. Options, parse, generate, compile, pack; each step has its
// own file.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "compile.h"
#include "generate.h"
#include "options.h"
#include "pack.h"
#include "parse.h"
#include "process.h"
#include "tree.h"

namespace canopy_cc {
namespace {

enum ExitStatus { success = 0, bad_source = 1, bad_command_line = 2, broken_toolchain = 3 };

constexpr const char* producer = "canopy-cc " CANOPY_CC_VERSION;

int complain(int status, const std::string& text) {
    fmt::print(stderr, "canopy-cc: error: {}\n", text);
    return status;
}

class Stopwatch {
public:
    explicit Stopwatch(bool enabled) : enabled_(enabled) {}
    void lap(const char* step) {
        const auto now = std::chrono::steady_clock::now();
        if (enabled_)
            fmt::print(stderr, "canopy-cc: {} took {} ms\n", step,
                       std::chrono::duration_cast<std::chrono::milliseconds>(now - start_).count());
        start_ = now;
    }

private:
    bool enabled_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Why a source that compiles gives no image.
int report_problems(const Options& options, const Source& source) {
    for (const std::string& problem : source.problems) fmt::print(stderr, "{}\n", problem);
    if (!source.problems.empty()) return bad_source;
    if (!source.kernels.empty()) return success;
    std::string text =
        fmt::format("no kernel in {}: expected extern \"C\" __global__ __aicore__ void NAME(...)", options.source);
    if (!source.templates.empty())
        text += fmt::format(" ({} is a template, which has no entry in an image)", source.templates.front());
    return complain(bad_source, text);
}

bool write_dependencies(const Options& options, const Source& source, const Tree& tree) {
    std::string text = options.dependency_target + ":";
    for (const std::string& file : source.files) {
        const bool system = file.rfind("/usr/", 0) == 0 || file.rfind(tree.resource_directory, 0) == 0;
        if (system && !options.system_dependencies) continue;
        text += " \\\n  ";
        for (const char letter : file) {
            if (letter == ' ' || letter == '#') text += '\\';
            text += letter;
        }
    }
    return write_file(options.dependency_file, text + "\n");
}

int write_image(const Options& options, const Source& source, std::vector<CompiledTarget> compiled) {
    ImageContent content;
    content.architectures = {options.architecture};
    content.producer = producer;
    content.kernels = source.kernels;
    for (CompiledTarget& target : compiled) content.targets.push_back({target.name, std::move(target.object)});
    if (!write_file(options.output, pack_image(content)))
        return complain(broken_toolchain, fmt::format("cannot write {}: {}", options.output, std::strerror(errno)));
    return success;
}

int make_image(const Options& options) {
    Stopwatch watch(options.verbose);
    Tree tree;
    if (const std::string missing = find_tree(tree); !missing.empty()) return complain(broken_toolchain, missing);
    std::string source_text;
    if (!read_file(options.source, source_text))
        return complain(bad_source, fmt::format("cannot read {}: {}", options.source, std::strerror(errno)));
    TemporaryDirectory directory;
    if (directory.path().empty()) return complain(broken_toolchain, "cannot make a temporary directory");

    Source source;
    if (const std::string reason = parse_source(options, tree, source); !reason.empty())
        return complain(broken_toolchain, reason);
    watch.lap("parsing");
    CompileJob job{options, tree, directory.path(), {}, {}};
    if (source.has_errors) {
        job.text = generate_text(options.source, source_text, {});
        if (check_text(job) == 0) fmt::print(stderr, "{}", source.diagnostics);
        return bad_source;
    }
    if (const int status = report_problems(options, source); status != success) return status;
    job.text = generate_text(options.source, source_text, source.kernels);
    job.exports = generate_exports(source);
    std::vector<CompiledTarget> compiled;
    if (const int status = compile_targets(job, compiled); status != 0)
        return status == 1 ? bad_source : broken_toolchain;
    watch.lap("compiling");
    if (options.write_dependencies && !write_dependencies(options, source, tree))
        return complain(broken_toolchain,
                        fmt::format("cannot write {}: {}", options.dependency_file, std::strerror(errno)));
    return write_image(options, source, std::move(compiled));
}

int run(const std::vector<std::string>& arguments) {
    Options options;
    if (const std::string problem = parse_options(arguments, options); !problem.empty())
        return complain(bad_command_line, problem + " (canopy-cc --help lists the options)");
    switch (options.action) {
        case Action::show_help:
            fmt::print("{}", help_text());
            return success;
        case Action::show_version:
            fmt::print("{} ({})\n", producer, CANOPY_CC_CLANG);
            return success;
        case Action::compile:
            break;
    }
    return make_image(options);
}

}  // namespace
}  // namespace canopy_cc

int main(int count, char** arguments) {
    const int status = canopy_cc::run({arguments + 1, arguments + count});
    std::fflush(nullptr);
    // The memory of the compiler library goes with the process.
    _exit(status);
}
