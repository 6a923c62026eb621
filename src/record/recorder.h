// SPDX-License-Identifier: Apache-2.0
// Recording what a process does, for profiles. Every thread writes records into a ring of its own, without locks; one
// thread of the process, the collector, takes them out and tells the listeners.
//
//   if (record::wants(record::tasks)) [[unlikely]] record::write({...});
//
// While nobody listens, this is one load and one branch. A full ring drops its oldest records; listeners are told how
// many. Any thread, unless a comment says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/ticks.h"
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
    memory = 1u << 4,
    marks = 1u << 5,
    idle = 1u << 6,
    steps = 1u << 7,  // of training or inference
    everything = (1u << 8) - 1,
};

extern std::atomic<std::uint32_t> wanted_now;
[[nodiscard]] inline bool wants(std::uint32_t any_of) noexcept {
    return (wanted_now.load(std::memory_order_relaxed) & any_of) != 0;
}

// ---- writing records ------------------------------------------------------------------------------------------------

// Into the ring of the calling thread. Makes the ring on the first call of a thread; without memory the record is lost
// and counted.
void write(const Record& record) noexcept;

// The number of a name: of kernels, functions, kinds of memory. The same name has the same number in the whole process.
// For an unlimited number of different texts use `text_number`.
std::uint32_t name_number(std::string_view name) noexcept;
// The same, for a string that always lies at the same address; faster.
std::uint32_t name_number_of_literal(const char* name) noexcept;
// The number of a text. Texts beyond profile::most_texts share one number, whose text says so.
std::uint32_t text_number(std::string_view text) noexcept;

// Names the calling thread in profiles.
void name_thread(profile::ThreadRole role, std::uint32_t index, std::string_view name) noexcept;

// ---- listening ------------------------------------------------------------------------------------------------------

// Called by the collector only, one call at a time; nothing of it may wait for a stream.
class Listener {
public:
    virtual ~Listener() = default;
    // Records of one thread, in order. All numbers in them have been told before.
    virtual void records(std::uint32_t thread, std::span<const Record> records) = 0;
    virtual void text(std::uint32_t number, std::string_view text) = 0;
    virtual void thread(const profile::Thread& thread) = 0;
    virtual void device(const profile::DeviceFacts& device) = 0;
    virtual void stream(const profile::StreamFacts& stream) = 0;
    virtual void lost(std::uint32_t thread, std::uint64_t count) = 0;
};

// From now on the listener is told what it wants, after all texts, threads, devices and streams that are known.
void listen(std::shared_ptr<Listener> listener, std::uint32_t wanted);
// Everything written before this call is told, then the listener is forgotten. The caller must not be a listener.
void stop_listening(const std::shared_ptr<Listener>& listener);
// Everything written before this call is told before it returns. The caller must not be a listener.
void flush();

// Facts that later listeners are told, too.
void tell_device(const profile::DeviceFacts& device);
void tell_stream(const profile::StreamFacts& stream);

// ---- files ----------------------------------------------------------------------------------------------------------

// Records into a file until `finish`, the end of the process included (however it ends, with CANOPY_BLACKBOX).
class Recording {
public:
    virtual ~Recording() = default;
    // Flushes, closes the file and says what was wrong with writing it; empty if nothing was.
    virtual Problem finish() = 0;
    [[nodiscard]] virtual const std::string& path() const noexcept = 0;
};
Expected<std::unique_ptr<Recording>> record_to(const std::string& path, std::uint32_t wanted);

}  // namespace canopy::record
