// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_work.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "core/kernel/kernel.h"

namespace canopy {
namespace {

struct Improvement {
    std::shared_ptr<Module> code;  // goes last
    std::shared_ptr<Fusion> fusion;
    FusionVariant* variant = nullptr;
};

struct Work {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Improvement> waiting;
    const Fusion* running = nullptr;
    bool stopping = false;
    ProcessStop stop;
    std::atomic<pid_t> owner{0};  // the process that has the thread
    std::thread thread;

    void run();
    [[nodiscard]] bool busy(const Fusion* fusion) const {
        if (!fusion) return running != nullptr || !waiting.empty();
        return running == fusion || std::any_of(waiting.begin(), waiting.end(),
                                                [&](const Improvement& each) { return each.fusion.get() == fusion; });
    }
};

// Never destroyed: threads may come late.
Work& work() {
    static Work* instance = new Work;
    return *instance;
}

// Programs go first, also before the compiler, which inherits that.
void Work::run() {
    constexpr int background = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), background);
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [&] { return stopping || !waiting.empty(); });
        if (stopping) return;
        Improvement next = std::move(waiting.front());
        waiting.pop_front();
        running = next.fusion.get();
        lock.unlock();
        try {
            next.fusion->improve(*next.variant);
        } catch (...) {  // no memory: the kernel stays as it is
        }
        next.fusion.reset();
        close_later({std::move(next.code)});
        lock.lock();
        running = nullptr;
        changed.notify_all();
    }
}

}  // namespace

void improve_later(std::shared_ptr<Fusion> fusion, FusionVariant& variant, std::shared_ptr<Module> code) {
    Work& all = work();
    std::lock_guard guard(all.mutex);
    if (all.stopping) return;
    all.waiting.push_back({std::move(code), std::move(fusion), &variant});
    if (!all.thread.joinable()) {
        static const int at_exit = std::atexit([] { stop_improvements(); });
        static_cast<void>(at_exit);
        all.owner.store(getpid(), std::memory_order_relaxed);
        all.thread = std::thread([&all] { all.run(); });
    }
    all.changed.notify_all();
}

bool wait_for_improvements(const Fusion* fusion, Deadline deadline) {
    Work& all = work();
    std::unique_lock lock(all.mutex);
    const auto idle = [&] { return !all.busy(fusion); };
    if (deadline.is_never()) {
        all.changed.wait(lock, idle);
        return true;
    }
    const auto left = std::chrono::nanoseconds(std::max<Nanoseconds>(deadline.at - now(), 0));
    return all.changed.wait_until(lock, std::chrono::system_clock::now() + left, idle);
}

void stop_improvements() noexcept {
    Work& all = work();
    if (all.owner.load(std::memory_order_relaxed) != getpid()) return;  // no thread, or that of the parent
    std::deque<Improvement> dropped;
    std::thread thread;
    {
        std::lock_guard guard(all.mutex);
        if (!all.thread.joinable()) return;
        all.stopping = true;
        dropped.swap(all.waiting);
        thread.swap(all.thread);
        all.changed.notify_all();
    }
    all.stop.stop();
    thread.join();
    all.stop.lift();
    std::lock_guard guard(all.mutex);
    all.stopping = false;
}

ProcessStop& improvement_stop() noexcept { return work().stop; }

}  // namespace canopy
