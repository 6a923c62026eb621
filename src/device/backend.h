// SPDX-License-Identifier: Apache-2.0
// The waist: the interface that every device backend implements. Code above it (src/core) is written once against these
// classes; code below it (src/device/<kind>) sees only the headers of this folder, src/foundation and src/base. To add
// a device, copy null/, fill in the bodies, add it to registry.cpp and run the conformance suite.
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
#include "base/memory_range.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "device/command.h"
#include "device/fusion.h"
#include "device/trace.h"
#include "foundation/clock.h"
#include "foundation/kernel_info.h"

namespace canopy {

// A kind of device. Fences, executables and kernels record the kind that made them: a device downcasts its own objects
// and rejects those of another kind.
struct DeviceKind {
    std::string_view name;
};

// A 64-bit counter that queues signal, wait for and timestamp. Reference counted: the creator holds one reference, and
// so does every queued command that uses it.
class Fence {
public:
    explicit Fence(const DeviceKind& kind) noexcept : kind_(kind) {}
    virtual ~Fence() = default;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    [[nodiscard]] const DeviceKind& kind() const noexcept { return kind_; }
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
    const DeviceKind& kind_;
    std::atomic<std::uint32_t> references_{1};
};

// A kernel a device can launch. Lives as long as its module; backends extend it.
struct Kernel {
    const KernelInfo* info = nullptr;
    void* user = nullptr;  // core's function object, for exception callbacks
    const DeviceKind* kind = nullptr;
    bool fused = false;  // it is a FusedKernel
};

// Several kernels launched as one. Owned by the caller of Device::fuse; all launches of it must have finished before it
// is destroyed.
struct FusedKernel : Kernel {
    explicit FusedKernel(const DeviceKind& made_by) noexcept {
        kind = &made_by;
        fused = true;
    }
    virtual ~FusedKernel() = default;
    KernelInfo own_info;  // what `info` points at
    // If set, a faster kernel that does the same for the same arguments. A launch runs the last kernel of this chain
    // when it begins, wherever its command was recorded. The maker keeps all of them alive.
    std::atomic<const FusedKernel*> replacement{nullptr};
};

struct SymbolInfo {
    void* address = nullptr;
    std::size_t size = 0;
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
    [[nodiscard]] virtual void* kernel_address(const Kernel& kernel) const = 0;
    // Describes what a launch of one of its kernels would do. If that is impossible, the error message says why.
    virtual Result<LaunchTrace> trace(const TraceRequest& request);
    // The bitcode with the functions that traces name; empty if there is none.
    [[nodiscard]] virtual std::span<const std::byte> bitcode() const { return {}; }
    // Checksum of the code used for tracing; 0 if the module cannot be traced.
    [[nodiscard]] virtual std::uint64_t tracing_checksum() { return 0; }
};

// A shared object generated at run time.
class Code {
public:
    virtual ~Code() = default;
    // nullptr if there is none with that name.
    [[nodiscard]] virtual void* symbol(const std::string& name) const = 0;
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
    std::uint64_t* address = nullptr;
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
    explicit Executable(const DeviceKind& kind) noexcept : kind_(kind) {}
    virtual ~Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    [[nodiscard]] const DeviceKind& kind() const noexcept { return kind_; }
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
    const DeviceKind& kind_;
    std::atomic<std::uint32_t> references_{1};
};

// The graph command that failed.
struct FailedGraphTask {
    std::string_view label;  // of the graph
    GraphPlace place{};
    std::int32_t stream = 0;  // of its lane
};

// Why a task failed, as the device saw it. returned: a CPU kernel returned a nonzero value.
enum class FaultKind : std::uint8_t { none, exception, trap, timeout, wait_timeout, memory, aborted, returned };

struct TaskFailure {
    FaultKind kind = FaultKind::none;
    CoreType core = CoreType::vector;
    Opcode opcode = Opcode::launch;
    std::uint32_t task = 0;
    std::uint64_t thread = 0;  // operating-system thread that ran it
    const Kernel* kernel = nullptr;
    const void* arguments = nullptr;
    std::uint32_t arguments_size = 0;
    std::uint32_t block = 0;
    std::int32_t step = -1;                  // in a fused kernel: FusedStep::number; `kernel` is then the step's
    const Kernel* fused = nullptr;           // the fused kernel the step is part of
    std::uintptr_t address = 0;              // faulting address or instruction
    std::uint32_t result = 0;                // of a CPU kernel that returned
    std::string_view what;                   // one clause in plain words
    const FailedGraphTask* graph = nullptr;  // when it was part of a replay
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

enum MemoryFlags : std::uint32_t {
    memory_default = 0,
    memory_huge_pages = 1u << 0,
};

// Physical memory and address ranges, managed separately. Optional for a device.
class VirtualMemory {
public:
    virtual ~VirtualMemory() = default;
    using Physical = std::uint64_t;  // 0 is none
    [[nodiscard]] virtual std::size_t granularity(bool recommended) const = 0;
    virtual Result<Physical> create(std::size_t size) = 0;
    virtual void destroy(Physical memory) = 0;
    virtual Result<void*> reserve(std::size_t size, std::size_t alignment, void* wanted) = 0;
    virtual Status unreserve(void* address) = 0;
    virtual Status map(void* address, std::size_t size, Physical memory, bool accessible) = 0;
    virtual Status set_accessible(void* address, std::size_t size) = 0;
    virtual Status unmap(void* address, std::size_t size) = 0;
};

struct DeviceInfo {
    const Chip* chip = nullptr;
    std::string name;
    std::uint32_t workers = 0;  // operating-system threads that act as cores
    bool checking = false;
    MemoryRange heap;             // every allocation lies inside
    std::uint32_t cpu_cores = 0;  // threads that run CPU kernels; more are added for launches with more blocks
    bool cpu_pinned = false;      // each of them is pinned to one processor
    bool cpu_isolated = false;    // CPU kernels run in a separate process
};

struct Utilisation {
    int cube = -1, vector = -1, cpu = -1;  // percent; -1: not known
};

class Device {
public:
    virtual ~Device() = default;
    // Changes whenever memory is allocated or released; backends increment it.
    std::atomic<std::uint64_t> allocations{0};
    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    [[nodiscard]] virtual MemoryUsage memory_usage() const noexcept = 0;
    [[nodiscard]] virtual Utilisation utilisation() noexcept = 0;

    virtual Result<void*> allocate(std::size_t size, std::uint32_t flags) noexcept = 0;
    // Accepts only addresses that allocate returned. Memory that running work may still use is freed when that work is
    // done.
    virtual Status release(void* address) noexcept = 0;
    // The live allocation that contains the address.
    [[nodiscard]] virtual std::optional<MemoryRange> find(const void* address) const noexcept = 0;
    [[nodiscard]] virtual VirtualMemory* virtual_memory() noexcept = 0;

    // Makes host memory usable by kernels of this device; returns the address kernels use.
    virtual Result<void*> register_host(void* address, std::size_t size) noexcept = 0;
    virtual Status unregister_host(void* address) noexcept = 0;
    virtual Status enable_peer(Device& peer) noexcept = 0;

    virtual Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) = 0;
    virtual Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) = 0;
    // Loads a shared object with kernels for the device's CPU cores, isolated from all others even if they export the
    // same names. Its kernels are its functions, looked up when they are asked for by name. `name` is for messages.
    virtual Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte> image, std::string_view name) = 0;
    // Makes one kernel that does what the steps of a plan do.
    virtual Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) = 0;
    // Loads loops for fused kernels; `name` is for messages.
    virtual Result<std::shared_ptr<const Code>> load_code(std::span<const std::byte> object, std::string_view name) = 0;
    virtual Result<Fence*> create_fence() = 0;
    virtual Result<Executable*> prepare(const GraphPlan& plan) = 0;

    // Waits until no queue has work that could run right now; work behind an unsatisfied wait does not count.
    virtual void quiesce() noexcept = 0;
    // The default time limit of kernels in nanoseconds; 0: none.
    virtual void set_kernel_timeout(std::uint64_t timeout) noexcept = 0;
    [[nodiscard]] virtual Nanoseconds now() const noexcept = 0;
};

struct DeviceOptions {
    std::uint32_t index = 0;
    const Chip* chip = nullptr;
    std::uint64_t memory = 0;      // bytes; 0: chosen by the backend
    std::uint32_t workers = 0;     // 0: as many as the machine has processors
    std::uint32_t stack_size = 0;  // bytes of a block's stack; 0: the backend's default
    bool checking = false;
    std::uint32_t cpu_cores = 0;  // 0: as many as the chip has
    bool cpu_pinned = false;
    bool cpu_isolated = false;
};

class Backend {
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    // True if it can run on this machine.
    [[nodiscard]] virtual bool probe() noexcept = 0;
    virtual Result<std::unique_ptr<Device>> open(const DeviceOptions& options) = 0;
};

// The backend of that name ("soft", "null"), or nullptr. Never freed.
Backend* find_backend(std::string_view name) noexcept;

}  // namespace canopy
