// SPDX-License-Identifier: Apache-2.0
#include "base/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace canopy {

namespace context = boost::context::detail;

namespace {
constexpr std::size_t page = 4096;
}

struct FiberEntry {
    // First function on a fresh stack. It loops so that a finished fiber can start its next body without making a new
    // context.
    static void run(context::transfer_t from) {
        auto* fiber = static_cast<Fiber*>(from.data);
        fiber->caller_ = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(nullptr, &fiber->caller_stack_, &fiber->caller_size_);
#endif
        for (;;) {
            fiber->body_(fiber->argument_);
            fiber->leave(Fiber::Exit::finished);
        }
    }
};

Fiber::Fiber(std::size_t stack_size, bool guarded) noexcept {
    const std::size_t usable = (stack_size + page - 1) / page * page;
    const int access = guarded ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* memory = mmap(nullptr, usable + 2 * page, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    char* stack = static_cast<char*>(memory) + page;
    if (guarded && mprotect(stack, usable, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, usable + 2 * page);
        return;
    }
    stack_ = stack;
    size_ = usable;
}

Fiber::~Fiber() {
    discard();
    if (!stack_) return;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stack_, size_);  // poison of abandoned frames must not outlive the stack
#endif
    munmap(stack_ - page, size_ + 2 * page);
}

bool Fiber::on_stack(std::uintptr_t address) const noexcept {
    const auto low = reinterpret_cast<std::uintptr_t>(stack_);
    return address >= low - page && address < low + size_ + page;
}

Fiber::Exit Fiber::start(Body body, void* argument) noexcept {
    body_ = body;
    argument_ = argument;
    if (!context_) {
        context_ = context::make_fcontext(stack_ + size_, size_, &FiberEntry::run);
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(stack_, size_);
#endif
#if defined(__SANITIZE_THREAD__)
        own_fiber_ = __tsan_create_fiber(0);
#endif
    }
    return enter();
}

Fiber::Exit Fiber::resume() noexcept { return enter(); }

Fiber::Exit Fiber::enter() noexcept {
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_, size_);
#endif
#if defined(__SANITIZE_THREAD__)
    caller_fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(own_fiber_, 0);
#endif
    const context::transfer_t back = context::jump_fcontext(context_, this);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    context_ = back.fctx;
    const auto how = static_cast<Exit>(reinterpret_cast<std::uintptr_t>(back.data));
    if (how == Exit::abandoned) discard();
    return how;
}

void Fiber::discard() noexcept {
    context_ = nullptr;
    fake_stack_ = nullptr;
#if defined(__SANITIZE_THREAD__)
    if (own_fiber_) __tsan_destroy_fiber(own_fiber_);
    own_fiber_ = nullptr;
#endif
}

void Fiber::leave(Exit how) noexcept {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(how == Exit::abandoned ? nullptr : &fake_stack_, caller_stack_, caller_size_);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(caller_fiber_, 0);
#endif
    const context::transfer_t back =
        context::jump_fcontext(caller_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(how)));
    caller_ = back.fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack_, &caller_stack_, &caller_size_);
#endif
}

void Fiber::suspend() noexcept { leave(Exit::suspended); }

void Fiber::forget_frames() noexcept {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stack_, size_);
#endif
}

void Fiber::abandon() noexcept {
    leave(Exit::abandoned);
    __builtin_unreachable();
}

}  // namespace canopy
