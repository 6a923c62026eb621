// SPDX-License-Identifier: Apache-2.0
// The null device: memory and copies are real, but kernels compute nothing. It shows the cost of the interface itself,
// and it is the smallest kind of device: copy it to begin a new one.
#include <memory>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/driver.h"
#include "device/heap_allocations.h"
#include "device/image.h"
#include "device/opaque_pointer.h"

namespace canopy {
namespace {

class NullCode final : public LoadedCode {
public:
    explicit NullCode(const Image& image) : kernels_(image.kernels.size()) {}
    [[nodiscard]] Kernel& kernel(std::size_t index) override { return kernels_[index]; }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view) override { return std::nullopt; }

private:
    std::vector<Kernel> kernels_;
};

class NullSlot final : public LaunchSlot {
public:
    Step run(Worker&, Command&, std::uint64_t) noexcept override { return Step::done; }
    void stop(std::uint64_t) noexcept override {}
};

// Kernels are over as soon as they are submitted.
class NullOrder final : public NativeOrder {
public:
    std::size_t submit(std::span<const Command> commands) noexcept override {
        std::size_t taken = 0;
        while (taken < commands.size() && commands[taken].opcode == Opcode::launch) ++taken;
        return taken;
    }
};

class NullDriver final : public Driver {
public:
    NullDriver(const DeviceOptions& options, std::unique_ptr<Heap> heap)
        : heap_(std::move(heap)), allocations_(*heap_) {
        info_.kind = "null";
        info_.chip = options.chip;
        info_.name = std::string(options.chip->name);
    }
    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] Abilities abilities() noexcept override {
        return {.native_order = &order_, .allocations = &allocations_};
    }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return heap_->usage(); }
    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        Result<void*> memory = heap_->allocate(size, flags);
        if (!memory.ok()) return memory.status();
        return device_address(*memory);
    }
    Status release(DeviceAddress address) noexcept override { return heap_->release(opaque_pointer(address)); }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept override {
        const std::optional<MemoryRange> range = heap_->find(opaque_pointer(address));
        return range ? std::optional(device_range(*range)) : std::nullopt;
    }
    [[nodiscard]] bool owns(DeviceAddress address) const noexcept override {
        return heap_->contains(opaque_pointer(address));
    }
    Result<DeviceAddress> map_host(const HostMemory& memory) noexcept override {
        return device_address(memory.range.base);
    }
    void unmap_host(const HostMemory&) noexcept override {}
    Result<std::unique_ptr<LoadedCode>> load(const Image& image) override {
        return std::unique_ptr<LoadedCode>(std::make_unique<NullCode>(image));
    }
    [[nodiscard]] std::unique_ptr<LaunchSlot> make_slot(Strand&) noexcept override {
        return std::unique_ptr<LaunchSlot>(new (std::nothrow) NullSlot);
    }

private:
    DeviceInfo info_;
    std::unique_ptr<Heap> heap_;
    HeapAllocations allocations_;
    NullOrder order_;
};

class NullKind final : public DeviceKind {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "null"; }
    [[nodiscard]] std::uint32_t count() noexcept override { return UINT32_MAX; }
    Result<std::unique_ptr<Driver>> open(const DeviceOptions& options) override {
        Result<std::unique_ptr<Heap>> heap =
            Heap::create({fmt::format("canopy-null-{}", options.index), options.memory, false});
        if (!heap.ok()) return heap.status();
        return std::unique_ptr<Driver>(new NullDriver(options, std::move(*heap)));
    }
};

}  // namespace

DeviceKind& null_kind() noexcept {
    static NullKind kind;
    return kind;
}

}  // namespace canopy
