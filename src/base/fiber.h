// SPDX-License-Identifier: Apache-2.0
// Fiber: code with its own stack that can suspend midway and can be thrown away when it is stuck or broken. Kernel
// blocks run on fibers: a barrier suspends them, a fault abandons them. Different threads may resume a fiber, but only
// one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace canopy {

class Fiber {
public:
    using Body = void (*)(void*);
    enum class Exit : std::uintptr_t { finished = 1, suspended = 2, abandoned = 3 };

    // The stack lies between two guard pages unless `guarded` is false: each guard page is a separate mapping, and a
    // process may have 65,530. If the stack cannot be allocated, valid() is false.
    explicit Fiber(std::size_t stack_size, bool guarded = true) noexcept;
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    [[nodiscard]] bool valid() const noexcept { return stack_ != nullptr; }

    // Runs `body(argument)` from its start until it finishes, suspends or is abandoned.
    Exit start(Body body, void* argument) noexcept;
    // Continues after a suspension.
    Exit resume() noexcept;
    // Gives up a suspended body: the next start begins on a clean stack.
    void discard() noexcept;

    // Inside the body: suspends, returning to the caller that started or resumed it.
    void suspend() noexcept;
    // Inside the body: never returns.
    [[noreturn]] void abandon() noexcept;
    // Inside the body, before `abandon` is called with a stack pointer above the body's frames: clears what the
    // sanitizers recorded about those frames.
    void forget_frames() noexcept;

    // Highest usable stack address, for a signal handler that redirects code to `abandon`.
    [[nodiscard]] void* stack_top() const noexcept { return stack_ + size_; }
    [[nodiscard]] bool on_stack(std::uintptr_t address) const noexcept;  // guard pages included

    Fiber* next = nullptr;  // for the owner's lists
    void* user = nullptr;

private:
    friend struct FiberEntry;
    Exit enter() noexcept;
    void leave(Exit how) noexcept;

    char* stack_ = nullptr;
    std::size_t size_ = 0;
    void* context_ = nullptr;  // where the body resumes; null: not started
    void* caller_ = nullptr;   // where leave returns to
    Body body_ = nullptr;
    void* argument_ = nullptr;
    // State the sanitizers need to follow stack switches.
    void* own_fiber_ = nullptr;
    void* caller_fiber_ = nullptr;
    void* fake_stack_ = nullptr;
    const void* caller_stack_ = nullptr;
    std::size_t caller_size_ = 0;
};

}  // namespace canopy
