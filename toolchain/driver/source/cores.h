// SPDX-License-Identifier: Apache-2.0
// Determines the cores a kernel needs when no qualifier says so: from a declaration in its body, or from the names
// mentioned in it and in the functions and classes it uses.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/lex.h"
#include "source/syntax.h"

namespace canopy_cc {

struct Cores {
    std::uint32_t type = CANOPY_CORE_VECTOR;
    int cube = 0;
    int vector = 1;
};

// The kinds of names a kernel uses, directly or through what it calls.
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

struct CoreUse {
    std::optional<Cores> declared;  // KERNEL_TASK_TYPE_DEFAULT
    NamesUsed names;
    bool threads = false;
    std::string problem;
    Place problem_place;
};

// Definitions of the user's own functions and classes by name.
class DefinitionIndex {
public:
    void add(const Tokens& tokens, const TokenRange& head, const TokenRange& body);
    [[nodiscard]] CoreUse examine(const Tokens& tokens, const TokenRange& body) const;
    // The names that all definitions together use.
    [[nodiscard]] NamesUsed examine_all(const Tokens& tokens) const;

private:
    void examine_range(const Tokens& tokens, const TokenRange& range, CoreUse& use,
                       std::vector<std::string_view>& names) const;

    std::unordered_map<std::string_view, std::vector<TokenRange>> definitions_;
};

Cores inferred_cores(const NamesUsed& names);
// The cores a kernel gets on a chip: a coupled chip has one kind of core for everything.
Cores cores_on(std::uint32_t architecture, Cores wanted);

}  // namespace canopy_cc
