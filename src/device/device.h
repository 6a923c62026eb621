// SPDX-License-Identifier: Apache-2.0
// Devices as core sees them: streams, fences, graphs and modules of any kind of device. Implemented once, by the engine
// (src/device/engine), on top of the driver of a kind (driver.h).
//
// Threads: every function may be called from any thread at any time unless its comment says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <canopy/chips.h>
#include "base/device_address.h"
#include "base/memory_range.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "device/command.h"
#include "device/driver.h"
#include "device/fusion.h"
#include "device/trace.h"
#include "foundation/clock.h"
#include "foundation/kernel_info.h"

namespace canopy {

namespace watch {
class DevicePage;
}

// A 64-bit counter that queues signal, wait for and timestamp. Reference counted: the creator holds one reference, and
// so does every queued command that uses it.
class Fence {
public:
    Fence() noexcept = default;
    virtual ~Fence() = default;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    [[nodiscard]] virtual std::uint64_t value() const noexcept = 0;
    // Time of the last signal, on the device's clock; 0 before the first.
    [[nodiscard]] virtual Nanoseconds signalled_at() const noexcept = 0;
    // Signals from the host, with the same effect on waiters as a signal command.
    virtual void signal(SignalMode mode, std::uint64_t value) noexcept = 0;

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

private:
    std::atomic<std::uint32_t> references_{1};
};

class Module {
public:
    virtual ~Module() = default;
    [[nodiscard]] virtual std::span<const KernelInfo> kernels() const = 0;
    // nullptr if there is none with that name.
    [[nodiscard]] virtual Kernel* kernel(std::string_view name) = 0;
    // Looks a kernel up by its key; an empty key never matches.
    [[nodiscard]] virtual Kernel* kernel_by_key(std::string_view key) = 0;
    [[nodiscard]] virtual std::optional<SymbolInfo> symbol(std::string_view name) = 0;
    // Address and size of the code as the device sees it.
    [[nodiscard]] virtual SymbolInfo code() const = 0;
    // Describes what a launch of one of its kernels would do. If that is impossible, the error message says why.
    virtual Result<LaunchTrace> trace(const TraceRequest& request);
    // The bitcode with the functions that traces name; empty if there is none.
    [[nodiscard]] virtual std::span<const std::byte> bitcode() const { return {}; }
    // Checksum of the code used for tracing; 0 if the module cannot be traced.
    [[nodiscard]] virtual std::uint64_t tracing_checksum() { return 0; }
};

// ---- graphs ---------------------------------------------------------------------------------------------------------

// Commands that run one after the other.
struct GraphLane {
    std::span<const Command> commands;
    bool starts = true;       // with the replay; if false, when a command starts it
    std::int32_t stream = 0;  // number of the stream they were recorded on; names the lane in failures
};

// `after` begins once `before` is done. Commands of one lane are ordered without edges.
struct GraphEdge {
    GraphPlace before;
    GraphPlace after;
};

// Commands of one lane that may be changed during a replay that has not reached them yet.
struct GraphGroup {
    GraphPlace first;
    std::uint32_t count = 0;
};

struct WordPreset {
    DeviceAddress address{};
    std::uint64_t value = 0;
};

// The input of Device::prepare, read only during the call. A wait or signal without a fence uses binding number `value`
// of the replay.
struct GraphPlan {
    std::span<const GraphLane> lanes;
    std::span<const GraphEdge> edges;
    std::span<const GraphGroup> groups;
    std::span<Fence* const> cleared;      // set to 0 when a replay begins
    std::span<const WordPreset> presets;  // written when a replay begins
    // Lanes start each other and jump: the order of commands is not known, there are no edges, and a replay is complete
    // once end_graph has run and no lane is running.
    bool flow = false;
    std::string label;                 // names the graph in failures
    std::shared_ptr<const void> kept;  // keeps objects that commands use alive as long as the executable
};

struct GraphChange {
    GraphPlace place;
    Command command;
};

// next_replay: takes effect for replays submitted after the call. untouched: takes effect now, unless the running
// replay has begun one of the commands; then after that replay. Either way a replay sees all changes of a call or none.
// In a running replay, any command can change if the plan has `flow`; otherwise only commands of groups can.
enum class ChangeTime : std::uint8_t { next_replay, untouched };

// A graph prepared for a device. Replayed by a command; replays of one executable run one at a time, in the order of
// submission, whatever queues they come from. Reference counted like a fence.
class Executable {
public:
    Executable() noexcept = default;
    virtual ~Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    // Copies everything the commands point at.
    virtual Status change(std::span<const GraphChange> changes, ChangeTime time) noexcept = 0;
    // Replays submitted and not finished.
    [[nodiscard]] virtual std::uint64_t unfinished() const noexcept = 0;
    // Aborts the running replay, if any.
    virtual void abort() noexcept = 0;
    virtual void set_label(std::string label) = 0;

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

private:
    std::atomic<std::uint32_t> references_{1};
};

// The graph command that failed.
struct FailedGraphTask {
    std::string_view label;  // of the graph
    GraphPlace place{};
    std::int32_t stream = 0;  // of its lane
};

struct TaskFailure {
    FaultKind kind = FaultKind::none;
    CoreType core = CoreType::vector;
    Opcode opcode = Opcode::launch;
    std::uint32_t task = 0;
    std::uint64_t thread = 0;  // operating-system thread that ran it
    const Kernel* kernel = nullptr;
    DeviceAddress arguments{};
    std::uint32_t arguments_size = 0;
    std::uint32_t block = 0;
    std::int32_t step = -1;                  // in a fused kernel: FusedStep::number; `kernel` is then the step's
    const Kernel* fused = nullptr;           // the fused kernel the step is part of
    std::uintptr_t address = 0;              // faulting address or instruction
    std::uint32_t result = 0;                // of a CPU kernel that returned
    std::string_view what;                   // one clause in plain words
    const FailedGraphTask* graph = nullptr;  // when it was part of a replay
    int* code = nullptr;                     // where the observer writes the interface's code; may be null
    const LaunchWork* launch = nullptr;      // of a kernel; of a step: that of its fused kernel
};

enum class AfterFailure { go_on, drop_the_rest };

// Notified of failures on the thread that ran the task, before the task counts as completed.
class QueueObserver {
public:
    virtual ~QueueObserver() = default;
    virtual AfterFailure task_failed(const TaskFailure& failure) noexcept = 0;
};

// Runs host_call work on threads that the program has chosen. `done` must be called exactly once, from any thread.
class CallRouter {
public:
    virtual ~CallRouter() = default;
    virtual void route(const CallWork& call, void (*done)(void*), void* token) noexcept = 0;
};

struct QueueOptions {
    std::uint32_t priority = 0;  // 0 is the most urgent, 7 the least
    // Serialises submit; owned by the caller, outlives the queue. The queue itself also takes it briefly.
    SpinLock* submit_lock = nullptr;
    QueueObserver* observer = nullptr;
    std::uint32_t number = 0;  // of the stream, as the program knows it
};

enum class WaitOutcome { done, timed_out };

class Queue {
public:
    virtual ~Queue() = default;
    // Caller holds options.submit_lock. Copies everything the commands point at. Returns the sequence number of the
    // last one; the queue's first command is number 1.
    virtual Result<std::uint64_t> submit(std::span<const Command> commands) noexcept = 0;
    [[nodiscard]] virtual std::uint64_t completed() const noexcept = 0;
    // Waits until `sequence` has completed. A thread that waits without deadline may run the work itself.
    // Must not be called with the submit lock held.
    virtual WaitOutcome wait(std::uint64_t sequence, Deadline deadline) noexcept = 0;
    // Runs commands on the calling thread until `sequence` has completed or the queue waits for something outside it.
    // For submitters with a long backlog.
    virtual void help_drain(std::uint64_t sequence) noexcept = 0;
    // Stops the running task, drops the queued ones and returns once nothing of the queue is running. Dropped commands
    // count as completed. Must not be called with the submit lock held.
    virtual void abort() noexcept = 0;
    // Aborts the running task, if any; later tasks still run.
    virtual void stop_running() noexcept = 0;
    // Takes effect at the next task boundary.
    virtual void set_priority(std::uint32_t priority) noexcept = 0;
    // Sends host_call work to `router` from now on; nullptr: to the device's own threads.
    virtual void set_router(CallRouter* router) noexcept = 0;
};

struct Utilisation {
    int cube = -1, vector = -1, cpu = -1;  // percent; -1: not known
};

class Device {
public:
    virtual ~Device() = default;
    // Changes whenever memory is allocated or released.
    std::atomic<std::uint64_t> allocations{0};
    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    [[nodiscard]] virtual MemoryUsage memory_usage() const noexcept = 0;
    [[nodiscard]] virtual Utilisation utilisation() noexcept = 0;
    // Where it tells programs that watch this one what it does; the page outlives the device.
    virtual void show_on(watch::DevicePage& page) noexcept = 0;

    virtual Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept = 0;
    // Accepts only addresses that allocate returned. Memory that running work may still use is freed when that work is
    // done.
    virtual Status release(DeviceAddress address) noexcept = 0;
    // The live allocation that contains the address.
    [[nodiscard]] virtual std::optional<DeviceRange> find(DeviceAddress address) const noexcept = 0;
    // True for every address that may belong to the device: its memory, and the variables of loaded code.
    [[nodiscard]] virtual bool owns(DeviceAddress address) const noexcept = 0;
    [[nodiscard]] virtual const Abilities& abilities() const noexcept = 0;

    // Makes host memory usable by kernels of this device; returns the address kernels use.
    virtual Result<DeviceAddress> map_host(const HostMemory& memory) noexcept = 0;
    virtual void unmap_host(const HostMemory& memory) noexcept = 0;

    virtual Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) = 0;
    virtual Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) = 0;
    // Loads a shared object with kernels for the device's CPU cores, isolated from all others even if they export the
    // same names. Its kernels are its functions, looked up when they are asked for by name. `name` is for messages.
    virtual Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte> image, std::string_view name) = 0;
    // Makes one kernel that does what the steps of a plan do.
    virtual Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) = 0;
    virtual Result<Fence*> create_fence() = 0;
    virtual Result<Executable*> prepare(const GraphPlan& plan) = 0;

    // Blocking copies and fills, like `transfer` and `fill` below. Idle threads of the device help with large ones;
    // those of fewer than `large_copy` bytes are better made without this call.
    static constexpr std::size_t large_copy = std::size_t{8} << 20;
    virtual Status copy(const CopyWork& work) noexcept = 0;
    virtual Status fill(const FillWork& work) noexcept = 0;

    // Waits until no queue has work that could run right now; work behind an unsatisfied wait does not count. True if
    // memory that was freed under running work may have been given back meanwhile.
    virtual bool quiesce() noexcept = 0;
    // Waits until nothing can run and no host call of a queue is under way. False if the deadline passes first.
    virtual bool settle(Deadline deadline) noexcept = 0;
    // The default time limit of kernels in nanoseconds; 0: none.
    virtual void set_kernel_timeout(std::uint64_t timeout) noexcept = 0;
    // Makes a device usable again that was lost. Nothing of it is running.
    virtual Status revive() noexcept = 0;
};

// Opens a device of that kind.
Result<std::unique_ptr<Device>> open_device(DeviceKind& kind, const DeviceOptions& options);

// Blocking copies and fills of any memory: of devices of any kind, and of this process. Bad addresses are reported, not
// touched. An aligned word of 8 bytes is copied as a whole.
Status transfer(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept;
inline Status read_device(void* to, DeviceAddress from, std::size_t bytes) noexcept {
    return transfer(device_address(to), from, bytes);
}
inline Status write_device(DeviceAddress to, const void* from, std::size_t bytes) noexcept {
    return transfer(to, device_address(from), bytes);
}
Status fill(DeviceAddress to, std::uint32_t value, std::uint32_t element_size, std::size_t count) noexcept;

}  // namespace canopy
