// SPDX-License-Identifier: Apache-2.0
// The waist: what a kind of device implements. Streams, events, graphs, CPU kernels, host calls, time limits and
// tracing are written once above it (src/device/engine), for every kind. To add a kind: a folder with a Driver and a
// DeviceKind, and one line in registry.cpp. docs/architecture.md, "A kind of device", says what each function must
// promise.
//
// Threads: every function may be called from any thread at any time unless its comment says otherwise.
#pragma once

#include <canopy/chips.h>
#include <canopy/kernel_abi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/device_address.h"
#include "base/memory_range.h"
#include "base/result.h"
#include "device/command.h"
#include "device/fusion.h"
#include "foundation/kernel_info.h"

namespace canopy {

class Driver;
class Executor;
class LaunchChecker;
class Strand;
class Worker;
struct Fault;
struct Image;
struct StraightRun;

// ---- kernels --------------------------------------------------------------------------------------------------------

// A kernel a device can launch. Lives as long as the code it was loaded with; drivers extend it.
struct Kernel {
    const KernelInfo* info = nullptr;
    const Driver* driver = nullptr;  // that loaded it; of fused kernels: nullptr
    void* user = nullptr;            // core's function object, for exception callbacks
    DeviceAddress address{};         // of its code
    bool fused = false;              // it is a FusedKernel
    std::uint8_t built_in = 0;       // core's number for a kernel of the runtime itself; 0: a kernel of a program
    mutable std::uint32_t record_name = 0;  // number of its name in profiles; accessed atomically, 0: not known yet
};

// Several kernels launched as one. Owned by the caller of Device::fuse; all launches of it must have finished before it
// is destroyed.
struct FusedKernel : Kernel {
    FusedKernel() noexcept { fused = true; }
    virtual ~FusedKernel() = default;
    KernelInfo own_info;  // what `info` points at
    // If set, a faster kernel that does the same for the same arguments. A launch runs the last kernel of this chain
    // when it begins, wherever its command was recorded. The maker keeps all of them alive.
    std::atomic<const FusedKernel*> replacement{nullptr};
};

struct SymbolInfo {
    DeviceAddress address{};
    std::size_t size = 0;
};

// The code of one image on one device. Destroyed once no launch uses its kernels.
class LoadedCode {
public:
    virtual ~LoadedCode() = default;
    // The kernel of that index in the image; `info` is filled in by the caller.
    [[nodiscard]] virtual Kernel& kernel(std::size_t index) = 0;
    // A variable or function, by its symbol.
    [[nodiscard]] virtual std::optional<SymbolInfo> symbol(std::string_view name) = 0;
    SymbolInfo range;  // all of its instructions
};

// ---- launches -------------------------------------------------------------------------------------------------------

// Why a task failed, as the device saw it. returned: a CPU kernel returned a nonzero value. lost: the device is gone.
enum class FaultKind : std::uint8_t { none, exception, trap, timeout, wait_timeout, memory, aborted, returned, lost };

// What became of a command: `left` means that the stream waits, or that another thread continues it.
enum class Step { done, left };

// The launches of one strand (a stream, or a lane of a graph), which run one after the other. Made by the driver.
class LaunchSlot {
public:
    virtual ~LaunchSlot() = default;
    // Runs the kernel of the command, or starts it and returns `left`; then the driver calls
    // Strand::continue_after_launch when the kernel has ended, and `run` is called again to take the outcome. Failures
    // go to Strand::report. `sequence` counts the commands of the strand before this one.
    virtual Step run(Worker& worker, Command& command, std::uint64_t sequence) noexcept = 0;
    // Ends what runs or waits of the first `limit` commands, soon; any thread. Time limits are the driver's own affair.
    virtual void stop(std::uint64_t limit) noexcept = 0;
    // The strand is in Strand::begin_launch_wait and its wait must end. False: it has ended by itself.
    virtual bool withdraw() noexcept { return false; }
    // A command for which `run` returned `left` is dropped instead of being run again.
    virtual void drop() noexcept {}
};

// ---- abilities ------------------------------------------------------------------------------------------------------

// Part of a memory file, perhaps of one that another process made.
struct FilePart {
    int descriptor = -1;  // not owned
    std::uint64_t offset = 0;
    std::size_t size = 0;
};

// Physical memory and address ranges, managed separately.
class VirtualMemory {
public:
    virtual ~VirtualMemory() = default;
    using Physical = std::uint64_t;  // 0 is none
    [[nodiscard]] virtual std::size_t granularity(bool recommended) const = 0;
    virtual Result<Physical> create(std::size_t size) = 0;
    virtual void destroy(Physical memory) = 0;
    virtual Result<DeviceAddress> reserve(std::size_t size, std::size_t alignment, DeviceAddress wanted) = 0;
    virtual Status unreserve(DeviceAddress address) = 0;
    virtual Status map(DeviceAddress address, std::size_t size, Physical memory, bool accessible) = 0;
    virtual Status set_accessible(DeviceAddress address, std::size_t size) = 0;
    virtual Status unmap(DeviceAddress address, std::size_t size) = 0;
    // What another process needs to use the same memory; nullopt if it cannot be shared.
    [[nodiscard]] virtual std::optional<FilePart> shared_part(Physical) const { return std::nullopt; }
    // Physical memory of another process, to be destroyed like one's own.
    virtual Result<Physical> import(const FilePart& part);
};

// Memory of other processes, at addresses of the device.
class MemoryImports {
public:
    virtual ~MemoryImports() = default;
    virtual Result<DeviceAddress> add(const FilePart& part) = 0;
    // 107000 unless `add` returned the address. Nothing may use the memory any more.
    virtual Status remove(DeviceAddress address) = 0;
};

// Which memory is allocated. `mark_all` marks all of it; memory allocated later is not marked.
class Allocations {
public:
    virtual ~Allocations() = default;
    struct Allocation {
        DeviceRange range;
        bool marked = false;
    };
    // The first one that begins at or after an address.
    [[nodiscard]] virtual std::optional<Allocation> next(DeviceAddress from) const noexcept = 0;
    virtual void mark_all() noexcept = 0;
};

// Memory at chosen addresses, to repeat what another process did.
class Placement {
public:
    virtual ~Placement() = default;
    // All addresses that allocations may have; those of another process if the device was opened with their place.
    [[nodiscard]] virtual DeviceRange addresses() const noexcept = 0;
    virtual Status allocate_at(DeviceAddress address, std::size_t size) noexcept = 0;
};

// A shared object generated at run time.
class Code {
public:
    virtual ~Code() = default;
    // nullptr if there is none with that name.
    [[nodiscard]] virtual void* symbol(const std::string& name) const = 0;
};

// Fused kernels of the device's own making. Without it the engine runs the steps of a plan one after the other.
class Fusing {
public:
    virtual ~Fusing() = default;
    virtual Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) = 0;
    // Loads loops for fused kernels; `name` is for messages.
    virtual Result<std::shared_ptr<const Code>> load_code(std::span<const std::byte> object, std::string_view name) = 0;
};

// Finds damage that kernels have done to memory beside allocations; asked after every kernel.
class Checker {
public:
    virtual ~Checker() = default;
    // True, with a description, if there is damage that was not reported yet.
    virtual bool damaged(std::string& what) noexcept = 0;
    // Where an address lies, in words that complete "address 0x... is ...".
    virtual std::string describe(std::uintptr_t address) noexcept = 0;
    [[nodiscard]] virtual bool enabled() const noexcept = 0;
};

// Runs several short commands of a graph on the calling thread, without leaving the driver between them.
class StraightRuns {
public:
    virtual ~StraightRuns() = default;
    // True if the command can be part of a straight run.
    [[nodiscard]] virtual bool takes(const Command& command) const noexcept = 0;
    virtual std::size_t run(Executor& executor, StraightRun& run, Fault& fault) noexcept = 0;
};

// The device orders work by itself: nothing of the engine's streams is needed while only such work is submitted.
class NativeOrder {
public:
    virtual ~NativeOrder() = default;
    // Takes the first commands of a stream on which nothing else is unfinished; returns how many. They are complete
    // when the call returns, as far as the order of streams goes.
    virtual std::size_t submit(std::span<const Command> commands) noexcept = 0;
};

// Memory that other processes of this machine can map at the device's own addresses.
struct SharedFile {
    int descriptor = -1;
    DeviceRange range;
};

struct Abilities {
    VirtualMemory* virtual_memory = nullptr;
    Fusing* fusing = nullptr;
    Checker* checker = nullptr;
    StraightRuns* straight_runs = nullptr;
    NativeOrder* native_order = nullptr;
    const SharedFile* shared_file = nullptr;
    MemoryImports* imports = nullptr;
    // The table for code that runs in this process, CPU kernels above all. Without it CPU kernels run in a process of
    // their own, if there is a shared file.
    const CanopyServices* services = nullptr;
    Allocations* allocations = nullptr;
    Placement* placement = nullptr;
};

// ---- the driver -----------------------------------------------------------------------------------------------------

enum MemoryFlags : std::uint32_t {
    memory_default = 0,
    memory_huge_pages = 1u << 0,
};

// Memory of the program that kernels may use. With a file, it is `range` of that file mapped from `offset` on, so that
// another process can map the same pages; -1: ordinary memory of this process.
struct HostMemory {
    MemoryRange range;
    int file = -1;
    std::uint64_t offset = 0;
};

struct DeviceInfo {
    std::string_view kind;  // its kind's name
    const Chip* chip = nullptr;
    std::string name;
    std::uint32_t workers = 0;  // operating-system threads that act as cores
    bool checking = false;
    bool addressable = true;      // this process can access its memory by the device's addresses
    std::uint32_t cpu_cores = 0;  // threads that run CPU kernels; more are added for launches with more blocks
    bool cpu_pinned = false;      // each of them is pinned to one processor
    bool cpu_isolated = false;    // CPU kernels run in a separate process
    // True if kernels of some kind run in another process, which must be given the memory of the program that it may
    // use.
    [[nodiscard]] bool shares_memory() const noexcept { return !addressable || cpu_isolated; }
};

struct DeviceOptions {
    std::uint32_t index = 0;
    const Chip* chip = nullptr;
    std::uint64_t memory = 0;      // bytes; 0: chosen by the kind
    std::uint32_t workers = 0;     // 0: as many as the machine has processors
    std::uint32_t stack_size = 0;  // bytes of a block's stack; 0: the kind's default
    bool checking = false;
    std::uint32_t cpu_cores = 0;  // 0: as many as the chip has
    bool cpu_pinned = false;
    bool cpu_isolated = false;
    std::uintptr_t place = 0;  // where addresses of its memory begin, if the kind has Placement; 0: anywhere
    LaunchChecker* launch_checker = nullptr;  // null: launches are not checked
};

// One opened device.
class Driver {
public:
    virtual ~Driver() = default;
    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    [[nodiscard]] virtual Abilities abilities() noexcept { return {}; }

    [[nodiscard]] virtual MemoryUsage memory_usage() const noexcept = 0;
    virtual Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept = 0;
    // Accepts only addresses that allocate returned; the engine calls it when no work uses the memory any more.
    virtual Status release(DeviceAddress address) noexcept = 0;
    // The live allocation that contains the address.
    [[nodiscard]] virtual std::optional<DeviceRange> find(DeviceAddress address) const noexcept = 0;
    // True for every address that may belong to the device: its memory, and the variables of loaded code.
    [[nodiscard]] virtual bool owns(DeviceAddress address) const noexcept = 0;
    // Makes memory of the program usable by kernels; returns the address they use.
    virtual Result<DeviceAddress> map_host(const HostMemory& memory) noexcept = 0;
    virtual void unmap_host(const HostMemory& memory) noexcept = 0;

    // Blocking, and only called if the memory is not addressable by this process. One of the addresses may be in memory
    // of this process. An aligned word of 8 bytes is transferred as a whole.
    virtual Status transfer(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept;
    // `count` elements of 1 or 4 bytes.
    virtual Status fill(DeviceAddress to, std::uint32_t value, std::uint32_t element_size, std::size_t count) noexcept;

    // Loads the code of an image that fits the chip.
    virtual Result<std::unique_ptr<LoadedCode>> load(const Image& image) = 0;
    // nullptr: no memory.
    [[nodiscard]] virtual std::unique_ptr<LaunchSlot> make_slot(Strand& owner) noexcept = 0;
    // Makes a device usable again whose process or hardware was lost. Nothing of it is running.
    virtual Status revive() noexcept { return {}; }
};

class DeviceKind {
public:
    virtual ~DeviceKind() = default;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    // How many devices this machine has; UINT32_MAX: as many as are asked for.
    [[nodiscard]] virtual std::uint32_t count() noexcept = 0;
    // True if this process can access the memory of such devices by the devices' addresses.
    [[nodiscard]] virtual bool addressable() const noexcept { return true; }
    virtual Result<std::unique_ptr<Driver>> open(const DeviceOptions& options) = 0;
};

// The kind of that name ("soft", "null"), or nullptr. Never freed.
DeviceKind* find_kind(std::string_view name) noexcept;

}  // namespace canopy
