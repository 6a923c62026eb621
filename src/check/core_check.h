// SPDX-License-Identifier: Apache-2.0
// What cores of a launch tell, one call an event. Implemented by the check itself, and by what listens on the way to
// it.
#pragma once

#include <canopy/kernel_check.h>

#include <cstdint>
#include <vector>

#include "check/launch_facts.h"

namespace canopy::check {

class CoreCheck {
public:
    virtual ~CoreCheck() = default;
    virtual void operation(const CanopyCheckOperation& operation) = 0;
    virtual void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, const CanopyCheckSite& site) = 0;
    virtual void barrier(std::uint32_t pipe, const CanopyCheckSite& site) = 0;
    virtual void data_barrier(std::uint32_t kind, const CanopyCheckSite& site) = 0;
    virtual void buffer(const CanopyCheckBuffer& buffer) = 0;
    virtual void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                          const CanopyCheckSite& site) = 0;
    virtual void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) = 0;
    virtual void core_flag(bool set, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id,
                           const CanopyCheckSite& site) = 0;
    virtual void meet(std::uint32_t kind, std::uint32_t scope, bool begin, std::uint32_t trigger, std::uint32_t wait,
                      const CanopyCheckSite& site) = 0;
    virtual void word(std::uint32_t event, const void* address, const CanopyCheckSite& site) = 0;
    virtual void cache(std::uint32_t event, const void* address, const CanopyCheckSite& site) = 0;
    virtual void region(std::uint32_t kind, bool begin, const CanopyCheckOperation* operation) = 0;
    virtual void not_modelled(const char* what, const CanopyCheckSite& site) = 0;
    virtual void misuse(const char* id, const char* text, const CanopyCheckSite& site) = 0;
    virtual void raw(const void* address, std::uint32_t bytes, std::uint32_t kind, const void* instruction) = 0;
    virtual void order(std::uint32_t from, std::uint32_t to, const CanopyCheckSite& site) = 0;
    // The block has returned, or was ended: `complete` is false after a fault, an abort or a time-out. The last call.
    virtual void end(bool complete) = 0;
};

class LaunchCheck {
public:
    virtual ~LaunchCheck() = default;
    // Called once for each core, from any thread.
    virtual CoreCheck& core(const CoreFacts& facts) = 0;
    // All cores have ended. Compares their accesses and reports what is left; the ranges touched are sorted and joined.
    virtual std::vector<TouchedRange> end() = 0;
    // How many flags, barriers and the like CheckOptions::without can take out: all numbers below this one.
    [[nodiscard]] virtual std::uint64_t order_events() const = 0;
};

}  // namespace canopy::check
