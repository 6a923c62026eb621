// SPDX-License-Identifier: Apache-2.0
// HostCalls: runtime threads that run user code between the tasks of streams. They are separate from the workers
// because user code may block. A thread is added when all are busy, so a call never waits for another stream's call.
#pragma once

#include <cstdint>
#include <deque>

#include "device/command.h"
#include "foundation/mutex.h"

namespace canopy {

class HostCalls {
public:
    HostCalls() = default;
    ~HostCalls();
    // Runs `call` on some thread, then `done(token)` on the same one. False if no thread can be started.
    bool run(const CallWork& call, void (*done)(void*), void* token) noexcept;

private:
    struct Entry {
        CallWork call;
        void (*done)(void*);
        void* token;
    };
    void thread_main() noexcept;

    Mutex mutex_;
    Condition news_;
    Condition ended_;
    std::deque<Entry> entries_ CANOPY_GUARDED_BY(mutex_);
    std::uint32_t threads_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint32_t idle_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool stopping_ CANOPY_GUARDED_BY(mutex_) = false;
};

}  // namespace canopy
