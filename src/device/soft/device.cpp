// SPDX-License-Identifier: Apache-2.0
// The software NPU: one heap, one scheduler, and the backend that opens them.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/backend.h"
#include "device/soft/code/loop_code.h"
#include "device/soft/code/module.h"
#include "device/soft/cpu/cpu_module.h"
#include "device/soft/cpu/cpu_process.h"
#include "device/soft/graph/graph.h"
#include "device/soft/launch/fused_kernel.h"
#include "device/soft/memory/deferred_free.h"
#include "device/soft/memory/virtual_memory.h"
#include "device/soft/services.h"
#include "device/soft/stream/fence.h"
#include "device/soft/stream/queue.h"
#include "device/soft/stream/scheduler.h"

namespace canopy {
namespace {

class HeapChecker final : public Checker {
public:
    explicit HeapChecker(Heap& heap) : heap_(heap) {}
    bool damaged(std::string& what) noexcept override {
        try {
            const auto finding = heap_.check();
            if (finding) what = finding->describe();
            return finding.has_value();
        } catch (...) {
            return false;
        }
    }
    std::string describe(std::uintptr_t address) noexcept override {
        try {
            return heap_.describe(reinterpret_cast<const void*>(address));
        } catch (...) {
            return {};
        }
    }
    [[nodiscard]] bool enabled() const noexcept override { return heap_.checking(); }

private:
    Heap& heap_;
};

class SoftDevice final : public Device {
public:
    SoftDevice(const DeviceOptions& options, std::unique_ptr<Heap> heap, std::unique_ptr<SoftVirtualMemory> addresses)
        : heap_(std::move(heap)),
          virtual_memory_(std::move(addresses)),
          checker_(*heap_),
          cpu_process_(options.cpu_isolated ? std::make_unique<CpuProcess>(*heap_) : nullptr),
          scheduler_(scheduler_options(options, cpu_process_.get()), &checker_),
          deferred_free_(*heap_, scheduler_),
          cpu_images_(kernel_services(), cpu_process_.get()) {
        info_.chip = options.chip;
        info_.name = std::string(options.chip->name);
        info_.workers = scheduler_options(options, nullptr).workers;
        info_.checking = options.checking;
        info_.heap = heap_->range();
        info_.cpu_cores = scheduler_options(options, nullptr).cpu.cores;
        info_.cpu_pinned = options.cpu_pinned;
        info_.cpu_isolated = options.cpu_isolated;
    }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return heap_->usage(); }
    [[nodiscard]] Utilisation utilisation() noexcept override {
        const int share = scheduler_.utilisation(false);
        return {share, share, scheduler_.utilisation(true)};
    }

    Result<void*> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        Result<void*> memory = heap_->allocate(size, flags);
        if (!memory.ok() && !deferred_free_.empty()) {
            quiesce();
            memory = heap_->allocate(size, flags);
        }
        if (memory.ok() && (flags & memory_huge_pages) != 0) heap_->prefer_huge_pages(*memory, size);
        return memory;
    }

    // A running kernel may still write to memory that is being freed. Such memory is reused only after everything that
    // can run at this moment has finished.
    Status release(void* address) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        if (!scheduler_.busy()) {
            if (!deferred_free_.empty()) deferred_free_.release_passed();
            return heap_->release(address);
        }
        const std::optional<MemoryRange> range = heap_->find(address);
        if (!range || range->base != address) return heap_->release(address);
        try {
            return deferred_free_.add(address);
        } catch (...) {  // no memory to defer the free: free it now
            return heap_->release(address);
        }
    }
    [[nodiscard]] std::optional<MemoryRange> find(const void* address) const noexcept override {
        return heap_->find(address);
    }
    [[nodiscard]] VirtualMemory* virtual_memory() noexcept override { return virtual_memory_.get(); }

    // Kernels run in this process: host memory is usable as it is.
    Result<void*> register_host(void* address, std::size_t) noexcept override { return address; }
    Status unregister_host(void*) noexcept override { return {}; }
    Status enable_peer(Device&) noexcept override { return {}; }

    Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) override {
        std::unique_ptr<SoftQueue> queue = SoftQueue::create(scheduler_, options);
        if (!queue) return fail(207001, "out of host memory for a stream");
        return std::unique_ptr<Queue>(std::move(queue));
    }
    Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte> image, std::string_view name) override {
        return cpu_images_.load(image, name);
    }
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) override {
        return load_module(image, *info_.chip, kernel_services());
    }
    Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) override {
        return SoftFusedKernel::create(std::move(plan), scheduler_.cores(), *this);
    }
    Result<std::shared_ptr<const Code>> load_code(std::span<const std::byte> object, std::string_view name) override {
        return load_loops(object, name);
    }
    Result<Fence*> create_fence() override { return static_cast<Fence*>(new SoftFence); }
    Result<Executable*> prepare(const GraphPlan& plan) override { return SoftGraph::create(scheduler_, plan); }

    void quiesce() noexcept override {
        scheduler_.quiesce();
        if (!deferred_free_.empty()) deferred_free_.release_passed();
    }
    void set_kernel_timeout(std::uint64_t timeout) noexcept override { scheduler_.set_kernel_timeout(timeout); }
    [[nodiscard]] Nanoseconds now() const noexcept override { return canopy::now(); }

private:
    static SchedulerOptions scheduler_options(const DeviceOptions& options, CpuProcess* process) {
        SchedulerOptions scheduler;
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        scheduler.workers = options.workers ? options.workers : static_cast<std::uint32_t>(std::max(processors, 1L));
        scheduler.cores = {options.chip->cube_cores, options.chip->vector_cores};
        scheduler.cpu.cores = options.cpu_cores ? options.cpu_cores : options.chip->cpu_cores;
        scheduler.cpu.pinned = options.cpu_pinned;
        scheduler.cpu.process = process;
        scheduler.max_workers =
            std::max(scheduler.workers + options.chip->cube_cores + options.chip->vector_cores, 64u);
        return scheduler;
    }

    DeviceInfo info_;
    std::unique_ptr<Heap> heap_;
    std::unique_ptr<SoftVirtualMemory> virtual_memory_;
    HeapChecker checker_;
    std::unique_ptr<CpuProcess> cpu_process_;
    Scheduler scheduler_;
    DeferredFree deferred_free_;
    CpuImages cpu_images_;
};

class SoftBackend final : public Backend {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "soft"; }
    [[nodiscard]] bool probe() noexcept override { return true; }
    Result<std::unique_ptr<Device>> open(const DeviceOptions& options) override {
        if (options.stack_size != 0)
            set_block_stack_size(std::max(tuning::default_block_stack, options.stack_size * tuning::stack_scale));
        const std::string name = fmt::format("canopy-device-{}", options.index);
        Result<std::unique_ptr<Heap>> heap = Heap::create({name, options.memory, options.checking});
        if (!heap.ok()) return heap.status();
        Result<std::unique_ptr<SoftVirtualMemory>> addresses = SoftVirtualMemory::create(name, **heap);
        if (!addresses.ok()) return addresses.status();
        return std::unique_ptr<Device>(new SoftDevice(options, std::move(*heap), std::move(*addresses)));
    }
};

}  // namespace

Backend& soft_backend() noexcept {
    static SoftBackend backend;
    return backend;
}

}  // namespace canopy
