/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: choosing one, leaving it, its numbers and the name of its chip.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_DEV_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_DEV_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: devices
 * ------------------------------------------------------------------------------------------------------------ */

/** Makes a device current in this thread, as aclrtSetDevice does. */
RTS_API rtError_t rtSetDevice(int32_t devId);

/** Ends one use of a device, as aclrtResetDevice does. */
RTS_API rtError_t rtDeviceReset(int32_t devId);

/** Returns the current device of this thread; 107002 when there is none. */
RTS_API rtError_t rtGetDevice(int32_t* devId);

/** Writes the name of the chip, such as Ascend910B1; 107000 when `maxLen` is too small for it. */
RTS_API rtError_t rtGetSocVersion(char_t* ver, const uint32_t maxLen);

/** Converts the number by which this process knows a device into the machine's. */
RTS_API rtError_t rtGetLogicDevIdByUserDevId(const int32_t userDevId, int32_t* const logicDevId);

/** Converts the machine's number of a device into the one by which this process knows it. */
RTS_API rtError_t rtGetVisibleDeviceIdByLogicDeviceId(const int32_t logicDeviceId, int32_t* const visibleDeviceId);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_DEV_H */
