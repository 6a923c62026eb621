// SPDX-License-Identifier: Apache-2.0
#include "core/check/call_lines.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <string_view>
#include <vector>

#include "foundation/files.h"
#include "foundation/line_table.h"

namespace canopy {
namespace {

struct LoadedFile {
    std::string_view path;
    std::uintptr_t moved_by = 0;  // from the addresses in its file
};

bool find_module(std::uintptr_t address, LoadedFile& module) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr || info.dli_fname == nullptr)
        return false;
    // The program itself has no name in the list of the loader.
    module = {map->l_name != nullptr && *map->l_name != '\0' ? map->l_name : "/proc/self/exe", map->l_addr};
    return true;
}

check::Place look_up(std::uintptr_t return_address) {
    LoadedFile module;
    if (return_address == 0 || !find_module(return_address - 1, module)) return {};
    std::vector<std::byte> file;
    if (!read_file(std::string(module.path), file)) return {};
    const auto line = find_line(file, return_address - 1 - module.moved_by);
    check::Place place;
    if (!line) return place;
    place.file = line->file;
    place.line = line->line;
    return place;
}

enum class Owner { program, system, kernel };

Owner owner_of(std::uintptr_t address) {
    LoadedFile module, own;
    if (!find_module(address, module)) return Owner::system;
    if (find_module(reinterpret_cast<std::uintptr_t>(&look_up), own) && own.moved_by == module.moved_by)
        return Owner::system;
    if (module.path != "/proc/self/exe" && module.path.starts_with("/proc/")) return Owner::kernel;
    for (const std::string_view name : {"/libc.so", "/libstdc++.so", "/libgcc_s.so", "/libm.so", "/ld-linux"})
        if (module.path.find(name) != std::string_view::npos) return Owner::system;
    return Owner::program;
}

}  // namespace

check::Place CallLines::place(std::uintptr_t return_address) {
    MutexLock lock(mutex_);
    if (const auto found = known_.find(return_address); found != known_.end()) return found->second;
    return known_.emplace(return_address, look_up(return_address)).first->second;
}

std::string CallLines::text(const check::HostCall& call) {
    if (call.function == nullptr) return {};
    const check::Place at = place(call.from);
    return at.file.empty() ? std::string(call.function) : fmt::format("{} at {}:{}", call.function, at.file, at.line);
}

std::optional<check::Place> CallLines::place(std::span<const std::uintptr_t> return_addresses) {
    for (const std::uintptr_t address : return_addresses) {
        const Owner owner = owner_of(address - 1);
        if (owner == Owner::kernel) return std::nullopt;
        if (owner != Owner::program) continue;
        if (check::Place found = place(address); !found.file.empty()) return found;
    }
    return check::Place{};
}

}  // namespace canopy
