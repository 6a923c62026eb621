// SPDX-License-Identifier: Apache-2.0
// CpuProcess: a process of its own for a device's CPU kernels, for programs that must outlive them. It shares the
// device's memory at the same addresses; argument blocks are copied there. A kernel that crashes, ends its process or
// never ends takes only that process with it, and what else ran there: those tasks fail, the next launch starts another
// process, in which the variables of images begin anew.
//
// Kernels there see device memory alone: no memory of the host, pinned or not, and no virtual memory of the device.
//
// Threads: everything may be called from any thread. One thread of its own reads what a process says.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/heap.h"
#include "base/result.h"
#include "device/soft/cpu/cpu_process_protocol.h"
#include "foundation/code_file.h"

namespace canopy {

struct CpuLaunch;

// The program that such a process runs.
std::span<const std::byte> cpu_process_program() noexcept;

class CpuProcess {
public:
    explicit CpuProcess(Heap& heap) noexcept : heap_(heap) {}
    ~CpuProcess();
    CpuProcess(const CpuProcess&) = delete;
    CpuProcess& operator=(const CpuProcess&) = delete;

    // Opens the image there, now and in every process that follows. The file must stay until `unload`.
    Status load(const CodeFile& file, const std::string& name, std::uint64_t& number);
    void unload(std::uint64_t number) noexcept;

    // As CpuCores has them.
    bool start(CpuLaunch& launch) noexcept;
    void stop(CpuLaunch& launch, std::uint64_t limit) noexcept;
    void end_late() noexcept;

private:
    struct Flight {
        CpuLaunch* launch;
        void* arguments;  // the copy in device memory, if there is one
        Deadline deadline;
    };
    using Lock = std::unique_lock<std::mutex>;

    bool ensure_running(Lock& lock, std::string& problem);
    bool spawn(std::string& problem);
    bool ask(cpu_process::Request& request, int descriptor) noexcept;
    bool load_there(std::uint64_t number, std::uint64_t answer_to) noexcept;
    bool send_launch(CpuLaunch& launch, std::string& problem);
    void* copy_arguments(const CpuLaunch& launch) noexcept;
    void reader_main(int socket, pid_t process) noexcept;
    void take(const cpu_process::Reply& reply) noexcept;
    void process_ended(int status) noexcept;
    void complete(std::uint64_t number, Lock& lock) noexcept;

    Heap& heap_;
    std::mutex mutex_;
    std::condition_variable news_;
    CodeFile program_;
    int socket_ = -1;
    pid_t process_ = 0;
    bool reading_ = false;  // the reader of the last process has not ended
    std::uint64_t numbers_ = 0;
    std::map<std::uint64_t, std::pair<int, std::string>> images_;  // descriptor and name
    std::set<std::uint64_t> loaded_;                               // those the present process has
    std::map<std::uint64_t, Flight> flights_;
    std::map<std::uint64_t, std::string> answers_;  // to requests somebody waits for
};

}  // namespace canopy
