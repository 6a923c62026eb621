/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that log lines are written with: levels, types and the parts of the platform that lines are from.
 */
#ifndef CANOPY_INCLUDE_BASE_LOG_TYPES_H
#define CANOPY_INCLUDE_BASE_LOG_TYPES_H

#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3

/** The folder a line goes to. Lines of the type run tell what happened, whatever the levels are. */
enum { DLOG_TYPE_DEBUG = 0, DLOG_TYPE_RUN = 1 };

enum {
    SLOG = 0,
    IDEDD = 1,
    HCCL = 3,
    FMK = 4,
    DVPP = 6,
    RUNTIME = 7,
    CCE = 8,
    HDC = 9,
    DRV = 10,
    DEVMM = 22,
    KERNEL = 23,
    LIBMEDIA = 24,
    CCECPU = 25,
    ROS = 27,
    HCCP = 28,
    ROCE = 29,
    TEFUSION = 30,
    PROFILING = 31,
    DP = 32,
    APP = 33,
    TS = 34,
    TSDUMP = 35,
    AICPU = 36,
    LP = 37,
    TDT = 38,
    FE = 39,
    MD = 40,
    MB = 41,
    ME = 42,
    IMU = 43,
    IMP = 44,
    GE = 45,
    CAMERA = 47,
    ASCENDCL = 48,
    TEEOS = 49,
    ISP = 50,
    SIS = 51,
    HSM = 52,
    DSS = 53,
    PROCMGR = 54,
    BBOX = 55,
    AIVECTOR = 56,
    TBE = 57,
    FV = 58,
    TUNE = 60,
    HSS = 61,
    FFTS = 62,
    OP = 63,
    UDF = 64,
    HICAID = 65,
    TSYNC = 66,
    AUDIO = 67,
    TPRT = 68,
    ASCENDCKERNEL = 69,
    ASYS = 70,
    ATRACE = 71,
    RTC = 72,
    SYSMONITOR = 73,
    AML = 74,
    ADETECT = 75,
    INVALID_MODULE_ID = 76
};

#endif /* CANOPY_INCLUDE_BASE_LOG_TYPES_H */
