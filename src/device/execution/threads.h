// SPDX-License-Identifier: Apache-2.0
// SimtThreads: the SIMT threads of the block an executor runs. They run one after the other on the block's own stack. A
// thread that waits in a barrier keeps the stack it is on, and the next thread runs on another fiber.
//
// Threads: used only by the executor's operating-system thread. The pool of fibers behind it is shared.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "base/fiber.h"
#include "canopy/kernel_abi.h"
#include "device/execution/executor.h"

namespace canopy {

class SimtThreads final : public BlockThreads {
public:
    // The executor's instance, made on first use; nullptr: no memory.
    static SimtThreads* of(Executor& executor) noexcept;
    explicit SimtThreads(Executor& executor) noexcept : executor_(executor) {}
    ~SimtThreads() override { abandon(); }
    SimtThreads(const SimtThreads&) = delete;
    SimtThreads& operator=(const SimtThreads&) = delete;

    using Body = void (*)(void*);
    // The three phases of a run, called on the block's stack. begin and end are called inside a service.
    void begin(Body body, void* data, std::uint32_t count) noexcept;
    void run_on_block() noexcept;
    void end() noexcept;
    // Called from a SIMT thread, inside a service.
    void barrier(std::uint32_t first, std::uint32_t count) noexcept;
    void yield() noexcept;

    void abandon() noexcept override;

    // A fiber on which threads run, and the thread it runs now.
    struct ThreadFiber {
        explicit ThreadFiber(bool guarded) noexcept;
        Fiber fiber;
        std::uint32_t thread = 0;
        bool started = false;  // has a body that has not ended
        ThreadFiber* next = nullptr;
    };
    struct FiberQueue {
        ThreadFiber* first = nullptr;
        ThreadFiber* last = nullptr;
        void push(ThreadFiber* fiber) noexcept;
        ThreadFiber* pop() noexcept;
        void append(FiberQueue& other) noexcept;
    };

private:
    // Threads that wait in one barrier. The thread on the block's own stack is not in `waiting`: `own` represents it.
    struct Barrier {
        std::uint32_t first, count;
        std::uint32_t arrived = 0;
        bool own = false;
        FiberQueue waiting;
    };

    static void run_on_fiber(void* threads);
    bool arrive(std::uint32_t first, std::uint32_t count) noexcept;
    void release(std::size_t barrier) noexcept;
    bool release_left_behind() noexcept;
    void check_barrier(std::uint32_t first, std::uint32_t count) noexcept;
    Barrier* find_or_add(std::uint32_t first, std::uint32_t count) noexcept;
    void run_others() noexcept;
    bool run_one() noexcept;
    void enter(ThreadFiber* fiber) noexcept;
    ThreadFiber* take_fiber() noexcept;
    [[noreturn]] void fail_deadlock() noexcept;
    void finish() noexcept;

    Executor& executor_;
    Body body_ = nullptr;
    void* data_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t next_ = 0;          // the first thread that has not begun
    std::uint32_t finished_ = 0;      // threads that have ended
    bool own_waits_ = false;          // the thread on the block's stack waits in a barrier
    ThreadFiber* running_ = nullptr;  // null: the block's own stack
    FiberQueue ready_;
    FiberQueue yielded_;  // threads that poll; they run when no other can
    FiberQueue idle_;
    std::vector<ThreadFiber*> taken_;  // all fibers this block uses
    std::vector<Barrier> barriers_;
    std::bitset<CANOPY_MAX_THREADS> ended_;  // threads that have returned
};

}  // namespace canopy
