// SPDX-License-Identifier: Apache-2.0
// Who listens to records, and for what. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "profile/profile_file.h"
#include "profile/record.h"

namespace canopy::record {

using profile::Record;

// What somebody listens for.
enum Wanted : std::uint32_t {
    calls = 1u << 0,
    tasks = 1u << 1,  // and their details, copies, steps of fused launches
    nodes = 1u << 2,  // tasks of replayed graphs
    blocks = 1u << 3,
    memory = 1u << 4,  // and counters
    marks = 1u << 5,
    idle = 1u << 6,
    steps = 1u << 7,  // of training or inference
    everything = (1u << 8) - 1,
    // Not kinds of records. call_sites: calls note where they come from (want_call_sites). noted_calls: one of that and
    // `calls`, so that a call tests one bit.
    call_sites = 1u << 8,
    noted_calls = 1u << 9,
};

extern std::atomic<std::uint32_t> wanted_now;
[[nodiscard]] inline bool wants(std::uint32_t any_of) noexcept {
    return (wanted_now.load(std::memory_order_relaxed) & any_of) != 0;
}

// Called one at a time, by the collector or by a thread that listens, stops or flushes (recorder.h); nothing of it may
// wait for a stream or call such a function.
class Listener {
public:
    virtual ~Listener() = default;
    // Records of one thread, in order. All numbers in them have been told before.
    virtual void records(std::uint32_t thread, std::span<const Record> records) = 0;
    virtual void text(std::uint32_t number, std::string_view text) = 0;
    // Again if its name changes.
    virtual void thread(const profile::Thread& thread) = 0;
    virtual void device(const profile::DeviceFacts& device) = 0;
    virtual void stream(const profile::StreamFacts& stream) = 0;
    // So many more records of the thread are missing. Thread 0: of threads for which there was no ring.
    virtual void lost(std::uint32_t thread, std::uint64_t count) = 0;
};

}  // namespace canopy::record
