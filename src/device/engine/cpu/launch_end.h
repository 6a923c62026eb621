// SPDX-License-Identifier: Apache-2.0
// LaunchEnd: functions that blocks of a launch on CPU cores register to run after the whole launch has ended, even if
// it was ended by force and the blocks could not clean up themselves.
//
// Threads: `add` from any block; `run` by the thread that ends the launch, after its last block.
#pragma once

#include <atomic>
#include <new>

namespace canopy {

class LaunchEnd {
public:
    using Function = void (*)(void*);

    LaunchEnd() = default;
    LaunchEnd(const LaunchEnd&) = delete;
    LaunchEnd& operator=(const LaunchEnd&) = delete;
    ~LaunchEnd() { run(); }

    // False: out of memory.
    bool add(Function function, void* data) noexcept {
        if (!used_.exchange(true, std::memory_order_relaxed)) {  // enough for most launches
            first_ = {function, data, nullptr};
            return true;
        }
        Call* call = new (std::nothrow) Call{function, data, more_.load(std::memory_order_relaxed)};
        if (!call) return false;
        while (!more_.compare_exchange_weak(call->next, call, std::memory_order_release, std::memory_order_relaxed)) {
        }
        return true;
    }

    void run() noexcept {
        if (!used_.load(std::memory_order_relaxed)) return;
        for (Call* call = more_.exchange(nullptr, std::memory_order_acquire); call;) {
            call->function(call->data);
            Call* next = call->next;
            delete call;
            call = next;
        }
        first_.function(first_.data);
        used_.store(false, std::memory_order_relaxed);
    }

private:
    struct Call {
        Function function;
        void* data;
        Call* next;
    };
    std::atomic<bool> used_{false};
    Call first_{};
    std::atomic<Call*> more_{nullptr};
};

}  // namespace canopy
