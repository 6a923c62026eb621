// SPDX-License-Identifier: Apache-2.0
// The name under which most programs include the figures of the chip.
#include "../../platform/platform_ascendc.h"
