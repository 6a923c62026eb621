// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the mstx functions, in domains. CANOPY_MSTX_INCLUDE and CANOPY_MSTX_EXCLUDE, lists with commas,
// name the domains whose marks are kept; the first counts if both are set. Any thread.
#pragma once

#include <cstdint>

#include "core/base/handles.h"

namespace canopy {

inline constexpr std::size_t longest_mstx_message = 156;
inline constexpr std::size_t longest_mstx_domain = 1023;

// While no profile asks for marks: nothing, 0. The same for text that is not allowed. Domain 0 is the default one.
Handle create_mstx_domain(const char* name) noexcept;
void destroy_mstx_domain(Handle domain) noexcept;
void mark_mstx(Handle domain, const char* message, const void* stream) noexcept;
std::uint64_t start_mstx_range(Handle domain, const char* message, const void* stream) noexcept;
// Ignores numbers of no open range, and of ranges of other domains.
void end_mstx_range(Handle domain, std::uint64_t range) noexcept;

}  // namespace canopy
