// SPDX-License-Identifier: Apache-2.0
#include "check/model/reports.h"

#include <canopy/kernel_abi.h>
#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace canopy::check {

const char* memory_name(int memory) {
    constexpr std::array<const char*, CANOPY_MEMORY_COUNT> names = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return memory >= 0 && memory < CANOPY_MEMORY_COUNT ? names[static_cast<std::size_t>(memory)] : "";
}

const char* short_pipe_name(unsigned pipe) {
    constexpr std::array<const char*, CANOPY_CHECK_PIPES + 1> names = {"S",    "V",    "M",   "MTE1",
                                                                       "MTE2", "MTE3", "FIX", "ALL"};
    return pipe < names.size() ? names[pipe] : "?";
}

std::string pipe_name(unsigned pipe) { return std::string("PIPE_") + short_pipe_name(pipe); }

std::string text_of(const CanopyCheckSite& site) {
    if (site.file == nullptr) return "a line that is not known";
    const std::string_view path = site.file;
    return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), site.line);
}

std::size_t Reports::Hash::operator()(const Key& key) const {
    std::size_t hash = reinterpret_cast<std::uintptr_t>(key.id) + static_cast<std::size_t>(key.memory);
    hash = hash * 31 + reinterpret_cast<std::uintptr_t>(key.kind);
    for (const Key::Place& place : key.places) {
        hash = hash * 31 + reinterpret_cast<std::uintptr_t>(place.file) + place.line;
        hash = hash * 31 + reinterpret_cast<std::uintptr_t>(place.operation);
        hash = hash * 31 + reinterpret_cast<std::uintptr_t>(place.core);
    }
    return hash * 0x9E3779B97F4A7C15U;
}

Reports::Key Reports::key_of(const char* id, const char* kind, int memory, std::span<const Side> sides) {
    Key key{id, kind, memory, {}};
    for (std::size_t i = 0; i < std::min(sides.size(), key.places.size()); ++i)
        key.places[i] = {sides[i].site.file, sides[i].site.operation, sides[i].core, sides[i].site.line};
    return key;
}

bool Reports::count_again(const char* id, const char* kind, int memory, std::span<const Side> sides) {
    const MutexLock lock(mutex_);
    const auto found = findings_.find(key_of(id, kind, memory, sides));
    if (found == findings_.end()) return false;
    ++found->second.count;
    return true;
}

void Reports::add(Level level, const char* id, const char* kind, int memory, std::string headline,
                  std::string explanation, std::string missing, std::span<const Side> sides) {
    if (count_again(id, kind, memory, sides)) return;
    Finding finding;
    finding.id = id;
    finding.level = level;
    if (kind != nullptr) finding.kind = kind;
    finding.kernel = kernel_;
    finding.device = device_;
    finding.memory = memory_name(memory);
    finding.headline = std::move(headline);
    finding.explanation = std::move(explanation);
    finding.missing = std::move(missing);
    for (const Side& side : sides) {
        Place place;
        if (side.site.file != nullptr) place.file = side.site.file;
        place.line = side.site.line;
        if (side.site.operation != nullptr) place.operation = side.site.operation;
        if (side.operand != nullptr) place.operand = side.operand;
        if (side.access != 0) place.access = (side.access & CANOPY_CHECK_WRITE) != 0 ? "write" : "read";
        if (side.pipe >= 0) place.pipe = pipe_name(static_cast<unsigned>(side.pipe));
        if (side.core != nullptr) {
            place.core = side.core->name();
            place.block = side.core->block;
        }
        place.address = side.address;
        place.bytes = side.bytes;
        place.number = side.number;
        finding.places.push_back(std::move(place));
    }
    const MutexLock lock(mutex_);
    if (findings_.size() >= most) {
        ++dropped_;
        return;
    }
    const auto [at, added] = findings_.try_emplace(key_of(id, kind, memory, sides), std::move(finding));
    if (!added) ++at->second.count;
}

bool Reports::first(const std::string& what) {
    const MutexLock lock(mutex_);
    return asked_.insert(what).second;
}

void Reports::flush() {
    std::vector<Finding> findings;
    std::uint64_t dropped = 0;
    {
        const MutexLock lock(mutex_);
        for (auto& [key, finding] : findings_) findings.push_back(std::move(finding));
        findings_.clear();
        dropped = std::exchange(dropped_, 0);
    }
    const auto rank = [](const Finding& finding) {
        const Place* last = finding.places.empty() ? nullptr : &finding.places.back();
        return std::tuple(last == nullptr ? -1 : last->block, last == nullptr ? "" : last->core,
                          last == nullptr ? 0 : last->number, finding.id, finding.kind, finding.memory,
                          finding.places.empty() ? 0 : finding.places.front().number);
    };
    std::ranges::stable_sort(findings, [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    for (Finding& finding : findings) sink_.add(std::move(finding));
    if (dropped != 0) {
        Finding more;
        more.id = "check.more";
        more.level = Level::note;
        more.kernel = kernel_;
        more.device = device_;
        more.headline = fmt::format("{} findings more than {} in one launch are not shown", dropped, most);
        sink_.add(std::move(more));
    }
}

}  // namespace canopy::check
