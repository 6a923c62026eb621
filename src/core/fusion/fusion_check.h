// SPDX-License-Identifier: Apache-2.0
// The check that a fused kernel does what its steps do: one launch saves the memory its arguments point into, runs the
// fused form, puts the memory back, runs the steps one by one, and compares. The plan is made so that all of it is one
// fused kernel again, and works wherever a launch works. What differs fails the launch and names the first step whose
// output is another one; the memory then holds what the steps made of it. Nobody else may write that memory meanwhile.
//
// Threads: as any fused kernel; launches of it that overlap are kept apart by their argument blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "device/fused_list.h"
#include "device/fusion.h"

namespace canopy {

class FusionCheck {
public:
    FusionCheck(const FusedList& list, Device& device) : list_(list), device_(device) {}
    // The plan with the check around it. The check must outlive the kernel made of it.
    FusionPlan around(FusionPlan plan);

private:
    // A piece of memory as it was at several moments.
    struct Area {
        std::byte* base = nullptr;
        std::vector<std::byte> before, fused, last;
        std::vector<std::uint16_t> writer;  // of each byte: which step changed it last, counted from 1
    };
    struct Run {
        std::vector<Area> areas;
    };
    struct Place {
        FusionCheck* check = nullptr;
        std::uint32_t index = 0;  // of a step: its place in the list
    };

    static FusedCallResult save(void* context, const std::byte* arguments);
    static FusedCallResult restore(void* context, const std::byte* arguments);
    static FusedCallResult note(void* context, const std::byte* arguments);
    static FusedCallResult compare(void* context, const std::byte* arguments);
    void append_call(FusionPlan& plan, FusedCall call, std::uint32_t index);
    [[nodiscard]] Run& run_of(const std::byte* arguments);
    void keep_profile(const std::byte* arguments, Area& area) const;
    void keep_words(const std::byte* arguments, Area& area) const;
    [[nodiscard]] bool ignored(const std::byte* arguments, const std::byte* at) const;

    const FusedList& list_;
    Device& device_;
    std::vector<std::unique_ptr<Place>> places_;
    Mutex mutex_;
    std::map<const std::byte*, Run> runs_ CANOPY_GUARDED_BY(mutex_);  // by argument block
};

}  // namespace canopy
