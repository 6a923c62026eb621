// SPDX-License-Identifier: Apache-2.0
// KeptBack: device memory that was freed while work ran which may still use it. It goes back to the heap once all
// that could run at that time has run. In two generations: the older one goes when the work it waits for has ended,
// then the younger one becomes the older; so memory comes back even while the device is never idle. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/heap.h"
#include "base/result.h"
#include "device/soft/stream/scheduler.h"

namespace canopy {

class KeptBack {
public:
    KeptBack(Heap& heap, Scheduler& scheduler) : heap_(heap), scheduler_(scheduler) {}

    // 107000 when it is kept back already: the program frees it twice.
    Status add(void* address);
    // Gives the heap what no work can use any more.
    void release_passed() noexcept;
    [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

private:
    void free_all(std::vector<void*>& addresses) noexcept;

    Heap& heap_;
    Scheduler& scheduler_;
    std::mutex mutex_;  // guards everything below; held while the heap takes memory back
    std::unordered_set<void*> known_;
    std::vector<void*> young_, old_;
    Scheduler::Backlog old_work_;  // what the older generation waits for
    std::atomic<std::size_t> count_{0};
};

}  // namespace canopy
