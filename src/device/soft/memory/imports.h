// SPDX-License-Identifier: Apache-2.0
// Memory of other processes in the address space of the software NPU: one range of addresses for each device, reserved
// with the first import, in which pages of other processes' memory files are mapped. Inaccessible pages lie between
// two imports. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "base/mapping.h"
#include "base/offset_allocator.h"
#include "device/driver.h"
#include "foundation/mutex.h"

namespace canopy {

class SoftImports final : public MemoryImports {
public:
    // 107000 if the part is not inside its file, 207001 if there is no room.
    Result<DeviceAddress> add(const FilePart& part) override;
    Status remove(DeviceAddress address) override;

    // Two loads and a comparison while nothing was ever imported.
    [[nodiscard]] bool contains(DeviceAddress address) const noexcept {
        return address.value() - base_.load(std::memory_order_relaxed) < size_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept;

private:
    struct Import {
        std::size_t size = 0;
        std::uint64_t offset = 0;  // of its pages in the range
        std::uint64_t pages = 0;   // bytes
    };
    Status reserve() CANOPY_REQUIRES(mutex_);

    std::atomic<std::uintptr_t> base_{0};
    std::atomic<std::uintptr_t> size_{0};
    mutable Mutex mutex_;
    Mapping memory_ CANOPY_GUARDED_BY(mutex_);
    std::optional<OffsetAllocator> allocator_ CANOPY_GUARDED_BY(mutex_);
    std::map<DeviceAddress, Import> imports_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
