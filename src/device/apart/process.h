// SPDX-License-Identifier: Apache-2.0
// DeviceProcess: the process that runs the kernels of a device of kind apart. When it ends, whatever ran there fails,
// and nothing more can be asked until it is started again.
//
// Threads: any. A running process has one thread here that reads its replies.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/apart/protocol.h"
#include "foundation/clock.h"
#include "foundation/code_file.h"
#include "foundation/mutex.h"

namespace canopy::apart {

// The program of that process: it opens this library and calls canopy_serve_device.
std::span<const std::byte> stub_program() noexcept;

// A launch in the process.
class Flight {
public:
    // The launch has ended, on any thread. The object may be gone when this returns.
    virtual void ended(const Reply& reply) noexcept = 0;

protected:
    ~Flight() = default;
};

class DeviceProcess {
public:
    DeviceProcess() = default;
    ~DeviceProcess();
    DeviceProcess(const DeviceProcess&) = delete;
    DeviceProcess& operator=(const DeviceProcess&) = delete;

    // Starts the process and sends `open`, with the descriptor of the device's memory. Fails with 507033 and the
    // reason.
    Status start(const Request& open, int memory);
    // Ends the process, if it runs, and waits until nothing of it is left.
    void end() noexcept;
    [[nodiscard]] bool alive() const noexcept { return alive_.load(std::memory_order_acquire); }
    // Says how the last process ended.
    [[nodiscard]] std::string how_it_ended();

    // Sends a request and waits for its answer. Fails with the answer's code, or 507010 if the process is gone.
    Result<Reply> ask(Request request, int descriptor = -1, std::span<const std::byte> bytes = {},
                      std::vector<std::byte>* answer = nullptr);
    // Sends a request that is not answered.
    void tell(const Request& request) noexcept;
    // Starts a launch and stores its number; false if the process is gone. The time limit is also watched here, with
    // some patience, in case the process does not keep it.
    bool launch(Flight& flight, Request& request, std::atomic<std::uint64_t>& number) noexcept;

private:
    struct Answer {
        bool here = false;
        Reply reply;
        std::vector<std::byte> bytes;
    };
    struct InFlight {
        Flight* flight;
        Deadline deadline;
    };
    bool spawn(std::string& problem) CANOPY_REQUIRES(mutex_);
    // Sends to the process of that number, unless it is gone. Called without the mutex: the reader must never wait for
    // a message that does not fit into the socket yet.
    void send(std::uint64_t process, const Request& request, int descriptor = -1,
              std::span<const std::byte> bytes = {}) noexcept;
    void reader_main(int socket, pid_t process) noexcept;
    void take(const Reply& reply, std::span<const std::byte> bytes) noexcept;
    void process_ended(int status) noexcept;
    void kill_late() noexcept;

    Mutex mutex_;
    Condition news_;
    CodeFile program_ CANOPY_GUARDED_BY(mutex_);
    int library_ CANOPY_GUARDED_BY(mutex_) = -1;
    Mutex send_mutex_;  // locked after mutex_
    int socket_ CANOPY_GUARDED_BY(send_mutex_) = -1;
    std::uint64_t connected_ CANOPY_GUARDED_BY(send_mutex_) = 0;  // the number of the process at the other end
    std::uint64_t processes_made_ CANOPY_GUARDED_BY(mutex_) = 0;  // also the number of the newest process
    pid_t process_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool reading_ CANOPY_GUARDED_BY(mutex_) = false;  // the last process's reader still runs
    std::uint64_t numbers_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::map<std::uint64_t, Answer> answers_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint64_t, InFlight> flights_ CANOPY_GUARDED_BY(mutex_);
    std::string how_it_ended_ CANOPY_GUARDED_BY(mutex_);
    std::atomic<bool> alive_{false};
};

}  // namespace canopy::apart
