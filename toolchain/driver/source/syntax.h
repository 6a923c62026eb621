// SPDX-License-Identifier: Apache-2.0
// Recognises small pieces of the language's syntax in tokens: qualifiers and lists in angle brackets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "source/lex.h"

namespace canopy_cc {

// Tokens from `begin` up to `end`.
struct TokenRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// A keyword of the language before a type or a function, which clang does not know. Sources may also use what the
// keywords expand to in other compilers: `[aicore]` is __aicore__, `__attribute__((cce_kernel))` is __global__.
struct Qualifier {
    std::string_view word;   // "__aicore__", however it is written
    std::size_t length = 0;  // tokens; 0: there is none
};

Qualifier qualifier_at(const Tokens& tokens, std::size_t index);

// The token after the `>` that closes the `<` at `index`; `index` itself if that is not a list.
std::size_t skip_angles(const Tokens& tokens, std::size_t index, std::size_t end);

// "FILE:LINE:COLUMN: error: TEXT"
std::string located(const Place& place, std::string_view text, std::string_view severity = "error");

}  // namespace canopy_cc
