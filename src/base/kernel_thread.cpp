// SPDX-License-Identifier: Apache-2.0
#include "base/kernel_thread.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace canopy {
namespace {

// Such a kernel is ended with its process.
class KernelOfProcess final : public KernelThread {
public:
    void begin(std::uint32_t* asleep) noexcept {
        counted_in_ = reinterpret_cast<std::atomic<std::uint32_t>*>(asleep);
        begin_kernel();
    }
    void enter_runtime() noexcept override {}
    void leave_runtime() noexcept override {}
};
thread_local KernelOfProcess kernel_of_process;

}  // namespace

void set_kernel_of_process(std::uint32_t* asleep) noexcept { kernel_of_process.begin(asleep); }

bool KernelThread::fall_asleep(std::atomic<std::uint32_t>* word) noexcept {
    word_ = word;
    asleep_.store(true, std::memory_order_relaxed);
    all_asleep_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (counted_in_) counted_in_->fetch_add(1, std::memory_order_relaxed);
    if (!ending_) return true;
    wake_up();
    return false;
}

void KernelThread::wake_up() noexcept {
    word_ = nullptr;
    if (counted_in_) counted_in_->fetch_sub(1, std::memory_order_relaxed);
    asleep_.store(false, std::memory_order_relaxed);
    all_asleep_.fetch_sub(1, std::memory_order_relaxed);
}

#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize_thread))
#endif
void KernelThread::end_wait() noexcept {
    ending_ = true;
    std::atomic<std::uint32_t>* word = word_;
    if (!word) return;
    // Any change will do; the lowest bit says whether somebody sleeps.
    __atomic_fetch_add(reinterpret_cast<std::uint32_t*>(word), 2, __ATOMIC_SEQ_CST);
    ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void touch_memory_of_kernel(const void* address, std::size_t size, bool written) noexcept {
    constexpr std::size_t page = 4096;
    if (address == nullptr || size == 0) return;
    auto* bytes = static_cast<unsigned char*>(const_cast<void*>(address));
    const auto touch = [&](std::size_t at) {
        if (written)
            std::atomic_ref(bytes[at]).fetch_or(0, std::memory_order_relaxed);
        else
            static_cast<void>(*static_cast<volatile const unsigned char*>(bytes + at));
    };
    touch(0);
    if (size > 1) touch(size - 1);
    for (std::size_t at = page; at < size; at += page)
        static_cast<void>(*static_cast<volatile unsigned char*>(bytes + at));
}

}  // namespace canopy
