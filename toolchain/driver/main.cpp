// SPDX-License-Identifier: Apache-2.0
// canopy-cc, also installed as bisheng: compiles C++ with kernels and passes everything else to clang. Sources with
// kernels become objects here (source_file.h); clang links them.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/process.h"
#include "compile/compile.h"
#include "compile/missing.h"
#include "image/fuse.h"
#include "options/options.h"
#include "options/tree.h"
#include "source_file.h"

namespace canopy_cc {
namespace {

bool ends(const std::string& text, std::string_view end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_c(const Input& input) { return input.dialect == "c" || (input.dialect.empty() && ends(input.path, ".c")); }

// Flags with which a program finds the library, at link time and at run time.
std::vector<std::string> library_flags(const Tree& tree) {
    if (!std::filesystem::exists(tree.libraries + "/libascendcl.so")) return {};
    return {"-L" + tree.libraries,
            "-Wl,-rpath," + tree.libraries,
            "-Wl,--push-state,--as-needed",
            "-lascendcl",
            "-lm",
            "-ldl",
            "-Wl,--pop-state"};
}

// Clang writes to a pipe, so it must be told when the output ends up on a terminal.
void add_colours(Command& command) {
    if (isatty(STDERR_FILENO) != 0) command.push_back("-fcolor-diagnostics");
}

// Runs clang, prints its messages, and returns its exit status.
int run_and_explain(const Tree& tree, const Command& command) {
    std::string messages;
    const int status = run_with_files(command, "/dev/null", "-", messages);
    fmt::print(stderr, "{}", status == 0 ? messages : explain_missing_names(messages, tree.unsupported));
    return status;
}

// Passes sources without kernels to clang unchanged. Only the link step gets the path of the library.
int hand_over(const Options& options, const Tree& tree) {
    const bool only_c = !options.inputs.empty() && std::all_of(options.inputs.begin(), options.inputs.end(), is_c);
    const bool kernels = std::any_of(options.inputs.begin(), options.inputs.end(),
                                     [](const Input& input) { return input.language == Language::kernel; });
    Command command = {only_c ? tree.c_compiler : tree.compiler};
    if (kernels) {
        command.insert(command.end(), {"-std=gnu++17", "-fdeclspec", "-x", "c++"});
        const auto flags = preprocessor_flags(options, tree);
        command.insert(command.end(), flags.begin(), flags.end());
    }
    for (const std::string& flag : options.handed_over) {
        const bool language = flag == "asc" || flag == "cce" || flag == "aicpu";
        if (flag == "-dc")
            command.push_back("-c");
        else if (language && command.back() == "-x")
            command.push_back("c++");
        else
            command.push_back(flag);
    }
    command.insert(command.end(), {"-idirafter", tree.headers});
    if (options.action == Action::compile && options.output_kind == Output::program && !options.inputs.empty()) {
        const auto libraries = library_flags(tree);
        command.insert(command.end(), libraries.begin(), libraries.end());
    } else {
        command.push_back("-Wno-unused-command-line-argument");
    }
    const bool reads_input =
        std::any_of(options.inputs.begin(), options.inputs.end(), [](const Input& input) { return input.path == "-"; });
    const bool explained = options.action == Action::compile && !reads_input;
    if (explained) add_colours(command);
    if (options.verbose) fmt::print(stderr, "{}\n", quoted(command));
    std::fflush(nullptr);
    if (explained) return run_and_explain(tree, command);
    become(command);
    return complain(broken_toolchain, fmt::format("cannot start {}", command[0]));
}

int run_clang(const Options& options, const Tree& tree, const Command& command) {
    if (options.verbose) fmt::print(stderr, "{}\n", quoted(command));
    const int status = run_and_explain(tree, command);
    return status == 0 ? success : status == 1 ? bad_source : broken_toolchain;
}

int compile_plain(const Options& options, const Tree& tree, const Input& input, const std::string& output) {
    Command command = {is_c(input) ? tree.c_compiler : tree.compiler};
    for (const auto* list : {&options.compiler_flags, &options.host_flags})
        command.insert(command.end(), list->begin(), list->end());
    command.insert(command.end(), {"-idirafter", tree.headers});
    if (!input.dialect.empty()) command.insert(command.end(), {"-x", input.dialect});
    add_colours(command);
    command.insert(command.end(), {"-c", input.path, "-o", output});
    return run_clang(options, tree, command);
}

std::string object_name(const Options& options, const Input& input) {
    if (!options.output.empty()) return options.output;
    return std::filesystem::path(input.path).filename().replace_extension(".o");
}

int link(const Options& options, const Tree& tree, const std::vector<std::string>& files) {
    if (options.output_kind == Output::static_library) {
        std::error_code ignored;
        std::filesystem::remove(options.output, ignored);
        Command command = {"ar", "crs", options.output};
        for (const std::string& file : files) command.push_back(file);
        return run_clang(options, tree, command);
    }
    Command command = {tree.compiler};
    if (options.shared) command.push_back("-shared");
    for (const std::string& flag : options.compiler_flags)
        if (flag.rfind("-I", 0) != 0 && flag.rfind("-D", 0) != 0 && flag != "-c") command.push_back(flag);
    command.push_back("-Wno-unused-command-line-argument");
    for (const std::string& word : options.link_line) {
        if (word[0] == '\x01')
            command.push_back(files[static_cast<std::size_t>(std::stoul(word.substr(1)))]);
        else
            command.push_back(word);
    }
    const auto libraries = library_flags(tree);
    if (libraries.empty())
        fmt::print(stderr, "canopy-cc: warning: {}/libascendcl.so is missing; kernels cannot be launched without it\n",
                   tree.libraries);
    command.insert(command.end(), libraries.begin(), libraries.end());
    command.insert(command.end(), {"-o", options.output.empty() ? "a.out" : options.output});
    return run_clang(options, tree, command);
}

// Compiles the sources to objects: at their final path or, if they will be linked, in a temporary directory.
int compile_all(const Options& options, const Tree& tree, Timing& timing) {
    const auto directory = canopy::TemporaryFolder::create("cc");
    if (!directory.ok()) return complain(broken_toolchain, directory.message());
    const bool final_objects = options.output_kind == Output::object || options.output_kind == Output::image;
    std::vector<std::string> files;
    for (const Input& input : options.inputs) {
        if (input.language == Language::linked) {
            files.push_back(input.path);
            continue;
        }
        const std::string output = final_objects ? object_name(options, input)
                                                 : fmt::format("{}/{}-{}.o", directory->path(), files.size(),
                                                               std::filesystem::path(input.path).stem().string());
        files.push_back(output);
        const int status = input.language == Language::kernel
                               ? compile_source(options, tree, input.path, output, timing)
                               : compile_plain(options, tree, input, output);
        if (status != success) return status;
    }
    if (final_objects) return success;
    const Timing::Stage stage(timing, "link");
    return link(options, tree, files);
}

// Reads the sources that may contain kernels to find out.
bool find_kernels(Options& options) {
    bool found = options.output_kind == Output::static_library;
    for (Input& input : options.inputs) {
        std::string text;
        if (input.language == Language::maybe)
            input.language = read_file(input.path, text) && mentions_kernels(text) ? Language::kernel : Language::plain;
        found |= input.language == Language::kernel;
    }
    return found;
}

int run(const std::vector<std::string>& arguments, bool as_clang) {
    Options options;
    if (const std::string problem = parse_options(arguments, options); !problem.empty())
        return complain(bad_command_line, problem + " (canopy-cc --help lists the options)");
    if (options.action == Action::show_help) {
        fmt::print("{}", help_text());
        return success;
    }
    Tree tree;
    const std::string missing = find_tree(tree);
    if (options.action == Action::show_version) {
        if (!as_clang) fmt::print("canopy-cc {} ({})\n", CANOPY_CC_VERSION, tree.compiler);
        std::fflush(nullptr);
        if (missing.empty()) become({tree.compiler, "--version"});
        return success;
    }
    if (!options.fusion.empty() && options.action == Action::compile) return fuse_images(options);
    if (!missing.empty()) return complain(broken_toolchain, missing);
    Timing timing;
    if (!options.check_text.empty() && options.action == Action::compile)
        return compile_checking_code(options, tree, timing);
    const bool kernels = find_kernels(options);
    if (kernels && options.explained) options.verbose = true;
    if (options.action == Action::hand_over || !kernels) return hand_over(options, tree);
    const int status = compile_all(options, tree, timing);
    if (options.timing || options.verbose) fmt::print(stderr, "{}", timing.table());
    return status;
}

}  // namespace
}  // namespace canopy_cc

int main(int count, char** arguments) {
    // Lets the compilers started below use huge pages where available, which saves 8 % of their time.
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0);
    const std::string name = count > 0 ? arguments[0] : "";
    const std::size_t slash = name.find_last_of('/');
    const bool as_clang = name.compare(slash == std::string::npos ? 0 : slash + 1, 7, "bisheng") == 0;
    return canopy_cc::run({arguments + 1, arguments + count}, as_clang);
}
