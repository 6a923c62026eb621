// SPDX-License-Identifier: Apache-2.0
// Worker: a thread that runs streams: its executor, which runs and guards the work, and the runnables it has taken over
// or kept to run next. Each of the scheduler's threads has one, and so does every host thread that helps while it waits
// for a stream.
//
// Used only by its own thread, except for `kept`.
#pragma once

#include "device/engine/stream/hand_over.h"
#include "device/engine/stream/kept_runnables.h"
#include "device/execution/executor.h"

namespace canopy {

class Worker final : public ThreadAttachment {
public:
    // The calling thread's worker, made on first use. nullptr: no memory.
    static Worker* current() noexcept;
    // The calling thread's worker, if it has one.
    static Worker* existing() noexcept {
        Executor* executor = Executor::existing();
        return executor ? of(*executor) : nullptr;
    }
    // The worker of the thread with this executor; nullptr if that thread has never run streams.
    static Worker* of(const Executor& executor) noexcept {
        return static_cast<Worker*>(executor.attachment.load(std::memory_order_acquire));
    }

    Executor& executor;
    HandOver hand_over;
    KeptRunnables kept;                 // lanes of graphs it will run
    bool offers = false;                // has offered them to its scheduler's other workers
    const Runnable* awaited = nullptr;  // the stream it waits for, while it drains it itself

private:
    explicit Worker(Executor& own) noexcept : executor(own) {}
};

}  // namespace canopy
