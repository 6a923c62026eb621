// SPDX-License-Identifier: Apache-2.0
// The inner runtimes of a dispatcher, by id. A call finds its runtime and holds it without a lock; load, swap and
// unload change the table under a mutex, and wait without it for calls that still hold a removed runtime.
//
// Threads: everything from any thread. Objects that calls may still look at are used again, never freed.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "canopy/dispatcher_abi.h"
#include "canopy/kernel_abi.h"
#include "dispatcher/inner_image.h"

// Filled in by the device that loads this object.
extern "C" __attribute__((visibility("default"))) const CanopyServices* canopy_image_services;

namespace canopy::dispatcher {

// False: nothing would call it.
inline bool at_launch_end(void (*function)(void*), void* data) noexcept {
    return canopy_image_services && canopy_image_services->at_launch_end(function, data) != 0;
}

// Code behind an id: one opened image.
class Instance {
public:
    // Counts only if the table still has this instance afterwards.
    void hold() noexcept { users_.fetch_add(1, std::memory_order_seq_cst); }
    void release() noexcept {
        if (users_.fetch_sub(1, std::memory_order_release) == (closing | 1)) [[unlikely]]
            wake();
    }
    // Waits until no call holds it; false on time-out.
    [[nodiscard]] bool drain() noexcept;

    std::atomic<std::uint64_t> runtime{0};
    Entry run = nullptr, init = nullptr;
    InnerImage image;
    ContentKey key{};

private:
    friend class Runtimes;
    static constexpr std::uint32_t closing = 1u << 31;
    void wake() noexcept;
    std::atomic<std::uint32_t> users_{0};
    Instance* next_spare_ = nullptr;
};

class Runtimes {
public:
    static Runtimes& get() noexcept;

    // `taken`: slots that ids have although nothing is loaded there.
    using Slots = std::bitset<CANOPY_DISPATCHER_MAX_RUNTIMES>;
    Outcome load(std::span<const std::byte> bytes, std::uint64_t& id, const Slots& taken = {});
    // init: called with `init_arguments` before the switch, unless that is null.
    Outcome swap(std::uint64_t id, std::span<const std::byte> bytes, void* init_arguments);
    Outcome unload(std::uint64_t id);
    // Loads a runtime again under the id it had in a process that has ended. Fine when it is there.
    Outcome restore(const CanopyDispatcherKept& kept);

    // The held code of an id; nullptr when there is none.
    [[nodiscard]] Instance* hold(std::uint64_t id) noexcept {
        std::atomic<Instance*>& current = slots_[id % slot_count].current;
        for (;;) {
            Instance* instance = current.load(std::memory_order_acquire);
            if (!instance) return nullptr;
            instance->hold();
            if (current.load(std::memory_order_seq_cst) != instance) [[unlikely]] {
                instance->release();
                continue;
            }
            if (instance->runtime.load(std::memory_order_relaxed) == id) [[likely]]
                return instance;
            instance->release();
            return nullptr;
        }
    }

    // For the end of the process, or of the dispatcher's own code: closes runtimes that no call holds, and refuses new
    // calls.
    void close_all() noexcept;

    // Keeps the message for later queries, and returns the result.
    std::uint32_t note(Outcome outcome) noexcept;
    [[nodiscard]] std::string newest_text();

private:
    static constexpr std::uint64_t slot_count = CANOPY_DISPATCHER_MAX_RUNTIMES;
    struct Slot {
        std::atomic<Instance*> current{nullptr};
        std::uint64_t uses = 0;   // ids given for it
        std::uint32_t loads = 0;  // of the present one
    };

    Outcome open(std::span<const std::byte> bytes, Instance*& instance);
    Instance* take_spare() noexcept;
    Instance* known(const ContentKey& key) noexcept;
    Outcome retire(Instance* instance);
    void recycle(Instance* instance);

    Runtimes() noexcept;

    Slot slots_[slot_count];
    std::mutex mutex_;                // loads, swaps, unloads; the members of slots but `current`
    std::uint64_t next_slot_ = 0;     // guarded by mutex_
    const std::uint64_t first_uses_;  // greater in every process than in the one before
    // Twice as many as ids: each may be about to be swapped.
    Instance instances_[2 * slot_count];
    std::size_t used_ = 0;  // of these, the rest was never used
    Instance* spare_ = nullptr;
    std::mutex text_mutex_;
    std::string text_;
};

// A hold that the launch gives back when it has ended, also when the inner runtime crashed or was stopped.
class Held {
public:
    explicit Held(Instance* instance) noexcept
        : instance_(instance), own_(instance && !at_launch_end(&give_back, instance)) {}
    ~Held() {
        if (own_) [[unlikely]]
            instance_->release();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    explicit operator bool() const noexcept { return instance_ != nullptr; }
    Instance* operator->() const noexcept { return instance_; }

private:
    static void give_back(void* instance) { static_cast<Instance*>(instance)->release(); }

    Instance* const instance_;
    const bool own_;  // no other holder releases it
};

Outcome unknown_runtime(std::uint64_t id);

}  // namespace canopy::dispatcher
