/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the lower interface are in runtime/event.h.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_EVENT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_EVENT_H

#include "rt_external_base.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_EVENT_H */
