// SPDX-License-Identifier: Apache-2.0
// The findings of one launch, on their way to the sink: equal ones are joined, so that what happens a million times
// costs one text. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "check/finding.h"
#include "check/model/order.h"
#include "foundation/mutex.h"

namespace canopy::check {

// A core, as findings name it.
struct NamedCore {
    std::uint32_t block = 0;
    std::uint32_t number_of_kind = 0;  // among the cores of its kind in the launch
    bool cube = false;

    [[nodiscard]] std::string name() const { return (cube ? "aic(" : "aiv(") + std::to_string(number_of_kind) + ")"; }
};

// "UB"; of a CanopyMemory.
const char* memory_name(int memory);
// "PIPE_V" and "V"; of a CanopyCheckPipe, or CANOPY_CHECK_ALL.
std::string pipe_name(unsigned pipe);
const char* short_pipe_name(unsigned pipe);
// "rows.cpp:30", or "a line that is not known".
std::string text_of(const CanopyCheckSite& site);

class Reports {
public:
    struct Side {
        CanopyCheckSite site{};
        const char* operand = nullptr;
        std::uint8_t access = 0;          // a CanopyCheckAccessKind, or 0
        int pipe = -1;                    // a CanopyCheckPipe; -1: none
        const NamedCore* core = nullptr;  // null: not in a kernel
        std::uint64_t address = 0;        // in local memories from their begin on
        std::uint64_t bytes = 0;
        Number number = 0;
    };

    Reports(FindingSink& sink, std::string kernel, unsigned device)
        : sink_(sink), kernel_(std::move(kernel)), device_(device) {}

    // `kind` is "RAW" and the like or null; `memory` a CanopyMemory or -1. Findings with the same id, kind, memory and
    // lines of one core are one.
    void add(Level level, const char* id, const char* kind, int memory, std::string headline, std::string explanation,
             std::string missing, std::span<const Side> sides);
    void add(Level level, const char* id, const char* kind, int memory, std::string headline, std::string explanation,
             std::string missing, std::initializer_list<Side> sides) {
        add(level, id, kind, memory, std::move(headline), std::move(explanation), std::move(missing),
            std::span(sides.begin(), sides.size()));
    }
    // Counts a finding that is there already; false: there is none. Saves its texts.
    bool count_again(const char* id, const char* kind, int memory, std::span<const Side> sides);
    bool count_again(const char* id, const char* kind, int memory, std::initializer_list<Side> sides) {
        return count_again(id, kind, memory, std::span(sides.begin(), sides.size()));
    }
    // True the first time that the launch asks.
    bool first(const std::string& what);

    // Passes all on to the sink, in an order that does not depend on threads.
    void flush();

private:
    struct Key {
        const char* id;
        const char* kind;
        int memory;
        struct Place {
            const char* file;
            const char* operation;
            const NamedCore* core;
            std::uint32_t line;
            bool operator==(const Place&) const = default;
        };
        std::array<Place, 3> places;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    // A launch with more different findings than this tells how many more there were.
    static constexpr std::size_t most = 4096;

    static Key key_of(const char* id, const char* kind, int memory, std::span<const Side> sides);

    FindingSink& sink_;
    const std::string kernel_;
    const unsigned device_;
    Mutex mutex_;
    std::unordered_map<Key, Finding, Hash> findings_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_set<std::string> asked_ CANOPY_GUARDED_BY(mutex_);
    std::uint64_t dropped_ CANOPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace canopy::check
