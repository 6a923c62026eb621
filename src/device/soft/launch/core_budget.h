// SPDX-License-Identifier: Apache-2.0
// CoreBudget: which cores of the chip are taken, and the launches that wait for cores: by priority, then in order of
// arrival.
//
// Threads: any.
#pragma once

#include "base/spin_lock.h"
#include "device/soft/launch/chip_cores.h"

namespace canopy {

class Strand;

class CoreBudget {
public:
    explicit CoreBudget(ChipCores cores) noexcept : cores_(cores) {}
    [[nodiscard]] const ChipCores& cores() const noexcept { return cores_; }

    // A launch that takes cores; embedded in the slot of its strand.
    struct Place {
        explicit Place(Strand& strand) noexcept : owner(strand) {}
        Strand& owner;
        CoreNeed need;  // cores it has taken or waits for
        Place* next = nullptr;
    };
    // False: cores are busy. The owner waits now, and continues when it has been given the cores.
    bool take(Place& place, CoreNeed need) noexcept;
    void give_back(Place& place) noexcept;
    // Stops waiting; false if cores have been given to it meanwhile. The caller continues the owner.
    bool withdraw(Place& place) noexcept;

private:
    Place* take_served() noexcept CANOPY_REQUIRES(lock_);
    static void serve(Place* served) noexcept;

    const ChipCores cores_;
    SpinLock lock_;
    CoreNeed used_ CANOPY_GUARDED_BY(lock_);
    Place* first_ CANOPY_GUARDED_BY(lock_) = nullptr;
};

}  // namespace canopy
