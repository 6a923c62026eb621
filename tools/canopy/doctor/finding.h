// SPDX-License-Identifier: Apache-2.0
// The findings of `canopy doctor`: places in a program that do not work, or work differently, on Canopy.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace canopy_tool {

enum class Level { hint, warning, error };  // error: does not build or run; warning: runs differently

std::string_view level_name(Level level);

struct Finding {
    std::string file;
    unsigned line = 0;
    Level level = Level::error;
    std::string name;       // what the program uses
    std::string group;      // uses of a group in one file are one finding; empty: the name
    std::string text;       // what is wrong with it
    std::string advice;     // what to do about it
    std::string condition;  // the condition around it, if any: of the preprocessor, of CMake or of a script
    unsigned uses = 1;      // in this file
};

// One finding for each file and group, at the first use.
class Findings {
public:
    // An error under a condition becomes a warning, because the condition may be false in this build.
    void add(Finding finding);

    // Sorted by file, line and text.
    [[nodiscard]] std::vector<Finding> sorted() const;

private:
    using Key = std::tuple<std::string, std::string>;  // file and group
    std::map<Key, Finding> findings_;
};

}  // namespace canopy_tool
