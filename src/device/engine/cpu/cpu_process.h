// SPDX-License-Identifier: Apache-2.0
// CpuProcess: a separate process for a device's CPU kernels, for programs that must survive them. It shares the
// device's memory at the same addresses; argument blocks are copied there. A kernel that crashes, exits or never ends
// takes down only that process and whatever else runs in it: those tasks fail, and the next launch starts a new
// process, in which the variables of images are initialised again.
//
// Kernels there can access device memory and the memory that programs get from the runtime (pinned and managed), but
// neither other memory of the program nor the device's virtual memory.
//
// Threads: any. The object has one thread that reads the replies.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "device/driver.h"
#include "device/engine/cpu/cpu_process_protocol.h"
#include "device/host_ranges.h"
#include "foundation/clock.h"
#include "foundation/code_file.h"
#include "foundation/mutex.h"

namespace canopy {

struct CpuLaunch;

// The executable of that process.
std::span<const std::byte> cpu_process_program() noexcept;

class CpuProcess {
public:
    CpuProcess(Driver& driver, const SharedFile& memory) noexcept : driver_(driver), memory_(memory) {}
    ~CpuProcess();
    CpuProcess(const CpuProcess&) = delete;
    CpuProcess& operator=(const CpuProcess&) = delete;

    // Opens the image in the process, now and after every restart. The file must stay open until `unload`.
    Status load(const CodeFile& file, const std::string& name, std::uint64_t& number);
    void unload(std::uint64_t number) noexcept;

    // Maps memory of the program there, now and after every restart.
    Status map(const HostMemory& memory);
    void unmap(const HostMemory& memory) noexcept;

    // See the functions of CpuCores.
    bool start(CpuLaunch& launch) noexcept;
    void stop(CpuLaunch& launch, std::uint64_t limit) noexcept;
    void end_late() noexcept;
    [[nodiscard]] bool asleep(const CpuLaunch& launch) noexcept;

private:
    struct Flight {
        CpuLaunch* launch;
        DeviceAddress arguments;  // the copy in device memory, if there is one
        DeviceAddress asleep;     // behind it: see Request
        Deadline deadline;
    };

    bool ensure_running(std::string& problem) CANOPY_REQUIRES(mutex_);
    bool spawn(std::string& problem) CANOPY_REQUIRES(mutex_);
    bool ask(cpu_process::Request& request, int descriptor) noexcept CANOPY_REQUIRES(mutex_);
    bool map_there(const HostMemory& memory, std::uint64_t answer_to) noexcept CANOPY_REQUIRES(mutex_);
    std::string wait_for_answer(std::uint64_t request) CANOPY_REQUIRES(mutex_);
    bool load_there(std::uint64_t number, std::uint64_t answer_to) noexcept CANOPY_REQUIRES(mutex_);
    bool send_launch(CpuLaunch& launch, std::string& problem) CANOPY_REQUIRES(mutex_);
    DeviceAddress copy_arguments(const CpuLaunch& launch, std::size_t size);
    void reader_main(int socket, pid_t process) noexcept;
    void take(const cpu_process::Reply& reply) noexcept;
    void process_ended(int status) noexcept;
    void complete(std::uint64_t number) noexcept CANOPY_REQUIRES(mutex_);
    void kill_late() noexcept CANOPY_REQUIRES(mutex_);

    Driver& driver_;
    const SharedFile memory_;
    Mutex mutex_;
    Condition news_;
    CodeFile program_ CANOPY_GUARDED_BY(mutex_);
    int library_ CANOPY_GUARDED_BY(mutex_) = -1;  // the file of this library
    int socket_ CANOPY_GUARDED_BY(mutex_) = -1;
    pid_t process_ CANOPY_GUARDED_BY(mutex_) = 0;
    bool reading_ CANOPY_GUARDED_BY(mutex_) = false;  // the last process's reader still runs
    std::uint64_t numbers_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::map<std::uint64_t, std::pair<int, std::string>> images_ CANOPY_GUARDED_BY(mutex_);  // descriptor and name
    HostRanges mapped_ CANOPY_GUARDED_BY(mutex_);
    std::set<std::uint64_t> loaded_ CANOPY_GUARDED_BY(mutex_);  // the images of the current process
    std::map<std::uint64_t, Flight> flights_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint64_t, std::string> answers_ CANOPY_GUARDED_BY(mutex_);  // a thread waits for these
};

}  // namespace canopy
