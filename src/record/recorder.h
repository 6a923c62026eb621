// SPDX-License-Identifier: Apache-2.0
// Recording what a process does, for profiles. Every thread writes records into its own ring, without locks; one
// thread of the process, the collector, takes them out and tells the listeners.
//
//   if (record::wants(record::tasks)) [[unlikely]] record::write({...});
//
// While nobody listens, this is one load and one branch. A full ring drops its oldest records; listeners are told how
// many. A child made by fork has no listeners; its parent goes on. Any thread, unless a comment says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ticks.h"
#include "profile/profile_file.h"
#include "profile/record.h"
#include "record/listener.h"
#include "record/thread_records.h"

namespace canopy::record {

// ---- writing records ------------------------------------------------------------------------------------------------

// Makes the ring of the calling thread if somebody listens and it has none: before code that may be left at any
// instruction, which must not take locks.
void make_ring() noexcept;
inline void prepare_thread() noexcept {
    if (wants(everything) && thread_records.ring == nullptr) [[unlikely]]
        make_ring();
}
void write_without_ring(const Record& record) noexcept;
void lose_record() noexcept;

// Into the ring of the calling thread. Makes the ring on the first call of a thread; without memory the record is lost
// and counted.
inline void write(const Record& record) noexcept {
    if (Ring* const ring = thread_records.ring) [[likely]]
        ring->put(record);
    else
        write_without_ring(record);
}
// The same, for code that may be left at any instruction: a thread that was not prepared loses the record.
inline void write_if_prepared(const Record& record) noexcept {
    if (Ring* const ring = thread_records.ring) [[likely]]
        ring->put(record);
    else
        lose_record();
}

// The time from `begin` until now as the duration of a record.
[[nodiscard]] constexpr std::uint64_t duration_between(Ticks begin, Ticks end) noexcept {
    return end < begin ? 0 : end - begin < profile::longest_duration ? end - begin : profile::longest_duration;
}

// The number of a name: of kernels, functions, kinds of memory. The same name has the same number in the whole process.
// For an unlimited number of different texts use `text_number`.
std::uint32_t name_number(std::string_view name) noexcept;
// The same, for a string that always lies at the same address; faster.
std::uint32_t name_number_of_literal(const char* name) noexcept;
// The same, with a place that keeps the number of one name, for all threads; 0: not known yet.
std::uint32_t kept_name_number(std::uint32_t& number, std::string_view name) noexcept;
// The number of a text. Texts beyond profile::most_texts, or beyond 256 MiB, share one number, whose text says so.
std::uint32_t text_number(std::string_view text) noexcept;

// Names the calling thread in profiles. A thread without a name has that of the system.
void name_thread(profile::ThreadRole role, std::uint32_t index, std::string_view name) noexcept;

// ---- listening ------------------------------------------------------------------------------------------------------

// From now on the listener is told what it wants, after all texts, threads, devices and streams that are known.
void listen(std::shared_ptr<Listener> listener, std::uint32_t wanted);
// Everything written before this call is told, then the listener is forgotten. The caller must not be a listener.
void stop_listening(const std::shared_ptr<Listener>& listener);
// Everything written before this call is told before it returns. The caller must not be a listener.
void flush();

// Facts about devices and streams, for present and later listeners. Nothing is kept while nobody listens: `source` is
// called when the first listener comes and tells what there is then.
void tell_device(const profile::DeviceFacts& device);
void tell_stream(const profile::StreamFacts& stream);
void set_source_of_facts(void (*source)()) noexcept;
// From now on, in this process and its children, calls of the interface note where they come from.
void want_call_sites() noexcept;

// ---- files ----------------------------------------------------------------------------------------------------------

// Records into a file until `finish`, which the destructor calls too.
class Recording {
public:
    virtual ~Recording() = default;
    // Flushes, closes the file and says what was wrong with writing it; empty if nothing was.
    virtual Problem finish() = 0;
    [[nodiscard]] virtual const std::string& path() const noexcept = 0;
};
struct FileOptions {
    std::uint64_t limit = 0;        // the file stays below so many bytes; what comes later counts as lost; 0: no limit
    std::uint64_t devices = ~0ull;  // bit n: device n is recorded
};
Expected<std::unique_ptr<Recording>> record_to(const std::string& path, std::uint32_t wanted,
                                               const FileOptions& options = {});

}  // namespace canopy::record
