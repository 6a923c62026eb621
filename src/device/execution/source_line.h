// SPDX-License-Identifier: Apache-2.0
// Maps an instruction of a kernel to its source line, for failure messages. Reads the line table that the compiler left
// in the image (-g, --sanitizer); without one there are no lines.
//
// Threads: any. Every call reads the file of the loaded object, so use it for failures only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace canopy {

// "at FILE:LINE"; "near FILE:LINE" when the instruction comes from the kernel language's headers, inlined after that
// line; empty when the instruction is not in an image or the image has no line for it.
std::string source_line(std::uintptr_t instruction);

// The same for the innermost call of the calling thread that is in an image.
std::string calling_source_line();

// The same for an object file in memory and an address inside it, before relocation.
std::string source_line_in(std::span<const std::byte> object, std::uint64_t address);

}  // namespace canopy
