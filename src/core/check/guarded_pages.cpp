// SPDX-License-Identifier: Apache-2.0
#include "core/check/guarded_pages.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>

namespace canopy {
namespace {

std::atomic<GuardedPages*> guarded_pages{nullptr};
struct sigaction earlier_action;

// Of the last fault of the thread that no copy explains.
__attribute__((tls_model("initial-exec"))) thread_local constinit std::uintptr_t unexplained = 0;

bool is_write(void* context) noexcept {
#if defined(__x86_64__)
    return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    static_cast<void>(context);
    return true;
#endif
}

std::uintptr_t instruction_at(void* context) noexcept {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#endif
}

// To the handler that was there before.
void pass_on(int signal, siginfo_t* info, void* context) {
    if ((earlier_action.sa_flags & SA_SIGINFO) != 0) return earlier_action.sa_sigaction(signal, info, context);
    if (earlier_action.sa_handler == SIG_DFL) {
        struct sigaction fallback = {};
        fallback.sa_handler = SIG_DFL;
        ::sigaction(signal, &fallback, nullptr);  // the fault happens again
    } else if (earlier_action.sa_handler != SIG_IGN) {
        earlier_action.sa_handler(signal);
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    GuardedPages* const pages = guarded_pages.load(std::memory_order_acquire);
    const int saved = errno;
    const bool sent = info->si_code <= 0;
    const bool taken =
        pages != nullptr && !sent &&
        pages->handle(reinterpret_cast<std::uintptr_t>(info->si_addr), is_write(context), instruction_at(context));
    errno = saved;
    if (!taken) pass_on(signal, info, context);
}

// Executors install theirs when a device is opened, which is before the first copy; this one has to come first, since a
// kernel may touch guarded memory, too.
void install_handler() noexcept {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigaction(SIGSEGV, &action, &earlier_action);
}

struct Walk {
    GuardedPages::Touch& touch;
    std::uintptr_t from;
    bool reached = false;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* frame, void* given) {
    Walk& walk = *static_cast<Walk*>(given);
    const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
    if (!walk.reached && address != walk.from) return _URC_NO_REASON;
    // The instruction that has faulted is not a call: look-ups go one byte back.
    walk.touch.stack[walk.touch.depth++] = walk.reached ? address : address + 1;
    walk.reached = true;
    return walk.touch.depth == walk.touch.stack.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool GuardedPages::begin(const MemoryRange& range, int file) {
    void* const again = ::mmap(nullptr, range.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (again == MAP_FAILED) return false;
    base_ = reinterpret_cast<std::uintptr_t>(range.base);
    size_ = range.size;
    own_ = reinterpret_cast<std::uintptr_t>(again);
    guarded_pages.store(this, std::memory_order_release);
    ready_.store(true, std::memory_order_release);
    return true;
}

bool GuardedPages::holds(DeviceAddress address) const noexcept {
    return ready_.load(std::memory_order_acquire) && address.value() - base_ < size_;
}

DeviceAddress GuardedPages::own(DeviceAddress address) const noexcept {
    return holds(address) ? address + (own_ - base_) : address;
}

GuardedPages::Pages GuardedPages::pages_of(const Copy& copy) noexcept {
    return {round_down(copy.begin, page_size()), round_up(copy.end, page_size())};
}

// As the copies that are left need it.
void GuardedPages::protect_again(const Pages& pages) noexcept {
    const auto size = [](const Pages& part) { return part.end - part.begin; };
    ::mprotect(reinterpret_cast<void*>(pages.begin), size(pages), PROT_READ | PROT_WRITE);
    for (const bool written : {false, true})
        for (const Copy& copy : copies_) {
            const Pages own = pages_of(copy);
            const Pages both{std::max(own.begin, pages.begin), std::min(own.end, pages.end)};
            if (copy.written != written || both.begin >= both.end) continue;
            ::mprotect(reinterpret_cast<void*>(both.begin), size(both), written ? PROT_NONE : PROT_READ);
        }
}

void GuardedPages::guard(const Copy& copy) {
    static const bool installed = (install_handler(), true);
    static_cast<void>(installed);
    SpinGuard guard(lock_);
    if (copies_.size() == most_copies) {  // the oldest one goes unguarded
        const Pages pages = pages_of(copies_.front());
        copies_.erase(copies_.begin());
        protect_again(pages);
    }
    copies_.push_back(copy);
    guarded_.store(copies_.size(), std::memory_order_relaxed);
    protect_again(pages_of(copy));
}

void GuardedPages::release(const std::function<bool(const Copy&)>& over) {
    if (guarded_.load(std::memory_order_relaxed) == 0) return;
    std::vector<Copy> ended;
    SpinGuard guard(lock_);
    for (const Copy& copy : copies_)
        if (over(copy)) ended.push_back(copy);
    std::erase_if(copies_, over);
    guarded_.store(copies_.size(), std::memory_order_relaxed);
    for (const Copy& copy : ended) protect_again(pages_of(copy));
}

bool GuardedPages::handle(std::uintptr_t address, bool write, std::uintptr_t instruction) noexcept {
    if (address - base_ >= size_) return false;
    SpinGuard guard(lock_);
    const std::uintptr_t page = round_down(address, page_size());
    bool found = false;
    for (std::size_t index = 0; index < copies_.size();) {
        const Copy copy = copies_[index];
        const Pages pages = pages_of(copy);
        if (page < pages.begin || page >= pages.end) {
            ++index;
            continue;
        }
        found = true;
        const bool touched = address >= copy.begin && address < copy.end && (write || copy.written);
        if (touched && touched_ < most_touches) {
            Touch& touch = touches_[touched_++];
            touch = {copy, write, address, {}, 0};
            Walk walk{touch, instruction};
            _Unwind_Backtrace(&note_frame, &walk);
        }
        copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));  // once is enough
        protect_again(pages);
    }
    guarded_.store(copies_.size(), std::memory_order_relaxed);
    // Another thread may have lifted the protection after this one ran into it; then a second try succeeds.
    const bool again = !found && unexplained == address;
    unexplained = found ? 0 : address;
    return !again;
}

std::vector<GuardedPages::Touch> GuardedPages::take_touches() {
    SpinGuard guard(lock_);
    std::vector<Touch> taken(touches_.begin(), touches_.begin() + static_cast<std::ptrdiff_t>(touched_));
    touched_ = 0;
    return taken;
}

}  // namespace canopy
