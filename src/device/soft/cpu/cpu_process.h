// SPDX-License-Identifier: Apache-2.0
// CpuProcess: a separate process for a device's CPU kernels, for programs that must outlive them. It shares the
// device's memory at the same addresses; argument blocks are copied there. A kernel that crashes, ends its process or
// never ends takes only that process with it, and what else ran there: those tasks fail, the next launch starts another
// process, in which the variables of images begin anew.
//
// Kernels there see device memory alone: no memory of the host, pinned or not, and no virtual memory of the device.
//
// Threads: everything may be called from any thread. One thread of this object reads the replies.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/heap.h"
#include "base/mutex.h"
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

    bool ensure_running(std::string& problem) CANOPY_REQUIRES(mutex_);
    bool spawn(std::string& problem) CANOPY_REQUIRES(mutex_);
    bool ask(cpu_process::Request& request, int descriptor) noexcept CANOPY_REQUIRES(mutex_);
    bool load_there(std::uint64_t number, std::uint64_t answer_to) noexcept CANOPY_REQUIRES(mutex_);
    bool send_launch(CpuLaunch& launch, std::string& problem) CANOPY_REQUIRES(mutex_);
    void* copy_arguments(const CpuLaunch& launch) noexcept;
    void reader_main(int socket, pid_t process) noexcept;
    void take(const cpu_process::Reply& reply) noexcept;
    void process_ended(int status) noexcept;
    void complete(std::uint64_t number) noexcept CANOPY_REQUIRES(mutex_);
    void kill_late() noexcept CANOPY_REQUIRES(mutex_);

    Heap& heap_;
    Mutex mutex_;
    Condition news_;
    CodeFile program_ CANOPY_GUARDED_BY(mutex_);
    int socket_ CANOPY_GUARDED_BY(mutex_) = -1;
    pid_t process_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool reading_ CANOPY_GUARDED_BY(mutex_) = false;  // the reader of the last process has not ended
    std::uint64_t numbers_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::map<std::uint64_t, std::pair<int, std::string>> images_ CANOPY_GUARDED_BY(mutex_);  // descriptor and name
    std::set<std::uint64_t> loaded_ CANOPY_GUARDED_BY(mutex_);  // the images that the present process has
    std::map<std::uint64_t, Flight> flights_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint64_t, std::string> answers_ CANOPY_GUARDED_BY(mutex_);  // to requests that a thread waits for
};

}  // namespace canopy
