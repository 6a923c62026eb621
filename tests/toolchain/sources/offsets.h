// SPDX-License-Identifier: Apache-2.0
// Found beside the source that includes it.
#pragma once

constexpr int offset_of_five = 5;
