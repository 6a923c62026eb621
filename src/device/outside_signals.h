// SPDX-License-Identifier: Apache-2.0
// Words that other processes change and that streams of this process wait for. The devices know nothing about them: a
// thread that looks for work anyway calls `poll`, which releases the streams whose wait is over. While nobody waits for
// such a word, this is one load of a null pointer, made by threads that have nothing to do. Any thread.
#pragma once

#include <atomic>

namespace canopy {

struct OutsideSignals {
    // Between the two the calling thread looks often, and other processes need not wake this one.
    void (*begin)() noexcept;
    void (*end)() noexcept;
    void (*poll)() noexcept;
};

// Null while no stream waits for a word of another process.
inline std::atomic<const OutsideSignals*> outside_signals{nullptr};

// Polls while it exists, if there is anything to poll at the start.
class OutsidePolling {
public:
    OutsidePolling() noexcept : signals_(outside_signals.load(std::memory_order_relaxed)) {
        if (signals_) [[unlikely]]
            signals_->begin();
    }
    ~OutsidePolling() {
        if (signals_) [[unlikely]]
            signals_->end();
    }
    OutsidePolling(const OutsidePolling&) = delete;
    OutsidePolling& operator=(const OutsidePolling&) = delete;
    void poll() const noexcept {
        if (signals_) [[unlikely]]
            signals_->poll();
    }

private:
    const OutsideSignals* const signals_;
};

}  // namespace canopy
