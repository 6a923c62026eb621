// SPDX-License-Identifier: Apache-2.0
// A device of any kind: the driver of that kind with streams, graphs and CPU kernels on top.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/error_text.h"
#include "device/device.h"
#include "device/engine/code/image_module.h"
#include "device/engine/cpu/cpu_module.h"
#include "device/engine/cpu/cpu_process.h"
#include "device/engine/deferred_free.h"
#include "device/engine/graph/graph.h"
#include "device/engine/memory/remote.h"
#include "device/engine/stream/fence.h"
#include "device/engine/stream/queue.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/shared_copy.h"
#include "device/engine/stream/stepwise.h"
#include "device/engine/stream/task_record.h"

namespace canopy {
namespace {

constexpr int not_supported = 207000;
static_assert(Device::large_copy == tuning::large_copy);

class EngineDevice final : public Device {
public:
    EngineDevice(std::unique_ptr<Driver> driver, const DeviceOptions& options)
        : driver_(std::move(driver)),
          abilities_(driver_->abilities()),
          info_(driver_->info()),
          cpu_process_(make_cpu_process(options)),
          blocking_copies_(scheduler_),
          scheduler_(scheduler_options(options), *driver_),
          deferred_free_(*driver_, scheduler_),
          cpu_images_(abilities_.services, cpu_process_.get()) {
        info_.workers = scheduler_options(options).workers;
        info_.cpu_cores = scheduler_options(options).cpu.cores;
        info_.cpu_pinned = options.cpu_pinned;
        info_.cpu_isolated = cpu_process_ != nullptr;
        if (!info_.addressable) add_remote(*driver_);
        add_recorded_device(*driver_, options.index);
    }

    ~EngineDevice() override {
        remove_recorded_device(*driver_);
        if (!info_.addressable) remove_remote(*driver_);
    }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] const Abilities& abilities() const noexcept override { return abilities_; }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return driver_->memory_usage(); }
    [[nodiscard]] Utilisation utilisation() noexcept override {
        const int share = scheduler_.utilisation(false);
        return {share, share, scheduler_.utilisation(true)};
    }

    void show_on(watch::DevicePage& page) noexcept override { scheduler_.set_page(&page); }

    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        Result<DeviceAddress> memory = driver_->allocate(size, flags);
        if (!memory.ok() && !deferred_free_.empty()) {
            quiesce();
            memory = driver_->allocate(size, flags);
        }
        if (memory.ok() && record::wants(record::memory)) [[unlikely]]
            write_memory(profile::MemoryChange::allocated, size);
        scheduler_.tell_memory();
        return memory;
    }

    // A running kernel may still write to memory that is being freed. Such memory is reused only after everything that
    // can run at this moment has finished.
    Status release(DeviceAddress address) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        if (record::wants(record::memory)) [[unlikely]]
            return release_recorded(address);
        return release_soon(address);
    }
    Status release_soon(DeviceAddress address) noexcept {
        if (!scheduler_.busy()) {
            if (!deferred_free_.empty()) deferred_free_.release_passed();
            Status released = driver_->release(address);
            scheduler_.tell_memory();
            return released;
        }
        const std::optional<DeviceRange> range = driver_->find(address);
        if (!range || range->base != address) return driver_->release(address);
        try {
            return deferred_free_.add(address);
        } catch (...) {  // no memory to defer the free: free it now
            return driver_->release(address);
        }
    }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept override {
        return driver_->find(address);
    }
    [[nodiscard]] bool owns(DeviceAddress address) const noexcept override { return driver_->owns(address); }
    Result<DeviceAddress> map_host(const HostMemory& memory) noexcept override {
        Result<DeviceAddress> mapped = driver_->map_host(memory);
        if (!mapped.ok() || !cpu_process_ || memory.file < 0) return mapped;
        try {
            if (const Status status = cpu_process_->map(memory); !status.ok()) return status;
        } catch (...) {
            return fail(207001, "out of host memory");
        }
        return mapped;
    }
    void unmap_host(const HostMemory& memory) noexcept override {
        if (cpu_process_) cpu_process_->unmap(memory);
        driver_->unmap_host(memory);
    }

    Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) override {
        std::unique_ptr<EngineQueue> queue = EngineQueue::create(scheduler_, options);
        if (!queue) return fail(207001, "out of host memory for a stream");
        return std::unique_ptr<Queue>(std::move(queue));
    }
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) override {
        return load_image(image, *driver_);
    }
    Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte> image, std::string_view name) override {
        if (!abilities_.services && !cpu_process_)
            return fail(not_supported, "a device of kind {} has no CPU cores for {}", info_.kind, name);
        return cpu_images_.load(image, name);
    }
    Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) override {
        return abilities_.fusing ? abilities_.fusing->fuse(std::move(plan)) : StepwiseKernel::create(std::move(plan));
    }
    Result<Fence*> create_fence() override { return static_cast<Fence*>(new EngineFence); }
    Result<Executable*> prepare(const GraphPlan& plan) override { return EngineGraph::create(scheduler_, plan); }

    Status copy(const CopyWork& work) noexcept override {
        Command command(Opcode::copy);
        command.copy = work;
        return blocking_copies_.run(command);
    }
    Status fill(const FillWork& work) noexcept override {
        Command command(Opcode::fill);
        command.fill = work;
        return blocking_copies_.run(command);
    }

    bool quiesce() noexcept override {
        const bool waited = scheduler_.quiesce();
        if (deferred_free_.empty()) return waited;
        deferred_free_.release_passed();
        return true;
    }
    bool settle(Deadline deadline) noexcept override {
        if (!scheduler_.settle(deadline)) return false;
        if (!deferred_free_.empty()) deferred_free_.release_passed();
        return true;
    }
    void set_kernel_timeout(std::uint64_t timeout) noexcept override { scheduler_.set_kernel_timeout(timeout); }
    Status revive() noexcept override { return driver_->revive(); }

private:
    std::unique_ptr<CpuProcess> make_cpu_process(const DeviceOptions& options) {
        if (!abilities_.shared_file || (abilities_.services && !options.cpu_isolated)) return nullptr;
        return std::make_unique<CpuProcess>(*driver_, *abilities_.shared_file);
    }
    // `size` is what was asked for; the usage is what the device counts.
    void write_memory(profile::MemoryChange change, std::size_t size) noexcept {
        const MemoryUsage usage = driver_->memory_usage();
        profile::Record record{};
        record.begin = ticks();
        record.duration = std::min<std::uint64_t>(size, profile::longest_duration);
        record.kind = static_cast<std::uint64_t>(profile::Kind::memory);
        record.name = canopy::record::name_number_of_literal("device memory");
        record.object = profile::MemoryObject{change, static_cast<std::uint8_t>(scheduler_.device())}.packed();
        record.link = usage.total - usage.free;
        canopy::record::write(record);
    }
    // Memory that is freed while work runs counts as in use until that work is done.
    Status release_recorded(DeviceAddress address) noexcept {
        const std::optional<DeviceRange> range = driver_->find(address);
        const Status status = release_soon(address);
        if (status.ok() && range) write_memory(profile::MemoryChange::freed, range->size);
        return status;
    }
    [[nodiscard]] SchedulerOptions scheduler_options(const DeviceOptions& options) const {
        SchedulerOptions scheduler;
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        scheduler.workers = options.workers ? options.workers : static_cast<std::uint32_t>(std::max(processors, 1L));
        scheduler.cpu.cores = options.cpu_cores ? options.cpu_cores : options.chip->cpu_cores;
        scheduler.cpu.pinned = options.cpu_pinned;
        scheduler.cpu.device = options.index;
        scheduler.device = options.index;
        scheduler.cpu.process = cpu_process_.get();
        scheduler.max_workers =
            std::max(scheduler.workers + options.chip->cube_cores + options.chip->vector_cores, 64u);
        return scheduler;
    }

    std::unique_ptr<Driver> driver_;
    const Abilities abilities_;
    DeviceInfo info_;
    std::unique_ptr<CpuProcess> cpu_process_;
    BlockingCopies blocking_copies_;  // before the scheduler, whose workers use it to the end
    Scheduler scheduler_;
    DeferredFree deferred_free_;
    CpuImages cpu_images_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_device(DeviceKind& kind, const DeviceOptions& options) {
    auto driver = kind.open(options);
    if (!driver.ok()) return driver.status();
    return std::unique_ptr<Device>(new EngineDevice(std::move(*driver), options));
}

}  // namespace canopy
