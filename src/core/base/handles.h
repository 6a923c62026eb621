// SPDX-License-Identifier: Apache-2.0
// Handles are numbers (kind, generation and slot), never addresses. A stale, foreign or made-up value is detected by a
// table lookup, without dereferencing it.
//
// A HandleTable<T> keeps its objects in slots that live as long as the table (the process). A slot always holds a
// constructed T, so a thread may look at a slot it has not pinned, take a lock inside it, and only then ask whether the
// handle is still valid (`alive`). Three ways to use a handle:
//   peek   no protection; for lock-then-check on hot paths, and for reads that only compare
//   pin    a counted reference: the object is not recycled before the Pin goes away
//   close  invalidates the handle; the last holder recycles the object
// Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/mutex.h"

namespace canopy {

enum class HandleKind : std::uint8_t {
    none = 0,
    context = 0xC1,
    stream,
    event,
    notify,
    counting_notify,
    binary,
    binary_data,
    function,
    arguments,
    physical_memory,
    memory_pool,
    model,
    label,
    data_buffer,
    source_program,
    task,
    task_group,
    condition,
    label_list,
    queue,
    queue_buffer,
    channel,
    dataset,
    data_item,
    queue_attribute,
    queue_route,
    queue_route_list,
    queue_route_query,
    profile_collection,
    profile_subscription,
    stamp,
    step,
    mstx_domain,
    own_profile,
};

// [63..56] kind, [55..32] generation, [31..0] slot
using Handle = std::uint64_t;

constexpr HandleKind kind_of(Handle handle) noexcept { return static_cast<HandleKind>(handle >> 56); }
constexpr std::uint32_t slot_of(Handle handle) noexcept { return static_cast<std::uint32_t>(handle); }
constexpr std::uint32_t generation_of(Handle handle) noexcept {
    return static_cast<std::uint32_t>(handle >> 32) & 0xFFFFFFu;
}
inline Handle handle_of(const void* opaque) noexcept { return reinterpret_cast<Handle>(opaque); }
inline void* opaque_of(Handle handle) noexcept { return reinterpret_cast<void*>(handle); }

template <class T>
class HandleTable;

// A counted reference to an object in a table.
template <class T>
class Pin {
public:
    Pin() noexcept = default;
    Pin(Pin&& other) noexcept
        : table_(other.table_), slot_(other.slot_), object_(std::exchange(other.object_, nullptr)) {}
    Pin& operator=(Pin&& other) noexcept {
        std::swap(table_, other.table_);
        std::swap(slot_, other.slot_);
        std::swap(object_, other.object_);
        return *this;
    }
    [[gnu::always_inline]] ~Pin() {
        if (object_) table_->unpin(slot_);
    }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    T* get() const noexcept { return object_; }

private:
    friend class HandleTable<T>;
    Pin(HandleTable<T>* table, std::uint32_t slot, T* object) noexcept : table_(table), slot_(slot), object_(object) {}
    HandleTable<T>* table_ = nullptr;
    std::uint32_t slot_ = 0;
    T* object_ = nullptr;
};

// T is default constructible and has `void recycle() noexcept`, which resets it to its initial state.
template <class T>
class HandleTable {
public:
    HandleTable(HandleKind kind, std::uint32_t limit = segment_count * segment_size) noexcept
        : kind_(kind), limit_(limit < segment_count * segment_size ? limit : segment_count * segment_size) {}
    ~HandleTable() {
        if (delete_slots_) delete_slots_(*this);
    }
    HandleTable(const HandleTable&) = delete;
    HandleTable& operator=(const HandleTable&) = delete;

    // Takes a slot, fills it with `prepare(T&, Handle)`, then makes it visible to lookups. 0 if the table is full.
    template <class Prepare>
    Handle open(Prepare&& prepare) {
        std::uint32_t index = 0;
        if (!take_slot(index)) return 0;
        Slot& slot = slot_at(index);
        const std::uint64_t word = slot.word.load(std::memory_order_relaxed);
        const Handle handle = make_handle(static_cast<std::uint32_t>(word >> generation_shift), index);
        prepare(slot.object, handle);
        slot.word.fetch_add(state_open, std::memory_order_release);  // free -> open; stray lookups may hold counts
        live_.fetch_add(1, std::memory_order_relaxed);
        return handle;
    }

    // The object that the handle names or named; nullptr for a number outside the table. Not protected.
    T* peek(Handle handle) const noexcept {
        Slot* slot = find(handle);
        return slot ? &slot->object : nullptr;
    }
    [[nodiscard]] bool alive(Handle handle) const noexcept {
        const Slot* slot = find(handle);
        return slot && is_open(slot->word.load(std::memory_order_acquire), handle);
    }

    // Inlined: every call that takes a handle uses it.
    [[gnu::always_inline]] Pin<T> pin(Handle handle) noexcept {
        Slot* slot = find(handle);
        if (!slot) return {};
        const std::uint64_t word = slot->word.fetch_add(1, std::memory_order_acquire);
        if (is_open(word, handle)) return Pin<T>(this, slot_of(handle), &slot->object);
        unpin(slot_of(handle));
        return {};
    }

    // Invalidates the handle. True for exactly one caller.
    bool close(Handle handle) noexcept {
        Slot* slot = find(handle);
        if (!slot) return false;
        std::uint64_t word = slot->word.load(std::memory_order_relaxed);
        for (;;) {
            if (!is_open(word, handle)) return false;
            // open -> closed, plus one count for this caller so that the slot is not recycled during the call
            const std::uint64_t closed = (word & ~state_mask) + state_closed + 1;
            if (slot->word.compare_exchange_weak(word, closed, std::memory_order_acq_rel)) break;
        }
        live_.fetch_sub(1, std::memory_order_relaxed);
        unpin(slot_of(handle));
        return true;
    }

    [[nodiscard]] std::uint32_t live() const noexcept { return live_.load(std::memory_order_relaxed); }

    // Calls visit(Pin<T>) for every open object; may miss objects opened meanwhile.
    template <class Visit>
    void for_each(Visit&& visit) {
        const std::uint32_t used = used_.load(std::memory_order_acquire);
        for (std::uint32_t index = 0; index < used; ++index) {
            const std::uint64_t word = slot_at(index).word.load(std::memory_order_acquire);
            if ((word & state_mask) != state_open) continue;
            if (Pin<T> object = pin(make_handle(static_cast<std::uint32_t>(word >> generation_shift), index)))
                visit(std::move(object));
        }
    }

private:
    friend class Pin<T>;
    static constexpr std::uint32_t segment_size = 256, segment_count = 4096;
    // Slot word: [63..40] generation, [33..32] state, [31..0] pins. Lookups with a stale handle briefly add stray
    // counts; these can occur in any state and never change it.
    static constexpr int generation_shift = 40;
    static constexpr std::uint64_t state_mask = 3ull << 32, state_open = 1ull << 32, state_closed = 2ull << 32;
    static constexpr std::uint64_t pins_mask = 0xFFFFFFFFull;

    struct alignas(64) Slot {
        std::atomic<std::uint64_t> word{1ull << generation_shift};  // generation 1, free
        T object;
    };

    Handle make_handle(std::uint32_t generation, std::uint32_t index) const noexcept {
        return (static_cast<Handle>(kind_) << 56) | (static_cast<Handle>(generation) << 32) | index;
    }
    static bool is_open(std::uint64_t word, Handle handle) noexcept {
        return (word & state_mask) == state_open && (word >> generation_shift) == generation_of(handle);
    }
    Slot& slot_at(std::uint32_t index) const noexcept {
        return segments_[index / segment_size].load(std::memory_order_acquire)[index % segment_size];
    }
    Slot* find(Handle handle) const noexcept {
        const std::uint32_t index = slot_of(handle);
        if (kind_of(handle) != kind_ || index >= used_.load(std::memory_order_acquire)) return nullptr;
        return &slot_at(index);
    }

    bool take_slot(std::uint32_t& index) {
        MutexLock guard(mutex_);
        if (!free_.empty()) {
            index = free_.back();
            free_.pop_back();
            return true;
        }
        index = used_.load(std::memory_order_relaxed);
        if (index >= limit_) return false;
        auto& segment = segments_[index / segment_size];
        if (!segment.load(std::memory_order_relaxed)) {
            delete_slots_ = [](HandleTable& table) {
                for (auto& each : table.segments_) delete[] each.load(std::memory_order_relaxed);
            };
            segment.store(new Slot[segment_size], std::memory_order_release);
        }
        free_.reserve(index + 1);  // so that returning a slot never allocates
        used_.store(index + 1, std::memory_order_release);
        return true;
    }

    [[gnu::always_inline]] void unpin(std::uint32_t index) noexcept {
        const std::uint64_t word = slot_at(index).word.fetch_sub(1, std::memory_order_acq_rel) - 1;
        if ((word & state_mask) == state_closed) [[unlikely]]
            free_slot(index, word);
    }

    // Closed and unpinned: one thread wins the transition to free, with the next generation, and recycles the object.
    [[gnu::noinline]] void free_slot(std::uint32_t index, std::uint64_t word) noexcept {
        Slot& slot = slot_at(index);
        while ((word & state_mask) == state_closed && (word & pins_mask) == 0) {
            std::uint64_t generation = (word >> generation_shift) + 1;
            if (generation > 0xFFFFFF) generation = 1;
            if (slot.word.compare_exchange_weak(word, generation << generation_shift, std::memory_order_acq_rel)) {
                slot.object.recycle();
                MutexLock guard(mutex_);
                free_.push_back(index);
                return;
            }
        }
    }

    const HandleKind kind_;
    const std::uint32_t limit_;
    std::atomic<std::uint32_t> used_{0};
    std::atomic<std::uint32_t> live_{0};
    std::array<std::atomic<Slot*>, segment_count> segments_{};
    Mutex mutex_;
    std::vector<std::uint32_t> free_ CANOPY_GUARDED_BY(mutex_);  // slots for reuse
    // Set with the first segment, so that a table can be a member where T is only declared.
    void (*delete_slots_)(HandleTable&) = nullptr;
};

}  // namespace canopy
