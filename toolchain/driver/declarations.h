// SPDX-License-Identifier: Apache-2.0
// What a preprocessed source declares at namespace scope, found in its tokens: kernels, device variables, and the names
// of functions and classes. The compiler checks the rest of the language; this only has to find where things begin.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lex.h"

namespace canopy_cc {

// Tokens from `begin` up to `end`.
struct TokenRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct ParameterName {
    std::string name;
    bool pack = false;
    std::size_t insert_at = 0;  // offset where a missing name goes; 0: the source gives one
};

struct Cores {
    std::uint32_t type = CANOPY_CORE_VECTOR;
    int cube = 0;
    int vector = 1;
};

// Which kinds of names a kernel uses, itself or through what it calls.
struct NamesUsed {
    bool matmul = false;  // a Matmul object
    bool cube = false;
    bool vector = false;

    [[nodiscard]] bool none() const { return !matmul && !cube && !vector; }
    void add(const NamesUsed& other) {
        matmul |= other.matmul;
        cube |= other.cube;
        vector |= other.vector;
    }
};

// By the place of the kernel, as messages write it.
using NamesOfKernels = std::map<std::string, NamesUsed>;

struct KernelSource {
    TokenRange name;  // also "scope::name" or "name<int>"
    std::vector<ParameterName> parameters;
    bool is_template = false;
    std::vector<ParameterName> template_parameters;
    TokenRange body;  // braces included
    Cores cores;
    int schedule_mode = 0;
    bool threads = false;  // SIMT
    Place place;
};

struct VariableSource {
    std::string qualified_name;  // "::scope::name"
    std::string symbol;
    std::size_t begin = 0;  // offset of the declaration
    bool internal = false;  // no other file can name it
};

struct Declarations {
    std::vector<KernelSource> kernels;
    std::vector<VariableSource> variables;
    std::vector<std::string> problems;  // each with its place
    std::vector<std::string> warnings;
    NamesOfKernels inferred;  // of kernels whose cores follow from what they use
};

struct LanguageChoices {
    std::uint32_t architecture = 2201;
    bool simt = false;
    std::optional<Cores> cores;  // of kernels whose source does not choose; none: what they use decides
    NamesOfKernels also_used;    // in texts of the same source for other cores
};

// `threaded` holds the names of kernels that some launch gives threads.
Declarations find_declarations(const Tokens& tokens, const LanguageChoices& choices,
                               const std::vector<std::string_view>& threaded);

// A word of the language that stands before a type or a function and means nothing to the compiler. Sources may write
// out what other compilers have behind the words: `[aicore]` is __aicore__, `__attribute__((cce_kernel))` __global__.
struct Qualifier {
    std::string_view word;   // "__aicore__", however it is written
    std::size_t length = 0;  // tokens; 0: there is none
};

Qualifier qualifier_at(const Tokens& tokens, std::size_t index);

// The token behind the `>` that closes the `<` at `index`; `index` itself when that is no list.
std::size_t skip_angles(const Tokens& tokens, std::size_t index, std::size_t end);

// "FILE:LINE:COLUMN: error: TEXT"
std::string located(const Place& place, std::string_view text, std::string_view severity = "error");

}  // namespace canopy_cc
