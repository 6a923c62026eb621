// SPDX-License-Identifier: Apache-2.0
// HeapAllocations and HeapPlacement: abilities of a device whose memory is a Heap.
#pragma once

#include <cstddef>
#include <optional>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/driver.h"

namespace canopy {

class HeapAllocations final : public Allocations {
public:
    // `distance`: from the heap's addresses to those of the device.
    explicit HeapAllocations(Heap& heap, std::ptrdiff_t distance = 0) noexcept : heap_(heap), distance_(distance) {}
    [[nodiscard]] std::optional<Allocation> next(DeviceAddress from) const noexcept override {
        const auto shift = static_cast<std::uintptr_t>(distance_);
        const DeviceAddress first = device_address(heap_.range().base) + shift;
        const std::size_t skipped = from < first ? 0 : from - first;
        if (skipped >= heap_.range().size) return std::nullopt;
        const auto found = heap_.next(static_cast<std::byte*>(heap_.range().base) + skipped);
        if (!found) return std::nullopt;
        return Allocation{{device_address(found->range.base) + shift, found->range.size}, found->marked};
    }
    void mark_all() noexcept override { heap_.mark_all(); }

private:
    Heap& heap_;
    const std::ptrdiff_t distance_;
};

class HeapPlacement final : public Placement {
public:
    explicit HeapPlacement(Heap& heap) noexcept : heap_(heap) {}
    [[nodiscard]] DeviceRange addresses() const noexcept override { return device_range(heap_.range()); }
    Status allocate_at(DeviceAddress address, std::size_t size) noexcept override {
        const DeviceRange all = addresses();
        if (!all.contains(address)) return fail(107000, "address {} is not in this device's memory", address);
        return heap_.allocate_at(static_cast<std::byte*>(heap_.range().base) + (address - all.base), size, 0);
    }

private:
    Heap& heap_;
};

}  // namespace canopy
