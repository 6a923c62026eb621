// SPDX-License-Identifier: Apache-2.0
#include "link_default.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <system_error>
#include <vector>

namespace canopy_tool {
namespace {

namespace fs = std::filesystem;

// A place where scripts look below ~/Ascend or /usr/local/Ascend, and the part of the tree that belongs there.
struct Place {
    const char* name;
    const char* target;
};
constexpr Place places[] = {
    {"ascend-toolkit/latest", ""},
    {"ascend-toolkit/set_env.sh", "set_env.sh"},
    {"cann", ""},
    {"driver/lib64", "lib64"},
};

struct Link {
    fs::path path;
    fs::path target;
};

int refuse(const std::string& text) {
    fmt::print(stderr, "canopy link-default: {}\n", text);
    return 2;
}

// The install tree that contains this program; empty: none.
fs::path find_tree() {
    std::error_code error;
    const fs::path tree = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
    return fs::exists(tree / "set_env.sh", error) ? tree : fs::path();
}

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

// The target of a link as an absolute path; empty for anything else.
fs::path destination(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    return error ? fs::path() : fs::weakly_canonical(path.parent_path() / target, error);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    const fs::path relative = path.lexically_relative(folder);
    return !path.empty() && !relative.empty() && *relative.begin() != "..";
}

std::string description(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::is_symlink(status)) return fmt::format("a link to {}", fs::read_symlink(path, error).string());
    return fs::is_directory(status) ? "a folder" : "a file";
}

bool confirmed(const LinkDefaultOptions& options, std::string_view question) {
    if (options.yes) return true;
    fmt::print("{} [y/N] ", question);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

// Asks, then runs `step` for each link. Returns the exit status of the command.
template <class Step>
int carry_out(const LinkDefaultOptions& options, const std::vector<Link>& links, std::string_view verb, Step step) {
    if (links.empty() || options.dry_run) return 0;
    if (!options.yes && isatty(STDIN_FILENO) == 0)
        return refuse(fmt::format("there is no terminal to ask on; --yes {}s without asking", verb));
    if (!confirmed(options, fmt::format("Should canopy {} {}?", verb, links.size() == 1 ? "it" : "them"))) {
        fmt::print("Nothing was done.\n");
        return 1;
    }
    for (const Link& link : links) {
        std::error_code error;
        step(link, error);
        if (!error) continue;
        fmt::print(stderr, "canopy link-default: cannot {} {}: {}\n", verb, link.path.string(), error.message());
        return 1;
    }
    return 0;
}

int make_links(const LinkDefaultOptions& options, const fs::path& prefix, const fs::path& tree) {
    std::vector<Link> missing;
    bool blocked = false;
    for (const Place& place : places) {
        const Link link{prefix / place.name, *place.target == '\0' ? tree : tree / place.target};
        if (!is_there(link.path)) {
            fmt::print("to create   {} -> {}\n", link.path.string(), link.target.string());
            missing.push_back(link);
        } else if (destination(link.path) == link.target) {
            fmt::print("exists      {}\n", link.path.string());
        } else {
            fmt::print("left alone  {}: {} already exists\n", link.path.string(), description(link.path));
            blocked = true;
        }
    }
    const int status = carry_out(options, missing, "create", [](const Link& link, std::error_code& error) {
        fs::create_directories(link.path.parent_path(), error);
        if (!error) fs::create_symlink(link.target, link.path, error);
    });
    return status != 0 ? status : blocked ? 1 : 0;
}

int remove_links(const LinkDefaultOptions& options, const fs::path& prefix, const fs::path& tree) {
    std::vector<Link> ours;
    for (const Place& place : places) {
        const fs::path path = prefix / place.name;
        if (lies_in(destination(path), tree)) {
            fmt::print("to remove   {}\n", path.string());
            ours.push_back({path, {}});
        } else if (is_there(path)) {
            fmt::print("left alone  {}: {} is not a link into {}\n", path.string(), description(path), tree.string());
        }
    }
    return carry_out(options, ours, "remove", [&](const Link& link, std::error_code& error) {
        fs::remove(link.path, error);
        // Also removes a folder that is now empty; for any other, fs::remove fails.
        std::error_code ignored;
        if (!error && link.path.parent_path() != prefix) fs::remove(link.path.parent_path(), ignored);
    });
}

}  // namespace

int link_default(const LinkDefaultOptions& options) {
    const fs::path tree = find_tree();
    if (tree.empty()) return refuse("this program is not in an install tree; use the installed one");
    fs::path prefix = options.system ? "/usr/local/Ascend" : options.prefix;
    if (prefix.empty()) {
        const char* home = std::getenv("HOME");
        if (home == nullptr || *home == '\0') return refuse("HOME is not set; --prefix names the folder");
        prefix = fs::path(home) / "Ascend";
    }
    std::error_code error;
    prefix = fs::absolute(prefix, error).lexically_normal();
    if (error) return refuse(fmt::format("the folder for --prefix is unknown: {}", error.message()));
    return options.remove ? remove_links(options, prefix, tree) : make_links(options, prefix, tree);
}

}  // namespace canopy_tool
