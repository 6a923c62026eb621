// SPDX-License-Identifier: Apache-2.0
// Finds the declarations at namespace scope in the tokens of a preprocessed source: kernels, device variables, and the
// names of functions and classes. The compiler checks the rest of the language; this code only has to find where things
// begin.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/cores.h"
#include "source/lex.h"
#include "source/syntax.h"

namespace canopy_cc {

struct ParameterName {
    std::string name;
    bool pack = false;
    std::size_t insert_at = 0;  // where to insert a missing name; 0: the source has one
};

// Keyed by the kernel's location, as printed in messages.
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
    std::vector<std::string> problems;  // each with its location
    std::vector<std::string> warnings;
    NamesOfKernels inferred;  // of kernels whose cores are inferred from the names they use
};

struct LanguageChoices {
    std::uint32_t architecture = 2201;
    bool simt = false;
    std::optional<Cores> cores;  // for kernels whose source does not choose; none: inferred from what they use
    NamesOfKernels also_used;    // in the texts of the same source for other cores
};

// `threaded`: the names of kernels that some launch gives threads.
Declarations find_declarations(const Tokens& tokens, const LanguageChoices& choices,
                               const std::vector<std::string_view>& threaded);

}  // namespace canopy_cc
