// SPDX-License-Identifier: Apache-2.0
// Physical memory and addresses of the software NPU, managed separately: physical memory is part of one memory file,
// reservations are bare address ranges, and a mapping maps a part of the file into a part of a reservation. The memory
// counts against the capacity of the device's heap. Any thread; calls hold a mutex across system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/heap.h"
#include "base/mapping.h"
#include "base/offset_allocator.h"
#include "device/driver.h"
#include "foundation/mutex.h"

namespace canopy {

class SoftVirtualMemory final : public VirtualMemory {
public:
    static constexpr std::size_t page = std::size_t{2} << 20;  // sizes and addresses are multiples of it
    // The range for reservations and for the addresses programs may request. Reservations go elsewhere when it is
    // taken, as parts of it are under sanitizers.
    static constexpr std::uintptr_t first_address = std::uintptr_t{16} << 40;
    static constexpr std::uintptr_t end_address = std::uintptr_t{24} << 40;

    // The mapping that contains an address.
    struct Mapped {
        DeviceRange range;
        Physical memory = 0;
        bool accessible = false;
    };
    // Live objects, for leak checks. Physical memory that was destroyed but is still mapped counts as live.
    struct Counts {
        std::size_t physical = 0;
        std::size_t reservations = 0;
        std::size_t mappings = 0;
    };

    // Every byte of physical memory is claimed from `budget`, which outlives this object.
    static Result<std::unique_ptr<SoftVirtualMemory>> create(const std::string& name, Heap& budget);
    ~SoftVirtualMemory() override;

    [[nodiscard]] std::size_t granularity(bool) const override { return page; }
    // 107000 unless `size` is a positive multiple of the granularity, 207001 when there is no room.
    Result<Physical> create(std::size_t size) override;
    // Frees the memory at once, or with its last mapping; it can no longer be mapped. Unknown memory is ignored.
    void destroy(Physical memory) override;
    // `wanted` is a hint: if that place is taken, the reservation goes elsewhere. 107000 if it is outside the range.
    Result<DeviceAddress> reserve(std::size_t size, std::size_t alignment, DeviceAddress wanted) override;
    // 107000 unless `address` is the start of a reservation in which nothing is mapped.
    Status unreserve(DeviceAddress address) override;
    // 107017: unknown memory. 107000: wrong size, not inside one reservation, or something is already mapped there.
    Status map(DeviceAddress address, std::size_t size, Physical memory, bool accessible) override;
    // Both: the range must consist of one or more whole mappings; 107000 otherwise.
    Status set_accessible(DeviceAddress address, std::size_t size) override;
    Status unmap(DeviceAddress address, std::size_t size) override;

    [[nodiscard]] std::optional<FilePart> shared_part(Physical memory) const override;
    // Does not count against the budget: it is memory of another process.
    Result<Physical> import(const FilePart& part) override;

    [[nodiscard]] std::optional<Mapped> find(DeviceAddress address) const;
    // Size of physical memory; nullopt when it is unknown or destroyed.
    [[nodiscard]] std::optional<std::size_t> size_of(Physical memory) const;
    [[nodiscard]] Counts counts() const;

    // The memory file, and the offset of physical memory in it.
    [[nodiscard]] int file() const noexcept { return file_.descriptor(); }
    [[nodiscard]] std::optional<std::uint64_t> offset_of(Physical memory) const;

private:
    struct PhysicalPart {
        std::uint64_t offset = 0;  // in the file
        std::size_t size = 0;
        std::size_t mappings = 0;
        bool destroyed = false;
        MemoryFile imported = {};  // if it is memory of another process
    };
    struct MappedPart {
        std::size_t size = 0;
        Physical memory = 0;
        bool accessible = false;
    };
    using Mappings = std::map<std::uintptr_t, MappedPart>;

    SoftVirtualMemory(Heap& budget, OffsetAllocator allocator, MemoryFile file);
    void free_unmapped(Physical memory) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] Mapping* reservation_around(std::uintptr_t address, std::size_t size) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] bool anything_mapped(std::uintptr_t address, std::size_t size) const CANOPY_REQUIRES(mutex_);
    // The first mapping of the range if whole mappings cover it without a gap; end() otherwise.
    [[nodiscard]] Mappings::iterator whole_mappings(std::uintptr_t address, std::size_t size) CANOPY_REQUIRES(mutex_);

    Heap& budget_;
    MemoryFile file_;
    mutable Mutex mutex_;
    OffsetAllocator allocator_ CANOPY_GUARDED_BY(mutex_);
    Physical last_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::map<Physical, PhysicalPart> physical_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uintptr_t, Mapping> reservations_ CANOPY_GUARDED_BY(mutex_);
    Mappings mappings_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
