// SPDX-License-Identifier: Apache-2.0
// HeapAllocations: the Allocations of a device whose memory is a Heap.
#pragma once

#include <cstddef>
#include <optional>

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

}  // namespace canopy
