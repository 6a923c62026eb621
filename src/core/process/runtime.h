// SPDX-License-Identifier: Apache-2.0
// The process-wide runtime: settings, devices, and the tables of every handle kind, whose types are only declared
// here. One instance, made on first use and never destroyed, so that calls from late threads and from exit handlers
// always find it. Opening a device is here; making and ending contexts is in core/lifecycle.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/settings.h"
#include "device/backend.h"

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

// A device as programs number it. Lives for the process; the backend's device behind it is opened at first use and
// closed when the process ends, because memory outlives a reset of its contexts.
struct DeviceRecord {
    std::uint32_t index = 0;     // what programs call it: position in the visible list
    std::uint32_t physical = 0;  // number before the visible list was applied
    const Chip* chip = nullptr;

    Mutex mutex;  // taken before any context's mutex
    std::uint32_t references CANOPY_GUARDED_BY(mutex) = 0;
    Handle primary CANOPY_GUARDED_BY(mutex) = 0;  // 0 while nobody has set the device
    std::atomic<Handle> primary_hint{0};          // same value, readable without the mutex

    std::atomic<std::uint32_t> streams{0}, events{0}, notifies{0};  // live ones, against the chip's limits
    std::array<std::atomic<std::uint32_t>, 2> core_limit{};         // by CoreLimit; 0: the chip's own
    std::atomic<std::uint64_t> peers{0};                            // bit n: may reach device n
    std::atomic<int> saturation_mode{1};

    // Opens the backend's device on first call.
    Result<Device*> open();
    [[nodiscard]] Device* opened() const noexcept { return device_.load(std::memory_order_acquire); }
    [[nodiscard]] bool holds(std::uintptr_t address) const noexcept {
        const std::uintptr_t size = heap_size_.load(std::memory_order_acquire);  // pairs with open_backend
        return address - heap_base_.load(std::memory_order_relaxed) < size;
    }

private:
    Result<Device*> open_backend(const Settings& settings);

    std::unique_ptr<Device> owned_;
    std::atomic<Device*> device_{nullptr};
    std::atomic<std::uintptr_t> heap_base_{0};  // of the opened device; written before the size
    std::atomic<std::uintptr_t> heap_size_{0};
};

class Runtime {
public:
    static Runtime& instance();
    // nullptr while nobody has asked for the instance.
    static Runtime* existing() noexcept;

    // A snapshot that stays valid for the process.
    [[nodiscard]] const Settings& settings() const noexcept { return *settings_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t device_count() const noexcept {
        return static_cast<std::uint32_t>(settings().visible.size());
    }
    // Replaces the settings unless a device has been opened; false then.
    bool change(const SettingsChange& change);
    // Looks again which chip the kernels of the program are for, unless a device has been opened or is being opened.
    void images_changed() noexcept;
    // Says on the standard error what could not be understood of the settings; once for the process.
    void report_problems() noexcept;
    // A block's stack from now on; false when a device has been opened already.
    bool change_stack_size(std::uint32_t bytes);
    // The default time a kernel may take, here and on every opened device; nanoseconds, 0: for ever.
    void set_kernel_timeout(std::uint64_t timeout) noexcept;
    // 107001 for an id out of range.
    Result<DeviceRecord*> device(std::int64_t id);
    // The device whose heap an address lies in; nullptr for host memory.
    DeviceRecord* device_of(const void* address) noexcept;

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

    // Process-wide defaults that calls change.
    std::atomic<std::uint64_t> kernel_timeout{1091ull * 1'000'000'000};  // nanoseconds; 0: for ever
    std::atomic<std::uint64_t> wait_timeout{0};                          // nanoseconds; 0: never
    std::atomic<std::int32_t> default_device{-1};  // of threads that set none (aclInit's file); -1: there is none

private:
    friend struct DeviceRecord;
    Runtime();
    void publish(Settings settings) CANOPY_REQUIRES(open_mutex_);
    void choose_chip_of_images() CANOPY_REQUIRES(open_mutex_);
    [[nodiscard]] bool any_opened() const noexcept;

    Mutex open_mutex_;  // held while a device is opened and while settings change
    std::vector<std::unique_ptr<const Settings>> all_settings_
        CANOPY_GUARDED_BY(open_mutex_);  // every snapshot ever published
    std::atomic<const Settings*> settings_{nullptr};
    std::atomic<bool> problems_reported_{false};
    std::array<DeviceRecord, max_devices> devices_;
};

}  // namespace canopy
