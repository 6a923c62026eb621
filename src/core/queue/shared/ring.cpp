// SPDX-License-Identifier: Apache-2.0
#include "core/queue/shared/ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/kernel_thread.h"

namespace canopy {
namespace {

// Pauses before a thread sleeps, about 20 us: a partner that is awake answers in less.
constexpr std::uint32_t spins_before_sleep = 500;
// A reader that is faster than the writer would fetch every slot while it is being written: each item then costs a hop
// from cache to cache. So it pauses between two looks, more and more often as long as it finds few items at a time, and
// not at all if it finds one. Whether there could be more it finds out by pausing once in many waits.
constexpr std::uint32_t first_pauses = 16, most_pauses = 64;
constexpr std::uint64_t few_items = 8, many_items = 64;
constexpr std::uint32_t waits_between_trials = 128;
// Who is not told that the creator ended asks this often.
constexpr Nanoseconds look_after_creator = 5 * millisecond;

}  // namespace

std::size_t Ring::slots_of(std::uint32_t depth) noexcept { return std::bit_ceil(std::size_t{depth}); }
std::size_t Ring::size_of(std::uint32_t depth) noexcept { return sizeof(Head) + slots_of(depth) * sizeof(Slot); }

void Ring::settle(std::uint64_t uid, std::uint32_t depth, ProcessNumber creator) noexcept {
    uid_ = uid;
    depth_ = depth;
    mask_ = slots_of(depth) - 1;
    creator_ = creator;
    self_ = own_process_number();
    slots_ = reinterpret_cast<Slot*>(file_.base() + sizeof(Head));
    seen_head_.store(head_()->head.load(std::memory_order_acquire), std::memory_order_relaxed);
}

bool Ring::create(std::uint64_t uid, std::uint32_t depth) noexcept {
    if (!file_.create("canopy queue", size_of(depth))) return false;
    settle(uid, depth, own_process_number());
    watched_.store(true);
    return true;
}

bool Ring::adopt(int descriptor, std::uint64_t uid, std::uint32_t depth, ProcessNumber creator) noexcept {
    const bool possible = depth >= min_depth && depth <= max_depth;
    if (!file_.adopt(descriptor, possible ? size_of(depth) : 0) || !possible) return false;  // takes it in any case
    settle(uid, depth, creator);
    return true;
}

Locked Ring::lock(SharedLock& lock, SharedLock::Keepers& keepers) noexcept {
    const Locked locked = lock.lock(file_, keepers, self_);
    if (locked == Locked::from_dead) deaths_.fetch_add(1, std::memory_order_relaxed);
    return locked;
}

bool Ring::lock_writing() noexcept {
    const Locked locked = lock(head_()->write_lock, head_()->writers);
    if (locked == Locked::no) return false;
    if (locked == Locked::yes) return true;
    head_()->tail.store(head_index() + count(), std::memory_order_release);  // it may be behind
    // A helper that died may have left a delivery half done. It counts if its slot was committed; this is decided here,
    // before anything else can use the place.
    for (Source& each : head_()->sources) {
        const std::uint64_t pending = each.pending.load(std::memory_order_acquire);
        if (pending == 0) continue;
        const std::uint64_t index = each.place.load(std::memory_order_relaxed);
        if (slot(index).sequence.load(std::memory_order_acquire) == index + 1)
            each.delivered.store(pending, std::memory_order_relaxed);
        each.pending.store(0, std::memory_order_release);
    }
    return true;
}

std::uint64_t Ring::head_index() const noexcept { return head_()->head.load(std::memory_order_acquire); }

bool Ring::has_item() const noexcept {
    const std::uint64_t head = head_index();
    // The rest of the item comes together with its sequence, not after it.
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&slot(head)) + cache_line);
    return slot(head).sequence.load(std::memory_order_acquire) == head + 1;
}

bool Ring::has_room() const noexcept { return count() < depth_; }

std::uint32_t Ring::count() const noexcept {
    const std::uint64_t head = head_index();
    std::uint64_t tail = head_()->tail.load(std::memory_order_acquire);
    if (tail - head > depth_) tail = head;  // a hint that makes no sense
    while (tail - head < depth_ && slot(tail).sequence.load(std::memory_order_acquire) == tail + 1) ++tail;
    return static_cast<std::uint32_t>(tail - head);
}

std::uint64_t Ring::search_room() noexcept {
    std::uint64_t head = seen_head_.load(std::memory_order_relaxed);
    std::uint64_t tail = head_()->tail.load(std::memory_order_relaxed);
    for (int look = 0; look < 2; ++look) {
        if (tail - head < depth_) {
            while (tail - head < depth_ && slot(tail).sequence.load(std::memory_order_acquire) == tail + 1) ++tail;
            if (tail - head < depth_) return tail;
        }
        head = head_index();
        seen_head_.store(head, std::memory_order_relaxed);
        if (tail - head > depth_) tail = head;
    }
    return no_room;
}

Ring::Outcome Ring::outcome_of(bool writing, std::uint32_t stops) noexcept {
    if (head_()->closed.load(std::memory_order_acquire) != 0) return Outcome::closed;
    if (creator_gone_.load(std::memory_order_acquire) && (writing || !has_item())) return Outcome::closed;
    if (stops_.load(std::memory_order_acquire) != stops) return Outcome::stopped;
    return Outcome::done;
}

std::uint32_t Ring::pauses_of_reader(std::uint64_t index) noexcept {
    const std::uint64_t items = index - waited_at_.load(std::memory_order_relaxed);
    waited_at_.store(index, std::memory_order_relaxed);
    std::uint32_t pauses = read_pauses_.load(std::memory_order_relaxed);
    if (pauses == 0) {
        const std::uint32_t waits = waits_.load(std::memory_order_relaxed);
        waits_.store(waits + 1, std::memory_order_relaxed);
        pauses = waits % waits_between_trials == 0 ? first_pauses : 0;
    } else if (items <= 1) {
        pauses = 0;
    } else if (items < few_items) {
        pauses = std::min(2 * pauses, most_pauses);
    } else if (items > many_items) {
        pauses = std::max(pauses / 2, first_pauses);
    }
    read_pauses_.store(pauses, std::memory_order_relaxed);
    return pauses;
}

template <class Ready>
Ring::Outcome Ring::sleep_until(WaitWord& word, bool writing, std::uint32_t stops, std::uint32_t pauses,
                                Deadline deadline, Ready&& ready) noexcept {
    for (std::uint32_t spin = 0; spin < spins_before_sleep; spin += 1 + pauses) {
        for (std::uint32_t pause = 0; pause < pauses; ++pause) spin_pause();
        if (ready()) return Outcome::done;
        spin_pause();
    }
    KernelThread* const kernel = KernelThread::current();
    for (;;) {
        const std::uint32_t prepared = word.prepare();
        const bool shown = writing ? show_to_reader() : show_to_writer();
        if (ready()) return Outcome::done;
        if (const Outcome outcome = outcome_of(writing, stops); outcome != Outcome::done) return outcome;
        if (deadline.passed()) return Outcome::timed_out;
        Deadline until = deadline;
        const bool look = !watched_.load(std::memory_order_relaxed);
        if (look || !shown) until.at = std::min(until.at, Deadline::after(look_after_creator).at);
        if (kernel && !kernel->fall_asleep(&word.word())) return Outcome::stopped;
        word.sleep(prepared, until);
        if (kernel) kernel->wake_up();
        if (look && !file_.alive(creator_)) creator_gone();
    }
}

Ring::Outcome Ring::begin_write(Deadline deadline, std::uint64_t& index) noexcept {
    const std::uint32_t stops = stops_.load(std::memory_order_acquire);
    for (;;) {
        if (!lock_writing()) {
            if (const Outcome outcome = after_stopped(true, stops, deadline); outcome != Outcome::done) return outcome;
            continue;
        }
        if (!open()) {
            abandon_write();
            return Outcome::closed;
        }
        if (index = find_room(); index != no_room) return Outcome::done;
        abandon_write();
        if (const Outcome outcome = wait_for_room(stops, deadline); outcome != Outcome::done) return outcome;
    }
}

Ring::Outcome Ring::after_stopped(bool writing, std::uint32_t stops, Deadline deadline) noexcept {
    if (const Outcome outcome = outcome_of(writing, stops); outcome != Outcome::done) return outcome;
    if (deadline.passed()) return Outcome::timed_out;
    KernelThread* const kernel = KernelThread::current();
    if (kernel == nullptr) return Outcome::done;
    if (!kernel->fall_asleep(nullptr)) return Outcome::stopped;  // the kernel is to be ended
    kernel->wake_up();
    return Outcome::done;
}

Ring::Outcome Ring::wait_for_room(std::uint32_t stops, Deadline deadline) noexcept {
    if (deadline.at == 0) return Outcome::timed_out;
    return sleep_until(head_()->room, true, stops, std::min(depth_ / 4, most_pauses), deadline,
                       [&] { return has_room(); });
}

Ring::Outcome Ring::wait_for_item(std::uint64_t index, std::uint32_t stops, Deadline deadline) noexcept {
    if (deadline.at == 0) {
        if (!watched_.load(std::memory_order_relaxed) && !file_.alive(creator_)) creator_gone();
        return creator_gone_.load() ? Outcome::closed : Outcome::timed_out;
    }
    return sleep_until(head_()->items, false, stops, pauses_of_reader(index), deadline, [&] { return has_item(); });
}

Ring::Outcome Ring::await_room(Deadline deadline) noexcept {
    return has_room() ? Outcome::done : wait_for_room(stops_.load(std::memory_order_acquire), deadline);
}

Ring::Outcome Ring::await_item(Deadline deadline) noexcept {
    if (has_item()) return Outcome::done;
    return wait_for_item(head_index(), stops_.load(std::memory_order_acquire), deadline);
}

std::uint64_t Ring::keep_writing() noexcept {
    if (!may_keep_locks() || !lock_writing()) return 0;
    const std::uint64_t kept = head_()->write_lock.keep(file_, head_()->writers, self_);
    if (kept == 0) abandon_write();
    return kept;
}

std::uint64_t Ring::keep_reading() noexcept {
    if (!may_keep_locks() || !lock_reading()) return 0;
    const std::uint64_t kept = head_()->read_lock.keep(file_, head_()->readers, self_);
    if (kept == 0) abandon_read();
    return kept;
}

void Ring::take_writing_back() noexcept {
    if (lock_writing()) abandon_write();
}

void Ring::take_reading_back() noexcept {
    if (lock_reading()) abandon_read();
}

void Ring::put(std::uint64_t index, const Item& item) noexcept {
    // All of it or what lies in the first line: copies of a fixed size.
    constexpr std::size_t first_line = cache_line - offsetof(Slot, item);
    void* const place = &slot(index).item;
    const std::size_t inside =
        item.kind == ItemKind::inside ? std::size_t{item.length} + item.user_length : std::size_t{0};
    if (offsetof(Item, area) + inside <= first_line)
        std::memcpy(place, &item, first_line);
    else
        std::memcpy(place, &item, sizeof item);
}

void Ring::commit_write(std::uint64_t index) noexcept {
    Head& head = *head_();
    slot(index).sequence.store(index + 1, std::memory_order_release);  // the commit
    head.tail.store(index + 1, std::memory_order_release);
    head.write_lock.unlock();
    head.items.wake_after_unlock();
    fetch_ahead(index);
}

void Ring::abandon_write() noexcept { head_()->write_lock.unlock(); }

Ring::Outcome Ring::begin_read(Deadline deadline, std::uint64_t& index) noexcept {
    const std::uint32_t stops = stops_.load(std::memory_order_acquire);
    for (;;) {
        if (!lock_reading()) {
            if (const Outcome outcome = after_stopped(false, stops, deadline); outcome != Outcome::done) return outcome;
            continue;
        }
        if (head_()->closed.load(std::memory_order_acquire) != 0) {
            abandon_read();
            return Outcome::closed;
        }
        index = head_()->head.load(std::memory_order_relaxed);
        if (slot(index).sequence.load(std::memory_order_acquire) == index + 1) return Outcome::done;
        abandon_read();
        if (const Outcome outcome = wait_for_item(index, stops, deadline); outcome != Outcome::done) return outcome;
    }
}

Item Ring::get(std::uint64_t index) const noexcept {
    Item item;
    const Item& place = slot(index).item;
    std::memcpy(static_cast<void*>(&item), &place, offsetof(Item, area));
    if (item.kind == ItemKind::inside) {  // lengths that do not fit are another process's mistake
        item.length = std::min(item.length, user_area_size);
        item.user_length =
            static_cast<std::uint16_t>(std::min<std::uint32_t>(item.user_length, user_area_size - item.length));
        item.area = place.area;
    } else {
        item.area = {};
    }
    return item;
}

void Ring::commit_read(std::uint64_t index) noexcept {
    Head& head = *head_();
    head.head.store(index + 1, std::memory_order_release);  // the commit
    head.read_lock.unlock();
    head.room.wake_after_unlock();
}

void Ring::abandon_read() noexcept { head_()->read_lock.unlock(); }

bool Ring::holds(std::uint64_t index, std::uint64_t pool, std::uint32_t header,
                 std::uint32_t generation) const noexcept {
    const Slot& place = slot(index);
    return place.sequence.load(std::memory_order_acquire) == index + 1 && place.item.kind == ItemKind::buffer &&
           place.item.pool == pool && place.item.header == header && place.item.generation == generation &&
           index - head_index() < depth_;
}

void Ring::close() noexcept {
    // Under both locks: a write or read that has begun ends first.
    const bool reading = lock_reading(), writing = lock_writing();
    head_()->closed.store(1, std::memory_order_release);
    if (writing) head_()->write_lock.unlock();
    if (reading) head_()->read_lock.unlock();
    wake_all();
}

void Ring::creator_gone() noexcept {
    creator_gone_.store(true, std::memory_order_release);
    wake_all();
}

void Ring::stop() noexcept {
    stops_.fetch_add(1, std::memory_order_release);
    wake_all();
}

void Ring::wake_all() noexcept {
    head_()->items.wake();
    head_()->room.wake();
}

Ring::Source* Ring::find_source(std::uint64_t source) noexcept {
    for (Source& each : head_()->sources)
        if (each.ring.load(std::memory_order_acquire) == source) return &each;
    return nullptr;
}

bool Ring::accept_source(std::uint64_t source, std::uint64_t from) noexcept {
    if (!lock_writing()) return false;
    Source* place = find_source(source);
    if (place == nullptr) {
        place = find_source(0);
        for (Source& each : head_()->sources)
            if (place == nullptr && !bound_by_living(each)) place = &each;
        if (place != nullptr) {
            place->pending.store(0, std::memory_order_relaxed);
            place->delivered.store(from, std::memory_order_relaxed);
            place->ring.store(source, std::memory_order_release);
        }
    }
    if (place != nullptr) place->binder.store(self_, std::memory_order_relaxed);
    head_()->write_lock.unlock();
    return place != nullptr;
}

void Ring::forget_source(std::uint64_t source) noexcept {
    if (!lock_writing()) return;
    if (Source* place = find_source(source)) place->ring.store(0, std::memory_order_release);
    head_()->write_lock.unlock();
}

bool Ring::delivered(std::uint64_t source, std::uint64_t source_index) noexcept {
    if (!lock_writing()) return false;
    const Source* place = find_source(source);
    const bool here = place != nullptr && place->delivered.load(std::memory_order_relaxed) > source_index;
    head_()->write_lock.unlock();
    return here;
}

Ring::Outcome Ring::begin_delivery(std::uint64_t source, std::uint64_t source_index, std::uint64_t& place) noexcept {
    if (!lock_writing()) return Outcome::timed_out;
    const Source* from = find_source(source);
    Outcome outcome = Outcome::done;
    if (from == nullptr || !open())
        outcome = Outcome::closed;
    else if (from->delivered.load(std::memory_order_relaxed) > source_index)
        outcome = Outcome::stopped;
    else if (place = find_room(); place == no_room)
        outcome = Outcome::timed_out;
    if (outcome != Outcome::done) abandon_write();
    return outcome;
}

void Ring::commit_delivery(std::uint64_t source, std::uint64_t source_index, std::uint64_t place,
                           const Item& item) noexcept {
    put(place, item);
    if (Source* from = find_source(source)) {
        from->place.store(place, std::memory_order_relaxed);
        from->pending.store(source_index + 1, std::memory_order_release);
        slot(place).sequence.store(place + 1, std::memory_order_release);  // the commit
        from->delivered.store(source_index + 1, std::memory_order_release);
        from->pending.store(0, std::memory_order_release);
    }
    head_()->tail.store(place + 1, std::memory_order_release);
    head_()->write_lock.unlock();
    head_()->items.wake_after_unlock();
}

bool Ring::add_target(std::uint64_t ring) noexcept {
    if (!lock_reading()) return false;
    TargetRecord* place = nullptr;
    for (TargetRecord& each : head_()->targets) {
        std::uint64_t known = each.ring.load(std::memory_order_relaxed);
        if (known != 0 && !bound_by_living(each)) {
            each.ring.store(0, std::memory_order_release);
            known = 0;
        }
        if (known == 0 && place == nullptr) place = &each;
        if (known == ring && each.binder.load(std::memory_order_relaxed) == self_) {
            place = &each;
            break;
        }
    }
    if (place != nullptr) {
        place->delivered.store(head_index(), std::memory_order_relaxed);
        place->binder.store(self_, std::memory_order_relaxed);
        place->ring.store(ring, std::memory_order_release);
        head_()->routed.store(1, std::memory_order_relaxed);
    }
    abandon_read();
    return place != nullptr;
}

bool Ring::remove_target(std::uint64_t ring) noexcept {
    if (!lock_reading()) return false;
    drop_target(ring);
    abandon_read();
    return true;
}

void Ring::drop_target(std::uint64_t ring) noexcept {
    for (TargetRecord& each : head_()->targets)
        if (each.ring.load(std::memory_order_relaxed) == ring && each.binder.load(std::memory_order_relaxed) == self_)
            each.ring.store(0, std::memory_order_release);
}

bool Ring::is_target(std::uint64_t ring) const noexcept {
    for (const TargetRecord& each : head_()->targets)
        if (each.ring.load(std::memory_order_relaxed) == ring && each.binder.load(std::memory_order_relaxed) == self_)
            return true;
    return false;
}

bool Ring::has_sources() const noexcept {
    for (const Source& each : head_()->sources)
        if (each.ring.load(std::memory_order_relaxed) != 0 && bound_by_living(each)) return true;
    return false;
}

bool Ring::has_targets() const noexcept {
    for (const TargetRecord& each : head_()->targets)
        if (each.ring.load(std::memory_order_relaxed) != 0 && bound_by_living(each)) return true;
    return false;
}

std::uint64_t Ring::note_delivered(std::uint64_t ring, std::uint64_t count) noexcept {
    std::uint64_t all = ~std::uint64_t{0};
    for (TargetRecord& each : head_()->targets) {
        const std::uint64_t known = each.ring.load(std::memory_order_acquire);
        if (known == 0) continue;
        const auto binder = static_cast<ProcessNumber>(each.binder.load(std::memory_order_relaxed));
        if (known == ring && binder == self_) each.delivered.store(count, std::memory_order_release);
        const std::uint64_t has = each.delivered.load(std::memory_order_relaxed);
        if (has >= all) continue;
        if (binder != self_ && !file_.alive(binder))
            each.ring.store(0, std::memory_order_release);
        else
            all = has;
    }
    return all;
}

}  // namespace canopy
