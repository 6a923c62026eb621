// SPDX-License-Identifier: Apache-2.0
// What a driver asks and tells while the launches of a process are checked. Implemented once, above the devices
// (src/core/check); DeviceOptions::launch_checker passes it to drivers, and is null while nothing is checked.
//
// For each launch a driver calls `wants`. If it is wanted and the kernel has checking code, the driver makes a
// LaunchCheck with `options` and `sink`, and calls `launch_ended` after LaunchCheck::end. If it is wanted and the
// kernel has none, it calls `not_checked` instead.
//
// Threads: every function may be called from any thread at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/finding.h"
#include "check/launch_check.h"
#include "device/command_place.h"
#include "foundation/problem.h"

namespace canopy {

// A launch that has ended.
struct CheckedLaunch {
    std::string_view kernel;  // as programs call it
    unsigned device = 0;
    CommandPlace place;  // TaskOwner::place_of; launches of one fused kernel have the same
};

class LaunchChecker {
public:
    virtual ~LaunchChecker() = default;

    // Counts a launch of the kernel; false if it is not to be checked inside.
    [[nodiscard]] virtual bool wants(std::string_view kernel) noexcept = 0;
    // Whether that block is checked inside, too; false: what its cores report is dropped.
    [[nodiscard]] virtual bool wants_block(std::uint32_t block) const noexcept = 0;
    // Constant while devices are open.
    [[nodiscard]] virtual const check::CheckOptions& options() const noexcept = 0;
    [[nodiscard]] virtual check::FindingSink& sink() noexcept = 0;

    // Prints what is new and passes on what the launch touched. True: the task is to fail as if its kernel had misused
    // memory, because there is an error and the user asked to stop at the first one.
    [[nodiscard]] virtual bool launch_ended(const CheckedLaunch& launch,
                                            std::vector<check::TouchedRange> touched) noexcept = 0;
    // The kernel has no checking code; `reason` is a clause like "its image has no text to compile".
    virtual void not_checked(std::string_view kernel, std::string_view reason) noexcept = 0;
    // Checking code for an image that only names a text for it (ImageFile::check_text): the bytes of a shared object,
    // or a clause that says why there is none. Takes seconds if it must be compiled. `kernel` is one of the image.
    [[nodiscard]] virtual Expected<std::vector<std::byte>> checking_code(const std::string& text,
                                                                         std::string_view kernel) = 0;
    // Where an allocation of a device comes from, like "aclrtMalloc at main.cpp:12"; empty if that is not known.
    // `address` is its first byte.
    [[nodiscard]] virtual std::string origin(unsigned device, std::uint64_t address) const noexcept = 0;
};

}  // namespace canopy
