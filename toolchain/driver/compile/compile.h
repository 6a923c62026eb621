// SPDX-License-Identifier: Apache-2.0
// Runs the compiler: preprocesses a source, compiles its host and device texts in parallel, links images.
#pragma once

#include <string>
#include <vector>

#include "compile/job.h"
#include "compile/kernel.h"

namespace canopy_cc {

struct Compiled {
    int status = 0;        // 0, or the exit status of the compiler that failed
    std::string messages;  // of the compilers, ready to print
    std::string host_object;
    std::vector<KernelDescription> kernels;
    std::vector<std::string> names;  // symbols of the name expressions
    struct Target {
        std::string name;
        std::string object;  // bytes of the shared object
    };
    std::vector<Target> targets;
    std::string check_text;  // name of the text for checking code; empty: none is kept
};

// Definitions, include directories and forced headers with which clang reads a source with kernels.
std::vector<std::string> preprocessor_flags(const Options& options, const Tree& tree);

// Preprocesses the source into `text`. `more`: additional flags; messages go into `messages`.
int preprocess(const CompileJob& job, const std::vector<std::string>& more, std::string& text, std::string& messages);

// The checking variant of an image (compile/checking.h).
struct CheckingVariant {
    int status = 0;
    std::string messages;
    std::string object;  // bytes of the shared object
};
CheckingVariant compile_checking(const CompileJob& job, const Texts& texts, const std::string& target);

// Only one pass emits warnings: the device text contains everything the host text does.
Compiled compile_texts(const CompileJob& job, const Texts& texts);

// Adds an object that holds the image to the host object and writes the result to `output`.
int join_objects(const CompileJob& job, const std::string& host_object, const std::string& image_object,
                 const std::string& output);

}  // namespace canopy_cc
