// SPDX-License-Identifier: Apache-2.0
// What a profile says in figures and in words: sums over kernels, functions, streams, devices and copies, and findings.
//
// Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile_file.h"
#include "profile/words.h"

namespace canopy::profile {

inline constexpr std::size_t spark_bins = 48;  // of equal length, over the time of the profile
inline constexpr std::size_t most_findings = 10;
// In place of the number of a stream; of a wait for a value in memory, it is not known who wrote it.
inline constexpr std::uint32_t by_the_host = UINT32_MAX, by_a_write = UINT32_MAX - 1;

// A part of the profile that a reader may want to look at. Times are ticks.
struct Place {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t thread = 0;  // number of the thread that recorded it
    std::uint64_t link = 0;    // of the task, 0 for calls
};

// Times in nanoseconds, converted from exact sums of ticks.
struct Durations {
    std::uint64_t count = 0;
    double total = 0, least = 0, most = 0;
    double median = 0;  // within 5 %
    double variance = 0;
    [[nodiscard]] double average() const noexcept { return count != 0 ? total / static_cast<double>(count) : 0; }
};

// All launches of kernels with one name, and graph nodes of this kernel.
struct KernelSummary {
    std::uint32_t name_number = 0;
    std::string name;
    CoreKind core = CoreKind::none;
    bool cpu_kernel = false;
    bool built_in = false;
    Durations runs;
    double share = 0;             // of the time of all kernels, 0 to 1
    std::uint64_t in_graphs = 0;  // of the runs, as nodes of replayed graphs
    std::uint64_t blocks = 0;     // of all runs
    std::uint64_t least_blocks = 0, most_blocks = 0;
    std::uint64_t failed = 0;
    std::array<float, spark_bins> spark{};  // nanoseconds of its runs by the time at which they began
    Place longest;
};

// Parts of fused launches that ran this kernel, on all threads.
struct StepSummary {
    std::string name;
    Durations runs;
};

// A function of the interface. Calls inside calls are counted as well.
struct CallSummary {
    std::uint32_t name_number = 0;
    std::string name;
    Durations runs;
    std::uint64_t failed = 0;     // returned something other than 0
    std::uint64_t submitted = 0;  // tasks
    double device_idle = 0;       // of the total: no device did anything meanwhile
    Place longest;
};

// Waits of a stream with the same cause.
struct WaitSummary {
    std::uint32_t released_by = by_the_host;  // the stream whose task ended the waits
    std::string work;                         // what that stream did before: a kernel, a kind of copy; may be empty
    bool work_is_copy = false;
    std::uint64_t count = 0;
    double time = 0;
    Place longest;
};

// busy + waiting + idle is the time of the profile.
struct StreamSummary {
    std::uint32_t number = 0;
    std::uint32_t device = 0;
    std::uint64_t tasks = 0;
    std::uint64_t kernels = 0;
    double busy = 0;     // in tasks other than waits
    double waiting = 0;  // in waits
    double idle = 0;
    std::vector<WaitSummary> waits;  // longest first
};

struct DeviceSummary {
    std::uint32_t number = 0;
    std::string kind, chip;
    std::uint32_t cores = 0;    // on which kernels run
    std::uint32_t workers = 0;  // threads that run blocks
    std::uint64_t tasks = 0;
    double busy = 0;                                          // at least one stream was in a task other than a wait
    std::optional<double> worker_time;                        // in blocks; absent if blocks were not recorded
    std::optional<double> utilisation;                        // worker_time / (workers * time of the profile), 0 to 1
    std::optional<std::uint64_t> memory_peak, memory_at_end;  // bytes in use; absent if memory was not recorded
    Place peak;
};

struct CopySummary {
    CopyKind kind = CopyKind::unknown;
    std::uint32_t device = 0;
    std::uint64_t bytes = 0;
    Durations runs;
    // In GB/s (10^9 bytes), while copies of this kind ran; each counted by itself if several ran at once.
    [[nodiscard]] double bandwidth() const noexcept {
        return runs.total > 0 ? static_cast<double>(bytes) / runs.total : 0;
    }
};

// Replays of graphs, by stream.
struct ReplaySummary {
    std::uint32_t stream = 0;
    std::string name;
    Durations runs;
    std::uint64_t nodes = 0;  // of all replays, as far as recorded
};

struct Finding {
    enum class About : std::uint8_t {
        waiting_stream,
        few_blocks,
        host_bound,
        small_kernels,
        synchronisations,
        slow_copies,
        imbalance,
        failures,
        recording,
        lost_records,
    };
    About about = About::waiting_stream;
    std::string text;  // a sentence with its figures
    double stake = 0;  // nanoseconds that the matter may have cost
    std::optional<Place> place;
};

struct Summary {
    std::uint64_t begin = 0, end = 0;  // ticks of the first begin and the last end
    double time = 0;                   // nanoseconds between them
    std::uint64_t records = 0;
    std::uint64_t tasks = 0;
    std::uint64_t lost = 0;
    std::string damage;           // why the profile is incomplete; empty if it is whole
    double cost_of_a_record = 0;  // nanoseconds; 0 if unknown
    double cost_share = 0;        // of the processor time of the recorded threads: records x cost / (time x threads)

    std::vector<KernelSummary> kernels;  // longest total first, as all lists below
    std::vector<StepSummary> steps;
    std::vector<CallSummary> calls;
    std::vector<StreamSummary> streams;  // by number
    std::vector<DeviceSummary> devices;  // by number
    std::vector<CopySummary> copies;
    std::vector<ReplaySummary> replays;
    std::vector<Finding> findings;  // most at stake first, at most most_findings
};

}  // namespace canopy::profile
