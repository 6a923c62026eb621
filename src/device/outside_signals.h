// SPDX-License-Identifier: Apache-2.0
// Words that other processes change and that streams of this process wait for. A thread that comes to such a wait looks
// at the word itself for a short time (OutsideWait). When it stops the stream instead, the devices know nothing about
// the word any more: a thread that looks for work anyway calls `poll`, which releases the streams whose wait is over.
// While no stream is stopped at such a word, this is one load of a null pointer, made by threads that have nothing to
// do. Any thread.
#pragma once

#include <atomic>

namespace canopy {

// What a wait in a stream is for. Every function is called by the thread that runs the stream at that moment.
class OutsideWait {
public:
    // True: it has come, and is taken if the wait takes it. A few instructions, no lock: called in the guard of a
    // launch.
    virtual bool look() noexcept = 0;
    // The stream stops. From now on the fence of the wait is signalled, perhaps at once.
    virtual void stop() noexcept = 0;
    // The wait is over or was dropped: the last call.
    virtual void end() noexcept = 0;

protected:
    ~OutsideWait() = default;
};

struct OutsideSignals {
    // Between the two the calling thread looks often, and other processes need not wake this one.
    void (*begin)() noexcept;
    void (*end)() noexcept;
    void (*poll)() noexcept;
};

// Null while no stream is stopped at a word of another process.
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
