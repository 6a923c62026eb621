// SPDX-License-Identifier: Apache-2.0
// Worker: one operating-system thread in its role of running streams: its executor, which runs and guards the work, and
// what the thread has taken over or kept to run next. The scheduler's threads have one, and so does every host thread
// that waits for a stream and helps meanwhile.
//
// Used by the thread itself, but for `kept`.
#pragma once

#include "device/soft/execution/executor.h"
#include "device/soft/stream/hand_over.h"
#include "device/soft/stream/kept_runnables.h"

namespace canopy {

class Worker final : public ThreadAttachment {
public:
    // The calling thread's; made on first use. nullptr: no memory.
    static Worker* current() noexcept;
    // The calling thread's if it has one.
    static Worker* existing() noexcept {
        Executor* executor = Executor::existing();
        return executor ? of(*executor) : nullptr;
    }
    // The one of the thread that has this executor; nullptr: it has never run streams.
    static Worker* of(const Executor& executor) noexcept {
        return static_cast<Worker*>(executor.attachment.load(std::memory_order_acquire));
    }

    Executor& executor;
    HandOver hand_over;
    KeptRunnables kept;                 // lanes of graphs it will run
    bool offers = false;                // has offered them to its scheduler's other workers
    const Runnable* awaited = nullptr;  // the stream it waits for, while it drains that itself

private:
    explicit Worker(Executor& own) noexcept : executor(own) {}
};

}  // namespace canopy
