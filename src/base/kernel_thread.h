// SPDX-License-Identifier: Apache-2.0
// CPU kernels that call the runtime. A kernel may be ended at any of its own instructions, but not while it is in a
// function of the runtime, which may hold locks: the function is finished first, and if it waits, it stops waiting.
//
// Threads: the one that runs the kernel, and signal handlers on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace canopy {

class KernelThread {
public:
    // nullptr unless the calling thread runs a CPU kernel.
    static KernelThread* current() noexcept { return current_; }

    // Around a function of the runtime. `leave_runtime` does not return if the kernel is to be ended.
    virtual void enter_runtime() noexcept = 0;
    virtual void leave_runtime() noexcept = 0;

    // For functions that wait, around each sleep. False: the kernel is to be ended, so do not sleep. If that happens
    // later, the word changes and its sleepers wake; without a word, the function sleeps in short steps.
    [[nodiscard]] bool fall_asleep(std::atomic<std::uint32_t>* word) noexcept;
    void wake_up() noexcept;
    // For other threads. any_asleep: a kernel of this process waits.
    [[nodiscard]] bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed); }
    [[nodiscard]] static bool any_asleep() noexcept { return all_asleep_.load(std::memory_order_relaxed) != 0; }
    // The kernel has called a function that may wait.
    [[nodiscard]] bool may_wait() const noexcept { return may_wait_; }
    void set_may_wait() noexcept { may_wait_ = true; }

protected:
    ~KernelThread() = default;
    void begin_kernel() noexcept {
        ending_ = false;
        may_wait_ = false;
        current_ = this;
    }
    void end_kernel() noexcept { current_ = nullptr; }
    // Called in a signal handler.
    void end_wait() noexcept;

private:
    __attribute__((tls_model("initial-exec"))) static inline thread_local constinit KernelThread* current_ = nullptr;
    static inline std::atomic<std::uint32_t> all_asleep_{0};
    std::atomic<bool> asleep_{false};
    std::atomic<std::uint32_t>* volatile word_ = nullptr;
    volatile bool ending_ = false;
    bool may_wait_ = false;

protected:
    std::atomic<std::uint32_t>* counted_in_ = nullptr;  // by another process, while asleep
};

// In a process that runs kernels for another one: the calling thread runs one. `asleep` counts it while it waits.
void set_kernel_of_process(std::uint32_t* asleep) noexcept;

// Reads memory that a kernel gave to the runtime, and writes to its ends if the runtime will write it: a bad address
// fails here, in the kernel, and not in a function that holds locks.
void touch_memory_of_kernel(const void* address, std::size_t size, bool written) noexcept;

}  // namespace canopy
