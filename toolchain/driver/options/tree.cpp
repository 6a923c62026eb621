// SPDX-License-Identifier: Apache-2.0
#include "options/tree.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "base/process.h"

namespace canopy_cc {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) { return !path.empty() && access(path.c_str(), X_OK) == 0; }

std::string search_path(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const char* variable = getenv("PATH");
    std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        const std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), name);
        if (is_program(candidate)) return candidate;
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    return "";
}

// In this order: the user's choice, the one this driver was built for, the newest one installed.
std::string find_compiler() {
    if (const char* chosen = getenv("CANOPY_CLANG"); chosen != nullptr && *chosen != '\0') return search_path(chosen);
    if (is_program(CANOPY_CC_CLANG)) return CANOPY_CC_CLANG;
    for (int version = 25; version >= 16; --version)
        if (std::string found = search_path(fmt::format("clang++-{}", version)); !found.empty()) return found;
    return search_path("clang++");
}

// clang-19 is next to clang++-19.
std::string c_compiler(const std::string& compiler) {
    std::string name = compiler;
    const std::size_t at = name.rfind("++");
    if (at != std::string::npos) name.erase(at, 2);
    return is_program(name) ? name : compiler;
}

}  // namespace

std::string find_tree(Tree& tree) {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error) return fmt::format("cannot find the canopy-cc executable: {}", error.message());
    const fs::path root = executable.parent_path().parent_path();
    tree.kernel_headers = root / "toolchain/include";
    tree.headers = root / "include";
    tree.libraries = root / "lib64";
    tree.unsupported = root / "share/canopy/unsupported.tsv";
    tree.families = root / "share/canopy/families.txt";
    if (!fs::exists(fs::path(tree.kernel_headers) / "kernel_operator.h"))
        return fmt::format("{}/kernel_operator.h is missing; canopy-cc works from bin/ of an install tree",
                           tree.kernel_headers);
    tree.compiler = find_compiler();
    if (tree.compiler.empty()) {
        const char* chosen = getenv("CANOPY_CLANG");
        if (chosen != nullptr && *chosen != '\0')
            return fmt::format("CANOPY_CLANG names {}, which is not an executable program", chosen);
        return "no clang++ found; install clang-19, or name one in CANOPY_CLANG";
    }
    tree.c_compiler = c_compiler(tree.compiler);
    return {};
}

}  // namespace canopy_cc
