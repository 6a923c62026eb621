// SPDX-License-Identifier: Apache-2.0
// Runs the compiler: preprocesses a source, compiles its host and device texts side by side, links images.
#pragma once

#include <string>
#include <vector>

#include "kernel.h"
#include "options.h"
#include "process.h"
#include "timing.h"
#include "tree.h"

namespace canopy_cc {

// One source on its way through the compiler. Files in between lie in `directory`.
struct CompileJob {
    const Options& options;
    const Tree& tree;
    std::string source;
    std::string directory;
    std::string dependency_file;  // empty: none is wanted
    std::string dependency_target;
    std::vector<std::string> shared_variables;  // symbols that the two variants of a device text share
    Timing& timing;
};

// What is compiled. Empty texts are left out; `cube` is there when the device text differs for cube cores.
struct Texts {
    std::string host;
    std::string device;
    std::string cube;
};

struct Compiled {
    int status = 0;        // 0, or the exit status of the compiler that failed
    std::string messages;  // what compilers said, ready to be shown
    std::string host_object;
    std::vector<KernelDescription> kernels;
    std::vector<std::string> names;  // symbols of the name expressions
    struct Target {
        std::string name;
        std::string object;  // bytes of the shared object
    };
    std::vector<Target> targets;
};

// What makes a source with kernels look to clang as it does here: definitions, folders, headers put before it.
std::vector<std::string> preprocessor_flags(const Options& options, const Tree& tree);

// The whole source after the preprocessor, which gets `more` flags; messages go into `messages`.
int preprocess(const CompileJob& job, const std::vector<std::string>& more, std::string& text, std::string& messages);

// Warnings come from one pass: the device text holds everything the host text does.
Compiled compile_texts(const CompileJob& job, const Texts& texts);

// Runs a program of the toolchain; shows it when the user wants to see commands.
int run_tool(const CompileJob& job, const Command& command, std::string& messages,
             const std::string& input = "/dev/null");

// Links a shared object that exports what the file says.
Command image_link_command(const CompileJob& job, const std::vector<std::string>& objects, const std::string& output,
                           const std::string& exports_file);

// Adds an object that holds the image to the host object and writes the result to `output`.
int join_objects(const CompileJob& job, const std::string& host_object, const std::string& image_object,
                 const std::string& output);

}  // namespace canopy_cc
