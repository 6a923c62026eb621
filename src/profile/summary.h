// SPDX-License-Identifier: Apache-2.0
// Computes what a profile says. Made in passes over the file; memory grows with names and streams, not with records.
//
// Threads: one at a time.
#pragma once

#include "profile/figures.h"
#include "profile/profile_file.h"

namespace canopy::profile {

Summary summarise(ProfileFile& file);

}  // namespace canopy::profile
