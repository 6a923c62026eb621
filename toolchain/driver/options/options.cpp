// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include <canopy/chips.h>
#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "options/foreign.h"

namespace canopy_cc {
namespace {

using Texts = std::vector<std::string>;

// Accepts "dav-2201", "dav-c220", "dav-c220-vec" and "2201"; nullopt for an unknown architecture.
std::optional<std::uint32_t> architecture_number(std::string_view name) {
    if (begins(name, "dav-")) name.remove_prefix(4);
    if (begins(name, "c") || begins(name, "m")) name = name.substr(0, name.find('-'));
    struct Row {
        std::string_view name;
        std::uint32_t number;
    };
    static constexpr Row rows[] = {{"1001", 1001}, {"c100", 1001}, {"2002", 2002}, {"m200", 2002}, {"2201", 2201},
                                   {"c220", 2201}, {"3002", 3002}, {"m300", 3002}, {"m310", 3002}, {"3510", 3510},
                                   {"c310", 3510}, {"3003", 3003}, {"3113", 3113}, {"5102", 5102}};
    for (const Row& row : rows)
        if (row.name == name) return row.number;
    return std::nullopt;
}

// The kind of core in the suffix of an architecture's name; none for chips whose cores have both units.
CoreChoice core_in(std::string_view name) {
    if (!begins(name, "dav-c220") && !begins(name, "dav-c310")) return CoreChoice::none;
    const std::string_view end = name.substr(8);
    return end == "-cube" ? CoreChoice::cube : end == "-vec" ? CoreChoice::vector : CoreChoice::none;
}

std::optional<std::uint32_t> chip_architecture(std::string_view name) {
    const canopy::Chip* chip = canopy::find_chip(name);
    return chip == nullptr ? std::nullopt : std::optional(chip->architecture);
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

// One pass over the command line; each `take_` function handles one family of flags.
class Parser {
public:
    Parser(const Texts& arguments, Options& options) : arguments_(arguments), options_(options) {}

    std::string run() {
        while (at_ < arguments_.size() && problem_.empty()) {
            const std::size_t first = at_;
            const std::string& flag = arguments_[at_++];
            if (take_driver_flag(flag) || take_chip_flag(flag)) continue;
            if (!take_output_flag(flag) && !take_dependency_flag(flag) && !take_question(flag) &&
                !take_link_flag(flag) && !take_compiler_flag(flag))
                take_input(flag);
            const auto begin = arguments_.begin();
            options_.handed_over.insert(options_.handed_over.end(), begin + static_cast<std::ptrdiff_t>(first),
                                        begin + static_cast<std::ptrdiff_t>(at_));
        }
        return problem_;
    }

private:
    // The value of a flag, in the same word ("-o=x", "-ox") or in the next one.
    std::optional<std::string> value(const std::string& flag, std::string_view name) {
        if (flag == name) {
            if (at_ < arguments_.size()) return arguments_[at_++];
            problem_ = fmt::format("{} needs a value", name);
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
            options_.output_kind = Output::image;
        else if (flag == "--verbose")
            options_.verbose = true;
        else if (flag == "--timing")
            options_.timing = true;
        else if (begins(flag, "--targets="))
            problem_ = set_targets(flag.substr(10), options_);
        else if (begins(flag, "--name-expression="))
            options_.names.push_back(flag.substr(18));
        else if (begins(flag, "--names-file="))
            options_.names_file = flag.substr(13);
        else if (begins(flag, "--launch-headers="))
            options_.launch_headers = flag.substr(17);
        else if (flag == "--fuse" || begins(flag, "--fuse="))
            options_.fusion = value(flag, "--fuse").value_or("");
        else if (take_metadata_flag(flag))
            return true;
        else if (flag == "--enable-simt")
            options_.simt = true;
        else if (flag == "--sanitizer")
            options_.sanitizer = true;
        else if (flag == "--no-trace")
            options_.tracing = false;
        else if (flag == "--check")
            options_.checking = true;
        else if (flag == "--no-check")
            options_.keeps_check_text = false;
        else if (begins(flag, "--checking-code="))
            options_.check_text = flag.substr(16);
        else if (begins(flag, "--cce-auto-sync="))
            options_.autosync = flag != "--cce-auto-sync=off";
        else
            return false;
        return true;
    }

    bool take_metadata_flag(const std::string& flag) {
        MetadataOptions& metadata = options_.metadata;
        if (flag == "--metadata" || begins(flag, "--metadata=")) {
            metadata.wanted = true;
            if (flag.size() > 10) metadata.kernel = flag.substr(11);
        } else if (begins(flag, "--block-dim=")) {
            metadata.blocks = static_cast<std::uint32_t>(whole_number(flag, 1, 65535));
        } else if (begins(flag, "--split-mode=")) {
            metadata.split_mode = static_cast<std::uint32_t>(whole_number(flag, 1, 64));
        } else if (begins(flag, "--workspace=")) {
            for (const std::string& bytes : split(flag.substr(12)))
                metadata.workspaces.push_back(whole_number("--workspace=" + bytes, 0, std::uint64_t{1} << 40));
        } else {
            return false;
        }
        return true;
    }

    // The number after the equals sign of a flag.
    std::uint64_t whole_number(const std::string& flag, std::uint64_t least, std::uint64_t most) {
        const std::size_t equals = flag.find('=');
        const char* begin = flag.data() + equals + 1;
        const char* end = flag.data() + flag.size();
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(begin, end, number);
        if (error == std::errc() && rest == end && number >= least && number <= most) return number;
        problem_ = fmt::format("{} needs a number from {} to {}, not '{}'", flag.substr(0, equals), least, most,
                               flag.substr(equals + 1));
        return least;
    }

    bool take_output_flag(const std::string& flag) {
        if (flag == "-c" || flag == "-dc")
            set_output(Output::object);
        else if (flag == "-lib")
            set_output(Output::static_library);
        else if (flag == "-shared")
            options_.shared = true;
        else if (begins(flag, "-o") && !begins(flag, "-objc"))
            options_.output = value(flag, "-o").value_or("");
        else
            return false;
        return true;
    }

    // --image takes precedence over all other output flags.
    void set_output(Output kind) {
        if (options_.output_kind != Output::image) options_.output_kind = kind;
    }

    bool take_chip_flag(const std::string& flag) {
        for (const std::string_view name : {"--npu-arch", "--cce-aicore-arch", "-arch"}) {
            if (flag != name && !begins(flag, std::string(name) + "=")) continue;
            const std::string text = value(flag, name).value_or("");
            options_.any_architecture = text == "any";
            set_architecture(architecture_number(text == "any" ? "2201" : text), "architecture", text);
            options_.core = core_in(text);
            return true;
        }
        for (const std::string_view name : {"--npu-soc", "--cce-soc-version"}) {
            if (flag != name && !begins(flag, std::string(name) + "=")) continue;
            const std::string text = value(flag, name).value_or("");
            options_.any_architecture = false;
            set_architecture(chip_architecture(text), "chip", text);
            return true;
        }
        if (begins(flag, "--cce-soc-core-type=")) return set_core(flag.substr(20));
        if (flag != "--cce-aicore-only") return false;
        options_.device_only = true;
        return true;
    }

    bool set_core(const std::string& name) {
        if (name == "CubeCore")
            options_.core = CoreChoice::cube;
        else if (name == "VecCore" || name == "VectorCore")
            options_.core = CoreChoice::vector;
        else if (name == "AICore" || name == "AiCore" || name == "MixCore")
            options_.core = CoreChoice::none;
        else
            problem_ = fmt::format("unknown core type '{}'; known are CubeCore, VecCore, AICore", name);
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
            options_.dependencies = true;
            options_.system_dependencies = flag == "-MD";
        } else if (flag == "-MP") {
            options_.phony_dependencies = true;
        } else if (begins(flag, "-MF")) {
            options_.dependency_file = value(flag, "-MF").value_or("");
        } else if (begins(flag, "-MT")) {
            options_.dependency_target = value(flag, "-MT").value_or("");
        } else if (begins(flag, "-MQ")) {
            options_.dependency_target = value(flag, "-MQ").value_or("");
        } else {
            return false;
        }
        return true;
    }

    // Queries that clang answers, even for sources with kernels.
    bool take_question(const std::string& flag) {
        const bool question = begins(flag, "-print-") || begins(flag, "--print-") || begins(flag, "-dump") ||
                              is_any(flag, {"-###", "-E", "-S", "-M", "-MM", "-emit-llvm", "-fsyntax-only", "-dM",
                                            "-cc1", "-cc1as", "--analyze"});
        if (question) options_.action = Action::hand_over;
        return question;
    }

    bool take_link_flag(const std::string& flag) {
        const bool with_value = is_any(flag, {"-L", "-l", "-Xlinker", "-T", "-u", "-z", "-framework"});
        const bool alone = begins(flag, "-L") || begins(flag, "-l") || begins(flag, "-Wl,") ||
                           begins(flag, "-static") || begins(flag, "-fuse-ld") || begins(flag, "--ld-path") ||
                           begins(flag, "-rtlib") ||
                           is_any(flag, {"-rdynamic", "-pie", "-no-pie", "-nostdlib", "-nodefaultlibs", "-nostartfiles",
                                         "-s", "-r", "-nostdlib++", "-export-dynamic"});
        if (!with_value && !alone) return false;
        options_.link_line.push_back(flag);
        if (with_value) options_.link_line.push_back(value(flag, flag).value_or(""));
        return true;
    }

    bool take_compiler_flag(const std::string& flag) {
        if (flag.size() < 2 || flag[0] != '-') return false;
        if (flag == "-x" || begins(flag, "-x")) {
            dialect_ = value(flag, "-x").value_or("");
            return true;
        }
        if (begins(flag, "-fsanitize=")) options_.sanitized = true;
        // Flags about the host's processor or build do not apply to kernels.
        if (begins(flag, "-march=") || begins(flag, "-mtune=") || begins(flag, "-mcpu=") || begins(flag, "-mavx") ||
            begins(flag, "-msse") || flag == "-mfma" || flag == "-pg" || flag == "--coverage" ||
            begins(flag, "-fprofile") || begins(flag, "-fcoverage")) {
            options_.host_flags.push_back(flag);
            return true;
        }
        if (flag == "-Xarch_host") {
            options_.host_flags.push_back(value(flag, flag).value_or(""));
            return true;
        }
        if (begins(flag, "-flto")) return true;
        if (flag == "-v") {
            options_.explained = true;
            return true;
        }
        auto& flags = options_.compiler_flags;
        if (is_any(flag, {"-I", "-D", "-U"})) {
            flags.push_back(flag + value(flag, flag).value_or(""));
            return true;
        }
        flags.push_back(flag);
        if (is_any(flag, {"-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "-Xclang", "-mllvm",
                          "--param", "-target", "--gcc-toolchain", "--sysroot", "-Xpreprocessor"}))
            flags.push_back(value(flag, flag).value_or(""));
        return true;
    }

    void take_input(const std::string& name) {
        options_.link_line.push_back(fmt::format("\x01{}", options_.inputs.size()));
        options_.inputs.push_back({name, language_of(name), dialect_ == "none" ? "" : dialect_});
    }

    Language language_of(const std::string& name) const {
        if (is_any(dialect_, {"asc", "cce", "aicpu"})) return Language::kernel;
        if (!dialect_.empty() && dialect_ != "none" && dialect_ != "c++") return Language::plain;
        const std::size_t dot = name.find_last_of('.');
        const std::string_view suffix = dot == std::string::npos ? "" : std::string_view(name).substr(dot + 1);
        if (is_any(suffix, {"asc", "cce", "aicpu"}) && dialect_ != "c++") return Language::kernel;
        if (is_any(suffix, {"cpp", "cc", "cxx", "c++", "C", "CPP", "cp"}) || dialect_ == "c++") return Language::maybe;
        if (is_any(suffix, {"c", "i", "ii", "s", "S", "m", "mm", "ll", "bc"})) return Language::plain;
        return Language::linked;
    }

    const Texts& arguments_;
    Options& options_;
    std::size_t at_ = 0;
    std::string problem_;
    std::string dialect_;
};

std::string without_directory(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Checks that the requested output can be built from these inputs.
std::string check(Options& options) {
    if (!options.check_text.empty())
        return options.inputs.empty() && !options.output.empty() ? "" : "--checking-code= needs -o and nothing else";
    if (!options.fusion.empty()) {
        if (!options.inputs.empty())
            return fmt::format("--fuse takes its images from the description, not '{}'", options.inputs[0].path);
        return options.output.empty() ? "--fuse needs -o" : "";
    }
    if (options.inputs.empty()) return "no input file";
    const auto is_source = [](const Input& input) { return input.language != Language::linked; };
    const auto sources = std::count_if(options.inputs.begin(), options.inputs.end(), is_source);
    if (options.device_only && options.output_kind == Output::object && options.inputs.size() == 1 && sources == 1)
        options.output_kind = Output::image;
    if (options.output_kind == Output::image) {
        if (options.inputs.size() != 1)
            return fmt::format("two sources, '{}' and '{}'; an image has only one", options.inputs[0].path,
                               options.inputs[1].path);
        options.inputs[0].language = Language::kernel;
        const std::string base = without_directory(options.inputs[0].path);
        if (options.output.empty()) options.output = base.substr(0, base.find_last_of('.')) + ".o";
    } else if (!options.names.empty()) {
        return "--name-expression= needs --image";
    } else if (options.metadata.wanted) {
        return "--metadata needs --image";
    }
    if (options.output_kind == Output::object && sources > 1 && !options.output.empty())
        return "-o names one file, but -c creates one object per source";
    if (options.output_kind == Output::static_library && options.output.empty()) return "-lib needs -o";
    return {};
}

}  // namespace

std::string parse_options(const Texts& arguments, Options& options) {
    Texts words;
    if (std::string problem = read_command_line(arguments, words); !problem.empty()) return problem;
    if (std::string problem = Parser(words, options).run(); !problem.empty()) return problem;
    if (options.explained && options.inputs.empty()) options.action = Action::hand_over;
    if (options.output_kind == Output::image && options.action == Action::hand_over)
        return "--image cannot be combined with a flag for another kind of output";
    if (options.action != Action::compile) return {};
    if (options.targets.empty()) {
        const std::string problem = set_targets("baseline,native", options);
        if (!problem.empty()) return problem;
    }
    return check(options);
}

bool mentions_kernels(const std::string& text) {
    for (const char* word : {"<<<", "__global__", "kernel_operator.h", "__aicore__", "[aicore]", "cce_kernel"})
        if (text.find(word) != std::string::npos) return true;
    return false;
}

const char* help_text() {
    return R"(usage: canopy-cc [options] FILE...

Compiles C++ with kernels (.asc, or .cpp that contains kernels) and everything clang compiles. The kernels become an image
inside the object; launch them with `kernel<<<blocks, bytes, stream>>>(arguments)`.

Output (default: a program)
  -c, -dc             an object
  -shared             a shared library
  -lib                a static library; needs -o
  --image             a kernel image for aclrtBinaryLoadFromFile, without host code
  --fuse DESCRIPTION  an image of fused kernels from other images; needs -o. The Python package super_kernel writes
                      descriptions
  -o FILE             output file

Kernels
  --npu-arch=dav-N    chip architecture of the kernels: 1001, 2002, 2201, 3002, 3510; default: 2201
                      (also -arch dav-N, --cce-aicore-arch=, --npu-soc=CHIP, --cce-soc-version=CHIP). A name that ends in
                      -cube or -vec, like dav-c220-cube, also selects the core type of kernels that do not declare it
  --npu-arch=any      the kernels run on every chip: they use global memory only, and no cube core
  --cce-soc-core-type=CubeCore|VecCore|AICore   the same; AICore infers it from the kernel
  --cce-aicore-only   with -c: the same as --image
  --targets=LIST      comma-separated targets to compile for: baseline, native, x86-64-v2, x86-64-v3, x86-64-v4
                      default: baseline,native
  --enable-simt       treat a __global__ function that declares no core type as a SIMT kernel
  --no-trace          omit the code that lets the runtime fuse kernels into loops
  --check             add the code with which canopy check looks inside the kernels, also on machines without clang
  --no-check          keep nothing from which such code can be compiled later; by default a text is kept in the cache
                      of compiled code (CANOPY_CACHE_DIR)
  --sanitizer         report accesses of a kernel outside its memory, with the source line
  --name-expression=E with --image: instantiate the kernel E, for example add<float>; repeatable
  --names-file=FILE   write the symbol of the kernel of each name expression, one per line
  --launch-headers=DIR    write aclrtlaunch_KERNEL.h for each kernel, and add the launch functions to the object
  --metadata[=KERNEL] with --image: also write NAME.json next to NAME.o, with the launch and fusion data of KERNEL;
                      kernels NAME_1, NAME_2, ... are variants of one kernel, selected by tiling key
  --block-dim=N --workspace=BYTES,... --split-mode=N    values for --metadata; defaults: 1, none, none
  --cce-auto-sync=off noted in the image for canopy check: the kernels synchronise everything themselves
  --cce-*  -fcce-*  -mllvm -cce-*  -mllvm -api-deps-filter*  --run-mode=*
                      accepted and ignored; set the stack of kernels with ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE

Compiler
  -O0 .. -O3 -g       default: -O2
  -std=               default for kernels: gnu++17
  -x LANGUAGE         language of the following files: asc, cce, aicpu, or one of clang's
  -I -D -U -include -W* -f* -m* -l -L -Wl, and all other flags: passed to clang
  -Xarch_host FLAG    pass FLAG to clang for host code only
  -MD -MMD -MF FILE -MT TARGET   write a dependency file
  -E -S -M -### -print-*         handled by clang
  @FILE               read arguments from a file
  --timing            show the time of each stage for sources with kernels
  --verbose           the same, and show the commands
  -v                  the same for sources with kernels; otherwise clang's -v
  --help  --version

Environment: CANOPY_CLANG names the clang++ to compile with; CANOPY_CC_FLAGS has flags that precede all others.
Exit status: 0 success; 1 a source has errors; 2 wrong command line; 3 the toolchain is broken.
)";
}

}  // namespace canopy_cc
