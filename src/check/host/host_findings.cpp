// SPDX-License-Identifier: Apache-2.0
#include "check/host/host_findings.h"

#include <fmt/format.h>

namespace canopy::check {

std::size_t UseTexts::Hash::operator()(const Key& key) const noexcept {
    std::uint64_t hash = key.call.from;
    for (const std::uint64_t part :
         {reinterpret_cast<std::uint64_t>(key.call.function), std::uint64_t{key.kernel} << 32 | key.stream,
          reinterpret_cast<std::uint64_t>(key.operation), reinterpret_cast<std::uint64_t>(key.file) + key.line})
        hash = (hash ^ part) * 0x9E3779B97F4A7C15u ^ hash >> 29;
    return hash ^ hash >> 32;
}

std::uint32_t UseTexts::kernel_number(std::string_view kernel) {
    if (kernel.empty()) return 0;
    if (const auto found = kernel_numbers_.find(kernel); found != kernel_numbers_.end()) return found->second;
    const std::string& kept = kernels_.emplace_back(kernel);
    return kernel_numbers_.emplace(kept, static_cast<std::uint32_t>(kernels_.size())).first->second;
}

std::string_view UseTexts::kept(std::string_view kernel) {
    const std::uint32_t number = kernel_number(kernel);
    return number == 0 ? std::string_view() : kernels_[number - 1];
}

std::uint32_t UseTexts::number(const HostCall& call, std::string_view kernel, std::uint32_t stream, unsigned device,
                               const CanopyCheckSite& site) {
    const Key key{call, kernel_number(kernel), stream, site.operation, site.file, site.line};
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back({call, std::string(kernel), stream, device, site.operation ? site.operation : "",
                      site.file ? site.file : "", site.line});
    numbers_.emplace(key, number);
    return number;
}

namespace {

bool writes(const MemoryUse& use) { return use.kind == UseKind::write || use.kind == UseKind::atomic; }

const char* hazard(const MemoryUse& first, const MemoryUse& second) {
    if (writes(first)) return writes(second) ? "WAW" : "RAW";
    return "WAR";
}

std::string name_of(const UseText& text) {
    if (!text.kernel.empty()) return "kernel " + text.kernel;
    return text.call.function ? text.call.function : "a call";
}

std::string with_agent(const UseText& text) {
    if (text.stream == 0) return name_of(text) + " of the host";
    return fmt::format("{} on stream {}", name_of(text), text.stream);
}

// "kernel scale writes there by DataCopy at rows.cpp:36"; empty if that is not known.
std::string inside(const UseText& text, const MemoryUse& use) {
    if (text.file.empty()) return {};
    const char* const how = writes(use) ? "writes" : "reads";
    const std::string by = text.operation.empty() ? "" : " by " + text.operation;
    return fmt::format("; {} {}{} at {}:{}", name_of(text), how, by, text.file, text.line);
}

Place place_of(const UseText& text, const MemoryUse& use, const UnorderedUses& uses, const FindingTexts& texts) {
    Place place = texts.place ? texts.place(text.call) : Place{};
    if (place.file.empty() && !text.file.empty()) {
        place.file = text.file;
        place.line = text.line;
    }
    place.operation = name_of(text);
    if (use.kind != UseKind::possible) place.access = writes(use) ? "write" : "read";
    place.pipe = text.stream == 0 ? "host" : fmt::format("stream {}", text.stream);
    place.address = uses.begin;
    place.bytes = uses.bytes;
    return place;
}

Level level_of(const UnorderedUses& uses) {
    const auto is = [&](UseKind kind) { return uses.first.kind == kind || uses.second.kind == kind; };
    // The host copies after everything that can run has ended, which only this runtime promises.
    if (!uses.freed && (uses.first_text.stream == 0 || uses.second_text.stream == 0)) return Level::note;
    return is(UseKind::possible) ? Level::warning : Level::error;
}

std::string why(const UnorderedUses& uses) {
    const std::string first = with_agent(uses.first_text), second = with_agent(uses.second_text);
    if (uses.freed && uses.first.kind == UseKind::possible)
        return fmt::format("the memory is freed while {}, which has a pointer to it, may still run", first);
    if (uses.freed) return fmt::format("the memory is freed while {} may still use it", first);
    if (uses.second_text.stream == 0)
        return fmt::format("no order: the host did not wait for {}; only this runtime drains the device before {}",
                           first, name_of(uses.second_text));
    if (uses.first_text.stream == 0) return fmt::format("no order: {} was submitted before {}", second, first);
    return fmt::format("no order: {} does not wait for {}", second, first);
}

}  // namespace

Finding make_finding(const UnorderedUses& uses, const FindingTexts& texts) {
    Finding finding;
    finding.id = uses.freed ? "host.free" : "host.stream";
    finding.level = level_of(uses);
    const bool possible = uses.first.kind == UseKind::possible || uses.second.kind == UseKind::possible;
    if (!uses.freed && !possible) finding.kind = hazard(uses.first, uses.second);
    finding.kernel = uses.second_text.kernel.empty() ? uses.first_text.kernel : uses.second_text.kernel;
    finding.device = uses.first_text.stream != 0 ? uses.first_text.device : uses.second_text.device;
    finding.headline = uses.freed ? "illegal free()"
                       : possible ? "Potential hazard between streams"
                                  : fmt::format("Potential {} hazard between streams", finding.kind);
    const std::string first = inside(uses.first_text, uses.first), second = inside(uses.second_text, uses.second);
    finding.explanation = why(uses) + first + (second == first ? "" : second);
    if (texts.allocation) {
        if (const std::optional<AllocationFacts> facts = texts.allocation(uses.begin)) {
            finding.memory = "GM";
            finding.explanation +=
                fmt::format("; {} bytes into the allocation of {} bytes", uses.begin - facts->address, facts->size);
            if (!facts->origin.empty()) finding.explanation += " by " + facts->origin;
        }
    }
    finding.missing = uses.freed || level_of(uses) == Level::note ? "synchronisation" : "event";
    finding.places.push_back(place_of(uses.first_text, uses.first, uses, texts));
    finding.places.push_back(place_of(uses.second_text, uses.second, uses, texts));
    if (uses.freed) finding.places.back().access.clear();
    return finding;
}

}  // namespace canopy::check
