// SPDX-License-Identifier: Apache-2.0
// The two processes of the topic: the leader measures, the partner does the other half. They are pinned to two
// processors and agree on what to do through a page that both map.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "processes/connection.h"

namespace bench {

// What the partner does.
enum class Task : std::uint32_t {
    open_wires,     // attaches the leader's queues and opens the other wires
    answer,         // sends every message back, `count` times
    answer_time,    // likewise, but sends the time at which the message came
    consume,        // takes `count` messages, then sends one
    notify_chain,   // its half of `count` hops
    event_chain,    // likewise
    import_memory,  // imports the leader's memory
    die_on_notify,  // shares a notify, and is killed when the leader waits for it
    die_on_queue,   // creates a queue, likewise
};

inline constexpr std::size_t most_hops = 512;

// The page. The leader writes the request and then `asked`; the partner does it and then writes `done`.
struct Control {
    alignas(128) std::atomic<std::uint32_t> asked;
    alignas(128) std::atomic<std::uint32_t> done;
    std::atomic<std::uint32_t> failed;
    alignas(128) std::atomic<std::uint32_t> steps[2];  // for steps in turn inside a task
    alignas(128) Task task;
    std::uint32_t wire;
    std::uint32_t count;
    std::uint32_t size;
    std::uint32_t queues[2];
    char text[2][256];
    std::uint64_t numbers[2];
    std::uint64_t times[most_hops][3];
    alignas(128) std::atomic<std::uint64_t> line;
    alignas(128) std::atomic<std::uint64_t> copied;  // for messages by two copies through `room`
    alignas(4096) char room[std::size_t{1} << 20];
};

// Descriptors that the partner inherits.
struct Descriptors {
    int control = -1;
    std::array<int, 2> there{-1, -1}, back{-1, -1};  // pipes: read, write
    std::array<int, 2> sockets{-1, -1};              // one for each side
};

void stay_on(Side side);

// Starts the partner, and ends it.
class Partner {
public:
    Partner();
    ~Partner();
    Partner(const Partner&) = delete;
    Partner& operator=(const Partner&) = delete;

    [[nodiscard]] Control& control() const { return *control_; }
    [[nodiscard]] const Descriptors& descriptors() const { return descriptors_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    // The partner begins; returns at once.
    void ask(Task task, std::uint32_t wire = 0, std::uint32_t count = 0, std::uint32_t size = 0);
    // Waits until it has ended. Throws if it failed.
    void finish();
    // Waits until the partner has made `step` steps inside its task.
    void await_step(std::uint32_t step);
    void make_step();
    // The partner kills itself; waits until it is gone.
    void await_death();

private:
    void check_alive();
    Control* control_ = nullptr;
    Descriptors descriptors_;
    pid_t pid_ = -1;
    std::uint32_t asked_ = 0;
};

// The partner's main loop; `serve` does a task.
int serve_leader(void (*serve)(Control&, const Descriptors&));

// For the partner.
void await_leader_step(const Control& control, std::uint32_t step);
void make_partner_step(Control& control);

}  // namespace bench
