// SPDX-License-Identifier: Apache-2.0
// A queue in shared memory: one file with a line for those who read, a line for those who write, and slots of 128
// bytes.
//
// Item number i lies in slot i modulo their number. It is in the queue from the moment its slot's sequence becomes i +
// 1 (one store: the commit of a write) until head becomes i + 1 (one store: the commit of a read). A process that is
// killed before its commit has changed nothing that counts, so there is never anything to repair. The tail is a hint:
// a writer that finds its slot taken goes one further.
//
// Writers exclude each other by one lock, readers by another. Nothing in the file is trusted: positions are only used
// modulo the number of slots, and an item is copied before it is looked at.
//
// A thread that writes or reads again and again can keep its lock (see SharedLock) and then put and take small items
// with put_kept and take_kept, which do the same in the same order.
//
// A route (core/queue/routes.h) copies items from one ring into others. What it has delivered is recorded in the
// target, under the target's write lock: see deliver.
//
// Knows nothing of the runtime. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/queue/shared/shared_file.h"
#include "core/queue/shared/shared_lock.h"
#include "foundation/clock.h"

namespace canopy {

inline constexpr std::uint32_t user_area_size = 96;

// Takes the line from other caches. The built-in function does so only for processors that the compiler is told about.
inline void fetch_for_writing(const void* line) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

// Where the data of an item is.
enum class ItemKind : std::uint16_t {
    inside = 1,  // in the item: `length` bytes of data, then `user_length` bytes of user data
    buffer = 2,  // in a buffer of a pool
};

struct Item {
    std::uint64_t pool = 0;
    std::uint32_t header = 0;
    std::uint32_t generation = 0;
    std::uint32_t length = 0;
    std::uint16_t user_length = 0;
    ItemKind kind{};
    std::array<std::byte, user_area_size> area;
};
static_assert(sizeof(Item) == 120);

// 64 bytes, the usual size of a small message, without a call.
inline void copy_small(void* to, const void* from, std::size_t size) noexcept {
    if (size == 64) [[likely]]
        std::memcpy(to, from, 64);
    else
        std::memcpy(to, from, size);
}

class Ring {
public:
    static constexpr std::uint32_t min_depth = 2, max_depth = 8192, max_routes = 128;

    // closed: the ring was closed, or its creator is gone (and for readers, it is empty). stopped: stop() was called.
    enum class Outcome : std::uint8_t { done, timed_out, closed, stopped };

    bool create(std::uint64_t uid, std::uint32_t depth) noexcept;
    // Takes the descriptor over, also when it fails.
    bool adopt(int descriptor, std::uint64_t uid, std::uint32_t depth, ProcessNumber creator) noexcept;

    [[nodiscard]] const SharedMemoryFile& file() const noexcept { return file_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    [[nodiscard]] ProcessNumber creator() const noexcept { return creator_; }

    // done: this thread has the write lock and the place `index` is free; commit_write or abandon_write follows.
    Outcome begin_write(Deadline deadline, std::uint64_t& index) noexcept;
    void put(std::uint64_t index, const Item& item) noexcept;
    void commit_write(std::uint64_t index) noexcept;
    void abandon_write() noexcept;

    // done: this thread has the read lock and there is an item `index`; commit_read or abandon_read follows.
    Outcome begin_read(Deadline deadline, std::uint64_t& index) noexcept;
    [[nodiscard]] Item get(std::uint64_t index) const noexcept;
    void commit_read(std::uint64_t index) noexcept;
    void abandon_read() noexcept;

    // Waits for an item or for room; for threads that have no lock.
    Outcome await_item(Deadline deadline) noexcept;
    Outcome await_room(Deadline deadline) noexcept;

    // By a thread that has no lock: keeps the lock of writers or readers. 0: not possible now.
    std::uint64_t keep_writing() noexcept;
    std::uint64_t keep_reading() noexcept;
    // By a thread that has no lock: nobody keeps it when this returns, unless a process was stopped inside.
    void take_writing_back() noexcept;
    void take_reading_back() noexcept;
    void give_up_writing(std::uint64_t kept) noexcept { head_()->write_lock.give_up(head_()->writers, kept); }
    void give_up_reading(std::uint64_t kept) noexcept { head_()->read_lock.give_up(head_()->readers, kept); }
    // wait: no room, or no item. other: it has to be done with the lock. lost: the lock is kept no longer; it has to be
    // given up. No more than user_area_size bytes with those of the user.
    enum class Kept : std::uint8_t { done, wait, other, lost, done_and_lost };
    Kept put_kept(std::uint64_t kept, const void* data, std::size_t size, const void* user,
                  std::size_t user_size) noexcept;
    // An item with more than `most` bytes of data is left for those with the lock. Area behind the data is not zeroed.
    Kept take_kept(std::uint64_t kept, Item& item, std::size_t most) noexcept;

    [[nodiscard]] std::uint32_t count() const noexcept;
    // Whether this buffer is item `index` and was not taken yet.
    [[nodiscard]] bool holds(std::uint64_t index, std::uint64_t pool, std::uint32_t header,
                             std::uint32_t generation) const noexcept;

    // Nobody writes or reads after it; sleepers wake. By the creator.
    void close() noexcept;
    // The creator is gone: no more writes, reads until empty. Seen by this process only.
    void creator_gone() noexcept;
    [[nodiscard]] bool open() const noexcept { return !closed() && !creator_gone_.load(std::memory_order_acquire); }
    [[nodiscard]] bool closed() const noexcept { return head_()->closed.load(std::memory_order_acquire) != 0; }
    // Sleepers of this process wake with `stopped`.
    void stop() noexcept;
    // Every sleeper looks again.
    void wake_all() noexcept;
    // Set when somebody calls creator_gone at the creator's end. Until then sleepers look themselves.
    void set_watched() noexcept { watched_.store(true); }
    // How often a lock was taken over from a process that died.
    [[nodiscard]] std::uint32_t deaths() const noexcept { return deaths_.load(std::memory_order_relaxed); }

    // What routes know. The number of items of `source` that reached this ring; registers the source. False: too many.
    bool accept_source(std::uint64_t source, std::uint64_t from) noexcept;
    void forget_source(std::uint64_t source) noexcept;
    // Puts item number `source_index` of `source` here. timed_out: no room. stopped: it is here already.
    // `prepare` learns the place before the item is in it.
    template <class Prepare>
    Outcome deliver(std::uint64_t source, std::uint64_t source_index, const Item& item, Prepare&& prepare) noexcept {
        std::uint64_t place = 0;
        const Outcome outcome = begin_delivery(source, source_index, place);
        if (outcome != Outcome::done) return outcome;
        prepare(place);
        commit_delivery(source, source_index, place, item);
        return Outcome::done;
    }
    // Whether it is here already; asked before a reference to its buffer is made.
    [[nodiscard]] bool delivered(std::uint64_t source, std::uint64_t source_index) noexcept;
    [[nodiscard]] bool has_sources() const noexcept;
    [[nodiscard]] WaitWord& items_word() noexcept { return head_()->items; }
    [[nodiscard]] WaitWord& room_word() noexcept { return head_()->room; }
    // After `prepare` of these words. False: look again soon.
    [[nodiscard]] bool show_to_writer() noexcept { return head_()->write_lock.show_to_keeper(); }
    [[nodiscard]] bool show_to_reader() noexcept { return head_()->read_lock.show_to_keeper(); }
    [[nodiscard]] bool has_item() const noexcept;
    [[nodiscard]] bool has_room() const noexcept;

    // Targets of this ring's items, listed here because several processes may forward them, each to the targets it
    // bound. An item is taken out when all of them have it. A target whose process died is dropped. These take the read
    // lock, except those that say otherwise.
    [[nodiscard]] bool routed() const noexcept { return head_()->routed.load(std::memory_order_relaxed) != 0; }
    bool add_target(std::uint64_t ring) noexcept;
    bool remove_target(std::uint64_t ring) noexcept;
    void drop_target(std::uint64_t ring) noexcept;  // by a caller that has the read lock
    // Whether this process has bound it; by a caller that has the read lock.
    [[nodiscard]] bool is_target(std::uint64_t ring) const noexcept;
    // Items before `count` reached the target; by a caller that has the read lock. Returns how many reached every
    // target.
    std::uint64_t note_delivered(std::uint64_t ring, std::uint64_t count) noexcept;
    // By living processes.
    [[nodiscard]] bool has_targets() const noexcept;
    // Drops the targets of processes that ended, by a caller that has the read lock.
    template <class Visit>
    void drop_targets_of_dead(Visit&& visit) noexcept {
        std::uint32_t left = 0;
        for (TargetRecord& each : head_()->targets) {
            const std::uint64_t ring = each.ring.load(std::memory_order_acquire);
            if (ring == 0) continue;
            if (bound_by_living(each)) {
                ++left;
                continue;
            }
            each.ring.store(0, std::memory_order_release);
            visit(ring);
        }
        if (left == 0) head_()->routed.store(0, std::memory_order_relaxed);
    }
    [[nodiscard]] bool lock_reading() noexcept { return lock(head_()->read_lock, head_()->readers) != Locked::no; }
    [[nodiscard]] std::uint64_t head_index() const noexcept;

private:
    struct alignas(128) Slot {
        std::atomic<std::uint64_t> sequence;
        Item item;
    };
    static_assert(sizeof(Slot) == 128);
    // Under the write lock. `pending` - 1 is on its way into `place`; less than `delivered` arrived.
    struct Source {
        std::atomic<std::uint64_t> ring, binder, delivered, pending, place;
    };
    struct TargetRecord {
        std::atomic<std::uint64_t> ring, binder, delivered;
    };
    // Every part that one side writes often has its own lines; prefetchers fetch pairs of lines.
    struct Head {
        alignas(128) std::atomic<std::uint32_t> closed;
        alignas(128) SharedLock read_lock;
        std::atomic<std::uint32_t> routed;  // there may be targets
        std::atomic<std::uint64_t> head;
        alignas(128) SharedLock write_lock;
        std::atomic<std::uint64_t> tail;
        alignas(128) WaitWord items;
        WaitWord room;
        SharedLock::Keepers readers, writers;
        alignas(128) std::array<Source, max_routes> sources;
        std::array<TargetRecord, max_routes> targets;
    };

    // How many slots ahead of itself a writer fetches for writing. Stores wait in line for theirs: without this a
    // stream of 64-byte items costs 160 ns an item between cores 200 ns apart, with it 65 ns.
    static constexpr std::uint64_t slots_ahead = 4;
    static constexpr std::size_t cache_line = 64;

    static std::size_t slots_of(std::uint32_t depth) noexcept;
    static std::size_t size_of(std::uint32_t depth) noexcept;
    void settle(std::uint64_t uid, std::uint32_t depth, ProcessNumber creator) noexcept;
    [[nodiscard]] Head* head_() const noexcept { return reinterpret_cast<Head*>(file_.base()); }
    [[nodiscard]] Slot& slot(std::uint64_t index) const noexcept { return slots_[index & mask_]; }
    static constexpr std::uint64_t no_room = ~std::uint64_t{0};
    [[nodiscard]] std::uint64_t find_room() noexcept;
    [[nodiscard]] std::uint64_t search_room() noexcept;
    void fetch_ahead(std::uint64_t index) const noexcept;
    static void copy_inside(Item& item, const Item& from) noexcept;
    Locked lock(SharedLock& lock, SharedLock::Keepers& keepers) noexcept;
    bool lock_writing() noexcept;
    Outcome outcome_of(bool writing, std::uint32_t stops) noexcept;
    template <class Ready>
    Outcome sleep_until(WaitWord& word, bool writing, std::uint32_t stops, std::uint32_t pauses, Deadline deadline,
                        Ready&& ready) noexcept;
    // A process has the lock and does not go on: whether to wait longer.
    Outcome after_stopped(bool writing, std::uint32_t stops, Deadline deadline) noexcept;
    Outcome wait_for_room(std::uint32_t stops, Deadline deadline) noexcept;
    Outcome wait_for_item(std::uint64_t index, std::uint32_t stops, Deadline deadline) noexcept;
    // How long a reader that has found nothing at `index` waits between two looks.
    std::uint32_t pauses_of_reader(std::uint64_t index) noexcept;
    Source* find_source(std::uint64_t source) noexcept;
    template <class Record>
    [[nodiscard]] bool bound_by_living(const Record& record) const noexcept {
        const auto binder = static_cast<ProcessNumber>(record.binder.load(std::memory_order_relaxed));
        return binder == self_ || file_.alive(binder);
    }
    Outcome begin_delivery(std::uint64_t source, std::uint64_t source_index, std::uint64_t& place) noexcept;
    void commit_delivery(std::uint64_t source, std::uint64_t source_index, std::uint64_t place,
                         const Item& item) noexcept;

    SharedMemoryFile file_;
    Slot* slots_ = nullptr;
    std::uint64_t uid_ = 0;
    std::uint64_t mask_ = 0;
    std::uint32_t depth_ = 0;
    ProcessNumber creator_ = 0, self_ = 0;
    std::atomic<std::uint64_t> seen_head_{0};  // under the write lock; head was at least this
    std::atomic<bool> creator_gone_{false}, watched_{false};
    std::atomic<std::uint32_t> stops_{0}, deaths_{0};
    std::atomic<std::uint64_t> waited_at_{0};  // where a reader found nothing
    std::atomic<std::uint32_t> read_pauses_{0}, waits_{0};
};

// The head of the item as it was at one moment, with lengths that fit: those that do not are another process's mistake.
// Then the area, in the pieces in which it is read again: reads of other pieces would wait for the stores.
inline void Ring::copy_inside(Item& item, const Item& from) noexcept {
    constexpr std::size_t usual = 64;
    std::memcpy(static_cast<void*>(&item), &from, offsetof(Item, area));
    std::atomic_signal_fence(std::memory_order_seq_cst);  // `from` is not read twice
    item.length = std::min(item.length, user_area_size);
    item.user_length =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(item.user_length, user_area_size - item.length));
    std::memcpy(item.area.data(), from.area.data(), usual);
    if (item.length + item.user_length > usual)
        std::memcpy(item.area.data() + usual, from.area.data() + usual, user_area_size - usual);
}

// Takes the slots that follow from other caches, where room for them is known.
inline void Ring::fetch_ahead(std::uint64_t index) const noexcept {
    if (index + slots_ahead - seen_head_.load(std::memory_order_relaxed) >= depth_) return;
    const auto* ahead = reinterpret_cast<const std::byte*>(&slot(index + slots_ahead));
    fetch_for_writing(ahead);
    fetch_for_writing(ahead + cache_line);
}

// Under the write lock.
inline std::uint64_t Ring::find_room() noexcept {
    const std::uint64_t index = head_()->tail.load(std::memory_order_relaxed);
    // Almost always: the tail is right, and there is room.
    if (index - seen_head_.load(std::memory_order_relaxed) < depth_ &&
        slot(index).sequence.load(std::memory_order_acquire) != index + 1) [[likely]]
        return index;
    return search_room();
}

[[gnu::always_inline]] inline Ring::Kept Ring::put_kept(std::uint64_t kept, const void* data, std::size_t size,
                                                        const void* user, std::size_t user_size) noexcept {
    Head& head = *head_();
    if (!head.write_lock.enter(head.writers, kept)) [[unlikely]]
        return Kept::lost;
    const std::uint64_t index = open() ? find_room() : no_room;
    Kept result = Kept::done;
    if (index == no_room) [[unlikely]] {
        result = open() ? Kept::wait : Kept::other;
    } else {
        Slot& place = slot(index);
        place.item.pool = 0;
        place.item.header = place.item.generation = 0;
        place.item.length = static_cast<std::uint32_t>(size);
        place.item.user_length = static_cast<std::uint16_t>(user_size);
        place.item.kind = ItemKind::inside;
        copy_small(place.item.area.data(), data, size);
        if (user_size != 0) std::memcpy(place.item.area.data() + size, user, user_size);
        place.sequence.store(index + 1, std::memory_order_release);  // the commit
        head.tail.store(index + 1, std::memory_order_release);
        head.items.wake_inside_kept();
    }
    if (!head.write_lock.leave(head.writers, kept)) [[unlikely]]
        return result == Kept::done ? Kept::done_and_lost : Kept::lost;
    if (result == Kept::done) fetch_ahead(index);
    return result;
}

[[gnu::always_inline]] inline Ring::Kept Ring::take_kept(std::uint64_t kept, Item& item, std::size_t most) noexcept {
    Head& head = *head_();
    if (!head.read_lock.enter(head.readers, kept)) [[unlikely]]
        return Kept::lost;
    Kept result = Kept::other;
    if (head.closed.load(std::memory_order_acquire) == 0 && !routed()) [[likely]] {
        const std::uint64_t index = head.head.load(std::memory_order_relaxed);
        const Slot& place = slot(index);
        if (place.sequence.load(std::memory_order_acquire) != index + 1) {
            result = Kept::wait;
        } else {
            copy_inside(item, place.item);
            if (item.kind == ItemKind::inside && item.length <= most) [[likely]] {
                head.head.store(index + 1, std::memory_order_release);  // the commit
                head.room.wake_inside_kept();
                result = Kept::done;
            }
        }
    }
    if (!head.read_lock.leave(head.readers, kept)) [[unlikely]]
        return result == Kept::done ? Kept::done_and_lost : Kept::lost;
    return result;
}

}  // namespace canopy
