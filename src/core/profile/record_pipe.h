// SPDX-License-Identifier: Apache-2.0
// RecordPipe: a thread that writes the records of subscriptions into a pipe, so that a slow reader holds up nothing
// else. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <thread>

#include "core/profile/operator_records.h"
#include "foundation/mutex.h"

namespace canopy {

class RecordPipe {
public:
    explicit RecordPipe(int file);
    RecordPipe(const RecordPipe&) = delete;
    RecordPipe& operator=(const RecordPipe&) = delete;
    ~RecordPipe() { end(); }

    void send(const OperatorRecord& record);
    // Waits until the records are written, closes the pipe and returns how many were lost. Gives up when the reader has
    // closed its end, or has taken nothing for a second.
    std::size_t end() noexcept;
    [[nodiscard]] int file() const noexcept { return file_; }

private:
    static constexpr std::size_t most_waiting = 1u << 18;
    void run() noexcept;
    bool write_some(const OperatorRecord* records, std::size_t count) noexcept;

    const int file_;
    Mutex mutex_;
    Condition changed_;
    std::deque<OperatorRecord> waiting_ CANOPY_GUARDED_BY(mutex_);
    std::size_t lost_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool broken_ CANOPY_GUARDED_BY(mutex_) = false;  // nobody reads
    std::atomic<bool> ending_{false};
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace canopy
