// SPDX-License-Identifier: Apache-2.0
// The check of one launch: what its cores do, compared with the order that a chip keeps. Knows nothing of how kernels
// run: the device passes on what the checking code of an image reports (canopy/kernel_check.h), and tests make it up.
//
// Threads: a CoreCheck is used by one thread at a time; those of one launch share only what meetings and flags between
// cores need. `end` is called when all cores have ended.
#pragma once

#include <memory>

#include "check/core_check.h"
#include "check/finding.h"
#include "check/launch_facts.h"

namespace canopy::check {

std::unique_ptr<LaunchCheck> make_launch_check(LaunchFacts facts, const CheckOptions& options, FindingSink& sink);

}  // namespace canopy::check
