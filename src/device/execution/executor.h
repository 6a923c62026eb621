// SPDX-License-Identifier: Apache-2.0
// Executor: a thread that runs device work, and the guard around that work. Every worker has one, and so does every
// host thread that helps. Code inside `run` may fault, trap or never end: the process's signal handlers then return
// control to the caller with a Fault.
//
// Fields marked "own" are written only by the thread itself; `cancel` may be called from any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/fiber.h"
#include "base/kernel_thread.h"
#include "canopy/kernel_abi.h"
#include "device/driver.h"
#include "device/execution/core.h"
#include "device/execution/core_flags.h"
#include "device/execution/task_owner.h"
#include "foundation/clock.h"

namespace canopy {

class LaunchEnd;

// Marks code that runs while a cancellation may take effect: signal handlers, entry to and exit from a kernel, services
// before they call enter_service. It may be abandoned at any instruction, so it must not be inside the thread
// sanitizer's runtime, which would then hold its locks forever.
#if defined(__SANITIZE_THREAD__)
#define CANOPY_MAY_BE_LEFT __attribute__((no_sanitize_thread))
#else
#define CANOPY_MAY_BE_LEFT
#endif

// The SIMT threads of the block an executor runs, as the executor sees them (threads.h).
class BlockThreads {
public:
    virtual ~BlockThreads() = default;
    [[nodiscard]] bool active() const noexcept { return active_; }
    // Called if the block has ended before its threads.
    virtual void abandon() noexcept = 0;

protected:
    bool active_ = false;
};

// Data that the layers above keep per thread; destroyed with the executor.
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
    const char* text = nullptr;  // message, if the failure has one; valid until the executor's next run
};

// A place in a launch of a fused kernel, for failure reports.
struct FailedStep {
    std::uint32_t number = 0;
    const Kernel* kernel = nullptr;  // null: the step is not a kernel
    const Kernel* fused = nullptr;   // null: no fused kernel
};

class Executor final : public KernelThread {
public:
    // The calling thread's executor, made on first use. nullptr if there is no memory for it.
    static Executor* current() noexcept;
    // The calling thread's executor, if it has one; safe in a signal handler.
    static Executor* existing() noexcept;
    // The same, inlined. Only for code in which no block suspends: after a suspension the code may be on another thread
    // and must not reuse a thread-local address computed before.
    [[gnu::always_inline]] CANOPY_MAY_BE_LEFT static Executor* here() noexcept { return current_; }
    ~Executor();

    // Runs `body(argument)` on `fiber` (nullptr: the thread's own) until it finishes, suspends or must be abandoned; in
    // the last case `fault` says why. Work without a block (such as copies) always ends: it may fault, but is not
    // cancelled.
    Fiber::Exit run(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock* block, Fault& fault) noexcept;
    Fiber::Exit resume(Fiber* fiber, CanopyBlock* block, Fault& fault) noexcept;

    // The same for a body that runs several steps one after the other and begins each one itself. It starts inside a
    // service and may be cancelled while it is outside the service.
    Fiber::Exit run_steps(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept;
    CANOPY_MAY_BE_LEFT void begin_step(std::uint64_t timeout) noexcept {
        cancel_waits_ = false;  // a cancellation of the previous step comes too late
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(&timeout_), timeout, __ATOMIC_RELAXED);
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(&step_),
                         __atomic_load_n(reinterpret_cast<std::uint64_t*>(&step_), __ATOMIC_RELAXED) + 2,
                         __ATOMIC_RELEASE);
    }

    // Runs a kernel for CPU cores, on a stack of the size that programs usually have. The kernel may call into the C
    // library, which should not be abandoned midway: a cancellation waits until the kernel is outside it, but not
    // forever.
    Fiber::Exit run_cpu_kernel(Fiber::Body body, void* argument, CanopyBlock& who, Fault& fault) noexcept;

    // The task it runs, for the monitor and for abort. `sequence`: how many commands of the owner came before it.
    // `kernel`: nullptr if it is none.
    void begin_task(const TaskOwner* owner, std::uint64_t sequence, std::uint64_t timeout,
                    const Kernel* kernel = nullptr) noexcept {
        owner_.store(owner, std::memory_order_relaxed);
        sequence_.store(sequence, std::memory_order_relaxed);
        timeout_.store(timeout, std::memory_order_relaxed);
        kernel_.store(kernel, std::memory_order_relaxed);
    }
    // Before a step of the task that runs another kernel.
    CANOPY_MAY_BE_LEFT void set_kernel(const Kernel* kernel) noexcept {
        __atomic_store_n(reinterpret_cast<const Kernel**>(&kernel_), kernel, __ATOMIC_RELAXED);
    }
    // For other threads: only a number, for the kernel may be gone (kernel_names.h).
    [[nodiscard]] const Kernel* kernel() const noexcept { return kernel_.load(std::memory_order_relaxed); }
    [[nodiscard]] const TaskOwner* owner() const noexcept { return owner_.load(std::memory_order_relaxed); }
    void end_task() noexcept { owner_.store(nullptr, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t step() const noexcept { return step_.load(std::memory_order_acquire); }
    [[nodiscard]] static bool inside(std::uint64_t step) noexcept { return (step & 1) != 0; }
    [[nodiscard]] bool has_task() const noexcept { return owner_.load(std::memory_order_relaxed) != nullptr; }
    [[nodiscard]] std::uint64_t timeout() const noexcept { return timeout_.load(std::memory_order_relaxed); }

    // True if it runs a command of that owner with fewer than `limit` commands before it. Read the step first: an
    // answer about a later step does no harm, because cancelling a step that is over has no effect.
    [[nodiscard]] bool runs(const TaskOwner* owner, std::uint64_t limit) const noexcept {
        return owner_.load(std::memory_order_relaxed) == owner && sequence_.load(std::memory_order_relaxed) < limit;
    }
    // Cancels that step, from another thread.
    void cancel(std::uint64_t step, FaultKind why) noexcept;

    // Between these two calls a cancellation is deferred: the block is inside the runtime and may hold its locks. A
    // fiber suspends inside a service and leaves the service on the thread that resumed it.
    CANOPY_MAY_BE_LEFT void enter_service() noexcept { in_service_ = true; }
    CANOPY_MAY_BE_LEFT void leave_service() noexcept {
        in_service_ = false;
        if (cancel_waits_) [[unlikely]]
            give_way();
    }

    // The same for functions of the runtime that CPU kernels call.
    void enter_runtime() noexcept override { enter_service(); }
    void leave_runtime() noexcept override { leave_service(); }

    // Ends the guarded code that calls it. The caller of `run` gets a fault of that kind with that message.
    [[noreturn]] void fail(FaultKind kind, std::string_view text) noexcept;

    // The core of a block that runs on the thread's own fiber; other blocks use the core of their fiber.
    std::unique_ptr<SoftCore> own_core;
    // Flags of such a block, reset by the first use in a step.
    CoreFlags& own_flags(CoreGroup group) noexcept;
    // SIMT threads of the running block; nullptr before the first.
    [[nodiscard]] BlockThreads* threads() const noexcept { return threads_.get(); }
    void set_threads(std::unique_ptr<BlockThreads> threads) noexcept { threads_ = std::move(threads); }
    [[nodiscard]] bool in_thread() const noexcept { return threads_ && threads_->active(); }
    // For these threads: sets the fiber that runs now; ends the block because of a fault on `where`.
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
    std::atomic<bool> is_cpu_core{false};         // own: the thread acts as a CPU core
    LaunchEnd* launch_end = nullptr;              // own: of the running CPU kernel
    pid_t thread = 0;
    std::atomic<ThreadAttachment*> attachment{nullptr};  // set once by the thread itself, deleted with the executor

    // used only by the monitor
    std::uint64_t seen_step = 0;
    std::uint64_t seen_idle_steps = 0;
    Nanoseconds seen_at = 0;
    const Kernel* seen_kernel = nullptr;  // whose core type is `seen_core`
    CoreType seen_core = CoreType::vector;

    Executor* next = nullptr;  // the registry's list
    Executor* previous = nullptr;

private:
    Executor() = default;
    friend struct FaultHandlers;
    [[noreturn]] void give_way() noexcept;

    // Read in signal handlers, so the access must not allocate.
    __attribute__((tls_model("initial-exec"))) static inline thread_local constinit Executor* current_ = nullptr;

    enum class Entry { start, start_in_service, resume };
    Fiber::Exit guarded(Fiber* fiber, Fiber::Body body, void* argument, CanopyBlock* block, Fault& fault,
                        Entry entry) noexcept;

    std::atomic<std::uint64_t> step_{0};  // own; odd while inside guarded code
    std::atomic<std::uint64_t> idle_steps_{0};
    std::atomic<const TaskOwner*> owner_{nullptr};
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint64_t> timeout_{0};
    std::atomic<const Kernel*> kernel_{nullptr};
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
    // The C++ runtime's state of the thread's exceptions, in the layout of the Itanium ABI. Restored when a kernel is
    // abandoned, so that the next one does not see an exception being handled.
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

// Visits all executors of the process, for monitors and aborts. The visitor runs under the registry's lock, so an
// executor does not go away meanwhile.
template <class Visit>
void for_each_executor(Visit&& visit);
void visit_executors(void (*visit)(Executor&, void*), void* data) noexcept;

template <class Visit>
void for_each_executor(Visit&& visit) {
    visit_executors(
        [](Executor& executor, void* data) { (*static_cast<std::remove_reference_t<Visit>*>(data))(executor); },
        &visit);
}

// Call this before the first kernel for CPU cores runs and after code was loaded. Finds the code that must not be
// abandoned midway, and turns abort() inside such a kernel into a failure of the kernel.
void prepare_for_cpu_kernels() noexcept;

// Stack size of blocks, set by the device before the first executor is made.
void set_block_stack_size(std::size_t size) noexcept;
std::size_t block_stack_size() noexcept;

}  // namespace canopy
