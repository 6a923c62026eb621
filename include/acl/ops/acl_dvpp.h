/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image and video processing. Canopy has its memory functions; using another name of it is an error that says so.
 */
#ifndef CANOPY_INCLUDE_ACL_OPS_ACL_DVPP_H
#define CANOPY_INCLUDE_ACL_OPS_ACL_DVPP_H

#include "../acl.h"
#include "../canopy_unavailable.h"

#define CANOPY_NO_MEDIA \
    "Canopy has no image and video processing (DVPP): of acl_dvpp.h only acldvppMalloc and acldvppFree are there"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Media memory
 * ------------------------------------------------------------------------------------------------------------ */

/** Allocates device memory that media functions could read and write. Like aclrtMalloc; free it with acldvppFree. */
ACL_FUNC_VISIBILITY aclError acldvppMalloc(void** devPtr, size_t size);

/** Frees memory of acldvppMalloc. */
ACL_FUNC_VISIBILITY aclError acldvppFree(void* devPtr);

CANOPY_NO_TYPE(acldvppPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppBatchPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppRoiConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppResizeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppBorderConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppLutMap, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppJpegeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppStreamDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppHist, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppPixelFormat, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppStreamFormat, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppChannelMode, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppBorderType, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(acldvppJpegFormat, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvdecChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvdecFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvencChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvencFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvdecCallback, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvencCallback, CANOPY_NO_MEDIA);
CANOPY_NO_TYPE(aclvencChannelDescParamType, CANOPY_NO_MEDIA);

CANOPY_NO_CONSTANT(PIXEL_FORMAT_YUV_400, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YUV_SEMIPLANAR_420, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YVU_SEMIPLANAR_420, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YUV_SEMIPLANAR_422, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YVU_SEMIPLANAR_422, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YUV_SEMIPLANAR_444, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_YVU_SEMIPLANAR_444, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_RGB_888, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_BGR_888, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(PIXEL_FORMAT_UNKNOWN, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(H265_MAIN_LEVEL, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(H264_BASELINE_LEVEL, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(H264_MAIN_LEVEL, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(H264_HIGH_LEVEL, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(DVPP_CHNMODE_VPC, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(DVPP_CHNMODE_JPEGD, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(DVPP_CHNMODE_JPEGE, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(DVPP_CHNMODE_PNGD, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(BORDER_CONSTANT, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(BORDER_REPLICATE, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(BORDER_REFLECT, CANOPY_NO_MEDIA);
CANOPY_NO_CONSTANT(BORDER_REFLECT_101, CANOPY_NO_MEDIA);

CANOPY_NO_FUNCTION(aclError, acldvppCreateChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetChannelDescMode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint64_t, acldvppGetChannelDescChannelId, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreatePicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescData, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescWidth, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescHeight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescWidthStride, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescHeightStride, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetPicDescRetCode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppGetPicDescData, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescWidth, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescHeight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescWidthStride, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescHeightStride, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetPicDescRetCode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateBatchPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyBatchPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppGetPicDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateRoiConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyRoiConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetRoiConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetRoiConfigLeft, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetRoiConfigRight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetRoiConfigTop, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetRoiConfigBottom, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateResizeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyResizeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetResizeConfigInterpolation, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetResizeConfigInterpolation, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateJpegeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyJpegeConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetJpegeConfigLevel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetJpegeConfigLevel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateBorderConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyBorderConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigValue, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigBorderType, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigTop, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigBottom, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigLeft, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetBorderConfigRight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateLutMap, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyLutMap, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateHist, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyHist, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppClearHist, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppGetHistData, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppCreateStreamDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppDestroyStreamDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescData, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescTimestamp, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescRetCode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppSetStreamDescEos, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, acldvppGetStreamDescData, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetStreamDescSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetStreamDescFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint64_t, acldvppGetStreamDescTimestamp, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint32_t, acldvppGetStreamDescRetCode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(uint8_t, acldvppGetStreamDescEos, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcResizeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcCropAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcCropResizeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcBatchCropAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcBatchCropResizeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcCropAndPasteAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcCropResizePasteAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcBatchCropAndPasteAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcBatchCropResizePasteAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcBatchCropResizeMakeBorderAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcConvertColorAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcPyrDownAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcEqualizeHistAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcMakeBorderAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppVpcCalcHistAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegDecodeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegEncodeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegGetImageInfo, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegGetImageInfoV2, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegPredictEncSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppJpegPredictDecSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppPngDecodeAsync, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppPngGetImageInfo, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppPngGetImageInfoV2, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, acldvppPngPredictDecSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, aclvdecCreateChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecDestroyChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecCreateChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecDestroyChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, aclvdecCreateFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecDestroyFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSendFrame, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSendSkippedFrame, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescChannelId, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescThreadId, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescCallback, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescEnType, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescOutPicFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescOutPicWidth, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescOutPicHeight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescRefFrameNum, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescBitDepth, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvdecSetChannelDescOutMode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, aclvencCreateChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencDestroyChannelDesc, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencCreateChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencDestroyChannel, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(void*, aclvencCreateFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencDestroyFrameConfig, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSendFrame, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetFrameConfigForceIFrame, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetFrameConfigEos, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescThreadId, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescCallback, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescEnType, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescPicFormat, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescPicWidth, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescPicHeight, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescKeyFrameInterval, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescBufAddr, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescBufSize, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescRcMode, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescSrcRate, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescMaxBitRate, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescIPProp, CANOPY_NO_MEDIA);
CANOPY_NO_FUNCTION(aclError, aclvencSetChannelDescParam, CANOPY_NO_MEDIA);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_ACL_OPS_ACL_DVPP_H */
