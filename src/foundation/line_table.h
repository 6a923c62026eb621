// SPDX-License-Identifier: Apache-2.0
// Source lines of machine code, from the line table that compilers leave in objects (-g).
//
// Threads: any. Every call reads the table, so use it for messages only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace canopy {

// exact: false for code that comes from a system header or the kernel language and was inlined after that line.
struct SourceLine {
    std::string file;
    unsigned line = 0;
    bool exact = true;
};

// Of an address in an object file in memory, before relocation; empty if the object has no line for it.
std::optional<SourceLine> find_line(std::span<const std::byte> object, std::uint64_t address);

}  // namespace canopy
