// SPDX-License-Identifier: Apache-2.0
// BlackBox: a file in the run folder in which the rings of this process lie, with everything that is needed to read
// them. What was written stays there when the process is killed; a clean end removes it. profile::ProfileFile reads it.
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "foundation/clock.h"
#include "foundation/mutex.h"
#include "profile/profile_file.h"
#include "profile/profile_writer.h"
#include "record/ring.h"

namespace canopy::record {

class BlackBox {
public:
    // That of this process; nullptr if there is none.
    static BlackBox* present() noexcept { return present_.load(std::memory_order_acquire); }
    // Makes it; it stays as long as the process lives.
    static Problem begin();
    // In a child made by fork, which has none.
    static void leave_to_parent() noexcept;

    // Memory for a ring and where it lies in the file; nullptr if there is no room.
    Ring* ring(std::uint64_t& place) noexcept;
    // From the record of this number on, the ring is that of the thread.
    void owner(std::uint64_t place, std::uint32_t thread, std::uint64_t first) noexcept;
    void text(std::uint32_t number, std::string_view text) noexcept;
    void thread(const profile::Thread& thread) noexcept;
    void device(const profile::DeviceFacts& device) noexcept;
    void stream(const profile::StreamFacts& stream) noexcept;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::int64_t start() const noexcept { return start_; }
    // Removes the file. What is written afterwards is not kept.
    void remove() noexcept;

private:
    BlackBox(profile::ProfileWriter writer, std::string path, std::int64_t start)
        : path_(std::move(path)), start_(start), writer_(std::make_unique<profile::ProfileWriter>(std::move(writer))) {}
    void write_facts();
    // Another moment to convert times with, so that a process that ends at any time has one.
    void note_clock() CANOPY_REQUIRES(mutex_);
    template <class Write>
    void append(const Write& write) noexcept;

    static std::atomic<BlackBox*> present_;
    const std::string path_;
    const std::int64_t start_;  // of the file's head
    Mutex mutex_;
    std::unique_ptr<profile::ProfileWriter> writer_ CANOPY_GUARDED_BY(mutex_);  // none in a child
    Nanoseconds last_clock_ CANOPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace canopy::record
