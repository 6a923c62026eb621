// SPDX-License-Identifier: Apache-2.0
// A copy of the memory of all open devices: allocations, physical memory, managed memory, and variables of binaries
// whose addresses the program knows. Pages that were never touched take no room. Nothing may run on the devices
// meanwhile. Memory imported from other processes is theirs to save. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/mapping.h"
#include "base/memory_range.h"
#include "base/result.h"
#include "base/touched_pages.h"
#include "core/base/handles.h"
#include "core/memory/virtual_memory.h"
#include "device/device.h"

namespace canopy {

class SavedMemory {
public:
    // 207000 if a kind of device cannot list its memory, 507908 if this machine has not enough memory.
    static Result<std::unique_ptr<SavedMemory>> save();
    // Copies everything back into memory that still exists. Memory that was allocated since stays as it is.
    Status restore();

private:
    // Bytes that were saved: where they came from, and where they are in the store.
    struct Piece {
        DeviceAddress origin{};
        std::size_t size = 0;
        std::size_t place = 0;
    };
    using Pieces = std::vector<Piece>;  // by rising origin
    struct PhysicalPart {
        std::weak_ptr<PhysicalBlock> block;
        std::vector<TouchedPart> touched;
        std::size_t place = 0;  // of the first part; the others follow it
    };
    struct VariablePart {
        Handle binary = 0;
        Piece piece;
    };

    Status find_allocations();
    void find_managed_memory();
    void find_physical();
    void find_variables();
    void add(Pieces& pieces, DeviceRange range, const std::vector<TouchedPart>& touched, DeviceAddress touched_from);
    Status copy_all();
    Status save_physical(const PhysicalPart& part, PhysicalBlock& block);
    Status restore_allocations(Device& device, const Pieces& pieces);
    Status restore_managed();
    Status restore_physical(const PhysicalPart& part, PhysicalBlock& block);
    Status restore_range(Device& device, DeviceRange range, const std::vector<TouchedPart>& touched,
                         DeviceAddress touched_from, const Pieces& pieces);
    [[nodiscard]] DeviceAddress stored(std::size_t place) const noexcept {
        return device_address(store_.base()) + place;
    }

    std::vector<std::pair<Device*, Pieces>> devices_;
    Pieces managed_;
    std::vector<PhysicalPart> physical_;
    std::vector<VariablePart> variables_;
    std::size_t size_ = 0;  // bytes of all pieces
    Mapping store_;
};

}  // namespace canopy
