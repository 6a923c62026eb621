// SPDX-License-Identifier: Apache-2.0
// The inner runtimes of a dispatcher, by id. A call finds and holds its runtime without a lock; load, swap and unload
// change the table under a mutex, then release it and wait for calls that still hold a removed runtime.
//
// Threads: everything from any thread. Objects that calls may still access are reused, never freed.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "canopy/dispatcher_abi.h"
#include "canopy/kernel_abi.h"
#include "dispatcher/inner_image.h"
#include "foundation/mutex.h"

// Set by the device that loads this object.
extern "C" __attribute__((visibility("default"))) const CanopyServices* canopy_image_services;

namespace canopy::dispatcher {

// Returns false if the function would never be called.
inline bool at_launch_end(void (*function)(void*), void* data) noexcept {
    return canopy_image_services && canopy_image_services->at_launch_end(function, data) != 0;
}

// The code of an id: one opened image.
class Instance {
public:
    // Valid only if the table still has this instance afterwards.
    void hold() noexcept { users_.fetch_add(1, std::memory_order_seq_cst); }
    void release() noexcept {
        if (users_.fetch_sub(1, std::memory_order_release) == (closing | 1)) [[unlikely]]
            wake();
    }
    // Waits until no call holds it; false on timeout.
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

    // `taken`: slots whose ids are in use although nothing is loaded there.
    using Slots = std::bitset<CANOPY_DISPATCHER_MAX_RUNTIMES>;
    Outcome load(std::span<const std::byte> bytes, std::uint64_t& id, const Slots& taken = {});
    // Calls the new image's init with `init_arguments`, unless null, before the switch.
    Outcome swap(std::uint64_t id, std::span<const std::byte> bytes, void* init_arguments);
    Outcome unload(std::uint64_t id);
    // Reloads a runtime under the id it had in a process that has ended. Succeeds if it is already loaded.
    Outcome restore(const CanopyDispatcherKept& kept);

    // The instance of an id, held; nullptr if there is none.
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

    // For the end of the process or of the dispatcher's own code: closes runtimes that no call holds and rejects new
    // calls.
    void close_all() noexcept;

    // Stores the message for later queries and returns the result.
    std::uint32_t note(Outcome outcome) noexcept;
    [[nodiscard]] std::string newest_text();

private:
    static constexpr std::uint64_t slot_count = CANOPY_DISPATCHER_MAX_RUNTIMES;
    struct Slot {
        std::atomic<Instance*> current{nullptr};
        std::uint64_t uses = 0;   // ids issued for it
        std::uint32_t loads = 0;  // of the current runtime
    };

    Outcome open(std::span<const std::byte> bytes, Instance*& instance);
    Instance* take_spare() noexcept;
    Instance* known(const ContentKey& key) noexcept;
    Outcome retire(Instance* instance);
    void recycle(Instance* instance);

    Runtimes() noexcept;

    Slot slots_[slot_count];
    Mutex mutex_;  // loads, swaps, unloads; all members of slots except `current`
    std::uint64_t next_slot_ CANOPY_GUARDED_BY(mutex_) = 0;
    const std::uint64_t first_uses_;  // greater than in any earlier process
    // Twice the number of ids: each may be in the middle of a swap.
    Instance instances_[2 * slot_count];
    std::size_t used_ = 0;  // the rest was never used
    Instance* spare_ = nullptr;
    Mutex text_mutex_;
    std::string text_ CANOPY_GUARDED_BY(text_mutex_);
};

// A hold released when the launch ends, even if the inner runtime crashed or was stopped.
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
    const bool own_;  // the destructor releases it, not the launch
};

Outcome unknown_runtime(std::uint64_t id);

}  // namespace canopy::dispatcher
