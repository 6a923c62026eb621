// SPDX-License-Identifier: Apache-2.0
// What a process that uses devices tells about them: the figures that `canopy top` and `npu-smi` show, in the form in
// which they lie in its file in the run folder (figures_file.h writes it, processes.h reads it).
//
// The file: a page with a ProcessHeader, then `page_size` bytes for each device, in the order in which they were
// opened: a PageHeader, DeviceFigures, StreamFigures, RunningFigures. Times are on the monotonic clock, which all
// processes of a machine share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "foundation/clock.h"

namespace canopy::watch {

inline constexpr std::uint64_t signature = 0x3153455255474946;  // "FIGURES1"
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t header_size = 4096;
inline constexpr std::size_t page_size = 12288;
inline constexpr std::uint32_t most_devices = 64;
inline constexpr std::uint32_t most_streams = 128;  // listed of one device
inline constexpr std::uint32_t most_running = 72;

enum class StreamState : std::uint8_t { idle, ready, running, waiting };
inline constexpr std::uint8_t stream_states = 4;
enum class WaitsFor : std::uint8_t { nothing, event, word, host_call, cores, turn, graph };
inline constexpr std::uint8_t wait_reasons = 7;
// What a thread's work uses: cores of a chip, or the thread itself for copies.
enum class Unit : std::uint8_t { cube, vector, mix, copy, cpu };
inline constexpr std::uint8_t units = 5;

struct StreamFigures {
    std::int32_t id = -1;  // as the program knows it; -1: made by the runtime
    StreamState state = StreamState::idle;
    WaitsFor waits_for = WaitsFor::nothing;
    std::uint8_t priority = 0;
    std::uint8_t reserved = 0;
    std::uint64_t submitted = 0;
    std::uint64_t completed = 0;
    Nanoseconds since = 0;  // when it was first seen at this task; 0: it has none
};
static_assert(sizeof(StreamFigures) == 32);

struct RunningFigures {
    std::uint32_t thread = 0;
    std::int32_t stream = -1;  // -1: not known
    Unit unit = Unit::vector;
    std::uint8_t reserved[7] = {};
    Nanoseconds since = 0;  // when the thread was first seen at this block
    char name[72] = {};     // of the kernel; empty: a copy, a fill, or a kernel that is not known any more
};
static_assert(sizeof(RunningFigures) == 96);

struct DeviceFigures {
    Nanoseconds time = 0;
    std::uint32_t index = 0, physical = 0;  // the program's number, and that of all devices
    char kind[16] = {};
    char chip[32] = {};
    std::uint32_t cube_cores = 0, vector_cores = 0, cpu_cores = 0;
    std::uint32_t workers = 0;
    std::uint64_t memory = 0;  // bytes
    // Time that threads have spent inside tasks, by unit; a thread in work of unknown length counts as far as it came.
    std::uint64_t busy[units] = {};
    std::uint32_t recent_time = 0;    // of the window before `time`, in milliseconds
    std::uint16_t share[units] = {};  // of the time of the threads in that window, by unit, in 1/1000
    std::uint16_t reserved = 0;
    std::uint64_t submitted = 0, completed = 0;  // of all streams there have been
    std::uint32_t streams = 0;                   // there are now
    std::uint32_t streams_listed = 0, running_listed = 0;
    std::uint32_t asleep = 0;  // 1: nothing runs until `time` of a later page
};
static_assert(sizeof(DeviceFigures) % 8 == 0);

struct ProcessHeader {
    std::uint64_t signature = 0;
    std::uint32_t version = 0;
    std::int32_t process = 0;
    Nanoseconds started = 0;
    char name[64] = {};
    std::uint64_t checksum = 0;  // of the bytes before it
};

// One writer; readers copy the page and check it. The memory figures change without the rest.
struct PageHeader {
    std::atomic<std::uint64_t> sequence;  // odd while the page changes
    std::uint64_t checksum;               // of `length` bytes behind this header
    std::uint32_t length;
    std::uint32_t reserved;
    std::atomic<std::uint64_t> memory_used, memory_peak, allocations;
    char unused[16];
};
static_assert(sizeof(PageHeader) == 64);
static_assert(sizeof(PageHeader) + sizeof(DeviceFigures) + most_streams * sizeof(StreamFigures) +
                  most_running * sizeof(RunningFigures) <=
              page_size);

// Copies a text into a field, cut to its length.
template <std::size_t Size>
void set_text(char (&field)[Size], const char* text, std::size_t length) noexcept {
    std::size_t at = 0;
    for (; at < length && at + 1 < Size && text[at] != 0; ++at) field[at] = text[at];
    for (; at < Size; ++at) field[at] = 0;
}

}  // namespace canopy::watch
