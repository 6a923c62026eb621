/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of memory, kinds of copies, and the synchronous copy.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MEM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MEM_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Argument of rtMalloc: one kind of memory, optionally with one policy for its pages. */
typedef uint32_t rtMemType_t;

/** Kinds of memory. */
#define RT_MEMORY_DEFAULT 0x0U
#define RT_MEMORY_HBM 0x2U
#define RT_MEMORY_RDMA_HBM 0x3U
#define RT_MEMORY_DDR 0x4U
#define RT_MEMORY_SPM 0x8U
#define RT_MEMORY_P2P_HBM 0x10U
#define RT_MEMORY_P2P_DDR 0x11U
#define RT_MEMORY_DDR_NC 0x20U
#define RT_MEMORY_TS 0x40U
#define RT_MEMORY_TS_4G 0x40U
#define RT_MEMORY_HOST 0x81U
#define RT_MEMORY_SVM 0x90U      /**< managed memory: one address on the host and on the device */
#define RT_MEMORY_HOST_SVM 0x90U /**< another name of the kind before */
#define RT_MEMORY_RESERVED 0x100U
#define RT_MEMORY_L1 0x10000U
#define RT_MEMORY_L2 0x20000U

/** The only way to share managed memory: with every stream. */
#define RT_MEMORY_ATTACH_GLOBAL 0x1U

/** Policies for pages. */
#define RT_MEMORY_POLICY_NONE 0x0U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST 0x400U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY 0x800U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY 0x1000U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P 0x2000U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P 0x4000U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P 0x8000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY 0x10000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY_P2P 0x20000U

/** Attributes of memory. */
#define RT_MEMORY_ATTRIBUTE_DEFAULT 0x0U
#define RT_MEMORY_ATTRIBUTE_READONLY 0x100000U

/** Position of the alignment, as a logarithm, in a kind of memory. */
#define RT_MEMORY_ALIGN_SIZE_BIT 27U
#define RT_MEMORY_ALIGN_SIZE_MASK 0xF8000000U

/** Hints about memory. */
#define RT_MEMORY_ADVISE_EXE 0x2U
#define RT_MEMORY_ADVISE_THP 0x4U
#define RT_MEMORY_ADVISE_PLE 0x8U
#define RT_MEMORY_ADVISE_PIN 0x16U

/** Sizes of messages of the event scheduler. */
#define RT_EVENT_SUMMARY_RSV 4U
#define RT_EVENT_MAX_MSG_LEN 128U

/** The kinds of messages of the event scheduler. */
typedef enum rtEventIdType {
    RT_EVENT_RANDOM_KERNEL = 0,
    RT_EVENT_DVPP_MSG = 1,
    RT_EVENT_FR_MSG = 2,
    RT_EVENT_TS_HWTS_KERNEL = 3,
    RT_EVENT_AICPU_MSG = 4,
    RT_EVENT_TS_CTRL_MSG = 5,
    RT_EVENT_QUEUE_ENQUEUE = 6,
    RT_EVENT_QUEUE_FULL_TO_NOT_FULL = 7,
    RT_EVENT_QUEUE_EMPTY_TO_NOT_EMPTY = 8,
    RT_EVENT_TDT_ENQUEUE = 9,
    RT_EVENT_TIMER = 10,
    RT_EVENT_HCFI_SCHED_MSG = 11,
    RT_EVENT_HCFI_EXEC_MSG = 12,
    RT_EVENT_ROS_MSG_LEVEL0 = 13,
    RT_EVENT_ROS_MSG_LEVEL1 = 14,
    RT_EVENT_ROS_MSG_LEVEL2 = 15,
    RT_EVENT_ACPU_MSG_TYPE0 = 16,
    RT_EVENT_ACPU_MSG_TYPE1 = 17,
    RT_EVENT_ACPU_MSG_TYPE2 = 18,
    RT_EVENT_CCPU_CTRL_MSG = 19,
    RT_EVENT_SPLIT_KERNEL = 20,
    RT_EVENT_DVPP_MPI_MSG = 21,
    RT_EVENT_CDQ_MSG = 22,
    RT_EVENT_TEST = 23,
    RT_EVENT_MAX_NUM = 24
} rtEventIdType_t;

/**
 * The direction of rtMemcpy and rtMemcpyAsync: only a hint, since the addresses decide. The values are not those of
 * aclrtMemcpyKind, nor those of rtMemcpyKind.
 */
typedef enum tagRtMemcpyKind {
    RT_MEMCPY_HOST_TO_HOST = 0,
    RT_MEMCPY_HOST_TO_DEVICE = 1,
    RT_MEMCPY_DEVICE_TO_HOST = 2,
    RT_MEMCPY_DEVICE_TO_DEVICE = 3,
    RT_MEMCPY_MANAGED = 4,               /**< managed memory on one side */
    RT_MEMCPY_ADDR_DEVICE_TO_DEVICE = 5, /**< addresses in device memory; not supported */
    RT_MEMCPY_HOST_TO_DEVICE_EX = 6,     /**< the source may be changed as soon as the call returns */
    RT_MEMCPY_DEVICE_TO_HOST_EX = 7,
    RT_MEMCPY_DEFAULT = 8, /**< by the addresses alone */
    RT_MEMCPY_RESERVED = 9
} rtMemcpyKind_t;

/* ------------------------------------------------------------------------------------------------------------
 * Lower interface: memory
 * ------------------------------------------------------------------------------------------------------------ */

/** Copies `cnt` bytes and returns when they have arrived. More than `destMax` bytes give 107000. */
RTS_API rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind);

#ifdef __cplusplus
}
#endif

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_MEM_H */
