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

// Sleeps while the word of 32 bits has this value, at most until the deadline.
void wait_on_word(const void* word, std::uint32_t value, Deadline deadline) noexcept;
void wake_word(const void* word, int threads) noexcept;

// A word to wait for a condition: bit 0 says that somebody sleeps, the rest counts wakes.
class WaitWord {
public:
    // Call before the condition is looked at for the last time. If the condition is changed inside a lock that may be
    // kept, SharedLock::show_to_keeper follows.
    [[nodiscard]] std::uint32_t prepare() noexcept { return word_.fetch_or(1, std::memory_order_seq_cst) | 1; }
    void sleep(std::uint32_t prepared, Deadline deadline) noexcept { wait_on_word(&word_, prepared, deadline); }
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
    // The same inside a kept lock, without a fence: those who prepare make this thread's memory ordered.
    void wake_inside_kept() noexcept {
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

// Orders the memory of all threads of all processes that keep locks with the caller's: what one of them stored before
// is seen here after, and the other way round. False if the system cannot.
bool order_keepers() noexcept;
// The same without the system's help: waits for longer than any processor holds a store back.
void order_keepers_surely() noexcept;
// Needed once before a process keeps locks; takes some milliseconds. False if the system cannot.
bool may_keep_locks() noexcept;

// Bits 0 to 30 are the number of the process that has the lock, 0 if nobody has it; bit 31 is set when somebody sleeps.
//
// A process whose thread takes the lock again and again may keep it (bit 32). That thread then enters and leaves with
// plain stores to a place of its own (bits 33 to 35) instead of atomic operations, which wait until earlier stores have
// arrived in the cache. Another thread that wants the lock sets bit 31, makes the system order the memory of the
// keepers, and looks at that place: if nobody is inside, nobody can come in any more, and the lock is taken over. The
// bits above tell uses of a place apart.
class SharedLock {
public:
    static constexpr std::uint32_t keepers = 8;
    struct alignas(128) Keeper {
        std::atomic<std::uint64_t> inside;  // the word of its lock, while inside
        std::atomic<ProcessNumber> process;
    };
    struct Keepers {
        Keeper all[keepers];
    };

    // `file` is the one the lock lies in. from_dead: its last owner died and left whatever it was doing. no: its owner
    // lives and has not left it for a tenth of a second; it may have been stopped.
    Locked lock(const SharedMemoryFile& file, Keepers& places, ProcessNumber self) noexcept {
        std::uint64_t none = 0;
        if (word_.compare_exchange_strong(none, self, std::memory_order_acquire, std::memory_order_relaxed)) [[likely]]
            return Locked::yes;
        return lock_slowly(file, places, self);
    }
    void unlock() noexcept {
        if ((word_.exchange(0, std::memory_order_release) & sleepers) != 0) [[unlikely]]
            wake_word(&word_, 1);
    }

    // By the thread that has the lock, instead of `unlock`: it may enter with the returned word from now on. 0: not
    // possible now, and the lock is still taken. may_keep_locks() comes first.
    std::uint64_t keep(const SharedMemoryFile& file, Keepers& places, ProcessNumber self) noexcept;
    // False: the lock is somebody else's; the thread calls `give_up` and forgets the word.
    [[nodiscard]] bool enter(Keepers& places, std::uint64_t kept) noexcept {
        place_of(places, kept).inside.store(kept, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return word_.load(std::memory_order_acquire) == kept;
    }
    // False: somebody waits for the lock; as above.
    [[nodiscard]] bool leave(Keepers& places, std::uint64_t kept) noexcept {
        place_of(places, kept).inside.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return word_.load(std::memory_order_relaxed) == kept;
    }
    void give_up(Keepers& places, std::uint64_t kept) noexcept;

    // Between WaitWord::prepare and the last look at what is changed inside this lock. False if the keeper may not have
    // seen it: look again soon.
    [[nodiscard]] bool show_to_keeper() noexcept {
        return (word_.load(std::memory_order_seq_cst) & kept_bit) == 0 || order_keepers();
    }

private:
    static constexpr std::uint64_t sleepers = std::uint64_t{1} << 31, kept_bit = std::uint64_t{1} << 32;
    static constexpr std::uint64_t process_bits = sleepers - 1;
    static constexpr int place_shift = 33, use_shift = 36;

    static Keeper& place_of(Keepers& places, std::uint64_t kept) noexcept {
        return places.all[kept >> place_shift & (keepers - 1)];
    }
    Locked lock_slowly(const SharedMemoryFile& file, Keepers& places, ProcessNumber self) noexcept;

    std::atomic<std::uint64_t> word_;  // sleepers wait on its first half, which is the lower one
    std::atomic<std::uint64_t> uses_;  // under the lock
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
