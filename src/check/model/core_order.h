// SPDX-License-Identifier: Apache-2.0
// The order between the cores of a launch: what flags, meetings and words in global memory carry from one to another.
// Any thread; a sender calls before the device lets its receivers go on.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "check/model/core.h"
#include "foundation/mutex.h"

namespace canopy::check {

// Signals are told apart by words.
constexpr std::uint64_t signal_word_bytes = 4;

class CoreOrder {
public:
    explicit CoreOrder(const Launch& launch) : launch_(launch) {}

    // Modes and ids as in canopy/kernel_abi.h.
    void set_flag(Core& core, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id);
    void wait_flag(Core& core, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id);
    // `trigger` and `wait` are the pipes that send and receive, or CANOPY_CHECK_ALL.
    void arrive(Core& core, std::uint32_t kind, std::uint32_t scope, std::uint32_t trigger);
    void leave(Core& core, std::uint32_t kind, std::uint32_t scope, std::uint32_t wait);
    // A word that cores signal each other by: what the scalar unit of one knows, to that of another.
    void publish(Core& core, std::uint64_t address);
    void take(Core& core, std::uint64_t address);
    // Whether accesses there are signals, which do not conflict with each other.
    [[nodiscard]] bool is_word(std::uint64_t address);

private:
    struct Sent {
        KnownCores known;
        std::uint32_t phase = 0;
    };
    // What the senders of a flag have sent. It is delivered when each has.
    struct Gathering {
        std::unordered_map<std::uint32_t, std::deque<Sent>> by_sender;
        std::uint32_t waiting = 0;  // senders with something here
    };
    struct Meeting {
        Sent sum;
        std::uint32_t left = 0;
    };
    // Those that some core has not left yet.
    struct Meetings {
        std::uint64_t first = 0;  // how many were before
        std::deque<Meeting> open;
    };

    static void join_to(Sent& sum, const Sent& sent);
    Sent sent_by(Core& core, std::uint32_t pipe);
    static void receive(Core& core, std::uint32_t pipe, const Sent& sent);
    void gather(Core& core, std::uint64_t key, std::uint32_t senders, Sent sent,
                const std::vector<std::uint32_t>& receivers, std::uint64_t flag) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] std::vector<std::uint32_t> cores_of(std::uint32_t group, bool cube) const;
    [[nodiscard]] std::vector<std::uint32_t> all_cores(bool cube) const;
    [[nodiscard]] std::uint32_t members(std::uint32_t scope) const;
    [[nodiscard]] std::uint64_t meeting_key(const Core& core, std::uint32_t kind, std::uint32_t scope) const;

    const Launch& launch_;
    Mutex mutex_;
    std::unordered_map<std::uint64_t, Gathering> gatherings_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, std::deque<Sent>> counters_ CANOPY_GUARDED_BY(mutex_);  // by receiver and id
    std::unordered_map<std::uint64_t, Meetings> meetings_ CANOPY_GUARDED_BY(mutex_);
    // By meeting and core: how often it has arrived and left.
    std::unordered_map<std::uint64_t, std::uint64_t> arrivals_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, std::uint64_t> leavings_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, Sent> words_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::check
