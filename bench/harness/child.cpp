// SPDX-License-Identifier: Apache-2.0
#include "harness/child.h"

#include <fmt/core.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <stdexcept>

namespace bench {

nlohmann::ordered_json run_child(const std::string& name, const std::string& assignments, const Options& options) {
    char path[PATH_MAX] = {};
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) throw std::runtime_error("cannot find this program");
    const std::string command =
        fmt::format("{} '{}' --child {}{}", assignments, path, name, options.quick ? " --quick" : "");
    FILE* output = popen(command.c_str(), "r");
    if (!output) throw std::runtime_error("cannot start a child process");
    std::string text;
    char piece[4096];
    for (std::size_t size; (size = fread(piece, 1, sizeof(piece), output)) > 0;) text.append(piece, size);
    if (pclose(output) != 0) throw std::runtime_error(fmt::format("the child process {} failed: {}", name, text));
    return nlohmann::ordered_json::parse(text);
}

}  // namespace bench
