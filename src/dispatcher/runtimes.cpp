// SPDX-License-Identifier: Apache-2.0
#include "dispatcher/runtimes.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <iterator>
#include <new>
#include <utility>

const CanopyServices* canopy_image_services = nullptr;

namespace canopy::dispatcher {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

std::int64_t now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

}  // namespace

void Instance::wake() noexcept {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&users_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Instance::drain() noexcept {
    const std::int64_t end = now() + CANOPY_DISPATCHER_DRAIN_SECONDS * nanoseconds_per_second;
    std::uint32_t users = users_.fetch_or(closing, std::memory_order_seq_cst) | closing;
    while (users != closing) {
        const std::int64_t left = end - now();
        if (left <= 0) return false;
        const timespec limit = {left / nanoseconds_per_second, left % nanoseconds_per_second};
        syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&users_), FUTEX_WAIT_PRIVATE, users, &limit, nullptr, 0);
        users = users_.load(std::memory_order_acquire);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
}

// Ids and the first slot are derived from the clock, so that a process replacing one that has ended does not reissue
// ids programs still hold.
Runtimes::Runtimes() noexcept : first_uses_(static_cast<std::uint64_t>(now()) / 1000) {
    next_slot_ = first_uses_ * 0x9E3779B97F4A7C15ull >> 32;
}

Runtimes& Runtimes::get() noexcept {
    // Never destroyed: blocks may run until this object is closed.
    alignas(Runtimes) static std::byte place[sizeof(Runtimes)];
    static Runtimes* const instance = new (place) Runtimes;
    return *instance;
}

Outcome unknown_runtime(std::uint64_t id) {
    return {CANOPY_DISPATCHER_UNKNOWN_RUNTIME,
            "runtime " + std::to_string(id) + " is not loaded: it never was, or it has been unloaded"};
}

namespace {
Outcome full() {
    return {CANOPY_DISPATCHER_FULL,
            std::to_string(CANOPY_DISPATCHER_MAX_RUNTIMES) + " inner runtimes are loaded, the maximum"};
}
}  // namespace

Instance* Runtimes::take_spare() noexcept {
    MutexLock guard(mutex_);
    if (!spare_) return used_ < std::size(instances_) ? &instances_[used_++] : nullptr;
    return std::exchange(spare_, spare_->next_spare_);
}

// Opens an instance that has no id yet.
Outcome Runtimes::open(std::span<const std::byte> bytes, Instance*& instance) {
    InnerImage image;
    if (Outcome wrong = image.open(bytes); !wrong.ok()) return wrong;
    const Entry run = image.function({"DynTileFwkBackendKernelServer", "simpler_aicpu_exec"});
    if (!run)
        return {CANOPY_DISPATCHER_NO_ENTRY,
                "the image exports neither DynTileFwkBackendKernelServer nor simpler_aicpu_exec"};
    const Entry init = image.function({"DynTileFwkBackendKernelServerInit", "simpler_aicpu_init"});
    instance = take_spare();
    if (!instance) return full();
    instance->run = run;
    instance->init = init;
    instance->image = std::move(image);
    instance->key = content_key(bytes);
    return {};
}

// Only for instances that no call can acquire any more.
void Runtimes::recycle(Instance* instance) {
    const InnerImage closed = std::move(instance->image);
    instance->runtime.store(0, std::memory_order_relaxed);
    instance->users_.fetch_and(~Instance::closing, std::memory_order_relaxed);
    MutexLock guard(mutex_);
    instance->next_spare_ = spare_;
    spare_ = instance;
}

void Runtimes::close_all() noexcept {
    MutexLock guard(mutex_);
    for (Slot& slot : slots_) {
        Instance* instance = slot.current.exchange(nullptr, std::memory_order_seq_cst);
        if (!instance) continue;
        const std::uint32_t users = instance->users_.fetch_or(Instance::closing, std::memory_order_seq_cst);
        if (users == 0) {
            const InnerImage closed = std::move(instance->image);
        }
    }
    MutexLock text_guard(text_mutex_);
    std::string().swap(text_);
}

namespace {
[[gnu::destructor]] void close_runtimes() { Runtimes::get().close_all(); }
}  // namespace

Outcome Runtimes::retire(Instance* instance) {
    const std::uint64_t id = instance->runtime.load(std::memory_order_relaxed);
    if (instance->drain()) {
        recycle(instance);
        return {};
    }
    instance->image.keep_open();
    return {CANOPY_DISPATCHER_BUSY, "calls of runtime " + std::to_string(id) + " did not return within " +
                                        std::to_string(CANOPY_DISPATCHER_DRAIN_SECONDS) +
                                        " seconds: its old code stays loaded, and no new call reaches it"};
}

Instance* Runtimes::known(const ContentKey& key) noexcept {
    for (Slot& slot : slots_) {
        Instance* instance = slot.current.load(std::memory_order_relaxed);
        if (instance && instance->key == key) {
            ++slot.loads;
            return instance;
        }
    }
    return nullptr;
}

Outcome Runtimes::load(std::span<const std::byte> bytes, std::uint64_t& id, const Slots& taken) {
    const ContentKey key = content_key(bytes);
    {
        MutexLock guard(mutex_);
        if (const Instance* same = known(key)) {
            id = same->runtime.load(std::memory_order_relaxed);
            return {};
        }
    }
    Instance* opened = nullptr;
    if (Outcome wrong = open(bytes, opened); !wrong.ok()) return wrong;
    {
        MutexLock guard(mutex_);
        if (const Instance* same = known(key)) {  // another thread was faster
            id = same->runtime.load(std::memory_order_relaxed);
        } else {
            for (std::uint64_t tried = 0; tried < slot_count; ++tried) {
                const std::uint64_t index = next_slot_++ % slot_count;
                Slot& slot = slots_[index];
                if (taken[index] || slot.current.load(std::memory_order_relaxed)) continue;
                id = (first_uses_ + ++slot.uses) * slot_count + index;
                slot.loads = 1;
                opened->runtime.store(id, std::memory_order_relaxed);
                slot.current.store(opened, std::memory_order_seq_cst);
                return {};
            }
            id = 0;
        }
    }
    recycle(opened);
    if (id != 0) return {};
    return full();
}

Outcome Runtimes::swap(std::uint64_t id, std::span<const std::byte> bytes, void* init_arguments) {
    Instance* present = hold(id);
    if (!present) return unknown_runtime(id);
    present->release();
    Instance* opened = nullptr;
    if (Outcome wrong = open(bytes, opened); !wrong.ok()) return wrong;
    if (init_arguments && opened->init) {
        const std::uint32_t result = opened->init(init_arguments);
        if (result != 0) {
            recycle(opened);
            return {result, "init of the new image returned " + std::to_string(result) + ": the old image stays"};
        }
    }
    Instance* old = nullptr;
    {
        MutexLock guard(mutex_);
        std::atomic<Instance*>& current = slots_[id % slot_count].current;
        old = current.load(std::memory_order_relaxed);
        if (old && old->runtime.load(std::memory_order_relaxed) == id) {
            opened->runtime.store(id, std::memory_order_relaxed);
            current.store(opened, std::memory_order_seq_cst);
        } else {
            old = nullptr;
        }
    }
    if (old) return retire(old);
    recycle(opened);
    return unknown_runtime(id);
}

Outcome Runtimes::unload(std::uint64_t id) {
    Instance* old = nullptr;
    {
        MutexLock guard(mutex_);
        Slot& slot = slots_[id % slot_count];
        old = slot.current.load(std::memory_order_relaxed);
        if (!old || old->runtime.load(std::memory_order_relaxed) != id) return unknown_runtime(id);
        if (--slot.loads != 0) return {};
        slot.current.store(nullptr, std::memory_order_seq_cst);
    }
    return retire(old);
}

Outcome Runtimes::restore(const CanopyDispatcherKept& kept) {
    if (Instance* present = hold(kept.runtime)) {
        present->release();
        return {};
    }
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(kept.image), kept.length);
    Instance* opened = nullptr;
    if (Outcome wrong = open(bytes, opened); !wrong.ok()) return wrong;
    const std::string id = std::to_string(kept.runtime);
    if (kept.init != 0 && opened->init) {
        const std::uint32_t result = opened->init(reinterpret_cast<void*>(kept.init));
        if (result != 0) {
            recycle(opened);
            return {result, "init of runtime " + id + ", loaded again, returned " + std::to_string(result)};
        }
    }
    {
        MutexLock guard(mutex_);
        Slot& slot = slots_[kept.runtime % slot_count];
        if (!slot.current.load(std::memory_order_relaxed)) {
            slot.loads = static_cast<std::uint32_t>(kept.loads);
            opened->runtime.store(kept.runtime, std::memory_order_relaxed);
            slot.current.store(opened, std::memory_order_seq_cst);
            return {};
        }
    }
    recycle(opened);
    return {CANOPY_DISPATCHER_UNKNOWN_RUNTIME,
            "runtime " + id + " was lost with its process, and its slot is used by another runtime: load it again"};
}

std::uint32_t Runtimes::note(Outcome outcome) noexcept {
    if (outcome.ok()) return 0;
    MutexLock guard(text_mutex_);
    text_ = std::move(outcome.text);
    return outcome.result;
}

std::string Runtimes::newest_text() {
    MutexLock guard(text_mutex_);
    return text_;
}

}  // namespace canopy::dispatcher
