// SPDX-License-Identifier: Apache-2.0
#include "core/queue/kept_ends.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <new>

namespace canopy {

void KeptEnd::lose() noexcept {
    number_.store(0, std::memory_order_release);  // after in_use_
    writing_ ? ring_->give_up_writing(word_) : ring_->give_up_reading(word_);
    needed_ = std::min(4 * needed_, most_needed);
    streak_ = 0;
}

void KeptEnd::give_back(std::uint32_t number) noexcept {
    if (!holds(number) || !begin_use(number)) return;
    lose();
    end_use();
}

void KeptEnd::keep(DataQueue& queue, Ring& ring, std::uint32_t number) noexcept {
    streak_ = 0;
    if (process_ != own_process_number()) {  // what a parent process kept
        number_.store(0, std::memory_order_relaxed);
        process_ = own_process_number();
    }
    give_back(number_.load(std::memory_order_relaxed));
    word_ = writing_ ? ring.keep_writing() : ring.keep_reading();
    if (word_ == 0) {
        needed_ = std::min(4 * needed_, most_needed);
        return;
    }
    ring_ = &ring;
    queue_.store(&queue, std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
}

// There are as many of them as threads that kept an end at a time; threads that begin use those of threads that ended.
KeptEnds* KeptEnds::introduce() noexcept {
    static pthread_key_t key;
    static const bool has_key = ::pthread_key_create(&key, &leave_thread) == 0;
    KeptEnds* found = all_.load(std::memory_order_acquire);
    for (; found != nullptr; found = found->next_) {
        bool taken = false;
        if (found->taken_.compare_exchange_strong(taken, true, std::memory_order_acq_rel)) break;
    }
    if (found == nullptr) {
        found = new (std::nothrow) KeptEnds;
        if (found == nullptr) return nullptr;
        found->next_ = all_.load(std::memory_order_relaxed);
        while (!all_.compare_exchange_weak(found->next_, found, std::memory_order_acq_rel)) continue;
    }
    if (!has_key || ::pthread_setspecific(key, found) != 0) {
        found->taken_.store(false, std::memory_order_release);
        return nullptr;
    }
    return own_ = found;
}

void KeptEnds::leave_thread(void* own) noexcept {
    auto& ends_of_thread = *static_cast<KeptEnds*>(own);
    own_ = nullptr;
    for (KeptEnd* each : {ends_of_thread.writing_, ends_of_thread.reading_})
        for (std::uint32_t i = 0; i < ends; ++i) each[i].leave_thread();
    ends_of_thread.taken_.store(false, std::memory_order_release);
}

void KeptEnd::leave_thread() noexcept {
    give_back(number_.load(std::memory_order_relaxed));
    number_.store(0, std::memory_order_relaxed);
    counted_ = streak_ = 0;
    needed_ = first_needed;
}

void KeptEnds::forget(const DataQueue& queue, std::uint32_t number) noexcept {
    const auto each_end = [](auto&& visit) {
        for (KeptEnds* all = all_.load(std::memory_order_acquire); all != nullptr; all = all->next_)
            for (KeptEnd* each : {all->writing_, all->reading_})
                for (std::uint32_t i = 0; i < ends; ++i) visit(each[i]);
    };
    const auto of_queue = [&](const KeptEnd& end) { return end.queue_.load(std::memory_order_acquire) == &queue; };
    bool any = false;
    each_end([&](KeptEnd& end) {
        if (!of_queue(end)) return;
        std::uint32_t kept = number;  // unless its thread is just keeping an end of another queue there
        if (end.number_.compare_exchange_strong(kept, 0, std::memory_order_acquire) ||
            end.in_use_.load(std::memory_order_acquire))
            any = true;
    });
    if (!any) return;
    order_keepers_surely();
    each_end([&](KeptEnd& end) {
        while (of_queue(end) && end.in_use_.load(std::memory_order_acquire)) ::sched_yield();
    });
}

}  // namespace canopy
