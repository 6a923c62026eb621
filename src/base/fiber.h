// SPDX-License-Identifier: Apache-2.0
// Fiber: code with its own stack that a thread can enter, that can suspend half way, and that can be
// thrown away while it is stuck or broken. Blocks of a kernel run on fibers: a barrier suspends them, a fault abandons
// them. A fiber may be resumed by another thread than the one that entered it first, but by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace canopy {

class Fiber {
public:
    using Body = void (*)(void*);
    enum class Exit : std::uintptr_t { finished = 1, suspended = 2, abandoned = 3 };

    // The stack lies between two guard pages unless `guarded` says otherwise: every guard page is a separate mapping,
    // and a process may have 65,530. A fiber without a stack (no memory) reports !valid().
    explicit Fiber(std::size_t stack_size, bool guarded = true) noexcept;
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    [[nodiscard]] bool valid() const noexcept { return stack_ != nullptr; }

    // Runs `body(argument)` from its start until it finishes, suspends or is abandoned.
    Exit start(Body body, void* argument) noexcept;
    // Goes on after a suspension.
    Exit resume() noexcept;
    // A suspended body is given up: the next start begins on a clean stack.
    void discard() noexcept;

    // Inside the body: suspends, returning to the caller that started or resumed it.
    void suspend() noexcept;
    // Inside the body: never comes back.
    [[noreturn]] void abandon() noexcept;
    // Inside the body, on the way to abandon from a stack pointer above its frames: what sanitizers know of them is
    // void.
    void forget_frames() noexcept;

    // Highest usable stack address, for code that must be sent to `abandon` from a signal handler.
    [[nodiscard]] void* stack_top() const noexcept { return stack_ + size_; }
    [[nodiscard]] bool on_stack(std::uintptr_t address) const noexcept;  // guard pages included

    Fiber* next = nullptr;  // for lists of its owner
    void* user = nullptr;

private:
    friend struct FiberEntry;
    Exit enter() noexcept;
    void leave(Exit how) noexcept;

    char* stack_ = nullptr;
    std::size_t size_ = 0;
    void* context_ = nullptr;  // where the body goes on; null: not begun
    void* caller_ = nullptr;   // where leave goes
    Body body_ = nullptr;
    void* argument_ = nullptr;
    // What the sanitizers want to know about stacks.
    void* own_fiber_ = nullptr;
    void* caller_fiber_ = nullptr;
    void* fake_stack_ = nullptr;
    const void* caller_stack_ = nullptr;
    std::size_t caller_size_ = 0;
};

}  // namespace canopy
