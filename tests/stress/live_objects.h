// SPDX-License-Identifier: Apache-2.0
// Checks that a program has released everything.
#pragma once

#include <gtest/gtest.h>

#include "canopy/canopy.h"

inline void expect_nothing_alive() {
    CanopyLiveObjects live = {};
    canopyCountLiveObjects(&live);
    EXPECT_EQ(live.contexts + live.streams + live.events + live.notifies + live.binaries + live.functions +
                  live.arguments + live.other,
              0u);
    EXPECT_EQ(live.device_bytes + live.host_bytes, 0u);
}
