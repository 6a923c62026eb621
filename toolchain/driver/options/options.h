// SPDX-License-Identifier: Apache-2.0
// The command line of canopy-cc: what to build, from which inputs, and what to pass on to the compiler and the linker.
// Unknown flags go to the compiler unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy_cc {

enum class Action { compile, show_help, show_version, hand_over };

enum class Output {
    program,         // linked; also with -shared
    object,          // -c, -dc
    static_library,  // -lib
    image            // --image
};

// Where kernels without a qualifier run.
enum class CoreChoice { none, vector, cube };

enum class Language {
    kernel,  // C++ with kernels
    maybe,   // C++ that may contain kernels: decided by the source
    plain,   // compiled by clang only
    linked   // an object or a library
};

struct Input {
    std::string path;
    Language language = Language::linked;
    std::string dialect;  // of -x, for plain sources
};

// Metadata that the source does not contain.
struct MetadataOptions {
    bool wanted = false;
    std::string kernel;                     // the kernel it describes; empty: the only one
    std::uint32_t blocks = 1;               // --block-dim
    std::vector<std::uint64_t> workspaces;  // --workspace: bytes of each
    std::uint32_t split_mode = 0;           // --split-mode; 0: not given
};

struct Options {
    Action action = Action::compile;
    Output output_kind = Output::program;
    bool shared = false;
    bool verbose = false;
    bool timing = false;
    bool explained = false;  // -v: verbose for kernels, passed to clang for everything else
    bool simt = false;
    bool sanitizer = false;
    bool tracing = true;
    bool checking = false;         // --check: with code that tells a checker what kernels do
    bool keeps_check_text = true;  // what that code can be made from later
    bool autosync = true;          // --cce-auto-sync=
    std::string check_text;        // --checking-code: a file with such a text
    std::vector<Input> inputs;
    std::string output;
    std::uint32_t architecture = 2201;
    bool any_architecture = false;  // the image is for every chip
    CoreChoice core = CoreChoice::none;
    bool device_only = false;                 // --cce-aicore-only
    std::vector<std::string> targets;         // as named in the image: "x86-64-v3"
    std::vector<std::string> compiler_flags;  // for preprocessing and every compilation
    std::vector<std::string> host_flags;      // for host code only
    std::vector<std::string> link_line;       // flags and inputs in order; "\x01N" means input N
    std::vector<std::string> names;           // --name-expression
    std::string names_file;                   // --names-file
    std::string launch_headers;               // --launch-headers: the folder
    MetadataOptions metadata;
    std::string fusion;      // --fuse: the description file
    bool sanitized = false;  // -fsanitize= was given
    bool dependencies = false;
    bool system_dependencies = true;
    bool phony_dependencies = false;
    std::string dependency_file;
    std::string dependency_target;
    std::vector<std::string> handed_over;  // the command line without this driver's own flags
};

// Fills `options`. Returns an empty string, or what is wrong with the command line.
std::string parse_options(const std::vector<std::string>& arguments, Options& options);

// True if C++ text contains kernels or launches; decides for inputs of Language::maybe.
bool mentions_kernels(const std::string& text);

const char* help_text();

}  // namespace canopy_cc
