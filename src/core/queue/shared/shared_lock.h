// SPDX-License-Identifier: Apache-2.0
// Waiting and mutual exclusion on words in memory that several processes share. A word is the whole state: whatever
// another process writes into it, a thread here waits, takes it or gives up, and touches nothing else. (The robust
// mutexes of the C library keep pointers inside the shared bytes and follow them.)
//
// Knows nothing of the runtime. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/queue/shared/shared_file.h"
#include "foundation/clock.h"

namespace canopy {

// Sleeps while the word has this value, at most until the deadline.
void wait_on_word(std::atomic<std::uint32_t>& word, std::uint32_t value, Deadline deadline) noexcept;
void wake_word(std::atomic<std::uint32_t>& word, int threads) noexcept;

// A word to wait for a condition: bit 0 says that somebody sleeps, the rest counts wakes.
class WaitWord {
public:
    // Call before the condition is looked at for the last time.
    [[nodiscard]] std::uint32_t prepare() noexcept { return word_.fetch_or(1, std::memory_order_seq_cst) | 1; }
    void sleep(std::uint32_t prepared, Deadline deadline) noexcept { wait_on_word(word_, prepared, deadline); }
    // Call after the condition changed. A sleeper that was killed costs one needless wake.
    void wake() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with prepare
        look();
    }
    // The same, right after SharedLock::unlock.
    void wake_after_unlock() noexcept {
#if !defined(__x86_64__)  // there the exchange of the unlock is a fence
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
        std::atomic_signal_fence(std::memory_order_seq_cst);
        look();
    }
    [[nodiscard]] std::atomic<std::uint32_t>& word() noexcept { return word_; }

private:
    void look() noexcept {
        if ((word_.load(std::memory_order_relaxed) & 1) != 0) [[unlikely]]
            wake_sleepers();
    }
    void wake_sleepers() noexcept;
    std::atomic<std::uint32_t> word_;
};

enum class Locked : std::uint8_t { no, yes, from_dead };

// 0: free. Otherwise the number of the process that has it, and bit 31 when somebody sleeps.
class SharedLock {
public:
    // `file` is the one the lock lies in. from_dead: its last owner died and left whatever it was doing.
    Locked lock(const SharedMemoryFile& file, ProcessNumber self, Deadline deadline) noexcept {
        std::uint32_t none = 0;
        if (word_.compare_exchange_strong(none, self, std::memory_order_acquire, std::memory_order_relaxed)) [[likely]]
            return Locked::yes;
        return lock_slowly(file, self, deadline);
    }
    void unlock() noexcept {
        if ((word_.exchange(0, std::memory_order_release) & sleepers) != 0) [[unlikely]]
            wake_word(word_, 1);
    }

private:
    static constexpr std::uint32_t sleepers = 1u << 31;
    Locked lock_slowly(const SharedMemoryFile& file, ProcessNumber self, Deadline deadline) noexcept;
    std::atomic<std::uint32_t> word_;
};

// Tells the processor that this thread only waits.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace canopy
