// SPDX-License-Identifier: Apache-2.0
// Which cores a kernel needs when no qualifier says so: what its body declares, or which names it and the functions and
// classes it uses mention.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "declarations.h"

namespace canopy_cc {

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
    // What all of the definitions together use.
    [[nodiscard]] NamesUsed examine_all(const Tokens& tokens) const;

private:
    void examine_range(const Tokens& tokens, const TokenRange& range, CoreUse& use,
                       std::vector<std::string_view>& names) const;

    std::unordered_map<std::string_view, std::vector<TokenRange>> definitions_;
};

Cores inferred_cores(const NamesUsed& names);
// What a kernel that wants these cores runs on: a coupled chip has one kind of core, which does everything.
Cores cores_on(std::uint32_t architecture, Cores wanted);

}  // namespace canopy_cc
