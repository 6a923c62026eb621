// SPDX-License-Identifier: Apache-2.0
// How findings are written: as text, as JSON, as SARIF.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/finding.h"
#include "foundation/json.h"

namespace canopy::check {

// Numbers of blocks, kept as stretches.
class Blocks {
public:
    void add(std::uint32_t block);
    [[nodiscard]] bool empty() const noexcept { return stretches_.empty(); }
    [[nodiscard]] std::string text() const;  // "block 3", "blocks 0..3, 7"
    [[nodiscard]] std::vector<std::uint32_t> numbers() const;

private:
    std::map<std::uint32_t, std::uint32_t> stretches_;  // first, last
};

// Equal findings as one.
struct Joined {
    Finding finding;
    Blocks blocks;
};

struct TextStyle {
    bool colours = false;
    bool twin_names = false;
};
// Some lines, each with its end.
std::string text_of(const Joined& joined, const TextStyle& style);
// "ErrorSync1"; empty: there is none.
std::string_view twin_name(const Finding& finding);

// What was found in a process, or in several.
struct Summary {
    std::uint64_t errors = 0, warnings = 0, notes = 0;             // findings
    std::uint64_t kernels = 0, launches = 0;                       // checked inside
    std::uint64_t suppressed = 0;                                  // findings
    std::vector<std::pair<std::string, std::string>> not_checked;  // kernels, and why
    std::vector<std::string> unused_suppressions;
};
// Lines, each with its end: "canopy check: 3 errors, 1 warning, 12 notes in 5 kernels, 240 launches".
std::string text_of(const Summary& summary);

// The lines of a file of findings. `process` comes second in each, so that a process knows its own lines.
Json json_of(const Joined& joined, std::int64_t process, bool twin_names);
Json json_of(const Summary& summary, std::int64_t process);
// The first bytes of the lines of a process.
std::string line_start(std::int64_t process);
bool is_summary(const Json& line) noexcept;
// Throws JsonError.
Summary summary_of(const Json& line);

// A document with the findings of such lines; summaries are left out. Throws JsonError.
std::string sarif_of(std::span<const Json> lines);

}  // namespace canopy::check
