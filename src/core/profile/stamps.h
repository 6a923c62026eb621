// SPDX-License-Identifier: Apache-2.0
// Stamps: marks and ranges with a text, for profiles that ask for marks. While none does, there are no stamps. Any
// thread; a range that was pushed belongs to its thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

inline constexpr std::size_t longest_stamp_text = 127;

// Whether some profile asks for marks.
[[nodiscard]] bool marks_are_collected() noexcept;

Result<Handle> create_stamp();
void destroy_stamp(const void* stamp) noexcept;
Status set_stamp_text(const void* stamp, std::string_view text);
Status set_stamp_category(const void* stamp, std::uint32_t category);
Status check_stamp(const void* stamp);

Status mark_stamp(const void* stamp);
Status push_stamp(const void* stamp);
Status pop_stamp();
Result<std::uint32_t> start_stamp(const void* stamp);
Status stop_stamp(std::uint32_t range);
// A moment of the host, and one of the stream.
Status mark_on_stream(std::string_view text, const void* stream);

// Marks of programs that use Canopy's own functions.
void mark_moment(std::string_view text);
void push_range(std::string_view text);
Status pop_range();

}  // namespace canopy
