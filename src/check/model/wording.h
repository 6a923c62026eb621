// SPDX-License-Identifier: Apache-2.0
// Which order two accesses of a group of cores lack, in words, and how bad that is.
#pragma once

#include <string>

#include "check/finding.h"
#include "check/model/core.h"

namespace canopy::check {

// One of two accesses without an order.
struct Accessor {
    const Core* core = nullptr;
    unsigned pipe = 0;
    bool wrote = false;
    std::uint32_t flags = 0;  // CanopyCheckOperationFlags of its operation
};

struct Verdict {
    Level level = Level::error;
    std::string missing, explanation;
};

// "RAW", "WAR" or "WAW".
const char* hazard_kind(bool earlier_wrote, bool later_wrote);
// Both of one core.
Verdict verdict_in_core(const Launch& launch, const Order& order, const Accessor& earlier, const Accessor& later);
// Of two cores of one group, in a local memory that they share.
Verdict verdict_in_group(const Accessor& earlier, const Accessor& later);
// Of two cores, in global memory; `known` is what the later one knew of others.
Verdict verdict_between_cores(const Accessor& earlier, const Accessor& later, const KnownCores& known);
// True if a compiler that synchronises automatically orders these two accesses of one core.
bool ordered_by_compiler(const Launch& launch, const Accessor& earlier, const Accessor& later);

}  // namespace canopy::check
