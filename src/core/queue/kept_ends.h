// SPDX-License-Identifier: Apache-2.0
// The ends of queues that a thread keeps: a thread that puts small items into the same queue again and again, or takes
// them out, keeps the lock of its writers or readers (Ring::keep_writing) and needs neither that lock nor a pin. Calls
// of other threads and processes take the lock away at any time; then the thread has to earn it again, by more items.
//
// A queue is given back to the system only when no thread is between begin_use and end_use of one of its ends: forget()
// waits for them. Each thread has its own ends; forget() is called by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/queue/shared/ring.h"

namespace canopy {

class DataQueue;

class alignas(64) KeptEnd {
public:
    // For an end that held the queue before. True: it is kept, and the queue stays in place until end_use.
    [[nodiscard]] bool begin_use(std::uint32_t number) noexcept {
        in_use_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (number_.load(std::memory_order_acquire) == number) [[likely]]
            return true;
        end_use();
        return false;
    }
    void end_use() noexcept { in_use_.store(false, std::memory_order_release); }
    // 0 is the number of no queue.
    [[nodiscard]] bool holds(std::uint32_t number) const noexcept {
        return number != 0 && number_.load(std::memory_order_relaxed) == number && process_ == known_process_number();
    }
    // Between begin_use and end_use.
    [[nodiscard]] Ring& ring() const noexcept { return *ring_; }
    [[nodiscard]] DataQueue& queue() const noexcept { return *queue_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t word() const noexcept { return word_; }
    // The lock was taken away; it will not be kept again before many more items.
    void lose() noexcept;

    // Gives the lock back; `number` is of the queue.
    void give_back(std::uint32_t number) noexcept;
    // By a thread that has pinned the queue and has just put or taken item `index`: keeps the end if that pays.
    void count(DataQueue& queue, Ring& ring, std::uint32_t number, std::uint64_t index) noexcept {
        streak_ = counted_ == number && next_ == index ? streak_ + 1 : 1;
        counted_ = number;
        next_ = index + 1;
        if (streak_ >= needed_) [[unlikely]]
            keep(queue, ring, number);
    }

private:
    friend class KeptEnds;
    static constexpr std::uint32_t first_needed = 128, most_needed = 1u << 20;
    void keep(DataQueue& queue, Ring& ring, std::uint32_t number) noexcept;
    void leave_thread() noexcept;

    std::atomic<std::uint32_t> number_{0};  // 0: none; set to 0 by any thread
    std::atomic<bool> in_use_{false};
    bool writing_ = false;
    ProcessNumber process_ = 0;
    std::atomic<DataQueue*> queue_{nullptr};
    Ring* ring_ = nullptr;  // of the queue
    std::uint64_t word_ = 0;
    // Items without a gap that this thread has put or taken.
    std::uint64_t next_ = 0;
    std::uint32_t counted_ = 0, streak_ = 0, needed_ = first_needed;
};

class KeptEnds {
public:
    // Of the calling thread, if it keeps that end of the queue; else nullptr.
    static KeptEnd* writing(std::uint32_t number) noexcept {
        return own_ != nullptr ? kept(own_->writing_[number % ends], number) : nullptr;
    }
    static KeptEnd* reading(std::uint32_t number) noexcept {
        return own_ != nullptr ? kept(own_->reading_[number % ends], number) : nullptr;
    }
    // After this thread has put item `index`, or taken it (KeptEnd::count).
    static void count_written(DataQueue& queue, Ring& ring, std::uint32_t number, std::uint64_t index) noexcept {
        if (KeptEnds* own = of_this_thread()) own->writing_[number % ends].count(queue, ring, number, index);
    }
    static void count_read(DataQueue& queue, Ring& ring, std::uint32_t number, std::uint64_t index) noexcept {
        if (KeptEnds* own = of_this_thread()) own->reading_[number % ends].count(queue, ring, number, index);
    }

    // No thread keeps or uses an end of this queue, which has this number, any more. By the thread that gives the queue
    // back, when nobody has it pinned.
    static void forget(const DataQueue& queue, std::uint32_t number) noexcept;

    KeptEnds() noexcept {
        for (KeptEnd& end : writing_) end.writing_ = true;
    }

private:
    static constexpr std::uint32_t ends = 4;
    static KeptEnd* kept(KeptEnd& end, std::uint32_t number) noexcept { return end.holds(number) ? &end : nullptr; }
    // nullptr without memory.
    static KeptEnds* of_this_thread() noexcept { return own_ != nullptr ? own_ : introduce(); }
    static KeptEnds* introduce() noexcept;
    static void leave_thread(void* own) noexcept;

    __attribute__((tls_model("initial-exec"))) static inline thread_local constinit KeptEnds* own_ = nullptr;
    static inline std::atomic<KeptEnds*> all_{nullptr};

    KeptEnd writing_[ends], reading_[ends];
    std::atomic<bool> taken_{true};  // by a thread
    KeptEnds* next_ = nullptr;
};

}  // namespace canopy
