// SPDX-License-Identifier: Apache-2.0
// The section "dump" of a configuration file: aclInit's, or that of aclmdlSetDump. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "foundation/json.h"

namespace canopy {

// What is written when a kernel fails; `watcher` is no failure: it watches outputs of chosen operators.
enum class DumpScene : std::uint8_t { none, brief, normal, detail, watcher };

// By the words of "dump_scene" and of ASCEND_DUMP_SCENE; nullopt for other words.
std::optional<DumpScene> dump_scene_of(std::string_view word) noexcept;
constexpr bool is_exception_scene(DumpScene scene) noexcept {
    return scene != DumpScene::none && scene != DumpScene::watcher;
}

struct DumpListEntry {
    std::string model;
    std::vector<std::string> layers;
    std::vector<std::string> watched;
    std::vector<std::string> left_out_types;  // of optype_blacklist
    std::vector<std::string> left_out_names;  // of opname_blacklist
};

struct DumpConfiguration {
    std::string path;  // without the address of a host
    bool inputs = false, outputs = true;
    bool launches = false;                       // dump_op_switch: launches outside of models
    bool statistics = false;                     // instead of the data
    std::vector<std::string> statistics_wanted;  // empty: all but L2norm
    bool overflow = false;                       // dump_debug
    DumpScene scene = DumpScene::none;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // first and last; empty: all
    std::vector<DumpListEntry> list;

    [[nodiscard]] bool wants_step(std::uint64_t step) const noexcept;
};

// Reads the section and checks it, the folder included. 100009 for everything that is not allowed.
Result<DumpConfiguration> read_dump_configuration(const Json& section);

}  // namespace canopy
