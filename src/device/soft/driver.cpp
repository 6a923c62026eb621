// SPDX-License-Identifier: Apache-2.0
// The software NPU: its heap, its cores, and the kind that opens them.
#include <algorithm>
#include <memory>
#include <string>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/driver.h"
#include "device/execution/executor.h"
#include "device/execution/tuning.h"
#include "device/heap_allocations.h"
#include "device/heap_checker.h"
#include "device/opaque_pointer.h"
#include "device/soft/code/loop_code.h"
#include "device/soft/code/module.h"
#include "device/soft/launch/checked_device.h"
#include "device/soft/launch/checked_slot.h"
#include "device/soft/launch/core_budget.h"
#include "device/soft/launch/fused_kernel.h"
#include "device/soft/launch/soft_slot.h"
#include "device/soft/launch/straight_run.h"
#include "device/soft/memory/imports.h"
#include "device/soft/memory/virtual_memory.h"
#include "device/soft/services.h"

namespace canopy {
namespace {

class SoftFusing final : public Fusing {
public:
    SoftFusing(const ChipCores& cores, const Driver& owner) noexcept : cores_(cores), owner_(owner) {}
    Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) override {
        return SoftFusedKernel::create(std::move(plan), cores_, owner_);
    }
    Result<std::shared_ptr<const Code>> load_code(std::span<const std::byte> object, std::string_view name) override {
        return load_loops(object, name);
    }

private:
    const ChipCores& cores_;
    const Driver& owner_;
};

class SoftDriver : public Driver {
public:
    SoftDriver(const DeviceOptions& options, std::unique_ptr<Heap> heap, std::unique_ptr<SoftVirtualMemory> addresses)
        : heap_(std::move(heap)),
          virtual_memory_(std::move(addresses)),
          checker_(*heap_),
          allocations_(*heap_),
          placement_(*heap_),
          budget_({options.chip->cube_cores, options.chip->vector_cores}),
          fusing_(budget_.cores(), *this),
          shared_file_{heap_->file(), device_range(heap_->range())} {
        info_.kind = "soft";
        info_.chip = options.chip;
        info_.name = std::string(options.chip->name);
        info_.checking = options.checking;
    }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] Abilities abilities() noexcept override {
        return {virtual_memory_.get(), &fusing_,  &checker_,          &straight_runs_, nullptr,
                &shared_file_,         &imports_, &kernel_services(), &allocations_,   &placement_};
    }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return heap_->usage(); }
    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        Result<void*> memory = heap_->allocate(size, flags);
        if (!memory.ok()) return memory.status();
        if ((flags & memory_huge_pages) != 0) heap_->prefer_huge_pages(*memory, size);
        return device_address(*memory);
    }
    Status release(DeviceAddress address) noexcept override { return heap_->release(opaque_pointer(address)); }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept override {
        const std::optional<MemoryRange> range = heap_->find(opaque_pointer(address));
        return range ? std::optional(device_range(*range)) : imports_.find(address);
    }
    [[nodiscard]] bool owns(DeviceAddress address) const noexcept override {
        return heap_->contains(opaque_pointer(address)) || imports_.contains(address);
    }
    // Kernels run in this process: host memory is usable as it is.
    Result<DeviceAddress> map_host(const HostMemory& memory) noexcept override {
        return device_address(memory.range.base);
    }
    void unmap_host(const HostMemory&) noexcept override {}
    Result<std::unique_ptr<LoadedCode>> load(const Image& image) override {
        return load_code_of(image, *info_.chip, kernel_services());
    }
    [[nodiscard]] std::unique_ptr<LaunchSlot> make_slot(Strand& owner) noexcept override {
        return std::unique_ptr<LaunchSlot>(new (std::nothrow) SoftSlot(owner, budget_, fibers_));
    }

protected:
    DeviceInfo info_;
    std::unique_ptr<Heap> heap_;
    std::unique_ptr<SoftVirtualMemory> virtual_memory_;
    HeapChecker checker_;
    HeapAllocations allocations_;
    HeapPlacement placement_;
    CoreBudget budget_;
    FiberPool fibers_;
    SoftFusing fusing_;
    SoftStraightRuns straight_runs_;
    SharedFile shared_file_;
    SoftImports imports_;
};

// The same while launches are checked: steps of fused kernels and nodes of graphs are separate launches.
class CheckedSoftDriver final : public SoftDriver {
public:
    CheckedSoftDriver(const DeviceOptions& options, std::unique_ptr<Heap> heap,
                      std::unique_ptr<SoftVirtualMemory> addresses)
        : SoftDriver(options, std::move(heap), std::move(addresses)),
          checked_(*options.launch_checker, options.index, *options.chip, *heap_, *virtual_memory_, imports_) {}

    [[nodiscard]] Abilities abilities() noexcept override {
        Abilities abilities = SoftDriver::abilities();
        abilities.fusing = nullptr;
        abilities.straight_runs = nullptr;
        return abilities;
    }
    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        Result<DeviceAddress> address = SoftDriver::allocate(size, flags);
        if (address.ok()) checked_.allocated(address->value(), size);
        return address;
    }
    Status release(DeviceAddress address) noexcept override {
        checked_.freed(address.value());
        return SoftDriver::release(address);
    }
    Result<std::unique_ptr<LoadedCode>> load(const Image& image) override {
        return load_checking_code_of(image, *info_.chip, kernel_services(), SoftCheckedLaunch::table(),
                                     checked_.launch_checker);
    }
    [[nodiscard]] std::unique_ptr<LaunchSlot> make_slot(Strand& owner) noexcept override {
        return std::unique_ptr<LaunchSlot>(new (std::nothrow) SoftCheckedSlot(owner, budget_, fibers_, checked_));
    }

private:
    CheckedDevice checked_;
};

class SoftKind final : public DeviceKind {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "soft"; }
    [[nodiscard]] std::uint32_t count() noexcept override { return UINT32_MAX; }
    Result<std::unique_ptr<Driver>> open(const DeviceOptions& options) override {
        if (options.stack_size != 0)
            set_block_stack_size(std::max(tuning::default_block_stack, options.stack_size * tuning::stack_scale));
        const std::string name = fmt::format("canopy-device-{}", options.index);
        Result<std::unique_ptr<Heap>> heap = Heap::create(
            {.name = name, .capacity = options.memory, .checking = options.checking, .place = options.place});
        if (!heap.ok()) return heap.status();
        Result<std::unique_ptr<SoftVirtualMemory>> addresses = SoftVirtualMemory::create(name, **heap);
        if (!addresses.ok()) return addresses.status();
        if (options.launch_checker)
            return std::unique_ptr<Driver>(new CheckedSoftDriver(options, std::move(*heap), std::move(*addresses)));
        return std::unique_ptr<Driver>(new SoftDriver(options, std::move(*heap), std::move(*addresses)));
    }
};

}  // namespace

DeviceKind& soft_kind() noexcept {
    static SoftKind kind;
    return kind;
}

}  // namespace canopy
