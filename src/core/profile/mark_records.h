// SPDX-License-Identifier: Apache-2.0
// Records of marks and steps: those of the host, and those that a stream writes when it comes to them. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/ticks.h"
#include "profile/record.h"

namespace canopy {

// A range that has begun, on the host and perhaps on a stream, or a mark.
struct OpenMark {
    Ticks begin = 0;
    std::uint32_t name = 0;  // of the domain
    std::uint32_t text = 0;
    profile::MarkArgument argument;
    std::uint64_t link = 0;
    std::shared_ptr<std::uint64_t> stream_begin;  // ticks when a stream came to the begin; null without one
};

// A number for the link of a mark without a stream; never repeats.
std::uint64_t next_mark_number() noexcept;

// Writes the host's record: a moment, or a range that ends now.
void write_moment(const OpenMark& mark) noexcept;
void write_range(const OpenMark& mark) noexcept;

// Ranges that a thread opens and closes like brackets. A range without a number began while nobody asked for marks; it
// is not written. A thread whose objects are destroyed has no ranges, and can open none.
enum class RangeStack : std::uint8_t { marks, operators };
void push_on(RangeStack which, OpenMark range);
// Closes the range that the calling thread opened last. False: there is none.
bool pop_from(RangeStack which) noexcept;

// Queue a task that does what the name says when the stream comes to it. `link` receives the task. A stream whose tasks
// are dropped writes nothing.
Status mark_stream(const void* stream, OpenMark& mark);
Status begin_range_on_stream(const void* stream, OpenMark& mark);
Status end_range_on_stream(const void* stream, const OpenMark& mark);
Status step_on_stream(const void* stream, profile::StepForm form, std::uint16_t tag, std::uint64_t number,
                      std::uint64_t model);
// Only checks that the stream could take a task.
Status check_stream(const void* stream);

}  // namespace canopy
