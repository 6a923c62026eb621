// SPDX-License-Identifier: Apache-2.0
// Executor: one operating-system thread in its role of running device work, and the guard around that work. Workers
// have one, and so does every host thread that helps. What runs inside `run` may fault, trap or never end: the
// process' signal handlers lead it back to the caller with a Fault instead.
//
// Fields marked "own" are written by the thread itself only; `cancel` may come from any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fiber.h"
#include "canopy/kernel_abi.h"
#include "device/backend.h"
#include "device/soft/execution/core.h"
#include "device/soft/execution/core_flags.h"
#include "device/soft/execution/task_owner.h"

namespace canopy {

class LaunchEnd;

// Marks what runs while a cancellation may take effect: signal handlers, the way into a kernel and out of it, services
// before they say that they are one. It may be left at any instruction, so it must not be inside the thread sanitizer's
// runtime, which would keep its locks for ever.
#if defined(__SANITIZE_THREAD__)
#define CANOPY_MAY_BE_LEFT __attribute__((no_sanitize_thread))
#else
#define CANOPY_MAY_BE_LEFT
#endif

// The SIMT threads of the block an executor runs, as far as the executor must know them (threads.h).
class BlockThreads {
public:
    virtual ~BlockThreads() = default;
    [[nodiscard]] bool active() const noexcept { return active_; }
    // The block has ended before its threads did.
    virtual void abandon() noexcept = 0;

protected:
    bool active_ = false;
};

// What the layers above keep with a thread that has an executor; ends with it.
class ThreadAttachment {
public:
    virtual ~ThreadAttachment() = default;
};

struct Fault {
    FaultKind kind = FaultKind::none;
    int signal = 0;
    std::uintptr_t address = 0;      // memory that was touched
    std::uintptr_t instruction = 0;  // where
    bool stack_overflow = false;
    const char* text = nullptr;  // of a failure that explains itself; in the executor until it runs the next thing
};

class Executor {
public:
    // The calling thread's; made on first use. nullptr when there is no memory for it.
    static Executor* current() noexcept;
    // The calling thread's if it has one; safe in a signal handler.
    static Executor* existing() noexcept;
    // The same without a call, for code in which no block suspends: what follows a suspension may be on another thread,
    // and must not reuse an address computed before it.
    [[gnu::always_inline]] CANOPY_MAY_BE_LEFT static Executor* here() noexcept { return current_; }
    ~Executor();

    // Runs `body(argument)` on `fiber` (nullptr: the thread's own) until it finishes, suspends or must be abandoned;
    // `fault` tells why in the last case. Work without a block (copies and the like) always ends: it may fault, but is
    // not cancelled.
    Fiber::Exit run(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock* block, Fault& fault) noexcept;
    Fiber::Exit resume(Fiber* fiber, CanopyBlock* block, Fault& fault) noexcept;

    // The same for a body that runs several things one after the other, each a step that it begins itself. It starts
    // inside a service and may be cancelled where it leaves it.
    Fiber::Exit run_steps(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept;
    CANOPY_MAY_BE_LEFT void begin_step(std::uint64_t timeout) noexcept {
        cancel_waits_ = false;  // one for the step before comes too late
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(&timeout_), timeout, __ATOMIC_RELAXED);
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(&step_),
                         __atomic_load_n(reinterpret_cast<std::uint64_t*>(&step_), __ATOMIC_RELAXED) + 2,
                         __ATOMIC_RELEASE);
    }

    // A kernel for CPU cores: on a stack of the size programs are used to. It may call into the C library, which must
    // not be left half way where that can be helped: a cancellation waits for a moment outside of it, but not for ever.
    Fiber::Exit run_cpu_kernel(Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept;

    // What it is doing, for the monitor and for abort.
    // `sequence`: how many commands of the owner came before it.
    void begin_task(const TaskOwner* owner, std::uint64_t sequence, std::uint64_t timeout) noexcept {
        owner_.store(owner, std::memory_order_relaxed);
        sequence_.store(sequence, std::memory_order_relaxed);
        timeout_.store(timeout, std::memory_order_relaxed);
    }
    void end_task() noexcept { owner_.store(nullptr, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t step() const noexcept { return step_.load(std::memory_order_acquire); }
    [[nodiscard]] static bool inside(std::uint64_t step) noexcept { return (step & 1) != 0; }
    [[nodiscard]] bool has_task() const noexcept { return owner_.load(std::memory_order_relaxed) != nullptr; }
    [[nodiscard]] std::uint64_t timeout() const noexcept { return timeout_.load(std::memory_order_relaxed); }

    // Whether the step runs a command of that owner with fewer than `limit` before it. Read the step first: if the
    // answer is about a later one it does no harm, because cancelling a step that is over has no effect.
    [[nodiscard]] bool runs(const TaskOwner* owner, std::uint64_t limit) const noexcept {
        return owner_.load(std::memory_order_relaxed) == owner && sequence_.load(std::memory_order_relaxed) < limit;
    }
    // Ends what runs in that step, from another thread.
    void cancel(std::uint64_t step, FaultKind why) noexcept;

    // Between these two a cancellation waits: the block is inside the runtime and may hold its locks. A fiber that
    // suspends does so inside a service and leaves it on the thread that resumed it.
    CANOPY_MAY_BE_LEFT void enter_service() noexcept { in_service_ = true; }
    CANOPY_MAY_BE_LEFT void leave_service() noexcept {
        in_service_ = false;
        if (cancel_waits_) [[unlikely]]
            give_way();
    }

    // Inside guarded code: ends it. The caller of `run` gets a fault of that kind with that text.
    [[noreturn]] void fail(FaultKind kind, std::string_view text) noexcept;

    // The core of a block that has the thread's own fiber; other blocks have theirs with their fiber.
    std::unique_ptr<SoftCore> own_core;
    // Flags of such a block, made anew by the first use in a step.
    CoreFlags& own_flags(CoreGroup group) noexcept;
    // SIMT threads of the running block; nullptr before the first.
    [[nodiscard]] BlockThreads* threads() const noexcept { return threads_.get(); }
    void set_threads(std::unique_ptr<BlockThreads> threads) noexcept { threads_ = std::move(threads); }
    [[nodiscard]] bool in_thread() const noexcept { return threads_ && threads_->active(); }
    // For these threads: which fiber runs now, and the end of the block because of a fault on `where`.
    void set_fiber(Fiber* now) noexcept;
    [[noreturn]] void abandon_with(const Fiber& where) noexcept;

    // Steps in which a block did nothing but poll.
    [[nodiscard]] std::uint64_t idle_steps() const noexcept { return idle_steps_.load(std::memory_order_relaxed); }
    void count_idle_step() noexcept { idle_steps_.store(idle_steps() + 2, std::memory_order_relaxed); }

    std::uint32_t items_run = 0;                  // own: blocks that ended here since it joined a launch
    std::uint32_t simt_thread = 0;                // own: number of the running SIMT thread
    Fiber* fiber = nullptr;                       // own: what runs now
    CanopyBlock* block = nullptr;                 // own: who runs now
    std::atomic<const void*> works_for{nullptr};  // own: the scheduler whose work it runs; set before begin_task
    std::atomic<bool> is_cpu_core{false};         // own: one of the threads that stand for CPU cores
    LaunchEnd* launch_end = nullptr;              // own: of the CPU kernel that runs
    pid_t thread = 0;
    std::atomic<ThreadAttachment*> attachment{nullptr};  // set once by the thread itself, deleted with the executor

    // the monitor's notes
    std::uint64_t seen_step = 0;
    std::uint64_t seen_idle_steps = 0;
    Nanoseconds seen_at = 0;

    Executor* next = nullptr;  // the registry's list
    Executor* previous = nullptr;

private:
    Executor() = default;
    friend struct FaultHandlers;
    [[noreturn]] void give_way() noexcept;

    // Reached from signal handlers: the access must not allocate.
    __attribute__((tls_model("initial-exec"))) static inline thread_local constinit Executor* current_ = nullptr;

    enum class Entry { start, start_in_service, resume };
    Fiber::Exit guarded(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock* block, Fault& fault,
                        Entry entry) noexcept;

    std::atomic<std::uint64_t> step_{0};  // own; odd while inside guarded code
    std::atomic<std::uint64_t> idle_steps_{0};
    std::atomic<const TaskOwner*> owner_{nullptr};
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint64_t> timeout_{0};
    std::atomic<std::uint64_t> cancel_step_{0};
    std::atomic<FaultKind> cancel_kind_{FaultKind::none};
    volatile bool in_service_ = false;
    volatile bool cancel_waits_ = false;
    volatile bool cpu_kernel_ = false;
    volatile std::uint32_t cancels_put_off_ = 0;
    std::uintptr_t stack_top_ = 0;  // of `fiber`
    Fault fault_;
    std::unique_ptr<Fiber> own_fiber_;
    std::unique_ptr<Fiber> large_fiber_;  // made for the first CPU kernel
    // What the C++ run time knows of the thread's exceptions, laid out as the Itanium ABI says. A kernel that is left
    // while it handles one must not leave its traces to the next.
    struct ExceptionState {
        void* caught;
        unsigned int uncaught;
    };
    ExceptionState* exception_state_ = nullptr;
    void* signal_stack_ = nullptr;
    std::unique_ptr<BlockThreads> threads_;
    CoreFlags own_flags_;
    std::uint64_t own_flags_step_ = 0;
    char text_[1024] = {};
};

// All executors of the process, for monitors and aborts. The visitor runs under the registry's lock: an executor seen
// there does not go away meanwhile.
template <class Visit>
void for_each_executor(Visit&& visit);
void visit_executors(void (*visit)(Executor&, void*), void* data) noexcept;

template <class Visit>
void for_each_executor(Visit&& visit) {
    visit_executors(
        [](Executor& executor, void* data) { (*static_cast<std::remove_reference_t<Visit>*>(data))(executor); },
        &visit);
}

// Before the first kernel for CPU cores runs, and after code was loaded: learns which code must not be left half way,
// and makes abort() inside such a kernel a failure of the kernel.
void prepare_for_cpu_kernels() noexcept;

// Stack size of blocks, set by the device before the first executor is made.
void set_block_stack_size(std::size_t size) noexcept;
std::size_t block_stack_size() noexcept;

}  // namespace canopy
