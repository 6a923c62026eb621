// SPDX-License-Identifier: Apache-2.0
// What checked launches need of their device: the checker, and which allocation an address belongs to, also after it
// was freed.
//
// Threads: any.
#pragma once

#include <canopy/chips.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/heap.h"
#include "check/memory/written.h"
#include "device/launch_checker.h"
#include "device/soft/memory/imports.h"
#include "device/soft/memory/virtual_memory.h"
#include "foundation/mutex.h"

namespace canopy {

class CheckedDevice {
public:
    CheckedDevice(LaunchChecker& checker, unsigned index, const Chip& chip, const Heap& heap,
                  const SoftVirtualMemory& virtual_memory, const SoftImports& imports) noexcept
        : launch_checker(checker),
          index(index),
          chip(chip),
          heap_(heap),
          virtual_memory_(virtual_memory),
          imports_(imports) {}

    // Fills the memory, so that it shows who writes it first.
    void allocated(std::uint64_t address, std::uint64_t size);
    void freed(std::uint64_t address);
    [[nodiscard]] check::WrittenBytes& written() const noexcept { return written_; }

    // As check::LaunchFacts::allocation. Memory that is not the device's, like that of the program, has the whole gap
    // between ranges of the device as its allocation: nothing is known of its bounds.
    [[nodiscard]] std::optional<check::AllocationFacts> allocation(std::uint64_t address) const;
    // False for memory in which no other block can see what is written: stacks and variables of blocks above all.
    [[nodiscard]] bool is_global(std::uint64_t address) const noexcept {
        const auto* pointer = reinterpret_cast<const void*>(address);
        return heap_.contains(pointer) ||
               address - SoftVirtualMemory::first_address <
                   SoftVirtualMemory::end_address - SoftVirtualMemory::first_address ||
               imports_.contains(DeviceAddress(address));
    }

    LaunchChecker& launch_checker;
    const unsigned index;
    const Chip& chip;

private:
    struct Known {
        std::uint64_t size = 0, serial = 0;
        bool freed = false;
        std::string origin;  // empty: not asked for yet
    };

    [[nodiscard]] check::AllocationFacts elsewhere(std::uint64_t address) const;

    const Heap& heap_;
    const SoftVirtualMemory& virtual_memory_;
    const SoftImports& imports_;
    mutable check::WrittenBytes written_{true};
    mutable Mutex mutex_;
    std::uint64_t last_serial_ CANOPY_GUARDED_BY(mutex_) = 0;
    mutable std::map<std::uint64_t, Known> known_ CANOPY_GUARDED_BY(mutex_);  // by address; they do not overlap
};

}  // namespace canopy
