// SPDX-License-Identifier: Apache-2.0
// The process-wide runtime: settings, devices, and the tables of all handle kinds, whose types are only declared here.
// One instance, created on first use and never destroyed, so that calls from late threads and exit handlers always find
// it. Devices are opened here; contexts are created and destroyed in core/lifecycle.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/settings.h"
#include "device/device.h"
#include "foundation/mutex.h"

namespace canopy {

class Context;
class Stream;
class Event;
class Notify;
class Binary;
class Function;
class Arguments;
class PhysicalMemory;
class MemoryPool;
class Graph;
class GraphPart;
class Label;
class LabelList;
class SourceProgram;
struct BinaryData;
struct DataBuffer;

enum class CoreLimit : std::uint32_t { cube = 0, vector = 1 };

// A device under the number programs use. Lives as long as the process; the device behind it is opened on
// first use and stays open until the process ends, because memory outlives a reset of its contexts.
struct DeviceRecord {
    std::uint32_t index = 0;     // the program's device number: position in the visible list
    std::uint32_t physical = 0;  // number before the visible list was applied
    const Chip* chip = nullptr;

    Mutex mutex;  // taken before any context's mutex
    std::uint32_t references CANOPY_GUARDED_BY(mutex) = 0;
    Handle primary CANOPY_GUARDED_BY(mutex) = 0;  // 0 while no thread has the device set
    std::atomic<Handle> primary_hint{0};          // same value, readable without the mutex

    std::atomic<std::uint32_t> streams{0}, events{0}, notifies{0};  // live objects, for the chip's limits
    std::array<std::atomic<std::uint32_t>, 2> core_limit{};         // by CoreLimit; 0: no limit set
    std::atomic<std::uint64_t> peers{0};                            // bit n: may access device n
    std::atomic<int> saturation_mode{1};

    // Opens the device behind it on the first call.
    Result<Device*> open();
    [[nodiscard]] Device* opened() const noexcept { return device_.load(std::memory_order_acquire); }
    // Gives it access to the device of that physical number, if that is another one that this process can see.
    void enable_peer(std::uint32_t physical_number) noexcept;
    // Tells those who record what the device is, if it is open.
    void tell_facts() const;
    [[nodiscard]] bool holds(DeviceAddress address) const noexcept {
        const Device* device = opened();
        return device && device->owns(address);
    }

private:
    Result<Device*> open_kind(const Settings& settings);

    std::unique_ptr<Device> owned_;
    std::atomic<Device*> device_{nullptr};
};

class Runtime {
public:
    static Runtime& instance();
    // nullptr until the instance is first requested.
    static Runtime* existing() noexcept;

    // A snapshot that stays valid until the process ends.
    [[nodiscard]] const Settings& settings() const noexcept { return *settings_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t device_count() const noexcept {
        return static_cast<std::uint32_t>(settings().visible.size());
    }
    // Replaces the settings; returns false if a device has been opened.
    bool change(const SettingsChange& change);
    // Determines again which chip the program's kernels are for, unless a device has been or is being opened.
    void images_changed() noexcept;
    // Prints settings that could not be understood on standard error; once per process.
    void report_problems() noexcept;
    // Lets parts of this process be checked (canopy/check.h), unless it is checked already.
    Status prepare_check(const std::string& classes, const std::string& options);
    // Sets the stack size of blocks; false if a device has already been opened.
    bool change_stack_size(std::uint32_t bytes);
    // Sets the default kernel timeout, here and on every open device; nanoseconds, 0: no timeout.
    void set_kernel_timeout(std::uint64_t timeout) noexcept;
    // 107001 for an id out of range.
    Result<DeviceRecord*> device(std::int64_t id);
    // The device that owns an address; nullptr for host memory.
    DeviceRecord* device_of(DeviceAddress address) noexcept;
    // Whether it has an owner. Most programs open one device.
    static bool any_holds(const void* address) noexcept {
        const Device* const only = only_device_.load(std::memory_order_acquire);
        return only != nullptr ? only->owns(device_address(address)) : any_device_holds(device_address(address));
    }

    HandleTable<Context> contexts{HandleKind::context};
    HandleTable<Stream> streams{HandleKind::stream};
    HandleTable<Event> events{HandleKind::event};
    HandleTable<Notify> notifies{HandleKind::notify};
    HandleTable<Notify> counting_notifies{HandleKind::counting_notify};
    HandleTable<Binary> binaries{HandleKind::binary};
    HandleTable<BinaryData> binary_data{HandleKind::binary_data};
    HandleTable<Function> functions{HandleKind::function};
    HandleTable<Arguments> arguments{HandleKind::arguments};
    HandleTable<PhysicalMemory> physical_memory{HandleKind::physical_memory};
    HandleTable<MemoryPool> memory_pools{HandleKind::memory_pool};
    HandleTable<Graph> graphs{HandleKind::model};
    HandleTable<GraphPart> tasks{HandleKind::task};
    HandleTable<GraphPart> task_groups{HandleKind::task_group};
    HandleTable<GraphPart> conditions{HandleKind::condition};
    HandleTable<Label> labels{HandleKind::label};
    HandleTable<LabelList> label_lists{HandleKind::label_list};
    HandleTable<DataBuffer> data_buffers{HandleKind::data_buffer};
    HandleTable<SourceProgram> source_programs{HandleKind::source_program};

    // Process-wide defaults that interface calls change.
    std::atomic<std::uint64_t> kernel_timeout{1091ull * 1'000'000'000};  // nanoseconds; 0: no timeout
    std::atomic<std::uint64_t> wait_timeout{0};                          // nanoseconds; 0: no timeout
    std::atomic<std::int32_t> default_device{-1};  // for threads that set no device (aclInit's file); -1: none

private:
    friend struct DeviceRecord;
    Runtime();
    void publish(Settings settings) CANOPY_REQUIRES(open_mutex_);
    void choose_chip_of_images() CANOPY_REQUIRES(open_mutex_);
    [[nodiscard]] bool any_opened() const noexcept;

    static bool any_device_holds(DeviceAddress address) noexcept;
    static inline std::atomic<const Device*> only_device_{nullptr};  // that is open; nullptr: none, or several

    Mutex open_mutex_;  // held while a device is opened and while settings change
    std::vector<std::unique_ptr<const Settings>> all_settings_
        CANOPY_GUARDED_BY(open_mutex_);  // all snapshots ever published
    std::atomic<const Settings*> settings_{nullptr};
    std::atomic<bool> problems_reported_{false};
    std::array<DeviceRecord, max_devices> devices_;
};

}  // namespace canopy
