// SPDX-License-Identifier: Apache-2.0
// Findings that a user knows and does not want to see. A file has one line for each:
//
//     # a comment
//     race.pipe kernel=scale_* file=rows.cpp:41 with=rows.cpp:36
//
// The id and the names are patterns with * and ?. `file` and `with` are two places of a finding, in any order; a
// pattern without a slash stands for the last part of a path. What is not given fits everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/finding.h"
#include "foundation/problem.h"

namespace canopy::check {

// "*" stands for any text, "?" for one letter.
bool fits(const std::string& pattern, const std::string& text);
// The same for paths: the pattern may leave out folders at the beginning.
bool fits_file(const std::string& pattern, const std::string& path);

class Suppressions {
public:
    // Adds the lines of a file. Lines that cannot be used are left out, and named in `problems`.
    void read(const std::string& path, std::vector<std::string>& problems);
    void parse(std::string_view text, const std::string& path, std::vector<std::string>& problems);

    // Whether the finding is suppressed; notes the use of the lines that do.
    bool cover(const Finding& finding);
    // "known.txt:3: race.pipe file=rows.cpp".
    [[nodiscard]] std::vector<std::string> unused() const;

private:
    struct Lines {
        std::string file;
        std::optional<unsigned> line;
        [[nodiscard]] bool fit(const Place& place) const;
    };
    struct Line {
        std::string id, kernel;
        std::optional<Lines> file, with;
        std::string origin, text;
        bool used = false;
        [[nodiscard]] bool fits(const Finding& finding) const;
    };
    static Problem parse_line(std::string_view text, Line& line);

    std::vector<Line> lines_;
};

// The line that suppresses exactly this finding.
std::string suppression_of(const Finding& finding);

}  // namespace canopy::check
