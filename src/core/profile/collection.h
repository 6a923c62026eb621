// SPDX-License-Identifier: Apache-2.0
// What a profiling session collects, as a program describes it with aclprofCreateConfig. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/process/profiler_section.h"

namespace canopy {

struct Collection {
    std::vector<std::uint32_t> devices;  // sorted; empty: all
    std::uint32_t metrics = no_core_metrics;
    std::uint64_t mask = 0;

    friend bool operator==(const Collection&, const Collection&) = default;
    void recycle() noexcept { *this = {}; }
};

// 100000 for an unusable description.
Result<Handle> create_collection(std::span<const std::uint32_t> devices, std::uint32_t metrics, std::uint64_t mask);
Status destroy_collection(const void* handle);
// A copy; 100000 if there is no such description.
Result<Collection> find_collection(const void* handle);

// What a session records for a mask, as bits of record::Wanted.
std::uint32_t wanted_by(std::uint64_t mask) noexcept;

}  // namespace canopy
