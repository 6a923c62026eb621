// SPDX-License-Identifier: Apache-2.0
// Functions that clients of profiling look up by name and declare themselves: no public header has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_prof.h"

#define CANOPY_LOOKED_UP __attribute__((visibility("default")))

extern "C" {

CANOPY_LOOKED_UP aclError aclprofWarmup(const aclprofConfig* profilerConfig);
CANOPY_LOOKED_UP int32_t aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
CANOPY_LOOKED_UP int32_t aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);
CANOPY_LOOKED_UP int aclprofRegisterDeviceCallback();
CANOPY_LOOKED_UP int32_t aclprofSetCategoryName(uint32_t category, const char* categoryName);
CANOPY_LOOKED_UP int32_t aclprofSetStampCategory(void* stamp, uint32_t category);
CANOPY_LOOKED_UP int32_t aclprofSetStampPayload(void* stamp, int32_t type, void* value);
CANOPY_LOOKED_UP size_t aclprofGetGraphId(const void* opInfo, size_t opInfoLen, uint32_t index);

CANOPY_LOOKED_UP int32_t MsprofInit(uint32_t dataType, void* data, uint32_t dataLen);
CANOPY_LOOKED_UP int32_t MsprofFinalize();
CANOPY_LOOKED_UP int32_t MsprofRegisterCallback(uint32_t moduleId, void* handle);
CANOPY_LOOKED_UP int32_t MsprofReportApi(uint32_t nonPersistantFlag, const void* api);
CANOPY_LOOKED_UP int32_t MsprofReportEvent(uint32_t nonPersistantFlag, const void* event);
CANOPY_LOOKED_UP int32_t MsprofReportCompactInfo(uint32_t nonPersistantFlag, void* data, uint32_t length);
CANOPY_LOOKED_UP int32_t MsprofReportAdditionalInfo(uint32_t nonPersistantFlag, void* data, uint32_t length);
CANOPY_LOOKED_UP int32_t MsprofReportBatchAdditionalInfo(uint32_t nonPersistantFlag, void* data, uint32_t length);
CANOPY_LOOKED_UP size_t MsprofGetBatchReportMaxSize(uint32_t type);
CANOPY_LOOKED_UP int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char* typeName);
CANOPY_LOOKED_UP int32_t MsprofRegDataFormat(uint16_t level, uint32_t typeId, const char* dataFormat);
CANOPY_LOOKED_UP uint64_t MsprofGetHashId(const char* hashInfo, size_t length);
CANOPY_LOOKED_UP uint64_t MsprofStr2Id(const char* hashInfo, size_t length);
CANOPY_LOOKED_UP char* MsprofId2Str(uint64_t id);
CANOPY_LOOKED_UP char* MsprofGetPath();
CANOPY_LOOKED_UP uint64_t MsprofSysCycleTime();
CANOPY_LOOKED_UP bool MsprofCheckOpSwitch(uint32_t type, const char* op, size_t len);
CANOPY_LOOKED_UP int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId);
CANOPY_LOOKED_UP int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId);

}  // extern "C"
