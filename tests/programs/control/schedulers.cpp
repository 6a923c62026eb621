// SPDX-License-Identifier: Apache-2.0
// The CPU-core part of the control program: several blocks, each with its share of the workers. They wait until all
// workers are present, hand out tasks that are ready, and tell the workers to leave at the end.
#include <sched.h>

#include "control.h"

namespace {

template <class T>
T load(const T& word) {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <class T>
void store(T& word, T value) {
    __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

class Scheduler {
public:
    Scheduler(Control& control, uint32_t number, uint32_t count) : control_(control), number_(number), count_(count) {}

    void run() {
        meet();
        while (load(control_.finished) != control_.task_count)
            if (!round()) pause();
        for (uint32_t i = number_; i < control_.worker_count; i += count_) store(control_.workers[i].task, leave);
    }

private:
    void pause() const {
        if (control_.greedy == 0) sched_yield();
    }

    // Waits for all schedulers, then for all workers; each scheduler greets its own workers.
    void meet() {
        __atomic_add_fetch(&control_.arrived, 1u, __ATOMIC_ACQ_REL);
        while (load(control_.arrived) != count_) pause();
        for (uint32_t i = 0; i < control_.worker_count; ++i)
            while (load(control_.workers[i].present) != i + 1) pause();
        for (uint32_t i = number_; i < control_.worker_count; i += count_) {
            store(control_.workers[i].greeted, number_ + 1);
        }
    }

    // Visits every worker once. Returns false if there was nothing to do.
    bool round() {
        bool anything = false;
        for (uint32_t i = number_; i < control_.worker_count; i += count_) {
            Worker& worker = control_.workers[i];
            const uint32_t given = worker.task;  // written only here
            if (load(worker.done) != given) continue;
            if (given != 0 && !settled(i)) {
                settle(given - 1);
                set_settled(i);
                anything = true;
            }
            const uint32_t next = take();
            if (next == 0) continue;
            settled_ &= ~(uint64_t{1} << i);
            store(worker.task, next);
            anything = true;
        }
        return anything;
    }

    bool settled(uint32_t worker) const { return (settled_ >> worker & 1) != 0; }
    void set_settled(uint32_t worker) { settled_ |= uint64_t{1} << worker; }

    // Accounts for a finished task: tasks that were only missing this one become ready.
    void settle(uint32_t number) {
        const Task& task = control_.tasks[number];
        for (uint32_t i = 0; i < task.follower_count; ++i) {
            const uint32_t follower = control_.followers[task.followers + i];
            if (__atomic_sub_fetch(&control_.tasks[follower].missing, 1u, __ATOMIC_ACQ_REL) != 0) continue;
            const uint32_t place = __atomic_fetch_add(&control_.ready_end, 1u, __ATOMIC_ACQ_REL);
            store(control_.ready[place], follower + 1);
        }
        __atomic_add_fetch(&control_.finished, 1u, __ATOMIC_ACQ_REL);
    }

    // Returns a ready task + 1, or 0 if there is none now.
    uint32_t take() {
        uint32_t place = load(control_.ready_begin);
        while (place != load(control_.ready_end)) {
            if (!__atomic_compare_exchange_n(&control_.ready_begin, &place, place + 1, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE))
                continue;
            while (load(control_.ready[place]) == 0) pause();
            return load(control_.ready[place]);
        }
        return 0;
    }

    Control& control_;
    const uint32_t number_, count_;
    uint64_t settled_ = 0;  // a bit per worker: its last task is accounted for
};

}  // namespace

struct Block {
    uint32_t count, index;
};

extern "C" uint32_t RunCpuKernelWithBlock(void* arguments, Block* block) {
    Control* control = *static_cast<Control**>(arguments);
    if (control->worker_count > 64) return 1;
    Scheduler(*control, block->index, block->count).run();
    return 0;
}
