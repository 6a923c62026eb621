// SPDX-License-Identifier: Apache-2.0
// Collector: takes records out of the rings of all threads and tells the listeners. Its thread lives while somebody
// listens. Any thread.
//
// Locks, in this order: listeners come and go under listen_mutex_; records are told under collect_mutex_, which may be
// held while a listener writes to a disk; facts_mutex_ is held for short times only, also around fork.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/parking.h"
#include "foundation/mutex.h"
#include "record/listener.h"
#include "record/names.h"
#include "record/ring.h"

namespace canopy::record {

// Counts a record of a thread that has no ring.
void lose_record() noexcept;
// Tells what devices and streams there are; called when the first listener comes.
void set_source_of_facts(void (*source)()) noexcept;

class Collector {
public:
    // The process's present one: a child made by fork begins with a new one.
    static Collector& present();

    void listen(std::shared_ptr<Listener> listener, std::uint32_t wanted);
    void stop_listening(const std::shared_ptr<Listener>& listener);
    void flush();
    // Records are written from now on although nobody listens, for the black box.
    void write_always(std::uint32_t wanted);

    // A ring for the calling thread; nullptr without memory.
    Ring* ring_for_thread(const profile::Thread& thread) noexcept;
    void rename_thread(const Ring* ring, const profile::Thread& thread) noexcept;
    void device(const profile::DeviceFacts& device);
    void stream(const profile::StreamFacts& stream);
    void wake() noexcept { bell_.wake_all(); }

private:
    friend struct ForkHandlers;

    // A ring and its owner. Stays when the owner ends, for a later thread.
    struct Seat {
        Ring* ring = nullptr;
        std::uint64_t place_in_box = 0;  // 0: it does not lie there
        profile::Thread owner;
        bool taken = false;
        bool changed = false;  // the owner has to be told
        // of the collector:
        std::uint64_t collected = 0;
        profile::Kind last_kind = profile::Kind::none;  // that details belong to
    };
    struct Hearing {
        std::shared_ptr<Listener> listener;
        std::uint32_t wanted = 0;
    };
    // What one collection takes from one ring.
    struct Part {
        Seat* seat;
        std::uint64_t until;
        std::uint32_t thread;
        bool ended;
    };
    struct News {
        std::vector<profile::Thread> threads;
        std::vector<profile::DeviceFacts> devices;
        std::vector<profile::StreamFacts> streams;
    };

    void make_seat() CANOPY_REQUIRES(facts_mutex_);
    void tell_owner(const Seat& seat) const;
    void run() noexcept;
    void start_thread() noexcept;
    // Returns whether there was anything.
    bool collect() noexcept CANOPY_REQUIRES(collect_mutex_);
    void collect_part(const Part& part) CANOPY_REQUIRES(collect_mutex_);
    void tell_records(Seat& seat, std::uint32_t thread, std::span<const Record> records)
        CANOPY_REQUIRES(collect_mutex_);
    void tell_lost(std::uint32_t thread, std::uint64_t count) CANOPY_REQUIRES(collect_mutex_);
    void tell_news(const News& news) CANOPY_REQUIRES(collect_mutex_);
    void find_parts(News& news) CANOPY_REQUIRES(collect_mutex_);
    void skip_old_records() CANOPY_REQUIRES(collect_mutex_);
    void tell_everything(Listener& listener) CANOPY_REQUIRES(collect_mutex_);
    void publish_wanted() noexcept CANOPY_REQUIRES(collect_mutex_);

    Mutex listen_mutex_;
    std::thread thread_ CANOPY_GUARDED_BY(listen_mutex_);

    Mutex collect_mutex_;
    std::vector<Hearing> hearings_ CANOPY_GUARDED_BY(collect_mutex_);
    std::uint32_t always_wanted_ CANOPY_GUARDED_BY(collect_mutex_) = 0;
    bool ending_ CANOPY_GUARDED_BY(collect_mutex_) = false;
    Names::Position told_names_ CANOPY_GUARDED_BY(collect_mutex_);
    std::vector<Part> parts_ CANOPY_GUARDED_BY(collect_mutex_);
    std::vector<Record> taken_ CANOPY_GUARDED_BY(collect_mutex_);
    std::vector<Record> wanted_records_ CANOPY_GUARDED_BY(collect_mutex_);
    ParkingLot bell_;

    Mutex facts_mutex_;
    std::vector<std::unique_ptr<Seat>> seats_ CANOPY_GUARDED_BY(facts_mutex_);
    bool listened_ CANOPY_GUARDED_BY(facts_mutex_) = false;  // rings are collected, and news told
    std::uint32_t last_thread_ CANOPY_GUARDED_BY(facts_mutex_) = 0;
    std::map<std::uint32_t, profile::DeviceFacts> devices_ CANOPY_GUARDED_BY(facts_mutex_);
    std::map<std::uint32_t, profile::StreamFacts> streams_ CANOPY_GUARDED_BY(facts_mutex_);
    News news_ CANOPY_GUARDED_BY(facts_mutex_);
    Collector* before_fork_ = nullptr;  // of the parent; kept, since its locks may be held
};

}  // namespace canopy::record
