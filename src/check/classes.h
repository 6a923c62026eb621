// SPDX-License-Identifier: Apache-2.0
// The classes of findings that a user asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace canopy::check {

// `leaks` is a separate option.
struct Classes {
    bool race = true, cache = true, memory = true, init = true, sync = true, host = true;
    bool leaks = false;
};

// "race,memory", "all", "all,-cache". Without a value, `problem` says what is wrong.
std::optional<Classes> parse_classes(std::string_view text, std::string& problem);

// Whether findings with this id, like "race.pipe", are asked for.
bool wants(const Classes& classes, std::string_view id) noexcept;

}  // namespace canopy::check
