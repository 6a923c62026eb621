// SPDX-License-Identifier: Apache-2.0
// Checks that a fused kernel does the same as its steps: one launch saves the memory its arguments point into, runs the
// fused form, restores the memory, runs the steps one by one, and compares. The whole sequence is itself a plan for one
// fused kernel, so it works wherever a launch works. A difference fails the launch and names the first step whose
// output differs; the memory then holds the results of the single steps. Nothing else may write that memory meanwhile.
//
// Threads: as for any fused kernel; overlapping launches are told apart by their argument blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/fused_list.h"
#include "device/fusion.h"
#include "foundation/mutex.h"

namespace canopy {

class FusionCheck {
public:
    FusionCheck(const FusedList& list, Device& device) : list_(list), device_(device) {}
    // Wraps the plan in the check. The check must outlive the kernel made from it.
    FusionPlan around(FusionPlan plan);

private:
    // A piece of memory with snapshots from several moments.
    struct Area {
        DeviceAddress base{};
        std::vector<std::byte> before, fused, last;
        std::vector<std::uint16_t> writer;  // per byte: the step that changed it last, from 1
    };
    struct Run {
        std::vector<Area> areas;
    };
    struct Place {
        FusionCheck* check = nullptr;
        std::uint32_t index = 0;  // position of the step in the list
    };

    static Status read(const Area& area, std::size_t offset, std::span<std::byte> to) noexcept;
    static FusedCallResult save(void* context, DeviceAddress arguments);
    static FusedCallResult restore(void* context, DeviceAddress arguments);
    static FusedCallResult note(void* context, DeviceAddress arguments);
    static FusedCallResult compare(void* context, DeviceAddress arguments);
    void append_call(FusionPlan& plan, FusedCall call, std::uint32_t index);
    [[nodiscard]] Run& run_of(DeviceAddress arguments);
    void keep_profile(DeviceAddress arguments, Area& area) const;
    void keep_words(DeviceAddress arguments, Area& area) const;
    [[nodiscard]] bool ignored(DeviceAddress arguments, DeviceAddress at) const;

    const FusedList& list_;
    Device& device_;
    std::vector<std::unique_ptr<Place>> places_;
    Mutex mutex_;
    std::map<DeviceAddress, Run> runs_ CANOPY_GUARDED_BY(mutex_);  // by argument block
};

}  // namespace canopy
