// SPDX-License-Identifier: Apache-2.0
// Which pages of memory have been touched. The others read as zero and need not be copied. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory_range.h"

namespace canopy {

// Bytes [offset, offset + size) from the start of what was asked about.
struct TouchedPart {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

// Both return whole pages cut to the range, by rising offset; all of it if the system does not know.
// Part of a memory file.
std::vector<TouchedPart> touched_in_file(int descriptor, std::uint64_t offset, std::uint64_t size);
// Private memory of this process, from a page boundary on.
std::vector<TouchedPart> touched_here(const MemoryRange& range);

}  // namespace canopy
