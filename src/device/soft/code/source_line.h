// SPDX-License-Identifier: Apache-2.0
// From an instruction of a kernel to the line of its source, for the texts of failures. Reads the line table that the
// compiler left in the image (-g, --sanitizer); images without one have no lines.
//
// Threads: any; reads the file of the loaded object each time, so it is for failures only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace canopy {

// "at FILE:LINE"; "near FILE:LINE" when the instruction is the kernel language's own, inlined behind that line; empty
// when the instruction belongs to no image or the image does not tell.
std::string source_line(std::uintptr_t instruction);

// The same for the innermost call of the calling thread that is in an image.
std::string calling_source_line();

// The same for an object file in memory and an address inside it, before relocation.
std::string source_line_in(std::span<const std::byte> object, std::uint64_t address);

}  // namespace canopy
