// SPDX-License-Identifier: Apache-2.0
#include "source/cores.h"

#include <canopy/chips.h>

#include <algorithm>
#include <unordered_set>

namespace canopy_cc {
namespace {

std::optional<Cores> cores_of_kernel_type(std::string_view type) {
    struct Row {
        std::string_view name;
        Cores cores;
    };
    static constexpr Row rows[] = {{"KERNEL_TYPE_AIV_ONLY", {CANOPY_CORE_VECTOR, 0, 1}},
                                   {"KERNEL_TYPE_AIC_ONLY", {CANOPY_CORE_CUBE, 1, 0}},
                                   {"KERNEL_TYPE_MIX_AIV_1_0", {CANOPY_CORE_MIX, 0, 1}},
                                   {"KERNEL_TYPE_MIX_AIC_1_0", {CANOPY_CORE_MIX, 1, 0}},
                                   {"KERNEL_TYPE_MIX_AIC_1_1", {CANOPY_CORE_MIX, 1, 1}},
                                   {"KERNEL_TYPE_MIX_AIC_1_2", {CANOPY_CORE_MIX, 1, 2}},
                                   {"KERNEL_TYPE_AICORE", {CANOPY_CORE_AICORE, 1, 1}},
                                   {"KERNEL_TYPE_VECTORCORE", {CANOPY_CORE_VECTOR, 0, 1}},
                                   {"KERNEL_TYPE_MIX_AICORE", {CANOPY_CORE_AICORE, 1, 1}},
                                   {"KERNEL_TYPE_MIX_VECTOR_CORE", {CANOPY_CORE_AICORE, 1, 1}}};
    for (const Row& row : rows)
        if (row.name == type) return row.cores;
    return std::nullopt;
}

// Words of which one is enough to tell the kind of core a function is for: functions of the language, raw instructions,
// the tensor interface, the C interface.
bool is_cube_name(std::string_view name) {
    static const std::unordered_set<std::string_view> names = {"Mmad",
                                                               "MmadMx",
                                                               "MmadWithSparse",
                                                               "LoadData",
                                                               "LoadDataWithTranspose",
                                                               "LoadDataWithSparse",
                                                               "LoadDataWithStride",
                                                               "Fixpipe",
                                                               "Nd2NzParams",
                                                               "MmadParams",
                                                               "mad",
                                                               "load_cbuf_to_ca",
                                                               "load_cbuf_to_cb",
                                                               "MmadOperation",
                                                               "CopyGM2L1",
                                                               "CopyL12L0A",
                                                               "CopyL12L0B",
                                                               "CopyL12L0ScaleA",
                                                               "CopyL12L0ScaleB",
                                                               "CopyL12BT",
                                                               "CopyL12FB",
                                                               "CopyL0C2GM",
                                                               "CopyL0C2L1",
                                                               "CopyL0C2UB",
                                                               "asc_mmad",
                                                               "asc_mmad_mx",
                                                               "asc_copy_l12l0a",
                                                               "asc_copy_l12l0b",
                                                               "asc_copy_l0c2gm",
                                                               "asc_copy_gm2l1"};
    return names.count(name) != 0;
}

bool is_vector_name(std::string_view name) {
    static const std::unordered_set<std::string_view> names = {
        "VECIN",     "VECOUT",    "VECCALC",        "copy_gm_to_ubuf",      "copy_ubuf_to_gm", "CopyGM2UB",
        "CopyUB2GM", "CopyUB2UB", "asc_copy_gm2ub", "asc_copy_gm2ub_align", "asc_copy_ub2gm",  "asc_copy_ub2gm_align"};
    return names.count(name) != 0;
}

}  // namespace

// The name of a class follows its keyword; that of a function precedes its parameters.
void DefinitionIndex::add(const Tokens& tokens, const TokenRange& head, const TokenRange& body) {
    if (body.end > body.begin) {
        for (std::size_t at = head.begin; at + 1 < head.end; ++at) {
            if (!tokens.is_identifier(at) || !tokens.is(at + 1, "(")) continue;
            if (qualifier_at(tokens, at).length != 0 || tokens.is(at, "__attribute__")) continue;
            definitions_[tokens.spelling(at)].push_back(body);
            // A member defined outside its class also counts for the class.
            if (at >= head.begin + 2 && tokens.is(at - 1, "::")) {
                std::size_t owner = at - 2;
                while (owner > head.begin && !tokens.is_identifier(owner)) --owner;
                definitions_[tokens.spelling(owner)].push_back(body);
            }
            return;
        }
        return;
    }
    for (std::size_t at = head.begin; at + 1 < head.end; ++at) {
        if (tokens.is(at, "template") && tokens.is(at + 1, "<")) {
            at = std::max(skip_angles(tokens, at + 1, head.end), at + 2) - 1;
            continue;
        }
        if (!tokens.is(at, "class") && !tokens.is(at, "struct")) continue;
        for (std::size_t brace = at + 1; brace < head.end; ++brace) {
            if (!tokens.is(brace, "{") || tokens.partner(brace) >= head.end) continue;
            definitions_[tokens.spelling(at + 1)].push_back({at + 1, tokens.partner(brace)});
            return;
        }
        return;
    }
    // using Alias = Something<...>;
    if (tokens.is(head.begin, "using") && tokens.is(head.begin + 2, "="))
        definitions_[tokens.spelling(head.begin + 1)].push_back({head.begin + 2, head.end});
}

void DefinitionIndex::examine_range(const Tokens& tokens, const TokenRange& range, CoreUse& use,
                                    std::vector<std::string_view>& names) const {
    for (std::size_t at = range.begin; at < range.end; ++at) {
        if (!tokens.is_identifier(at)) continue;
        const std::string_view text = tokens.spelling(at);
        if (text == "canopy_uses_matmul") use.names.matmul = true;
        if (text == "threadIdx" || text == "asc_syncthreads") use.threads = true;
        if (is_cube_name(text)) use.names.cube = true;
        if (is_vector_name(text)) use.names.vector = true;
        if (definitions_.count(text) != 0) names.push_back(text);
        if (text != "canopy_kernel_type" || !tokens.is(at + 1, "=")) continue;
        std::size_t last = at + 2;
        for (std::size_t value = at + 2; value < range.end && !tokens.is(value, ";"); ++value)
            if (tokens.is_identifier(value)) last = value;
        use.declared = cores_of_kernel_type(tokens.spelling(last));
        if (!use.declared) {
            use.problem = "KERNEL_TASK_TYPE_DEFAULT takes a name of the KERNEL_TYPE_ family";
            use.problem_place = tokens.place(tokens[at].begin);
        }
    }
}

CoreUse DefinitionIndex::examine(const Tokens& tokens, const TokenRange& body) const {
    CoreUse use;
    std::vector<std::string_view> names;
    std::unordered_set<std::string_view> seen;
    examine_range(tokens, body, use, names);
    const auto declared = use.declared;
    while (!names.empty()) {
        const std::string_view name = names.back();
        names.pop_back();
        if (!seen.insert(name).second) continue;
        for (const TokenRange& range : definitions_.at(name)) examine_range(tokens, range, use, names);
    }
    // A declaration inside another kernel does not apply to this one.
    if (declared) use.declared = declared;
    return use;
}

NamesUsed DefinitionIndex::examine_all(const Tokens& tokens) const {
    CoreUse use;
    std::vector<std::string_view> names;
    for (const auto& [name, ranges] : definitions_)
        for (const TokenRange& range : ranges) examine_range(tokens, range, use, names);
    return use.names;
}

Cores inferred_cores(const NamesUsed& names) {
    if (names.matmul || (names.cube && names.vector)) return {CANOPY_CORE_MIX, 1, 2};
    if (names.cube) return {CANOPY_CORE_CUBE, 1, 0};
    return {CANOPY_CORE_VECTOR, 0, 1};
}

Cores cores_on(std::uint32_t architecture, Cores wanted) {
    return canopy::is_coupled(architecture) ? Cores{CANOPY_CORE_AICORE, 1, 1} : wanted;
}

}  // namespace canopy_cc
