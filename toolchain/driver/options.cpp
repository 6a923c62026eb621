// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace canopy_cc {
namespace {

using Texts = std::vector<std::string>;

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool is_any(std::string_view text, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

// "dav-2201", "dav-c220" and "2201" alike; nothing for an architecture nobody knows.
std::optional<std::uint32_t> architecture_number(std::string_view name) {
    if (begins(name, "dav-")) name.remove_prefix(4);
    struct Row {
        std::string_view name;
        std::uint32_t number;
    };
    static constexpr Row rows[] = {{"1001", 1001}, {"c100", 1001}, {"2002", 2002},     {"m200", 2002},
                                   {"2201", 2201}, {"c220", 2201}, {"c220-vec", 2201}, {"c220-cube", 2201},
                                   {"3002", 3002}, {"m300", 3002}, {"3510", 3510},     {"c310", 3510},
                                   {"3003", 3003}, {"3113", 3113}, {"5102", 5102}};
    for (const Row& row : rows)
        if (row.name == name) return row.number;
    return std::nullopt;
}

// The architecture of a chip by its name, longest prefix first.
std::optional<std::uint32_t> chip_architecture(std::string_view chip) {
    std::string lower(chip);
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    struct Row {
        std::string_view prefix;
        std::uint32_t number;
    };
    static constexpr Row rows[] = {{"ascend910b", 2201}, {"ascend910_93", 2201}, {"ascend950", 3510},
                                   {"ascend310p", 2002}, {"ascend310b", 3002},   {"ascend910", 1001}};
    for (const Row& row : rows)
        if (begins(lower, row.prefix)) return row.number;
    return std::nullopt;
}

Texts split(std::string_view list) {
    Texts parts;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (comma != 0) parts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
    }
    return parts;
}

std::string level_name(int level) { return fmt::format("x86-64-v{}", level); }

int machine_level() {
#if defined(__x86_64__)
    return canopy_machine_level();
#else
    return 4;
#endif
}

std::string set_targets(std::string_view list, Options& options) {
    options.targets.clear();
    for (std::string& name : split(list)) {
        if (name == "baseline") name = level_name(2);
        if (name == "native") name = level_name(machine_level());
        if (!is_any(name, {"x86-64-v2", "x86-64-v3", "x86-64-v4"}))
            return fmt::format("unknown target '{}'; known are baseline, native, x86-64-v2, x86-64-v3, x86-64-v4",
                               name);
        if (std::find(options.targets.begin(), options.targets.end(), name) == options.targets.end())
            options.targets.push_back(name);
    }
    return options.targets.empty() ? "--targets= names no target" : "";
}

// One pass over the command line; each `take_` function looks at one family of flags.
class Parser {
public:
    Parser(const Texts& arguments, Options& options) : arguments_(arguments), options_(options) {}

    std::string run() {
        while (at_ < arguments_.size() && problem_.empty()) {
            const std::string& flag = arguments_[at_++];
            if (take_driver_flag(flag) || take_chip_flag(flag) || take_dependency_flag(flag) || take_ignored(flag) ||
                take_refused(flag) || take_compiler_flag(flag))
                continue;
            take_source(flag);
        }
        return problem_;
    }

private:
    // The value of a flag that has it in the same word ("-o=x", "-ox") or in the next one.
    std::optional<std::string> value(const std::string& flag, std::string_view name) {
        if (flag == name) {
            if (at_ < arguments_.size()) return arguments_[at_++];
            problem_ = fmt::format("{} lacks its value", name);
            return std::string();
        }
        if (!begins(flag, name)) return std::nullopt;
        std::string rest = flag.substr(name.size());
        if (rest[0] == '=') rest.erase(0, 1);
        return rest;
    }

    bool take_driver_flag(const std::string& flag) {
        if (flag == "--help" || flag == "-h")
            options_.action = Action::show_help;
        else if (flag == "--version")
            options_.action = Action::show_version;
        else if (flag == "--image")
            options_.image = true;
        else if (flag == "--verbose" || flag == "-v")
            options_.verbose = true;
        else if (begins(flag, "--targets="))
            problem_ = set_targets(flag.substr(10), options_);
        else if (!begins(flag, "-o"))
            return false;
        else
            options_.output = value(flag, "-o").value_or("");
        return true;
    }

    bool take_chip_flag(const std::string& flag) {
        for (const std::string_view name : {"--npu-arch", "--cce-aicore-arch", "-arch"}) {
            if (flag != name && !begins(flag, std::string(name) + "=")) continue;
            const std::string text = value(flag, name).value_or("");
            set_architecture(architecture_number(text), "architecture", text);
            return true;
        }
        if (flag != "--npu-soc" && !begins(flag, "--npu-soc=")) return false;
        const std::string text = value(flag, "--npu-soc").value_or("");
        set_architecture(chip_architecture(text), "chip", text);
        return true;
    }

    void set_architecture(std::optional<std::uint32_t> number, std::string_view what, const std::string& text) {
        if (!problem_.empty()) return;
        if (number)
            options_.architecture = *number;
        else
            problem_ = fmt::format("unknown {} '{}'", what, text);
    }

    bool take_dependency_flag(const std::string& flag) {
        if (flag == "-MD" || flag == "-MMD") {
            options_.write_dependencies = true;
            options_.system_dependencies = flag == "-MD";
            return true;
        }
        if (flag == "-MP") return true;
        if (begins(flag, "-MF"))
            options_.dependency_file = value(flag, "-MF").value_or("");
        else if (begins(flag, "-MT"))
            options_.dependency_target = value(flag, "-MT").value_or("");
        else if (begins(flag, "-MQ"))
            options_.dependency_target = value(flag, "-MQ").value_or("");
        else
            return false;
        return true;
    }

    // Flags of other kernel compilers that change nothing here.
    bool take_ignored(const std::string& flag) {
        if (flag == "-x" || flag == "--gcc-toolchain") {
            (void)value(flag, flag);
            return true;
        }
        return begins(flag, "--cce-") || begins(flag, "-x") || begins(flag, "--gcc-toolchain=") ||
               begins(flag, "--run-mode") ||
               is_any(flag, {"-c", "-dc", "-shared", "-lib", "-fPIC", "-fpic", "--enable-simt", "--sanitizer"});
    }

    bool take_refused(const std::string& flag) {
        if (!is_any(flag, {"-E", "-S", "-M", "-MM", "-emit-llvm", "-fsyntax-only"})) return false;
        problem_ = fmt::format("{} is not supported; canopy-cc writes images", flag);
        return true;
    }

    bool take_compiler_flag(const std::string& flag) {
        if (flag.size() < 2 || flag[0] != '-') return false;
        if (begins(flag, "-fsanitize=")) options_.sanitized = true;
        options_.compiler_flags.push_back(flag);
        if (is_any(flag, {"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot",
                          "-Xclang", "-mllvm", "-L", "-l", "-Xlinker", "--param", "-target"})) {
            const std::string next = value(flag, flag).value_or("");
            options_.compiler_flags.push_back(next);
        }
        return true;
    }

    void take_source(const std::string& name) {
        if (options_.source.empty())
            options_.source = name;
        else
            problem_ = fmt::format("two sources, '{}' and '{}'; an image is made from one", options_.source, name);
    }

    const Texts& arguments_;
    Options& options_;
    std::size_t at_ = 0;
    std::string problem_;
};

}  // namespace

std::string parse_options(const Texts& arguments, Options& options) {
    if (std::string problem = Parser(arguments, options).run(); !problem.empty()) return problem;
    if (options.action != Action::compile) return {};
    if (options.source.empty()) return "no source file";
    if (!options.image) return "only images can be made yet: add --image";
    if (options.targets.empty()) {
        const std::string problem = set_targets("baseline,native", options);
        if (!problem.empty()) return problem;
    }
    if (options.output.empty()) {
        const std::size_t slash = options.source.find_last_of('/');
        const std::string base = slash == std::string::npos ? options.source : options.source.substr(slash + 1);
        options.output = base.substr(0, base.find_last_of('.')) + ".o";
    }
    if (options.dependency_file.empty())
        options.dependency_file = options.output.substr(0, options.output.find_last_of('.')) + ".d";
    if (options.dependency_target.empty()) options.dependency_target = options.output;
    return {};
}

const char* help_text() {
    return R"(usage: canopy-cc --image [options] -o IMAGE SOURCE

Compiles the kernels of one C++ source into a kernel image for aclrtBinaryLoadFromFile.

  --image             write a kernel image (the only output there is yet)
  -o FILE             the image; default: the source's name with .o
  --targets=LIST      code to put in, by comma: baseline, native, x86-64-v2, x86-64-v3, x86-64-v4
                      default: baseline,native
  --npu-arch=dav-N    chip architecture the kernels are written for: 1001, 2002, 2201, 3002, 3510; default: 2201
                      (also -arch dav-N, --cce-aicore-arch=, --npu-soc=CHIP)
  -O0 .. -O3 -g       default: -O2
  -std=               default: gnu++17
  -I -D -U -include -W* -f* -m* -fsanitize=   and every other flag: handed to the compiler
  -MD -MMD -MF FILE -MT TARGET   write a dependency file
  --cce-*  -c  -x LANGUAGE  -shared  -fPIC    accepted, without effect
  --verbose           show the commands that are run, and how long each step took
  --help  --version

Environment: CANOPY_CLANG names the clang++ to compile with.
Exit status: 0 image written; 1 the source has errors or no kernel; 2 wrong command line; 3 the toolchain is broken.
)";
}

}  // namespace canopy_cc
