// SPDX-License-Identifier: Apache-2.0
#include "check/classes.h"

#include <array>

namespace canopy::check {

namespace {

struct Name {
    std::string_view name;
    bool Classes::*member;
};

constexpr std::array<Name, 6> names = {{{"race", &Classes::race},
                                        {"cache", &Classes::cache},
                                        {"memory", &Classes::memory},
                                        {"init", &Classes::init},
                                        {"sync", &Classes::sync},
                                        {"host", &Classes::host}}};

bool set(Classes& classes, std::string_view name, bool value) {
    if (name == "all") {
        for (const Name& known : names) classes.*known.member = value;
        return true;
    }
    for (const Name& known : names) {
        if (known.name != name) continue;
        classes.*known.member = value;
        return true;
    }
    return false;
}

}  // namespace

std::optional<Classes> parse_classes(std::string_view text, std::string& problem) {
    Classes classes;
    set(classes, "all", false);
    bool first = true;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view word = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        const bool without = word.starts_with('-');
        if (without) word.remove_prefix(1);
        // A list that begins with what it leaves out means all others.
        if (without && first) set(classes, "all", true);
        first = false;
        if (!set(classes, word, !without)) {
            problem =
                "'" + std::string(word) + "' is no class of findings: race, cache, memory, init, sync, host or all";
            return std::nullopt;
        }
    }
    if (first) {
        problem = "no class of findings: race, cache, memory, init, sync, host or all";
        return std::nullopt;
    }
    return classes;
}

bool wants(const Classes& classes, std::string_view id) noexcept {
    if (id == "host.leak") return classes.leaks;
    for (const Name& known : names)
        if (id.substr(0, id.find('.')) == known.name) return classes.*known.member;
    return true;
}

}  // namespace canopy::check
