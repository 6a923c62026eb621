// SPDX-License-Identifier: Apache-2.0
#include "finding.h"

#include <algorithm>

namespace canopy_tool {

std::string_view level_name(Level level) {
    constexpr std::string_view names[] = {"hint", "warning", "error"};
    return names[static_cast<int>(level)];
}

void Findings::add(Finding finding) {
    if (!finding.condition.empty() && finding.level == Level::error) finding.level = Level::warning;
    if (finding.group.empty()) finding.group = finding.name;
    const auto [place, is_new] = findings_.try_emplace(Key(finding.file, finding.group), finding);
    if (is_new) return;
    Finding& known = place->second;
    const unsigned uses = known.uses + finding.uses;
    // Keep the worst use; among equals, the first.
    if (std::pair(-static_cast<int>(finding.level), finding.line) <
        std::pair(-static_cast<int>(known.level), known.line))
        known = std::move(finding);
    known.uses = uses;
}

std::vector<Finding> Findings::sorted() const {
    std::vector<Finding> result;
    for (const auto& [key, finding] : findings_) result.push_back(finding);
    std::sort(result.begin(), result.end(), [](const Finding& one, const Finding& other) {
        return std::tie(one.file, one.line, one.text) < std::tie(other.file, other.line, other.text);
    });
    return result;
}

}  // namespace canopy_tool
