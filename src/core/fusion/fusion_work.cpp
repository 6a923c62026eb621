// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_work.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <thread>

#include "base/process_state.h"
#include "core/kernel/kernel.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Improvement {
    std::shared_ptr<Module> code;  // destroyed last
    const void* fusion = nullptr;
    std::function<void()> work;
};

struct Work {
    Mutex mutex;
    Condition changed;
    std::deque<Improvement> waiting CANOPY_GUARDED_BY(mutex);
    const void* running CANOPY_GUARDED_BY(mutex) = nullptr;
    bool stopping CANOPY_GUARDED_BY(mutex) = false;
    std::thread thread CANOPY_GUARDED_BY(mutex);
    ProcessStop stop;
    std::atomic<pid_t> owner{0};  // the process that owns the thread

    void run();
    [[nodiscard]] bool busy(const void* fusion) const CANOPY_REQUIRES(mutex) {
        if (!fusion) return running != nullptr || !waiting.empty();
        return running == fusion || std::any_of(waiting.begin(), waiting.end(),
                                                [&](const Improvement& each) { return each.fusion == fusion; });
    }
};

Work& work() { return process_state<Work>(); }

// Runs at a low priority, which the compiler inherits.
void Work::run() {
    constexpr int background = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), background);
    MutexLock lock(mutex);
    for (;;) {
        while (!stopping && waiting.empty()) changed.wait(mutex);
        if (stopping) return;
        Improvement next = std::move(waiting.front());
        waiting.pop_front();
        running = next.fusion;
        lock.unlock();
        try {
            next.work();
        } catch (...) {  // out of memory: the kernel stays as it is
        }
        next.work = nullptr;
        close_later({std::move(next.code)});
        lock.lock();
        running = nullptr;
        changed.notify_all();
    }
}

}  // namespace

void run_improvement(const void* fusion, std::function<void()> work_to_do, std::shared_ptr<Module> code) {
    Work& all = work();
    MutexLock lock(all.mutex);
    if (all.stopping) return;
    all.waiting.push_back({std::move(code), fusion, std::move(work_to_do)});
    if (!all.thread.joinable()) {
        static const int at_exit = std::atexit([] { stop_improvements(); });
        static_cast<void>(at_exit);
        all.owner.store(getpid(), std::memory_order_relaxed);
        all.thread = std::thread([&all] { all.run(); });
    }
    all.changed.notify_all();
}

bool wait_for_improvements(const void* fusion, Deadline deadline) {
    Work& all = work();
    MutexLock lock(all.mutex);
    while (all.busy(fusion)) {
        if (!all.changed.wait(all.mutex, deadline)) return !all.busy(fusion);
    }
    return true;
}

void stop_improvements() noexcept {
    Work& all = work();
    if (all.owner.load(std::memory_order_relaxed) != getpid()) return;  // no thread, or the parent process owns it
    std::deque<Improvement> dropped;
    std::thread thread;
    {
        MutexLock lock(all.mutex);
        if (!all.thread.joinable()) return;
        all.stopping = true;
        dropped.swap(all.waiting);
        thread.swap(all.thread);
        all.changed.notify_all();
    }
    all.stop.stop();
    thread.join();
    all.stop.lift();
    MutexLock lock(all.mutex);
    all.stopping = false;
}

ProcessStop& improvement_stop() noexcept { return work().stop; }

}  // namespace canopy
